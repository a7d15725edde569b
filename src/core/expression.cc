#include "src/core/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "src/core/expression_parser.h"

// Conditions are compiled to a program for a stack machine (src/core/expression_parser.h) and run by one loop. The loop
// is a template over the machine: TruthMachine computes whether a condition holds, SlackMachine also how far it is from
// changing. Undefined values are NaN, which arithmetic passes on by itself.
namespace vernier {
namespace {

using Op = Expression::Op;

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

double AsNumber(const ParameterValue& value) {
  return std::visit(
      [](const auto& held) -> double {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          // Not reached: the parser lets no text into arithmetic.
          return kNoValue;
        } else {
          return static_cast<double>(held);
        }
      },
      value);
}

bool IsText(const ParameterValue& value, const std::string& text) {
  // A categorical may list numbers. Programs get them as text, and so do conditions.
  const auto* const held = std::get_if<std::string>(&value);
  return held != nullptr ? *held == text : FormatValue(value) == text;
}

double Unary(Op op, double a) {
  switch (op) {
    case Op::kNegate:
      return -a;
    case Op::kNot:
      return 1 - a;
    case Op::kAbs:
      return std::abs(a);
    case Op::kLog:
      // Here and in Arithmetic, IEEE 754 gives an infinity where the value is undefined.
      // Comparisons would take it for a number.
      return a > 0 ? std::log(a) : kNoValue;
    case Op::kExp:
      return std::exp(a);
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kFloor:
      return std::floor(a);
    default:
      return std::ceil(a);
  }
}

// Kleene's three-valued logic: an undefined side matters only if the other side does not decide.
double And(double a, double b) {
  if (a == 0 || b == 0) return 0;
  return std::isnan(a) || std::isnan(b) ? kNoValue : 1;
}

double Arithmetic(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return a * b;
    case Op::kDivide:
      return b == 0 ? kNoValue : a / b;
    case Op::kRemainder:
      return std::fmod(a, b);
    case Op::kPower:
      return a == 0 && b < 0 ? kNoValue : std::pow(a, b);
    case Op::kMin:
      return a < b ? a : b;
    default:
      return a > b ? a : b;
  }
}

bool Compare(Op op, double a, double b) {
  switch (op) {
    case Op::kLess:
      return a < b;
    case Op::kLessOrEqual:
      return a <= b;
    case Op::kGreater:
      return a > b;
    case Op::kGreaterOrEqual:
      return a >= b;
    case Op::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

double Binary(Op op, double a, double b) {
  if (op == Op::kAnd) return And(a, b);
  // By De Morgan; 1 - x negates a condition and keeps NaN.
  if (op == Op::kOr) return 1 - And(1 - a, 1 - b);
  // Not left to the operations: pow(NaN, 0) is 1, min and max would drop a NaN, and != would hold.
  if (std::isnan(a) || std::isnan(b)) return kNoValue;
  // Op lists arithmetic before comparisons.
  return op < Op::kLess ? Arithmetic(op, a, b) : (Compare(op, a, b) ? 1 : 0);
}

// Computes values: numbers, and 0 and 1 for conditions.
struct TruthMachine {
  using Value = double;
  static Value Push(double number) { return number; }
  static Value Apply(Op op, Value a) { return Unary(op, a); }
  static Value Apply(Op op, Value a, Value b) { return Binary(op, a, b); }
};

// Computes values together with the slack of each condition. The slack of a number has no meaning.
struct SlackMachine {
  struct Value {
    double truth = 0;
    double slack = 0;
  };
  static Value Push(double number) { return Measured(number, 1); }
  // `not` keeps the distance and turns its sign.
  static Value Apply(Op op, Value a) { return Measured(Unary(op, a.truth), std::abs(a.slack)); }
  static Value Apply(Op op, Value a, Value b) {
    const double truth = Binary(op, a.truth, b.truth);
    if (op < Op::kLess) return {.truth = truth, .slack = 0};
    // If one side is undefined but the result is not, the other side has decided; fmin and fmax ignore the NaN.
    if (op == Op::kAnd && !std::isnan(truth)) return {truth, std::fmin(a.slack, b.slack)};
    if (op == Op::kOr && !std::isnan(truth)) return {truth, std::fmax(a.slack, b.slack)};
    const bool equal = a.truth == b.truth;  // Two infinities are 0 apart.
    return Measured(truth, equal ? 0 : std::abs(a.truth - b.truth));
  }

 private:
  static Value Measured(double truth, double distance) {
    if (std::isnan(truth)) return {.truth = truth, .slack = kNoValue};
    // `a < b` at a = b is violated at a distance of 0, and its slack must be negative all the same.
    constexpr double kBroken = std::numeric_limits<double>::denorm_min();
    return {.truth = truth, .slack = truth == 1 ? distance : -std::max(distance, kBroken)};
  }
};

}  // namespace

absl::StatusOr<Expression> Expression::Parse(std::string_view text,
                                             std::span<const ExpressionName> known,
                                             bool open_names) {
  return ExpressionParser(text, known, open_names).Parse();
}

template <typename Machine>
typename Machine::Value Expression::Run(std::span<const ParameterValue* const> values) const {
  // Large enough: the parser refuses programs that need more.
  std::array<typename Machine::Value, kMaxExpressionStack> stack;
  std::size_t size = 0;
  const auto value = [values](int slot) -> const ParameterValue& {
    return *values[static_cast<std::size_t>(slot)];
  };
  const auto push = [&](double number) { stack[size++] = Machine::Push(number); };
  for (const Instruction& step : program_) {
    if (step.op == Op::kPushNumber) {
      push(step.number);
    } else if (step.op == Op::kPushSlot) {
      push(AsNumber(value(step.slot)));
    } else if (step.op == Op::kTextIsConstant) {
      push(IsText(value(step.slot), step.text) ? 1 : 0);
    } else if (step.op == Op::kTextsAreEqual) {
      push(IsText(value(step.slot), FormatValue(value(step.other_slot))) ? 1 : 0);
    } else if (step.op < Op::kAdd) {
      // Op lists operators of one operand before those of two.
      stack[size - 1] = Machine::Apply(step.op, stack[size - 1]);
    } else {
      --size;
      stack[size - 1] = Machine::Apply(step.op, stack[size - 1], stack[size]);
    }
  }
  return stack[0];
}

bool Expression::Holds(std::span<const ParameterValue* const> values) const {
  return Run<TruthMachine>(values) == 1;
}

double Expression::Slack(std::span<const ParameterValue* const> values) const {
  return Run<SlackMachine>(values).slack;
}

}  // namespace vernier
