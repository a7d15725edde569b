#include "src/metrics/event_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/metrics/event_folder.h"
#include "src/metrics/sightings.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"
#include "vernier/metric_reader.h"

namespace vernier::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::SizeIs;

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string Record(const std::string& data) {
  const std::string length = Bytes(static_cast<std::uint64_t>(data.size()));
  return length + Bytes(MaskedCrc(length)) + data + Bytes(MaskedCrc(data));
}

// A scalar as tensorboardX writes it.
std::string Scalar(const std::string& tag, int step, float value, double time = 1.8e9) {
  const std::string inner =
      "\x0a" + std::string(1, static_cast<char>(tag.size())) + tag + "\x15" + Bytes(value);
  const std::string summary = "\x0a" + std::string(1, static_cast<char>(inner.size())) + inner;
  return Record("\x09" + Bytes(time) + "\x10" + std::string(1, static_cast<char>(step)) + "\x2a" +
                std::string(1, static_cast<char>(summary.size())) + summary);
}

// The first record of every file.
std::string Version(double time) {
  return Record("\x09" + Bytes(time) + "\x1a\x0d" + "brain.Event:2");
}

class EventFileTest : public ::testing::Test {
 protected:
  EventFileTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-events-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ / "events.out.tfevents.1700000000.host";
  }
  ~EventFileTest() override { std::filesystem::remove_all(folder_); }

  void Append(const std::string& bytes) const {
    std::ofstream(path_, std::ios::app | std::ios::binary) << bytes;
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

// Files that TensorFlow 2.15.1, tensorboardX 2.6 and PyTorch's own writer wrote: tests/metrics/data/README.md.
class RecordedEventsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedEventsTest, AreReadAsTheirWriterMeantThem) {
  const std::filesystem::path data = std::filesystem::path(VERNIER_TEST_DATA) / GetParam();
  const nlohmann::json expected =
      nlohmann::json::parse(std::ifstream(data / "expected.json"), nullptr, true);
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    if (entry.path().filename().string().find("tfevents") != std::string::npos) file = entry.path();
  }
  EventFile events(file.string());
  ASSERT_OK_AND_ASSIGN(const std::vector<EventScalar> scalars, events.Read());
  EXPECT_EQ(events.damage(), "");
  ASSERT_THAT(scalars, SizeIs(expected.size()));
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    EXPECT_EQ(scalars[i].tag, expected[i].at(0));
    EXPECT_EQ(scalars[i].step, expected[i].at(1));
    if (expected[i].at(2).is_string()) {
      EXPECT_EQ(expected[i].at(2), std::isnan(scalars[i].value) ? "nan" : "inf");
    } else {
      EXPECT_EQ(static_cast<float>(scalars[i].value), expected[i].at(2).get<float>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Writers,
                         RecordedEventsTest,
                         ::testing::Values("tensorflow", "tensorboardx", "torch"),
                         [](const auto& each) { return each.param; });

TEST_F(EventFileTest, EveryPrefixOfAFileIsReadUpToItsLastWholeRecord) {
  const std::vector<std::string> records = {
      Scalar("loss", 1, 0.5F), Scalar("acc", 1, 0.25F), Scalar("loss", 2, 0.75F)};
  const std::string whole = records[0] + records[1] + records[2];
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::ofstream(path_, std::ios::trunc | std::ios::binary) << whole.substr(0, length);
    EventFile events(path_.string());
    ASSERT_OK_AND_ASSIGN(const std::vector<EventScalar> first, events.Read());
    std::size_t complete = 0;
    for (std::size_t end = 0, i = 0; i < records.size(); ++i) {
      end += records[i].size();
      complete += end <= length ? 1 : 0;
    }
    EXPECT_THAT(first, SizeIs(complete)) << length;
    EXPECT_EQ(events.damage(), "");
    std::ofstream(path_, std::ios::app | std::ios::binary) << whole.substr(length);
    EXPECT_THAT(events.Read().value(), SizeIs(records.size() - complete)) << length;
  }
}

TEST_F(EventFileTest, ADamagedRecordIsLeftOutAndNamed) {
  const std::string first = Scalar("loss", 1, 0.5F);
  std::string second = Scalar("loss", 2, 0.5F);
  second[20] = static_cast<char>(second[20] ^ 1);
  Append(first + second + Scalar("loss", 3, 0.5F));
  EventFile events(path_.string());
  ASSERT_OK_AND_ASSIGN(const std::vector<EventScalar> scalars, events.Read());
  ASSERT_THAT(scalars, SizeIs(2));
  EXPECT_EQ(scalars[1].step, 3);
  EXPECT_THAT(events.damage(),
              HasSubstr("a damaged record at byte " + std::to_string(first.size())));
}

