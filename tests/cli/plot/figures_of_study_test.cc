#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/plot/comparison.h"
#include "src/cli/plot/contour.h"
#include "src/cli/plot/history.h"
#include "src/cli/plot/hypervolume.h"
#include "src/cli/plot/importance.h"
#include "src/cli/plot/parallel.h"
#include "src/cli/plot/parameter_axis.h"
#include "src/cli/plot/pareto.h"
#include "src/cli/plot/rank.h"
#include "src/cli/plot/slice.h"
#include "src/cli/plot/svg_renderer.h"
#include "src/cli/plot/text_renderer.h"
#include "src/cli/plot/timeline.h"
#include "tests/cli/plot/example_study.h"
#include "tests/support/extreme_values.h"

namespace vernier::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::vernier::testing::kNan;

// Expects ten times lr of every point, whatever else it holds.
Model TenTimesLr() {
  return {
      .name = "a model", .predict = [](std::span<const Point> points) {
        std::vector<PredictedValue> predicted;
        for (const Point& point : points) {
          predicted.push_back({.mean = 10 * std::get<double>(point.at("lr")), .deviation = 0.1});
        }
        return predicted;
      }};
}

std::vector<Dot> Dots(const Panel& panel) {
  std::vector<Dot> dots;
  for (const Mark& mark : panel.marks) {
    if (const Dot* dot = std::get_if<Dot>(&mark)) dots.push_back(*dot);
  }
  return dots;
}
std::ptrdiff_t Count(const Panel& panel, Shape shape) {
  const std::vector<Dot> dots = Dots(panel);
  return std::count_if(
      dots.begin(), dots.end(), [shape](const Dot& dot) { return dot.shape == shape; });
}

TEST(BestSoFar, CountsCompletedFiniteTrialsOnly) {
  StudyData study = ExampleStudy();
  AddTrial(study, {3});
  AddTrial(study, {-std::numeric_limits<double>::infinity()});
  AddTrial(study, {5});
  AddTrial(study, {0.5}, TrialState::kRunning);
  AddTrial(study, {0.4}).fate = Fate::kBreaking;
  AddTrial(study, {1}).fate = Fate::kStopped;
  EXPECT_THAT(BestSoFar(study, study.spec.objectives[0]), ElementsAre(3, 3, 3, 3, 3, 1));
}

TEST(HistoryFigure, MarksOutliersAndTrialsWithoutAValue) {
  StudyData study = ExampleStudy();
  for (int i = 0; i < 20; ++i) AddTrial(study, {1 + 0.01 * i});
  AddTrial(study, {700});
  AddTrial(study, {900});
  AddTrial(study, {kNan}, TrialState::kFailed);
  const auto figure = HistoryFigure(study, study.spec.objectives[0]);
  ASSERT_TRUE(figure.ok());
  const Panel& panel = figure->panels.front();
  EXPECT_EQ(Count(panel, Shape::kUp), 2);
  EXPECT_EQ(Count(panel, Shape::kCross), 1);
  EXPECT_EQ(Count(panel, Shape::kStar), 1);
  EXPECT_LT(panel.y.scale.high(), 2);
  EXPECT_THAT(figure->notes,
              ElementsAre(HasSubstr("2 outliers beyond the axis are marked at its border; the "
                                    "worst loss<&\"> is 900"),
                          "1 trial ended without a value and stands at the bad end of the axis"));
}

TEST(ParallelFigure, LeavesOutWhatAFailedTrialReported) {
  StudyData study = ExampleStudy();
  AddTrial(study, {3});
  AddTrial(study, {1}, TrialState::kFailed);
  const auto figure = ParallelFigure(study, study.spec.objectives[0], 0);
  ASSERT_TRUE(figure.ok());
  EXPECT_EQ(figure->subtitle, "1 trial with a value");
}

TEST(HistoryFigure, SaysThatThereIsNothingToDraw) {
  StudyData study = ExampleStudy();
  AddTrial(study, {kNan}, TrialState::kFailed);
  EXPECT_EQ(HistoryFigure(study, study.spec.objectives[0])->empty,
            "study example: no trial has a value yet");
}

