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

// Bound of the options. A choice: beyond it a rule would never judge.
constexpr std::int64_t kMaxCount = 1'000'000;

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
    if (judged.empty()) return TooFewReports(running.points.size());
    const std::int64_t step = judged.back().step;
    const std::vector<double> averages = Averages(others, step);
    if (std::ssize(averages) < options_.min_trials) return TooFewTrials(step, averages.size());
    return Compare(step, BestValue(judged, goal_), Quantile(averages, goal_, 0.5), averages.size());
  }

 private:
  static std::vector<double> Averages(std::span<const Curve> others, std::int64_t step) {
    std::vector<double> averages;
    for (const Curve& curve : others) {
      if (!curve.finished) continue;
      if (const auto average = RunningAverage(curve, step)) averages.push_back(*average);
    }
    return averages;
  }

  Verdict TooFewReports(std::size_t reports) const {
    return {.stop = false,
            .numbers = {},
            .explanation = fmt::format(
                "{} values reported, the trial is judged from {} on", reports, options_.min_steps)};
  }

  Verdict TooFewTrials(std::int64_t step, std::size_t curves) const {
    return {
        .stop = false,
        .numbers = {{"step", static_cast<double>(step)}, {"curves", static_cast<double>(curves)}},
        .explanation =
            fmt::format("{} finished trials have a value up to step {}, the rule needs {}",
                        curves,
                        step,
                        options_.min_trials)};
  }

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
  options.min_trials = reader.Int("min_trials", options.min_trials, 1, kMaxCount);
  options.min_steps = reader.Int("min_steps", options.min_steps, 1, kMaxCount);
  options.interval = reader.Int("interval", options.interval, 1, kMaxCount);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<MedianRule>(goal, options, reader.Json());
}

}  // namespace vernier