TEST_F(EventFileTest, ADamagedLengthEndsTheFile) {
  std::string second = Scalar("loss", 2, 0.5F);
  second[1] = static_cast<char>(second[1] ^ 1);
  Append(Scalar("loss", 1, 0.5F) + second + Scalar("loss", 3, 0.5F));
  EventFile events(path_.string());
  EXPECT_THAT(events.Read().value(), SizeIs(1));
  EXPECT_THAT(events.damage(), HasSubstr("it is read no further"));
  EXPECT_THAT(events.Read().value(), IsEmpty());
}

// How many scalars are read where files count that were begun in the span.
struct BeginningCase {
  std::string name;  // Of the file.
  std::string first;
  double from = 1.8e9;
  std::size_t scalars = 0;
};

TEST_F(EventFileTest, OnlyFilesThatWereBegunInTheSpanAreRead) {
  const std::string known = "events.out.tfevents.1799999990.host";
  const std::string late = "events.out.tfevents.1800000010.host";
  std::string damaged = Version(1.8e9 + 1);
  damaged[15] = static_cast<char>(damaged[15] ^ 1);
  const std::vector<BeginningCase> cases = {
      {.name = known, .first = Version(1.8e9 - 0.5), .scalars = 0},
      {.name = known, .first = Version(1.8e9 + 0.5), .scalars = 1},
      {.name = known, .first = Version(1.8e9 + 60.5), .scalars = 0},  // Behind its end.
      // TensorFlow rounds down to the second.
      {.name = known, .first = Version(1.8e9), .from = 1.8e9 + 0.9, .scalars = 1},
      {.name = known, .first = Version(1.8e9), .from = 1.8e9 + 1.1, .scalars = 0},
      // Without a time in the first record, the name counts.
      {.name = known, .first = Version(0), .scalars = 0},
      {.name = late, .first = Version(0), .scalars = 1},
      {.name = late, .first = damaged, .scalars = 1},
      // And then the time of change, which is long before.
      {.name = "x.tfevents", .first = Version(0), .scalars = 0},
      {.name = "x.tfevents.v2", .first = Version(0), .scalars = 0},
      {.name = "x.tfevents", .first = Version(0), .from = 1.6e9, .scalars = 1},
  };
  for (const BeginningCase& each : cases) {
    path_ = folder_ / each.name;
    std::filesystem::remove(path_);
    Append(each.first + Scalar("loss", 1, 0.5F, 1.8e9 + 30));
    const TimeSpan span{
        .from = absl::UnixEpoch() + absl::Seconds(each.from),
        .until = each.from < 1.8e9 ? absl::InfiniteFuture() : absl::FromUnixSeconds(1'800'000'060)};
    EventFile events(path_.string(), span);
    EXPECT_THAT(events.Read().value(), SizeIs(each.scalars)) << each.name << " from " << each.from;
  }
}

TEST_F(EventFileTest, WhenAFileWasBegunIsToldOnceItsFirstRecordIsComplete) {
  const TimeSpan span{.from = absl::FromUnixSeconds(1'800'000'000)};
  const std::string first = Version(1.8e9 + 1.5);
  Append(first.substr(0, 20));
  EventFile events(path_.string(), span);
  EXPECT_THAT(events.Read().value(), IsEmpty());
  Append(first.substr(20) + Scalar("loss", 1, 0.5F));
  EXPECT_THAT(events.Read().value(), SizeIs(1));
  Append(Scalar("loss", 2, 0.5F));
  EXPECT_THAT(events.Read().value(), SizeIs(1));
}

TEST_F(EventFileTest, AnyBytesAreSurvived) {
  std::uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < round % 64; ++i) {
      state = state * 1664525 + 1013904223;
      bytes.push_back(static_cast<char>(state >> 24));
    }
    ParseEvent(bytes);
    std::string scalar = Scalar("loss", 1, 0.5F).substr(12);
    scalar[state % scalar.size()] = static_cast<char>(state >> 16);
    ParseEvent(scalar);
  }
}

TEST_F(EventFileTest, WhatIsNoFileHoldsNothing) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(EventFile(path_.string()).Read().value(), IsEmpty());
  EXPECT_THAT(EventFile((folder_ / "absent").string()).Read().value(), IsEmpty());
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(EventFile((folder_ / "pipe").string()).Read().value(), IsEmpty());
  std::filesystem::create_symlink("/etc/passwd", folder_ / "link");
  EXPECT_THAT(EventFile((folder_ / "link").string()).Read().value(), IsEmpty());
}

WantedMetric Named(const std::string& name) { return {.name = name, .source = {}}; }
WantedMetric Tagged(const std::string& name, const std::string& tag) {
  return {.name = name, .source = {.kind = MetricSourceKind::kTfevents, .text = tag}};
}

class EventFolderTest : public EventFileTest {
 protected:
  void Put(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::app | std::ios::binary) << bytes;
  }
};

