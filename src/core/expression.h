#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/space.h"

namespace vernier {

// What an expression may speak of.
struct ExpressionName {
  enum class Type { kNumber, kBoolean, kText };
  std::string name;
  Type type = Type::kNumber;
  std::vector<std::string> texts;  // Of kText: the values that it can have.
};

// A condition over named values: "width * batch <= 8192 and (optimizer != 'sgd' or momentum > 0.5)".
//
//   or ||     and &&     not !     < <= > >= == !=     + -     * / %     - + (sign)     ^ (to the right)     ( )
//   min(a, b, …)  max(a, b, …)  abs  log  exp  sqrt  floor  ceil  true  false  numbers  'text'  "text"
//
// from loosest to tightest. Booleans count as 0 and 1 in arithmetic; % has the sign of its left side. Text is compared
// with == and != only, as programs see it: a categorical 3 is '3'. What has no value (a division by zero, the logarithm of
// 0, NaN) makes the comparison around it neither true nor false: `not` keeps it so, `and` and `or` decide by their other
// side if that is enough, and a condition that ends up so does not hold.
//
// Immutable. Thread-safe. Evaluation takes constant stack and no recursion, whatever the text was.
class Expression {
 public:
  // InvalidArgument: one sentence with the column. With `open_names` an unknown name is a number of its own.
  static absl::StatusOr<Expression> Parse(std::string_view text,
                                          std::span<const ExpressionName> known,
                                          bool open_names = false);

  // The names that occur, each once, in the order of their first occurrence.
  const std::vector<std::string>& names() const { return names_; }

  // REQUIRES: one value for each of names(), of its type.
  bool Holds(std::span<const ParameterValue* const> values) const;

  // How far the condition is from its turning point: 0 or more if it holds, negative if not, NaN if it has no value.
  //
  // Of a comparison, how far its sides are apart; of `and` the smaller slack, of `or` the larger one, of `not` that of its
  // operand with the other sign; 1 and -1 where there is nothing to measure. What is broken at the turning point itself,
  // as `a < b` is where a equals b, has the smallest negative slack that there is.
  // REQUIRES: as Holds.
  double Slack(std::span<const ParameterValue* const> values) const;

  enum class Op : std::uint8_t {
    kPushNumber,
    kPushSlot,
    kTextIsConstant,
    kTextsAreEqual,
    kNegate,
    kNot,
    kAbs,
    kLog,
    kExp,
    kSqrt,
    kFloor,
    kCeil,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kPower,
    kMin,
    kMax,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kEqual,
    kNotEqual,
    kAnd,
    kOr,
  };
  // One step of a stack machine. Booleans are 0 and 1 on the stack, what has no value is NaN.
  struct Instruction {
    Op op = Op::kPushNumber;
    double number = 0;
    int slot = 0;        // Of names().
    int other_slot = 0;  // Of kTextsAreEqual.
    std::string text;    // Of kTextIsConstant.
  };

 private:
  friend class ExpressionParser;
  template <typename Machine>
  typename Machine::Value Run(std::span<const ParameterValue* const> values) const;

  std::vector<Instruction> program_;
  std::vector<std::string> names_;
};

}  // namespace vernier
