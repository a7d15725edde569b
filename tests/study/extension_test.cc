// Studies whose definition changes after their creation, and studies that go on after they had ended.

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "src/study/replay.h"
#include "tests/study/replay_driver.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::AskedFor;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

class ExtensionTest : public StudyFixture {
 protected:
  static StudySpec Bounded(std::int64_t trials) {
    StudySpec spec = ClientSpec();
    spec.budget.trials = trials;
    return spec;
  }
  void CompleteOne(StudyId id, double accuracy = 0.5) {
    ASSERT_THAT(Complete(id, SuggestOne(id), accuracy), IsOk());
  }
  StudyId CreateAndComplete(const StudySpec& spec, int trials) {
    const StudyId id = Create(spec).id;
    for (int i = 0; i < trials; ++i) CompleteOne(id);
    return id;
  }
  absl::StatusOr<Study> Amend(StudyId id, const Amendment& change) {
    return studies_->Amend(id, change, As("ann"));
  }
  StudyState StateAfter(StudyId id, const Amendment& change) {
    const auto study = Amend(id, change);
    EXPECT_THAT(study, IsOk());
    return study.ok() ? study->state : StudyState::kCancelled;
  }
  void ExpectReplays(StudyId id) {
    const auto report = studies_->Replay(id);
    ASSERT_THAT(report, IsOk());
    for (const auto& line : report->problems) ADD_FAILURE() << line.detail;
    EXPECT_EQ(report->verified, report->suggestions + report->stops);
  }
};

TEST_F(ExtensionTest, ARaisedBudgetLetsACompletedStudyGoOn) {
  const StudyId id = CreateAndComplete(Bounded(2), 2);
  ASSERT_EQ(Get(id).state, StudyState::kCompleted);
  const EventSeq before = Get(id).last_event;
  const auto extended = studies_->Amend(id, {.trials = 4}, As("ann", "r1"));
  ASSERT_THAT(extended, IsOk());
  EXPECT_EQ(extended->state, StudyState::kActive);
  EXPECT_EQ(extended->reason, "extended by ann");
  EXPECT_EQ(extended->spec_version, 2);
  EXPECT_THAT(Kinds(id, before), ElementsAre("study_amended", "study_state_changed"));
  EXPECT_EQ(studies_->Tick().value(), std::vector<StudyId>{id});
  Restart();
  EXPECT_EQ(studies_->Tick().value(), std::vector<StudyId>{id});
  EXPECT_EQ(Get(id).best, TrialNumber(1));
  EXPECT_EQ(SuggestOne(id).number, TrialNumber(3));
  // The same request once more is the same answer, and no other extension.
  EXPECT_EQ(studies_->Amend(id, {.trials = 4}, As("ann", "r1"))->spec_version, 2);
  EXPECT_EQ(GetReason(studies_->Amend(id, {.trials = 5}, As("ann", "r1")).status()),
            Reason::kRequestReused);
  ExpectReplays(id);
}

TEST_F(ExtensionTest, EndsAgainOnceTheRaisedBudgetIsSpent) {
  const StudyId id = CreateAndComplete(Bounded(1), 1);
  ASSERT_EQ(StateAfter(id, {.trials = 2}), StudyState::kActive);
  CompleteOne(id);
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(id).reason, "budget of 2 trials spent");
  EXPECT_THAT(studies_->Tick().value(), IsEmpty());
}

TEST_F(ExtensionTest, TicksAStudyThatGoesOnWhileOthersAreLookedAt) {
  const StudyId id = CreateAndComplete(Bounded(1), 1);
  EXPECT_THAT(studies_->Tick().value(), IsEmpty());
  ASSERT_EQ(StateAfter(id, {.trials = 2}), StudyState::kActive);
  EXPECT_EQ(studies_->Tick().value(), std::vector<StudyId>{id});
}

