#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"
#include "vernier/core/event.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

TEST(Error, ReasonTravelsWithTheStatusAndLeavesTheMessageAlone) {
  const absl::Status status =
      WithReason(FailedPrecondition("trial {} is finished", 7), Reason::kTrialFinished);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition, "trial 7 is finished"));
  EXPECT_EQ(GetReason(status), Reason::kTrialFinished);
  const absl::StatusOr<int> passed_on = status;
  EXPECT_EQ(GetReason(passed_on.status()), Reason::kTrialFinished);
}

TEST(Error, EveryReasonIsFoundAgainUnderItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Reason::kDataLoss); ++i) {
    const auto reason = static_cast<Reason>(i);
    names.insert(ReasonName(reason));
    EXPECT_EQ(GetReason(WithReason(Aborted("no"), reason)), reason);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Reason::kDataLoss) + 1);
  EXPECT_EQ(ReasonName(Reason::kTrialFinished), "TRIAL_FINISHED");
  EXPECT_EQ(ReasonName(Reason::kLeaseLost), "LEASE_LOST");
  EXPECT_EQ(ReasonName(Reason::kStoreBusy), "STORE_BUSY");
}

TEST(Error, StatusWithoutOrWithAnUnknownReasonHasNone) {
  EXPECT_EQ(GetReason(NotFound("nothing")), Reason::kNone);
  absl::Status foreign = NotFound("nothing");
  foreign.SetPayload("vernier.reason", absl::Cord("MADE_BY_A_NEWER_VERSION"));
  EXPECT_EQ(GetReason(foreign), Reason::kNone);
}

TEST(Error, FieldErrorKeepsItsPathApart) {
  const absl::Status status = FieldError("parallel", "must be from 1 to 10, got 0");
  EXPECT_THAT(
      status,
      StatusIs(absl::StatusCode::kInvalidArgument, "parallel: must be from 1 to 10, got 0"));
  EXPECT_EQ(GetField(status), "parallel");
  EXPECT_EQ(GetField(InvalidArgument("no field")), std::nullopt);
}

absl::StatusOr<int> Halve(int n) {
  if (n % 2 != 0) return InvalidArgument("{} is odd", n);
  return n / 2;
}
absl::StatusOr<int> Quarter(int n) {
  VERNIER_ASSIGN_OR_RETURN(const int half, Halve(n));
  VERNIER_RETURN_IF_ERROR(Halve(half).status());
  return half / 2;
}

TEST(Error, MacrosPassTheFirstErrorOn) {
  ASSERT_OK_AND_ASSIGN(const int quarter, Quarter(12));
  EXPECT_EQ(quarter, 3);
  EXPECT_THAT(Quarter(5), StatusIs(absl::StatusCode::kInvalidArgument, "5 is odd"));
  EXPECT_THAT(Quarter(6), StatusIs(absl::StatusCode::kInvalidArgument, "3 is odd"));
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(absl::FromUnixSeconds(1000));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(1000));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(1000));
  clock.Advance(absl::Milliseconds(1500));
  EXPECT_EQ(clock.Now(), absl::FromUnixMillis(1001500));
}

TEST(NearestHint, OffersTheNearestOrListsWhatIsKnown) {
  const std::vector<std::string> known = {"parallel", "parameters", "seed"};
  EXPECT_EQ(NearestHint("paralel", known), "; did you mean 'parallel'?");
  EXPECT_EQ(NearestHint("praallel", known), "; did you mean 'parallel'?");
  EXPECT_EQ(NearestHint("PARALLEL", known), "; did you mean 'parallel'?");
  EXPECT_EQ(NearestHint("sed", known), "; did you mean 'seed'?");
  EXPECT_EQ(NearestHint("budget", known), "; known: parallel, parameters, seed");
  EXPECT_EQ(NearestHint("", known), "; known: parallel, parameters, seed");
  EXPECT_EQ(NearestHint("x", {}), "");
}

TEST(NearestHint, ListsAsManyAsItsCallerWants) {
  const std::vector<std::string> known = {"one", "two", "three"};
  EXPECT_EQ(NearestHint("budget", known, 2), "; known: one, two, …");
  EXPECT_EQ(NearestHint("budget", known, 3), "; known: one, two, three");
}

TEST(NearestHint, DoesNotTakeAnotherWordForASlip) {
  const std::vector<std::string> known = {"a", "gp"};
  EXPECT_EQ(NearestHint("b", known), "; known: a, gp");
}

TEST(NearestHint, BoundsItsListAndItsWork) {
  std::vector<std::string> known;
  for (int i = 0; i < 20; ++i) known.push_back("name" + std::to_string(i));
  EXPECT_EQ(
      NearestHint(std::string(100000, 'x'), known),
      "; known: name0, name1, name2, name3, name4, name5, name6, name7, name8, name9, name10, "
      "name11, …");
}