TEST_F(EventFolderTest, FindsFilesBelowAsTheyComeAndGrow) {
  const std::vector<WantedMetric> wanted = {Named("acc"), Named("loss")};
  Sightings sightings(wanted);
  EventFolder folder((folder_ / "logs").string(), wanted, sightings);
  EXPECT_THAT(folder.Read().value(), IsEmpty());
  Put("logs/run/a.tfevents.1", Scalar("acc", 1, 0.5F) + Scalar("loss", 1, 2.0F));
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> first, folder.Read());
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(first[0].metrics, SizeIs(2));
  EXPECT_EQ(first[0].source, "tfevents");
  Put("logs/run/a.tfevents.1", Scalar("acc", 2, 0.75F));
  Put("logs/other/deep/b.tfevents.2", Scalar("acc", 3, 0.875F, 1.9e9));
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> second, folder.Read());
  ASSERT_THAT(second, SizeIs(2));
  EXPECT_EQ(second[0].metrics.at("acc"), 0.75);
  EXPECT_EQ(second[1].step, 3);
  EXPECT_THAT(folder.Read().value(), IsEmpty());
}

TEST_F(EventFolderTest, ASubFolderBeforeTheTagChoosesAmongSeveral) {
  Put("train/x.tfevents.1", Scalar("epoch_loss", 1, 1.0F));
  Put("validation/x.tfevents.1", Scalar("epoch_loss", 1, 3.0F));
  const std::vector<WantedMetric> wanted = {Tagged("val_loss", "validation/epoch_loss")};
  Sightings sightings(wanted);
  EventFolder folder(folder_.string(), wanted, sightings);
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> read, folder.Read());
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].metrics.at("val_loss"), 3.0);
}

TEST_F(EventFolderTest, TellsWhichTagsThereAre) {
  Put("x.tfevents.1", Scalar("val/accuracy", 1, 0.5F));
  const std::vector<WantedMetric> wanted = {Named("accuracy")};
  Sightings sightings(wanted);
  EXPECT_THAT(EventFolder(folder_.string(), wanted, sightings).Read().value(), IsEmpty());
  const std::vector<MetricSighting> seen = sightings.Describe();
  ASSERT_THAT(seen, SizeIs(1));
  ASSERT_THAT(seen[0].candidates, SizeIs(1));
  EXPECT_EQ(seen[0].candidates[0].what, "event files have the tag 'val/accuracy' once, last 0.5");
  EXPECT_EQ(seen[0].candidates[0].entry, "accuracy: {tfevents: 'val/accuracy'}");
}

// The whole reader, over the folders of a study.
class EventSourceTest : public EventFolderTest {
 protected:
  EventSourceTest() {
    Put("chief-0/output.log", "");
    gang_.replicas.push_back({.role = "chief",
                              .directory = folder_.string(),
                              .metric_file = (folder_ / "chief-0/hypertune.metrics").string(),
                              .log_file = (folder_ / "chief-0/output.log").string()});
    spec_.objectives = {{.metric = "val_loss"}};
    spec_.job.emplace();
    spec_.job->command = {"train"};
    trial_.number = TrialNumber(2);
    // The attempt begins now, since times of change matter, too.
    struct stat status {};
    EXPECT_EQ(stat(gang_.replicas[0].log_file.c_str(), &status), 0);
    now_ = static_cast<double>(status.st_mtim.tv_sec);
    trial_.attempts.push_back({.placed = absl::FromUnixSeconds(status.st_mtim.tv_sec)});
  }
  std::unique_ptr<MetricReader> NewReader() const {
    auto reader = NewMetricReader(spec_, trial_, gang_);
    EXPECT_THAT(reader, IsOk());
    return *std::move(reader);
  }
  std::vector<double> Values() const {
    std::vector<double> values;
    const auto finished = NewReader()->Finish();
    EXPECT_THAT(finished, IsOk());
    for (const Measurement& each : finished.value()) {
      values.push_back(each.metrics.at("val_loss"));
    }
    return values;
  }
  // A file of a run that began so many seconds after the attempt.
  void PutRun(const std::string& folder, double seconds, float value) const {
    const double begun = now_ + seconds + 0.25;
    Put(fmt::format("{}/events.out.tfevents.{}.host", folder, static_cast<std::int64_t>(begun)),
        Version(begun) + Scalar("val_loss", 1, value, begun + 1));
  }

