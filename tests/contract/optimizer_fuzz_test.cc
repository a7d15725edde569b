// Every algorithm in the registry on random spaces with random histories: whatever a user might have, what is proposed is
// legal, new, finite, and the same when it is computed again.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/optimizer.h"

namespace vernier {
namespace {

using ::vernier::testing::IsOk;
using ::vernier::testing::kInf;
using ::vernier::testing::kNan;

std::int64_t Below(Rng& rng, std::int64_t bound) {
  return std::min(bound - 1, static_cast<std::int64_t>(rng.Uniform() * static_cast<double>(bound)));
}

Parameter RandomParameter(Rng& rng, const std::string& name) {
  const double lower = std::pow(10.0, -6.0 + 8.0 * rng.Uniform());
  const double upper = lower * std::pow(10.0, 0.1 + 5.0 * rng.Uniform());
  const std::int64_t least = Below(rng, 20) + 1;
  switch (Below(rng, 9)) {
    case 0:
      return testing::Float(name, -upper, upper);
    case 1:
      return testing::Float(name, lower, upper, Scale::kLog);
    case 2:
      return testing::Float(name, lower, upper, Scale::kReverseLog);
    case 3:
      return testing::Stepped(name, 0.0, 1.0, 0.125);
    case 4:
      return testing::Int(name, -least, Below(rng, 1000));
    case 5:
      return testing::Int(name, least, least + Below(rng, 500), Scale::kLog);
    case 6:
      return testing::Discrete(name, {lower, 2 * lower, upper + 2 * lower});
    case 7:
      return testing::Categorical(name, {"a", std::int64_t{2}, 3.5});
    default:
      return testing::Bool(name);
  }
}

// Some parameters depend on a boolean or a category before them, those perhaps on another.
Space RandomSpace(Rng& rng) {
  std::vector<Parameter> parameters;
  const std::int64_t count = 1 + Below(rng, 7);
  for (std::int64_t k = 0; k < count; ++k) {
    Parameter parameter = RandomParameter(rng, fmt::format("p{}", k));
    const std::int64_t parent = Below(rng, 2 * count);
    if (parent < k) {
      const Parameter& on = parameters[static_cast<std::size_t>(parent)];
      if (std::holds_alternative<BoolDomain>(on.domain)) {
        parameter = testing::When(std::move(parameter), on.name, {true});
      } else if (std::holds_alternative<CategoricalDomain>(on.domain)) {
        parameter = testing::When(std::move(parameter), on.name, {"a", 3.5});
      }
    }
    parameters.push_back(std::move(parameter));
  }
  return testing::MakeSpace(std::move(parameters));
}

// The space under a constraint on its first two numbers that a random point of it keeps on its border.
Space Constrained(const Space& space, Rng& rng) {
  std::vector<double> u(space.parameters().size());
  for (double& coordinate : u) coordinate = rng.Uniform();
  std::string sum;
  double bound = 0;
  int numbers = 0;
  for (const auto& [name, value] : DecodePoint(space, u)) {
    const auto* const number = std::get_if<double>(&value);
    const auto& parameter = space.parameters()[static_cast<std::size_t>(*space.Find(name))];
    if (number == nullptr || !parameter.when.empty() || numbers == 2 ||
        std::holds_alternative<CategoricalDomain>(parameter.domain)) {
      continue;
    }
    sum += (numbers++ == 0 ? "" : " + ") + name;
    bound += *number;
  }
  if (numbers == 0) return space;
  return testing::MakeSpace(space.parameters(), {fmt::format("{} <= {:.17g}", sum, bound + 1e-9)});
}

// What objectives are like: each history has one style.
double RandomValue(Rng& rng, std::int64_t style) {
  switch (style) {
    case 0:
      return rng.Normal();
    case 1:
      return 0.25;
    case 2:
      return 1e300 * rng.Normal();
    case 3:
      return 1e-300 * rng.Normal();
    case 4:
      return rng.Uniform() < 0.1 ? (rng.Uniform() < 0.5 ? 1e30 : -1e30) : rng.Normal();
    case 5:
      return static_cast<double>(Below(rng, 3));
    default:
      return rng.Uniform() < 0.2 ? (rng.Uniform() < 0.5 ? kNan : kInf) : rng.Normal();
  }
}

constexpr Outcome kOutcomes[] = {Outcome::kCompleted,
                                 Outcome::kCompleted,
                                 Outcome::kCompleted,
                                 Outcome::kStoppedEarly,
                                 Outcome::kFailed,
                                 Outcome::kInfeasible};

struct Situation {
  Problem problem;
  std::int64_t style;
  std::vector<Observation> finished;
  std::vector<PendingPoint> pending;

