#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/core/complete_curves.h"
#include "vernier/core/objective.h"
#include "vernier/early_stopper.h"

// What several rules ask of curves. NaN is left out everywhere.
namespace vernier {

// Bound of options that count reports or trials. A choice: beyond it a rule would never judge.
inline constexpr std::int64_t kMostCounted = 1'000'000;

// Best value; nullopt if there is none.
std::optional<double> BestValue(std::span<const CurvePoint> points, Goal goal);

// Mean of the values up to `step`; nullopt if there is none, or infinities of both signs.
std::optional<double> RunningAverage(const Curve& curve, std::int64_t step);

// Of the finished curves that have one.
std::vector<double> RunningAverages(std::span<const Curve> curves, std::int64_t step);

// Value of which a share of `values` is at least as good, linear between them. `share`: in [0, 1]; 0 is the best value.
// REQUIRES: values is not empty and has no NaN.
double Quantile(std::vector<double> values, Goal goal, double share);

// The part of the curve up to the last report at which a judgement was due: the reports from number `first` on, every
// `interval`th, or later where the number of reports has not grown by the factor `growth`. Empty before. A rule that judges
// this part gives the same verdict again between due reports, so that it needs no memory.
std::span<const CurvePoint> JudgedPart(const Curve& running,
                                       std::int64_t first,
                                       std::int64_t interval,
                                       double growth = 1);

// Number of the first judged report: `min_steps`, or the share `warm_up` of the usual number of reports if that is more.
std::int64_t FirstJudged(std::int64_t min_steps, double warm_up, std::int64_t usual);

// Verdicts of rules that cannot judge yet: before report number `first`, and with values of only `curves` of `needed`
// finished trials.
Verdict TooFewReports(const Curve& running, std::int64_t first);
Verdict TooFewTrials(std::int64_t step, std::size_t curves, std::int64_t needed);

// Standard deviation of a single value about the course of its curve: from differences of the second to the fifth order in the
// last halves of the curves, where curves bend least. Nullopt: too few values.
std::optional<double> ReportNoise(std::span<const Curve* const> complete);

}  // namespace vernier
