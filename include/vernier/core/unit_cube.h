#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vernier/core/space.h"

namespace vernier {

// Maps points of a space to the unit cube and back: one coordinate in [0, 1] for each parameter, in the order of
// parameters(). An algorithm can work on the cube and need not know types and scales.
//
//   const std::vector<double> u = {0.5, 0.25};       // One for each parameter.
//   const Point point = DecodePoint(space, u);       // Legal values; constraints are not considered.
//
// Continuous floats map by their scale. A parameter with finitely many values (integer, step, list, boolean) divides
// [0, 1] into one cell for each value. For integers and steps on a linear scale, u = (x - lower + step/2) / (upper -
// lower + step), so that cells are equally wide and u is the middle of the cell; on a log scale the cells are widened
// by half a step before the logarithm is taken, without reaching 0. Lists, categories and booleans (false, true) have
// equally wide cells in their order, whatever the distances between listed numbers.
//
// Pure functions, thread-safe.

// Returns the number of values of a parameter; nullopt if infinite or more than 2^62.
std::optional<std::int64_t> ValueCount(const Parameter& parameter);
// Returns the i-th value, in ascending or listed order.  REQUIRES: 0 <= i < ValueCount.
ParameterValue ValueAt(const Parameter& parameter, std::int64_t i);
// Returns the index of a value.  REQUIRES: the value is legal, and ValueCount is known.
std::int64_t IndexOf(const Parameter& parameter, const ParameterValue& value);

// Returns the coordinate of a value, in [0, 1].  REQUIRES: the value is legal.
double ToUnit(const Parameter& parameter, const ParameterValue& value);
// Returns the legal value whose cell contains u; u is clamped to [0, 1], and NaN counts as 0. FromUnit(ToUnit(v)) is v
// for finite domains of up to 2^40 values, and v up to rounding for continuous floats. With uniform u, the values of
// lists, categories, booleans and linear integers are equally likely.
ParameterValue FromUnit(const Parameter& parameter, double u);

// Returns the point at `u`. Coordinates of inactive parameters are ignored.
// REQUIRES: u.size() == space.parameters().size().
Point DecodePoint(const Space& space, std::span<const double> u);
// Returns the coordinates of a point; nullopt for inactive parameters.  REQUIRES: the point is legal.
std::vector<std::optional<double>> EncodePoint(const Space& space, const Point& point);

// Returns coordinates of a point between which distances mean something: one in [0, 1] for each number, as ToUnit, and one
// for each value of a category or boolean, so that any two of these are 1 apart. Inactive parameters are in the middle.
// Parameters without a value count as inactive.
std::vector<double> EmbedPoint(const Space& space, const Point& point);

}  // namespace vernier
