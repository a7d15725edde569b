#include "algorithms/sampling/draw.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/sampling/enumeration.h"
#include "src/core/status.h"
#include "vernier/core/unit_cube.h"

// Drawing goes from cheap to thorough: rejection, then enumeration of a small space or draws where feasible points are
// likely, then a complete search of a large finite space. README.md of random search has the same steps with their
// numbers.
namespace vernier::sampling {
namespace {

// Number of uniform draws. A choice: if one point in fifty is fresh, all of them fail with probability 0.98^256 = 0.6
// %.
constexpr int kUniformTries = 256;
// Number of draws near edges and known points, for spaces whose constraints leave little room. A choice.
constexpr int kPulledTries = 16384;
// Largest space that is enumerated, to choose uniformly among the remaining points. A choice.
constexpr std::int64_t kEnumerable = std::int64_t{1} << 16;
// Number of known points from which draws start: the latest ones. A choice.
constexpr std::size_t kAnchors = 8;
// Number of points between looks at the stop token.
constexpr std::int64_t kStopCheckInterval = 256;

bool HasContinuousValue(const Space& space, const Point& point) {
  return std::any_of(
      space.parameters().begin(), space.parameters().end(), [&point](const Parameter& p) {
        return std::holds_alternative<FloatDomain>(p.domain) && !ValueCount(p) &&
               point.contains(p.name);
      });
}

// One draw. Each step returns nullopt if it finds nothing.
class Drawer {
 public:
  Drawer(const Space& space, const TakenPoints& taken, Rng& rng, const std::stop_token& stop)
      : space_(space), taken_(taken), rng_(rng), stop_(stop), size_(space.Cardinality()) {}

  absl::StatusOr<Point> Draw() {
    if (AllTaken()) return Exhausted(space_);
    std::optional<Point> point = DrawUniformly();
    if (!point && size_ && *size_ <= kEnumerable) {
      point = ChooseAmongLeft();
    } else if (!point) {
      point = DrawPulled();
      if (!point && size_) point = SearchFromEndToEnd();
    }
    if (point) return *std::move(point);
    if (stop_.stop_requested()) return Cancelled("the search for a point was cancelled");
    return Exhausted(space_);
  }

 private:
  // Only an optimisation for exhausted spaces. With constraints, infeasible points are never taken, so it cannot tell.
  bool AllTaken() const {
    if (!size_ || !space_.constraints().empty()) return false;
    const auto taken_at_most = static_cast<std::int64_t>(taken_.size_bound());
    return taken_at_most >= *size_ && static_cast<std::int64_t>(taken_.size()) >= *size_;
  }

  std::vector<double> UniformCoordinates() {
    std::vector<double> u(space_.parameters().size());
    for (double& coordinate : u) coordinate = rng_.Uniform();
    return u;
  }

  std::optional<Point> DrawUniformly() {
    for (int i = 0; i < kUniformTries && !stop_.stop_requested(); ++i) {
      Point point = DecodePoint(space_, UniformCoordinates());
      if (IsFresh(space_, taken_, point)) return point;
    }
    return std::nullopt;
  }

  // Chooses uniformly among the remaining points in one pass: reservoir sampling, which keeps the k-th one with
  // probability 1/k.
  std::optional<Point> ChooseAmongLeft() {
    const std::optional<Enumeration> all = Enumeration::OfAllValues(space_);
    std::optional<Point> chosen;
    std::uint64_t left = 0;
    for (std::int64_t i = 0; all && i < all->count(); ++i) {
      if (i % kStopCheckInterval == 0 && stop_.stop_requested()) return std::nullopt;
      Point point = all->At(i);
      if (!IsFresh(space_, taken_, point)) continue;
      if (rng_.UniformInt(++left) == 0) chosen = std::move(point);
    }
    return chosen;
  }

  // If constraints leave little of the cube, the rest usually touches its edges (a bound on a sum or a product) or is
  // near a point that satisfies them.
  std::optional<Point> DrawPulled() {
    std::vector<std::vector<std::optional<double>>> anchors;
    for (const Point& point : taken_.Recent(kAnchors))
      anchors.push_back(EncodePoint(space_, point));
    for (int i = 0; i < kPulledTries && !stop_.stop_requested(); ++i) {
      const bool to_anchor = !anchors.empty() && i % 2 == 0;
      const std::vector<double> u =
          to_anchor ? PullTo(anchors[rng_.UniformInt(anchors.size())]) : PullToEdges();
      Point point = DecodePoint(space_, u);
      if (IsFresh(space_, taken_, point)) return point;
    }
    return std::nullopt;
  }

  // A point between the anchor and a uniform one. The fraction of the way is log-uniform in [2^-20, 1], since the size
  // of the feasible region is unknown.
  std::vector<double> PullTo(const std::vector<std::optional<double>>& anchor) {
    const double reach = std::exp2(-20.0 * rng_.Uniform());
    std::vector<double> u = UniformCoordinates();
    for (std::size_t i = 0; i < u.size(); ++i) {
      if (anchor[i]) u[i] = *anchor[i] + reach * (u[i] - *anchor[i]);
    }
    return u;
  }

  // Each coordinate is uniform, or near its lower or its upper end, with equal probability. The distance is log-uniform
  // too.
  std::vector<double> PullToEdges() {
    const double reach = std::exp2(-20.0 * rng_.Uniform());
    std::vector<double> u = UniformCoordinates();
    for (double& coordinate : u) {
      const std::uint64_t side = rng_.UniformInt(3);
      if (side == 0) coordinate *= reach;
      if (side == 1) coordinate = 1.0 - reach * coordinate;
    }
    return u;
  }

  std::optional<Point> SearchFromEndToEnd() {
    const std::optional<Enumeration> all = Enumeration::OfAllValues(space_);
    if (!all) return std::nullopt;
    const auto count = static_cast<std::uint64_t>(all->count());
    const std::uint64_t start = rng_.UniformInt(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i % kStopCheckInterval == 0 && stop_.stop_requested()) return std::nullopt;
      Point point = all->At(static_cast<std::int64_t>((start + i) % count));
      if (IsFresh(space_, taken_, point)) return point;
    }
    return std::nullopt;
  }

  const Space& space_;
  const TakenPoints& taken_;
  Rng& rng_;
  const std::stop_token& stop_;
  const std::optional<std::int64_t> size_;
};

}  // namespace

absl::StatusOr<Point> DrawUntaken(const Space& space,
                                  const TakenPoints& taken,
                                  Rng& rng,
                                  const std::stop_token& stop) {
  return Drawer(space, taken, rng, stop).Draw();
}

bool IsFresh(const Space& space, const TakenPoints& taken, const Point& point) {
  if (!space.Satisfies(point) || taken.IsEarlier(point)) return false;
  return HasContinuousValue(space, point) || !taken.IsOwn(point);
}

absl::Status Exhausted(const Space& space) {
  const std::optional<std::int64_t> size = space.Cardinality();
  absl::Status status =
      !size ? OutOfRange("no further point of the space that satisfies its constraints was found")
      : space.constraints().empty()
          ? OutOfRange("all {} points of the space were proposed", *size)
          : OutOfRange("all points of the space that satisfy its constraints were proposed");
  return WithReason(std::move(status), Reason::kSpaceExhausted);
}

}  // namespace vernier::sampling
