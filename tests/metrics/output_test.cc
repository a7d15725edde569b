#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/metrics/output_reader.h"
#include "src/metrics/wanted_metric.h"
#include "tests/support/status_matchers.h"
#include "vernier/metric_reader.h"

// From lines of output to measurements.
namespace vernier::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pair;
using ::testing::SizeIs;

struct Line {
  double seconds;
  std::string text;
};

class OutputTest : public ::testing::Test {
 protected:
  // "3: accuracy=0.5 loss=2" for each measurement.
  std::vector<std::string> Collect(const std::vector<Line>& lines) {
    std::vector<WantedMetric> wanted = WantedMetrics(spec_);
    sightings_ = std::make_unique<Sightings>(wanted);
    auto matcher = LineMatcher::Create(wanted);
    EXPECT_THAT(matcher, IsOk());
    LineCollector collector(*std::move(matcher), *sightings_);
    std::vector<Measurement> found;
    for (const Line& line : lines) {
      collector.Take(absl::UnixEpoch() + absl::Seconds(line.seconds), line.text, found);
    }
    collector.Flush(found);
    std::vector<std::string> texts;
    for (const Measurement& measurement : found) {
      std::string text = fmt::format("{}:", measurement.step);
      for (const auto& [name, value] : measurement.metrics)
        text += fmt::format(" {}={}", name, value);
      texts.push_back(std::move(text));
    }
    return texts;
  }

  StudySpec spec_{.objectives = {{.metric = "accuracy"}}};
  std::unique_ptr<Sightings> sightings_;
};

TEST_F(OutputTest, AProgressBarCountsWithItsLastState) {
  EXPECT_THAT(Collect({{0, "accuracy=0.1\r"}, {0.1, "accuracy=0.2\r"}, {0.2, "accuracy=0.3"}}),
              ElementsAre("1: accuracy=0.3"));
  // As one fused line, which an earlier supervisor kept.
  EXPECT_THAT(Collect({{0, "accuracy=0.1\raccuracy=0.2\raccuracy=0.3"}}),
              ElementsAre("1: accuracy=0.3"));
}

TEST_F(OutputTest, OfABarThatMovesForLongOneStateASecondCounts) {
  std::vector<Line> lines;
  for (int i = 0; i <= 30; ++i) {
    lines.push_back({i / 10.0, fmt::format("{}/99 [00:0{}, accuracy={}]\r", i, i / 10, i / 100.0)});
  }
  EXPECT_THAT(
      Collect(lines),
      ElementsAre(
          "9: accuracy=0.09", "19: accuracy=0.19", "29: accuracy=0.29", "30: accuracy=0.3"));
}

TEST_F(OutputTest, EpochsThatTheLineNamesAreKeptHoweverFast) {
  EXPECT_THAT(Collect({{0, "Epoch 1: accuracy=0.1\r"},
                       {0.01, "Epoch 1: accuracy=0.2\r"},
                       {0.02, "Epoch 2: accuracy=0.3\r"},
                       {0.03, "Epoch 3: accuracy=0.4\r"}}),
              ElementsAre("1: accuracy=0.2", "2: accuracy=0.3", "3: accuracy=0.4"));
}

TEST_F(OutputTest, AHeadingGivesTheStepOfTheLinesBelowIt) {
  EXPECT_THAT(Collect({{0, "Epoch 1/2"},
                       {1, "8/8 [====] - 0s 2ms/step - loss: 0.7 - accuracy: 0.5"},
                       {2, "Epoch 2/2"},
                       {3, "8/8 [====] - 0s 2ms/step - loss: 0.6 - accuracy: 0.75"}}),
              ElementsAre("1: accuracy=0.5", "2: accuracy=0.75"));
}

TEST_F(OutputTest, MetricsOfOneStepOnSeveralLinesAreOneMeasurement) {
  spec_.metrics["loss"] = {};
  EXPECT_THAT(Collect({{0, "epoch 1"},
                       {0, "loss: 0.7"},
                       {0.01, "accuracy: 0.5"},
                       {1, "epoch 2"},
                       {1, "loss: 0.6"},
                       {1.01, "accuracy: 0.6"}}),
              ElementsAre("1: accuracy=0.5 loss=0.7", "2: accuracy=0.6 loss=0.6"));
  // But a value that comes again is another measurement, and so is what comes much later.
  EXPECT_THAT(Collect({{0, "epoch=1 accuracy=0.5"}, {0.1, "epoch=1 accuracy=0.6"}}),
              ElementsAre("1: accuracy=0.5", "1: accuracy=0.6"));
  EXPECT_THAT(Collect({{0, "epoch=1 loss=0.7"}, {5, "epoch=1 accuracy=0.6"}}),
              ElementsAre("1: loss=0.7", "1: accuracy=0.6"));
}

