#include "algorithms/early_stopping/median_rule.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "algorithms/early_stopping/curve_statistics.h"
#include "algorithms/options.h"
#include "fmt/format.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

// README.md describes the options. The defaults are those of Optuna's MedianPruner: five startup trials, no warm-up,
// interval 1.
struct MedianOptions {
  std::int64_t min_trials = 5;
  std::int64_t min_steps = 1;
  std::int64_t interval = 1;
};

class MedianRule final : public EarlyStopper {
 public:
  MedianRule(Goal goal, MedianOptions options, std::string json)
      : goal_(goal), options_(options), json_(std::move(json)) {}

  std::string_view name() const override { return "median"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return json_; }

  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    const std::span<const CurvePoint> judged =
        JudgedPart(running, options_.min_steps, options_.interval);
    if (judged.empty()) return TooFewReports(running, options_.min_steps);
    const std::int64_t step = judged.back().step;
    const std::vector<double> averages = RunningAverages(others, step);
    if (std::ssize(averages) < options_.min_trials)
      return TooFewTrials(step, averages.size(), options_.min_trials);
    return Compare(step, BestValue(judged, goal_), Quantile(averages, goal_, 0.5), averages.size());
  }

 private:
  Verdict Compare(std::int64_t step,
                  std::optional<double> best,
                  double median,
                  std::size_t curves) const {
    Verdict verdict;
    verdict.numbers = {{"step", static_cast<double>(step)},
                       {"curves", static_cast<double>(curves)},
                       {"median", median}};
    if (best) verdict.numbers["best"] = *best;
    verdict.stop = !best || IsBetter(goal_, median, *best);
    verdict.explanation = fmt::format(
        "{} up to step {} is {} {:.6g}, the median of the running averages of {} finished trials",
        best ? fmt::format("best value {:.6g}", *best) : "no value but NaN",
        step,
        verdict.stop ? "worse than" : "no worse than",
        median,
        curves);
    return verdict;
  }

  const Goal goal_;
  const MedianOptions options_;
  const std::string json_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewMedianRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  MedianOptions options;
  options.min_trials = reader.Int("min_trials", options.min_trials, 1, kMostCounted);
  options.min_steps = reader.Int("min_steps", options.min_steps, 1, kMostCounted);
  options.interval = reader.Int("interval", options.interval, 1, kMostCounted);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<MedianRule>(goal, options, reader.Json());
}

}  // namespace vernier