std::vector<std::pair<double, double>> Corners(Goal x_goal, Goal y_goal, Fate fate) {
  StudyData study =
      ExampleStudy({{.metric = "x", .goal = x_goal}, {.metric = "y", .goal = y_goal}});
  for (const double x : {1.0, 2.0, 3.0}) AddTrial(study, {x, 4 - x}).fate = fate;
  AddTrial(study, {9, 9}).fate = Fate::kBreaking;
  const Objective& x = study.spec.objectives[0];
  const Objective& y = study.spec.objectives[1];
  std::vector<std::pair<double, double>> corners;
  for (const At& corner : Staircase(ParetoPoints(study, x, y), x, y)) {
    corners.emplace_back(corner.x, corner.y);
  }
  return corners;
}

TEST(Staircase, HasACornerThatBothNeighboursDominate) {
  const Fate done = Fate::kCompleted;
  EXPECT_THAT(Corners(Goal::kMaximize, Goal::kMaximize, done),
              ElementsAre(Pair(1, 3), Pair(1, 2), Pair(2, 2), Pair(2, 1), Pair(3, 1)));
  EXPECT_THAT(Corners(Goal::kMinimize, Goal::kMinimize, done),
              ElementsAre(Pair(1, 3), Pair(2, 3), Pair(2, 2), Pair(3, 2), Pair(3, 1)));
  EXPECT_THAT(Corners(Goal::kMaximize, Goal::kMinimize, done), ElementsAre(Pair(3, 1)));
  EXPECT_THAT(Corners(Goal::kMinimize, Goal::kMaximize, done), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(Corners(Goal::kMaximize, Goal::kMaximize, Fate::kBreaking), IsEmpty());
}

TEST(ParetoFigure, NamesTheObjectivesThatItDoesNotShow) {
  StudyData study = ExampleStudy({{.metric = "a"}, {.metric = "b"}, {.metric = "c"}});
  AddTrial(study, {1, 2, 3});
  const std::vector<Objective>& all = study.spec.objectives;
  EXPECT_THAT(ParetoFigure(study, all[0], all[2]).notes,
              ElementsAre("not shown: b; --x and --y choose two objectives"));
}

TEST(Moved, GivesParametersThatBecomeActiveTheBestKnownValue) {
  StudyData study = ExampleStudy();
  AddTrial(study, {1});
  AddTrial(study, {2});  // Has depth 3.
  const Objective& loss = study.spec.objectives[0];
  const auto point = Moved(study, loss, study.trials[0].trial.point, 1, std::string("a<b"));
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(std::get<std::int64_t>(point->at("depth")), 3);
  const auto back = Moved(study, loss, *point, 1, std::string("plain"));
  EXPECT_FALSE(back->contains("depth"));
}

TEST(ComputeSlices, FollowTheModelAlongEachAxis) {
  StudyData study = ExampleStudy();
  AddTrial(study, {1});
  AddTrial(study, {2});
  const Objective& loss = study.spec.objectives[0];
  const Model model = TenTimesLr();
  const auto slices = ComputeSlices(study, loss, {0, 1, 2}, &model);
  ASSERT_TRUE(slices.ok());
  ASSERT_THAT(*slices, SizeIs(3));
  EXPECT_EQ((*slices)[0].steps.size(), 61U);
  EXPECT_NEAR((*slices)[0].steps.front().predicted.mean, 1e-3, 1e-9);
  EXPECT_NEAR((*slices)[0].steps.back().predicted.mean, 10, 1e-9);
  EXPECT_EQ((*slices)[1].steps.size(), 2U);
  EXPECT_EQ((*slices)[2].steps.size(), 5U);
  EXPECT_EQ((*slices)[2].at, TrialNumber(2)) << "the best trial that has the parameter";
  const auto figure = SliceFigure(study, loss, *slices, model.name);
  EXPECT_THAT(figure->panels, SizeIs(3));
}

TEST(ComputedImportance, FindsTheOnlyParameterThatMatters) {
  StudyData study = ExampleStudy();
  AddTrial(study, {1});
  AddTrial(study, {2});
  std::vector<Point> points;
  for (int i = 0; i < 20; ++i) {
    Point point = {{"lr", 0.05 * (i + 1)}, {"kind", std::string(i % 3 == 0 ? "a<b" : "plain")}};
    if (i % 3 == 0) point["depth"] = std::int64_t{1 + i % 5};
    points.push_back(point);
  }
  const auto importance = ComputedImportance(study, study.spec.objectives[0], TenTimesLr(), points);
  ASSERT_TRUE(importance.ok());
  EXPECT_EQ(importance->shares.front().first, "lr");
  EXPECT_NEAR(importance->shares.front().second, 1, 1e-9);
}

TEST(RecordedImportance, IsTheLatest) {
  StudyData study = ExampleStudy();
  AddTrial(study, {1}).trial.suggestion.importance = {{"lr", 0.9}, {"kind", 0.1}};
  AddTrial(study, {1}).trial.suggestion.importance = {{"lr", 0.25}, {"kind", 0.75}};
  AddTrial(study, {1});
  const Importance importance = RecordedImportance(study);
  EXPECT_THAT(importance.shares, ElementsAre(Pair("kind", 0.75), Pair("lr", 0.25)));
  EXPECT_THAT(importance.source, HasSubstr("trial 2"));
}

TEST(ParallelFigure, HasAGapWhereAParameterIsNotActive) {
  StudyData study = ExampleStudy();
  AddTrial(study, {1});  // Without depth.
  const auto figure = ParallelFigure(study, study.spec.objectives[0]);
  ASSERT_TRUE(figure.ok());
  const Panel& panel = figure->panels.front();
  EXPECT_THAT(panel.rulers, SizeIs(4));
  const Line* line = std::get_if<Line>(&panel.marks.back());
  ASSERT_NE(line, nullptr);
  EXPECT_TRUE(std::isnan(line->points[2].y));
  EXPECT_EQ(Dots(panel).size(), 1U) << "the objective stands alone beyond the gap";
}

TEST(ContourFigure, ShowsTheModelAndTheTrialsThatHaveBothParameters) {
  StudyData study = ExampleStudy();
  for (int i = 0; i < 6; ++i) AddTrial(study, {1.0 + i});
  const Objective& loss = study.spec.objectives[0];
  const auto surface = ComputeSurface(study, loss, 0, 2, TenTimesLr());
  ASSERT_TRUE(surface.ok());
  EXPECT_EQ(surface->at, TrialNumber(2));
  EXPECT_EQ(surface->means.size(), 32U * 5U);
  EXPECT_NEAR(surface->means[31], 10, 1e-9);
  const Figure figure = ContourFigure(study, loss, *surface, "a model");
  EXPECT_THAT(Dots(figure.panels.front()), SizeIs(3));
}

TEST(ComputeSurface, GoesFromAParentToItsChild) {
  StudyData study = ExampleStudy();
  for (int i = 0; i < 4; ++i) AddTrial(study, {1.0 + i});
  // Only one value of kind has depth: the other column stays empty.
  const auto surface = ComputeSurface(study, study.spec.objectives[0], 1, 2, TenTimesLr());
  ASSERT_TRUE(surface.ok());
  EXPECT_EQ(std::count_if(surface->means.begin(),
                          surface->means.end(),
                          [](double mean) { return std::isnan(mean); }),
            5);
}

TEST(Timeline, ShowsEachAttempt) {
  StudyData study = ExampleStudy();
  Trial& trial = AddTrial(study, {1}).trial;
  const absl::Time start = trial.created;
  const auto at = [start](int seconds) { return start + absl::Seconds(seconds); };
  trial.attempts = {{.number = AttemptNumber(1),
                     .state = AttemptState::kFailed,
                     .placed = at(2),
                     .started = at(3),
                     .ended = at(5)},
                    {.number = AttemptNumber(2),
                     .state = AttemptState::kSucceeded,
                     .placed = at(6),
                     .started = at(7),
                     .ended = at(9)}};
  trial.ended = at(9);
  std::vector<std::string> spans;
  for (const Span& span : Timeline(study)) {
    spans.push_back(std::string(PhaseName(span.phase)) + " " +
                    std::to_string(absl::ToInt64Seconds(span.from - start)) + "-" +
                    std::to_string(absl::ToInt64Seconds(span.to - start)) +
                    (span.phase == Phase::kRunning ? " " + std::string(FateName(span.fate)) : ""));
  }
  EXPECT_THAT(spans,
              ElementsAre("waiting 0-2",
                          "preparing 2-3",
                          "running 3-5 failed",
                          "waiting 5-6",
                          "preparing 6-7",
                          "running 7-9 completed"));
}

// Every kind of figure, of every kind of study, in both forms.
struct StudyCase {
  std::string name;
  std::function<void(StudyData&)> fill;
};
class EveryFigure : public ::testing::TestWithParam<StudyCase> {};

TEST_P(EveryFigure, IsShownInBothForms) {
  StudyData study = ExampleStudy({{.metric = "loss<&\">", .goal = Goal::kMinimize},
                                  {.metric = "second", .goal = Goal::kMaximize}});
  GetParam().fill(study);
  const Objective& loss = study.spec.objectives[0];
  const Model model = TenTimesLr();
  std::vector<Figure> figures = {TimelineFigure(study, absl::UTCTimeZone()),
                                 ParetoFigure(study, loss, study.spec.objectives[1]),
                                 HypervolumeFigure(study, WorstValues(study)),
                                 ImportanceFigure(study, loss, RecordedImportance(study))};
  for (const AxisMode mode : {AxisMode::kAuto, AxisMode::kFull, AxisMode::kRegret}) {
    figures.push_back(*HistoryFigure(study, loss, mode));
    figures.push_back(*ParallelFigure(study, loss, 0, mode));
    figures.push_back(*CompareFigure(std::span(&study, 1), loss, mode));
    figures.push_back(*DistributionFigure(std::span(&study, 1), loss, mode));
    figures.push_back(*SliceFigure(
        study, loss, *ComputeSlices(study, loss, {0, 1, 2}, &model), model.name, mode));
  }
  figures.push_back(
      *SliceFigure(study, loss, *ComputeSlices(study, loss, {0, 1, 2}, nullptr), "no model"));
  for (const auto& [x, y] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    figures.push_back(
        ContourFigure(study, loss, *ComputeSurface(study, loss, x, y, model), model.name));
    figures.push_back(RankFigure(study, loss, x, y));
  }
  for (const Figure& figure : figures) {
    const std::string svg = RenderSvg(figure);
    EXPECT_THAT(svg, ::testing::Not(HasSubstr("nan"))) << figure.title;
    EXPECT_THAT(svg, ::testing::Not(HasSubstr("loss<"))) << figure.title;
    EXPECT_THAT(RenderText(figure, {.width = 60}), ::testing::Not(IsEmpty())) << figure.title;
    EXPECT_LT(svg.size(), 3U << 20U) << figure.title;
  }
}

INSTANTIATE_TEST_SUITE_P(Studies,
                         EveryFigure,
                         ::testing::ValuesIn(std::vector<StudyCase>{
                             {.name = "Empty", .fill = [](StudyData&) {}},
                             {.name = "OneTrial",
                              .fill =
                                  [](StudyData& study) {
                                    AddTrial(study, {1, 2});
                                  }},
                             {.name = "FailedOnly",
                              .fill =
                                  [](StudyData& study) {
                                    for (int i = 0; i < 5; ++i)
                                      AddTrial(study, {kNan, kNan}, TrialState::kFailed);
                                  }},
                             {.name = "NotFinite",
                              .fill =
                                  [](StudyData& study) {
                                    const double infinite = std::numeric_limits<double>::infinity();
                                    AddTrial(study, {infinite, -infinite});
                                    AddTrial(study, {-infinite, kNan});
                                    AddTrial(study, {1e308, -1e308});
                                    AddTrial(study, {-1e308, 1e308});
                                  }},
                             {.name = "AllAlike",
                              .fill =
                                  [](StudyData& study) {
                                    for (int i = 0; i < 8; ++i) AddTrial(study, {7, 7});
                                  }},
                             {.name = "Running",
                              .fill =
                                  [](StudyData& study) {
                                    AddTrial(study, {kNan, kNan}, TrialState::kRunning);
                                    AddTrial(study, {1, 1}, TrialState::kRunning);
                                  }},
                             {.name = "Thousand",
                              .fill =
                                  [](StudyData& study) {
                                    for (int i = 0; i < 1000; ++i) {
                                      AddTrial(study, {std::sin(i) + 2, std::cos(i)});
                                    }
                                  }}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace vernier::plot
