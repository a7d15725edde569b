#include "src/cli/plot/comparison.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/plot/hypervolume.h"
#include "src/cli/plot/rank.h"
#include "tests/cli/plot/example_study.h"
#include "tests/support/extreme_values.h"

namespace vernier::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;
using ::vernier::testing::kNan;

StudyData WithValues(const std::vector<double>& values, Goal goal = Goal::kMinimize) {
  StudyData study = ExampleStudy({{.metric = "loss", .goal = goal}});
  for (const double value : values) AddTrial(study, {value});
  return study;
}

std::vector<Line> Lines(const Figure& figure) {
  std::vector<Line> lines;
  for (const Mark& mark : figure.panels.front().marks) {
    if (const Line* line = std::get_if<Line>(&mark)) lines.push_back(*line);
  }
  return lines;
}

std::vector<std::pair<double, double>> PointsOf(const Line& line) {
  std::vector<std::pair<double, double>> points;
  for (const At& at : line.points) points.emplace_back(at.x, at.y);
  return points;
}

TEST(CompareFigure, HasALineForEachStudyWithAValue) {
  const std::vector<StudyData> studies = {
      WithValues({3, 1, 2}), WithValues({kNan}), WithValues({2, 2})};
  const auto figure = CompareFigure(studies, studies[0].spec.objectives[0], AxisMode::kFull);
  ASSERT_TRUE(figure.ok());
  EXPECT_EQ(figure->title, "3 studies: minimize loss");
  const std::vector<Line> lines = Lines(*figure);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(PointsOf(lines[0]), ElementsAre(Pair(1, 3), Pair(2, 3), Pair(2, 1), Pair(3, 1)));
  EXPECT_NE(lines[0].paint.ink, lines[1].paint.ink);
  ASSERT_THAT(figure->legend, SizeIs(2));
  EXPECT_NE(figure->legend[0].shape, figure->legend[1].shape);
}

TEST(CompareFigure, IsNotFlattenedByTrialsThatAreNotTheBestSoFar) {
  const StudyData study = WithValues({3, 50, 2, 90});
  const auto figure =
      CompareFigure(std::span(&study, 1), study.spec.objectives[0], AxisMode::kFull);
  ASSERT_TRUE(figure.ok());
  EXPECT_LT(figure->panels.front().y.scale.high(), 4);
}

TEST(CompareFigure, SaysWhereLinesBeginBeyondTheAxis) {
  StudyData study = WithValues({900, 700});
  for (int i = 0; i < 20; ++i) AddTrial(study, {1 - 0.01 * i});
  const auto figure = CompareFigure(std::span(&study, 1), study.spec.objectives[0]);
  ASSERT_TRUE(figure.ok());
  EXPECT_LT(figure->panels.front().y.scale.high(), 2);
  EXPECT_THAT(figure->notes,
              ElementsAre("lines begin beyond the axis, at its border: the worst loss is 900"));
}

TEST(DistributionFigure, CountsOutliersOfAllStudies) {
  StudyData many = WithValues({});
  for (int i = 0; i < 20; ++i) AddTrial(many, {1 + 0.01 * i});
  const std::vector<StudyData> studies = {many, WithValues({700, 900})};
  const auto figure = DistributionFigure(studies, many.spec.objectives[0]);
  ASSERT_TRUE(figure.ok());
  EXPECT_THAT(
      figure->notes,
      ElementsAre("2 outliers beyond the axis are marked at its border; the worst loss is 900"));
}

TEST(ComparisonFigures, SayThatThereIsNothingToDraw) {
  const std::vector<StudyData> studies = {WithValues({kNan}), WithValues({})};
  const Objective& loss = studies[0].spec.objectives[0];
  EXPECT_EQ(CompareFigure(studies, loss)->empty,
            "2 studies: minimize loss: no trial has a value yet");
  EXPECT_EQ(DistributionFigure(studies, loss)->empty,
            "2 studies: minimize loss: no trial has a value yet");
}

TEST(DistributionFigure, StepsUpAtEachValueThatCounts) {
  StudyData study = WithValues({3, 1, 2, 2, kNan});
  AddTrial(study, {0.5}).fate = Fate::kBreaking;
  const Objective& loss = study.spec.objectives[0];
  const auto figure = DistributionFigure(std::span(&study, 1), loss, AxisMode::kFull);
  ASSERT_TRUE(figure.ok());
  EXPECT_EQ(figure->subtitle, "distribution of 4 trials with a value");
  const std::vector<Line> lines = Lines(*figure);
  ASSERT_THAT(lines, SizeIs(1));
  auto points = PointsOf(lines[0]);
  ASSERT_THAT(points, SizeIs(10));
  // Without the ends, which are those of the axis.
  points.erase(points.begin());
  points.pop_back();
  EXPECT_THAT(points,
              ElementsAre(Pair(1, 0),
                          Pair(1, 0.25),
                          Pair(2, 0.25),
                          Pair(2, 0.5),
                          Pair(2, 0.5),
                          Pair(2, 0.75),
                          Pair(3, 0.75),
                          Pair(3, 1)));
}

