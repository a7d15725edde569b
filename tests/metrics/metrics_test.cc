#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/output_segments.h"
#include "src/metrics/hypertune_file.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"
#include "vernier/metric_reader.h"

namespace vernier::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::StatusIs;

// What cloudml-hypertune 0.1.0.dev6 wrote.
constexpr char kRecorded[] =
    R"({"accuracy": "0.30000000000000004", "checkpoint_path": "", "global_step": "300", "timestamp": 1795227342.647069, "trial": "7"})"
    "\n"
    R"({"checkpoint_path": "", "global_step": "0", "loss": "nan", "timestamp": 1795227342.6556761, "trial": "7"})"
    "\n"
    R"({"checkpoint_path": "", "global_step": "5", "timestamp": 1795227343.5, "training/hptuning/metric": "1e-05", "trial": "7"})"
    "\n";

std::string ReportLine(int step) {
  return fmt::format(
      R"({{"accuracy": "{}", "checkpoint_path": "", "global_step": "{}", "timestamp": {}.25, "trial": "1"}})"
      "\n",
      step / 1000.0,
      step,
      1'800'000'000 + step);
}

std::string LogText(int second, const std::string& text) {
  return absl::FormatTime(
             "%Y-%m-%dT%H:%M:%S", absl::UnixEpoch() + absl::Seconds(second), absl::UTCTimeZone()) +
         ".000000Z O " + text + "\n";
}

class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-metrics-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    gang_.replicas.push_back(
        {.metric_file = folder_ + "/hypertune.metrics", .log_file = folder_ + "/output.log"});
    spec_.objectives = {{.metric = "accuracy"}};
  }
  ~MetricsTest() override { std::filesystem::remove_all(folder_); }

  void Rewrite(const std::string& text) const {
    std::ofstream(gang_.replicas[0].metric_file, std::ios::trunc) << text;
  }
  void Print(const std::string& text) const {
    std::ofstream(gang_.replicas[0].log_file, std::ios::app) << text;
  }
  // A segment of the output that begins at that byte of it.
  void PrintFrom(std::size_t begin, const std::string& text) const {
    const std::string& first = gang_.replicas[0].log_file;
    std::ofstream(launch::SegmentPath(first, static_cast<std::int64_t>(begin))) << text;
  }
  std::unique_ptr<MetricReader> NewReader() const {
    auto reader = NewMetricReader(spec_, trial_, gang_);
    EXPECT_THAT(reader, IsOk());
    return *std::move(reader);
  }

  // As the engine reads what a program has left behind: until there is nothing more.
  static std::vector<Measurement> ReadAll(MetricReader& reader) {
    auto read = reader.Finish();
    EXPECT_THAT(read, IsOk());
    return read.ok() ? *read : std::vector<Measurement>();
  }
  std::vector<Measurement> ReadAll() const { return ReadAll(*NewReader()); }
  std::string folder_;
  StudySpec spec_;
  Trial trial_;
  GangProgram gang_;
};

TEST(ParseHypertune, ReadsWhatThePackageWrites) {
  const std::vector<Measurement> read = ParseHypertune(kRecorded, "accuracy");
  ASSERT_THAT(read, SizeIs(3));
  EXPECT_EQ(read[0].step, 300);
  EXPECT_EQ(read[0].source, "hypertune");
  EXPECT_EQ(read[0].time, absl::FromUnixMicros(1795227342647069));
  EXPECT_THAT(read[0].metrics, ElementsAre(Pair("accuracy", 0.30000000000000004)));
  EXPECT_EQ(read[1].step, 0);
  EXPECT_TRUE(std::isnan(read[1].metrics.at("loss")));
  // A report without a name is of the objective.
  EXPECT_THAT(read[2].metrics, ElementsAre(Pair("accuracy", 1e-05)));
}

TEST(ParseHypertune, MakesSenseOfEveryPrefix) {
  const std::string whole = kRecorded;
  const std::vector<Measurement> all = ParseHypertune(whole, "accuracy");
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::string part = whole.substr(0, length);
    const std::vector<Measurement> read = ParseHypertune(part, "accuracy");
    ASSERT_EQ(read.size(), static_cast<std::size_t>(std::ranges::count(part, '\n'))) << length;
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].time, all[i].time);
  }
}

TEST(ParseHypertune, LeavesOutLinesThatAreNoReports) {
  for (const std::string line : {"",
                                 "accuracy=0.5",
                                 "[1]",
                                 R"({"accuracy": "0.5"})",
                                 R"({"accuracy": "high", "timestamp": 1.5})",
                                 R"({"global_step": "1", "timestamp": 1.5, "trial": "1"})",
                                 R"({"accuracy": "0.5", "timestamp": "soon"})"}) {
    EXPECT_THAT(ParseHypertune(line + "\n", "accuracy"), IsEmpty()) << line;
  }
}

