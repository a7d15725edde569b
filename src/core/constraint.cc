#include "src/core/constraint.h"

#include <utility>

namespace vernier {
namespace {

ExpressionName NameOf(const Parameter& parameter) {
  ExpressionName name{.name = parameter.name};
  if (std::holds_alternative<BoolDomain>(parameter.domain)) {
    name.type = ExpressionName::Type::kBoolean;
  }
  if (const auto* const categorical = std::get_if<CategoricalDomain>(&parameter.domain)) {
    // Text whatever it lists, since programs get text.
    name.type = ExpressionName::Type::kText;
    for (const ParameterValue& value : categorical->values) {
      name.texts.push_back(FormatValue(value));
    }
  }
  return name;
}

}  // namespace

absl::StatusOr<Constraint> Constraint::Parse(std::string_view text,
                                             std::span<const Parameter> parameters) {
  std::vector<ExpressionName> names;
  names.reserve(parameters.size());
  for (const Parameter& parameter : parameters) names.push_back(NameOf(parameter));
  VERNIER_ASSIGN_OR_RETURN(Expression expression, Expression::Parse(text, names));
  return Constraint(text, std::move(expression));
}

Constraint::Constraint(std::string_view text, Expression expression)
    : text_(text), expression_(std::move(expression)) {}

bool Constraint::Holds(const Point& point) const {
  std::vector<const ParameterValue*> values;
  values.reserve(expression_.names().size());
  for (const std::string& name : expression_.names()) {
    const auto found = point.find(name);
    // An inactive parameter: there is nothing to constrain.
    if (found == point.end()) return true;
    values.push_back(&found->second);
  }
  return expression_.Holds(values);
}

}  // namespace vernier
