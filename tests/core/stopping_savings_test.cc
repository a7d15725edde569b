#include "src/core/stopping_savings.h"

#include "gtest/gtest.h"

namespace vernier {
namespace {

Trial Ran(std::int64_t measurements, absl::Duration time) {
  Trial trial;
  trial.state = TrialState::kCompleted;
  trial.measurements = measurements;
  trial.started = absl::UnixEpoch();
  trial.ended = absl::UnixEpoch() + time;
  return trial;
}

// `version`: empty where no rule stopped it.
Trial Stopped(std::int64_t measurements, absl::Duration time, const char* version = "1") {
  Trial trial = Ran(measurements, time);
  trial.stop = StopRecord{.rule = "median", .version = version};
  return trial;
}

TEST(EstimateSavings, ContinuesSlowTrialsAtTheirPaceToTheUsualLength) {
  Trial on_gpus = Stopped(5, absl::Minutes(20));
  on_gpus.attempts = {
      {.placement = {{.gpus = {"0", "1"}}}, .placed = *on_gpus.started, .ended = on_gpus.ended}};
  const StoppingSavings savings = EstimateSavings(std::vector{
      Ran(19, absl::Minutes(10)), Ran(20, absl::Minutes(10)), Ran(21, absl::Minutes(10)), on_gpus});
  EXPECT_EQ(savings.stopped, 1);
  EXPECT_TRUE(savings.is_known);
  // Fifteen more measurements at two minutes each: ten of its minutes are what any trial takes.
  EXPECT_EQ(savings.time, absl::Minutes(30));
  EXPECT_EQ(savings.gpu_time, absl::Minutes(60));
  EXPECT_DOUBLE_EQ(savings.share, 30.0 / 80.0);
}

TEST(EstimateSavings, TakesTheMeanOfTheTwoMiddleLengths) {
  const StoppingSavings savings = EstimateSavings(std::vector{
      Ran(10, absl::Minutes(1)), Ran(20, absl::Minutes(1)), Stopped(5, absl::Minutes(6))});
  EXPECT_EQ(savings.time, absl::Minutes(10));
}

// A second to start, and 0.05 s for each measurement.
TEST(EstimateSavings, DoesNotTakeTheStartForMeasurements) {
  const StoppingSavings savings = EstimateSavings(std::vector{Ran(20, absl::Seconds(2)),
                                                              Ran(20, absl::Seconds(2)),
                                                              Stopped(1, absl::Seconds(1.05)),
                                                              Stopped(10, absl::Seconds(1.5))});
  EXPECT_EQ(savings.time, absl::Seconds(0.95) + absl::Seconds(0.5));
}

TEST(EstimateSavings, IsNeverNegative) {
  const StoppingSavings savings =
      EstimateSavings(std::vector{Ran(10, absl::Minutes(1)), Stopped(12, absl::Minutes(5))});
  EXPECT_EQ(savings.stopped, 1);
  EXPECT_EQ(savings.time, absl::ZeroDuration());
  EXPECT_EQ(savings.share, 0);
}

TEST(EstimateSavings, CountsOnlyStopsByARule) {
  Trial failed = Stopped(5, absl::Minutes(1));
  failed.state = TrialState::kFailed;
  const StoppingSavings savings = EstimateSavings(
      std::vector{Ran(10, absl::Minutes(1)), Stopped(5, absl::Minutes(1), ""), failed});
  EXPECT_EQ(savings.stopped, 0);
  EXPECT_EQ(savings.time, absl::ZeroDuration());
}

TEST(EstimateSavings, KnowsNothingIfNoTrialCompletedByItself) {
  // A result that was added has no measurements.
  const StoppingSavings savings =
      EstimateSavings(std::vector{Ran(0, absl::ZeroDuration()), Stopped(5, absl::Minutes(1))});
  EXPECT_EQ(savings.stopped, 1);
  EXPECT_FALSE(savings.is_known);
}

TEST(EstimateSavings, ToleratesTrialsStoppedBeforeTheirFirstMeasurement) {
  Trial early = Stopped(0, absl::Minutes(1));
  early.started.reset();
  const StoppingSavings savings = EstimateSavings(std::vector{Ran(10, absl::Minutes(1)), early});
  EXPECT_EQ(savings.stopped, 1);
  EXPECT_EQ(savings.time, absl::ZeroDuration());
}

TEST(EstimateSavings, AnEmptyStudySavesNothing) {
  EXPECT_EQ(EstimateSavings({}).stopped, 0);
  EXPECT_EQ(EstimateSavings({}).share, 0);
}

}  // namespace
}  // namespace vernier
