// Snapshots of studies: what they hold, and that nobody sees a difference.
#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "src/study/fold_loading.h"
#include "src/study/snapshot_head.h"
#include "tests/study/random_workload.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::SizeIs;
using testing::StatusIs;

MATCHER_P(HasReason, reason, "has the reason") {
  return GetReason(testing::ToStatus(arg)) == reason;
}

// Points that can be exhausted.
StudySpec FiniteSpec() {
  StudySpec spec = WorkloadSpec();
  spec.objectives.resize(1);
  spec.outcome_constraints.clear();
  std::vector<ParameterValue> values;
  for (int i = 0; i < 2000; ++i) values.emplace_back("v" + std::to_string(i));
  spec.space = SpaceOf({Choices("c", values)});
  return spec;
}

StudySpec FinalValuesSpec() {
  StudySpec spec = WorkloadSpec();
  spec.objectives[0].final = FinalValue::kBest;
  spec.objectives[1].final = FinalValue::kMeanOfLast;
  spec.objectives[1].final_count = 3;
  return spec;
}

// Studies over one storage, with a snapshot after so many events each.
struct World {
  explicit World(std::int64_t events) : interval(events) { Restart(); }
  void Restart() {
    studies =
        std::make_unique<StudiesImpl>(*storage, clock, AlgorithmCatalogue::BuiltIn(), interval);
  }
  std::string Difference(StudyId id) const {
    const auto log = FoldLog(*storage, id);
    const auto snapshot = FoldSnapshot(*storage, id);
    EXPECT_THAT(log, IsOk());
    EXPECT_THAT(snapshot, IsOk());
    if (!log.ok() || !snapshot.ok() || !snapshot->has_value()) return "";
    ++compared;
    return log->DifferenceTo(**snapshot);
  }

  std::int64_t interval;
  ManualClock clock{absl::FromUnixSeconds(1'800'000'000)};
  std::unique_ptr<Storage> storage = NewMemoryStorage();
  std::unique_ptr<StudiesImpl> studies;
  mutable int compared = 0;
};

constexpr std::int64_t kNever = std::int64_t{1} << 40;

class SnapshotWorkloadTest : public ::testing::TestWithParam<int> {
 protected:
  static StudySpec Spec() {
    return GetParam() % 3 == 0   ? WorkloadSpec()
           : GetParam() % 3 == 1 ? FiniteSpec()
                                 : FinalValuesSpec();
  }
};

// Two worlds that differ in nothing but snapshots answer alike, call by call, and have the same log.
TEST_P(SnapshotWorkloadTest, CallsAnswerAlikeWithAndWithoutSnapshots) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  World with(/*events=*/1 + GetParam() % 9);
  World without(kNever);
  const StudyId id = with.studies->CreateStudy(Spec(), {.actor = "test"}).value().id;
  ASSERT_EQ(without.studies->CreateStudy(Spec(), {.actor = "test"}).value().id, id);
  RandomWorkload calls(*with.studies, with.clock, id, seed);
  RandomWorkload same_calls(*without.studies, without.clock, id, seed);
  for (int i = 0; i < 500; ++i) {
    const absl::Status one = calls.Step();
    const absl::Status other = same_calls.Step();
    ASSERT_EQ(one, other) << "call " << i;
    if (i % 50 == 0) {
      ASSERT_EQ(with.Difference(id), "") << "call " << i;
    }
  }
  EXPECT_GT(with.compared, 5);
  EXPECT_EQ(with.Difference(id), "");
  EXPECT_EQ(with.storage->ReadEvents(id, EventSeq(), SIZE_MAX).value(),
            without.storage->ReadEvents(id, EventSeq(), SIZE_MAX).value());
  EXPECT_EQ(with.storage->ReadSnapshot(id).value().has_value(), true);
  EXPECT_EQ(without.storage->ReadSnapshot(id).value().has_value(), false);
}

TEST_P(SnapshotWorkloadTest, RestartsGoOnFromASnapshotAsFromTheLog) {
  World with(/*events=*/1 + GetParam() % 5);
  World without(kNever);
  const StudyId id = with.studies->CreateStudy(Spec(), {.actor = "test"}).value().id;
  ASSERT_THAT(without.studies->CreateStudy(Spec(), {.actor = "test"}), IsOk());
  for (std::uint64_t round = 0; round < 20; ++round) {
    with.Restart();
    without.Restart();
    RandomWorkload calls(*with.studies, with.clock, id, round);
    RandomWorkload same_calls(*without.studies, without.clock, id, round);
    for (int i = 0; i < 25; ++i) ASSERT_EQ(calls.Step(), same_calls.Step()) << round << ", " << i;
  }
  EXPECT_EQ(with.storage->ReadEvents(id, EventSeq(), SIZE_MAX).value(),
            without.storage->ReadEvents(id, EventSeq(), SIZE_MAX).value());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SnapshotWorkloadTest, ::testing::Range(0, 9));

class FoldSnapshotTest : public StudyFixture {
 protected:
  FoldSnapshotTest() {
    snapshot_interval_ = 10;
    Restart();
  }
  // Of the study as others see it.
  std::string Difference(StudyId id) {
    const auto snapshot = FoldSnapshot(*memory_, id);
    EXPECT_THAT(snapshot, IsOk());
    if (!snapshot.ok() || !snapshot->has_value()) return "no snapshot";
    return FoldLog(*memory_, id)->DifferenceTo(**snapshot);
  }
  // A trial of each of so many requests, completed by another request.
  void CompleteMany(StudyId id, int count) {
    for (int i = 0; i < count; ++i) {
      const auto trials = studies_->Suggest(id, 1, "w1", As("w1", "ask" + std::to_string(i)), {});
      ASSERT_THAT(trials, IsOk());
      const Trial& trial = trials->front();
      ASSERT_THAT(studies_->Report({id, trial.number},
                                   {Measured(1, 0.5), Measured(2, 0.25)},
                                   TokenOf(trial),
                                   As("w1", "report" + std::to_string(i))),
                  IsOk());
      ASSERT_THAT(studies_->Complete({id, trial.number},
                                     {.metrics = {{"accuracy", i / 100.0}}},
                                     TokenOf(trial),
                                     As("w1", "end" + std::to_string(i))),
                  IsOk());
    }
  }
};

TEST_F(FoldSnapshotTest, RowsOfTrialsThatHaveEndedAreLeftToTheStore) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 100);
  EXPECT_LT(studies_->CountRowsInMemory(), 15);
  Restart();
  EXPECT_EQ(Get(study.id).completed, 100);
  SuggestOne(study.id);
  EXPECT_LT(studies_->CountRowsInMemory(), 15);
  EXPECT_EQ(Difference(study.id), "");
}

