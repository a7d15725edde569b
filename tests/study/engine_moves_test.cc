#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class EngineMovesTest : public StudyFixture {
 protected:
  absl::StatusOr<Trial> Move(TrialNumber trial, TrialState to) {
    return studies_->Move({study_.id, trial}, to, FailureClass::kNone, "");
  }
  absl::StatusOr<Trial> Place(TrialNumber trial) {
    return studies_->PlaceAttempt({study_.id, trial}, {{.role = "chief"}}, "/runs/a");
  }
  absl::StatusOr<Trial> MoveAttempt(TrialNumber trial, std::int64_t attempt, AttemptState to) {
    return MoveAttempt(trial, attempt, to, {});
  }
  absl::StatusOr<Trial> MoveAttempt(TrialNumber trial,
                                    std::int64_t attempt,
                                    AttemptState to,
                                    const std::vector<ReplicaResult>& replicas) {
    return studies_->MoveAttempt({{study_.id, trial}, AttemptNumber(attempt)},
                                 to,
                                 FailureClass::kNone,
                                 /*transient=*/false,
                                 "",
                                 replicas);
  }
  TrialNumber AskOne() {
    return studies_->Ask(study_.id, 1, As("engine"), {}).value().front().number;
  }
  TrialNumber RunOne() {
    const TrialNumber trial = AskOne();
    EXPECT_THAT(Move(trial, TrialState::kQueued), IsOk());
    EXPECT_THAT(Place(trial), IsOk());
    EXPECT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning), IsOk());
    EXPECT_THAT(Move(trial, TrialState::kRunning), IsOk());
    return trial;
  }
  absl::StatusOr<Trial> Finish(TrialNumber trial) {
    return studies_->Complete(
        {study_.id, trial}, {.metrics = {{"accuracy", 0.5}}}, std::nullopt, As("engine"));
  }

  Study study_ = Create(JobSpec());
};

TEST_F(EngineMovesTest, ALaunchedTrialGoesThroughItsStates) {
  const TrialNumber trial = RunOne();
  const Trial running = Get(study_.id, trial);
  EXPECT_EQ(running.state, TrialState::kRunning);
  EXPECT_EQ(running.attempts.front().directory, "/runs/a");
  EXPECT_EQ(running.started, clock_.Now());
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kSucceeded), IsOk());
  ASSERT_THAT(Finish(trial), IsOk());
  EXPECT_EQ(Get(study_.id).completed, 1);
  EXPECT_EQ(Get(study_.id).open, 0);
}

// GPUs count from placement to end of each attempt, whatever became of it.
class UsageTest : public EngineMovesTest {
 protected:
  void StartAgain(std::optional<double> gpu_hours) {
    StudySpec spec = JobSpec();
    spec.name = "gpus";
    spec.parallel = 2;
    spec.budget = {.gpu_hours = gpu_hours};
    study_ = Create(spec);
  }
  // With two GPUs for the chief and one for the worker.
  TrialNumber RunOnGpus() {
    const TrialNumber trial = AskOne();
    PlaceOnGpus(trial);
    return trial;
  }
  void PlaceOnGpus(TrialNumber trial) {
    EXPECT_THAT(Move(trial, TrialState::kQueued), IsOk());
    EXPECT_THAT(studies_->PlaceAttempt(
                    {study_.id, trial},
                    {{.role = "chief", .gpus = {"0", "1"}}, {.role = "worker", .gpus = {"2"}}},
                    "/runs/a"),
                IsOk());
  }
  void End(TrialNumber trial, std::int64_t attempt, AttemptState state) {
    const std::vector<ReplicaResult> used = {
        {.role = "chief", .cpu_time = absl::Seconds(7), .peak_memory_bytes = 100},
        {.role = "worker", .cpu_time = absl::Seconds(5), .peak_memory_bytes = 300}};
    EXPECT_THAT(MoveAttempt(trial, attempt, AttemptState::kRunning), IsOk());
    EXPECT_THAT(MoveAttempt(trial, attempt, state, used), IsOk());
  }
};

