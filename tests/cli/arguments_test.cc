#include "src/cli/arguments.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/cli/assignment.h"
#include "src/cli/exit_code.h"
#include "src/cli/hint.h"
#include "src/core/status.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

TEST(OrderBy, TurnsSignsIntoWords) {
  EXPECT_EQ(OrderBy(""), "");
  EXPECT_EQ(OrderBy("-metrics.loss, -number"), "metrics.loss desc, number desc");
}

TEST(OrderBy, KnowsTheObjectiveInEveryPlace) {
  EXPECT_EQ(OrderBy("-objective,number", "loss"), "metrics.loss desc, number");
  EXPECT_EQ(OrderBy("state,objective", "loss"), "state, metrics.loss");
  EXPECT_EQ(OrderBy("objective"), "objective");
}

TEST(ParseBytesFlag, KnowsUnits) {
  EXPECT_EQ(*ParseBytesFlag("--memory", "16GiB"), std::int64_t{16} << 30);
  EXPECT_EQ(*ParseBytesFlag("--memory", "1.5KB"), 1500);
  EXPECT_EQ(*ParseBytesFlag("--memory", "7B"), 7);
  EXPECT_EQ(*ParseBytesFlag("--memory", "17179869184"), std::int64_t{16} << 30);
}
class BadBytesTest : public ::testing::TestWithParam<std::string> {};
TEST_P(BadBytesTest, IsRefused) {
  EXPECT_THAT(ParseBytesFlag("--memory", GetParam()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'" + GetParam() + "'")));
}
INSTANTIATE_TEST_SUITE_P(Table,
                         BadBytesTest,
                         ::testing::Values("", "GiB", "-1GiB", "0", "1XB", "1e30", "nan"));

TEST(ParseBytesFlag, RefusesASmallNumberWithoutAUnit) {
  EXPECT_THAT(ParseBytesFlag("--memory", "5"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--memory: 5 counts bytes; write a size such as 5GiB"));
}

TEST(ParseCountFlag, WantsAWholeNumber) {
  EXPECT_EQ(*ParseCountFlag("--trials", "12"), 12);
  for (const char* text : {"", "0", "-3", "1.5", "12x"}) {
    EXPECT_THAT(ParseCountFlag("--trials", text), StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

Space ExampleSpace() {
  return *Space::Create({{.name = "x", .domain = FloatDomain{.lower = 0, .upper = 1}},
                         {.name = "n", .domain = IntDomain{.lower = 0, .upper = 9}},
                         {.name = "b", .domain = BoolDomain{}},
                         {.name = "k", .domain = CategoricalDomain{{std::int64_t{1}, "two"}}}});
}

TEST(ParsePoint, TakesTypesFromTheSpace) {
  ASSERT_OK_AND_ASSIGN(const Point point,
                       ParsePoint(ExampleSpace(), {"x=1", "n=2", "b=true", "k=1"}));
  EXPECT_EQ(point.at("x"), ParameterValue(1.0));
  EXPECT_EQ(point.at("n"), ParameterValue(std::int64_t{2}));
  EXPECT_EQ(point.at("b"), ParameterValue(true));
  EXPECT_EQ(point.at("k"), ParameterValue(std::int64_t{1}));
}

struct BadPoint {
  std::string text;
  std::string error;
};
class BadPointTest : public ::testing::TestWithParam<BadPoint> {};
TEST_P(BadPointTest, NamesParameterAndValue) {
  EXPECT_THAT(ParsePoint(ExampleSpace(), {GetParam().text}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().error)));
}
INSTANTIATE_TEST_SUITE_P(Table,
                         BadPointTest,
                         ::testing::ValuesIn(std::vector<BadPoint>{
                             {"x", "must be NAME=VALUE, got 'x'"},
                             {"=1", "must be NAME=VALUE, got '=1'"},
                             {"y=1", "no parameter 'y'"},
                             {"x=", "x: must be a number, got ''"},
                             {"x=1x", "x: must be a number, got '1x'"},
                             {"n=1.0", "n: must be an integer, got '1.0'"},
                             {"b=yes", "b: must be true or false, got 'yes'"},
                             {"k=three", "k: has no value 'three'"},
                         }));

struct TimeCase {
  std::string text;
  std::string time;  // As RFC 3339 has it, in UTC.
};
class ParseTimeFlagTest : public ::testing::TestWithParam<TimeCase> {};

// The clock stands at 2023-11-14, 23:13:20, in a zone an hour before UTC.
constexpr std::int64_t kNow = 1'700'000'000;
const absl::TimeZone kZone = absl::FixedTimeZone(60 * 60);

TEST_P(ParseTimeFlagTest, IsAMoment) {
  const absl::Time now = absl::FromUnixSeconds(kNow);
  const auto time = ParseTimeFlag("--since", GetParam().text, now, kZone);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", *time, absl::UTCTimeZone()), GetParam().time);
}

INSTANTIATE_TEST_SUITE_P(Table,
                         ParseTimeFlagTest,
                         ::testing::ValuesIn(std::vector<TimeCase>{
                             {"10m", "2023-11-14T22:03:20Z"},
                             {"1h30m", "2023-11-14T20:43:20Z"},
                             {"01:29", "2023-11-14T00:29:00Z"},
                             {"01:29:30", "2023-11-14T00:29:30Z"},
                             {"00:10", "2023-11-13T23:10:00Z"},
                             {"2023-11-13", "2023-11-12T23:00:00Z"},
                             {"2023-11-13 01:29", "2023-11-13T00:29:00Z"},
                             {"2023-11-13T01:29", "2023-11-13T00:29:00Z"},
                             {"2023-11-13T01:29:30", "2023-11-13T00:29:30Z"},
                             {"2023-11-13T01:29Z", "2023-11-13T01:29:00Z"},
                             {"2023-11-14T23:13:20.5+01:00", "2023-11-14T22:13:20.5Z"},
                         }));

TEST(ParseTimeFlag, SaysWhatItTakes) {
  const absl::Time now = absl::FromUnixSeconds(kNow);
  for (const std::string text :
       {"", "soon", "-10m", "2023-11", "25:00", "2023-13-01", "12345", "infinite-future"}) {
    EXPECT_EQ(ParseTimeFlag("--since", text, now, kZone).status().message(),
              "--since: must be a time such as 10m (before now), 01:29 (today), 2026-11-21 or "
              "2026-11-21T04:12:13Z, got '" +
                  text + "'");
  }
}

TEST(ParseSeverityFlag, ListsTheKnownOnes) {
  EXPECT_EQ(*ParseSeverityFlag("--severity", "warning"), Severity::kWarning);
  EXPECT_EQ(ParseSeverityFlag("--severity", "loud").status().message(),
            "--severity: must be one of debug, info, notice, warning, error, critical, alert, "
            "emergency, got 'loud'");
}

TEST(ExitCodeOf, IsWhatTheGuideSays) {
  EXPECT_EQ(ExitCodeOf(InvalidArgument("x")), ExitCode::kUsage);
  EXPECT_EQ(ExitCodeOf(NotFound("x")), ExitCode::kNotFound);
  EXPECT_EQ(ExitCodeOf(DeadlineExceeded("x")), ExitCode::kTimeout);
  EXPECT_EQ(ExitCodeOf(PermissionDenied("x")), ExitCode::kDenied);
  EXPECT_EQ(ExitCodeOf(Unavailable("x")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeOf(ResourceExhausted("the disk is full")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeOf(WithReason(ResourceExhausted("x"), Reason::kBudgetSpent)), ExitCode::kUsage);
  EXPECT_EQ(ExitCodeOf(Internal("x")), ExitCode::kFailed);
}

TEST(Hint, TheFirstOneStays) {
  const absl::Status status = WithHint(WithHint(NotFound("x"), "first"), "second");
  EXPECT_EQ(HintOf(status), "first");
  EXPECT_EQ(HintOf(NotFound("x")), "");
  EXPECT_NE(HintOf(WithReason(NotFound("x"), Reason::kStudyNotFound)), "");
}

}  // namespace
}  // namespace vernier::cli
