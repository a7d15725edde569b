#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/space.h"

namespace vernier {

// A name that an expression may use.
struct ExpressionName {
  enum class Type { kNumber, kBoolean, kText };
  std::string name;
  Type type = Type::kNumber;
  std::vector<std::string> texts;  // With kText: its possible values.
};

// A condition over named values: "width * batch <= 8192 and (optimizer != 'sgd' or momentum > 0.5)".
//
//   or ||     and &&     not !     < <= > >= == !=     + -     * / %     - + (sign)     ^ (to the right)     ( )
//   min(a, b, …)  max(a, b, …)  abs  log  exp  sqrt  floor  ceil  true  false  numbers  'text'  "text"
//
// from loosest to tightest. Booleans are 0 and 1 in arithmetic; % has the sign of its left side. Text can only be
// compared with == and !=, in the form that programs see: a categorical 3 is '3'.
//
// An undefined value (a division by zero, the logarithm of 0, NaN) makes the comparison around it undefined, neither
// true nor false. `not` of undefined is undefined; `and` and `or` are decided by their other side if possible (Kleene's
// logic). An undefined condition does not hold.
//
// Immutable; thread-safe. Evaluation uses a stack of constant size and no recursion, whatever the text.
class Expression {
 public:
  // Parses a condition over the `known` names. With `open_names`, other names are allowed and are numbers.
  // InvalidArgument: one sentence with the column.
  static absl::StatusOr<Expression> Parse(std::string_view text,
                                          std::span<const ExpressionName> known,
                                          bool open_names = false);

  // The names that occur, each once, in the order of their first occurrence.
  const std::vector<std::string>& names() const { return names_; }

  // Whether the condition holds.  REQUIRES: one value for each of names(), of its type.
  bool Holds(std::span<const ParameterValue* const> values) const;

  // Returns the distance of the condition from the point where it changes: 0 or more if it holds, negative if not, NaN
  // if it is undefined.
  //
  // The slack of a comparison is the difference of its sides; of `and` the smaller slack, of `or` the larger one, of
  // `not` that of its operand with the other sign; 1 or -1 where there is nothing to measure. A condition that is
  // violated exactly at that point, as `a < b` at a = b, has the smallest negative double as its slack.
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
  // One instruction of a stack machine. On the stack, booleans are 0 and 1, and undefined values are NaN.
  struct Instruction {
    Op op = Op::kPushNumber;
    double number = 0;
    int slot = 0;        // Index into names().
    int other_slot = 0;  // With kTextsAreEqual.
    std::string text;    // With kTextIsConstant.
  };

 private:
  friend class ExpressionParser;
  template <typename Machine>
  typename Machine::Value Run(std::span<const ParameterValue* const> values) const;

  std::vector<Instruction> program_;
  std::vector<std::string> names_;
};

}  // namespace vernier
