#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/wire/select.h"

namespace vernier::wire {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::StatusIs;

Trial MakeTrial(int number, TrialState state, double accuracy, const std::string& optimizer) {
  Trial trial;
  trial.number = TrialNumber(number);
  trial.state = state;
  trial.point = {{"optimizer", optimizer}, {"lr", 0.1 * number}, {"width", std::int64_t{number}}};
  trial.created = absl::FromUnixSeconds(1'000 * number);
  if (state == TrialState::kCompleted) trial.final_metrics = {{"accuracy", accuracy}};
  if (state == TrialState::kRunning) {
    trial.last = Measurement{.step = 1, .metrics = {{"accuracy", accuracy}}, .source = "client"};
  }
  if (state == TrialState::kFailed) {
    trial.failure = FailureClass::kOutOfMemory;
    trial.message = "the worker ran Out Of Memory";
  }
  if (number >= 4) {  // Only one of them has completed.
    trial.stop = StopRecord{.rule = "median", .version = "1", .numbers = {}, .explanation = ""};
  }
  return trial;
}

std::vector<Trial> Trials() {
  return {MakeTrial(1, TrialState::kCompleted, 0.9, "adam"),
          MakeTrial(2, TrialState::kFailed, 0, "sgd"),
          MakeTrial(3, TrialState::kCompleted, 0.95, "sgd"),
          MakeTrial(4, TrialState::kRunning, 0.5, "adam"),
          MakeTrial(5, TrialState::kCompleted, std::nan(""), "adam"),
          MakeTrial(6, TrialState::kRequested, 0, "sgd")};
}

struct QueryCase {
  std::string name;
  std::string filter;
  std::string order_by;
  std::vector<int> numbers;
};

class QueryTest : public ::testing::TestWithParam<QueryCase> {};

TEST_P(QueryTest, SelectsAndOrders) {
  ASSERT_OK_AND_ASSIGN(const auto trials,
                       SelectTrials(Trials(), GetParam().filter, GetParam().order_by));
  std::vector<int> numbers;
  for (const Trial& trial : trials) numbers.push_back(static_cast<int>(trial.number.value()));
  EXPECT_THAT(numbers, ElementsAreArray(GetParam().numbers));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    QueryTest,
    ::testing::Values(
        QueryCase{"Everything", "", "", {1, 2, 3, 4, 5, 6}},
        QueryCase{"State", "state = COMPLETED", "", {1, 3, 5}},
        QueryCase{"NotEqual", "state != COMPLETED", "", {2, 4, 6}},
        QueryCase{"MetricOfFinishedAndRunning", "metrics.accuracy >= 0.5", "", {1, 3, 4}},
        QueryCase{"NumberBounds", "number > 1 AND number <= 3", "", {2, 3}},
        QueryCase{"Beside", "number > 1 number <= 3", "", {2, 3}},
        QueryCase{"Text", "parameters.optimizer = \"adam\"", "", {1, 4, 5}},
        QueryCase{"ParameterNumber", "parameters.lr < 0.25", "", {1, 2}},
        QueryCase{"OrBindsTighter", "number = 1 OR number = 2 AND state = FAILED", "", {2}},
        QueryCase{"Parentheses", "number = 1 OR (number = 2 AND state = FAILED)", "", {1, 2}},
        QueryCase{"Not", "NOT state = COMPLETED", "", {2, 4, 6}},
        QueryCase{"Minus", "-(state = COMPLETED OR state = FAILED)", "", {4, 6}},
        QueryCase{"NegativeValue", "metrics.accuracy > -1 AND number < 3", "", {1}},
        QueryCase{"Contains", "message : 'out of memory'", "", {2}},
        QueryCase{"BeginsWith", "message : 'The Worker*'", "", {2}},
        QueryCase{"BeginsWithIsNotContains", "message : worker*", "", {}},
        QueryCase{"StarElsewhereIsText", "message : 'the*worker'", "", {}},
        QueryCase{"StateInAnyCase", "state : completed", "", {1, 3, 5}},
        QueryCase{"StatesThatBeginWith", "state : R*", "", {4, 6}},
        QueryCase{"Presence", "metrics.accuracy : *", "", {1, 3, 4, 5}},
        QueryCase{"Failure", "failure = OUT_OF_MEMORY", "", {2}},
        QueryCase{"FailureOfTheWire", "failure != INFEASIBLE_POINT", "", {2}},
        QueryCase{"Stopped", "stopped", "", {5}},
        QueryCase{"StoppedCompared", "stopped = false AND state = COMPLETED", "", {1, 3}},
        QueryCase{"NotStopped", "-stopped AND state = COMPLETED", "", {1, 3}},
        QueryCase{"StoppedAmongOthers", "(stopped) OR number = 1 state = COMPLETED", "", {1, 5}},
        QueryCase{"Time", "create_time >= '1970-01-01T01:06:40Z'", "", {4, 5, 6}},
        QueryCase{"AbsentNeverHolds", "metrics.loss < 1 OR metrics.loss >= 1", "", {}},
        QueryCase{"OtherKindDiffers", "parameters.lr != low AND number < 3", "", {1, 2}},
        QueryCase{"OrderDescending", "", "number desc", {6, 5, 4, 3, 2, 1}},
        QueryCase{"OrderLeavesAbsentLast", "", "metrics.accuracy desc", {3, 1, 4, 2, 5, 6}},
        QueryCase{"OrderByTwo", "", "parameters.optimizer, number desc", {5, 4, 1, 6, 3, 2}}),
    [](const auto& row) { return row.param.name; });

struct BadQueryCase {
  std::string name;
  std::string filter;
  std::string order_by;
  std::string error;
};

class BadQueryTest : public ::testing::TestWithParam<BadQueryCase> {};

TEST_P(BadQueryTest, IsExplained) {
  EXPECT_THAT(SelectTrials(Trials(), GetParam().filter, GetParam().order_by),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().error)));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadQueryTest,
    ::testing::Values(
        BadQueryCase{
            "Column", "colour = red", "", "filter: unknown column 'colour', known are number"},
        BadQueryCase{"EmptyName", "metrics. > 1", "", "unknown column 'metrics.'"},
        BadQueryCase{"Number", "number > many", "", "'number' needs a number, got 'many'"},
        BadQueryCase{
            "State", "state = DONE", "", "'state' needs one of REQUESTED, QUEUED, PREPARING"},
        BadQueryCase{"StatePrefix", "state : X*", "", "INFEASIBLE, CANCELLED, got 'X*'"},
        BadQueryCase{"StateCase", "state = completed", "", "CANCELLED, got 'completed'"},
        BadQueryCase{"StoppedIsNoState", "state = STOPPED", "", "the filter 'stopped' selects"},
        BadQueryCase{"Failure", "failure = OOM", "", "'failure' needs one of NONE, USER_ERROR"},
        BadQueryCase{"Bool", "stopped = early", "", "'stopped' needs one of true, false, got"},
        BadQueryCase{"Time", "create_time > noon", "", "'create_time' needs a quoted time"},
        BadQueryCase{"NoComparison", "number", "", "expected a comparison after 'number'"},
        BadQueryCase{"NoValue", "number =", "", "expected a value at character 9, got the end"},
        BadQueryCase{"NoColumn", "= 1", "", "expected a column at character 1, got '='"},
        BadQueryCase{"OpenParenthesis", "(number = 1", "", "expected ')'"},
        BadQueryCase{"CloseParenthesis", "number = 1)", "", "expected the end at character 11"},
        BadQueryCase{"Quote", "message = 'half", "", "the quote at character 11 is not closed"},
        BadQueryCase{"PartOfABool", "stopped : tr*", "", "'stopped' needs one of true, false, got"},
        BadQueryCase{"AndAtBegin", "AND number = 1", "", "expected a column"},
        BadQueryCase{"AndAtEnd", "number = 1 AND", "", "expected a column"},
        BadQueryCase{"Deep", std::string(200, '('), "", "nested deeper than 32"},
        BadQueryCase{"Long", std::string(5000, 'a'), "", "is 5000 characters long"},
        BadQueryCase{"OrderColumn", "", "colour", "order_by: unknown column 'colour'"},
        BadQueryCase{
            "OrderDirection", "", "number down", "must be followed by asc or desc, got 'down'"},
        BadQueryCase{"OrderEmptyTerm", "", "number,,state", "expected a column"}),
    [](const auto& row) { return row.param.name; });

