#include "src/cli/outcome_text.h"

#include <limits>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/trial_csv.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Metrics = std::map<std::string, double>;

class OutcomeTextTest : public ::testing::Test {
 protected:
  OutcomeTextTest() {
    StudySpec& spec = study_.study.spec;
    spec.name = "s";
    spec.objectives = {{.metric = "accuracy", .goal = Goal::kMaximize},
                       {.metric = "loss", .goal = Goal::kMinimize}};
    spec.outcome_constraints = {"latency_ms < 20", "memory_mb <= 1000"};
    study_.outcome_constraints = ParseOutcomeConstraints(spec).value();
  }
  void Add(Metrics metrics, TrialState state = TrialState::kCompleted) {
    TrialRecord record;
    record.trial.number = TrialNumber(++study_.study.trials);
    record.trial.state = state;
    record.trial.final_metrics = std::move(metrics);
    study_.study.completed += state == TrialState::kCompleted ? 1 : 0;
    trials_.push_back(std::move(record));
  }
  std::int64_t Nearest() {
    const TrialRecord* const nearest = NearestToFeasible(study_, trials_);
    return nearest == nullptr ? 0 : nearest->trial.number.value();
  }

  StudyRecord study_;
  std::vector<TrialRecord> trials_;
};

TEST_F(OutcomeTextTest, SaysHowFarAConstraintIsKept) {
  const OutcomeConstraint& latency = study_.outcome_constraints[0];
  EXPECT_EQ(DescribeSlack(latency, {{"latency_ms", 15.8}}), "latency_ms < 20 is kept by 4.2");
  EXPECT_EQ(DescribeSlack(latency, {{"latency_ms", 23}}), "latency_ms < 20 is broken by 3");
  EXPECT_EQ(DescribeSlack(latency, {{"latency_ms", 20}}),
            "latency_ms < 20 is broken, if only just");
  EXPECT_EQ(DescribeSlack(latency, {{"latency", 20}}),
            "latency_ms < 20 is not known, the trial has no finite latency_ms");
  const auto ratio = OutcomeConstraint::Parse("accuracy / loss > 1", {}).value();
  EXPECT_EQ(DescribeSlack(ratio, {{"accuracy", 1}, {"loss", 0}}),
            "accuracy / loss > 1 is not known, it has no value here");
}

TEST_F(OutcomeTextTest, NoTrialIsNearestWhereNoneBreaksAConstraint) {
  Add({{"latency_ms", 10}, {"memory_mb", 10}});
  Add({}, TrialState::kFailed);
  EXPECT_EQ(Nearest(), 0);
}

TEST_F(OutcomeTextTest, NearestIsWhatMissesLeastInPartsOfTheMostThatAnyMisses) {
  Add({{"latency_ms", 40}, {"memory_mb", 10}});    // As far off as any.
  Add({{"latency_ms", 10}, {"memory_mb", 5000}});  // As this is in memory.
  Add({{"latency_ms", 10}, {"memory_mb", 1100}});  // A fortieth of that.
  Add({{"latency_ms", 22}, {"memory_mb", 10}});    // A tenth.
  EXPECT_EQ(Nearest(), 3);
}

TEST_F(OutcomeTextTest, FewerBrokenConstraintsAreNearerAndUnknownOnesFarther) {
  Add({{"memory_mb", 10}});
  Add({{"latency_ms", 20}, {"memory_mb", 1001}});
  EXPECT_EQ(Nearest(), 2);
  Add({{"latency_ms", 90}, {"memory_mb", 10}});
  EXPECT_EQ(Nearest(), 3);
}

TEST_F(OutcomeTextTest, SaysWhyThereIsNoBestTrial) {
  EXPECT_EQ(WhyNoBest(study_, trials_), "study 's' has no best trial yet: it has no trials");
  Add({{"latency_ms", 23}});
  EXPECT_EQ(
      WhyNoBest(study_, trials_),
      "study 's' has no best trial yet: its only completed trial, 1, does not keep every outcome "
      "constraint: latency_ms < 20 is broken by 3, and memory_mb <= 1000 is not known, the trial "
      "has no finite memory_mb");
  trials_.clear();
  Add({{"latency_ms", 10}, {"memory_mb", 10}});
  EXPECT_THAT(WhyNoBest(study_, trials_), HasSubstr("has a number for every objective"));
}

TEST_F(OutcomeTextTest, ListsOptimalTrialsFromTheBestByTheFirstObjective) {
  Add({{"accuracy", 0.5}, {"loss", 1}});
  Add({{"accuracy", 0.9}, {"loss", 3}});
  Add({{"accuracy", 0.9}, {"loss", 2}});
  Add({{"accuracy", 0.7}, {"loss", 2}});
  study_.study.optimal = {TrialNumber(1), TrialNumber(3), TrialNumber(4)};
  study_.study.best = TrialNumber(3);
  std::vector<std::int64_t> numbers;
  for (const TrialRecord& record : SelectOptimal(study_, trials_)) {
    numbers.push_back(record.trial.number.value());
  }
  EXPECT_THAT(numbers, ElementsAre(3, 4, 1));
  std::ostringstream out, err;
  Console console = {.out = out, .err = err};
  Output output(console, {});
  ListOptimal(output, study_, SelectOptimal(study_, trials_));
  EXPECT_THAT(out.str(), HasSubstr("NUMBER  accuracy  loss  PARAMETERS\n     3       0.9     2"));
}

TEST_F(OutcomeTextTest, CsvSaysWhetherATrialKeepsTheConstraints) {
  Add({{"latency_ms", 10}, {"memory_mb", 10}});
  Add({{"latency_ms", 30}, {"memory_mb", 10}});
  Add({}, TrialState::kFailed);
  const auto rows = TrialCsvRows(study_, trials_);
  EXPECT_EQ(rows[0]["feasible"], true);
  EXPECT_EQ(rows[1]["feasible"], false);
  EXPECT_TRUE(rows[2]["feasible"].is_null());
}

}  // namespace
}  // namespace vernier::cli