  void Finish(TrialNumber trial, Point point, Rng& rng) {
    Observation observation{.trial = trial, .point = std::move(point)};
    observation.outcome = kOutcomes[Below(rng, std::ssize(kOutcomes))];
    const bool has_values =
        observation.outcome != Outcome::kFailed && observation.outcome != Outcome::kInfeasible;
    for (std::size_t j = 0; has_values && j < problem.objectives.size(); ++j) {
      observation.values.push_back(RandomValue(rng, style));
    }
    for (std::size_t k = 0; has_values && k < problem.outcome_constraints.size(); ++k) {
      observation.slacks.push_back(rng.Uniform() < 0.2 ? kNan : rng.Normal() - 0.5);
    }
    finished.push_back(std::move(observation));
  }
};

Situation RandomSituation(Rng& rng) {
  Space space = RandomSpace(rng);
  if (rng.Uniform() < 0.3) space = Constrained(space, rng);
  Situation situation{.problem = testing::MakeProblem(space), .style = Below(rng, 7)};
  const std::int64_t objectives = std::max<std::int64_t>(1, Below(rng, 5) - 1);
  situation.problem.objectives.clear();
  for (std::int64_t j = 0; j < objectives; ++j) {
    situation.problem.objectives.push_back(
        {.metric = fmt::format("m{}", j), .goal = j % 2 == 0 ? Goal::kMinimize : Goal::kMaximize});
  }
  for (std::int64_t k = std::max<std::int64_t>(0, Below(rng, 5) - 2); k > 0; --k) {
    situation.problem.outcome_constraints.push_back(fmt::format("c{} >= 0", k));
  }
  const std::unique_ptr<Optimizer> random =
      AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "random"}, situation.problem).value();
  const std::size_t trials = static_cast<std::size_t>(1 + Below(rng, 25));
  const std::vector<Suggestion> points =
      random->Suggest({}, {}, "", rng.Fork(1), trials, {}).value().points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TrialNumber trial(static_cast<std::int64_t>(i) + 1);
    if (rng.Uniform() < 0.2) {
      situation.pending.push_back({trial, points[i].point});
    } else {
      situation.Finish(trial, points[i].point, rng);
    }
  }
  // The same point again, by a user's hand.
  if (rng.Uniform() < 0.2) situation.Finish(TrialNumber(99), points[0].point, rng);
  return situation;
}

bool IsTaken(const Situation& situation, const Point& point) {
  const auto is_same = [&point](const auto& trial) { return trial.point == point; };
  return std::any_of(situation.finished.begin(), situation.finished.end(), is_same) ||
         std::any_of(situation.pending.begin(), situation.pending.end(), is_same);
}

void ExpectSound(const Suggestion& suggestion, const Situation& situation) {
  const Space& space = situation.problem.space;
  EXPECT_THAT(space.Check(suggestion.point), IsOk());
  EXPECT_FALSE(space.Cardinality() && IsTaken(situation, suggestion.point));
  EXPECT_FALSE(suggestion.origin.empty());
  EXPECT_TRUE(std::isfinite(suggestion.acquisition.value_or(0)));
  EXPECT_FALSE(std::isnan(suggestion.predicted_mean.value_or(0)));
  EXPECT_GE(suggestion.predicted_deviation.value_or(0), 0);
  EXPECT_GE(suggestion.expected_improvement.value_or(0), 0);
  EXPECT_FALSE(std::isnan(suggestion.expected_improvement.value_or(0)));
  for (const auto& [name, share] : suggestion.importance) EXPECT_TRUE(share >= 0 && share <= 1);
}

class OptimizerFuzz : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(OptimizerFuzz, ProposesSoundPointsWhateverHappened) {
  const auto& [algorithm, seed] = GetParam();
  Rng rng(static_cast<std::uint64_t>(seed));
  Situation situation = RandomSituation(rng);
  const Space& space = situation.problem.space;
  const auto optimizer =
      AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = algorithm}, situation.problem);
  if (!optimizer.ok()) {  // The grid wants steps.
    ASSERT_EQ(algorithm, "grid") << optimizer.status();
    return;
  }
  std::string state;
  for (int round = 0; round < 3; ++round) {
    const auto count = static_cast<std::size_t>(1 + Below(rng, 3));
    const Rng stream = rng.Fork(static_cast<std::uint64_t>(round) + 10);
    const auto ask = [&](const Optimizer& of) {
      return of.Suggest(testing::Log(situation.problem, situation.finished),
                        situation.pending,
                        state,
                        stream,
                        count,
                        {});
    };
    const absl::StatusOr<Suggestions> asked = ask(**optimizer);
    if (!asked.ok()) {
      ASSERT_EQ(asked.status().code(), absl::StatusCode::kOutOfRange) << asked.status();
      ASSERT_TRUE(space.Cardinality().has_value());
      return;
    }
    const auto again = ask(*AlgorithmCatalogue::BuiltIn()
                                .NewOptimizer({.name = algorithm}, situation.problem)
                                .value());
    ASSERT_THAT(again, IsOk());
    ASSERT_EQ(again->state, asked->state);
    ASSERT_EQ(again->points.size(), asked->points.size());
    for (std::size_t i = 0; i < asked->points.size(); ++i) {
      const Suggestion& suggestion = asked->points[i];
      EXPECT_EQ(suggestion.point, again->points[i].point);
      EXPECT_EQ(suggestion.acquisition, again->points[i].acquisition);
      ExpectSound(suggestion, situation);
      const TrialNumber trial(1000 + 10 * round + static_cast<std::int64_t>(i));
      if (i == 0) {
        situation.Finish(trial, suggestion.point, rng);
      } else {
        situation.pending.push_back({trial, suggestion.point});
      }
    }
    state = asked->state;
  }
}

using Case = ::testing::TestParamInfo<OptimizerFuzz::ParamType>;

INSTANTIATE_TEST_SUITE_P(
    Registered,
    OptimizerFuzz,
    ::testing::Combine(::testing::ValuesIn(AlgorithmCatalogue::BuiltIn().AlgorithmNames()),
                       ::testing::Range(1, 41)),
    [](const Case& at) {
      std::string name = fmt::format("{}_{}", std::get<0>(at.param), std::get<1>(at.param));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace vernier