TEST_F(FoldSnapshotTest, TrialsThatAreLeftToTheStoreAreReadAsBefore) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  Restart();
  const Trial trial = Get(study.id, TrialNumber(3));
  EXPECT_EQ(trial.state, TrialState::kCompleted);
  EXPECT_EQ(trial.final_metrics.at("accuracy"), 0.02);
  EXPECT_EQ(trial, storage_.GetTrial({study.id, TrialNumber(3)}).value());
  const CurvePart curve = studies_->ReadCurve({study.id, TrialNumber(3)}, {}).value();
  EXPECT_EQ(curve.total, 2);
  EXPECT_THAT(curve.measurements, SizeIs(2));
  EXPECT_THAT(studies_->GetTrial({study.id, TrialNumber(31)}), HasReason(Reason::kTrialNotFound));
  EXPECT_THAT(studies_->StopTrial({study.id, TrialNumber(3)}, "", As("me")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("COMPLETED")));
  EXPECT_THAT(studies_->Report({study.id, TrialNumber(3)}, {Measured(3, 1)}, {}, As("me")),
              HasReason(Reason::kTrialFinished));
}

TEST_F(FoldSnapshotTest, RequestsThatAreLeftToTheStoreAreAnsweredAsBefore) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  TrialAddition addition{.point = {{"x", 0.125}}};
  const Trial added = studies_->AddTrial(study.id, addition, As("me", "add")).value();
  MetadataUpdate update;
  update.trials[TrialNumber(4)][{"a", "b"}] = {.content = "first"};
  ASSERT_THAT(studies_->SetMetadata(study.id, update, As("me", "set")), IsOk());
  CompleteMany(study.id, 0);
  const EventSeq before = Get(study.id).last_event;
  for (int restarts = 0; restarts < 2; ++restarts) {
    const auto asked = studies_->Suggest(study.id, 1, "w1", As("w1", "ask7"), {});
    ASSERT_THAT(asked, IsOk());
    EXPECT_EQ(asked->front(), Get(study.id, TrialNumber(8)));
    EXPECT_THAT(studies_->Complete({study.id, TrialNumber(8)},
                                   {.metrics = {{"accuracy", 0.07}}},
                                   std::nullopt,
                                   As("w1", "end7")),
                IsOk());
    EXPECT_THAT(studies_->Complete({study.id, TrialNumber(8)},
                                   {.metrics = {{"accuracy", 0.75}}},
                                   std::nullopt,
                                   As("w1", "end7")),
                HasReason(Reason::kRequestReused));
    EXPECT_THAT(
        studies_->Report(
            {study.id, TrialNumber(8)}, {Measured(1, 0.5)}, std::nullopt, As("w1", "report7")),
        IsOk());
    EXPECT_THAT(studies_->Pause(study.id, As("w1", "ask7")), HasReason(Reason::kRequestReused));
    EXPECT_EQ(studies_->AddTrial(study.id, addition, As("me", "add"))->number, added.number);
    EXPECT_THAT(studies_->SetMetadata(study.id, update, As("me", "set")), IsOk());
    EXPECT_EQ(Get(study.id).last_event, before);
    Restart();
  }
}

