#include "src/core/curve_book.h"

#include <algorithm>
#include <span>
#include <utility>

#include "src/core/check.h"
#include "src/core/complete_curves.h"
#include "vernier/core/unit_cube.h"

namespace vernier {

std::optional<ExpectedEnd> ExpectedEndOf(const std::map<std::string, double>& numbers) {
  const auto mean = numbers.find(kExpectedEndNumber);
  const auto deviation = numbers.find(kExpectedEndDeviationNumber);
  if (mean == numbers.end() || deviation == numbers.end()) return std::nullopt;
  return ExpectedEnd{.mean = mean->second, .deviation = deviation->second};
}

void CurveBook::AddTrial(TrialNumber trial) {
  VERNIER_CHECK(IndexOf(trial) == curves_.size(), "curves are opened in the order of trials");
  curves_.push_back(Curve{.trial = trial, .points = {}});
}

void CurveBook::AddPoint(
    TrialNumber trial, const Space& space, const Point& point, std::int64_t step, double value) {
  Curve& curve = curves_[IndexOf(trial)];
  std::vector<CurvePoint>& points = curve.points;
  if (points.empty()) curve.coordinates = EmbedPoint(space, point);
  // Curves are sorted by step, which rules rely on. Steps mostly come in order, at the end.
  const auto at = std::ranges::lower_bound(points, step, {}, &CurvePoint::step);
  if (at != points.end() && at->step == step) {
    at->value = value;
  } else {
    points.insert(at, CurvePoint{.step = step, .value = value});
  }
}

void CurveBook::MarkFinished(TrialNumber trial, bool stopped_early, bool keeps_constraints) {
  Curve& curve = curves_[IndexOf(trial)];
  curve.finished = true;
  curve.stopped_early = stopped_early;
  curve.keeps_constraints = keeps_constraints;
}

void CurveBook::Reopen(TrialNumber trial) {
  Curve& curve = curves_[IndexOf(trial)];
  curve.finished = false;
  curve.stopped_early = false;
  curve.keeps_constraints = true;
}

void CurveBook::Forget(TrialNumber trial) {
  curves_[IndexOf(trial)] = Curve{.trial = trial, .points = {}};
}

void CurveBook::Restore(Curve curve) { curves_[IndexOf(curve.trial)] = std::move(curve); }

Verdict CurveBook::Judge(const EarlyStopper& rule, TrialNumber trial) {
  const auto place = curves_.begin() + static_cast<std::ptrdiff_t>(IndexOf(trial));
  // A rule gets the other curves as one span, so the trial's own is taken out and put back
  // afterwards.
  Curve running = std::move(*place);
  std::move(place + 1, curves_.end(), place);
  Verdict verdict = rule.Judge(running, std::span(curves_).first(curves_.size() - 1));
  std::move_backward(place, curves_.end() - 1, curves_.end());
  *place = std::move(running);
  return verdict;
}

std::int64_t CurveBook::UsualReports() const {
  return vernier::UsualReports(CompleteCurves(curves_));
}

const Curve& CurveBook::Get(TrialNumber trial) const { return curves_[IndexOf(trial)]; }

}  // namespace vernier
