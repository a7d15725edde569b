// Studies whose models would take more work or memory than a suggestion may. Each test takes seconds.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/gaussian_process/gp_optimizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/gaussian_process/bowl.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::Log;
using ::vernier::testing::Minimise;

std::unique_ptr<Optimizer> NewGpOf(const Problem& problem) {
  return NewGpOptimizer(problem, {.name = "gp", .options = {}}).value();
}

TEST(GpBoundedWork, LearnsOfVeryManyChoices) {
  CategoricalDomain words;
  for (int i = 0; i < 90'000; ++i) words.values.emplace_back("w" + std::to_string(i));
  const Space space =
      Space::Create({{.name = "word", .domain = words}, {.name = "x", .domain = FloatDomain{}}})
          .value();
  const auto optimizer = NewGpOf(Minimise(space));
  EXPECT_EQ(optimizer->version(), "17");
  std::vector<Observation> trials;
  std::string state;
  for (int i = 1; i <= 12; ++i) {
    ASSERT_OK_AND_ASSIGN(const Suggestions s,
                         optimizer->Suggest(Log(space, trials), {}, state, Rng(1).Fork(i), 1, {}));
    state = s.state;
    const Point& point = s.points[0].point;
    const double loss = std::abs(std::get<double>(point.at("x")) - 0.3) +
                        (point.at("word") == ParameterValue(std::string("w7")) ? 0.0 : 0.1);
    trials.push_back({TrialNumber(i), point, Outcome::kCompleted, {loss}});
  }
  EXPECT_LT(
      std::ranges::min(trials, {}, [](const Observation& t) { return t.values[0]; }).values[0],
      0.2);
}

// Of many floats, with outcome constraints.
Problem Wide(int parameters, int constraints) {
  std::vector<Parameter> of_space;
  for (int k = 0; k < parameters; ++k) {
    of_space.push_back({.name = "x" + std::to_string(k), .domain = FloatDomain{}});
  }
  Problem problem = Minimise(Space::Create(std::move(of_space)).value());
  for (int k = 0; k < constraints; ++k) {
    problem.outcome_constraints.push_back("c" + std::to_string(k) + " <= 1");
  }
  return problem;
}

Suggestion AfterRandomTrials(const Problem& problem, int n) {
  Rng rng(2);
  TrialLog log(problem);
  for (int i = 1; i <= n; ++i) {
    std::vector<double> u(problem.space.parameters().size());
    for (double& coordinate : u) coordinate = rng.Uniform();
    const std::vector<double> slacks(problem.outcome_constraints.size(), u[0] - 0.5);
    EXPECT_THAT(log.Append({TrialNumber(i),
                            DecodePoint(problem.space, u),
                            Outcome::kCompleted,
                            {u[0] + u.back()},
                            slacks}),
                IsOk());
  }
  const auto gp = NewGpOf(problem);
  return gp->Suggest(log.Snapshot(), {}, "", Rng(1), 1, {}).value().points.front();
}

TEST(GpBoundedWork, LooksAtFewerTrialsWhereMetricsAreMany) {
  const Suggestion suggestion = AfterRandomTrials(Wide(2, 100), 520);
  EXPECT_EQ(suggestion.origin, "model");
  EXPECT_THAT(suggestion.note, HasSubstr("the model looks at "));
  EXPECT_THAT(suggestion.note, HasSubstr(" of 520 trials"));
  EXPECT_THAT(suggestion.note, HasSubstr("of 95 other constraints it is as sure or surer"));
}

TEST(GpBoundedWork, ProposesQuasiRandomPointsWhereModelsWouldCostTooMuch) {
  const Problem problem = Wide(1000, 100);
  const Suggestion suggestion = AfterRandomTrials(problem, 8);
  EXPECT_EQ(suggestion.origin, "sequence");
  EXPECT_EQ(suggestion.note,
            "a quasi-random point: models of 101 metrics over 1000 parameters would cost more than "
            "a suggestion may");
  const auto gp = NewGpOf(problem);
  EXPECT_FALSE(gp->has_model());
  EXPECT_EQ(gp->version(), "16");
  EXPECT_EQ(gp->Predict(TrialLog(problem).Snapshot(), "", {}, {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace vernier