// What does not ask for more leaves a study as it has ended.
TEST_F(ExtensionTest, OtherChangesAreRecordedAndTheStudyStaysEnded) {
  const StudyId id = CreateAndComplete(Bounded(3), 1);
  ASSERT_THAT(studies_->Finish(id, "good enough", As("ann")), IsOk());
  ASSERT_EQ(Get(id).state, StudyState::kCompleted);
  EXPECT_EQ(StateAfter(id, {.parallel = 7}), StudyState::kCompleted);
  EXPECT_EQ(StateAfter(id, {.labels = {{"a", "b"}}}), StudyState::kCompleted);
  EXPECT_EQ(StateAfter(id, {.trials = 2}), StudyState::kCompleted);
  EXPECT_EQ(StateAfter(id, {.stopping = Choice{.name = "median", .options = {}}}),
            StudyState::kCompleted);
  EXPECT_EQ(Get(id).spec.parallel, 7);
  EXPECT_EQ(Get(id).reason, "good enough");
  EXPECT_EQ(Get(id).spec_version, 5);
  EXPECT_EQ(StateAfter(id, {.trials = 3}), StudyState::kActive);
}

TEST_F(ExtensionTest, StoppedStudiesStayEnded) {
  const StudyId id = CreateAndComplete(Bounded(3), 1);
  const Trial running = SuggestOne(id);
  ASSERT_THAT(studies_->Stop(id, "enough", As("ann")), IsOk());
  EXPECT_THAT(Amend(id, {.trials = 9}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is STOPPING: nothing")));
  ASSERT_THAT(Complete(id, running, 0.5), IsOk());
  const auto refused = Amend(id, {.trials = 9});
  EXPECT_THAT(refused,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("it stays ended")));
  EXPECT_EQ(GetReason(refused.status()), Reason::kStudyNotActive);
  EXPECT_EQ(StateAfter(id, {.labels = {{"a", "b"}}}), StudyState::kCancelled);
}

TEST_F(ExtensionTest, ResumingIsForPausedStudiesOnly) {
  const StudyId id = CreateAndComplete(Bounded(1), 1);
  const auto resumed = studies_->Resume(id, As("ann"));
  EXPECT_THAT(resumed,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "study 'digits' is COMPLETED: only a paused study can be resumed"));
  EXPECT_EQ(GetReason(resumed.status()), Reason::kIllegalTransition);
}

TEST_F(ExtensionTest, TimeWhileEndedDoesNotCount) {
  StudySpec spec = ClientSpec();
  spec.budget.time = absl::Hours(1);
  const StudyId id = CreateAndComplete(spec, 1);
  clock_.Advance(absl::Hours(1));
  ASSERT_THAT(studies_->Tick(), IsOk());
  ASSERT_EQ(Get(id).reason, "time budget of 1h spent");
  clock_.Advance(absl::Hours(100));
  // What was passed by a little, and is not named, is no objection.
  EXPECT_EQ(StateAfter(id, {.parallel = 2}), StudyState::kCompleted);
  ASSERT_EQ(StateAfter(id, {.time = absl::Hours(3)}), StudyState::kActive);
  Restart();
  clock_.Advance(absl::Minutes(119));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  clock_.Advance(absl::Minutes(1));
  ASSERT_THAT(studies_->Tick(), IsOk());
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
}

TEST_F(ExtensionTest, AConvergedStudyGoesOnUntilItConvergesAnew) {
  double expected = 0;
  int made = 0;
  UseScript([&](const AskedFor& asked, Rng, const std::stop_token&) -> absl::StatusOr<Suggestions> {
    Suggestions suggestions;
    for (std::size_t i = 0; i < asked.count; ++i) {
      suggestions.points.push_back(
          {.point = {{"x", 1e-3 * ++made}}, .origin = "model", .expected_improvement = expected});
    }
    return suggestions;
  });
  StudySpec spec = Bounded(20);
  spec.convergence = {.tolerance = 0.01, .stop = true};
  const StudyId id = CreateAndComplete(spec, 5);
  ASSERT_EQ(Get(id).state, StudyState::kCompleted);
  ASSERT_EQ(StateAfter(id, {.trials = 30}), StudyState::kActive);
  EXPECT_EQ(Get(id).converged, std::nullopt);
  for (int i = 0; i < 4; ++i) CompleteOne(id);
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  CompleteOne(id);
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(id).converged, TrialNumber(10));
  // Without the rule it goes on, with a looser one what was tried is judged by that.
  const std::optional<Convergence> none;
  ASSERT_EQ(StateAfter(id, {.convergence = none}), StudyState::kActive);
  EXPECT_EQ(Get(id).converged, std::nullopt);
  expected = 0.02;
  for (int i = 0; i < 5; ++i) CompleteOne(id);
  const std::optional<Convergence> looser = Convergence{.tolerance = 0.1, .stop = true};
  EXPECT_EQ(StateAfter(id, {.convergence = looser}), StudyState::kCompleted);
  EXPECT_EQ(Get(id).converged, TrialNumber(5));
  Restart();
  EXPECT_EQ(Get(id).converged, TrialNumber(5));
}

