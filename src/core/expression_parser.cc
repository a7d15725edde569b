#include "src/core/expression_parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "src/core/nearest.h"
#include "src/core/status.h"
#include "vernier/core/limits.h"

namespace vernier {
namespace {

using Op = Expression::Op;
using Type = ExpressionName::Type;

struct Function {
  std::string_view name;
  Op op;
  bool many;  // Takes two arguments or more, evaluated from the left. Otherwise exactly one.
};
constexpr std::array<Function, 8> kFunctions = {{{"min", Op::kMin, true},
                                                 {"max", Op::kMax, true},
                                                 {"abs", Op::kAbs, false},
                                                 {"log", Op::kLog, false},
                                                 {"exp", Op::kExp, false},
                                                 {"sqrt", Op::kSqrt, false},
                                                 {"floor", Op::kFloor, false},
                                                 {"ceil", Op::kCeil, false}}};

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kNumber:
      return "a number";
    case Type::kBoolean:
      return "a condition";
    case Type::kText:
      break;
  }
  return "text";
}

}  // namespace

ExpressionParser::ExpressionParser(std::string_view text,
                                   std::span<const ExpressionName> known,
                                   bool open_names)
    : length_(text.size()),
      known_(known),
      open_names_(open_names),
      lexer_(text, [this](std::string_view name) { return Find(name) != nullptr; }) {}

absl::StatusOr<Expression> ExpressionParser::Parse() {
  if (length_ > limits::kExpression) {
    return InvalidArgument("must have at most {} characters, got {}", limits::kExpression, length_);
  }
  VERNIER_RETURN_IF_ERROR(Advance());
  VERNIER_ASSIGN_OR_RETURN(const Operand whole, Or());
  if (token_.kind != Token::Kind::kEnd) return Unexpected("an operator or the end");
  if (whole.type != Type::kBoolean) {
    return InvalidArgument("must be a condition such as 'a <= b', got {}", TypeName(whole.type));
  }
  return std::move(result_);
}

// Or = And { ("or" | "||") And }
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Or() {
  static constexpr std::array<Infix, 2> kInfixes = {{{"or", Op::kOr}, {"||", Op::kOr}}};
  return Chain(kInfixes, Type::kBoolean, &ExpressionParser::And);
}

// And = Not { ("and" | "&&") Not }
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::And() {
  static constexpr std::array<Infix, 2> kInfixes = {{{"and", Op::kAnd}, {"&&", Op::kAnd}}};
  return Chain(kInfixes, Type::kBoolean, &ExpressionParser::Not);
}

// Not = ("not" | "!") Not | Comparison
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Not() {
  if (!At("not") && !At("!")) return Comparison();
  const std::size_t column = token_.column;
  VERNIER_RETURN_IF_ERROR(Enter());
  VERNIER_RETURN_IF_ERROR(Advance());
  VERNIER_ASSIGN_OR_RETURN(const Operand operand, Not());
  VERNIER_RETURN_IF_ERROR(CheckIs(Type::kBoolean, operand, "not"));
  VERNIER_RETURN_IF_ERROR(Emit({.op = Op::kNot}, 0));
  --depth_;
  return Operand{.type = Type::kBoolean, .column = column};
}

// Comparison = Sum [ ("<=" | "<" | ">=" | ">" | "==" | "!=") Sum ]
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Comparison() {
  static constexpr std::array<Infix, 6> kInfixes = {{{"<=", Op::kLessOrEqual},
                                                     {"<", Op::kLess},
                                                     {">=", Op::kGreaterOrEqual},
                                                     {">", Op::kGreater},
                                                     {"==", Op::kEqual},
                                                     {"!=", Op::kNotEqual}}};
  // Symbols are whole tokens, so that their order in the table does not matter.
  const auto here = [this] {
    return std::find_if(
        kInfixes.begin(), kInfixes.end(), [this](const Infix& infix) { return At(infix.symbol); });
  };
  VERNIER_ASSIGN_OR_RETURN(const Operand left, Sum());
  const auto* const infix = here();
  if (infix == kInfixes.end()) return left;
  VERNIER_RETURN_IF_ERROR(Advance());
  VERNIER_ASSIGN_OR_RETURN(const Operand right, Sum());
  if (left.type == Type::kText || right.type == Type::kText) {
    VERNIER_RETURN_IF_ERROR(CompareTexts(left, right, *infix));
  } else {
    VERNIER_RETURN_IF_ERROR(Emit({.op = infix->op}, -1));
  }
  // `a < b < c` would compare the truth of `a < b` with c.
  if (here() != kInfixes.end()) {
    return InvalidArgument(
        "comparisons cannot be chained, got a second one at column {}; join them with 'and'",
        token_.column);
  }
  return Operand{.type = Type::kBoolean, .column = left.column};
}

