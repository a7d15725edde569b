#include "src/study/state_machine.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::study {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

template <typename State>
using Pairs = std::set<std::pair<State, State>>;

constexpr std::array kStudyStates = {StudyState::kActive,
                                     StudyState::kPaused,
                                     StudyState::kStopping,
                                     StudyState::kCompleted,
                                     StudyState::kCancelled,
                                     StudyState::kFailed};
constexpr std::array kTrialStates = {TrialState::kRequested,
                                     TrialState::kQueued,
                                     TrialState::kPreparing,
                                     TrialState::kRunning,
                                     TrialState::kPaused,
                                     TrialState::kStopping,
                                     TrialState::kCompleted,
                                     TrialState::kFailed,
                                     TrialState::kInfeasible,
                                     TrialState::kCancelled};
constexpr std::array kAttemptStates = {AttemptState::kPlaced,
                                       AttemptState::kStarting,
                                       AttemptState::kRunning,
                                       AttemptState::kSucceeded,
                                       AttemptState::kFailed,
                                       AttemptState::kStopped,
                                       AttemptState::kLost};

// The tables as ARCHITECTURE.md draws them, written down a second time: a row added to one must be added to the other.
Pairs<StudyState> StudyTable() {
  using enum StudyState;
  return {{kActive, kPaused},
          {kPaused, kActive},
          {kActive, kStopping},
          {kPaused, kStopping},
          {kActive, kCompleted},
          {kActive, kFailed},
          {kStopping, kCompleted},
          {kStopping, kCancelled},
          {kStopping, kFailed},
          {kCompleted, kActive},
          {kFailed, kActive}};
}

Pairs<TrialState> TrialTable(Driver driver) {
  using enum TrialState;
  if (driver == Driver::kClient) {
    return {{kRequested, kRunning},
            {kRequested, kCancelled},
            {kRunning, kRequested},
            {kRunning, kStopping},
            {kRunning, kCompleted},
            {kRunning, kFailed},
            {kRunning, kInfeasible},
            {kStopping, kCompleted},
            {kStopping, kFailed},
            {kStopping, kCancelled}};
  }
  return {{kRequested, kQueued},  {kRequested, kCancelled}, {kQueued, kPreparing},
          {kQueued, kStopping},   {kQueued, kFailed},       {kPreparing, kRunning},
          {kPreparing, kQueued},  {kPreparing, kStopping},  {kPreparing, kFailed},
          {kRunning, kQueued},    {kRunning, kStopping},    {kRunning, kCompleted},
          {kRunning, kFailed},    {kRunning, kInfeasible},  {kPaused, kQueued},
          {kPaused, kCompleted},  {kPaused, kFailed},       {kPaused, kCancelled},
          {kStopping, kPaused},   {kStopping, kCompleted},  {kStopping, kFailed},
          {kStopping, kCancelled}};
}

Pairs<AttemptState> AttemptTable() {
  using enum AttemptState;
  Pairs<AttemptState> table = {
      {kPlaced, kStarting}, {kPlaced, kRunning}, {kStarting, kRunning}, {kRunning, kRunning}};
  for (const AttemptState from : {kPlaced, kStarting, kRunning}) {
    for (const AttemptState to : {kSucceeded, kFailed, kStopped, kLost}) table.insert({from, to});
  }
  for (const AttemptState to : {kSucceeded, kFailed, kStopped}) table.insert({kLost, to});
  return table;
}

TEST(StateMachine, StudyMovesAreThoseOfTheTableAndNoOther) {
  for (const StudyState from : kStudyStates) {
    for (const StudyState to : kStudyStates) {
      SCOPED_TRACE(std::string(StudyStateName(from)) + " to " + std::string(StudyStateName(to)));
      const absl::Status status = CheckMove("study 'a'", from, to);
      if (StudyTable().contains({from, to})) {
        EXPECT_THAT(status, IsOk());
        continue;
      }
      const std::string is = "study 'a' is " + std::string(StudyStateName(from));
      const std::string again =
          from == StudyState::kStopping ? "study 'a' is being stopped already" : is + " already";
      EXPECT_THAT(
          status,
          StatusIs(
              absl::StatusCode::kFailedPrecondition,
              from == to ? again : is + ": it cannot become " + std::string(StudyStateName(to))));
      EXPECT_EQ(GetReason(status), Reason::kIllegalTransition);
    }
  }
}

TEST(StateMachine, TrialMovesAreThoseOfTheTableAndNoOther) {
  for (const Driver driver : {Driver::kEngine, Driver::kClient}) {
    const Pairs<TrialState> table = TrialTable(driver);
    EXPECT_EQ(TrialMoves(driver).size(), table.size());
    for (const TrialState from : kTrialStates) {
      for (const TrialState to : kTrialStates) {
        SCOPED_TRACE(std::string(TrialStateName(from)) + " to " + std::string(TrialStateName(to)));
        const absl::Status status = CheckMove("trial 7", driver, from, to);
        EXPECT_EQ(status.ok(), table.contains({from, to}));
        if (status.ok()) continue;
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
        if (from == to && from == TrialState::kStopping) {
          EXPECT_EQ(status.message(), "trial 7 is being stopped already");
        } else {
          EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(TrialStateName(from))));
          EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(TrialStateName(to))));
        }
        EXPECT_EQ(GetReason(status),
                  IsFinished(from) ? Reason::kTrialFinished : Reason::kIllegalTransition);
      }
    }
  }
}

TEST(StateMachine, AttemptMovesAreThoseOfTheTableAndNoOther) {
  EXPECT_EQ(AttemptMoves().size(), AttemptTable().size());
  for (const AttemptState from : kAttemptStates) {
    for (const AttemptState to : kAttemptStates) {
      SCOPED_TRACE(std::string(AttemptStateName(from)) + " to " +
                   std::string(AttemptStateName(to)));
      EXPECT_EQ(CheckMove("attempt 1", from, to).ok(), AttemptTable().contains({from, to}));
    }
  }
}

// But that a study may be extended.
TEST(StateMachine, NothingLeavesAFinalState) {
  for (const StudyState from : kStudyStates) {
    if (!IsFinished(from)) continue;
    for (const StudyState to : kStudyStates) {
      const bool is_extended = from != StudyState::kCancelled && to == StudyState::kActive;
      EXPECT_EQ(IsLegal(from, to), is_extended);
    }
  }
  for (const TrialState from : kTrialStates) {
    if (!IsFinished(from)) continue;
    for (const TrialState to : kTrialStates) {
      EXPECT_FALSE(IsLegal(Driver::kEngine, from, to) || IsLegal(Driver::kClient, from, to));
    }
  }
}

// Else a stopped study could be left with a trial that cannot end.
TEST(StateMachine, EveryUnfinishedTrialCanBeEnded) {
  for (const Driver driver : {Driver::kEngine, Driver::kClient}) {
    for (const Move<TrialState>& move : TrialMoves(driver)) {
      if (IsFinished(move.to)) continue;
      const bool ends = IsLegal(driver, move.to, TrialState::kCancelled);
      const bool stops = IsLegal(driver, move.to, TrialState::kStopping);
      EXPECT_TRUE(ends || stops) << TrialStateName(move.to);
    }
  }
}

}  // namespace
}  // namespace vernier::study