TEST_F(ExtensionTest, AnExhaustedSpaceEndsTheStudyAgain) {
  StudySpec spec = Bounded(9);
  spec.space = SpaceOf({Choices("kind", {ParameterValue("a"), ParameterValue("b")})});
  spec.algorithm.name = "grid";
  const StudyId id = CreateAndComplete(spec, 2);
  EXPECT_EQ(GetReason(studies_->Suggest(id, 1, "w1", As("w1"), {}).status()),
            Reason::kSpaceExhausted);
  ASSERT_EQ(Get(id).state, StudyState::kCompleted);
  ASSERT_EQ(StateAfter(id, {.trials = 99}), StudyState::kActive);
  EXPECT_EQ(GetReason(studies_->Suggest(id, 1, "w1", As("w1"), {}).status()),
            Reason::kSpaceExhausted);
  EXPECT_EQ(Get(id).reason, "all 2 cells of the grid were proposed");
}

// --- failures ---

class FixTest : public ExtensionTest {
 protected:
  static TrainingJob Job(const std::string& program) {
    TrainingJob job;
    job.command = {program};
    return job;
  }
  TrialNumber Start(StudyId study) {
    const auto asked = studies_->Ask(study, 1, As("engine"), {});
    EXPECT_THAT(asked, IsOk());
    if (!asked.ok()) return TrialNumber();
    const TrialNumber trial = asked->front().number;
    EXPECT_THAT(studies_->Move({study, trial}, TrialState::kQueued, FailureClass::kNone, ""),
                IsOk());
    EXPECT_THAT(studies_->PlaceAttempt({study, trial}, {{.role = "chief"}}, "/runs"), IsOk());
    EXPECT_THAT(studies_->Move({study, trial}, TrialState::kRunning, FailureClass::kNone, ""),
                IsOk());
    return trial;
  }
  void EndAttempt(StudyId study, TrialNumber trial, AttemptState state) {
    EXPECT_THAT(studies_->MoveAttempt(
                    {{study, trial}, AttemptNumber(1)}, state, FailureClass::kNone, false, "", {}),
                IsOk());
  }
  void Fail(StudyId study, TrialNumber trial, const std::string& message) {
    EndAttempt(study, trial, AttemptState::kFailed);
    ASSERT_THAT(studies_->Fail(
                    {study, trial}, FailureClass::kUserError, message, std::nullopt, As("engine")),
                IsOk());
  }
  void Succeed(StudyId study, TrialNumber trial) {
    EndAttempt(study, trial, AttemptState::kSucceeded);
    ASSERT_THAT(studies_->Complete(
                    {study, trial}, {.metrics = {{"accuracy", 0.5}}}, std::nullopt, As("engine")),
                IsOk());
  }
  void FailSome(StudyId study, int count, const std::string& message = "exit 1") {
    for (int i = 0; i < count; ++i) Fail(study, Start(study), message);
  }
};

