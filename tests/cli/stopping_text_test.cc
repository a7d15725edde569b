#include "src/cli/stopping_text.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/codec/spec_form.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

StudyRecord Digits() {
  StudyRecord study;
  study.study.spec.name = "digits";
  study.study.spec.objectives = {{.metric = "accuracy"}};
  return study;
}

ReportedRule Rule(const StudyRecord& study, const std::string& name = "") {
  return *ChooseReportedRule(study.study.spec, name, {});
}

// Ten trials of 20 steps, two minutes each; the rule would have stopped trial 3.
StoppingSimulation OneStop() {
  StoppingSimulation simulation;
  simulation.judged = 10;
  simulation.longest_curve = 20;
  simulation.stops = {{.trial = TrialNumber(3),
                       .step = 5,
                       .last_step = 20,
                       .value = 0.5,
                       .kept_value = 0.5,
                       .final_value = 0.8,
                       .explanation = "too low"}};
  simulation.total = {.steps = 200, .time = absl::Minutes(20)};
  simulation.saved = {.steps = 15, .time = absl::Seconds(90)};
  simulation.best = {.trial = TrialNumber(7), .value = 0.97};
  simulation.best_kept = simulation.best;
  return simulation;
}

// Its stop is that of the best trial.
StoppingSimulation LostBest() {
  StoppingSimulation simulation = OneStop();
  simulation.stops.front().trial = TrialNumber(7);
  simulation.stops.front().final_value = 0.97;
  simulation.stops.front().would_have_won = true;
  simulation.best_kept = {.trial = TrialNumber(4), .value = 0.95};
  return simulation;
}

TEST(DescribeSavings, GivesTimeAndGpus) {
  EXPECT_EQ(DescribeSavings({.stopped = 12,
                             .is_known = true,
                             .time = absl::Minutes(200),
                             .gpu_time = absl::Minutes(390),
                             .share = 0.312},
                            50),
            "12 of 50 trials stopped, about 3h20m of trial time saved (31%), 6.5 GPU hours");
  EXPECT_EQ(DescribeSavings(
                {.stopped = 1, .is_known = true, .time = absl::Seconds(90), .share = 0.05}, 50),
            "1 of 50 trials stopped, about 1m30s of trial time saved (5%)");
}

TEST(DescribeSavings, SaysOnlyHowManyWereStoppedIfNothingElseIsKnown) {
  EXPECT_EQ(DescribeSavings({.stopped = 1}, 1), "1 of 1 trial stopped");
  EXPECT_EQ(SavingsJson({.stopped = 1}).dump(), R"({"stopped_by_rule_count":1})");
}

TEST(SavingsJson, NamesUnits) {
  EXPECT_EQ(SavingsJson({.stopped = 2,
                         .is_known = true,
                         .time = absl::Seconds(90),
                         .gpu_time = absl::Minutes(30),
                         .share = 0.25})
                .dump(),
            R"({"stopped_by_rule_count":2,"stopped_time_saved_seconds":90.0,)"
            R"("stopped_time_saved_share":0.25,"stopped_gpu_hours_saved":0.5})");
}

TEST(DescribeUnactedRule, SaysWhetherTheBestTrialWouldHaveBeenLost) {
  EXPECT_EQ(DescribeUnactedRule(OneStop()),
            "would have stopped 1 of 10 trials (rule not acted on), saving about 1m30s of trial "
            "time (8%); the best trial #7 would not have been stopped");
  EXPECT_THAT(DescribeUnactedRule(LostBest()),
              HasSubstr("; the best trial #7 would have been stopped"));
  EXPECT_TRUE(UnactedRuleJson(LostBest())["would_stop_best_trial"].get<bool>());
}

TEST(DescribeUnactedRule, IsShortIfNothingWouldHaveBeenStopped) {
  StoppingSimulation simulation;
  simulation.judged = 1;
  EXPECT_EQ(DescribeUnactedRule(simulation), "would have stopped 0 of 1 trial (rule not acted on)");
  EXPECT_FALSE(UnactedRuleJson(simulation).contains("would_stop_best_trial"));
}

TEST(DescribeSimulation, GivesFiguresWithShares) {
  StoppingSimulation simulation = OneStop();
  simulation.total.gpu_time = absl::Hours(200);
  simulation.saved.gpu_time = absl::Minutes(90);
  const StudyRecord study = Digits();
  EXPECT_EQ(DescribeSimulation(study, Rule(study, "median"), simulation),
            "study             digits\n"
            "objective         maximize accuracy\n"
            "rule              median\n"
            "trials judged     10\n"
            "would be stopped  1 of 10 (10%)\n"
            "steps saved       15 of 200 (8%)\n"
            "trial time saved  1m30s of 20m00s (8%)\n"
            "GPU time saved    1.5 of 200 GPU hours (1%)\n"
            "best trial        #7, accuracy 0.97: would not have been stopped\n"
            "winners stopped   none: no stopped trial ended better than the best one kept\n");
}

