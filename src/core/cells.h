#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "vernier/core/space.h"

// A point as one number for each parameter of its space, in the order of parameters(): exact, small, quick to compare.
namespace vernier {

// Of a parameter with finitely many values: the index of its value. Of a continuous one: the bits of its value. Equal cells
// are equal values.
using Cell = std::int64_t;
// Of an inactive parameter. (The bits of -0.0, which is kept as 0.0.)
inline constexpr Cell kInactive = std::numeric_limits<Cell>::min();

// REQUIRES: a legal point; a cell for each parameter.
void WriteCells(const Space& space, const Point& point, std::span<Cell> cells);
std::vector<Cell> CellsOf(const Space& space, const Point& point);
Point ReadCells(const Space& space, std::span<const Cell> cells);
// REQUIRES: the cell is not kInactive.
ParameterValue ReadCell(const Parameter& parameter, Cell cell);

}  // namespace vernier