TEST_F(FixTest, AChangedJobLetsAStudyGoOnThatFailed) {
  const StudyId id = Create(JobSpec()).id;
  FailSome(id, 3);
  ASSERT_EQ(Get(id).state, StudyState::kFailed);
  // More trials of a job that cannot succeed are no use.
  EXPECT_EQ(StateAfter(id, {.trials = 50}), StudyState::kFailed);
  ASSERT_EQ(StateAfter(id, {.job = Job("false")}), StudyState::kActive);
  Restart();
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  FailSome(id, 2, "no such file");
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  FailSome(id, 1, "no such file");
  EXPECT_EQ(Get(id).state, StudyState::kFailed);
  EXPECT_EQ(Get(id).reason, "first 3 trials since the job was changed all failed: no such file");
  // Points that failed may be tried again by hand once it goes on.
  ASSERT_EQ(StateAfter(id, {.job = Job("true")}), StudyState::kActive);
  EXPECT_THAT(studies_->AddTrial(id, {.point = Get(id, TrialNumber(1)).point}, As("ann")), IsOk());
  Succeed(id, Start(id));
  ExpectReplays(id);
}

TEST_F(FixTest, AFixedProgramLetsItGoOnWithoutAnotherDefinition) {
  const StudyId id = Create(JobSpec()).id;
  FailSome(id, 3);
  ASSERT_EQ(StateAfter(id, {.fixed = true}), StudyState::kActive);
  EXPECT_EQ(Get(id).spec_version, 2);
  FailSome(id, 2);
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  Restart();
  FailSome(id, 1);
  EXPECT_EQ(Get(id).state, StudyState::kFailed);
}

TEST_F(FixTest, OtherMetricsLetItGoOn) {
  const StudyId id = Create(JobSpec()).id;
  FailSome(id, 3, "ended without reporting its accuracy");
  EXPECT_EQ(
      StateAfter(id,
                 {.metrics = {{{"accuracy", {.kind = MetricSourceKind::kAfter, .text = "acc="}}}}}),
      StudyState::kActive);
}

