#include "src/core/stopping_simulation.h"

#include <cmath>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/extreme_values.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::vernier::testing::kNan;

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

// Stops a trial at its third measurement if the value is below a bound. Records what it is shown.
class ThirdReport final : public EarlyStopper {
 public:
  explicit ThirdReport(double bound) : bound_(bound) {}
  std::string_view name() const override { return "third-report"; }
  std::string_view version() const override { return "1"; }
  std::string options() const override { return "{}"; }
  Verdict Judge(const Curve& running, std::span<const Curve> others) const override {
    std::string call = fmt::format("{}@{}:", running.trial.value(), running.points.back().step);
    for (const Curve& other : others) {
      call += fmt::format(" {}", other.points.size());
      if (other.finished) call += other.stopped_early ? "s" : "f";
    }
    calls.push_back(std::move(call));
    const double value = running.points.back().value;
    return {.stop = running.points.size() == 3 && value < bound_,
            .explanation = fmt::format("{} is below {}", value, bound_)};
  }

  mutable std::vector<std::string> calls;

 private:
  double bound_;
};

StudySpec Spec() {
  StudySpec spec;
  spec.objectives = {{.metric = "accuracy"}};
  return spec;
}

// A trial that completed, with one measurement a second from `start` on; the last value is its result.
SimulatedTrial Completed(std::int64_t number, std::vector<double> values, double start = 0) {
  SimulatedTrial made;
  made.trial.number = TrialNumber(number);
  made.trial.state = TrialState::kCompleted;
  made.trial.started = At(start);
  made.trial.ended = At(start + static_cast<double>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i) + 1;
    made.points.push_back(
        {.time = At(start + static_cast<double>(step)), .step = step, .value = values[i]});
  }
  if (!values.empty()) made.trial.final_metrics = {{"accuracy", values.back()}};
  return made;
}

SimulatedTrial InState(TrialState state, SimulatedTrial trial) {
  trial.trial.state = state;
  trial.trial.final_metrics.clear();
  return trial;
}

SimulatedTrial StoppedBy(const std::string& rule, SimulatedTrial trial) {
  trial.trial.stop = StopRecord{.rule = rule};
  return trial;
}

TEST(SimulateStopping, JudgesInTheOrderInWhichMeasurementsWereMade) {
  const ThirdReport rule(0);
  SimulateStopping(
      Spec(), rule, std::vector{Completed(1, {1, 1}), Completed(2, {1, 1}, 0.5)}, std::nullopt);
  EXPECT_THAT(rule.calls, ElementsAre("1@1: 0", "2@1: 1", "1@2: 1", "2@2: 2f"));
}

TEST(SimulateStopping, OrdersMeasurementsOfOneMomentByTrialAndStep) {
  const ThirdReport rule(0);
  std::vector trials = {Completed(1, {1, 1}), Completed(2, {1, 1})};
  for (SimulatedTrial& trial : trials) {
    for (TimedPoint& point : trial.points) point.time = At(2);
    std::swap(trial.points.front(), trial.points.back());
  }
  SimulateStopping(Spec(), rule, trials, std::nullopt);
  EXPECT_THAT(rule.calls, ElementsAre("1@1: 0", "1@2: 0", "2@1: 2", "2@2: 2"));
}

TEST(SimulateStopping, HidesMeasurementsAfterAStop) {
  const ThirdReport rule(0.5);
  const std::vector trials = {Completed(1, {0.1, 0.1, 0.1, 0.9}), Completed(2, {1, 1}, 9)};
  const StoppingSimulation result = SimulateStopping(Spec(), rule, trials, TrialNumber(2));
  EXPECT_THAT(rule.calls, ElementsAre("1@1: 0", "1@2: 0", "1@3: 0", "2@1: 3s", "2@2: 3s"));
  ASSERT_THAT(result.stops, SizeIs(1));
  const SimulatedStop& stop = result.stops.front();
  EXPECT_EQ(stop.trial, TrialNumber(1));
  EXPECT_EQ(stop.step, 3);
  EXPECT_EQ(stop.last_step, 4);
  EXPECT_EQ(stop.value, 0.1);
  EXPECT_EQ(stop.final_value, 0.9);
  EXPECT_FALSE(stop.would_have_won);
  EXPECT_EQ(stop.explanation, "0.1 is below 0.5");
}