TEST_F(OutputTest, WithoutAStepValuesAreCounted) {
  EXPECT_THAT(Collect({{0, "accuracy=0.5"}, {0, "x"}, {0, "accuracy=0.6"}}),
              ElementsAre("1: accuracy=0.5", "2: accuracy=0.6"));
}

TEST_F(OutputTest, ValuesAtPartsOfAnEpochAreCountedAtWholeOnesToo) {
  // As the Trainer of Transformers prints.
  EXPECT_THAT(
      Collect({{0, "{'accuracy': 0.1, 'epoch': 0.5}"},
               {9, "{'accuracy': 0.2, 'epoch': 1.0}"},
               {18, "{'accuracy': 0.3, 'epoch': 1.5}"},
               {27, "{'accuracy': 0.4, 'epoch': 2.0}"}}),
      ElementsAre("1: accuracy=0.1", "2: accuracy=0.2", "3: accuracy=0.3", "4: accuracy=0.4"));
  // Counted on from whole ones.
  EXPECT_THAT(Collect({{0, "epoch=3 accuracy=0.1"},
                       {9, "epoch=3.25 accuracy=0.2"},
                       {18, "epoch=4 accuracy=0.3"}}),
              ElementsAre("3: accuracy=0.1", "4: accuracy=0.2", "5: accuracy=0.3"));
  EXPECT_THAT(Collect({{0, R"({"accuracy": 0.1, "epoch": 0.25})"},
                       {9, R"({"accuracy": 0.2, "epoch": 1})"}}),
              ElementsAre("1: accuracy=0.1", "2: accuracy=0.2"));
}

TEST_F(OutputTest, AWholeStepBesideAPartOfAnEpochIsTheStep) {
  EXPECT_THAT(
      Collect({{0, "epoch=0.5 step=100 accuracy=0.1"}, {9, "epoch=0.75 step=150 accuracy=0.2"}}),
      ElementsAre("100: accuracy=0.1", "150: accuracy=0.2"));
}

TEST_F(OutputTest, ATimeBehindEpochIsNoPartOfOne) {
  EXPECT_THAT(Collect({{0, "epoch: 1.5s accuracy=0.1"}, {9, "epoch=7 accuracy=0.2"}}),
              ElementsAre("1: accuracy=0.1", "7: accuracy=0.2"));
}

TEST_F(OutputTest, OtherMetricsKeepTheirWholeSteps) {
  spec_.objectives.push_back({.metric = "eval_loss"});
  EXPECT_THAT(Collect({{0, "{'accuracy': 0.1, 'epoch': 0.5}"},
                       {9, "{'eval_loss': 0.9, 'epoch': 1.0}"},
                       {18, "{'accuracy': 0.3, 'epoch': 1.0}"}}),
              ElementsAre("1: accuracy=0.1", "1: eval_loss=0.9", "2: accuracy=0.3"));
}

TEST_F(OutputTest, TheLastValueOfALineCounts) {
  EXPECT_THAT(Collect({{0, "accuracy: 0.5 (was accuracy: 0.4), now accuracy: 0.6"}}),
              ElementsAre("1: accuracy=0.6"));
}

TEST_F(OutputTest, OnceABareNameWasSeenAWordBeforeItMakesAnotherMetric) {
  const std::vector<Line> lines = {{0, "epoch=1 best accuracy: 0.9"},
                                   {2, "epoch=2 accuracy: 0.5 (best accuracy: 0.9)"},
                                   {4, "epoch=3 accuracy: 0.6 (best accuracy: 0.9)"},
                                   {6, "epoch=3 test accuracy: 0.7"}};
  EXPECT_THAT(Collect(lines), ElementsAre("1: accuracy=0.9", "2: accuracy=0.5", "3: accuracy=0.6"));
  const std::vector<MetricSighting> seen = sightings_->Describe();
  ASSERT_THAT(seen[0].candidates, SizeIs(2));
  EXPECT_EQ(seen[0].candidates[0].what, "the output also has 'best accuracy' 2 times, last 0.9");
  EXPECT_EQ(seen[0].candidates[0].entry, "accuracy: {after: 'best accuracy:'}");
  EXPECT_EQ(seen[0].candidates[1].what, "the output also has 'test accuracy' once, last 0.7");
}