TEST_F(FixTest, TheBoundOnFailuresCountsThoseSinceTheChange) {
  StudySpec spec = JobSpec();
  spec.budget.failed_trials = 2;
  const StudyId id = Create(spec).id;
  FailSome(id, 2);
  ASSERT_EQ(Get(id).state, StudyState::kFailed);
  EXPECT_THAT(Amend(id, {.failed_trials = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least 2")));
  ASSERT_EQ(StateAfter(id, {.failed_trials = 1, .job = Job("false")}), StudyState::kActive);
  FailSome(id, 1);
  EXPECT_EQ(Get(id).reason, "1 trial failed since the job was changed, the bound is 1");
  EXPECT_EQ(Get(id).failed, 3);
  // A raised bound does as well.
  ASSERT_EQ(StateAfter(id, {.failed_trials = 2}), StudyState::kActive);
}

TEST_F(FixTest, WhatRanBeforeTheChangeCountsForNothing) {
  StudySpec spec = JobSpec();
  spec.parallel = 8;
  const StudyId id = Create(spec).id;
  std::vector<TrialNumber> old;
  for (int i = 0; i < 4; ++i) old.push_back(Start(id));
  ASSERT_THAT(Amend(id, {.job = Job("false")}), IsOk());
  for (const TrialNumber trial : old) Fail(id, trial, "exit 1");
  EXPECT_EQ(Get(id).state, StudyState::kActive);
  EXPECT_EQ(Get(id).failed, 4);
  // A failure that was forgotten can be deleted like any other.
  ASSERT_THAT(studies_->DeleteTrial({id, old.front()}, As("ann")), IsOk());
  EXPECT_EQ(Get(id).failed, 3);
  Restart();
  EXPECT_EQ(Get(id).failed, 3);
  FailSome(id, 3);
  EXPECT_EQ(Get(id).state, StudyState::kFailed);
}

TEST_F(FixTest, AnAttemptKnowsTheDefinitionThatItWasStartedWith) {
  const StudyId id = Create(JobSpec()).id;
  const TrialNumber first = Start(id);
  ASSERT_THAT(Amend(id, {.job = Job("false")}), IsOk());
  ASSERT_THAT(Amend(id, {.trials = 99}), IsOk());
  const TrialNumber second = Start(id);
  const auto program = [&](TrialNumber trial) {
    const EventSeq by = Get(id, trial).attempts.back().defined_by;
    return studies_->GetDefinition(id, by).value()->job->command.front();
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Get(id, first).attempts.back().defined_by, EventSeq(0));
    EXPECT_EQ(program(first), "true");
    EXPECT_EQ(program(second), "false");
    Restart();
  }
  EXPECT_EQ(studies_->GetDefinition(id).value()->job->command.front(), "false");
}

// A grid of which the first cells were spent on a job that never worked covers them all the same.
TEST_F(FixTest, PointsOfAJobThatNeverWorkedAreProposedAgain) {
  StudySpec spec = JobSpec();
  spec.space = SpaceOf({Choices(
      "kind",
      {ParameterValue("a"), ParameterValue("b"), ParameterValue("c"), ParameterValue("d")})});
  spec.algorithm.name = "grid";
  const StudyId id = Create(spec).id;
  FailSome(id, 3);
  ASSERT_EQ(StateAfter(id, {.job = Job("false")}), StudyState::kActive);
  std::set<std::string> kinds;
  for (int i = 0; i < 4; ++i) {
    const TrialNumber trial = Start(id);
    kinds.insert(std::get<std::string>(Get(id, trial).point.at("kind")));
    Succeed(id, trial);
  }
  EXPECT_EQ(kinds.size(), 4);
  EXPECT_EQ(GetReason(studies_->Ask(id, 1, As("engine"), {}).status()), Reason::kSpaceExhausted);
  ExpectReplays(id);
}

TEST_F(FixTest, FailuresOfAJobThatWorkedStillTellOfTheirPoints) {
  StudySpec spec = JobSpec();
  spec.space = SpaceOf({Choices("kind", {ParameterValue("a"), ParameterValue("b")})});
  spec.algorithm.name = "grid";
  const StudyId id = Create(spec).id;
  Succeed(id, Start(id));
  FailSome(id, 1);
  ASSERT_THAT(Amend(id, {.job = Job("false")}), IsOk());
  EXPECT_EQ(GetReason(studies_->Ask(id, 1, As("engine"), {}).status()), Reason::kSpaceExhausted);
  ExpectReplays(id);
}

// --- what may change ---

TEST_F(ExtensionTest, RefusesWhatCannotChangeByItsName) {
  StudySpec base = ClientSpec();
  base.space = SpaceOf({Float("x", 0, 1), Float("y", 0, 1)});
  const StudyId id = Create(base).id;
  struct Case {
    std::string field;
    std::function<void(StudySpec&)> change;
  };
  const std::vector<Case> cases = {
      {"parameters.x.float",
       [](StudySpec& s) {
         s.space = SpaceOf({Float("x", 0, 2), Float("y", 0, 1)});
       }},
      {"parameters.y.float", [](StudySpec& s) { s.space = SpaceOf({Float("x", 0, 1)}); }},
      {"parameters",
       [](StudySpec& s) {
         s.space = SpaceOf({Float("y", 0, 1), Float("x", 0, 1)});
       }},
      {"objective", [](StudySpec& s) { s.objectives[0].goal = Goal::kMinimize; }},
      {"objective.final", [](StudySpec& s) { s.objectives[0].final = FinalValue::kBest; }},
      {"outcome_constraints", [](StudySpec& s) { s.outcome_constraints = {"latency <= 2"}; }},
      {"algorithm", [](StudySpec& s) { s.algorithm.name = "gp"; }},
      {"warm_start", [](StudySpec& s) { s.warm_start = {"other"}; }},
      {"seed", [](StudySpec& s) { s.seed = 8; }},
      {"stopping", [](StudySpec& s) { s.judged_when_asked = true; }},
      {"study", [](StudySpec& s) { s.name = "other"; }},
      {"job", [](StudySpec& s) { s.job.emplace().command = {"true"}; }},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.field);
    Amendment change{.definition = base};
    row.change(*change.definition);
    const auto refused = Amend(id, change);
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(GetField(refused.status()), row.field);
  }
  EXPECT_EQ(Get(id).spec, base);
  EXPECT_EQ(Get(id).last_event, EventSeq(1));

  Amendment several{.definition = base};
  several.definition->seed = 8;
  several.definition->algorithm.name = "grid";
  several.definition->budget.trials = 99;
  EXPECT_THAT(Amend(id, several),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "algorithm: cannot change after the study was created (random → grid); nor "
                       "can seed. Create a study of another name instead; `warm_start` from "
                       "digits takes over the completed trials that fit"));
  several.definition->space = SpaceOf({Float("x", 0, 2), Float("y", 0, 3)});
  EXPECT_THAT(Amend(id, several),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nor can parameters.y.float, algorithm and 1 more. Create")));
}

TEST_F(ExtensionTest, SaysThatAnObjectiveTurnedRoundNeedsAStudyOfItsOwn) {
  StudySpec base = ClientSpec();
  base.space = SpaceOf({Float("x", 0, 1)});
  const StudyId id = Create(base).id;
  Amendment change{.definition = base};
  change.definition->objectives[0].goal = Goal::kMinimize;
  const std::string metric = base.objectives[0].metric;
  EXPECT_THAT(Amend(id, change),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "objective: cannot change after the study was created (maximize " + metric +
                           " → minimize " + metric + "). Create a study of another name instead"));
  change.definition->objectives[0] = {.metric = "another", .goal = Goal::kMinimize};
  EXPECT_THAT(
      Amend(id, change),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("→ minimize another). Create a study of another name instead; "
                         "`warm_start` from digits takes over the completed trials that have "
                         "its metrics")));
}

