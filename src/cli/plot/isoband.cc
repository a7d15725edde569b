// Marching squares, without their usual tables: each cell of the grid contributes the polygon of its part above the
// level, found by walking around its corners. Whole cells in a row are merged into one rectangle, to keep files small.

#include "src/cli/plot/isoband.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace vernier::plot {
namespace {

double ValueAt(const Field& field, std::size_t i, std::size_t j) {
  return field.values[j * field.x.size() + i];
}

// The interval around place i: half-way to its neighbours.
std::pair<double, double> Reach(const std::vector<double>& places, std::size_t i) {
  // A single place has no neighbour to measure by.
  if (places.size() < 2) return {places[i] - 0.5, places[i] + 0.5};
  const double before = i > 0 ? places[i] - places[i - 1] : places[i + 1] - places[i];
  const double after = i + 1 < places.size() ? places[i + 1] - places[i] : before;
  return {places[i] - before / 2, places[i] + after / 2};
}

struct Corner {
  At at;
  double value;
};

// The part of a cell with values of at least `level`, by linear interpolation along its sides.
std::vector<At> PartAbove(const std::array<Corner, 4>& corners, double level) {
  std::vector<At> polygon;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const Corner& a = corners[k];
    const Corner& b = corners[(k + 1) % corners.size()];
    if (a.value >= level) polygon.push_back(a.at);
    // The level crosses the side if its ends are on different sides of it.
    if ((a.value >= level) == (b.value >= level)) continue;
    const double share = (level - a.value) / (b.value - a.value);
    polygon.push_back({a.at.x + share * (b.at.x - a.at.x), a.at.y + share * (b.at.y - a.at.y)});
  }
  return polygon;
}

std::array<Corner, 4> CellOf(const Field& field, std::size_t i, std::size_t j) {
  const auto corner = [&field](std::size_t a, std::size_t b) {
    return Corner{{field.x[a], field.y[b]}, ValueAt(field, a, b)};
  };
  return {corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)};
}

bool IsKnown(const std::array<Corner, 4>& cell) {
  return std::none_of(
      cell.begin(), cell.end(), [](const Corner& corner) { return std::isnan(corner.value); });
}

bool IsAbove(const std::array<Corner, 4>& cell, double level) {
  return std::all_of(
      cell.begin(), cell.end(), [level](const Corner& corner) { return corner.value >= level; });
}

// Adds a row of cells. Adjacent cells that lie above the level completely become one rectangle.
void AddRow(const Field& field, std::size_t j, double level, Isoband& band) {
  for (std::size_t i = 0; i + 1 < field.x.size(); ++i) {
    const auto cell = CellOf(field, i, j);
    if (!IsKnown(cell)) continue;
    if (!IsAbove(cell, level)) {
      std::vector<At> part = PartAbove(cell, level);
      if (part.size() >= 3) band.polygons.push_back(std::move(part));
      continue;
    }
    std::size_t end = i + 1;
    while (end + 1 < field.x.size()) {
      const auto next = CellOf(field, end, j);
      if (!IsKnown(next) || !IsAbove(next, level)) break;
      ++end;
    }
    band.polygons.push_back({{field.x[i], field.y[j]},
                             {field.x[end], field.y[j]},
                             {field.x[end], field.y[j + 1]},
                             {field.x[i], field.y[j + 1]}});
    // The loop goes on behind the rectangle.
    i = end - 1;
  }
}

void AddBlocks(const Field& field, int step, int steps, Isoband& band) {
  for (std::size_t j = 0; j < field.y.size(); ++j) {
    for (std::size_t i = 0; i < field.x.size(); ++i) {
      const double value = ValueAt(field, i, j);
      if (std::isnan(value)) continue;
      const int band_of_value = std::clamp(static_cast<int>(value * steps), 0, steps - 1);
      if (band_of_value != step) continue;
      const auto [left, right] = Reach(field.x, i);
      const auto [below, above] = Reach(field.y, j);
      band.polygons.push_back({{left, below}, {right, below}, {right, above}, {left, above}});
    }
  }
}

}  // namespace

std::vector<Isoband> Isobands(const Field& field, int steps) {
  std::vector<Isoband> bands;
  for (int step = 0; step < steps; ++step) {
    Isoband band = {.step = step, .polygons = {}};
    if (field.blocks) {
      AddBlocks(field, step, steps, band);
    } else {
      // The lowest area includes values that rounding puts just below 0.
      const double level = step == 0 ? -1 : static_cast<double>(step) / steps;
      for (std::size_t j = 0; j + 1 < field.y.size(); ++j) AddRow(field, j, level, band);
    }
    if (!band.polygons.empty()) bands.push_back(std::move(band));
  }
  return bands;
}

}  // namespace vernier::plot
