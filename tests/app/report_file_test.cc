#include "src/app/report_file.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/gang/gang_records.h"
#include "src/metrics/hypertune_file.h"
#include "tests/support/status_matchers.h"

namespace vernier::app {
namespace {

using testing::IsOk;
using testing::StatusIs;

class ReportFileTest : public ::testing::Test {
 protected:
  ReportFileTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-report-XXXXXX").string();
    attempt_ = mkdtemp(pattern.data());
    file_ = {.path = attempt_ + "/chief-0/hypertune.metrics", .attempt = attempt_};
    std::filesystem::create_directories(attempt_ + "/chief-0");
  }
  ~ReportFileTest() override {
    std::error_code error;
    std::filesystem::remove_all(attempt_, error);
    for (const char* name :
         {"VERNIER_ADDRESS", "VERNIER_REPLICA_DIRECTORY", "CLOUD_ML_HP_METRIC_FILE"}) {
      unsetenv(name);
    }
  }
  std::vector<Measurement> Read() const {
    std::ifstream file(file_.path);
    const std::string contents{std::istreambuf_iterator<char>(file), {}};
    return metrics::ParseHypertune(contents, "");
  }

  std::string attempt_;
  ReportFile file_;
};

TEST_F(ReportFileTest, AppendsWhatTheServersReaderReads) {
  const absl::Time time = absl::FromUnixMicros(1'700'000'000'250'000);
  const Measurement first{.step = 7, .time = time, .metrics = {{"acc", 0.1}, {"loss", NAN}}};
  EXPECT_EQ(AppendReport(file_, first).value(), "");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      AppendReport(file_, {.step = -1, .time = time, .metrics = {{"acc", -infinity}}}).value(), "");
  const std::vector<Measurement> read = Read();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].step, 7);
  EXPECT_EQ(read[0].time, time);
  EXPECT_EQ(read[0].metrics.at("acc"), 0.1);
  EXPECT_TRUE(std::isnan(read[0].metrics.at("loss")));
  EXPECT_EQ(read[1].step, 8) << "the one after the last";
  EXPECT_EQ(read[1].metrics.at("acc"), -infinity);
}

TEST_F(ReportFileTest, StartsWithTheFirstStep) {
  EXPECT_THAT(AppendReport(file_, {.step = -1, .metrics = {{"acc", 1}}}), IsOk());
  ASSERT_EQ(Read().size(), 1U);
  EXPECT_EQ(Read()[0].step, 1);
}

TEST_F(ReportFileTest, SaysThatTheProgramShouldStop) {
  ASSERT_THAT(launch::WriteGangEnd(attempt_, {.state = AttemptState::kStopped}), IsOk());
  EXPECT_EQ(AppendReport(file_, {.step = 1, .metrics = {{"acc", 1}}}).value(),
            "the trial is being stopped");
  EXPECT_EQ(Read().size(), 1U) << "the report counts all the same";
}

TEST_F(ReportFileTest, SaysWhenItIsNotStored) {
  std::filesystem::remove_all(attempt_ + "/chief-0");
  EXPECT_THAT(AppendReport(file_, {.step = 1, .metrics = {{"acc", 1}}}),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ReportFileTest, IsFoundWhereNoServerIs) {
  EXPECT_FALSE(FindReportFile().has_value());
  setenv("VERNIER_REPLICA_DIRECTORY", "/shared/s/trial-1/attempt-1/chief-0", 1);
  EXPECT_FALSE(FindReportFile().has_value());
  setenv("CLOUD_ML_HP_METRIC_FILE", "/shared/s/trial-1/attempt-1/chief-0/hypertune.metrics", 1);
  ASSERT_TRUE(FindReportFile().has_value());
  EXPECT_EQ(FindReportFile()->attempt, "/shared/s/trial-1/attempt-1");
  setenv("VERNIER_ADDRESS", "unix:/run/report.sock", 1);
  EXPECT_FALSE(FindReportFile().has_value());
}

}  // namespace
}  // namespace vernier::app