absl::Status ExpressionParser::CompareTexts(const Operand& left,
                                            const Operand& right,
                                            const Infix& infix) {
  if (infix.op != Op::kEqual && infix.op != Op::kNotEqual) {
    return InvalidArgument("text at column {} can be compared with == and != only, got '{}'",
                           left.type == Type::kText ? left.column : right.column,
                           infix.symbol);
  }
  VERNIER_RETURN_IF_ERROR(CheckIs(Type::kText, left, infix.symbol));
  VERNIER_RETURN_IF_ERROR(CheckIs(Type::kText, right, infix.symbol));
  // Always true or always false, and so most likely a slip.
  if (left.slot < 0 && right.slot < 0) {
    return InvalidArgument(
        "'{}' compares two constant texts at column {}", infix.symbol, left.column);
  }
  // Neither text is on the stack, so the comparison pushes its result.
  if (left.slot >= 0 && right.slot >= 0) {
    VERNIER_RETURN_IF_ERROR(
        Emit({.op = Op::kTextsAreEqual, .slot = left.slot, .other_slot = right.slot}, 1));
  } else {
    const Operand& name = left.slot >= 0 ? left : right;
    const Operand& constant = left.slot >= 0 ? right : left;
    const std::string& known_as = result_.names_[static_cast<std::size_t>(name.slot)];
    // The name is a known one: open names are numbers.
    const std::vector<std::string>& texts = Find(known_as)->texts;
    if (std::find(texts.begin(), texts.end(), constant.text) == texts.end()) {
      return InvalidArgument("'{}' at column {} is not a value of '{}'{}",
                             constant.text,
                             constant.column,
                             known_as,
                             NearestHint(constant.text, texts));
    }
    VERNIER_RETURN_IF_ERROR(
        Emit({.op = Op::kTextIsConstant, .slot = name.slot, .text = constant.text}, 1));
  }
  // Texts have no instruction for inequality.
  return infix.op == Op::kNotEqual ? Emit({.op = Op::kNot}, 0) : absl::OkStatus();
}

// Sum = Product { ("+" | "-") Product }
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Sum() {
  static constexpr std::array<Infix, 2> kInfixes = {{{"+", Op::kAdd}, {"-", Op::kSubtract}}};
  return Chain(kInfixes, Type::kNumber, &ExpressionParser::Product);
}

// Product = Sign { ("*" | "/" | "%") Sign }
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Product() {
  static constexpr std::array<Infix, 3> kInfixes = {
      {{"*", Op::kMultiply}, {"/", Op::kDivide}, {"%", Op::kRemainder}}};
  return Chain(kInfixes, Type::kNumber, &ExpressionParser::Sign);
}

// Sign = ("-" | "+") Sign | Power
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Sign() {
  // A sign binds less tightly than `^`, so that -a^2 is -(a^2).
  if (!At("-") && !At("+")) return Power();
  const Token sign = token_;
  VERNIER_RETURN_IF_ERROR(Enter());
  VERNIER_RETURN_IF_ERROR(Advance());
  VERNIER_ASSIGN_OR_RETURN(const Operand operand, Sign());
  VERNIER_RETURN_IF_ERROR(CheckIs(Type::kNumber, operand, sign.text));
  if (sign.text == "-") VERNIER_RETURN_IF_ERROR(Emit({.op = Op::kNegate}, 0));
  --depth_;
  return Operand{.type = Type::kNumber, .column = sign.column};
}

