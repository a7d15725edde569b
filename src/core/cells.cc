#include "src/core/cells.h"

#include <bit>
#include <cstddef>

#include "src/core/check.h"
#include "src/core/domain.h"
#include "vernier/core/unit_cube.h"

namespace vernier {

void WriteCells(const Space& space, const Point& point, std::span<Cell> cells) {
  const std::vector<Parameter>& parameters = space.parameters();
  VERNIER_CHECK(cells.size() == parameters.size(), "one cell per parameter");
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const auto found = point.find(parameters[k].name);
    if (found == point.end()) {
      cells[k] = kInactive;
    } else if (IsContinuous(parameters[k].domain)) {
      // Adding 0.0 turns -0.0 into 0.0: equal values get equal cells, and the bits of -0.0 stay free for kInactive.
      cells[k] = std::bit_cast<Cell>(std::get<double>(found->second) + 0.0);
    } else {
      cells[k] = IndexOf(parameters[k], found->second);
    }
  }
}

std::vector<Cell> CellsOf(const Space& space, const Point& point) {
  std::vector<Cell> cells(space.parameters().size());
  WriteCells(space, point, cells);
  return cells;
}

ParameterValue ReadCell(const Parameter& parameter, Cell cell) {
  if (IsContinuous(parameter.domain)) return std::bit_cast<double>(cell);
  if (const auto* const x = std::get_if<IntDomain>(&parameter.domain)) {
    // Not ValueAt, which takes an index as int64 and so serves ranges of up to 2^62 values only. Unsigned arithmetic
    // wraps around to the right value for any range.
    const auto steps =
        static_cast<std::uint64_t>(cell) * static_cast<std::uint64_t>(x->step.value_or(1));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(x->lower) + steps);
  }
  return ValueAt(parameter, cell);
}

Point ReadCells(const Space& space, std::span<const Cell> cells) {
  const std::vector<Parameter>& parameters = space.parameters();
  Point point;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (cells[k] == kInactive) continue;
    point.emplace(parameters[k].name, ReadCell(parameters[k], cells[k]));
  }
  return point;
}

}  // namespace vernier
