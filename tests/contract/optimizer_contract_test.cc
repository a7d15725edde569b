// What include/vernier/optimizer.h promises, asserted of every algorithm in the registry on every kind of space. An
// algorithm is tested by being registered; none is named here.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/algorithms/spaces.h"
#include "tests/contract/optimizer_contract_spaces.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/optimizer.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::vernier::testing::AllFeasibleKeys;
using ::vernier::testing::AllSpaceCases;
using ::vernier::testing::IsOk;
using ::vernier::testing::kInf;
using ::vernier::testing::kNan;
using ::vernier::testing::SpaceCase;
using ::vernier::testing::StatusIs;

// Spaces with fewer points are walked to their end.
constexpr std::int64_t kSmall = 40;

using Case = std::tuple<std::string, SpaceCase>;

class OptimizerContract : public ::testing::TestWithParam<Case> {
 protected:
  const Space& space() const { return std::get<1>(GetParam()).space; }
  std::unique_ptr<Optimizer> New() const {
    return AlgorithmCatalogue::BuiltIn()
        .NewOptimizer({.name = std::get<0>(GetParam())}, problem_)
        .value();
  }

  TrialLog::View Log(const std::vector<Observation>& trials) const {
    return testing::Log(problem_, trials);
  }

  // The call with a stream of its own for each trial, as a study makes it.
  absl::StatusOr<Suggestions> Suggest(const std::vector<Observation>& finished,
                                      const std::vector<PendingPoint>& pending = {},
                                      const std::string& state = {},
                                      std::size_t count = 1) const {
    const Rng stream = Rng(7).Fork(finished.size() + pending.size() + 1);
    return optimizer_->Suggest(Log(finished), pending, state, stream, count, {});
  }

  // Up to `n` different feasible points, the same each time, with values that follow from the points.
  std::vector<Observation> History(int n, std::uint64_t seed = 1) const {
    const std::unique_ptr<Optimizer> random =
        AlgorithmCatalogue::BuiltIn().NewOptimizer({.name = "random"}, problem_).value();
    const auto drawn = random->Suggest({}, {}, "", Rng(seed), static_cast<std::size_t>(n), {});
    std::vector<Observation> history;
    for (const Suggestion& suggestion : drawn.value().points) {
      const double value = std::cos(static_cast<double>(history.size()));
      history.push_back(testing::Completed(std::ssize(history) + 1, suggestion.point, value));
    }
    return history;
  }

  // As History, and leaves at least one point of the space untouched.
  std::vector<Observation> UnfinishedHistory(int n, std::uint64_t seed = 1) const {
    std::vector<Observation> history = History(n, seed);
    if (!space().Cardinality() || std::ssize(history) < *space().Cardinality()) return history;
    history.pop_back();
    return history;
  }

  void ExpectLegal(const absl::StatusOr<Suggestions>& suggestions, std::size_t count) const {
    ASSERT_THAT(suggestions, IsOk());
    EXPECT_GE(suggestions->points.size(), 1u);
    EXPECT_LE(suggestions->points.size(), count);
    for (const Suggestion& suggestion : suggestions->points) {
      EXPECT_THAT(space().Check(suggestion.point), IsOk()) << FormatPoint(suggestion.point);
      EXPECT_THAT(suggestion.origin, Not(IsEmpty()));
      EXPECT_GE(suggestion.predicted_deviation.value_or(0), 0);
    }
  }

  const Problem problem_ = testing::MakeProblem(std::get<1>(GetParam()).space);
  const std::unique_ptr<Optimizer> optimizer_ = New();
};

void ExpectSame(const absl::StatusOr<Suggestions>& a, const absl::StatusOr<Suggestions>& b) {
  ASSERT_EQ(a.status(), b.status());
  if (!a.ok()) return;
  EXPECT_EQ(a->state, b->state);
  ASSERT_EQ(a->points.size(), b->points.size());
  for (std::size_t i = 0; i < a->points.size(); ++i) {
    EXPECT_EQ(a->points[i].point, b->points[i].point);
    EXPECT_EQ(a->points[i].origin, b->points[i].origin);
    EXPECT_EQ(a->points[i].acquisition, b->points[i].acquisition);
    EXPECT_EQ(a->points[i].predicted_mean, b->points[i].predicted_mean);
    EXPECT_EQ(a->points[i].predicted_deviation, b->points[i].predicted_deviation);
    EXPECT_EQ(a->points[i].expected_improvement, b->points[i].expected_improvement);
    EXPECT_EQ(a->points[i].importance, b->points[i].importance);
  }
}

