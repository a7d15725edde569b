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

// What became of a trial, as figures tell it apart.
enum class Fate : std::uint8_t {
  kCompleted,
  kStopped,   // Ended early, by a rule or a user; it has a value.
  kBreaking,  // Completed, but not known to keep every outcome constraint.
  kFailed,    // Or infeasible.
  kCancelled,
  kOpen,  // Has not ended.
};

struct PlotTrial {
  Trial trial;
  Fate fate = Fate::kCompleted;
  bool optimal = false;  // The best, or, with several objectives, one that no other dominates.

  std::int64_t number() const { return trial.number.value(); }
  // The final value of the metric, or the last that was reported; nothing of a failed trial.
  std::optional<double> ValueOf(const std::string& metric) const;
  // Whether its value counts for the best: completed or stopped, constraints kept.
  bool counts() const { return fate == Fate::kCompleted || fate == Fate::kStopped; }
};

struct StudyData {
  StudySpec spec;
  std::vector<PlotTrial> trials;  // By number.
  absl::Time created;
  absl::Time now;

  const std::string& name() const { return spec.name; }
  const PlotTrial* Find(std::int64_t number) const;
  // The trial with the best finite value that counts; null if there is none.
  const PlotTrial* Best(const Objective& objective) const;
};

Fate FateOf(const Trial& trial, bool breaks_constraint);

// How each fate looks, alike in every figure.
std::string_view FateName(Fate fate);
Shape ShapeOf(Fate fate);
Paint PaintOf(Fate fate);
// Entries for those fates that `shown` has, in a steady order.
std::vector<LegendEntry> FateLegend(const std::vector<Fate>& shown);

// "minimize loss".
std::string Wish(const Objective& objective);
// "trial 7: loss 0.25 (stopped early)".
std::string TrialTitle(const PlotTrial& trial, const std::string& metric);

// What a model expects of one objective at points of the study's space.
struct Model {
  std::string name;  // "the study's model (gp)".
  std::function<absl::StatusOr<std::vector<PredictedValue>>(std::span<const Point>)> predict;
};

}  // namespace vernier::plot
