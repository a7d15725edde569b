// Constraints are on measured outcomes (docs/adr/0014-several-objectives-and-outcome-constraints.md): slack is the
// distance from breaking one. If no trial satisfies all, the nearest one helps the user to see which constraint is too
// tight.

#include "src/cli/outcome_text.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/terminal/table.h"
#include "src/cli/trial_csv.h"
#include "src/core/optimal_trials.h"

namespace vernier::cli {
namespace {

std::vector<std::string> Missing(const OutcomeConstraint& constraint,
                                 const std::map<std::string, double>& metrics) {
  std::vector<std::string> missing;
  for (const std::string& name : constraint.metrics()) {
    const auto found = metrics.find(name);
    if (found == metrics.end() || !std::isfinite(found->second)) missing.push_back(name);
  }
  return missing;
}

// Distance of a trial from satisfying all constraints, compared field by field.
struct Distance {
  // First, since a trial whose outcome is not known may break any constraint.
  int unknown = 0;
  int broken = 0;
  // Sum over constraints, each relative to the largest of any trial, since their units differ.
  double shortfall = 0;
  auto operator<=>(const Distance&) const = default;
};

double Shortfall(double slack) { return slack < 0 ? -slack : 0; }

Distance DistanceOf(const std::vector<double>& slacks, const std::vector<double>& worst) {
  Distance distance;
  for (std::size_t i = 0; i < slacks.size(); ++i) {
    distance.unknown += std::isnan(slacks[i]) ? 1 : 0;
    distance.broken += slacks[i] < 0 ? 1 : 0;
    // `worst` is the maximum of such shortfalls, and so above 0.
    if (slacks[i] < 0) distance.shortfall += Shortfall(slacks[i]) / worst[i];
  }
  return distance;
}

// By the first objective, then the others, then the number.
bool ComesBefore(const StudySpec& spec, const Trial& a, const Trial& b) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const Objective& objective : spec.objectives) {
    const double left = ObjectiveOf(a, objective.metric).value_or(kNone);
    const double right = ObjectiveOf(b, objective.metric).value_or(kNone);
    if (IsBetter(objective.goal, left, right)) return true;
    if (IsBetter(objective.goal, right, left)) return false;
  }
  return a.number < b.number;
}

// NUMBER, one column for each objective, PARAMETERS.
Table OptimalTable(const StudyRecord& study, const std::vector<TrialRecord>& optimal) {
  std::vector<Column> columns = {{.name = "NUMBER", .align = Align::kRight}};
  for (const Objective& objective : study.study.spec.objectives) {
    columns.push_back({.name = objective.metric, .align = Align::kRight});
  }
  columns.push_back({.name = "PARAMETERS", .flexible = true});
  Table table(std::move(columns));
  for (const TrialRecord& record : optimal) {
    std::vector<Cell> cells = {{std::to_string(record.trial.number.value()), Style::kBold}};
    for (const auto& value : ObjectivesOf(record.trial, study.study.spec)) {
      cells.push_back({value ? FormatFigure(*value) : "-"});
    }
    cells.push_back({CompactPoint(record.trial.point, study.parameter_names())});
    table.AddRow(std::move(cells));
  }
  return table;
}

}  // namespace

std::string DescribeSlack(const OutcomeConstraint& constraint,
                          const std::map<std::string, double>& metrics) {
  const double slack = constraint.Slack(metrics);
  const std::string& text = constraint.text();
  if (std::isnan(slack)) {
    const std::vector<std::string> missing = Missing(constraint, metrics);
    if (missing.empty()) return fmt::format("{} is not known, it has no value here", text);
    return fmt::format(
        "{} is not known, the trial has no finite {}", text, fmt::join(missing, ", "));
  }
  if (slack >= 0) return fmt::format("{} is kept by {}", text, FormatFigure(slack));
  // A strict constraint at its bound has a slack below 0 that prints as 0.
  const bool barely = -slack < std::numeric_limits<double>::min();
  if (barely) return fmt::format("{} is broken, if only just", text);
  return fmt::format("{} is broken by {}", text, FormatFigure(-slack));
}