TEST(FilterAlternatives, AreWhatEveryMatchingRowMustEqualOneOf) {
  const auto states = [](const std::string& text) {
    return Filter::Parse(text, TrialColumnSet())->Alternatives("state");
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(states("state = FAILED"), Texts({"FAILED"}));
  EXPECT_EQ(states("state = FAILED OR state = RUNNING"), Texts({"FAILED", "RUNNING"}));
  EXPECT_EQ(states("number > 3 AND (state = FAILED OR state = RUNNING)"),
            Texts({"FAILED", "RUNNING"}));
  for (const char* text : {"",
                           "number > 3",
                           "state != FAILED",
                           "NOT state = FAILED",
                           "state = FAILED OR number > 3",
                           "state : *"}) {
    EXPECT_EQ(states(text), std::nullopt) << text;
  }
}

TEST(StudyQuery, KnowsColumnsOfStudies) {
  Study digits;
  digits.spec.name = "digits";
  digits.trials = 3;
  Study letters;
  letters.spec.name = "letters";
  letters.state = StudyState::kCompleted;
  ASSERT_OK_AND_ASSIGN(const auto few, SelectStudies({digits, letters}, "trial_count > 2", ""));
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(few[0].spec.name, "digits");
  const std::string done(StudyStateName(StudyState::kCompleted));
  ASSERT_OK_AND_ASSIGN(const auto ended, SelectStudies({digits, letters}, "state = " + done, ""));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].spec.name, "letters");
  ASSERT_OK_AND_ASSIGN(const auto wire_name,
                       SelectStudies({digits, letters}, "state = STUDY_COMPLETED", ""));
  ASSERT_EQ(wire_name.size(), 1U);
  EXPECT_EQ(wire_name[0].spec.name, "letters");
}

