#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vernier/core/space.h"

namespace vernier {

// Points of a space seen as points of the unit cube: one coordinate per parameter, in the order of parameters().
//
// Continuous floats map by their scale. Parameters with finitely many values (integers, steps, lists, booleans) own
// cells that are equally wide before the scale is applied; the coordinate of a value is its place on the scale, the
// middle of its cell on a linear one. Integers and steps: u = (x - lower + step/2) / (upper - lower + step); on a log
// scale the padding is made before the logarithm and never reaches 0. Lists, categories and booleans (false, true) own
// cells by their index; an algorithm to which the distance between listed numbers matters takes it from the values.

// The number of values of a parameter on its own; nullopt if infinite or beyond 2^62.
std::optional<std::int64_t> ValueCount(const Parameter& parameter);
// The i-th value, in ascending or listed order.  REQUIRES: 0 <= i < ValueCount.
ParameterValue ValueAt(const Parameter& parameter, std::int64_t i);
// The index of a legal value of a parameter with finitely many.
std::int64_t IndexOf(const Parameter& parameter, const ParameterValue& value);

// The coordinate of a legal value, in [0, 1].
double ToUnit(const Parameter& parameter, const ParameterValue& value);
// The legal value whose cell holds u (clamped to [0, 1]). FromUnit(ToUnit(v)) == v for finite domains of up to 2^40
// values; for continuous floats the value is inside the bounds and within rounding of v. Uniform u gives every value of
// a finite domain its share: equal for lists, categories and linear integers.
ParameterValue FromUnit(const Parameter& parameter, double u);

// The point at `u`, parents first; coordinates of inactive parameters are ignored.  REQUIRES: u.size() == parameters.
Point DecodePoint(const Space& space, std::span<const double> u);
// Coordinates of a legal point; nullopt for inactive parameters.
std::vector<std::optional<double>> EncodePoint(const Space& space, const Point& point);

}  // namespace vernier