// The same request arrives twice, and the second one is carried out while the first one looks for it in the store.
TEST_F(FoldSnapshotTest, ARequestMadeWhileItsTwinLooksForItIsMadeOnce) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  const TrialAddition addition{.point = {{"x", 0.125}}};
  std::optional<Trial> twin;
  storage_.AfterRequestRead([&] {
    twin = studies_->AddTrial(study.id, addition, As("me", "add")).value();
    SuggestOne(study.id);
  });
  const auto added = studies_->AddTrial(study.id, addition, As("me", "add"));
  ASSERT_THAT(added, IsOk());
  ASSERT_TRUE(twin.has_value());
  EXPECT_EQ(added->number, twin->number);
  EXPECT_EQ(Get(study.id).trials, 31);
}

TEST_F(FoldSnapshotTest, WhatIsNotedOfTrialsInTheStoreIsKept) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  Restart();
  MetadataUpdate update;
  update.trials[TrialNumber(4)][{"a", "b"}] = {.content = "kept"};
  ASSERT_THAT(studies_->SetMetadata(study.id, update, As("me")), IsOk());
  Restart();  // Before the next snapshot.
  EXPECT_EQ(Get(study.id, TrialNumber(4)).metadata.size(), 1u);
  CompleteMany(study.id, 0);
  SuggestOne(study.id);
  EXPECT_EQ(Get(study.id, TrialNumber(4)).metadata.size(), 1u);
  EXPECT_EQ(Difference(study.id), "");
}

// To forget one trial takes all others: which is best, what was tried.
TEST_F(FoldSnapshotTest, ADeletionTakesTheLogAndTheNextSnapshotLacksTheTrial) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  Restart();
  ASSERT_EQ(Get(study.id).best, TrialNumber(30));
  ASSERT_THAT(studies_->DeleteTrial({study.id, TrialNumber(30)}, As("me", "delete")), IsOk());
  EXPECT_EQ(Get(study.id).best, TrialNumber(29));
  EXPECT_THAT(studies_->GetTrial({study.id, TrialNumber(30)}), HasReason(Reason::kTrialNotFound));
  Restart();
  EXPECT_EQ(Get(study.id).best, TrialNumber(29));
  SuggestOne(study.id);
  EXPECT_EQ(Difference(study.id), "");
  EXPECT_LT(studies_->CountRowsInMemory(), 15);
  EXPECT_THAT(studies_->DeleteTrial({study.id, TrialNumber(30)}, As("me", "delete")), IsOk());
}

// Heartbeats are not all recorded: what is known of leases outlives the reading of the log.
TEST_F(FoldSnapshotTest, LeasesSurviveADeletion) {
  StudySpec spec = ClientSpec();
  spec.lease.ttl = absl::Seconds(10);
  const Study study = Create(spec);
  CompleteMany(study.id, 30);
  const Trial held = SuggestOne(study.id, "w2");
  clock_.Advance(absl::Seconds(4));
  ASSERT_THAT(studies_->Heartbeat({study.id, held.number}, TokenOf(held)), IsOk());
  ASSERT_THAT(studies_->DeleteTrial({study.id, TrialNumber(1)}, As("me")), IsOk());
  clock_.Advance(absl::Seconds(8));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(study.id, held.number).state, TrialState::kRunning);
  clock_.Advance(absl::Seconds(3));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(study.id, held.number).state, TrialState::kRequested);
}

