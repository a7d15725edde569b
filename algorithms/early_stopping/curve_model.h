#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "algorithms/early_stopping/predicted_end.h"
#include "vernier/early_stopper.h"

namespace vernier {

// Extrapolates learning curves to their ends, from curves of the same study that are complete. README.md has the
// formulae. A value; pure.
class CurveModel {
 public:
  // Learns from the last curves of `complete`, at most kMostCurves of them.  REQUIRES: one of them has a finite last
  // value.
  explicit CurveModel(std::span<const Curve* const> complete);

  // Predicts the end of a curve that begins with these points. Values that are not finite are left out.
  // REQUIRES: one is finite.
  PredictedEnd Predict(std::span<const CurvePoint> points) const;

  // Largest number of curves to learn from. A choice: bounds the time of a prediction; later curves are of better
  // configurations, more like those that matter.
  static constexpr std::size_t kMostCurves = 48;

 private:
  // One curve in the model's own units: places in (0, 1], 1 the usual end; values from the median end, in units of the
  // usual fall or spread, limited to a range around it.
  struct Trace {
    std::vector<double> places;
    std::vector<double> values;
  };
  // Averages of neighbouring points, more of them the further from the start, and their precisions.
  struct Summary {
    std::vector<double> places;
    std::vector<double> values;
    std::vector<double> precisions;
  };
  // Posterior of the end under one shape, and the logarithm of its evidence.
  struct Fit {
    double evidence = 0;
    double mean = 0;
    double variance = 0;
  };
  // A smoothed complete curve, from 1 at its start to 0 at its end.
  struct EmpiricalShape {
    std::size_t from = 0;  // Index of its curve.
    Trace trace;
  };

  Trace TraceOf(std::span<const CurvePoint> points) const;
  Summary SummaryOf(const Trace& trace) const;
  Fit FitShape(const Summary& summary, std::span<const double> shape) const;
  std::vector<double> ParametricShape(std::size_t which, const Summary& summary) const;
  void LearnScales();
  void AddEmpiricalShapes();
  void LearnWeights();
  // Without calibration. `without`: index of a curve whose own shape is left out.
  PredictedEnd PredictTrace(const Trace& trace, std::size_t without) const;
  // Factor by which deviations at this place were too small, 1 or more.
  double Misfit(double place) const;

  double first_step_ = 0;
  double spacing_ = 1;
  double length_ = 1;  // From `spacing_` before the first step to the last.
  double start_ = 1;   // Place of the first step.
  double centre_ = 0;  // Median of the ends.
  double unit_ = 1;    // Of values.
  // In that unit:
  double scale_ = 1;  // Size of the differences between values.
  double end_deviation_ = 1;
  double fall_ = 1;  // Prior mean of start minus end.
  double fall_deviation_ = 1;
  double noise_ = 0;        // Of a single value.
  double discrepancy_ = 0;  // Of a shape from the curves that it stands for.
  std::vector<Trace> traces_;
  std::vector<EmpiricalShape> empirical_;
  std::vector<double> weights_;  // Of the parametric shapes.
};

}  // namespace vernier