TEST_F(ExtensionTest, AWholeDefinitionChangesAllThatMayChange) {
  StudySpec spec = JobSpec();
  spec.budget = {.trials = 5, .time = absl::Hours(1)};
  const StudyId id = Create(spec).id;
  StudySpec wanted = spec;
  wanted.labels = {{"owner", "ann"}};
  wanted.stopping.name = "median";
  wanted.parallel = 2;
  wanted.budget = {.trials = 9, .failed_trials = 3};
  wanted.metrics["accuracy"] = {.kind = MetricSourceKind::kAfter, .text = "acc="};
  wanted.job->command = {"train"};
  wanted.job->env["TOKEN"] = "secret";
  const auto amended = studies_->Amend(id, {.definition = wanted}, As("ann", "r1"));
  ASSERT_THAT(amended, IsOk());
  EXPECT_EQ(amended->spec, wanted);
  EXPECT_EQ(amended->spec_version, 2);
  const auto event = std::get<StudyAmended>(Log(id).back().payload);
  std::vector<std::string> fields;
  for (const FieldChange& change : event.changes) {
    fields.push_back(change.field);
    EXPECT_THAT(change.to, Not(HasSubstr("secret")));
  }
  EXPECT_THAT(fields,
              ElementsAre("stopping",
                          "parallel",
                          "budget.trials",
                          "budget.time",
                          "budget.failed",
                          "job.command",
                          "job.env.TOKEN",
                          "labels.owner",
                          "metrics.accuracy.after"));
  EXPECT_THAT(event.changes, Contains(FieldChange{.field = "budget.time", .from = "1h", .to = ""}));
  Restart();
  EXPECT_EQ(Get(id).spec, wanted);
  EXPECT_EQ(studies_->Amend(id, {.definition = wanted}, As("ann", "r1"))->spec_version, 2);
  StudySpec other = wanted;
  other.parallel = 3;
  EXPECT_EQ(GetReason(studies_->Amend(id, {.definition = other}, As("ann", "r1")).status()),
            Reason::kRequestReused);
}

TEST_F(ExtensionTest, ADefinitionThatChangesNothingIsNoNewVersion) {
  const StudyId id = Create(ClientSpec()).id;
  EXPECT_EQ(Amend(id, {.definition = ClientSpec()})->spec_version, 1);
  Restart();
  EXPECT_EQ(Get(id).spec_version, 1);
}