const TrialRecord* NearestToFeasible(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials) {
  std::vector<double> worst(study.outcome_constraints.size(), 0);
  const auto slacks_of = [&study](const TrialRecord& record) {
    return SlacksOf(study.outcome_constraints, record.trial.final_metrics);
  };
  for (const TrialRecord& record : trials) {
    // The worst shortfall is the unit for each constraint.
    if (!study.BreaksConstraint(record.trial)) continue;
    const std::vector<double> slacks = slacks_of(record);
    for (std::size_t i = 0; i < worst.size(); ++i) {
      worst[i] = std::max(worst[i], Shortfall(slacks[i]));
    }
  }
  const TrialRecord* nearest = nullptr;
  Distance least;
  for (const TrialRecord& record : trials) {
    if (!study.BreaksConstraint(record.trial)) continue;
    const Distance distance = DistanceOf(slacks_of(record), worst);
    // Among equals, the first.
    if (nearest != nullptr && !(distance < least)) continue;
    nearest = &record;
    least = distance;
  }
  return nearest;
}

std::string WhyNoBest(const StudyRecord& study, const std::vector<TrialRecord>& trials) {
  if (!HasBest(study.study.spec)) {
    return fmt::format("study '{}' has no best trial: it names no objective", study.name());
  }
  const std::string none = fmt::format("study '{}' has no best trial yet: ", study.name());
  if (study.study.completed == 0) {
    if (study.study.trials == 0) return none + "it has no trials";
    if (study.study.trials == 1) return none + "its only trial is not completed";
    return fmt::format("{}none of its {} trials is completed", none, study.study.trials);
  }
  const TrialRecord* const nearest = NearestToFeasible(study, trials);
  const bool is_one = study.study.completed == 1;
  if (nearest == nullptr) {
    // No trial breaks a constraint, and still none is the best: values are missing.
    if (is_one) return none + "its only completed trial lacks a number for an objective";
    return fmt::format("{}none of its {} completed trials has a number for every objective",
                       none,
                       study.study.completed);
  }
  std::vector<std::string> reasons;
  for (const OutcomeConstraint& constraint : study.outcome_constraints) {
    if (constraint.Slack(nearest->trial.final_metrics) >= 0) continue;
    reasons.push_back(DescribeSlack(constraint, nearest->trial.final_metrics));
  }
  if (is_one) {
    return fmt::format("{}its only completed trial, {}, does not keep every outcome constraint: {}",
                       none,
                       nearest->trial.number.value(),
                       fmt::join(reasons, ", and "));
  }
  return fmt::format(
      "{}none of its {} completed trials keeps every outcome constraint; trial {} came "
      "nearest, but {}",
      none,
      study.study.completed,
      nearest->trial.number.value(),
      fmt::join(reasons, ", and "));
}

std::vector<TrialRecord> SelectOptimal(const StudyRecord& study,
                                       const std::vector<TrialRecord>& trials) {
  std::vector<TrialRecord> optimal;
  for (const TrialRecord& record : trials) {
    if (study.IsOptimal(record.trial.number)) optimal.push_back(record);
  }
  std::sort(optimal.begin(), optimal.end(), [&](const TrialRecord& a, const TrialRecord& b) {
    return ComesBefore(study.study.spec, a.trial, b.trial);
  });
  return optimal;
}

void ListOptimal(Output& output,
                 const StudyRecord& study,
                 const std::vector<TrialRecord>& optimal) {
  auto items = nlohmann::ordered_json::array();
  for (const TrialRecord& record : optimal) items.push_back(ProtoToJson(record.message));
  output.List(OptimalTable(study, optimal), items, TrialCsvRows(study, optimal));
}

}  // namespace vernier::cli
