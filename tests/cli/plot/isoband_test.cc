#include "src/cli/plot/isoband.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::plot {
namespace {

// Of a polygon, by the shoelace formula.
double Area(const std::vector<At>& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const At& a = polygon[i];
    const At& b = polygon[(i + 1) % polygon.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return std::abs(twice) / 2;
}
double Area(const Isoband& band) {
  double area = 0;
  for (const auto& polygon : band.polygons) area += Area(polygon);
  return area;
}

// Levels that rise from 0 at the left to 1 at the right.
Field Slope(int count) {
  Field field;
  for (int i = 0; i < count; ++i) {
    field.x.push_back(static_cast<double>(i) / (count - 1));
    field.y.push_back(static_cast<double>(i) / (count - 1));
  }
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < count; ++i) field.values.push_back(field.x[static_cast<std::size_t>(i)]);
  }
  return field;
}

TEST(Isobands, CutASlopeWhereTheLevelsAre) {
  const std::vector<Isoband> bands = Isobands(Slope(8), 4);
  ASSERT_EQ(bands.size(), 4U);
  EXPECT_NEAR(Area(bands[0]), 1, 1e-12);
  EXPECT_NEAR(Area(bands[1]), 0.75, 1e-12);
  EXPECT_NEAR(Area(bands[2]), 0.5, 1e-12);
  EXPECT_NEAR(Area(bands[3]), 0.25, 1e-12);
}

TEST(Isobands, LeaveOutWhatIsNotKnown) {
  Field field = Slope(5);
  field.values[12] = std::nan("");  // The middle: four of sixteen cells touch it.
  EXPECT_NEAR(Area(Isobands(field, 4).front()), 0.75, 1e-12);
}

TEST(Isobands, GiveBlocksTheirOwnRectangles) {
  const Field field = {
      .x = {0, 1}, .y = {0, 1, 2}, .values = {0, 1, 0, 1, 0.4, std::nan("")}, .blocks = true};
  double area = 0;
  for (const Isoband& band : Isobands(field, 4)) area += Area(band);
  EXPECT_NEAR(area, 5, 1e-12);
}

}  // namespace
}  // namespace vernier::plot
