#include "algorithms/early_stopping/end_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/early_stopping/curve_model.h"
#include "algorithms/early_stopping/curve_regression.h"
#include "algorithms/early_stopping/curve_statistics.h"
#include "algorithms/options.h"
#include "fmt/format.h"

namespace vernier {
namespace {

// The judged part of a running trial's curve, with a finite value, and the others.
struct Judged {
  const Curve& running;
  std::span<const CurvePoint> part;
  std::span<const Curve> others;
  std::span<const Curve* const> complete;
  std::int64_t usual;  // Number of reports.
};

// The points up to the last finite value.
std::span<const CurvePoint> UpToLastFinite(std::span<const CurvePoint> points) {
  while (!points.empty() && !std::isfinite(points.back().value)) {
    points = points.first(points.size() - 1);
  }
  return points;
}

// Number of last values that are not finite from which a trial counts as diverged: a single one may be followed by others.
// A choice. Studies that do not want to wait for so many have `limits.nan`.
std::int64_t FewestNotFinite(std::int64_t usual) { return std::max<std::int64_t>(5, usual / 10); }

// How a rule predicts. Nullopt: it cannot yet.
using Predictor = std::optional<PredictedEnd> (*)(const Judged&);

std::optional<PredictedEnd> PredictByShapes(const Judged& judged) {
  return CurveModel(judged.complete).Predict(judged.part);
}

std::optional<PredictedEnd> PredictByRegression(const Judged& judged) {
  return PredictEnd(judged.running, judged.part, judged.others);
}

// Largest learnt tolerance, as a share of what most ends differ from the best by. A choice.
constexpr double kMostTolerance = 0.02;

struct EndRuleOptions {
  double p;
  double tolerance = 0;
  std::int64_t min_trials;
  std::int64_t min_steps = 2;
  double warm_up = 0.05;
  std::int64_t interval = 1;
};

// How the two rules differ.
struct Kind {
  std::string_view name;
  std::string_view version;
  Predictor predict;
  double growth;  // Of the number of reports between judgements (JudgedPart).
  // Share of the usual number of reports after which no trial is stopped, until it has made all of them.
  double last;
  // The tolerance is learnt: a trial that wins by less than a value's own noise has not won.
  bool learns_tolerance = false;
};
constexpr Kind kDecay = {
    .name = "decay", .version = "3", .predict = PredictByShapes, .growth = 1.0, .last = 1.0};
// A prediction of "regression" takes a millisecond, and the next report hardly changes it. A choice.
constexpr double kGrowth = 1.2;
// What is left of a trial then saves less than its end teaches the algorithm, and a user who sees it stopped there wonders.
// A choice.
constexpr double kLast = 0.75;
constexpr Kind kRegression = {.name = "regression",
                              .version = "2",
                              .predict = PredictByRegression,
                              .growth = kGrowth,
                              .last = kLast};
constexpr Kind kAutomatic = {.name = "automatic",
                             .version = "2",
                             .predict = PredictByRegression,
                             .growth = kGrowth,
                             .last = kLast,
                             .learns_tolerance = true};

class EndRule final : public EarlyStopper {
 public:
  EndRule(const Kind& kind, Goal goal, EndRuleOptions options, std::string json)
      : kind_(kind), goal_(goal), options_(options), json_(std::move(json)) {}

  std::string_view name() const override { return kind_.name; }
  std::string_view version() const override { return kind_.version; }
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
    const std::int64_t usual = UsualReports(complete);
    const std::int64_t first = FirstJudged(options_.min_steps, options_.warm_up, usual);
    const std::span<const CurvePoint> part =
        JudgedPart(running, first, options_.interval, kind_.growth);
    if (part.empty()) return TooFewReports(running, first);
    if (IsNearlyWhole(std::ssize(part), usual)) {
      return {
          .numbers = {{"step", static_cast<double>(part.back().step)}},
          .explanation = fmt::format(
              "{} of usually {} values reported, the trial may end by itself", part.size(), usual)};
    }
    return Compare(
        {.running = running, .part = part, .others = others, .complete = complete, .usual = usual});
  }

 private:
  bool IsNearlyWhole(std::int64_t reports, std::int64_t usual) const {
    return static_cast<double>(reports) > kind_.last * static_cast<double>(usual) &&
           reports <= usual;
  }

  double ToleranceFor(std::span<const Curve* const> complete, double best) const {
    if (!kind_.learns_tolerance) return options_.tolerance;
    std::vector<double> distances;
    for (const Curve* curve : complete) {
      distances.push_back(std::abs(curve->points.back().value - best));
    }
    // Short curves bend more than they scatter.
    const double most = kMostTolerance * Quantile(distances, Goal::kMinimize, 0.9);
    return std::min(ReportNoise(complete).value_or(0.0), most);
  }

