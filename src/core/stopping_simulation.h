#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/early_stopper.h"

namespace vernier {

// A measurement of the first objective.
struct TimedPoint {
  absl::Time time;
  std::int64_t step = 0;
  double value = 0;
};

// A trial as it ran.
struct SimulatedTrial {
  Trial trial;
  std::vector<TimedPoint> points = {};  // In any order.
  bool feasible = true;                 // It breaks no outcome constraint.
};

// A trial that the rule would have stopped.
struct SimulatedStop {
  TrialNumber trial;
  std::int64_t step = 0;       // The step at which it would have been stopped.
  std::int64_t last_step = 0;  // The last step that it measured.
  double value = 0;            // Its value at `step`.
  // Its result, if it had been stopped: as `value`, unless Objective::final asks for the best value or a mean.
  double kept_value = 0;
  // Its result in fact. Unset: it did not complete, or was_stopped.
  std::optional<double> final_value = {};
  // It was stopped early in fact, by a rule or a user. Its further course is unknown, so it saves nothing.
  bool was_stopped = false;
  // It ended better than StoppingSimulation::best_kept.
  bool would_have_won = false;
  std::string explanation;  // The verdict's.
};

// What trials cost.
struct TrialCost {
  std::int64_t steps = 0;   // Number of measurements of the first objective.
  absl::Duration time;      // From start to end.
  absl::Duration gpu_time;  // Summed over GPUs.
};

// A trial with its result.
struct TrialResult {
  TrialNumber trial;
  double value = 0;
};

// What a stopping rule would have done in a study. Covers the trials that have ended.
struct StoppingSimulation {
  std::int64_t judged = 0;           // Trials with measurements of the first objective.
  std::int64_t longest_curve = 0;    // Largest number of measurements of one trial.
  std::int64_t was_stopped = 0;      // Judged trials that were stopped early in fact.
  std::vector<SimulatedStop> stops;  // In the order of trials.
  TrialCost total;                   // Of all ended trials.
  TrialCost saved;                   // Part of it that the rule would have saved.
  std::optional<TrialResult> best;   // The study's best trial.
  // The best trial if the rule had stopped trials: stopped ones have SimulatedStop::kept_value. Only completed trials
  // count that break no outcome constraint.
  std::optional<TrialResult> best_kept;

  // Null if the rule would not have stopped the trial.
  const SimulatedStop* Find(TrialNumber trial) const;
  // Number of stops of trials that were stopped in fact, too.
  std::int64_t CountUnknown() const;
  // Number of stopped trials that ended better than the best one kept.
  std::int64_t CountWinners() const;
};

// Called after each judged measurement.
using SimulationProgress = std::function<void(std::size_t judged, std::size_t of)>;

// Judges the trials by `rule` as a study of this definition does, after each measurement, in the order of
// TimedPoint::time. Measurements after a stop are not seen by the rule. `best`: the study's best trial.
// REQUIRES: trials are in the order of their numbers.
StoppingSimulation SimulateStopping(const StudySpec& spec,
                                    const EarlyStopper& rule,
                                    std::span<const SimulatedTrial> trials,
                                    std::optional<TrialNumber> best,
                                    const SimulationProgress& progress = {});

}  // namespace vernier
