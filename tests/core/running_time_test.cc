#include "src/core/running_time.h"

#include "gtest/gtest.h"

namespace vernier {
namespace {

absl::Time AtTime(int seconds) { return absl::FromUnixSeconds(1'700'000'000 + seconds); }

// An attempt from `placed` to `ended`.
Attempt MakeAttempt(AttemptState state, int placed, std::optional<int> ended) {
  Attempt attempt{.state = state, .placed = AtTime(placed)};
  if (ended.has_value()) attempt.ended = AtTime(*ended);
  return attempt;
}

TEST(RunningTime, IsUnknownBeforeTheStart) {
  EXPECT_EQ(RunningTime(Trial(), AtTime(9)), std::nullopt);
  EXPECT_EQ(PausedTime(Trial(), AtTime(9)), absl::ZeroDuration());
}

TEST(RunningTime, CountsReruns) {
  Trial trial{.state = TrialState::kRunning};
  trial.started = AtTime(1);
  trial.attempts = {MakeAttempt(AttemptState::kLost, 0, 10),
                    MakeAttempt(AttemptState::kRunning, 15, std::nullopt)};
  EXPECT_EQ(RunningTime(trial, AtTime(20)), absl::Seconds(19));
}

TEST(RunningTime, DoesNotCountPauses) {
  Trial trial{.state = TrialState::kPaused};
  trial.started = AtTime(1);
  trial.attempts = {MakeAttempt(AttemptState::kStopped, 0, 10)};
  EXPECT_EQ(PausedTime(trial, AtTime(100)), absl::Seconds(90));
  EXPECT_EQ(RunningTime(trial, AtTime(100)), absl::Seconds(9));
  EXPECT_EQ(RunningTime(trial, AtTime(200)), absl::Seconds(9));
  trial.state = TrialState::kRunning;
  trial.attempts.push_back(MakeAttempt(AttemptState::kRunning, 60, std::nullopt));
  EXPECT_EQ(PausedTime(trial, AtTime(100)), absl::Seconds(50));
  EXPECT_EQ(RunningTime(trial, AtTime(100)), absl::Seconds(49));
  trial.state = TrialState::kCompleted;
  trial.attempts.back() = MakeAttempt(AttemptState::kSucceeded, 60, 80);
  trial.ended = AtTime(80);
  EXPECT_EQ(RunningTime(trial, AtTime(500)), absl::Seconds(29));
}

// The end of a trial that was stopped for good is that of its last attempt.
TEST(RunningTime, EndsWithATrialThatWasStopped) {
  Trial trial{.state = TrialState::kCompleted};
  trial.started = AtTime(1);
  trial.attempts = {MakeAttempt(AttemptState::kStopped, 0, 10)};
  trial.ended = AtTime(10);
  EXPECT_EQ(RunningTime(trial, AtTime(500)), absl::Seconds(9));
}

}  // namespace
}  // namespace vernier
