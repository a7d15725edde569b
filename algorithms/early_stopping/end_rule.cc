#include "algorithms/early_stopping/decay_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/early_stopping/curve_model.h"
#include "algorithms/early_stopping/curve_statistics.h"
#include "algorithms/options.h"
#include "fmt/format.h"

namespace vernier {
namespace {

struct DecayOptions {
  double p = 0.05;
  double tolerance = 0;
  std::int64_t min_trials = 4;
  std::int64_t min_steps = 2;
  double warm_up = 0.05;
  std::int64_t interval = 1;
};

class DecayRule final : public EarlyStopper {
 public:
  DecayRule(Goal goal, DecayOptions options, std::string json)
      : goal_(goal), options_(options), json_(std::move(json)) {}

  std::string_view name() const override { return "decay"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return json_; }

  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    std::vector<const Curve*> complete = CompleteCurves(others);
    std::erase_if(complete,
                  [](const Curve* curve) { return !std::isfinite(curve->points.back().value); });
    if (std::ssize(complete) < options_.min_trials) {
      return {.numbers = {{"curves", static_cast<double>(complete.size())}},
              .explanation = fmt::format("{} trials ended by themselves, the rule needs {}",
                                         complete.size(),
                                         options_.min_trials)};
    }
    const std::int64_t first =
        FirstJudged(options_.min_steps, options_.warm_up, UsualReports(complete));
    const std::span<const CurvePoint> judged = JudgedPart(running, first, options_.interval);
    if (judged.empty()) return TooFewReports(running, first);
    return Compare(judged, complete);
  }

 private:
  Verdict Compare(std::span<const CurvePoint> judged,
                  std::span<const Curve* const> complete) const {
    double best = complete.front()->points.back().value;
    for (const Curve* curve : complete) {
      const double end = curve->points.back().value;
      if (IsBetter(goal_, end, best)) best = end;
    }
    const CurvePoint& last = judged.back();
    Verdict verdict;
    verdict.numbers = {{"step", static_cast<double>(last.step)},
                       {"curves", static_cast<double>(complete.size())},
                       {"best", best}};
    if (!std::isfinite(last.value)) {
      verdict.stop = !IsBetter(goal_, last.value, best);
      verdict.explanation = fmt::format("the value at step {} is {}", last.step, last.value);
      return verdict;
    }
    const PredictedEnd end = CurveModel(complete).Predict(judged);
    const bool is_larger_better = goal_ == Goal::kMaximize;
    const double limit = is_larger_better ? best + options_.tolerance : best - options_.tolerance;
    const double probability = is_larger_better ? 1 - end.Below(limit) : end.Below(limit);
    verdict.numbers[kExpectedEndNumber] = end.mean;
    verdict.numbers[kExpectedEndDeviationNumber] = end.deviation;
    verdict.numbers["probability"] = probability;
    // What is better already needs no extrapolation.
    verdict.stop = probability < options_.p && !IsBetter(goal_, last.value, best);
    verdict.explanation = fmt::format(
        "{:.6g} at step {} is expected to end at {:.6g} ± {:.2g}, better than {:.6g}{} with "
        "probability {:.2g}",
        last.value,
        last.step,
        end.mean,
        end.deviation,
        best,
        options_.tolerance > 0 ? fmt::format(" by {:.6g}", options_.tolerance) : "",
        std::clamp(probability, 0.0, 1.0));
    return verdict;
  }

  const Goal goal_;
  const DecayOptions options_;
  const std::string json_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewDecayRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  DecayOptions options;
  options.p = reader.Float("p", options.p, std::numeric_limits<double>::min(), 1);
  options.tolerance =
      reader.Float("tolerance", options.tolerance, 0, std::numeric_limits<double>::max());
  options.min_trials = reader.Int("min_trials", options.min_trials, 1, kMostCounted);
  options.min_steps = reader.Int("min_steps", options.min_steps, 1, kMostCounted);
  options.warm_up = reader.Float("warm_up", options.warm_up, 0, 1);
  options.interval = reader.Int("interval", options.interval, 1, kMostCounted);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<DecayRule>(goal, options, reader.Json());
}

}  // namespace vernier