TEST_F(OutputTest, AWordBeforeTheNameMattersNotToTextsAndExpressions) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kAfter, .text = "accuracy:"};
  EXPECT_THAT(Collect({{0, "accuracy: 0.5 (best accuracy: 0.9)"}}), ElementsAre("1: accuracy=0.9"));
}

TEST_F(OutputTest, NamesWithinNamesAreOtherMetrics) {
  EXPECT_THAT(
      Collect({{0, "val_accuracy=0.5 top-accuracy: 0.5 train/accuracy=0.4 accuracy_2=0.1"}}),
      IsEmpty());
}

TEST_F(OutputTest, ExplicitSourcesReadTheirOwnOnly) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kAfter, .text = "acc is "};
  EXPECT_THAT(Collect({{0, "accuracy=0.1 acc is 0.5"}}), ElementsAre("1: accuracy=0.5"));
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kJson, .text = "val.acc"};
  EXPECT_THAT(
      Collect({{0, "accuracy=0.1"}, {0, R"({"val": {"acc": 0.5}, "accuracy": 0.2, "epoch": 4})"}}),
      ElementsAre("4: accuracy=0.5"));
}

TEST_F(OutputTest, InJsonANameIsAPath) {
  EXPECT_THAT(Collect({{0, R"({"train": {"accuracy": 0.5}})"}}), IsEmpty());
  EXPECT_EQ(sightings_->Describe()[0].candidates.at(0).entry, "accuracy: {json: 'train.accuracy'}");
}

TEST_F(OutputTest, AGroupThatEndsInsideANumberReadsOn) {
  spec_.metrics["accuracy"] = {.kind = MetricSourceKind::kRegex, .text = "loss=([0-9.]+)"};
  EXPECT_THAT(Collect({{0, "loss=9.5e-05"}}), ElementsAre("1: accuracy=9.5e-05"));
  EXPECT_THAT(Collect({{0, "loss=0,93"}}), IsEmpty());
  spec_.metrics["accuracy"].text = R"((\d+)/50 right)";
  EXPECT_THAT(Collect({{0, "45/50 right"}}), ElementsAre("1: accuracy=45"));
  spec_.metrics["accuracy"].text = R"((\S+) right)";
  EXPECT_THAT(Collect({{0, "45/50 right"}}), ElementsAre("1: accuracy=0.9"));
}

TEST_F(OutputTest, NotANumberIsAValue) {
  const auto found = Collect({{0, "epoch=1 accuracy=nan"}, {0, "epoch=2 accuracy=-inf"}});
  EXPECT_THAT(found, ElementsAre("1: accuracy=nan", "2: accuracy=-inf"));
}

TEST_F(OutputTest, SaysWhatItSawInstead) {
  Collect({{0, "acc=0.5 lr=0.1"}, {1, "acc=0.6 lr=0.1"}, {2, "accuracy: high"}});
  const std::vector<MetricSighting> seen = sightings_->Describe();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].values, 0);
  ASSERT_THAT(seen[0].candidates, SizeIs(2));
  EXPECT_EQ(seen[0].candidates[0].what, "no number follows it in the line 'accuracy: high'");
  EXPECT_EQ(seen[0].candidates[1].what, "the output has 'acc' 2 times, last 0.6");
  EXPECT_EQ(seen[0].candidates[1].entry, "accuracy: {after: 'acc='}");
}

TEST_F(OutputTest, NamesTheSameNameInOtherLetters) {
  Collect({{0, "Epoch: 3/10"}, {0, "Test set: Average loss: 0.0512, Accuracy: 9834/10000 (98%)"}});
  const std::vector<MetricSighting> seen = sightings_->Describe();
  EXPECT_EQ(seen[0].candidates.at(0).what, "the output has 'Accuracy' once, last 0.9834");
  EXPECT_EQ(seen[0].candidates.at(0).entry, "accuracy: {after: 'Accuracy:'}");
}

TEST_F(OutputTest, ListsOtherNamesWhereNoneIsNear) {
  Collect({{0, "lr=0.1 momentum=0.9"}});
  const std::vector<MetricSighting> seen = sightings_->Describe();
  ASSERT_THAT(seen[0].candidates, SizeIs(1));
  EXPECT_EQ(seen[0].candidates[0].what, "it reported other names: 'lr', 'momentum'");
}

