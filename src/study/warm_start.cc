#include "src/study/warm_start.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/objectives.h"
#include "src/core/outcome_constraint.h"
#include "src/core/status.h"

namespace vernier::study {
namespace {

// InvalidArgument: the point has no place in the space.
absl::StatusOr<Point> Moved(const Point& from, const Space& space) {
  const Point typed = space.InKind(from);
  Point point;
  for (const int index : space.parents_first()) {
    const Parameter& parameter = space.parameters()[static_cast<std::size_t>(index)];
    if (!space.IsActive(index, point)) continue;
    const auto at = typed.find(parameter.name);
    if (at != typed.end()) {
      point[parameter.name] = at->second;
    } else if (parameter.default_value.has_value()) {
      point[parameter.name] = *parameter.default_value;
    } else {
      return InvalidArgument("it has no {}, which has no default", parameter.name);
    }
  }
  VERNIER_RETURN_IF_ERROR(space.Check(point));
  return point;
}

absl::StatusOr<Observation> Moved(const Trial& trial,
                                  const StudySpec& spec,
                                  const std::vector<OutcomeConstraint>& constraints) {
  Observation moved{.trial = trial.number};
  VERNIER_ASSIGN_OR_RETURN(moved.point, Moved(trial.point, spec.space));
  moved.values = ValuesOf(spec.objectives, trial.final_metrics);
  for (std::size_t i = 0; i < moved.values.size(); ++i) {
    if (!std::isfinite(moved.values[i])) {
      return InvalidArgument("it has no value of {}", spec.objectives[i].metric);
    }
  }
  moved.slacks = SlacksOf(constraints, trial.final_metrics);
  return moved;
}

std::string_view Verb(Goal goal) { return goal == Goal::kMaximize ? "maximizes" : "minimizes"; }

// What was best there would be worst here.
absl::Status CheckGoals(const StudySpec& earlier, const StudySpec& spec) {
  for (const Objective& objective : spec.objectives) {
    for (const Objective& before : earlier.objectives) {
      if (before.metric != objective.metric || before.goal == objective.goal) continue;
      return InvalidArgument("study '{}' {} {}, this one {} it",
                             earlier.name,
                             Verb(before.goal),
                             before.metric,
                             Verb(objective.goal));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EarlierStudy> TakeOver(const StudyFold& earlier, const StudySpec& spec) {
  VERNIER_RETURN_IF_ERROR(CheckGoals(earlier.header().spec, spec));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<OutcomeConstraint> constraints,
                           ParseOutcomeConstraints(spec));
  EarlierStudy taken{.name = earlier.header().spec.name, .trials = {}};
  std::size_t completed = 0;
  std::string why;
  for (auto row = earlier.rows().rbegin(); row != earlier.rows().rend(); ++row) {
    const Trial& trial = row->trial;
    if (trial.state != TrialState::kCompleted || trial.stop.has_value()) continue;
    if (taken.trials.size() == kMostTaken) break;
    ++completed;
    absl::StatusOr<Observation> moved = Moved(trial, spec, constraints);
    if (moved.ok()) {
      taken.trials.push_back(*std::move(moved));
    } else if (why.empty()) {
      why = fmt::format(
          "; trial {}: {}", trial.number.value(), std::string(moved.status().message()));
    }
  }
  if (taken.trials.empty() && completed == 0) {
    return InvalidArgument("study '{}' has no completed trial to start from", taken.name);
  }
  if (taken.trials.empty()) {
    return InvalidArgument("{} of study '{}' fits this one{}",
                           completed == 1
                               ? "no completed trial"
                               : fmt::format("none of the {} completed trials", completed),
                           taken.name,
                           why);
  }
  std::reverse(taken.trials.begin(), taken.trials.end());
  return taken;
}

}  // namespace vernier::study
