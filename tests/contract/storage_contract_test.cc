#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "tests/storage/fault_vfs.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"
#include "vernier/storage.h"

// What every implementation of Storage does. No test names one.
namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::vernier::testing::CreatedEvent;
using ::vernier::testing::IsOk;
using ::vernier::testing::MeasurementCommit;
using ::vernier::testing::StatusIs;
using ::vernier::testing::TempFolder;
using ::vernier::testing::TrialCommit;
using ::vernier::testing::TrialCommitAfter;

constexpr std::size_t kAll = 1'000'000;

// A backend, with whatever it lives on.
struct World {
  virtual ~World() = default;
  virtual Storage& storage() = 0;
};

struct MemoryWorld final : World {
  Storage& storage() override { return *storage_; }
  std::unique_ptr<Storage> storage_ = NewMemoryStorage();
};

struct SqliteWorld final : World {
  explicit SqliteWorld(const std::string& vfs) {
    absl::StatusOr<std::unique_ptr<sqlite::SqliteStorage>> opened =
        sqlite::Open({.path = folder_.PathOf("store")}, {.vfs = vfs, .synchronous = true});
    EXPECT_THAT(opened, IsOk());
    storage_ = *std::move(opened);
  }
  Storage& storage() override { return *storage_; }
  TempFolder folder_;
  std::unique_ptr<Storage> storage_;
};

struct FaultWorld final : World {
  Storage& storage() override { return world_.storage(); }
  vernier::testing::FaultVfs vfs_;
  SqliteWorld world_{vfs_.name()};
};

struct Backend {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
};

std::vector<Backend> AllBackends() {
  return {{"Memory", [] { return std::make_unique<MemoryWorld>(); }},
          {"Sqlite", [] { return std::make_unique<SqliteWorld>(""); }},
          {"SqliteUnderFaultLayer", [] { return std::make_unique<FaultWorld>(); }}};
}

class StorageContract : public ::testing::TestWithParam<Backend> {
 protected:
  Storage& storage() { return world_->storage(); }

  Study Create(const std::string& name) {
    absl::StatusOr<Study> study = storage().CreateStudy(CreatedEvent(name));
    EXPECT_THAT(study, IsOk());
    return study.ok() ? *study : Study();
  }
  // Commits and returns the study as it is afterwards.
  Study Apply(const Commit& commit) {
    EXPECT_THAT(storage().Begin(commit)->Wait(), IsOk());
    return commit.header;
  }

 private:
  std::unique_ptr<World> world_ = GetParam().make();
};

TEST_P(StorageContract, ReturnsACreatedStudyAsItIsStored) {
  const Event created = CreatedEvent("digits");
  ASSERT_OK_AND_ASSIGN(const Study study, storage().CreateStudy(created));
  EXPECT_EQ(study.id, StudyId(1));
  EXPECT_EQ(study.spec, std::get<StudyCreated>(created.payload).spec);
  EXPECT_EQ(study.state, StudyState::kActive);
  EXPECT_EQ(study.created, created.time);
  EXPECT_EQ(study.last_event, EventSeq(1));
  ASSERT_OK_AND_ASSIGN(const Study read, storage().GetStudy(study.id));
  EXPECT_EQ(read, study);
  ASSERT_OK_AND_ASSIGN(const Study named, storage().GetStudyByName("digits"));
  EXPECT_EQ(named, study);
  ASSERT_OK_AND_ASSIGN(const auto events, storage().ReadEvents(study.id, EventSeq(0), kAll));
  EXPECT_THAT(events, ElementsAre(created));
}