// Power = Primary [ "^" Sign ]
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Power() {
  VERNIER_ASSIGN_OR_RETURN(const Operand base, Primary());
  if (!At("^")) return base;
  VERNIER_RETURN_IF_ERROR(CheckIs(Type::kNumber, base, "^"));
  VERNIER_RETURN_IF_ERROR(Enter());
  VERNIER_RETURN_IF_ERROR(Advance());
  // Sign and not Primary: so `^` groups to the right, and 2^-1 is allowed.
  VERNIER_ASSIGN_OR_RETURN(const Operand exponent, Sign());
  VERNIER_RETURN_IF_ERROR(CheckIs(Type::kNumber, exponent, "^"));
  VERNIER_RETURN_IF_ERROR(Emit({.op = Op::kPower}, -1));
  --depth_;
  return Operand{.type = Type::kNumber, .column = base.column};
}

// Primary = number | text | Parenthesis | Name
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Primary() {
  const Token token = token_;
  if (At("(")) return Parenthesis();
  // An operator in place of an operand gets a better message than an unknown name.
  const bool is_operator = At("and") || At("or") || At("not");
  if (token.kind == Token::Kind::kName && !is_operator) return Name();
  if (token.kind == Token::Kind::kNumber) {
    VERNIER_RETURN_IF_ERROR(Advance());
    VERNIER_RETURN_IF_ERROR(Emit({.op = Op::kPushNumber, .number = token.number}, 1));
    return Operand{.type = Type::kNumber, .column = token.column};
  }
  if (token.kind == Token::Kind::kText) {
    VERNIER_RETURN_IF_ERROR(Advance());
    return Operand{.type = Type::kText, .column = token.column, .text = token.text};
  }
  return Unexpected("a number, name or '('");
}

// Parenthesis = "(" Or ")"
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Parenthesis() {
  VERNIER_RETURN_IF_ERROR(Enter());
  VERNIER_RETURN_IF_ERROR(Advance());
  VERNIER_ASSIGN_OR_RETURN(const Operand inner, Or());
  VERNIER_RETURN_IF_ERROR(Expect(")"));
  --depth_;
  return inner;
}

// Name = name | "true" | "false" | Call
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Name() {
  const Token name = token_;
  VERNIER_RETURN_IF_ERROR(Advance());
  if (At("(")) return Call(name.text, name.column);
  if (!name.is_quoted && (name.text == "true" || name.text == "false")) {
    VERNIER_RETURN_IF_ERROR(
        Emit({.op = Op::kPushNumber, .number = name.text == "true" ? 1.0 : 0.0}, 1));
    return Operand{.type = Type::kBoolean, .column = name.column};
  }
  const ExpressionName* const found = Find(name.text);
  if (found == nullptr && !open_names_) {
    std::vector<std::string> names;
    names.reserve(known_.size());
    for (const ExpressionName& known : known_) names.push_back(known.name);
    return InvalidArgument(
        "unknown name '{}' at column {}{}", name.text, name.column, NearestHint(name.text, names));
  }
  Operand operand{.type = found == nullptr ? Type::kNumber : found->type,
                  .column = name.column,
                  .slot = Slot(name.text)};
  // A text stays in the operand until it is compared.
  if (operand.type != Type::kText) {
    VERNIER_RETURN_IF_ERROR(Emit({.op = Op::kPushSlot, .slot = operand.slot}, 1));
  }
  return operand;
}