TEST(StateNames, AreThoseOfTheWire) {
  EXPECT_EQ(TrialStateName(TrialState::kRequested), "REQUESTED");
  EXPECT_EQ(TrialStateName(TrialState::kStopping), "STOPPING");
  EXPECT_EQ(TrialStateName(TrialState::kCancelled), "CANCELLED");
  EXPECT_EQ(FailureClassName(FailureClass::kNone), "NONE");
  EXPECT_EQ(FailureClassName(FailureClass::kNoMetric), "NO_METRIC");
  EXPECT_EQ(FailureClassName(FailureClass::kLost), "LOST");
  EXPECT_EQ(AttemptStateName(AttemptState::kPlaced), "PLACED");
  EXPECT_EQ(AttemptStateName(AttemptState::kLost), "LOST");
  EXPECT_EQ(StudyStateName(StudyState::kActive), "ACTIVE");
  EXPECT_EQ(StudyStateName(StudyState::kFailed), "FAILED");
}

TEST(StateNames, KnowWhatHasEnded) {
  std::vector<std::string_view> trials, attempts, studies;
  for (int i = 0; i <= static_cast<int>(TrialState::kCancelled); ++i) {
    const auto state = static_cast<TrialState>(i);
    if (IsFinished(state)) trials.push_back(TrialStateName(state));
  }
  for (int i = 0; i <= static_cast<int>(AttemptState::kLost); ++i) {
    const auto state = static_cast<AttemptState>(i);
    if (IsEnded(state)) attempts.push_back(AttemptStateName(state));
  }
  for (int i = 0; i <= static_cast<int>(StudyState::kFailed); ++i) {
    const auto state = static_cast<StudyState>(i);
    if (IsFinished(state)) studies.push_back(StudyStateName(state));
  }
  EXPECT_THAT(trials, ElementsAre("COMPLETED", "FAILED", "INFEASIBLE", "CANCELLED"));
  EXPECT_THAT(attempts, ElementsAre("SUCCEEDED", "FAILED", "STOPPED", "LOST"));
  EXPECT_THAT(studies, ElementsAre("COMPLETED", "CANCELLED", "FAILED"));
}

TEST(Event, EveryKindHasItsNameAndItsTrial) {
  const TrialNumber seven(7);
  const std::vector<std::pair<EventPayload, std::string>> events = {
      {StudyCreated{}, "study_created 0"},
      {StudyStateChanged{}, "study_state_changed 0"},
      {StudyAmended{}, "study_amended 0"},
      {AlgorithmChanged{}, "algorithm_changed 0"},
      {TrialCreated{.trial = seven}, "trial_created 7"},
      {TrialStateChanged{.trial = seven}, "trial_state_changed 7"},
      {MeasurementReported{.trial = seven}, "measurement_reported 7"},
      {StopDecided{.trial = seven}, "stop_decided 7"},
      {ResumeDecided{.trial = seven}, "resume_decided 7"},
      {LeaseGranted{.trial = seven}, "lease_granted 7"},
      {LeaseRenewed{.trial = seven}, "lease_renewed 7"},
      {LeaseExpired{.trial = seven}, "lease_expired 7"},
      {AttemptPlaced{.trial = seven}, "attempt_placed 7"},
      {AttemptStateChanged{.trial = seven}, "attempt_state_changed 7"},
      {TrialDeleted{.trial = seven}, "trial_deleted 7"},
      {MetadataChanged{}, "metadata_changed 0"},
  };
  ASSERT_EQ(events.size(), std::variant_size_v<EventPayload>);
  for (const auto& [payload, expected] : events) {
    EXPECT_EQ(fmt::format("{} {}", EventKind(payload), EventTrial(payload).value()), expected);
  }
}

TEST(RoleName, FollowsTheJob) {
  TrainingJob job;
  EXPECT_EQ(RoleName(Role::kPrimary, job), "chief");
  job.primary_name = "master";
  EXPECT_EQ(RoleName(Role::kPrimary, job), "master");
  EXPECT_EQ(RoleName(Role::kWorker, job), "worker");
  EXPECT_EQ(RoleName(Role::kParameterServer, job), "ps");
  EXPECT_EQ(RoleName(Role::kEvaluator, job), "evaluator");
}

TEST(FormatValue, IsWhatProgramsReadOnTheirCommandLine) {
  EXPECT_EQ(FormatValue(true), "true");
  EXPECT_EQ(FormatValue(false), "false");
  EXPECT_EQ(FormatValue(std::int64_t{-3}), "-3");
  EXPECT_EQ(FormatValue(16.0), "16");
  EXPECT_EQ(FormatValue(0.1), "0.1");
  EXPECT_EQ(FormatValue(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(FormatValue(1e-7), "1e-07");
  EXPECT_EQ(FormatValue(std::string("two words")), "two words");
  EXPECT_EQ(FormatPoint({{"lr", 0.5}, {"deep", true}, {"opt", std::string("sgd")}}),
            "deep=true lr=0.5 opt=sgd");
  EXPECT_EQ(FormatPoint({}), "");
}

}  // namespace
}  // namespace vernier
