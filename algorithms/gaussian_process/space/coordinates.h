#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/core/cells.h"
#include "vernier/core/rng.h"
#include "vernier/core/space.h"

namespace vernier::gp {

// One coordinate in [0, 1] for every parameter, active or not, as in unit_cube.h. Inactive parameters keep a
// coordinate, from which a search starts when it activates their branch.
using Coordinates = std::vector<double>;

// The kinds of parameters that a model and a search must tell apart.
enum class Kind {
  kConstant,     // A single value: carries no information.
  kContinuous,   // A float without a step.
  kOrdered,      // Finitely many numbers whose distances mean something.
  kCategorical,  // Finitely many choices (booleans too), all equally far from each other.
};

// A space as coordinates in the unit cube: kinds, cells, rounding and activity, without building Points. Immutable.
class CoordinateSpace {
 public:
  explicit CoordinateSpace(const Space& space);

  int size() const { return static_cast<int>(axes_.size()); }
  Kind kind(int parameter) const { return axes_[parameter].kind; }
  // The number of values; 0 if continuous.
  std::int64_t count(int parameter) const { return axes_[parameter].count; }
  bool is_conditional(int parameter) const { return !axes_[parameter].conditions.empty(); }
  // Whether another parameter is active only where this one has certain values.
  bool has_children(int parameter) const { return axes_[parameter].has_children; }
  const Space& space() const { return space_; }

  // Coordinate of the i-th value.  REQUIRES: 0 <= i < count.
  double CellOf(int parameter, std::int64_t i) const;
  // Index of the value whose cell contains the coordinate.  REQUIRES: the parameter has finitely many values.
  std::int64_t IndexAt(int parameter, double u) const;
  // Moves every coordinate of a finite parameter to that of its value, and clamps the others to [0, 1].
  void Round(std::span<double> u) const;
  // Sets active[k] to 1 if parameter k is active at `u`, else to 0.  REQUIRES: u is rounded.
  void Activity(std::span<const double> u, std::vector<char>& active) const;

  Point Decode(std::span<const double> u) const;
  // Coordinates of a legal point; inactive parameters get the middle of their range.
  Coordinates Encode(const Point& point) const;
  Coordinates Encode(std::span<const Cell> cells) const;

 private:
  struct ConditionOnAxis {
    int parent;
    std::vector<double> values;  // Coordinates of the parent.
  };
  struct Axis {
    Kind kind;
    std::int64_t count = 0;
    bool equal_cells = false;   // Cell i is [i / count, (i + 1) / count].
    std::vector<double> cells;  // Coordinates by index; empty if there are too many to tabulate.
    std::vector<ConditionOnAxis> conditions;
    bool has_children = false;
  };
  Axis MakeAxis(const Parameter& parameter) const;

  Space space_;
  std::vector<Axis> axes_;
};

}  // namespace vernier::gp