TEST_F(MetricsTest, EachReportIsReadOnceThoughTheFileKeepsIt) {
  const auto reader = NewReader();
  EXPECT_THAT(reader->Read().value(), IsEmpty());  // No file yet.
  Rewrite(ReportLine(1));
  EXPECT_THAT(reader->Read().value(), SizeIs(1));
  EXPECT_THAT(reader->Read().value(), IsEmpty());
  Rewrite("");  // Caught in the middle of a rewrite.
  EXPECT_THAT(reader->Read().value(), IsEmpty());
  Rewrite(ReportLine(1) + ReportLine(2));
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> read, reader->Read());
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].step, 2);
  // Another reader, as after a restart, starts from the beginning.
  EXPECT_THAT(NewReader()->Read().value(), SizeIs(2));
}

TEST_F(MetricsTest, EqualStepsAndMetricsAtOtherTimesAreOtherReports) {
  const std::string first = ReportLine(1);
  std::string again = first;
  again.replace(again.find(".25,"), 4, ".75,");
  const auto reader = NewReader();
  Rewrite(first + again);
  EXPECT_THAT(reader->Read().value(), SizeIs(2));
}

TEST_F(MetricsTest, NothingIsMissedOfAFileThatIsRewrittenAtEachReport) {
  constexpr int kReports = 400;
  const pid_t writer = fork();
  if (writer == 0) {  // As the package does: the last 100 lines, in place, without a lock.
    std::deque<std::string> kept;
    for (int step = 1; step <= kReports; ++step) {
      kept.push_back(ReportLine(step));
      if (kept.size() > 100) kept.pop_front();
      std::ofstream file(gang_.replicas[0].metric_file, std::ios::trunc);
      for (const std::string& line : kept) file << line << std::flush;
      file.close();
      usleep(200);
    }
    _exit(0);
  }
  const auto reader = NewReader();
  std::map<std::int64_t, double> read;
  const auto take = [&] {
    ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> fresh, reader->Read());
    for (const Measurement& each : fresh) {
      EXPECT_TRUE(read.emplace(each.step, each.metrics.at("accuracy")).second) << each.step;
    }
  };
  while (waitpid(writer, nullptr, WNOHANG) == 0) take();
  take();
  EXPECT_THAT(read, SizeIs(kReports));
  for (const auto& [step, value] : read) EXPECT_EQ(value, static_cast<double>(step) / 1000.0);
}

TEST_F(MetricsTest, AFolderInPlaceOfTheFileIsNoReport) {
  std::filesystem::create_directory(gang_.replicas[0].metric_file);
  EXPECT_THAT(NewReader()->Read().value(), IsEmpty());
}

TEST_F(MetricsTest, AnExpressionFindsValuesAndCountsSteps) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex,
                               .text = R"(val_acc=([0-9.eE+-]+))"};
  Print(LogText(1, "start") + LogText(2, "val_acc=0.5") + LogText(3, "val_acc=..") +
        LogText(4, "epoch 2 val_acc=7e-1 done"));
  const auto reader = NewReader();
  const std::vector<Measurement> read = ReadAll(*reader);
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].step, 1);
  EXPECT_EQ(read[0].time, absl::UnixEpoch() + absl::Seconds(2));
  EXPECT_EQ(read[0].source, "log");
  EXPECT_EQ(read[1].step, 2);
  EXPECT_THAT(read[1].metrics, ElementsAre(Pair("accuracy", 0.7)));
  EXPECT_THAT(reader->UnmatchedLines(), ElementsAre("start", "val_acc=.."));
}

TEST_F(MetricsTest, AGroupNamedStepGivesTheStepWhereverItStands) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex,
                               .text = R"(step (?P<step>\d+): acc (\S+))"};
  spec_.metrics["loss"] = {.kind = MetricSourceKind::kRegex,
                           .text = R"(loss (\S+) at (?P<step>\d+))"};
  Print(LogText(1, "step 40: acc 0.5 loss high at 40") + LogText(2, "loss inf at 50"));
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].step, 40);
  EXPECT_THAT(read[0].metrics, ElementsAre(Pair("accuracy", 0.5)));
  EXPECT_EQ(read[1].step, 50);
  EXPECT_TRUE(std::isinf(read[1].metrics.at("loss")));
}

TEST_F(MetricsTest, MetricsOfOneLineAndStepAreOneMeasurement) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex, .text = "acc=([0-9.]+)"};
  spec_.metrics["loss"] = {.kind = MetricSourceKind::kRegex, .text = "loss=([0-9.]+)"};
  Print(LogText(1, "acc=0.5 loss=2"));
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_THAT(read[0].metrics, ElementsAre(Pair("accuracy", 0.5), Pair("loss", 2)));
}