  // Best end of a complete trial that keeps the outcome constraints; nullopt: none does.
  std::optional<double> BestEnd(std::span<const Curve* const> complete) const {
    std::optional<double> best;
    for (const Curve* curve : complete) {
      if (!curve->keeps_constraints) continue;
      const double end = curve->points.back().value;
      if (!best.has_value() || IsBetter(goal_, end, *best)) best = end;
    }
    return best;
  }

  Verdict Compare(const Judged& judged) const {
    const std::optional<double> best_end = BestEnd(judged.complete);
    if (!best_end.has_value()) {
      return {.numbers = {{"curves", static_cast<double>(judged.complete.size())}},
              .explanation = "no trial that ended by itself keeps the outcome constraints"};
    }
    const double best = *best_end;
    const CurvePoint& last = judged.part.back();
    Verdict verdict;
    verdict.numbers = {{"step", static_cast<double>(last.step)},
                       {"curves", static_cast<double>(judged.complete.size())},
                       {"best", best}};
    const std::span<const CurvePoint> finite = UpToLastFinite(judged.part);
    const std::int64_t not_finite = std::ssize(judged.part) - std::ssize(finite);
    if (not_finite >= FewestNotFinite(judged.usual)) {
      verdict.stop = !IsBetter(goal_, last.value, best);
      verdict.explanation =
          fmt::format("the last {} values up to step {} are not finite", not_finite, last.step);
      return verdict;
    }
    if (finite.empty()) {
      verdict.explanation = fmt::format("no value up to step {} is finite", last.step);
      return verdict;
    }
    const std::optional<PredictedEnd> end = kind_.predict(judged);
    if (!end.has_value()) {
      verdict.explanation =
          fmt::format("too few other trials have come further than step {}", last.step);
      return verdict;
    }
    const double tolerance = ToleranceFor(judged.complete, best);
    const bool is_larger_better = goal_ == Goal::kMaximize;
    const double limit = is_larger_better ? best + tolerance : best - tolerance;
    const double probability = is_larger_better ? end->Above(limit) : end->Below(limit);
    verdict.numbers[kExpectedEndNumber] = end->mean;
    verdict.numbers[kExpectedEndDeviationNumber] = end->deviation;
    verdict.numbers["probability"] = probability;
    // What is better already needs no prediction.
    verdict.stop = probability < options_.p && !IsBetter(goal_, finite.back().value, best);
    verdict.explanation = fmt::format(
        "{:.6g} at step {} is expected to end at {:.6g} ± {:.2g}, better than {:.6g}{} with "
        "probability {:.2g}",
        finite.back().value,
        finite.back().step,
        end->mean,
        end->deviation,
        best,
        tolerance > 0 ? fmt::format(" by {:.2g}", tolerance) : "",
        std::clamp(probability, 0.0, 1.0));
    return verdict;
  }

  const Kind& kind_;
  const Goal goal_;
  const EndRuleOptions options_;
  const std::string json_;
};

// The probability is that of four deviations: with what is known of deviations from a few curves, less lost more than it
// saved on the recorded curves (benchmarks/early_stopping).
constexpr EndRuleOptions kRegressionDefaults = {.p = 3e-5, .min_trials = 6};

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewEndRule(const Kind& kind,
                                                         EndRuleOptions options,
                                                         Goal goal,
                                                         const Choice& choice) {
  OptionReader reader("stopping", choice);
  options.p = reader.FloatAbove("p", options.p, 0, 1);
  options.tolerance =
      reader.Float("tolerance", options.tolerance, 0, std::numeric_limits<double>::max());
  options.min_trials = reader.Int("min_trials", options.min_trials, 1, kMostCounted);
  options.min_steps = reader.Int("min_steps", options.min_steps, 1, kMostCounted);
  options.warm_up = reader.Float("warm_up", options.warm_up, 0, 1);
  options.interval = reader.Int("interval", options.interval, 1, kMostCounted);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<EndRule>(kind, goal, options, reader.Json());
}

}  // namespace

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewDecayRule(Goal goal, const Choice& choice) {
  return NewEndRule(kDecay, {.p = 0.05, .min_trials = 4}, goal, choice);
}

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewRegressionRule(Goal goal, const Choice& choice) {
  return NewEndRule(kRegression, kRegressionDefaults, goal, choice);
}

absl::StatusOr<std::unique_ptr<EarlyStopper>> NewAutomaticRule(Goal goal, const Choice& choice) {
  OptionReader reader("stopping", choice);
  VERNIER_RETURN_IF_ERROR(reader.Check());
  return std::make_unique<EndRule>(kAutomatic, goal, kRegressionDefaults, reader.Json());
}

}  // namespace vernier