TEST(SimulateStopping, AddsUpWhatIsSaved) {
  std::vector trials = {Completed(1, {0, 0, 0, 0, 0, 0, 0, 0}), Completed(2, {1, 1, 1, 1})};
  const auto attempt = [](double placed, double ended) {
    return Attempt{.placement = {{.gpus = {"0", "1"}}}, .placed = At(placed), .ended = At(ended)};
  };
  // Eight seconds in two attempts on two GPUs each; the rule stops the trial in the first one.
  trials[0].trial.attempts = {attempt(0, 4), attempt(5, 8)};
  const StoppingSimulation result =
      SimulateStopping(Spec(), ThirdReport(0.5), trials, TrialNumber(2));
  EXPECT_EQ(result.judged, 2);
  EXPECT_EQ(result.total.steps, 12);
  EXPECT_EQ(result.saved.steps, 5);
  EXPECT_EQ(result.total.time, absl::Seconds(12));
  EXPECT_EQ(result.saved.time, absl::Seconds(5));
  EXPECT_EQ(result.total.gpu_time, absl::Seconds(14));
  EXPECT_EQ(result.saved.gpu_time, absl::Seconds(8));
}

TEST(SimulateStopping, SaysIfTheBestTrialIsLost) {
  const std::vector trials = {Completed(1, {0.1, 0.2, 0.3, 0.9}),
                              Completed(2, {0.5, 0.6, 0.7, 0.8})};
  const StoppingSimulation result =
      SimulateStopping(Spec(), ThirdReport(0.5), trials, TrialNumber(1));
  ASSERT_TRUE(result.best && result.best_kept);
  EXPECT_EQ(result.best->value, 0.9);
  EXPECT_EQ(result.best_kept->trial, TrialNumber(2));
  EXPECT_EQ(result.best_kept->value, 0.8);
  ASSERT_NE(result.Find(TrialNumber(1)), nullptr);
  EXPECT_TRUE(result.Find(TrialNumber(1))->would_have_won);
  EXPECT_EQ(result.Find(TrialNumber(2)), nullptr);
  EXPECT_EQ(result.CountWinners(), 1);
}

TEST(SimulateStopping, AStoppedTrialKeepsItsValue) {
  const std::vector trials = {Completed(1, {0.1, 0.2, 0.3, 0.9}),
                              Completed(2, {0.2, 0.2, 0.2, 0.1})};
  const StoppingSimulation result =
      SimulateStopping(Spec(), ThirdReport(0.5), trials, TrialNumber(1));
  ASSERT_TRUE(result.best_kept);
  EXPECT_EQ(result.best_kept->trial, TrialNumber(1));
  EXPECT_EQ(result.best_kept->value, 0.3);
  EXPECT_EQ(result.CountWinners(), 1);
}

TEST(SimulateStopping, KeepsTheResultThatTheObjectiveAsksFor) {
  StudySpec spec = Spec();
  const std::vector trials = {Completed(1, {0.1, 0.4, 0.2, 0.9})};
  const auto kept = [&] {
    return SimulateStopping(spec, ThirdReport(0.5), trials, {}).stops.at(0).kept_value;
  };
  EXPECT_DOUBLE_EQ(kept(), 0.2);
  spec.objectives.front().final = FinalValue::kBest;
  EXPECT_DOUBLE_EQ(kept(), 0.4);
  spec.objectives.front().goal = Goal::kMinimize;
  EXPECT_DOUBLE_EQ(kept(), 0.1);
  spec.objectives.front().final = FinalValue::kMeanOfLast;
  spec.objectives.front().final_count = 2;
  EXPECT_DOUBLE_EQ(kept(), 0.3);
}

TEST(SimulateStopping, ATrialThatBreaksAConstraintCannotWin) {
  std::vector trials = {Completed(1, {0.1, 0.2, 0.3, 0.9}), Completed(2, {0.5, 0.6, 0.7, 0.8})};
  trials[0].feasible = false;
  const StoppingSimulation result =
      SimulateStopping(Spec(), ThirdReport(0.5), trials, TrialNumber(2));
  EXPECT_EQ(result.best->value, 0.8);
  EXPECT_EQ(result.best_kept->value, 0.8);
  EXPECT_EQ(result.CountWinners(), 0);
}

TEST(SimulateStopping, ShowsNanToTheRuleAndNeverCountsItAsBest) {
  const ThirdReport rule(0.5);
  const std::vector trials = {Completed(1, {kNan, kNan, kNan, kNan}),
                              Completed(2, {0.1, 0.1, 0.1})};
  const StoppingSimulation result = SimulateStopping(Spec(), rule, trials, TrialNumber(2));
  EXPECT_THAT(rule.calls, SizeIs(7));
  // NaN is not below the bound.
  ASSERT_THAT(result.stops, SizeIs(1));
  EXPECT_EQ(result.stops.front().trial, TrialNumber(2));
  EXPECT_EQ(result.best_kept->trial, TrialNumber(2));
}

TEST(SimulateStopping, LeavesOutTrialsWithoutMeasurements) {
  const ThirdReport rule(0.5);
  // Trial 2 was deleted; trial 1 was added with its result.
  SimulatedTrial added = Completed(1, {});
  added.trial.final_metrics = {{"accuracy", 0.7}};
  const std::vector trials = {added, Completed(3, {1, 1}, 1)};
  const StoppingSimulation result = SimulateStopping(Spec(), rule, trials, TrialNumber(3));
  EXPECT_EQ(result.judged, 1);
  EXPECT_EQ(result.longest_curve, 2);
  EXPECT_THAT(rule.calls, ElementsAre("3@1: 0f 0", "3@2: 0f 0"));
}

