#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/core/expression.h"
#include "src/core/expression_lexer.h"

namespace vernier {

// Values that wait on the evaluation's stack at once, at most.
inline constexpr int kMaxExpressionStack = 128;

// Recursive descent, one method for each level of precedence; each leaves its instructions in the program.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::span<const ExpressionName> known, bool open_names);
  absl::StatusOr<Expression> Parse();

 private:
  using Type = ExpressionName::Type;
  using Op = Expression::Op;
  // What a level has read. Numbers and booleans are on the stack; text is not and waits here for its comparison.
  struct Operand {
    Type type = Type::kNumber;
    std::size_t column = 1;
    int slot = -1;     // Of text: the name that has it, or -1 and
    std::string text;  // the constant.
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

  // A chain of operators of one level, joined from the left.
  absl::StatusOr<Operand> Chain(std::span<const Infix> infixes,
                                Type type,
                                absl::StatusOr<Operand> (ExpressionParser::*next)());
  absl::Status CompareTexts(const Operand& left, const Operand& right, const Infix& infix);
  absl::Status CheckIs(Type type, const Operand& operand, std::string_view around) const;

  absl::Status Advance();
  bool At(std::string_view word) const;
  absl::Status Expect(std::string_view symbol);
  absl::Status Unexpected(std::string_view expected) const;
  absl::Status Enter();
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