TEST(DistributionFigure, RisesAlsoByTheDistanceToTheLargest) {
  const StudyData study = WithValues({1, 8, 3}, Goal::kMaximize);
  const auto figure =
      DistributionFigure(std::span(&study, 1), study.spec.objectives[0], AxisMode::kRegret);
  ASSERT_TRUE(figure.ok());
  const auto points = PointsOf(Lines(*figure).front());
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
}

TEST(Ranks, SharePlacesOfEqualValues) {
  StudyData study = ExampleStudy({{.metric = "score", .goal = Goal::kMaximize}});
  for (const double value : {0.5, 0.9, 0.7, 0.9, kNan}) AddTrial(study, {value});
  AddTrial(study, {5}, TrialState::kFailed);
  std::vector<std::pair<std::int64_t, double>> ranks;
  for (const RankedTrial& each : Ranks(study, study.spec.objectives[0], 0, 1)) {
    ranks.emplace_back(each.trial->number(), each.rank);
  }
  EXPECT_THAT(ranks, ElementsAre(Pair(1, 4), Pair(2, 1.5), Pair(3, 3), Pair(4, 1.5)));
  // Only trials with even numbers have the third parameter.
  EXPECT_THAT(Ranks(study, study.spec.objectives[0], 0, 2), SizeIs(2));
}

TEST(RankFigure, ColoursTheBestByTheHighestLevel) {
  StudyData study = WithValues({3, 1, 2});
  const Figure figure = RankFigure(study, study.spec.objectives[0], 0, 1);
  std::vector<std::pair<Shape, double>> dots;
  for (const Mark& mark : figure.panels.front().marks) {
    dots.emplace_back(std::get<Dot>(mark).shape, std::get<Dot>(mark).paint.level);
  }
  EXPECT_THAT(dots,
              ElementsAre(Pair(Shape::kDisc, 0), Pair(Shape::kDisc, 0.5), Pair(Shape::kStar, 1)));
  EXPECT_EQ(RankFigure(WithValues({kNan}), study.spec.objectives[0], 0, 1).empty,
            "study example: no trial with a value has both lr and kind");
}

std::vector<double> VolumesOf(const StudyData& study, const Reference& reference) {
  std::vector<double> volumes;
  for (const HypervolumeStep& step : Hypervolumes(study, reference)) {
    volumes.push_back(step.volume);
  }
  return volumes;
}

TEST(Hypervolumes, GrowByWhatEachTrialDominatesAlone) {
  StudyData study = ExampleStudy(
      {{.metric = "score", .goal = Goal::kMaximize}, {.metric = "cost", .goal = Goal::kMinimize}});
  AddTrial(study, {1, 4});
  AddTrial(study, {3, 8});     // One box beside the first.
  AddTrial(study, {2, 8});     // Dominated.
  AddTrial(study, {kNan, 1});  // Has no place.
  AddTrial(study, {9, 20});    // Beyond the reference.
  AddTrial(study, {4, 1}).fate = Fate::kBreaking;
  AddTrial(study, {3, 4});
  EXPECT_THAT(VolumesOf(study, {{"score", 0}, {"cost", 10}}), ElementsAre(6, 10, 10, 10, 18));
  EXPECT_THAT(WorstValues(study), ElementsAre(Pair("cost", 20), Pair("score", 1)));
}

TEST(Hypervolumes, OfThreeObjectivesAreTheShareOfPointsThatAreDominated) {
  StudyData study =
      ExampleStudy({{"a", Goal::kMinimize}, {"b", Goal::kMinimize}, {"c", Goal::kMinimize}});
  for (int i = 0; i < 12; ++i) {
    const auto part = [i](int factor) { return std::fmod(0.37 * factor * (i + 1), 1.0); };
    AddTrial(study, {part(1), part(2), part(5)});
  }
  constexpr int kSteps = 60;
  int dominated = 0;
  for (int i = 0; i < kSteps * kSteps * kSteps; ++i) {
    const auto middle = [](int step) { return (step + 0.5) / kSteps; };
    const double a = middle(i % kSteps);
    const double b = middle(i / kSteps % kSteps);
    const double c = middle(i / kSteps / kSteps);
    dominated += std::any_of(study.trials.begin(), study.trials.end(), [&](const PlotTrial& trial) {
      return *trial.ValueOf("a") <= a && *trial.ValueOf("b") <= b && *trial.ValueOf("c") <= c;
    });
  }
  const std::vector<double> volumes = VolumesOf(study, {{"a", 1}, {"b", 1}, {"c", 1}});
  EXPECT_NEAR(volumes.back(), static_cast<double>(dominated) / std::pow(kSteps, 3), 0.01);
  EXPECT_TRUE(std::is_sorted(volumes.begin(), volumes.end()));
}

TEST(HypervolumeFigure, SaysUpToWhereItMeasures) {
  StudyData study = ExampleStudy({{.metric = "a"}, {.metric = "b"}});
  EXPECT_EQ(HypervolumeFigure(study, WorstValues(study)).empty,
            "study example: no trial has completed with finite values of all objectives");
  AddTrial(study, {1, 2});
  EXPECT_EQ(HypervolumeFigure(study, WorstValues(study)).subtitle, "up to a 1, b 2");
}

}  // namespace
}  // namespace vernier::plot