TEST(SimulateStopping, FailedTrialsNeverCountAsFinished) {
  const ThirdReport rule(0.5);
  const std::vector trials = {InState(TrialState::kFailed, Completed(1, {1, 1})),
                              InState(TrialState::kFailed, Completed(2, {0, 0, 0, 0})),
                              Completed(3, {1}, 9)};
  const StoppingSimulation result = SimulateStopping(Spec(), rule, trials, TrialNumber(3));
  EXPECT_EQ(rule.calls.back(), "3@1: 2 3s");
  ASSERT_THAT(result.stops, SizeIs(1));
  EXPECT_EQ(result.stops.front().final_value, std::nullopt);
  EXPECT_FALSE(result.stops.front().would_have_won);
  EXPECT_EQ(result.saved.steps, 1);
}

TEST(SimulateStopping, HasNoBestWithoutACompletedTrial) {
  const std::vector trials = {InState(TrialState::kFailed, Completed(1, {0, 0, 0, 0}))};
  const StoppingSimulation result =
      SimulateStopping(Spec(), ThirdReport(0.5), trials, std::nullopt);
  EXPECT_EQ(result.judged, 1);
  EXPECT_FALSE(result.best.has_value());
  EXPECT_FALSE(result.best_kept.has_value());
  EXPECT_THAT(result.stops, SizeIs(1));
}

TEST(SimulateStopping, CountsNoSavingsOfTrialsThatWereStopped) {
  const ThirdReport rule(0.5);
  const std::vector trials = {StoppedBy("median", Completed(1, {0, 0, 0, 0})),
                              StoppedBy("user", Completed(2, {1, 1})),
                              Completed(3, {1}, 9)};
  const StoppingSimulation result = SimulateStopping(Spec(), rule, trials, TrialNumber(3));
  EXPECT_EQ(rule.calls.back(), "3@1: 3s 2s");
  EXPECT_EQ(result.was_stopped, 2);
  EXPECT_EQ(result.CountUnknown(), 1);
  EXPECT_EQ(result.saved.steps, 0);
  EXPECT_EQ(result.saved.time, absl::ZeroDuration());
  ASSERT_THAT(result.stops, SizeIs(1));
  EXPECT_TRUE(result.stops.front().was_stopped);
  EXPECT_EQ(result.stops.front().final_value, std::nullopt);
}

TEST(SimulateStopping, ShowsRunningTrialsToTheRuleButReportsThemNot) {
  const ThirdReport rule(0.5);
  SimulatedTrial running = InState(TrialState::kRunning, Completed(1, {0, 0, 0, 0}));
  running.trial.ended.reset();
  const StoppingSimulation result =
      SimulateStopping(Spec(), rule, std::vector{running, Completed(2, {1}, 9)}, TrialNumber(2));
  EXPECT_EQ(rule.calls.back(), "2@1: 3s");
  EXPECT_EQ(result.judged, 1);
  EXPECT_THAT(result.stops, IsEmpty());
}

TEST(SimulateStopping, ToleratesMeasurementsReadAfterTheEnd) {
  const ThirdReport rule(0.5);
  SimulatedTrial late = Completed(1, {1, 1, 1});
  late.trial.ended = At(1.5);
  SimulatedTrial bad = Completed(2, {0, 0, 0}, 0.5);
  bad.trial.ended = At(2);
  const StoppingSimulation result =
      SimulateStopping(Spec(), rule, std::vector{late, bad}, TrialNumber(1));
  EXPECT_EQ(rule.calls.back(), "2@3: 3f");
  EXPECT_THAT(result.stops, SizeIs(1));
  EXPECT_EQ(result.saved.time, absl::ZeroDuration());
}

TEST(SimulateStopping, AnEmptyStudyIsNoError) {
  const StoppingSimulation result = SimulateStopping(Spec(), ThirdReport(0.5), {}, std::nullopt);
  EXPECT_EQ(result.judged, 0);
  EXPECT_THAT(result.stops, IsEmpty());
}

TEST(SimulateStopping, TellsItsProgress) {
  std::size_t calls = 0;
  std::size_t last = 0;
  SimulateStopping(Spec(),
                   ThirdReport(0.5),
                   std::vector{Completed(1, {1, 1})},
                   std::nullopt,
                   [&](std::size_t judged, std::size_t of) {
                     ++calls;
                     last = judged;
                     EXPECT_EQ(of, 3);  // Two measurements and the end.
                   });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(last, 3);
}

}  // namespace
}  // namespace vernier