  double now_ = 0;  // When the attempt begins, in seconds.
  StudySpec spec_;
  Trial trial_;
  GangProgram gang_;
};

TEST_F(EventSourceTest, FilesFromBeforeTheAttemptDoNotCount) {
  spec_.metrics["val_loss"] = {
      .kind = MetricSourceKind::kTfevents, .text = "val_loss", .folder = "runs"};
  PutRun("runs/by_hand", -3600, 0.25F);
  PutRun("runs/trial_1", -60, 0.5F);
  PutRun("runs/trial_2", 1, 0.75F);
  EXPECT_THAT(Values(), ElementsAre(0.75));
  EXPECT_THAT(Values(), ElementsAre(0.75));  // As after a restart.
  trial_.attempts.back().ended = trial_.attempts.back().placed + absl::Seconds(30);
  PutRun("runs/trial_3", 60, 1.0F);
  EXPECT_THAT(Values(), ElementsAre(0.75));
  // As `vernier metrics test --folder` reads.
  trial_.attempts.clear();
  EXPECT_THAT(Values(), SizeIs(4));
}

TEST_F(EventSourceTest, AJobDirectoryThatIsUsedAgainHoldsFilesOfEarlierStudies) {
  spec_.job->job_directory = (folder_ / "out").string();
  PutRun("out/2/logs", -86400, 0.25F);
  EXPECT_THAT(Values(), IsEmpty());
  PutRun("out/2/logs", 5, 0.5F);
  EXPECT_THAT(Values(), ElementsAre(0.5));
}

TEST_F(EventSourceTest, ManyFilesOfEarlierRunsHideNoneOfTheAttempt) {
  spec_.metrics["val_loss"] = {
      .kind = MetricSourceKind::kTfevents, .text = "val_loss", .folder = "runs"};
  for (int i = 0; i <= 1000; ++i) {
    const std::filesystem::path old = folder_ / fmt::format("runs/{:04}.tfevents.1", i);
    Put(fmt::format("runs/{:04}.tfevents.1", i), Version(now_ - 1e6));
    std::filesystem::last_write_time(
        old, std::filesystem::last_write_time(old) - std::chrono::hours(24));
  }
  PutRun("runs", 1, 0.5F);
  EXPECT_THAT(Values(), ElementsAre(0.5));
}

class EventSearchTest : public EventSourceTest {
 protected:
  MetricSighting::Candidate Advice() const {
    const auto reader = NewReader();
    EXPECT_THAT(reader->Finish(), IsOk());
    const std::vector<MetricSighting> seen = reader->Sightings();
    return seen.at(0).candidates.empty() ? MetricSighting::Candidate() : seen[0].candidates[0];
  }
};

TEST_F(EventSearchTest, AdvisesTheFolderThatTheProgramWroteTo) {
  EXPECT_EQ(Advice().what, "");
  Put("runs/by_hand/x.tfevents.1", Version(now_ - 60.5) + Scalar("val_loss", 1, 0.25F));
  EXPECT_EQ(Advice().what, "");
  Put("runs/Nov23_host/x.tfevents.1",
      Version(now_ + 0.5) + Scalar("val_loss", 1, 0.5F) + Scalar("lr", 1, 0.5F));
  EXPECT_EQ(Advice().what, "event files below 'runs' have the tag 'val_loss' once, last 0.5");
  EXPECT_EQ(Advice().entry, "val_loss: {tfevents: 'val_loss', folder: runs}");
  EXPECT_THAT(Values(), IsEmpty());
}

TEST_F(EventSearchTest, AdvisesNoFolderWhereTrialsRunAtOnce) {
  spec_.parallel = 2;
  Put("lightning_logs/version_0/x.tfevents.1", Version(now_ + 0.5) + Scalar("val_loss", 1, 0.5F));
  EXPECT_THAT(Advice().what, HasSubstr("so write below $VERNIER_REPLICA_DIRECTORY"));
  EXPECT_EQ(Advice().entry, "");
}