TEST_F(OutputTest, TellsWhereAMetricCameFrom) {
  Collect({{0, R"({"accuracy": 0.5})"}, {1, R"({"accuracy": 0.6})"}});
  const std::vector<MetricSighting> seen = sightings_->Describe();
  EXPECT_EQ(seen[0].values, 2);
  EXPECT_EQ(seen[0].source, "json");
  EXPECT_THAT(seen[0].candidates, IsEmpty());
}

// The whole reader, over files.
class GangTest : public ::testing::Test {
 protected:
  GangTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vernier-gang-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (const char* const role : {"chief", "evaluator"}) {
      const std::string own = fmt::format("{}/{}-0", folder_.string(), role);
      std::filesystem::create_directories(own);
      gang_.replicas.push_back({.role = role,
                                .directory = folder_.string(),
                                .metric_file = own + "/hypertune.metrics",
                                .log_file = own + "/output.log"});
    }
    spec_.objectives = {{.metric = "accuracy"}};
    spec_.job.emplace();
    spec_.job->command = {"train"};
    spec_.job->replicas[Role::kEvaluator] = ReplicaSpec{};
  }
  ~GangTest() override { std::filesystem::remove_all(folder_); }

  void Print(std::size_t replica, int second, const std::string& text) const {
    std::ofstream(gang_.replicas[replica].log_file, std::ios::app)
        << absl::FormatTime(
               "%Y-%m-%dT%H:%M:%S", absl::UnixEpoch() + absl::Seconds(second), absl::UTCTimeZone())
        << ".000000Z O " << text << "\n";
  }
  void Report(double value, int step) const {
    std::ofstream(gang_.replicas[0].metric_file, std::ios::app)
        << fmt::format(R"({{"accuracy": "{}", "global_step": "{}", "timestamp": {}.5}})"
                       "\n",
                       value,
                       step,
                       step);
  }
  std::vector<Measurement> ReadAll() {
    auto reader = NewMetricReader(spec_, trial_, gang_);
    EXPECT_THAT(reader, IsOk());
    auto read = (*reader)->Finish();
    EXPECT_THAT(read, IsOk());
    return read.ok() ? *read : std::vector<Measurement>();
  }

  std::filesystem::path folder_;
  StudySpec spec_;
  Trial trial_;
  GangProgram gang_;
};

TEST_F(GangTest, AMetricKeepsToTheSourceItWasFoundInFirst) {
  Report(0.5, 1);
  Print(0, 1, "epoch=1 accuracy=50");
  Print(0, 2, "epoch=2 accuracy=60");
  Report(0.6, 2);
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(2));
  for (const Measurement& each : read) EXPECT_EQ(each.source, "hypertune");
  EXPECT_EQ(read[1].metrics.at("accuracy"), 0.6);
}

TEST_F(GangTest, AMetricMayComeFromTheEvaluator) {
  Print(0, 1, "epoch=1 accuracy=0.1");
  Print(1, 2, "epoch=1 accuracy=0.2");
  spec_.metrics["accuracy"] = {.from = Role::kEvaluator};
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].metrics.at("accuracy"), 0.2);
}

TEST_F(GangTest, AMetricThatOnlyTheEvaluatorNamesIsFoundThere) {
  Print(0, 1, "epoch=1 speed=9");
  Print(1, 2, "epoch=1 accuracy=0.2");
  Print(1, 3, "epoch=2 accuracy=0.3");
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[1].metrics.at("accuracy"), 0.3);
}

TEST_F(GangTest, AMetricThatTwoReplicasNameIsThatOfTheFirst) {
  Print(0, 1, "epoch=1 accuracy=0.1");
  Print(1, 2, "epoch=1 accuracy=0.2");
  Print(0, 3, "epoch=2 accuracy=0.15");
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[1].metrics.at("accuracy"), 0.15);
}

TEST_F(GangTest, ARoleThatTheJobLacksIsRefused) {
  spec_.metrics["accuracy"] = {.from = Role::kParameterServer};
  EXPECT_THAT(ValidateMetricSources(spec_),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                "metrics.accuracy.from: the job has no replica 'ps'"));
}

TEST_F(GangTest, AHypertuneTagMayHaveAnotherName) {
  spec_.metrics["score"] = {.kind = MetricSourceKind::kHypertune, .text = "accuracy"};
  spec_.objectives = {{.metric = "score"}};
  Report(0.5, 1);
  const std::vector<Measurement> read = ReadAll();
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_THAT(read[0].metrics, ElementsAre(Pair("score", 0.5)));
}

}  // namespace
}  // namespace vernier::metrics
