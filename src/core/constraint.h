#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/core/expression.h"
#include "vernier/core/space.h"

namespace vernier {

// A condition between the parameters of a space. Immutable; thread-safe.
class Constraint {
 public:
  // Parses the text of a constraint over `parameters`.  InvalidArgument: one sentence, without a path.
  static absl::StatusOr<Constraint> Parse(std::string_view text,
                                          std::span<const Parameter> parameters);

  // Whether the condition holds. True if the point lacks a parameter of the condition: a constraint over an inactive
  // parameter holds.
  bool Holds(const Point& point) const;
  const std::string& text() const { return text_; }

 private:
  Constraint(std::string_view text, Expression expression);
  std::string text_;
  Expression expression_;
};

}  // namespace vernier
