#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/core/expression.h"
#include "vernier/core/study.h"

namespace vernier {

// A condition over the final metrics of a trial: "latency_ms <= 20". Immutable; thread-safe.
class OutcomeConstraint {
 public:
  // Any name may be a metric; names with a '-' must be in `known`.  InvalidArgument: one sentence, without a path.
  static absl::StatusOr<OutcomeConstraint> Parse(std::string_view text,
                                                 std::span<const std::string> known);

  // Returns the slack (Expression::Slack): 0 or more if the constraint is satisfied, negative if it is violated. NaN if
  // unknown, because a metric that decides is missing or not finite.
  double Slack(const std::map<std::string, double>& metrics) const;

  const std::string& text() const { return text_; }
  // The metrics that it names, in the order of their first occurrence.
  const std::vector<std::string>& metrics() const { return expression_.names(); }

 private:
  OutcomeConstraint(std::string_view text, Expression expression);
  std::string text_;
  Expression expression_;
};

// Parses the outcome constraints of a study, in its order.  InvalidArgument: a FieldError, "outcome_constraints[1]: …".
absl::StatusOr<std::vector<OutcomeConstraint>> ParseOutcomeConstraints(const StudySpec& spec);

// Checks rules for new studies that Validate does not check, since older stores may have studies that break them.
// InvalidArgument: a FieldError; a constraint names a parameter that is no known metric, or no name at all.
absl::Status CheckOutcomeConstraints(const StudySpec& spec);

// Returns the metrics of constraints that `metrics` lacks, in the order of the constraints, each once.
std::vector<std::string> MissingMetrics(std::span<const OutcomeConstraint> constraints,
                                        const std::map<std::string, double>& metrics);

// Returns the slack of each constraint.
std::vector<double> SlacksOf(std::span<const OutcomeConstraint> constraints,
                             const std::map<std::string, double>& metrics);

// Whether every constraint is known to be satisfied. False if any slack is NaN.
bool AreKept(std::span<const double> slacks);

}  // namespace vernier
