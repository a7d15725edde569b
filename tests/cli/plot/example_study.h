#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/plot/study_data.h"
#include "vernier/core/space.h"

namespace vernier::plot {

// A study whose names need escaping: two parameters, and a third that only one value of the second has.
inline StudyData ExampleStudy(std::vector<Objective> objectives = {
                                  {.metric = "loss<&\">", .goal = Goal::kMinimize}}) {
  StudyData study;
  study.spec.name = "example";
  study.spec.objectives = std::move(objectives);
  study.spec.space = *Space::Create(
      {{.name = "lr", .domain = FloatDomain{.lower = 1e-4, .upper = 1, .scale = Scale::kLog}},
       {.name = "kind",
        .domain = CategoricalDomain{.values = {std::string("plain"), std::string("a<b")}}},
       {.name = "depth",
        .domain = IntDomain{.lower = 1, .upper = 5},
        .when = {{.parent = "kind", .values = {std::string("a<b")}}}}});
  study.created = absl::UnixEpoch();
  study.now = absl::UnixEpoch() + absl::Seconds(100);
  return study;
}

// Adds a trial that ran for a second; of NaN there is no value.
inline PlotTrial& AddTrial(StudyData& study,
                           std::vector<double> values,
                           TrialState state = TrialState::kCompleted) {
  PlotTrial each;
  const auto number = static_cast<std::int64_t>(study.trials.size()) + 1;
  each.trial.number = TrialNumber(number);
  each.trial.state = state;
  each.trial.created = study.created + absl::Seconds(number);
  each.trial.started = each.trial.created + absl::Milliseconds(200);
  if (IsFinished(state)) each.trial.ended = *each.trial.started + absl::Seconds(1);
  each.trial.point = {{"lr", 0.01 * static_cast<double>(number % 50 + 1)},
                      {"kind", std::string(number % 2 == 0 ? "a<b" : "plain")}};
  if (number % 2 == 0) each.trial.point["depth"] = std::int64_t{3};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) continue;
    each.trial.final_metrics[study.spec.objectives[i].metric] = values[i];
  }
  each.fate = FateOf(each.trial, /*breaks_constraint=*/false);
  study.trials.push_back(std::move(each));
  return study.trials.back();
}

}  // namespace vernier::plot