TEST_P(OptimizerContract, DescribesItself) {
  EXPECT_EQ(optimizer_->name(), std::get<0>(GetParam()));
  EXPECT_THAT(std::string(optimizer_->version()), Not(IsEmpty()));
  const nlohmann::json options = nlohmann::json::parse(optimizer_->options(), nullptr, false);
  ASSERT_TRUE(options.is_object()) << optimizer_->options();
  EXPECT_EQ(options.dump(), optimizer_->options());  // Canonical: sorted, no spaces.
}

TEST_P(OptimizerContract, StartsWithoutTrialsAndWithOne) {
  ExpectLegal(Suggest({}), 1);
  if (space().Cardinality() != 1) ExpectLegal(Suggest(History(1)), 1);
}

TEST_P(OptimizerContract, GivesEqualBitsForEqualArguments) {
  const std::vector<Observation> history = UnfinishedHistory(6);
  const Rng stream = Rng(7).Fork(history.size() + 1);
  const absl::StatusOr<Suggestions> fresh = New()->Suggest(Log(history), {}, "", stream, 2, {});
  ExpectLegal(fresh, 2);
  // What ran before must not matter.
  Suggest({}).IgnoreError();
  ExpectSame(Suggest(history, {}, {}, 2), fresh);
}

TEST_P(OptimizerContract, SurvivesValuesThatAreNoNumbersAndTrialsThatFailed) {
  std::vector<Observation> history = UnfinishedHistory(8);
  const double values[] = {kNan, 1, kInf, -kInf, 2, -1e30, 0.5, 3};
  const Outcome outcomes[] = {Outcome::kCompleted,
                              Outcome::kCompleted,
                              Outcome::kCompleted,
                              Outcome::kCompleted,
                              Outcome::kStoppedEarly,
                              Outcome::kCompleted,
                              Outcome::kFailed,
                              Outcome::kInfeasible};
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].outcome = outcomes[i];
    history[i].values = {values[i]};
    if (i >= 6) history[i].values.clear();
  }
  ExpectLegal(Suggest(history), 1);
}

TEST_P(OptimizerContract, SurvivesTrialsOfWhichNoneHasAValue) {
  std::vector<Observation> history = UnfinishedHistory(4);
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].outcome = i % 2 == 0 ? Outcome::kFailed : Outcome::kInfeasible;
    history[i].values.clear();
  }
  ExpectLegal(Suggest(history), 1);
}

TEST_P(OptimizerContract, SurvivesOutliersAndConstantObjectives) {
  std::vector<Observation> outliers = UnfinishedHistory(6);
  for (std::size_t i = 0; i < outliers.size(); i += 3) outliers[i].values = {i == 0 ? 1e30 : -1e30};
  ExpectLegal(Suggest(outliers), 1);
  std::vector<Observation> constant = UnfinishedHistory(6);
  for (Observation& trial : constant) trial.values = {0.25};
  ExpectLegal(Suggest(constant), 1);
}

TEST_P(OptimizerContract, SurvivesDuplicatesInTheHistory) {
  std::vector<Observation> history = UnfinishedHistory(3);
  const std::vector<Observation> once = history;
  for (int repeat = 1; repeat <= 2; ++repeat) {
    for (Observation trial : once) {
      trial.trial = TrialNumber(std::ssize(history) + 1);
      trial.values[0] += 0.1 * repeat;
      history.push_back(trial);
    }
  }
  ExpectLegal(Suggest(history), 1);
}

