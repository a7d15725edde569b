#include "src/base/log.h"

#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vernier/core/clock.h"

namespace vernier::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { SetLogLevel(LogLevel::kInfo); }

  static std::string Logged(LogLevel level, std::initializer_list<LogField> fields = {}) {
    ::testing::internal::CaptureStderr();
    Log(level, "trial finished", fields);
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, WritesOneLineWithItsFields) {
  EXPECT_THAT(Logged(LogLevel::kInfo, {{"study", "digits"}, {"trial", 7}}),
              EndsWith("info trial finished study=digits trial=7\n"));
  EXPECT_THAT(Logged(LogLevel::kError), EndsWith("error trial finished\n"));
  EXPECT_THAT(Logged(LogLevel::kWarning), HasSubstr(" warn"));
}

TEST_F(LogTest, QuotesWhatWouldBreakTheLine) {
  EXPECT_THAT(Logged(LogLevel::kInfo, {{"message", "two\nlines"}, {"empty", ""}, {"eq", "a=b"}}),
              EndsWith(R"( message="two\nlines" empty="" eq="a=b")"
                       "\n"));
}

TEST_F(LogTest, DropsWhatIsBelowTheLevel) {
  EXPECT_EQ(Logged(LogLevel::kDebug), "");
  SetLogLevel(LogLevel::kDebug);
  EXPECT_THAT(Logged(LogLevel::kDebug), HasSubstr("debug trial finished"));
  SetLogLevel(LogLevel::kOff);
  EXPECT_EQ(Logged(LogLevel::kError), "");
}

TEST(RealClock, TellsTheTime) {
  const absl::Time before = absl::Now();
  const absl::Time now = NewRealClock()->Now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, absl::Now());
}

}  // namespace
}  // namespace vernier::base
