#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/cli/plot/figure.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// What figures are made from: a study's trials as plain values.
namespace vernier::plot {

// The outcome of a trial, as figures distinguish it.
enum class Fate : std::uint8_t {
  kCompleted,
  kStopped,   // Ended early, by a rule or a user; it has a value.
  kBreaking,  // Completed without satisfying every outcome constraint; unknown counts as broken.
  kFailed,    // Or infeasible.
  kCancelled,
  kOpen,  // Has not ended.
};

struct PlotTrial {
  Trial trial;
  Fate fate = Fate::kCompleted;
  bool optimal = false;  // The best, or, with several objectives, dominated by none.

  std::int64_t number() const { return trial.number.value(); }
  // The metric's final or last value; nothing for a failed trial.
  std::optional<double> ValueOf(const std::string& metric) const;
  // Whether its value may be the best: completed or stopped early, and no constraint broken.
  bool counts() const { return fate == Fate::kCompleted || fate == Fate::kStopped; }
};

struct StudyData {
  StudySpec spec;
  std::vector<PlotTrial> trials;  // By number.
  absl::Time created;
  absl::Time now;

  const std::string& name() const { return spec.name; }
  const PlotTrial* Find(std::int64_t number) const;
  // The trial with the best value that counts; null if there is none.
  const PlotTrial* Best(const Objective& objective) const;
};

Fate FateOf(const Trial& trial, bool breaks_constraint);

// Appearance of each outcome, the same in all figures.
std::string_view FateName(Fate fate);
Shape ShapeOf(Fate fate);
Paint PaintOf(Fate fate);
// Legend entries for the outcomes in `shown`, in a fixed order.
std::vector<LegendEntry> FateLegend(const std::vector<Fate>& shown);

// "minimize loss".
std::string Subscription(const Objective& objective);
// "trial 7: loss 0.25 (stopped early)".
std::string TrialTitle(const PlotTrial& trial, const std::string& metric);

// A model of one objective over the study's space.
struct Model {
  std::string name;  // "the study's model (gp)".
  std::function<absl::StatusOr<std::vector<PredictedValue>>(std::span<const Point>)> predict;
};

}  // namespace vernier::plot
