#include "src/cli/plot/curves.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/plot/example_study.h"

namespace vernier::plot {
namespace {

std::vector<At> Wave(int count) {
  std::vector<At> points;
  for (int i = 0; i < count; ++i) points.push_back({static_cast<double>(i), std::sin(i / 50.0)});
  return points;
}

TEST(Thinned, KeepsTheEndsAndThePeak) {
  std::vector<At> points = Wave(5000);
  points[2345].y = 40;  // One spike.
  const std::vector<At> thin = Thinned(points, 100);
  ASSERT_EQ(thin.size(), 100U);
  EXPECT_EQ(thin.front().x, 0);
  EXPECT_EQ(thin.back().x, 4999);
  bool has_peak = false;
  for (std::size_t i = 1; i < thin.size(); ++i) {
    EXPECT_LT(thin[i - 1].x, thin[i].x);
    has_peak = has_peak || thin[i].y == 40;
  }
  EXPECT_TRUE(has_peak);
}

TEST(Thinned, LeavesOutWhatIsNotFinite) {
  const std::vector<At> thin = Thinned({{0, 1}, {1, std::nan("")}, {2, INFINITY}, {3, 4}}, 10);
  ASSERT_EQ(thin.size(), 2U);
  EXPECT_EQ(thin.back().y, 4);
}

TEST(CurvesFigure, DrawsTheBestOnTopAndMarksWhatWasStopped) {
  StudyData study = ExampleStudy();
  AddTrial(study, {1.0});
  AddTrial(study, {2.0}).fate = Fate::kStopped;
  AddTrial(study, {3.0});
  const Objective& loss = study.spec.objectives.front();
  const std::vector<Curve> curves = {
      {1, {{1, 5}, {2, 1}}}, {2, {{1, 4}, {2, 2}}}, {3, {{1, 6}, {2, 3}}}};
  const auto figure = CurvesFigure(study, loss, study.Best(loss), curves);
  ASSERT_TRUE(figure.ok());
  const Panel& panel = figure->panels.front();
  const Dot* end = std::get_if<Dot>(&panel.marks.back());
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->shape, Shape::kStar);
  EXPECT_EQ(end->at.y, 1);
  int diamonds = 0;
  for (const Mark& mark : panel.marks) {
    const Dot* dot = std::get_if<Dot>(&mark);
    diamonds += dot != nullptr && dot->shape == Shape::kDiamond ? 1 : 0;
  }
  EXPECT_EQ(diamonds, 1);
}

TEST(CurvesFigure, DrawsAThousandLongCurvesInBoundedSpace) {
  StudyData study = ExampleStudy();
  std::vector<Curve> curves;
  for (int i = 0; i < 1000; ++i) {
    AddTrial(study, {1.0 + i});
    curves.push_back({i + 1, Wave(1000)});
  }
  const Objective& loss = study.spec.objectives.front();
  const auto figure = CurvesFigure(study, loss, study.Best(loss), curves);
  ASSERT_TRUE(figure.ok());
  std::size_t points = 0;
  for (const Mark& mark : figure->panels.front().marks) {
    if (const Line* line = std::get_if<Line>(&mark)) points += line->points.size();
  }
  EXPECT_LE(points, 35000U);
}

}  // namespace
}  // namespace vernier::plot