// Call = function "(" Or { "," Or } ")". The name has been read.
absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Call(std::string_view name,
                                                                 std::size_t column) {
  const auto* const function =
      std::find_if(kFunctions.begin(), kFunctions.end(), [name](const Function& candidate) {
        return candidate.name == name;
      });
  if (function == kFunctions.end()) {
    std::vector<std::string> names(kFunctions.size());
    std::transform(kFunctions.begin(), kFunctions.end(), names.begin(), [](const Function& known) {
      return std::string(known.name);
    });
    return InvalidArgument(
        "unknown function '{}' at column {}{}", name, column, NearestHint(name, names));
  }
  VERNIER_RETURN_IF_ERROR(Enter());
  int arguments = 0;
  do {
    VERNIER_RETURN_IF_ERROR(Advance());  // The '(' or the ','.
    VERNIER_ASSIGN_OR_RETURN(const Operand argument, Or());
    VERNIER_RETURN_IF_ERROR(CheckIs(Type::kNumber, argument, name));
    ++arguments;
    // Combined one by one, so that the stack holds two arguments at most, however many there are.
    if (function->many && arguments > 1) VERNIER_RETURN_IF_ERROR(Emit({.op = function->op}, -1));
  } while (At(","));
  VERNIER_RETURN_IF_ERROR(Expect(")"));
  --depth_;
  if (function->many ? arguments < 2 : arguments != 1) {
    return InvalidArgument("'{}' at column {} takes {}, got {}",
                           name,
                           column,
                           function->many ? "two arguments or more" : "one argument",
                           arguments);
  }
  if (!function->many) VERNIER_RETURN_IF_ERROR(Emit({.op = function->op}, 0));
  return Operand{.type = Type::kNumber, .column = column};
}

absl::StatusOr<ExpressionParser::Operand> ExpressionParser::Chain(
    std::span<const Infix> infixes,
    Type type,
    absl::StatusOr<Operand> (ExpressionParser::*next)()) {
  VERNIER_ASSIGN_OR_RETURN(Operand left, (this->*next)());
  for (;;) {
    const auto infix = std::find_if(infixes.begin(), infixes.end(), [this](const Infix& candidate) {
      return At(candidate.symbol);
    });
    if (infix == infixes.end()) return left;
    VERNIER_RETURN_IF_ERROR(CheckIs(type, left, infix->symbol));
    VERNIER_RETURN_IF_ERROR(Advance());
    VERNIER_ASSIGN_OR_RETURN(const Operand right, (this->*next)());
    VERNIER_RETURN_IF_ERROR(CheckIs(type, right, infix->symbol));
    VERNIER_RETURN_IF_ERROR(Emit({.op = infix->op}, -1));
    left = Operand{.type = type, .column = left.column};
  }
}

absl::Status ExpressionParser::CheckIs(Type type,
                                       const Operand& operand,
                                       std::string_view around) const {
  const bool counts_as_number = type == Type::kNumber && operand.type == Type::kBoolean;
  if (operand.type == type || counts_as_number) return absl::OkStatus();
  return InvalidArgument("'{}' needs {} at column {}, got {}",
                         around,
                         TypeName(type),
                         operand.column,
                         TypeName(operand.type));
}

absl::Status ExpressionParser::Advance() {
  VERNIER_ASSIGN_OR_RETURN(token_, lexer_.Next());
  return absl::OkStatus();
}

bool ExpressionParser::At(std::string_view word) const {
  return !token_.is_quoted && token_.kind != Token::Kind::kEnd && token_.text == word;
}

absl::Status ExpressionParser::Expect(std::string_view symbol) {
  if (!At(symbol)) return Unexpected(fmt::format("'{}'", symbol));
  return Advance();
}

absl::Status ExpressionParser::Unexpected(std::string_view expected) const {
  return InvalidArgument(
      "expected {} at column {}, got {}", expected, token_.column, Describe(token_));
}

// An error ends the parse, so callers count down on success only.
absl::Status ExpressionParser::Enter() {
  if (++depth_ <= limits::kExpressionDepth) return absl::OkStatus();
  return InvalidArgument(
      "is nested more than {} levels deep at column {}", limits::kExpressionDepth, token_.column);
}

absl::Status ExpressionParser::Emit(Expression::Instruction instruction, int stack_change) {
  // No instruction jumps, so this is the height of the stack when the program runs, too.
  stack_ += stack_change;
  if (stack_ > kMaxExpressionStack) {
    return InvalidArgument("is too deeply nested at column {}", token_.column);
  }
  result_.program_.push_back(std::move(instruction));
  return absl::OkStatus();
}

const ExpressionName* ExpressionParser::Find(std::string_view name) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [name](const auto& candidate) {
    return candidate.name == name;
  });
  return found == known_.end() ? nullptr : &*found;
}

int ExpressionParser::Slot(std::string_view name) {
  std::vector<std::string>& names = result_.names_;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  names.emplace_back(name);
  return static_cast<int>(names.size()) - 1;
}

}  // namespace vernier
