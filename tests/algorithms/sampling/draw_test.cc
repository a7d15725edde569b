#include "algorithms/sampling/draw.h"

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/spaces.h"
#include "tests/support/status_matchers.h"

namespace vernier::sampling {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::vernier::testing::AllFeasibleKeys;
using ::vernier::testing::Bool;
using ::vernier::testing::Completed;
using ::vernier::testing::Float;
using ::vernier::testing::Int;
using ::vernier::testing::Log;
using ::vernier::testing::MakeSpace;
using ::vernier::testing::StatusIs;
using ::vernier::testing::When;

const EarlierPoints kNoEarlier;

// Draws until nothing is left, without repeats.
std::set<std::string> DrawAll(const Space& space, Rng rng) {
  TakenPoints taken(space, {}, {}, kNoEarlier);
  std::set<std::string> keys;
  for (;;) {
    const auto point = DrawUntaken(space, taken, rng, {});
    if (!point.ok()) {
      EXPECT_THAT(point, StatusIs(absl::StatusCode::kOutOfRange));
      EXPECT_EQ(GetReason(point.status()), Reason::kSpaceExhausted);
      return keys;
    }
    EXPECT_TRUE(space.Check(*point).ok()) << FormatPoint(*point);
    EXPECT_TRUE(keys.insert(space.Key(*point)).second) << FormatPoint(*point);
    taken.Insert(*point);
  }
}

TEST(DrawUntaken, FindsEveryPointOfASmallSpace) {
  const Space space = MakeSpace({Int("a", 1, 20), When(Int("b", 1, 3), "a", {std::int64_t{7}})});
  EXPECT_EQ(DrawAll(space, Rng(1)), AllFeasibleKeys(space));
}

TEST(DrawUntaken, FindsTheFewPointsThatConstraintsLeave) {
  const Space space = MakeSpace({Int("a", 0, 99), Int("b", 0, 99)}, {"a * b >= 9700"});
  const std::set<std::string> keys = DrawAll(space, Rng(2));
  EXPECT_EQ(keys, AllFeasibleKeys(space));
  EXPECT_THAT(keys, SizeIs(3));
}

TEST(DrawUntaken, FindsTheLastPointsOfASpaceTooLargeToChooseFrom) {
  const Space space = MakeSpace({Int("a", 0, 69'999)}, {"a >= 69990"});
  EXPECT_THAT(DrawAll(space, Rng(3)), SizeIs(10));
}

TEST(DrawUntaken, ChoosesUniformlyAmongWhatIsLeft) {
  const Space space = MakeSpace({Int("a", 0, 1'023)}, {"a >= 1022"});
  std::map<std::int64_t, int> hits;
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    const TakenPoints taken(space, {}, {}, kNoEarlier);
    ASSERT_OK_AND_ASSIGN(const Point point, DrawUntaken(space, taken, rng, {}));
    ++hits[std::get<std::int64_t>(point.at("a"))];
  }
  // Within five standard deviations of their expectation.
  EXPECT_NEAR(hits[1022], 100, 35);
  EXPECT_NEAR(hits[1023], 100, 35);
}

TEST(DrawUntaken, KeepsFindingNewPointsInAContinuousCorner) {
  const Space space =
      MakeSpace({Float("x", 0, 1), Float("y", 0, 1), Float("z", 0, 1)}, {"x + y + z <= 0.001"});
  TakenPoints taken(space, {}, {}, kNoEarlier);
  Rng rng(5);
  std::set<std::string> keys;
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK_AND_ASSIGN(const Point point, DrawUntaken(space, taken, rng, {}));
    EXPECT_TRUE(space.Check(point).ok());
    keys.insert(space.Key(point));
    taken.Insert(point);
  }
  EXPECT_THAT(keys, SizeIs(20));
}

TEST(DrawUntaken, StartsFromKnownPointsWhereOnlyTheyShowTheWay) {
  const Space space = MakeSpace({Float("x", 0, 1), Float("y", 0, 1)},
                                {"x >= 0.31", "x <= 0.33", "y >= 0.31", "y <= 0.33"});
  const std::vector<Observation> finished = {Completed(1, {{"x", 0.32}, {"y", 0.32}}, 1)};
  const TakenPoints taken(space, Log(space, finished), {}, kNoEarlier);
  Rng rng(6);
  // Without that start, two of three draws would find nothing.
  for (int i = 0; i < 30; ++i) {
    ASSERT_OK_AND_ASSIGN(const Point point, DrawUntaken(space, taken, rng, {}));
    EXPECT_TRUE(space.Check(point).ok());
    EXPECT_NE(point, finished[0].point);
  }
}

TEST(DrawUntaken, DoesNotRepeatADiscreteBranchOfAnInfiniteSpace) {
  const Space space = MakeSpace({Bool("tune"), When(Float("x", 0, 1), "tune", {true})});
  const std::vector<PendingPoint> pending = {{TrialNumber(1), {{"tune", false}}}};
  const TakenPoints taken(space, {}, pending, kNoEarlier);
  Rng rng(7);
  for (int i = 0; i < 50; ++i) {
    ASSERT_OK_AND_ASSIGN(const Point point, DrawUntaken(space, taken, rng, {}));
    EXPECT_EQ(point.at("tune"), ParameterValue(true));
  }
}

TEST(DrawUntaken, SaysWhatIsExhausted) {
  const Space space = MakeSpace({Bool("a")});
  TakenPoints taken(space, {}, {}, kNoEarlier);
  taken.Insert({{"a", true}});
  taken.Insert({{"a", false}});
  Rng rng(8);
  EXPECT_THAT(DrawUntaken(space, taken, rng, {}),
              StatusIs(absl::StatusCode::kOutOfRange, "all 2 points of the space were proposed"));
}

TEST(DrawUntaken, StopsWhenToldTo) {
  std::stop_source stop;
  stop.request_stop();
  const Space space = MakeSpace({Int("a", 0, 1'000'000)}, {"a >= 1000000"});
  const TakenPoints taken(space, {}, {}, kNoEarlier);
  Rng rng(9);
  EXPECT_THAT(DrawUntaken(space, taken, rng, stop.get_token()),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(TakenPoints, AnswersTheSameBeforeAndAfterItBuildsItsIndex) {
  const Space space = MakeSpace({Int("a", 0, 9)});
  const std::vector<Observation> finished = {Completed(1, {{"a", std::int64_t{1}}}, 0),
                                             Completed(3, {{"a", std::int64_t{1}}}, 5)};
  const std::vector<PendingPoint> pending = {{TrialNumber(2), {{"a", std::int64_t{2}}}}};
  TakenPoints taken(space, Log(space, finished), pending, kNoEarlier);
  taken.Insert({{"a", std::int64_t{3}}});
  for (int round = 0; round < 5; ++round) {
    for (std::int64_t a = 0; a < 10; ++a) {
      EXPECT_EQ(taken.Contains({{"a", a}}), a >= 1 && a <= 3 + round) << "a = " << a;
    }
    taken.Insert({{"a", std::int64_t{4 + round}}});
  }
  EXPECT_EQ(taken.size(), 8u);
  EXPECT_EQ(taken.size_bound(), 9u);
}

TEST(TakenPoints, RemembersTheNewestPoints) {
  const Space space = MakeSpace({Int("a", 0, 9)});
  const std::vector<Observation> finished = {Completed(1, {{"a", std::int64_t{1}}}, 0)};
  TakenPoints taken(space, Log(space, finished), {}, kNoEarlier);
  taken.Insert({{"a", std::int64_t{3}}});
  taken.Insert({{"a", std::int64_t{4}}});
  EXPECT_THAT(taken.Recent(2),
              ::testing::ElementsAre(Point{{"a", std::int64_t{3}}}, Point{{"a", std::int64_t{4}}}));
  EXPECT_THAT(taken.Recent(9), SizeIs(3));
}

TEST(CheckPending, NamesTheTrialThatLiesOutside) {
  const Space space = MakeSpace({Int("a", 0, 9)});
  const std::vector<PendingPoint> pending = {{TrialNumber(1), {{"a", std::int64_t{1}}}},
                                             {TrialNumber(2), {{"a", std::int64_t{12}}}}};
  EXPECT_THAT(
      CheckPending(space, pending),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("trial 2 lies outside the space")));
  EXPECT_TRUE(CheckPending(space, std::span(pending).first(1)).ok());
}

}  // namespace
}  // namespace vernier::sampling