TEST_F(EventSearchTest, KnowsTheWordsOfANameInAnotherOrder) {
  Put("logs/x.tfevents.1", Version(now_ + 0.5) + Scalar("Loss/val", 1, 0.5F));
  EXPECT_EQ(Advice().entry, "val_loss: {tfevents: 'Loss/val', folder: logs}");
}

TEST_F(EventSearchTest, ListsTagsOfWhichNoneIsNear) {
  Put("logs/x.tfevents.1", Version(now_ + 0.5) + Scalar("fid", 1, 0.5F) + Scalar("kid", 1, 0.5F));
  EXPECT_EQ(Advice().what, "event files below 'logs' have other tags: 'fid', 'kid'");
}

TEST_F(EventSearchTest, TellsTagsOfSeveralSubFoldersApart) {
  Put("runs/a/train/x.tfevents.1", Version(now_ + 0.5) + Scalar("loss", 1, 0.5F));
  Put("runs/a/val/x.tfevents.1", Version(now_ + 0.5) + Scalar("loss", 1, 0.25F));
  const MetricSighting::Candidate advice = Advice();
  EXPECT_EQ(advice.entry, "val_loss: {tfevents: 'val/loss', folder: runs}");
  // And the advice works.
  spec_.metrics["val_loss"] = {
      .kind = MetricSourceKind::kTfevents, .text = "val/loss", .folder = "runs"};
  EXPECT_THAT(Values(), ElementsAre(0.25));
}

TEST_F(EventSourceTest, AFolderMayBeTheTrialsOwn) {
  spec_.space = *Space::Create({{.name = "lr", .domain = FloatDomain{}}});
  spec_.parallel = 4;
  trial_.number = TrialNumber(3);
  MetricSource& source = spec_.metrics["val_loss"];
  source = {.kind = MetricSourceKind::kTfevents, .text = "val_loss", .folder = "runs/{trial}"};
  EXPECT_THAT(ValidateMetricSources(spec_), IsOk());
  PutRun("runs/2/a", 1, 0.5F);
  PutRun("runs/3/a", 1, 0.75F);
  EXPECT_THAT(Values(), ElementsAre(0.75));
  source.folder = "runs/{epoch}";
  EXPECT_EQ(ValidateMetricSources(spec_).message(),
            "metrics.val_loss.folder: '{epoch}' stands for nothing; {trial}, {job_dir} and "
            "parameters do");
  source.folder = "{job_dir}/tb";
  EXPECT_EQ(ValidateMetricSources(spec_).message(),
            "metrics.val_loss.folder: '{job_dir}' needs `dir` in the job");
  spec_.job->job_directory = "out";
  EXPECT_THAT(ValidateMetricSources(spec_), IsOk());
  PutRun("out/3/tb", 1, 0.25F);
  EXPECT_THAT(Values(), ElementsAre(0.25));
}

TEST_F(EventSourceTest, TrialsThatRunAtOnceShareNoFolder) {
  spec_.metrics["val_loss"] = {.kind = MetricSourceKind::kTfevents, .text = "val_loss"};
  spec_.parallel = 4;
  EXPECT_THAT(ValidateMetricSources(spec_), IsOk());
  for (const std::string folder : {"runs", "/data/runs"}) {
    spec_.metrics["val_loss"].folder = folder;
    const absl::Status refused = ValidateMetricSources(spec_);
    EXPECT_EQ(GetField(refused), "metrics.val_loss.folder");
    EXPECT_THAT(
        std::string(refused.message()),
        HasSubstr("write parallel: 1, or a folder for each trial, '" + folder + "/{trial}'"));
  }
  spec_.parallel = 1;
  EXPECT_THAT(ValidateMetricSources(spec_), IsOk());
  // Clients report by themselves.
  spec_.parallel = 4;
  spec_.job.reset();
  EXPECT_THAT(ValidateMetricSources(spec_), IsOk());
}

TEST_F(EventFolderTest, LinksAreNotFollowed) {
  Put("elsewhere/x.tfevents.1", Scalar("acc", 1, 0.5F));
  std::filesystem::create_directories(folder_ / "logs");
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", folder_ / "logs/link");
  std::filesystem::create_symlink(folder_ / "elsewhere/x.tfevents.1",
                                  folder_ / "logs/y.tfevents.1");
  const std::vector<WantedMetric> wanted = {Named("acc")};
  Sightings sightings(wanted);
  EXPECT_THAT(EventFolder((folder_ / "logs").string(), wanted, sightings).Read().value(),
              IsEmpty());
}

}  // namespace
}  // namespace vernier::metrics