// A store that was written before there were snapshots gets one bit by bit, with one change after the other.
TEST_F(FoldSnapshotTest, MuchThatHasNoSnapshotIsStoredInParts) {
  snapshot_interval_ = kNever;
  Restart();
  const Study study = Create(ClientSpec());
  for (int trial = 0; trial < 5; ++trial) {
    const Trial added = SuggestOne(study.id);
    for (int first = 0; first < 20'000; first += 1000) {
      std::vector<Measurement> part;
      for (int step = first; step < first + 1000; ++step) part.push_back(Measured(step, 0.5));
      ASSERT_THAT(studies_->Report({study.id, added.number}, part, TokenOf(added), As("w1")),
                  IsOk());
    }
    ASSERT_THAT(Complete(study.id, added, 0.5), IsOk());
  }
  snapshot_interval_ = 10;
  Restart();
  int changes = 0;
  while (!memory_->ReadSnapshot(study.id)->has_value() && changes < 10) {
    ASSERT_THAT(studies_->AddTrial(study.id, {.point = {{"x", 0.25}}}, As("me")), IsOk());
    ++changes;
  }
  EXPECT_GE(changes, 2);
  EXPECT_LT(changes, 10);
  EXPECT_GE(memory_->ReadSnapshot(study.id).value()->parts.size(), 2u);
  EXPECT_EQ(Difference(study.id), "");
}

// Whatever is wrong with a snapshot, the log has all that it has.
TEST_F(FoldSnapshotTest, ASnapshotThatCannotBeUsedIsNotNeeded) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  const StudySnapshot good = *memory_->ReadSnapshot(study.id).value();
  const Event created = Log(study.id).front();
  const auto none = [](TrialNumber) { return std::vector<Event>(); };
  ASSERT_THAT(StudyFold::Restore(study.id, created, good, none), IsOk());

  std::vector<StudySnapshot> bad(8, good);
  bad[0].head = "{";
  bad[1].head = "{}";
  const std::string format = fmt::format("\"format\":{}", SnapshotHead::kFormat);
  bad[2].head.replace(good.head.find(format), format.size(), "\"format\":1");
  bad[3].parts.pop_back();
  bad[4].parts.front().pop_back();
  bad[5].parts.back()[40] = static_cast<char>(bad[5].parts.back()[40] ^ 1);
  bad[6].parts.front().clear();
  bad[7].as_of = EventSeq(good.as_of.value() + 1);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_THAT(StudyFold::Restore(study.id, created, bad[i], none).status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("")))
        << i;
    // What a commit of ours would not do.
    Study header = Get(study.id);
    const EventSeq last = header.last_event;
    header.last_event = EventSeq(last.value() + 1);
    Commit commit{.study = study.id,
                  .expected = last,
                  .events = {{.seq = header.last_event,
                              .time = header.updated,
                              .actor = "test",
                              .payload = MetadataChanged{}}},
                  .header = header,
                  .trials = {}};
    commit.snapshot = SnapshotChange{.parts = bad[i].parts, .head = bad[i].head};
    Restart();
    ASSERT_THAT(memory_->Begin(commit)->Wait(), IsOk());
    const Trial next = SuggestOne(study.id);
    EXPECT_EQ(next.number.value(), static_cast<std::int64_t>(31 + i));
    EXPECT_THAT(Complete(study.id, next, 0.5), IsOk());
  }
  EXPECT_EQ(Difference(study.id), "");
}

// What is in the snapshot must be durable before anything is left to the store.
TEST_F(FoldSnapshotTest, NothingIsLeftToAStoreThatRefusesTheSnapshot) {
  const Study study = Create(ClientSpec());
  CompleteMany(study.id, 30);
  const Trial held = SuggestOne(study.id, "w2");
  storage_.FailCommits(3, absl::ResourceExhaustedError("the disk is full"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(
        studies_->Complete(
            {study.id, held.number}, {.metrics = {{"accuracy", 0.5}}}, TokenOf(held), As("w2")),
        StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("full")));
  }
  EXPECT_EQ(Get(study.id, held.number).state, TrialState::kRunning);
  EXPECT_THAT(Complete(study.id, held, 0.5), IsOk());
  EXPECT_EQ(Get(study.id, held.number).state, TrialState::kCompleted);
}

}  // namespace
}  // namespace vernier::study
