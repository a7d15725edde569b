#include "src/core/outcome_constraint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/core/status.h"

namespace vernier {
namespace {

// The metrics that a definition names: its objectives, and metrics with a source.
std::vector<std::string> KnownMetrics(const StudySpec& spec) {
  std::vector<std::string> known;
  for (const Objective& objective : spec.objectives) known.push_back(objective.metric);
  for (const auto& [name, source] : spec.metrics) known.push_back(name);
  return known;
}

std::string ConstraintPath(std::size_t index) {
  return fmt::format("outcome_constraints[{}]", index);
}

}  // namespace

absl::StatusOr<OutcomeConstraint> OutcomeConstraint::Parse(std::string_view text,
                                                           std::span<const std::string> known) {
  // Metrics are not declared, so that any other name may be one as well.
  std::vector<ExpressionName> names;
  names.reserve(known.size());
  for (const std::string& name : known) names.push_back({.name = name});
  VERNIER_ASSIGN_OR_RETURN(Expression expression,
                           Expression::Parse(text, names, /*open_names=*/true));
  return OutcomeConstraint(text, std::move(expression));
}

OutcomeConstraint::OutcomeConstraint(std::string_view text, Expression expression)
    : text_(text), expression_(std::move(expression)) {}

double OutcomeConstraint::Slack(const std::map<std::string, double>& metrics) const {
  // A missing metric is NaN, which matters only where it decides (Expression::Slack).
  std::vector<ParameterValue> values;
  values.reserve(expression_.names().size());
  for (const std::string& name : expression_.names()) {
    const auto found = metrics.find(name);
    const bool is_known = found != metrics.end() && std::isfinite(found->second);
    values.emplace_back(is_known ? found->second : std::numeric_limits<double>::quiet_NaN());
  }
  std::vector<const ParameterValue*> pointers;
  pointers.reserve(values.size());
  for (const ParameterValue& value : values) pointers.push_back(&value);
  return expression_.Slack(pointers);
}

absl::StatusOr<std::vector<OutcomeConstraint>> ParseOutcomeConstraints(const StudySpec& spec) {
  const std::vector<std::string> known = KnownMetrics(spec);
  std::vector<OutcomeConstraint> constraints;
  for (const std::string& text : spec.outcome_constraints) {
    absl::StatusOr<OutcomeConstraint> parsed = OutcomeConstraint::Parse(text, known);
    if (!parsed.ok()) {
      return FieldError(ConstraintPath(constraints.size()), std::string(parsed.status().message()));
    }
    constraints.push_back(*std::move(parsed));
  }
  return constraints;
}

absl::Status CheckOutcomeConstraints(const StudySpec& spec) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<OutcomeConstraint> constraints,
                           ParseOutcomeConstraints(spec));
  const std::vector<std::string> known = KnownMetrics(spec);
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::vector<std::string>& names = constraints[i].metrics();
    if (names.empty()) {
      return FieldError(ConstraintPath(i),
                        fmt::format("must name a metric, '{}' is the same for every trial",
                                    constraints[i].text()));
    }
    for (const std::string& name : names) {
      const bool is_metric = std::find(known.begin(), known.end(), name) != known.end();
      // A name that is unknown altogether may be a metric that the programs report unasked.
      if (is_metric || !spec.space.Find(name)) continue;
      return FieldError(ConstraintPath(i),
                        fmt::format("must be over metrics, '{}' is a parameter; conditions between "
                                    "parameters go to constraints",
                                    name));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> MissingMetrics(std::span<const OutcomeConstraint> constraints,
                                        const std::map<std::string, double>& metrics) {
  std::vector<std::string> missing;
  for (const OutcomeConstraint& constraint : constraints) {
    for (const std::string& name : constraint.metrics()) {
      const bool is_listed = std::find(missing.begin(), missing.end(), name) != missing.end();
      if (!is_listed && !metrics.contains(name)) missing.push_back(name);
    }
  }
  return missing;
}

std::vector<double> SlacksOf(std::span<const OutcomeConstraint> constraints,
                             const std::map<std::string, double>& metrics) {
  std::vector<double> slacks;
  slacks.reserve(constraints.size());
  for (const OutcomeConstraint& constraint : constraints) {
    slacks.push_back(constraint.Slack(metrics));
  }
  return slacks;
}

// NaN is not at least 0, so an unknown slack counts as a broken constraint.
bool AreKept(std::span<const double> slacks) {
  return std::all_of(slacks.begin(), slacks.end(), [](double slack) { return slack >= 0; });
}

}  // namespace vernier