TEST_F(UsageTest, IsSummedOverReplicasAndAttempts) {
  StartAgain(std::nullopt);
  const TrialNumber trial = RunOnGpus();
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(Get(study_.id).used, ResourceUsage{});  // Of attempts that have ended.
  EXPECT_EQ(UsageOf(Get(study_.id, trial)), ResourceUsage{});
  End(trial, 1, AttemptState::kLost);
  clock_.Advance(absl::Hours(5));  // Waits, and holds nothing.
  PlaceOnGpus(trial);
  clock_.Advance(absl::Minutes(20));
  ASSERT_THAT(Move(trial, TrialState::kRunning), IsOk());
  End(trial, 2, AttemptState::kSucceeded);
  ASSERT_THAT(Finish(trial), IsOk());
  const ResourceUsage used{
      .cpu_time = absl::Seconds(24), .gpu_time = absl::Minutes(90), .peak_memory_bytes = 300};
  EXPECT_EQ(UsageOf(Get(study_.id, trial)), used);
  EXPECT_EQ(Get(study_.id).used, used);
  Restart();
  EXPECT_EQ(Get(study_.id).used, used);
}

TEST_F(UsageTest, OfDevicesThatAClusterChoosesCountsFromTheStart) {
  StartAgain(std::nullopt);
  const TrialNumber trial = AskOne();
  ASSERT_THAT(Move(trial, TrialState::kQueued), IsOk());
  ASSERT_THAT(studies_->PlaceAttempt(
                  {study_.id, trial},
                  {{.role = "chief", .gpus = {kUnknownGpu, kUnknownGpu}}, {.role = "worker"}},
                  "/runs/a"),
              IsOk());
  clock_.Advance(absl::Hours(5));  // In the cluster's queue.
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning), IsOk());
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(GpuTime(Get(study_.id, trial).attempts.front(), clock_.Now()), absl::Minutes(20));
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kSucceeded), IsOk());
  EXPECT_EQ(Get(study_.id).used.gpu_time, absl::Minutes(20));

  // One that is stopped while it waits there has held nothing.
  Attempt waiting{.placement = {{.gpus = {kUnknownGpu}}}, .placed = clock_.Now()};
  EXPECT_EQ(GpuTime(waiting, clock_.Now() + absl::Hours(1)), absl::ZeroDuration());
  waiting.ended = clock_.Now() + absl::Hours(2);
  EXPECT_EQ(GpuTime(waiting, clock_.Now() + absl::Hours(3)), absl::ZeroDuration());
}