TEST_P(StorageContract, NamesAreUnique) {
  Create("a");
  const absl::Status status = storage().CreateStudy(CreatedEvent("a")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'a'")));
  EXPECT_EQ(GetReason(status), Reason::kStudyExists);
  ASSERT_OK_AND_ASSIGN(const auto studies, storage().ListStudies(StudyId(0), kAll));
  EXPECT_THAT(studies, SizeIs(1));
}

TEST_P(StorageContract, AStudyStartsWithItsCreation) {
  Event event = CreatedEvent("a");
  event.payload = LeaseExpired{.trial = TrialNumber(1)};
  EXPECT_THAT(storage().CreateStudy(event), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(StorageContract, IdsAreNeverReusedAfterDelete) {
  const Study first = Create("a");
  ASSERT_THAT(storage().DeleteStudy(first.id, ""), IsOk());
  EXPECT_NE(Create("b").id, first.id);
}

TEST_P(StorageContract, ADeletedStudyIsGoneWithAllThatBelongsToIt) {
  const Study study = Apply(TrialCommit(Create("a")));
  const Study other = Apply(TrialCommit(Create("b")));
  ASSERT_THAT(storage().DeleteStudy(study.id, ""), IsOk());
  EXPECT_THAT(storage().GetStudy(study.id), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().GetStudyByName("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().GetTrial({study.id, TrialNumber(1)}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().ListTrials(study.id, TrialNumber(0), kAll),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().ReadEvents(study.id, EventSeq(0), kAll),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().ListMeasurements({study.id, TrialNumber(1)}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().ReadReports({study.id, TrialNumber(1)}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().ReadRequest(study.id, "r1"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().ReadSnapshot(study.id), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().DeleteStudy(study.id, ""), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().Begin(TrialCommit(study))->Wait(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().GetTrial({other.id, TrialNumber(1)}), IsOk());
  EXPECT_THAT(Create("a").id, ::testing::Gt(other.id));
}

TEST_P(StorageContract, WhichStudyARequestDeletedIsKept) {
  EXPECT_EQ(storage().FindDeletion("r1").value(), std::nullopt);
  ASSERT_THAT(storage().DeleteStudy(Create("a").id, "r1"), IsOk());
  ASSERT_THAT(storage().DeleteStudy(Create("b").id, ""), IsOk());
  EXPECT_THAT(storage().DeleteStudy(StudyId(99), "r2"), StatusIs(absl::StatusCode::kNotFound));
  Create("a");
  EXPECT_EQ(storage().FindDeletion("r1").value(), "a");
  EXPECT_EQ(storage().FindDeletion("r2").value(), std::nullopt);
  EXPECT_EQ(storage().FindDeletion("").value(), std::nullopt);
  ASSERT_THAT(storage().DeleteStudy(Create("b").id, "r1"), IsOk());
  EXPECT_EQ(storage().FindDeletion("r1").value(), "a");
}

TEST_P(StorageContract, MeasurementsAreReadByTheirEvents) {
  Study study = Apply(TrialCommit(Create("a")));
  const Trial trial = storage().GetTrial({study.id, TrialNumber(1)}).value();
  for (const std::int64_t step : {5, 3, 9}) study = Apply(MeasurementCommit(study, trial, step));
  ASSERT_OK_AND_ASSIGN(const auto events, storage().ReadEvents(study.id, EventSeq(0), kAll));
  std::vector<EventSeq> reports;
  for (const Event& event : events) {
    if (std::holds_alternative<MeasurementReported>(event.payload)) reports.push_back(event.seq);
  }
  ASSERT_FALSE(reports.empty());
  std::vector<Measurement> expected;
  std::vector<EventSeq> backwards(reports.rbegin(), reports.rend());
  for (const EventSeq seq : backwards) {
    const Event& event = events[static_cast<std::size_t>(seq.value() - 1)];
    expected.push_back(std::get<MeasurementReported>(event.payload).measurement);
  }
  EXPECT_EQ(storage().ReadMeasurements(study.id, backwards).value(), expected);
  EXPECT_THAT(storage().ReadMeasurements(study.id, {}).value(), IsEmpty());
  for (const EventSeq seq : {EventSeq(0), EventSeq(1), EventSeq(999)}) {
    const std::vector<EventSeq> wrong = {reports.front(), seq};
    EXPECT_THAT(storage().ReadMeasurements(study.id, wrong),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("no measurement")));
  }
  EXPECT_THAT(storage().ReadMeasurements(StudyId(99), reports),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(StorageContract, WhatIsNotThereIsNotFound) {
  const Study study = Create("a");
  const absl::Status no_study = storage().GetStudy(StudyId(99)).status();
  EXPECT_THAT(no_study, StatusIs(absl::StatusCode::kNotFound, HasSubstr("99")));
  EXPECT_EQ(GetReason(no_study), Reason::kStudyNotFound);
  EXPECT_THAT(storage().GetStudyByName("z"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'z'")));
  const absl::Status no_trial = storage().GetTrial({study.id, TrialNumber(5)}).status();
  EXPECT_THAT(no_trial, StatusIs(absl::StatusCode::kNotFound, HasSubstr("5")));
  EXPECT_EQ(GetReason(no_trial), Reason::kTrialNotFound);
  EXPECT_EQ(GetReason(storage().GetTrial({StudyId(99), TrialNumber(1)}).status()),
            Reason::kStudyNotFound);
  ASSERT_OK_AND_ASSIGN(const auto none, storage().ListMeasurements({study.id, TrialNumber(5)}));
  EXPECT_THAT(none, IsEmpty());
}

TEST_P(StorageContract, ACommitStoresItsEventsItsRowsAndTheHeader) {
  Commit commit = TrialCommit(Create("a"));
  commit.header.state = StudyState::kPaused;
  commit.header.reason = "paused by hand";
  commit.header.best = TrialNumber(1);
  commit.header.optimal = {TrialNumber(1), TrialNumber(3)};
  commit.header.used = {.cpu_time = absl::Nanoseconds(1'234'567'890'123),
                        .gpu_time = absl::Hours(1000),
                        .peak_memory_bytes = std::int64_t{1} << 40};
  commit.header.completed = 4;
  commit.header.failed = 3;
  commit.header.open = 2;
  Apply(commit);
  ASSERT_OK_AND_ASSIGN(const Study study, storage().GetStudy(commit.study));
  EXPECT_EQ(study, commit.header);
  ASSERT_OK_AND_ASSIGN(const Trial trial, storage().GetTrial({commit.study, TrialNumber(1)}));
  EXPECT_EQ(trial, commit.trials.front());
  ASSERT_OK_AND_ASSIGN(const auto events, storage().ReadEvents(commit.study, EventSeq(1), kAll));
  EXPECT_EQ(events, commit.events);
}

TEST_P(StorageContract, AnAmendmentChangesTheDefinition) {
  Study study = Create("a");
  Commit commit = TrialCommit(study);
  commit.header.spec.parallel = 7;
  commit.header.spec.budget.trials = 40;
  commit.header.spec_version = 2;
  Apply(commit);
  ASSERT_OK_AND_ASSIGN(study, storage().GetStudy(study.id));
  EXPECT_EQ(study, commit.header);
}

TEST_P(StorageContract, ATrialIsReplacedByItsNewRow) {
  const Study study = Apply(TrialCommit(Create("a")));
  ASSERT_OK_AND_ASSIGN(Trial trial, storage().GetTrial({study.id, TrialNumber(1)}));
  trial.state = TrialState::kFailed;
  trial.failure = FailureClass::kTimeout;
  trial.message = "ran for 30m";
  trial.ended = study.updated;
  const Commit commit = MeasurementCommit(study, trial, 1);
  Apply(commit);
  ASSERT_OK_AND_ASSIGN(const auto trials, storage().ListTrials(study.id, TrialNumber(0), kAll));
  EXPECT_EQ(trials, commit.trials);
}

TEST_P(StorageContract, ACommitForAnotherEventIsAborted) {
  const Study study = Create("a");
  const Commit commit = TrialCommit(study);
  Apply(commit);
  EXPECT_THAT(storage().Begin(commit)->Wait(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("2")));
  ASSERT_OK_AND_ASSIGN(const auto events, storage().ReadEvents(study.id, EventSeq(0), kAll));
  EXPECT_THAT(events, SizeIs(2));
}

TEST_P(StorageContract, CommitsOfOneStudyAreAppliedInLine) {
  Study study = Create("a");
  std::vector<std::unique_ptr<PendingCommit>> line;
  for (int i = 0; i < 10; ++i) {
    const Commit commit = TrialCommit(study);
    study = commit.header;
    line.push_back(storage().Begin(commit));
  }
  // The last one first: all before it are durable then.
  EXPECT_THAT(line.back()->Wait(), IsOk());
  ASSERT_OK_AND_ASSIGN(const Study read, storage().GetStudy(study.id));
  EXPECT_EQ(read, study);
  for (const auto& commit : line) EXPECT_THAT(commit->Wait(), IsOk());
}

TEST_P(StorageContract, CommitsBehindAFailedOneAreAborted) {
  const Study study = Create("a");
  const auto failed = storage().Begin(TrialCommitAfter(EventSeq(7), study));
  // Right by the store's last event, but made without knowing that the one before failed.
  const auto behind = storage().Begin(TrialCommit(study));
  EXPECT_THAT(behind->Wait(), StatusIs(absl::StatusCode::kAborted, HasSubstr("before")));
  EXPECT_THAT(failed->Wait(), StatusIs(absl::StatusCode::kAborted));
  // Whoever was told may go on.
  EXPECT_THAT(storage().Begin(TrialCommit(study))->Wait(), IsOk());
}

TEST_P(StorageContract, AStudyCanBeDeletedBehindAFailedCommit) {
  const Study study = Create("a");
  Commit wrong = TrialCommit(study);
  wrong.events.clear();
  const auto failed = storage().Begin(wrong);
  EXPECT_THAT(storage().DeleteStudy(study.id, ""), IsOk());
  EXPECT_THAT(failed->Wait(), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(StorageContract, AFailedCommitStopsNoOtherStudy) {
  const Study a = Create("a");
  const Study b = Create("b");
  Commit wrong = TrialCommit(a);
  wrong.study = StudyId(99);
  wrong.header.id = StudyId(99);
  const auto failed = storage().Begin(wrong);
  const auto fine = storage().Begin(TrialCommit(b));
  EXPECT_THAT(fine->Wait(), IsOk());
  EXPECT_THAT(failed->Wait(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(StorageContract, WaitMayBeCalledAgain) {
  const auto commit = storage().Begin(TrialCommit(Create("a")));
  EXPECT_THAT(commit->Wait(), IsOk());
  EXPECT_THAT(commit->Wait(), IsOk());
}

TEST_P(StorageContract, WhoDoesNotWaitIsTold) {
  Study study = Create("a");
  constexpr int kCommits = 10;
  absl::BlockingCounter told(kCommits);
  std::vector<absl::Status> stored(kCommits, absl::UnknownError("not told"));
  for (absl::Status& status : stored) {
    const Commit commit = TrialCommit(study);
    study = commit.header;
    // What was given to Then is kept though the pending commit goes.
    storage().Begin(commit)->Then([&](const absl::Status& came_to) {
      status = came_to;
      told.DecrementCount();
    });
  }
  told.Wait();
  for (const absl::Status& status : stored) EXPECT_THAT(status, IsOk());
  ASSERT_OK_AND_ASSIGN(const Study read, storage().GetStudy(study.id));
  EXPECT_EQ(read, study);
}

TEST_P(StorageContract, WhoDoesNotWaitIsToldOfRefusals) {
  const Study study = Create("a");
  absl::Notification failed_told;
  absl::Notification behind_told;
  const auto failed = storage().Begin(TrialCommitAfter(EventSeq(7), study));
  const auto behind = storage().Begin(TrialCommit(study));
  behind->Then([&](const absl::Status& status) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, HasSubstr("before")));
    behind_told.Notify();
  });
  behind_told.WaitForNotification();
  failed->Then([&](const absl::Status& status) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
    failed_told.Notify();
  });
  failed_told.WaitForNotification();
  EXPECT_THAT(behind->Wait(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(storage().Begin(TrialCommit(study))->Wait(), IsOk());
}

TEST_P(StorageContract, ACommitNobodyWaitsForIsMadeBeforeTheNext) {
  Study study = Create("a");
  const Commit first = TrialCommit(study);
  storage().Begin(first);
  EXPECT_THAT(storage().Begin(TrialCommit(first.header))->Wait(), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto trials, storage().ListTrials(study.id, TrialNumber(0), kAll));
  EXPECT_THAT(trials, SizeIs(2));
}

TEST_P(StorageContract, CommitsThatMakeNoSenseAreRefused) {
  const Study study = Create("a");
  Commit empty = TrialCommit(study);
  empty.events.clear();
  Commit gap = TrialCommit(study);
  gap.events.front().seq = EventSeq(3);
  Commit header = TrialCommit(study);
  header.header.last_event = EventSeq(9);
  Commit other = TrialCommit(study);
  other.header.id = StudyId(9);
  Commit headless = TrialCommit(study);
  headless.snapshot = SnapshotChange{.parts = {"a"}, .head = ""};
  for (const Commit& commit : {empty, gap, header, other, headless}) {
    EXPECT_THAT(storage().Begin(commit)->Wait(), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  ASSERT_OK_AND_ASSIGN(const Study read, storage().GetStudy(study.id));
  EXPECT_EQ(read, study);
}

TEST_P(StorageContract, ListsComeInPages) {
  Study study = Create("a");
  for (int i = 0; i < 5; ++i) study = Apply(TrialCommit(study));
  Create("b");
  ASSERT_OK_AND_ASSIGN(const auto studies, storage().ListStudies(StudyId(1), 5));
  ASSERT_THAT(studies, SizeIs(1));
  EXPECT_EQ(studies[0].spec.name, "b");
  ASSERT_OK_AND_ASSIGN(const auto first_study, storage().ListStudies(StudyId(0), 1));
  EXPECT_THAT(first_study, SizeIs(1));
  ASSERT_OK_AND_ASSIGN(const auto trials, storage().ListTrials(study.id, TrialNumber(2), 2));
  ASSERT_THAT(trials, SizeIs(2));
  EXPECT_EQ(trials[0].number, TrialNumber(3));
  ASSERT_OK_AND_ASSIGN(const auto events, storage().ReadEvents(study.id, EventSeq(4), 1));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].seq, EventSeq(5));
  ASSERT_OK_AND_ASSIGN(const auto none, storage().ReadEvents(study.id, EventSeq(6), kAll));
  EXPECT_THAT(none, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const auto all, storage().ListTrials(study.id, TrialNumber(0), SIZE_MAX));
  EXPECT_THAT(all, SizeIs(5));
}

// Trials of every kind that an order has to place: with equal values, without one, with NaN and infinities, ended and not,
// with a final value that is not the last one reported.
std::vector<Trial> TrialsToRank() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::optional<double>> values = {
      0.5, 0.25, std::nullopt, kNaN, 0.5, -kInfinity, kInfinity, -0.0, 0.0, 1e-300, 0.1, 0.5};
  const std::vector<TrialState> states = {TrialState::kCompleted,
                                          TrialState::kRunning,
                                          TrialState::kFailed,
                                          TrialState::kCompleted,
                                          TrialState::kStopping};
  std::vector<Trial> trials;
  for (std::int64_t number = 1; number <= 60; ++number) {
    const auto index = static_cast<std::size_t>(number);
    Trial trial;
    trial.number = TrialNumber(number);
    trial.state = states[index % states.size()];
    trial.created = absl::FromUnixSeconds(1'700'000'000);
    if (IsFinished(trial.state)) trial.ended = trial.created + absl::Seconds(1);
    const std::optional<double> value = values[index % values.size()];
    if (value.has_value()) {
      trial.last = Measurement{.step = 1, .metrics = {{"loss", *value}, {"other", -1.0}}};
    }
    if (number % 7 == 0 && IsFinished(trial.state)) trial.final_metrics = {{"loss", 0.125}};
    trials.push_back(std::move(trial));
  }
  return trials;
}

struct ScanCase {
  std::string name;
  TrialScan scan;
};

std::vector<ScanCase> ScanCases() {
  return {{"ByNumber", {}},
          {"ByNumberDescending", {.descending = true}},
          {"ByMetric", {.metric = "loss"}},
          {"ByMetricDescending", {.metric = "loss", .descending = true}},
          {"ByMetricOfNone", {.metric = "unknown"}},
          {"InRange", {.metric = "loss", .least = 0.0, .most = 0.5}},
          {"InRangeDescending", {.metric = "loss", .descending = true, .least = 0.1, .most = 0.5}},
          {"OfOneValue", {.metric = "loss", .least = 0.5, .most = 0.5}},
          {"InNoRange", {.metric = "loss", .least = 0.5, .most = 0.25}},
          {"Failed", {.states = {TrialState::kFailed}}},
          {"Open", {.states = {TrialState::kRunning, TrialState::kStopping}}},
          {"CompletedOrRunning", {.states = {TrialState::kCompleted, TrialState::kRunning}}},
          {"RunningOrFailedDescending",
           {.descending = true, .states = {TrialState::kRunning, TrialState::kFailed}}},
          {"CompletedByMetric", {.metric = "loss", .states = {TrialState::kCompleted}}}};
}

// The order that the scan asks for, written down once more.
std::vector<std::int64_t> Expected(std::vector<Trial> trials, const TrialScan& scan) {
  const auto value_of = [&](const Trial& trial) -> double {
    const auto final = trial.final_metrics.find(scan.metric);
    if (final != trial.final_metrics.end()) return final->second;
    const double none = std::numeric_limits<double>::quiet_NaN();
    if (!trial.last.has_value() || !trial.last->metrics.contains(scan.metric)) return none;
    return trial.last->metrics.at(scan.metric);
  };
  if (scan.metric.empty()) {
    if (scan.descending) std::ranges::reverse(trials);
  } else {
    std::erase_if(trials, [&](const Trial& trial) {
      const double value = value_of(trial);  // NaN is in no range.
      return !(value >= scan.least && value <= scan.most);
    });
    std::ranges::stable_sort(trials, [&](const Trial& a, const Trial& b) {
      const double x = value_of(a);
      const double y = value_of(b);
      return scan.descending ? x > y : x < y;
    });
  }
  std::vector<std::int64_t> numbers;
  for (const Trial& trial : trials) {
    if (scan.states.empty() || std::ranges::count(scan.states, trial.state) > 0) {
      numbers.push_back(trial.number.value());
    }
  }
  return numbers;
}

TEST_P(StorageContract, TrialsAreScannedInTheOrderAskedForPageByPage) {
  const Study study = Create("a");
  const std::vector<Trial> trials = TrialsToRank();
  Commit commit = TrialCommit(study);
  commit.trials = trials;
  Apply(commit);
  for (const auto& [name, scan] : ScanCases()) {
    const std::vector<std::int64_t> expected = Expected(trials, scan);
    for (const std::size_t size : {1u, 7u, 1000u}) {
      std::vector<std::int64_t> numbers;
      TrialScan next = scan;
      bool is_more = true;
      while (is_more) {
        std::size_t count = 0;
        is_more = false;
        const auto visit = [&](const Trial& trial) {
          is_more = count++ == size;
          if (is_more) return false;
          EXPECT_EQ(trial.state, trials[static_cast<std::size_t>(trial.number.value() - 1)].state);
          numbers.push_back(trial.number.value());
          next.after = trial.number;
          return true;
        };
        ASSERT_THAT(storage().ScanTrials(study.id, next, visit), IsOk());
      }
      EXPECT_EQ(numbers, expected) << name << " in pages of " << size;
    }
  }
}

TEST_P(StorageContract, TrialsAreReadByNumberInTheOrderGiven) {
  const Study study = Apply(TrialCommit(Apply(TrialCommit(Apply(TrialCommit(Create("a")))))));
  std::vector<std::int64_t> numbers;
  const TrialScan scan{.numbers = {TrialNumber(3), TrialNumber(7), TrialNumber(1), TrialNumber(2)}};
  const auto visit = [&](const Trial& trial) {
    numbers.push_back(trial.number.value());
    return numbers.size() < 2;
  };
  EXPECT_THAT(storage().ScanTrials(study.id, scan, visit), IsOk());
  EXPECT_THAT(numbers, ElementsAre(3, 1));
}

TEST_P(StorageContract, AScanFollowsTrialsThatChange) {
  Study study = Apply(TrialCommit(Create("a")));
  study = Apply(TrialCommit(study));
  const auto order = [&] {
    std::vector<std::int64_t> numbers;
    EXPECT_THAT(storage().ScanTrials(study.id,
                                     {.metric = "loss"},
                                     [&](const Trial& trial) {
                                       numbers.push_back(trial.number.value());
                                       return true;
                                     }),
                IsOk());
    return numbers;
  };
  EXPECT_THAT(order(), IsEmpty());
  const auto second = [&] { return storage().GetTrial({study.id, TrialNumber(2)}).value(); };
  study = Apply(MeasurementCommit(study, second(), 1));
  EXPECT_THAT(order(), ElementsAre(2));
  Trial first = storage().GetTrial({study.id, TrialNumber(1)}).value();
  study = Apply(MeasurementCommit(study, first, 5));
  EXPECT_THAT(order(), ElementsAre(1, 2));
  Commit ended = MeasurementCommit(study, second(), 9);
  ended.trials.front().state = TrialState::kCompleted;
  ended.trials.front().ended = study.updated;
  ended.trials.front().final_metrics = {{"loss", 0.01}};
  study = Apply(ended);
  EXPECT_THAT(order(), ElementsAre(2, 1));
}

TEST_P(StorageContract, AScanOfNoStudyIsNotFound) {
  const auto visit = [](const Trial&) { return true; };
  for (const TrialScan& scan : {TrialScan(), TrialScan{.metric = "loss"}}) {
    EXPECT_THAT(storage().ScanTrials(StudyId(7), scan, visit),
                StatusIs(absl::StatusCode::kNotFound));
  }
}

TEST_P(StorageContract, MeasurementsAreListedByTrialInTheirOrder) {
  Study study = Apply(TrialCommit(Create("a")));
  study = Apply(TrialCommit(study));
  ASSERT_OK_AND_ASSIGN(const auto trials, storage().ListTrials(study.id, TrialNumber(0), kAll));
  std::vector<Measurement> reported;
  for (const std::int64_t step : {5, 3, 9}) {
    const Commit commit = MeasurementCommit(study, trials[1], step);
    reported.push_back(std::get<MeasurementReported>(commit.events.front().payload).measurement);
    study = Apply(commit);
    study = Apply(MeasurementCommit(study, trials[0], step + 100));
  }
  ASSERT_OK_AND_ASSIGN(const auto listed, storage().ListMeasurements({study.id, TrialNumber(2)}));
  EXPECT_EQ(listed, reported);
}

TEST_P(StorageContract, ReportsOfATrialAreReadAsEvents) {
  Study study = Apply(TrialCommit(Create("a")));
  const TrialId id{study.id, TrialNumber(1)};
  EXPECT_THAT(*storage().ReadReports(id), IsEmpty());
  for (std::int64_t step = 1; step <= 3; ++step) {
    study = Apply(MeasurementCommit(study, *storage().GetTrial(id), step));
  }
  ASSERT_OK_AND_ASSIGN(const auto all, storage().ReadEvents(study.id, EventSeq(0), kAll));
  const std::vector<Event> reports(all.end() - 3, all.end());
  EXPECT_EQ(*storage().ReadReports(id), reports);
  EXPECT_THAT(*storage().ReadReports({study.id, TrialNumber(2)}), IsEmpty());
}

TEST_P(StorageContract, EventsAreReadByTheirRequest) {
  Event created = CreatedEvent("a");
  created.request_id = "make";
  const Study study = storage().CreateStudy(created).value();
  Commit first = TrialCommit(study);
  first.events.front().request_id = "r1";
  Commit second = TrialCommit(Apply(first));
  second.events.front().request_id = "";
  Commit third = TrialCommit(Apply(second));
  third.events.front().request_id = "r1";
  Apply(third);
  EXPECT_THAT(*storage().ReadRequest(study.id, "r1"),
              ElementsAre(first.events.front(), third.events.front()));
  EXPECT_THAT(*storage().ReadRequest(study.id, "make"), ElementsAre(created));
  EXPECT_THAT(*storage().ReadRequest(study.id, "r2"), IsEmpty());
  EXPECT_THAT(*storage().ReadRequest(study.id, ""), IsEmpty());
  EXPECT_THAT(*storage().ReadRequest(Create("b").id, "r1"), IsEmpty());
}

TEST_P(StorageContract, ASnapshotIsStoredWithACommit) {
  const std::string bytes("\0\xFFx\0", 4);
  Study study = Create("a");
  EXPECT_EQ(*storage().ReadSnapshot(study.id), std::nullopt);
  Commit commit = TrialCommit(study);
  commit.snapshot = SnapshotChange{.parts = {"a", bytes}, .head = "{}"};
  study = Apply(commit);
  EXPECT_EQ(storage().ReadSnapshot(study.id)->value(),
            (StudySnapshot{.as_of = study.last_event, .head = "{}", .parts = {"a", bytes}}));
  const EventSeq before = study.last_event;
  study = Apply(TrialCommit(study));  // Without one, which leaves it as it is.
  EXPECT_EQ(storage().ReadSnapshot(study.id)->value().as_of, before);
  commit = TrialCommit(study);
  commit.snapshot = SnapshotChange{.first_part = 2, .parts = {"c"}, .head = "[1]"};
  study = Apply(commit);
  EXPECT_EQ(storage().ReadSnapshot(study.id)->value(),
            (StudySnapshot{.as_of = study.last_event, .head = "[1]", .parts = {"a", bytes, "c"}}));
  EXPECT_EQ(*storage().ReadSnapshot(Create("b").id), std::nullopt);
}

TEST_P(StorageContract, ASnapshotWithoutAHeadIsNone) {
  Study study = Create("a");
  Commit commit = TrialCommit(study);
  commit.snapshot = SnapshotChange{.parts = {"a", "b"}, .head = "{}"};
  study = Apply(commit);
  commit = TrialCommit(study);
  commit.snapshot = SnapshotChange{.first_part = 0, .parts = {"z"}, .head = std::nullopt};
  study = Apply(commit);
  EXPECT_EQ(*storage().ReadSnapshot(study.id), std::nullopt);
  commit = TrialCommit(study);
  commit.snapshot = SnapshotChange{.first_part = 1, .parts = {}, .head = "{}"};
  study = Apply(commit);
  EXPECT_EQ(storage().ReadSnapshot(study.id)->value(),
            (StudySnapshot{.as_of = study.last_event, .head = "{}", .parts = {"z"}}));
}

TEST_P(StorageContract, ARefusedCommitLeavesTheSnapshot) {
  Study study = Create("a");
  Commit commit = TrialCommit(study);
  commit.snapshot = SnapshotChange{.parts = {"a"}, .head = "{}"};
  study = Apply(commit);
  const auto before = *storage().ReadSnapshot(study.id);
  Commit refused = TrialCommitAfter(EventSeq(9), study);
  refused.snapshot = SnapshotChange{.parts = {"z"}, .head = "[]"};
  EXPECT_THAT(storage().Begin(refused)->Wait(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(*storage().ReadSnapshot(study.id), before);
}

TEST_P(StorageContract, ThreadsMayReadAndWriteAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kCommits = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      Study study = Create("s" + std::to_string(t));
      for (int i = 0; i < kCommits; ++i) {
        const Commit commit = TrialCommit(study);
        study = commit.header;
        EXPECT_THAT(storage().Begin(commit)->Wait(), IsOk());
        // What was acknowledged is seen at once.
        EXPECT_EQ(storage().GetStudy(study.id).value(), study);
        EXPECT_THAT(storage().ListStudies(StudyId(0), kAll), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t <= kThreads; ++t) {
    EXPECT_THAT(vernier::testing::CheckConsistent(storage(), StudyId(t)), IsOk());
  }
}

TEST_P(StorageContract, OfTwoCommitsForOneEventOneIsMade) {
  const Study study = Create("a");
  const Commit commit = TrialCommit(study);
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const absl::Status status = storage().Begin(commit)->Wait();
      if (status.ok()) ++made;
      EXPECT_TRUE(status.ok() || absl::IsAborted(status)) << status;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         StorageContract,
                         ::testing::ValuesIn(AllBackends()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace vernier