TEST_P(OptimizerContract, CountsAStateThatCannotBeReadAsEmpty) {
  const std::vector<Observation> history = UnfinishedHistory(4);
  const absl::StatusOr<Suggestions> expected = Suggest(history);
  ExpectLegal(expected, 1);
  const std::string garbage[] = {
      "garbage", R"({"next":-1,"seed":"x"})", std::string("\0\xff{", 3), std::string(1000, '[')};
  for (const std::string& state : garbage) ExpectSame(Suggest(history, {}, state), expected);
}

TEST_P(OptimizerContract, TakesItsStateWithTrialsThatItDidNotExpect) {
  const absl::StatusOr<Suggestions> early = Suggest(UnfinishedHistory(3));
  ASSERT_THAT(early, IsOk());
  ExpectLegal(Suggest(UnfinishedHistory(5, /*seed=*/2), {}, early->state), 1);
  ExpectLegal(Suggest({}, {}, early->state), 1);
}

TEST_P(OptimizerContract, KeepsABatchDistinctAndAwayFromPendingPoints) {
  const std::vector<Observation> known = History(5);
  std::vector<PendingPoint> pending;
  for (const Observation& trial : known) pending.push_back({trial.trial, trial.point});
  const absl::StatusOr<Suggestions> batch = Suggest({}, pending, {}, 3);
  if (space().Cardinality() && *space().Cardinality() <= std::ssize(pending)) {
    EXPECT_THAT(batch, StatusIs(absl::StatusCode::kOutOfRange));
    return;
  }
  ExpectLegal(batch, 3);
  std::set<Point> points;
  for (const PendingPoint& trial : pending) points.insert(trial.point);
  for (const Suggestion& suggestion : batch->points) {
    EXPECT_TRUE(points.insert(suggestion.point).second) << FormatPoint(suggestion.point);
  }
}

TEST_P(OptimizerContract, ProposesEveryPointOfASmallSpaceOnceAndThenIsOutOfRange) {
  if (!space().Cardinality() || *space().Cardinality() > kSmall) return;
  const std::set<std::string> all = AllFeasibleKeys(space());
  std::set<std::string> proposed;
  std::vector<Observation> finished;
  std::vector<PendingPoint> pending;
  std::string state;
  absl::StatusOr<Suggestions> asked;
  while ((asked = Suggest(finished, pending, state, 2)).ok()) {
    ExpectLegal(asked, 2);
    for (const Suggestion& suggestion : asked->points) {
      EXPECT_TRUE(proposed.insert(space().Key(suggestion.point)).second);
      const TrialNumber trial(std::ssize(proposed));
      if (trial.value() % 3 == 0) pending.push_back({trial, suggestion.point});
      if (trial.value() % 3 != 0) {
        finished.push_back(
            testing::Completed(trial.value(), suggestion.point, std::sin(trial.value())));
      }
    }
    ASSERT_LE(proposed.size(), all.size());
    state = proposed.size() % 4 == 0 ? "" : asked->state;  // A lost state loses no point.
  }
  EXPECT_THAT(asked, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(GetReason(asked.status()), Reason::kSpaceExhausted);
  EXPECT_EQ(proposed, all);
}

TEST_P(OptimizerContract, RefusesAPendingTrialOutsideTheSpace) {
  Point outside = History(1).front().point;
  outside["no such parameter"] = 1.0;
  const PendingPoint pending = {.trial = TrialNumber(1), .point = outside};
  EXPECT_THAT(
      Suggest({}, {pending}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("trial 1 lies outside the space")));
}

TEST_P(OptimizerContract, StopsWhenToldTo) {
  std::stop_source stop;
  stop.request_stop();
  const std::vector<Observation> history = UnfinishedHistory(6);
  EXPECT_THAT(optimizer_->Suggest(Log(history), {}, "", Rng(1), 1, stop.get_token()),
              StatusIs(absl::StatusCode::kCancelled));
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Registered,
    OptimizerContract,
    ::testing::Combine(::testing::ValuesIn(AlgorithmCatalogue::BuiltIn().AlgorithmNames()),
                       ::testing::ValuesIn(AllSpaceCases())),
    CaseName);

}  // namespace
}  // namespace vernier