TEST_F(UsageTest, AStudyThatHasHeldItsGpuHoursCreatesNoMoreTrials) {
  StartAgain(1.0);
  const TrialNumber first = RunOnGpus();
  ASSERT_THAT(Move(first, TrialState::kRunning), IsOk());
  clock_.Advance(absl::Minutes(10));
  const TrialNumber second = RunOnGpus();
  ASSERT_THAT(Move(second, TrialState::kRunning), IsOk());
  End(first, 1, AttemptState::kSucceeded);
  ASSERT_THAT(Finish(first), IsOk());
  clock_.Advance(absl::Minutes(9));  // 30 and 27 minutes are held.
  EXPECT_THAT(
      studies_->Amend(study_.id, {.gpu_hours = 0.5}, As("ann")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "budget.gpu_hours: must be at least 0.950, which is spent already, got 0.5"));
  clock_.Advance(absl::Minutes(1));  // What runs counts, too.
  const auto refused = studies_->Ask(study_.id, 1, As("engine"), {});
  EXPECT_THAT(
      refused,
      StatusIs(absl::StatusCode::kResourceExhausted, "study 'gpus': budget of 1 GPU hours spent"));
  EXPECT_EQ(GetReason(refused.status()), Reason::kBudgetSpent);
  EXPECT_EQ(Get(study_.id).state, StudyState::kActive);  // The second goes on.
  End(second, 1, AttemptState::kSucceeded);
  ASSERT_THAT(Finish(second), IsOk());
  EXPECT_EQ(Get(study_.id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(study_.id).reason, "budget of 1 GPU hours spent");
  const auto replayed = studies_->Replay(study_.id);
  ASSERT_THAT(replayed, IsOk());
  EXPECT_EQ(replayed->verified, 2);
}

TEST_F(UsageTest, GpuHoursMayBeRaisedBeforeTheyAreSpent) {
  StartAgain(1.0);
  const TrialNumber first = RunOnGpus();
  clock_.Advance(absl::Minutes(30));
  EXPECT_EQ(GetReason(studies_->Ask(study_.id, 1, As("engine"), {}).status()),
            Reason::kBudgetSpent);
  ASSERT_THAT(studies_->Amend(study_.id, {.gpu_hours = 2.0}, As("ann")), IsOk());
  EXPECT_NE(AskOne(), first);
}

TEST_F(EngineMovesTest, IllegalMovesNameBothStates) {
  const TrialNumber trial = AskOne();
  EXPECT_THAT(Move(trial, TrialState::kRunning),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "trial 1 is REQUESTED: it cannot become RUNNING"));
  EXPECT_THAT(Place(trial), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Finish(trial), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(EngineMovesTest, ARetryIsANewAttemptOfTheSameTrial) {
  const TrialNumber trial = RunOne();
  ASSERT_THAT(Move(trial, TrialState::kQueued), IsOk());
  EXPECT_THAT(Place(trial), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("RUNNING")));
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kLost), IsOk());
  ASSERT_THAT(Place(trial), IsOk());
  EXPECT_EQ(Get(study_.id, trial).attempts.size(), 2);
  EXPECT_EQ(Get(study_.id).trials, 1);
}

TEST_F(EngineMovesTest, ALateResultOfTheLiveAttemptIsAcceptedOneOfAFencedAttemptIsNot) {
  const TrialNumber trial = RunOne();
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kLost), IsOk());
  EXPECT_THAT(MoveAttempt(trial, 1, AttemptState::kSucceeded), IsOk());
  ASSERT_THAT(Move(trial, TrialState::kQueued), IsOk());
  ASSERT_THAT(Place(trial), IsOk());
  const auto fenced = MoveAttempt(trial, 1, AttemptState::kFailed);
  EXPECT_THAT(fenced, StatusIs(absl::StatusCode::kAborted, HasSubstr("attempt 2")));
  EXPECT_EQ(GetReason(fenced.status()), Reason::kLeaseLost);
  EXPECT_THAT(MoveAttempt(trial, 3, AttemptState::kFailed), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(EngineMovesTest, RepeatingAnAttemptsStateRecordsNothing) {
  const TrialNumber trial = RunOne();
  const EventSeq before = Get(study_.id).last_event;
  EXPECT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning), IsOk());
  EXPECT_EQ(Get(study_.id).last_event, before);
}

TEST_F(EngineMovesTest, ARestartOfAReplicaIsRecordedWhileTheAttemptRuns) {
  const TrialNumber trial = RunOne();
  const absl::Time started = clock_.Now();
  clock_.Advance(absl::Minutes(1));
  const std::vector<ReplicaResult> restarted = {{.role = "chief", .restarts = 2}};
  const EventSeq before = Get(study_.id).last_event;
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning, restarted), IsOk());
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning, restarted), IsOk());
  EXPECT_EQ(Get(study_.id).last_event.value(), before.value() + 1);
  Restart();
  const Attempt attempt = Get(study_.id, trial).attempts.front();
  EXPECT_EQ(attempt.replicas, restarted);
  EXPECT_EQ(attempt.started, started);
}

