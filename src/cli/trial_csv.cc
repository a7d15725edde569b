#include "src/cli/trial_csv.h"

#include <optional>
#include <set>
#include <string>
#include <variant>

#include "absl/time/time.h"
#include "src/core/stopped_early.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

ordered_json TimeOrNothing(const std::optional<absl::Time>& time) {
  if (!time) return nullptr;
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", *time, absl::UTCTimeZone());
}

}  // namespace

std::vector<std::string> MetricNames(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials) {
  std::vector<std::string> names;
  std::set<std::string> others;
  for (const TrialRecord& record : trials) {
    for (const auto& [name, value] : record.trial.final_metrics) others.insert(name);
    if (!record.trial.last) continue;
    for (const auto& [name, value] : record.trial.last->metrics) others.insert(name);
  }
  for (const Objective& objective : study.study.spec.objectives) {
    names.push_back(objective.metric);
    others.erase(objective.metric);
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

ordered_json TrialCsvRows(const StudyRecord& study, const std::vector<TrialRecord>& trials) {
  const std::vector<std::string> metrics = MetricNames(study, trials);
  auto rows = ordered_json::array();
  for (const TrialRecord& record : trials) {
    const Trial& trial = record.trial;
    ordered_json row = {{"number", trial.number.value()}, {"state", TrialStateName(trial.state)}};
    if (!study.outcome_constraints.empty()) {
      row["feasible"] = trial.state == TrialState::kCompleted
                            ? ordered_json(!study.BreaksConstraint(trial))
                            : ordered_json();
    }
    for (const std::string& metric : metrics) {
      const auto value = ObjectiveOf(trial, metric);
      row["metrics." + metric] = value ? ordered_json(*value) : ordered_json();
    }
    for (const std::string& name : study.parameter_names()) {
      const auto value = trial.point.find(name);
      row["parameters." + name] =
          value == trial.point.end() ? ordered_json() : ordered_json(FormatValue(value->second));
    }
    row["create_time"] = TimeOrNothing(trial.created);
    row["start_time"] = TimeOrNothing(trial.started);
    row["end_time"] = TimeOrNothing(trial.ended);
    row["failure"] = trial.failure == FailureClass::kNone
                         ? ordered_json()
                         : ordered_json(FailureClassName(trial.failure));
    row["message"] = trial.message;
    row["stopped"] = IsStoppedEarly(trial);
    row["measurements"] = trial.measurements;
    row["attempts"] = trial.attempts.size();
    row["duration"] = trial.started && trial.ended
                          ? ordered_json(absl::ToDoubleSeconds(*trial.ended - *trial.started))
                          : ordered_json();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace vernier::cli