TEST_F(MetricsTest, ALineThatIsNotCompleteIsReadLater) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex, .text = "acc=([0-9.]+)"};
  const std::string line = LogText(1, "acc=0.51");
  const auto reader = NewReader();
  Print(line.substr(0, line.size() - 2));
  EXPECT_THAT(reader->Read().value(), IsEmpty());
  Print(line.substr(line.size() - 2));
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> read, reader->Read());
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].metrics.at("accuracy"), 0.51);
}

TEST_F(MetricsTest, OutputIsFollowedFromSegmentToSegment) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex, .text = "acc=([0-9.]+)"};
  const auto reader = NewReader();
  Print(LogText(1, "acc=0.1"));
  EXPECT_THAT(reader->Read().value(), SizeIs(1));
  Print(LogText(2, "acc=0.2"));
  PrintFrom(2 * LogText(1, "acc=0.1").size(), LogText(3, "acc=0.3"));
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> read, reader->Read());
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].step, 2);
  EXPECT_THAT(read[0].metrics, ElementsAre(Pair("accuracy", 0.2)));
  EXPECT_EQ(read[1].step, 3);
  EXPECT_THAT(reader->Read().value(), IsEmpty());
}

// As after a restart, when the middle of the output is gone: nothing is reported a second time under another step.
TEST_F(MetricsTest, CountedStepsGoOnBehindWhatIsNotKept) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex, .text = "acc=([0-9.]+)"};
  trial_.last = Measurement{.step = 7,
                            .time = absl::UnixEpoch() + absl::Seconds(100),
                            .metrics = {{"accuracy", 0.7}},
                            .source = "log"};
  Print(LogText(1, "acc=0.1"));
  PrintFrom(1'000'000, LogText(99, "acc=0.6") + LogText(100, "acc=0.7") + LogText(101, "acc=0.8"));
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].step, 1);
  EXPECT_EQ(read[1].step, 8);
  EXPECT_THAT(read[1].metrics, ElementsAre(Pair("accuracy", 0.8)));
}

TEST_F(MetricsTest, ReportsAndOutputComeTogetherByTime) {
  spec_.metrics["loss"] = {.kind = MetricSourceKind::kRegex, .text = "loss=([0-9.]+)"};
  Print(LogText(10, "loss=1") + LogText(2'000'000'000, "loss=2"));
  Rewrite(ReportLine(1));
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(3));
  EXPECT_EQ(read[0].source, "log");
  EXPECT_EQ(read[1].source, "hypertune");
  EXPECT_EQ(read[2].source, "log");
}

TEST_F(MetricsTest, KeepsTheLastLinesThatHeldNoMetric) {
  for (int i = 1; i <= 30; ++i) Print(LogText(i, "line " + std::to_string(i)));
  Print(LogText(31, std::string(5000, 'x')));
  const auto reader = NewReader();
  EXPECT_THAT(reader->Read().value(), IsEmpty());
  const std::vector<std::string> lines = reader->UnmatchedLines();
  ASSERT_THAT(lines, SizeIs(20));
  EXPECT_EQ(lines.front(), "line 12");
  EXPECT_EQ(lines.back().size(), 400U);
}

struct RegexCase {
  std::string regex;
  std::string error;
};
class RefusedRegexTest : public ::testing::TestWithParam<RegexCase> {};

TEST_P(RefusedRegexTest, NamesTheMetric) {
  StudySpec spec{.objectives = {{.metric = "accuracy"}}};
  spec.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex, .text = GetParam().regex};
  const absl::Status status = ValidateMetricSources(spec);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, Eq(GetParam().error)));
  EXPECT_EQ(GetField(status), "metrics.accuracy.regex");
  EXPECT_EQ(NewMetricReader(spec, Trial(), {.replicas = {{}}}).status(), status);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions,
    RefusedRegexTest,
    ::testing::Values(
        RegexCase{"acc=([0-9",
                  "metrics.accuracy.regex: 'acc=([0-9' does not compile: missing ]: [0-9"},
        RegexCase{"acc=.*",
                  "metrics.accuracy.regex: 'acc=.*' must have a group for the value, as in 'loss "
                  "is (\\S+)'; for a number behind a text, after: 'loss=' does without"},
        RegexCase{
            R"(at (?P<step>\d+))",
            R"(metrics.accuracy.regex: 'at (?P<step>\d+)' must have a group for the value, )"
            R"(as in 'loss is (\S+)'; for a number behind a text, after: 'loss=' does without)"}));

}  // namespace
}  // namespace vernier::metrics