TEST_F(EngineMovesTest, AQueuedTrialOfAStoppedStudyIsCancelledAtOnce) {
  const TrialNumber queued = AskOne();
  ASSERT_THAT(Move(queued, TrialState::kQueued), IsOk());
  const TrialNumber running = RunOne();
  ASSERT_THAT(studies_->Stop(study_.id, "enough", As("ann")), IsOk());
  EXPECT_EQ(Get(study_.id, queued).state, TrialState::kCancelled);
  EXPECT_EQ(Get(study_.id, running).state, TrialState::kStopping);
  ASSERT_THAT(Move(running, TrialState::kCancelled), IsOk());
  EXPECT_EQ(Get(study_.id).state, StudyState::kStopping);  // Its attempt may still run.
  ASSERT_THAT(MoveAttempt(running, 1, AttemptState::kStopped), IsOk());
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(study_.id).state, StudyState::kCancelled);
}

TEST_F(EngineMovesTest, AWaitingTrialIsTakenUpOnlyWithinTheParallelBound) {
  ASSERT_THAT(studies_->Amend(study_.id, {.parallel = 1}, As("ann")), IsOk());
  const TrialNumber running = RunOne();
  const TrialNumber added =
      studies_->AddTrial(study_.id, {.point = {{"x", 0.5}}}, As("ann"))->number;
  EXPECT_EQ(GetReason(Move(added, TrialState::kQueued).status()), Reason::kParallelLimit);
  ASSERT_THAT(Finish(running), IsOk());
  EXPECT_THAT(Move(added, TrialState::kQueued), IsOk());
}

TEST_F(EngineMovesTest, MovingToCompletedNeedsTheObjective) {
  const TrialNumber trial = RunOne();
  const auto failed = Move(trial, TrialState::kCompleted);
  ASSERT_THAT(failed, IsOk());
  EXPECT_EQ(failed->state, TrialState::kFailed);
  EXPECT_EQ(failed->failure, FailureClass::kNoMetric);
}

TEST_F(EngineMovesTest, ProgramsOfTheRunningAttemptReport) {
  const TrialNumber trial = RunOne();
  const AttemptId attempt{{study_.id, trial}, AttemptNumber(1)};
  clock_.Advance(absl::Seconds(5));
  Measurement bare{.step = 3, .metrics = {{"accuracy", 0.5}}, .source = "client"};
  const auto reported = studies_->ReportFrom(attempt, {bare}, As("report", "r1"));
  ASSERT_THAT(reported.status(), IsOk());
  EXPECT_FALSE(reported->stop);
  // Repeated under its name, it is stored once; also after a restart.
  Restart();
  ASSERT_THAT(studies_->ReportFrom(attempt, {bare}, As("report", "r1")).status(), IsOk());
  bare.step = -1;
  ASSERT_THAT(studies_->ReportFrom(attempt, {bare}, As("report", "r2")).status(), IsOk());
  ASSERT_THAT(studies_->ReportFrom(attempt, {bare}, As("report", "r2")).status(), IsOk());
  const auto measurements = studies_->ListMeasurements(attempt.trial);
  ASSERT_EQ(measurements->size(), 2);
  EXPECT_EQ(measurements->front().source, "report");
  EXPECT_EQ(measurements->front().elapsed, absl::Seconds(5));
  EXPECT_EQ(measurements->back().step, 4);
}

TEST_F(EngineMovesTest, AReportKeepsTheTimeAtWhichItWasMade) {
  const TrialNumber trial = RunOne();
  const AttemptId attempt{{study_.id, trial}, AttemptNumber(1)};
  const absl::Time made = clock_.Now() + absl::Seconds(2);
  clock_.Advance(absl::Seconds(60));
  const Measurement late{.step = 1, .time = made, .metrics = {{"accuracy", 0.5}}};
  // Delivered twice without a name for the request: told apart by what it says.
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(studies_->ReportFrom(attempt, {late}, As("report")).status(), IsOk());
  }
  const auto measurements = studies_->ListMeasurements(attempt.trial);
  ASSERT_EQ(measurements->size(), 1);
  EXPECT_EQ(measurements->front().time, made);
  EXPECT_EQ(measurements->front().elapsed, absl::Seconds(2));
}

