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

// A condition over the metrics that a trial ended with: "latency_ms <= 20".
class OutcomeConstraint {
 public:
  // Any name may be a metric; those that hold a '-' must be among `known`.  InvalidArgument: one sentence, without a path.
  static absl::StatusOr<OutcomeConstraint> Parse(std::string_view text,
                                                 std::span<const std::string> known);

  // How far the constraint is kept (Expression::Slack): 0 or more if it is, negative if it is broken. NaN if nobody knows,
  // since a metric is missing or not finite that would decide.
  double Slack(const std::map<std::string, double>& metrics) const;

  const std::string& text() const { return text_; }
  // The metrics that it names, in the order of their first occurrence.
  const std::vector<std::string>& metrics() const { return expression_.names(); }

 private:
  OutcomeConstraint(std::string_view text, Expression expression);
  std::string text_;
  Expression expression_;
};

// The outcome constraints of a study, in its order.  InvalidArgument: a FieldError, "outcome_constraints[1]: …".
absl::StatusOr<std::vector<OutcomeConstraint>> ParseOutcomeConstraints(const StudySpec& spec);

// What new studies must keep besides Validate; older stores hold some that do not.
// InvalidArgument: a FieldError: a constraint names a parameter that is no known metric, or names nothing.
absl::Status CheckOutcomeConstraints(const StudySpec& spec);

// Of each constraint.
std::vector<double> SlacksOf(std::span<const OutcomeConstraint> constraints,
                             const std::map<std::string, double>& metrics);

// True if every constraint is known to be kept.
bool AreKept(std::span<const double> slacks);

}  // namespace vernier