// A file that says what it said before does not undo what was amended meanwhile.
TEST_F(ExtensionTest, KeepsWhatWasAmendedUnlessTheNewDefinitionDiffersThere) {
  StudySpec file = Bounded(20);
  const StudyId id = Create(file).id;
  const auto apply = [&] { return Amend(id, {.definition = file, .keep_amended = true}); };
  ASSERT_THAT(Amend(id, {.trials = 40}), IsOk());
  file.parallel = 9;
  ASSERT_THAT(apply(), IsOk());
  EXPECT_EQ(Get(id).spec.budget.trials, 40);
  EXPECT_EQ(Get(id).spec.parallel, 9);
  file.budget.trials = 30;
  ASSERT_THAT(apply(), IsOk());
  EXPECT_EQ(Get(id).spec.budget.trials, 30);
  ASSERT_THAT(Amend(id, {.trials = 50, .parallel = 2}), IsOk());
  Restart();
  ASSERT_THAT(apply(), IsOk());
  EXPECT_EQ(Get(id).spec.budget.trials, 50);
  EXPECT_EQ(Get(id).spec.parallel, 2);
  // Without the subscription to keep it, the definition is as it says.
  ASSERT_THAT(Amend(id, {.definition = file}), IsOk());
  EXPECT_EQ(Get(id).spec, file);
}

TEST_F(ExtensionTest, ADefinitionMustBeValidAsAWhole) {
  const StudyId id = Create(ClientSpec()).id;
  EXPECT_THAT(Amend(id, {.stopping = Choice{.name = "nonsense", .options = {}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nonsense")));
  EXPECT_THAT(Amend(id, {.convergence = std::optional(Convergence{.tolerance = 1})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("does not tell what is left to gain")));
  EXPECT_THAT(Amend(id, {.job = TrainingJob{}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("job: cannot be given to")));
  EXPECT_EQ(Get(id).last_event, EventSeq(1));
}

TEST_F(ExtensionTest, APreviewStoresNothing) {
  const StudyId id = CreateAndComplete(Bounded(1), 1);
  const Study before = Get(id);
  const auto preview = studies_->PreviewAmendment(id, {.trials = 5});
  ASSERT_THAT(preview, IsOk());
  EXPECT_EQ(preview->state, StudyState::kActive);
  EXPECT_EQ(preview->spec.budget.trials, 5);
  EXPECT_EQ(preview->spec_version, 2);
  EXPECT_THAT(studies_->PreviewAmendment(id, {.trials = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Get(id), before);
}

// --- replay ---

TEST_F(ExtensionTest, ReplaysAcrossAnotherRuleAndALargerBudget) {
  StudySpec spec = Bounded(12);
  spec.algorithm.name = "quasi-random";
  const StudyId id = Create(spec).id;
  ASSERT_THAT(DriveOutOfOrder(*studies_, clock_, id, 12, 5), IsOk());
  ASSERT_EQ(Get(id).state, StudyState::kCompleted);
  ASSERT_EQ(StateAfter(id, {.trials = 36, .stopping = Choice{.name = "median", .options = {}}}),
            StudyState::kActive);
  ASSERT_THAT(DriveOutOfOrder(*studies_, clock_, id, 24, 6), IsOk());
  const auto report = studies_->Replay(id);
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->stops, 0);
  EXPECT_EQ(report->suggestions, 36);
  ExpectReplays(id);
  Restart();
  ExpectReplays(id);
}

TEST_F(ExtensionTest, ARefusedWriteLeavesTheStudyEnded) {
  const StudyId id = CreateAndComplete(Bounded(1), 1);
  storage_.FailCommits(1, absl::UnavailableError("the disk is away"));
  EXPECT_FALSE(Amend(id, {.trials = 5}).ok());
  EXPECT_EQ(Get(id).state, StudyState::kCompleted);
  EXPECT_EQ(Get(id).spec.budget.trials, 1);
  EXPECT_EQ(StateAfter(id, {.trials = 5}), StudyState::kActive);
}

}  // namespace
}  // namespace vernier::study