TEST_F(EngineMovesTest, ProgramsOfAnEarlierAttemptAreFenced) {
  const TrialNumber trial = RunOne();
  const auto report = [&](std::int64_t attempt) {
    return studies_
        ->ReportFrom({{study_.id, trial}, AttemptNumber(attempt)}, {Measured(1, 0.5)}, As("report"))
        .status();
  };
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kFailed), IsOk());
  EXPECT_THAT(report(1), StatusIs(absl::StatusCode::kAborted, HasSubstr("attempt 1")));
  ASSERT_THAT(Move(trial, TrialState::kQueued), IsOk());
  EXPECT_THAT(report(1), StatusIs(absl::StatusCode::kAborted));
  ASSERT_THAT(Place(trial), IsOk());
  EXPECT_THAT(report(1),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("attempt 2 took its place")));
  EXPECT_EQ(GetReason(report(1)), Reason::kLeaseLost);
  EXPECT_EQ(Get(study_.id, trial).measurements, 0);
  EXPECT_THAT(report(3), StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(report(2), IsOk());
  ASSERT_THAT(MoveAttempt(trial, 2, AttemptState::kRunning), IsOk());
  ASSERT_THAT(Move(trial, TrialState::kRunning), IsOk());
  ASSERT_THAT(Finish(trial), IsOk());
  EXPECT_EQ(GetReason(report(2)), Reason::kTrialFinished);
  EXPECT_EQ(Get(study_.id, trial).measurements, 1);
}

TEST_F(EngineMovesTest, AStoppedTrialTellsItsProgramsAndTakesWhatTheyReport) {
  const TrialNumber trial = RunOne();
  ASSERT_THAT(studies_->StopTrial({study_.id, trial}, "enough", As("ann")), IsOk());
  const auto reported = studies_->ReportFrom(
      {{study_.id, trial}, AttemptNumber(1)}, {Measured(1, 0.5)}, As("report"));
  ASSERT_THAT(reported.status(), IsOk());
  EXPECT_TRUE(reported->stop);
  EXPECT_EQ(reported->trial.stop->explanation, "enough");
  EXPECT_EQ(reported->trial.measurements, 1);
}

TEST_F(EngineMovesTest, OnceEndedATrialNeverChanges) {
  const TrialNumber trial = RunOne();
  ASSERT_THAT(Finish(trial), IsOk());
  EXPECT_EQ(GetReason(Move(trial, TrialState::kQueued).status()), Reason::kTrialFinished);
  EXPECT_EQ(GetReason(Finish(trial).status()), Reason::kTrialFinished);
  EXPECT_EQ(
      GetReason(
          studies_->Report({study_.id, trial}, {Measured(1, 0.5)}, std::nullopt, As("e")).status()),
      Reason::kTrialFinished);
}

// The engine looks now and then; programs start and end in between.
class ProgramTimesTest : public EngineMovesTest {
 protected:
  TrialNumber PlaceNew() {
    const TrialNumber trial = AskOne();
    EXPECT_THAT(Move(trial, TrialState::kQueued), IsOk());
    EXPECT_THAT(Place(trial), IsOk());
    return trial;
  }
  // Two replicas that ran from and until so many seconds after `placed`, as far as they did.
  static std::vector<ReplicaResult> Ran(absl::Time placed,
                                        std::optional<int> chief_end,
                                        std::optional<int> worker_end) {
    std::vector<ReplicaResult> replicas = {{.role = "chief"}, {.role = "worker"}};
    for (ReplicaResult& replica : replicas) replica.started = placed + absl::Seconds(2);
    if (chief_end) replicas[0].ended = placed + absl::Seconds(*chief_end);
    if (worker_end) replicas[1].ended = placed + absl::Seconds(*worker_end);
    return replicas;
  }
};

