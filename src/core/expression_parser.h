#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/core/expression.h"
#include "src/core/expression_lexer.h"

namespace vernier {

// Size of the evaluation's stack. The parser refuses expressions that need more, so that evaluation cannot overflow. A
// choice: twice the permitted nesting (limits::kExpressionDepth).
inline constexpr int kMaxExpressionStack = 128;

// A recursive-descent parser: one method for each level of precedence, loosest first. Each method emits the
// instructions of what it has read. Use each object for one Parse.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::span<const ExpressionName> known, bool open_names);
  // See Expression::Parse.
  absl::StatusOr<Expression> Parse();

 private:
  using Type = ExpressionName::Type;
  using Op = Expression::Op;
  // The result of a level. The value of a number or boolean is on the stack; text has no value there, and stays in the
  // operand until it is compared.
  struct Operand {
    Type type = Type::kNumber;
    std::size_t column = 1;
    int slot = -1;     // With text: the slot of a name, or -1 for a constant.
    std::string text;  // With text and slot -1: the constant.
  };
  struct Infix {
    std::string_view symbol;
    Op op;
  };

  absl::StatusOr<Operand> Or();
  absl::StatusOr<Operand> And();
  absl::StatusOr<Operand> Not();
  absl::StatusOr<Operand> Comparison();
  absl::StatusOr<Operand> Sum();
  absl::StatusOr<Operand> Product();
  absl::StatusOr<Operand> Sign();
  absl::StatusOr<Operand> Power();
  absl::StatusOr<Operand> Primary();
  absl::StatusOr<Operand> Parenthesis();
  absl::StatusOr<Operand> Name();
  absl::StatusOr<Operand> Call(std::string_view function, std::size_t column);

  // Parses a chain of left-associative operators of one level.
  absl::StatusOr<Operand> Chain(std::span<const Infix> infixes,
                                Type type,
                                absl::StatusOr<Operand> (ExpressionParser::*next)());
  absl::Status CompareTexts(const Operand& left, const Operand& right, const Infix& infix);
  absl::Status CheckIs(Type type, const Operand& operand, std::string_view around) const;

  absl::Status Advance();
  bool At(std::string_view word) const;
  absl::Status Expect(std::string_view symbol);
  absl::Status Unexpected(std::string_view expected) const;
  // Counts nesting, so that deep expressions cannot exhaust the stack of this recursion.
  absl::Status Enter();
  // Appends an instruction, and tracks the height of the evaluation's stack.
  absl::Status Emit(Expression::Instruction instruction, int stack_change);
  const ExpressionName* Find(std::string_view name) const;
  int Slot(std::string_view name);

  std::size_t length_;
  std::span<const ExpressionName> known_;
  bool open_names_;
  ExpressionLexer lexer_;
  Token token_;
  int depth_ = 0;
  int stack_ = 0;
  Expression result_;
};

}  // namespace vernier
