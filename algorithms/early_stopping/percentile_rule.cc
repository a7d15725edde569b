#include "algorithms/early_stopping/percentile_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/early_stopping/curve_statistics.h"
#include "algorithms/options.h"
#include "fmt/format.h"

namespace vernier {
namespace {

// README.md describes the options. The percentile is that of Optuna's PercentilePruner in its own example; the warm-up
// is a choice: the first tenth of a curve mostly shows the start of training, not the configuration.
constexpr double kPercentile = 25;
struct PercentileOptions {
  double percentile = kPercentile;
  std::int64_t min_trials = 5;
  std::int64_t min_steps = 1;
  double warm_up = 0.1;
  std::int64_t interval = 1;
  std::int64_t patience = 0;
};

// How the two rules differ beside the percentile.
struct RuleKind {
  std::string_view name;
  std::string_view version;
  std::string_view threshold;  // Name of the number that the trial is compared with.
};
constexpr RuleKind kPercentileKind = {
    .name = "percentile", .version = "1", .threshold = "threshold"};
// Version 1 had no warm-up.
constexpr RuleKind kMedianKind = {.name = "median", .version = "2", .threshold = "median"};

class PercentileRule final : public EarlyStopper {
 public:
  PercentileRule(const RuleKind& kind, Goal goal, PercentileOptions options, std::string json)
      : kind_(kind), goal_(goal), options_(options), json_(std::move(json)) {}

  std::string_view name() const override { return kind_.name; }
  std::string_view version() const override { return kind_.version; }
  std::string options() const override { return json_; }

  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    const std::vector<const Curve*> complete = CompleteCurves(others);
    if (complete.empty() && options_.warm_up > 0) {
      return {.explanation = "no trial has ended by itself yet, which the warm-up is a share of"};
    }
    const std::int64_t first =
        FirstJudged(options_.min_steps, options_.warm_up, UsualReports(complete));
    const std::span<const CurvePoint> judged = JudgedPart(running, first, options_.interval);
    if (judged.empty()) return TooFewReports(running, first);
    const std::int64_t step = judged.back().step;
    const std::vector<double> averages = RunningAverages(others, step);
    if (std::ssize(averages) < options_.min_trials)
      return TooFewTrials(step, averages.size(), options_.min_trials);
    return Compare(judged, Quantile(averages, goal_, options_.percentile / 100), averages.size());
  }

 private:
  // Whether the best value is among the last reports, as many as `patience`.
  bool StillImproves(std::span<const CurvePoint> judged) const {
    const auto last = std::min(static_cast<std::size_t>(options_.patience), judged.size());
    if (last == 0) return false;
    const std::optional<double> before = BestValue(judged.first(judged.size() - last), goal_);
    const std::optional<double> recent = BestValue(judged.last(last), goal_);
    return recent.has_value() && (!before.has_value() || IsBetter(goal_, *recent, *before));
  }

  Verdict Compare(std::span<const CurvePoint> judged, double threshold, std::size_t curves) const {
    const std::int64_t step = judged.back().step;
    const std::optional<double> best = BestValue(judged, goal_);
    Verdict verdict;
    verdict.numbers = {{"step", static_cast<double>(step)},
                       {"curves", static_cast<double>(curves)},
                       {std::string(kind_.threshold), threshold}};
    if (best) verdict.numbers["best"] = *best;
    const bool is_worse = !best || IsBetter(goal_, threshold, *best);
    const bool improves = StillImproves(judged);
    verdict.stop = is_worse && !improves;
    verdict.explanation = fmt::format(
        "{} up to step {} is {} {:.6g}, {}{}",
        best ? fmt::format("best value {:.6g}", *best) : "no value but NaN",
        step,
        is_worse ? "worse than" : "no worse than",
        threshold,
        Meaning(curves),
        is_worse && improves
            ? fmt::format(", but it improved within the last {} reports", options_.patience)
            : "");
    return verdict;
  }

  // What the threshold is.
  std::string Meaning(std::size_t curves) const {
    if (&kind_ == &kMedianKind) {
      return fmt::format("the median of the running averages of {} finished trials", curves);
    }
    return fmt::format(
        "which the best {:.6g} % of the running averages of {} finished trials reach",
        options_.percentile,
        curves);
  }

  const RuleKind& kind_;
  const Goal goal_;
  const PercentileOptions options_;
  const std::string json_;
};

// Reads all options but the percentile.
PercentileOptions ReadOptions(OptionReader& reader) {
  PercentileOptions options;
  options.min_trials = reader.Int("min_trials", options.min_trials, 1, kMostCounted);
  options.min_steps = reader.Int("min_steps", options.min_steps, 1, kMostCounted);
  options.warm_up = reader.Float("warm_up", options.warm_up, 0, 1);
  options.interval = reader.Int("interval", options.interval, 1, kMostCounted);
  options.patience = reader.Int("patience", options.patience, 0, kMostCounted);
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewPercentileRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  PercentileOptions options = ReadOptions(reader);
  options.percentile = reader.Float("percentile", kPercentile, 0, 100);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<PercentileRule>(kPercentileKind, goal, options, reader.Json());
}

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewMedianRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  PercentileOptions options = ReadOptions(reader);
  options.percentile = 50;
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<PercentileRule>(kMedianKind, goal, options, reader.Json());
}

}  // namespace vernier