TEST_F(ProgramTimesTest, AreThoseOfItsRecordsAndNotOfTheLook) {
  const TrialNumber trial = PlaceNew();
  const absl::Time placed = clock_.Now();
  clock_.Advance(absl::Seconds(10));
  ASSERT_THAT(
      MoveAttempt(trial, 1, AttemptState::kRunning, Ran(placed, std::nullopt, std::nullopt)),
      IsOk());
  ASSERT_THAT(Move(trial, TrialState::kRunning), IsOk());
  EXPECT_EQ(Get(study_.id, trial).started, placed + absl::Seconds(2));
  clock_.Advance(absl::Minutes(5));
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kSucceeded, Ran(placed, 20, 25)), IsOk());
  ASSERT_THAT(Finish(trial), IsOk());
  const Trial ended = Get(study_.id, trial);
  EXPECT_EQ(ended.attempts.front().started, placed + absl::Seconds(2));
  EXPECT_EQ(ended.attempts.front().ended, placed + absl::Seconds(25));
  EXPECT_EQ(ended.ended, placed + absl::Seconds(25));
}

TEST_F(ProgramTimesTest, OfALostReplicaIsWhenItWasMissed) {
  const TrialNumber trial = PlaceNew();
  const absl::Time placed = clock_.Now();
  clock_.Advance(absl::Minutes(1));
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning), IsOk());
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kLost, Ran(placed, std::nullopt, 25)), IsOk());
  EXPECT_EQ(Get(study_.id, trial).attempts.front().ended, clock_.Now());
}

TEST_F(ProgramTimesTest, OfAnAttemptThatWasNotLostAfterAllCountOnce) {
  const TrialNumber trial = PlaceNew();
  const absl::Time placed = clock_.Now();
  clock_.Advance(absl::Minutes(1));
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning), IsOk());
  std::vector<ReplicaResult> replicas = Ran(placed, 20, 25);
  replicas[0].cpu_time = absl::Seconds(7);
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kLost, replicas), IsOk());
  EXPECT_EQ(Get(study_.id).used.cpu_time, absl::Seconds(7));
  replicas[0].cpu_time = absl::Seconds(9);
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kSucceeded, replicas), IsOk());
  const Study study = Get(study_.id);
  EXPECT_EQ(study.used.cpu_time, absl::Seconds(9));
  EXPECT_EQ(study.used, UsageOf(Get(study_.id, trial)));
}

TEST_F(ProgramTimesTest, AreNeitherBeforeItsPlaceNorAfterTheLook) {
  const TrialNumber trial = PlaceNew();
  const absl::Time placed = clock_.Now();
  clock_.Advance(absl::Seconds(10));
  const auto early = Ran(placed - absl::Hours(1), 5, 5);  // The host's clock was set since.
  const auto late = Ran(placed + absl::Hours(1), 5, 5);
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning, early), IsOk());
  EXPECT_EQ(Get(study_.id, trial).attempts.front().started, placed);
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kSucceeded, late), IsOk());
  EXPECT_EQ(Get(study_.id, trial).attempts.front().ended, clock_.Now());
}

TEST_F(ProgramTimesTest, ATrialThatWaitsAgainEndsWhenItIsWithdrawn) {
  const TrialNumber trial = PlaceNew();
  const absl::Time placed = clock_.Now();
  clock_.Advance(absl::Minutes(1));
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kRunning, Ran(placed, 20, 20)), IsOk());
  ASSERT_THAT(Move(trial, TrialState::kRunning), IsOk());
  ASSERT_THAT(MoveAttempt(trial, 1, AttemptState::kFailed, Ran(placed, 20, 20)), IsOk());
  ASSERT_THAT(Move(trial, TrialState::kQueued), IsOk());
  clock_.Advance(absl::Hours(1));
  ASSERT_THAT(Move(trial, TrialState::kStopping), IsOk());
  ASSERT_THAT(Move(trial, TrialState::kCancelled), IsOk());
  EXPECT_EQ(Get(study_.id, trial).ended, clock_.Now());
}

}  // namespace
}  // namespace vernier::study