TEST(DescribeSimulation, SaysWhatIsLostWithTheBestTrial) {
  const StudyRecord study = Digits();
  EXPECT_THAT(
      DescribeSimulation(study, Rule(study), LostBest()),
      AllOf(
          HasSubstr("best trial        #7, accuracy 0.97: would have been stopped at step 5 of 20\n"
                    "best kept         #4, accuracy 0.95, worse by 0.02\n"
                    "winners stopped   1 trial, which ended better than the best one kept\n"),
          HasSubstr(", since the study has none; --rule names another\n"),
          Not(HasSubstr("GPU"))));
}

TEST(DescribeSimulation, SaysWhatItCannotKnow) {
  StudyRecord study = Digits();
  study.study.spec.objectives.push_back({.metric = "latency"});
  study.study.spec.stopping.name = "median";
  study.study.open = 1;
  StoppingSimulation simulation = OneStop();
  simulation.was_stopped = 1;
  simulation.stops.front().was_stopped = true;
  simulation.stops.front().final_value.reset();
  simulation.best.reset();
  const std::string text = DescribeSimulation(study, Rule(study), simulation);
  EXPECT_THAT(text, HasSubstr("rule              median, the study's own\n"));
  EXPECT_THAT(text, HasSubstr("best trial        none yet\n"));
  EXPECT_THAT(text, Not(HasSubstr("winners")));
  EXPECT_THAT(
      text,
      HasSubstr("note              1 trial was really stopped early; how it would have gone "
                "on is unknown, so it counts for no savings; `vernier study show digits` "
                "estimates what the rule saved\n"
                "                  trials that have not ended are left out\n"
                "                  rules look at the first objective only, accuracy\n"));
}

TEST(StopTable, HasARowForEachStop) {
  StoppingSimulation simulation = OneStop();
  simulation.stops.push_back({.trial = TrialNumber(4),
                              .step = 2,
                              .last_step = 2,
                              .value = 0.25,
                              .was_stopped = true,
                              .explanation = "worse"});
  // It failed in the end.
  simulation.stops.push_back(
      {.trial = TrialNumber(5), .step = 2, .last_step = 9, .value = 0.5, .explanation = "low"});
  EXPECT_THAT(
      StopTable(simulation).Lines({.width = 100}),
      ::testing::ElementsAre("TRIAL  STOPPED AT  VALUE THEN  FINAL VALUE  WOULD HAVE WON  REASON",
                             "    3        5/20         0.5          0.8  no              too low",
                             "    4         2/2        0.25      unknown  unknown         worse",
                             "    5         2/9         0.5            -  no              low"));
}

TEST(SimulationJson, HasEveryFigure) {
  const StudyRecord study = Digits();
  StoppingSimulation simulation = LostBest();
  simulation.stops.front().value = std::numeric_limits<double>::quiet_NaN();
  const auto json = SimulationJson(study, Rule(study, "median"), simulation);
  EXPECT_EQ(json["rule"], "median");
  EXPECT_TRUE(json["options"].contains("min_trials"));
  EXPECT_EQ(json["saved_time_seconds"], 90.0);
  EXPECT_EQ(json["best_trial_stopped_at_step"], 5);
  EXPECT_EQ(json["best_kept_value"], 0.95);
  EXPECT_EQ(json["stopped_winners"], 1);
  EXPECT_EQ(json["stops"][0]["value"], "NaN");
  EXPECT_EQ(json["stops"][0]["reason"], "too low");
  EXPECT_FALSE(json.contains("gpu_hours"));
}

TEST(ChooseReportedRule, PrefersTheOneGivenThenTheStudysOwn) {
  StudySpec spec = Digits().study.spec;
  EXPECT_EQ(ChooseReportedRule(spec, "", {})->choice.name, std::string(codec::kAutomaticRule));
  spec.stopping = {.name = "median", .options = {{"min_trials", std::int64_t{3}}, {"act", false}}};
  const auto own = ChooseReportedRule(spec, "", {});
  ASSERT_THAT(own.status(), IsOk());
  EXPECT_EQ(own->origin, RuleOrigin::kOwn);
  // Rules do not know `act`.
  EXPECT_EQ(own->choice, (Choice{.name = "median", .options = {{"min_trials", std::int64_t{3}}}}));
  const auto changed = ChooseReportedRule(spec, "", {{"min_steps", std::int64_t{2}}});
  ASSERT_THAT(changed.status(), IsOk());
  EXPECT_EQ(changed->origin, RuleOrigin::kGiven);
  EXPECT_EQ(changed->choice.options.size(), 2);
  EXPECT_TRUE(ChooseReportedRule(spec, "decay", {})->choice.options.empty());
}

TEST(ChooseReportedRule, ExplainsWhatItCannotMake) {
  const StudySpec spec = Digits().study.spec;
  EXPECT_THAT(ChooseReportedRule(spec, "medain", {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown stopping rule 'medain'; did you mean 'median'?")));
  EXPECT_THAT(ChooseReportedRule(spec, "none", {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "--rule: 'none' stops no trial"));
}

TEST(ActsOnStopping, UnlessTheStudySaysNo) {
  StudySpec spec;
  EXPECT_TRUE(ActsOnStopping(spec));
  spec.stopping.options["act"] = true;
  EXPECT_TRUE(ActsOnStopping(spec));
  spec.stopping.options["act"] = false;
  EXPECT_FALSE(ActsOnStopping(spec));
}

}  // namespace
}  // namespace vernier::cli