TEST(StudyQuery, SelectsByLabel) {
  std::vector<Study> studies(3);
  studies[0].spec.name = "a";
  studies[0].spec.labels = {{"team", "vision"}, {"owner", "ann"}};
  studies[1].spec.name = "b";
  studies[1].spec.labels = {{"team", "speech"}};
  studies[2].spec.name = "c";
  const auto names = [&](const std::string& filter) {
    std::string text;
    const std::vector<Study> selected = SelectStudies(studies, filter, "").value();
    for (const Study& study : selected) text += study.spec.name;
    return text;
  };
  EXPECT_EQ(names("labels.team = vision"), "a");
  EXPECT_EQ(names("labels.team = vision OR labels.team = speech"), "ab");
  EXPECT_EQ(names("labels.owner = ann AND labels.team = speech"), "");
}

TEST(Filter, SaysInWhatRangeANumberMustBe) {
  const auto range = [](const char* text) -> std::optional<std::pair<double, double>> {
    const auto found = Filter::Parse(text, TrialColumnSet())->RangeOf("metrics.loss");
    if (!found.has_value()) return std::nullopt;
    return std::pair(found->least, found->most);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(range("metrics.loss > 0.5"), std::pair(0.5, infinity));
  EXPECT_EQ(range("metrics.loss <= 0.5 AND state = FAILED"), std::pair(-infinity, 0.5));
  EXPECT_EQ(range("metrics.loss < 3 AND (number > 1 AND metrics.loss >= 1)"), std::pair(1.0, 3.0));
  EXPECT_EQ(range("metrics.loss = 2"), std::pair(2.0, 2.0));
  for (const char* text : {"",
                           "metrics.loss != 2",
                           "metrics.loss : *",
                           "metrics.other > 2",
                           "NOT metrics.loss > 2",
                           "metrics.loss > 2 OR number = 1"}) {
    EXPECT_EQ(range(text), std::nullopt) << text;
  }
}

TEST(Order, KeysCompareAsTheCellsDo) {
  const double infinity = std::numeric_limits<double>::infinity();
  // In order; those in a row of their own are equal.
  const std::vector<std::vector<Cell>> ascending = {{false},
                                                    {true},
                                                    {-infinity},
                                                    {-1e300},
                                                    {-1.5},
                                                    {-1e-300},
                                                    {0.0, -0.0},
                                                    {1e-300},
                                                    {2.0},
                                                    {infinity},
                                                    {std::string()},
                                                    {std::string("a")},
                                                    {std::string("a\0", 2)},
                                                    {std::string("a\0b", 3)},
                                                    {std::string("a\1")},
                                                    {std::string("ab")},
                                                    {std::string("\xC3\xA9")},
                                                    {absl::FromUnixSeconds(-5)},
                                                    {absl::FromUnixSeconds(5)},
                                                    {Cell(), std::nan("")}};
  const auto order = Order::Parse("number", TrialColumnSet());
  const auto reversed = Order::Parse("number desc", TrialColumnSet());
  const auto key = [](const auto& by, const Cell& cell) {
    return by->Key([&](std::string_view) { return cell; });
  };
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (const Cell& a : ascending[i]) {
      EXPECT_EQ(key(order, a), key(order, ascending[i].front())) << i;
      if (i + 1 == ascending.size()) continue;
      EXPECT_LT(key(order, a), key(order, ascending[i + 1].front())) << i;
      const bool is_last = i + 2 == ascending.size();  // Without a value is last either way.
      const std::string next = key(reversed, ascending[i + 1].front());
      EXPECT_EQ(is_last, key(reversed, a) < next) << i;
    }
  }
  const std::string text(5000, 'x');
  EXPECT_LE(key(order, text).size(), 260U);
}

}  // namespace
}  // namespace vernier::wire
