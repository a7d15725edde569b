#include "src/core/feasibility.h"

#include <functional>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vernier/core/rng.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

// Largest number of points of a space that is searched completely, and number of random points otherwise. Choices: few
// enough for the creation of a study, which waits for the search.
constexpr std::int64_t kSmall = 1 << 14;
constexpr int kRandomPoints = 10000;

// Records which constraints held at some point, and whether all held at one point.
class Search {
 public:
  explicit Search(std::span<const Constraint> constraints)
      : constraints_(constraints), held_(constraints.size(), false) {}

  // Tries a point. Returns whether the search is over.
  bool Try(const Point& point) {
    ++tried_;
    bool all = true;
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      const bool holds = constraints_[i].Holds(point);
      held_[i] = held_[i] || holds;
      all = all && holds;
    }
    found_ = found_ || all;
    return found_;
  }

  absl::Status Result(bool complete) const {
    if (found_) return absl::OkStatus();
    const std::string extent = complete ? fmt::format("none of the {} points", tried_)
                                        : fmt::format("none of {} points that were tried", tried_);
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      if (held_[i]) continue;
      return FieldError(fmt::format("constraints[{}]", i),
                        fmt::format("{} satisfies '{}'", extent, constraints_[i].text()));
    }
    std::vector<std::string> texts;
    texts.reserve(constraints_.size());
    for (const Constraint& constraint : constraints_) {
      texts.push_back(fmt::format("'{}'", constraint.text()));
    }
    return FieldError("constraints",
                      fmt::format("{} satisfies {} together", extent, fmt::join(texts, ", ")));
  }

 private:
  std::span<const Constraint> constraints_;
  std::vector<bool> held_;
  bool found_ = false;
  int tried_ = 0;
};

// Enumerates the points of a finite space, as an odometer whose wheels are the active parameters. Not
// sampling::Enumeration of the algorithms, on which core must not depend.
class Odometer {
 public:
  explicit Odometer(const Space& space) : space_(space), at_(space.parameters().size(), kInactive) {
    FillFrom(0);
  }
  const Point& point() const { return point_; }

  // False after the last point.
  bool Advance() {
    const std::span<const int> order = space_.parents_first();
    for (std::size_t k = order.size(); k-- > 0;) {
      const Parameter& parameter = ParameterAt(k);
      if (at_[k] == kInactive || at_[k] + 1 >= *ValueCount(parameter)) continue;
      point_[parameter.name] = ValueAt(parameter, ++at_[k]);
      FillFrom(k + 1);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::int64_t kInactive = -1;

  const Parameter& ParameterAt(std::size_t k) const {
    return space_.parameters()[static_cast<std::size_t>(space_.parents_first()[k])];
  }

  void FillFrom(std::size_t begin) {
    for (std::size_t k = begin; k < at_.size(); ++k) point_.erase(ParameterAt(k).name);
    for (std::size_t k = begin; k < at_.size(); ++k) {
      const bool active = space_.IsActive(space_.parents_first()[k], point_);
      at_[k] = active ? 0 : kInactive;
      if (active) point_[ParameterAt(k).name] = ValueAt(ParameterAt(k), 0);
    }
  }

  const Space& space_;
  std::vector<std::int64_t> at_;  // By position in parents_first().
  Point point_;
};

// A random coordinate: with probability 1/2 an end of the range, where constraints are often satisfied.
double Coordinate(Rng& rng) {
  switch (rng.UniformInt(4)) {
    case 0:
      return 0;
    case 1:
      return 1;
    default:
      return rng.Uniform();
  }
}

}  // namespace

absl::Status CheckFeasible(const Space& space, std::span<const Constraint> constraints) {
  if (constraints.empty()) return absl::OkStatus();
  Search search(constraints);
  if (const auto count = space.Cardinality(); count.has_value() && *count <= kSmall) {
    Odometer odometer(space);
    while (!search.Try(odometer.point()) && odometer.Advance()) {
    }
    return search.Result(/*complete=*/true);
  }
  // The point that the user knows is the likeliest to satisfy what the user demands.
  if (const std::optional<Point> point = space.DefaultPoint()) {
    if (search.Try(*point)) return absl::OkStatus();
  }
  // A constant seed, so that a definition gets the same answer each time.
  Rng rng(0);
  std::vector<double> u(space.parameters().size());
  for (int i = 0; i < kRandomPoints; ++i) {
    // Every other point is uniform: with many parameters, a point without any coordinate at an end would be rare.
    for (double& x : u) x = i % 2 == 0 ? rng.Uniform() : Coordinate(rng);
    if (search.Try(DecodePoint(space, u))) break;
  }
  return search.Result(/*complete=*/false);
}

}  // namespace vernier
