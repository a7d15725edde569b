#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "vernier/core/space.h"

// A compact form of points: one 64-bit cell for each parameter, in the order of parameters(). Exact, small, quick to
// compare and to hash.
namespace vernier {

// The index of the value, for a parameter with finitely many values; the bits of the value, for a continuous one.
// Values are equal if and only if their cells are.
using Cell = std::int64_t;
// The cell of an inactive parameter. These are the bits of -0.0, which no value has: WriteCells stores 0.0 instead.
inline constexpr Cell kInactive = std::numeric_limits<Cell>::min();

// Writes the cells of a point.  REQUIRES: the point is legal; one cell for each parameter.
void WriteCells(const Space& space, const Point& point, std::span<Cell> cells);
// Returns the cells of a point.  REQUIRES: the point is legal.
std::vector<Cell> CellsOf(const Space& space, const Point& point);
// Returns the point with these cells.
Point ReadCells(const Space& space, std::span<const Cell> cells);
// Returns the value of one parameter.  REQUIRES: the cell is not kInactive.
ParameterValue ReadCell(const Parameter& parameter, Cell cell);

}  // namespace vernier
