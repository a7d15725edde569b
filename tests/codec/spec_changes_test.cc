#include "src/codec/spec_changes.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/codec/study_file.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/amendment.h"

namespace vernier::codec {
namespace {

using ::testing::IsEmpty;

StudySpec Parse(const std::string& text) {
  const absl::StatusOr<StudySpec> spec = ParseStudyFile(text);
  EXPECT_THAT(spec, testing::IsOk());
  return spec.value_or(StudySpec());
}

constexpr char kFile[] = R"(study: digits
objective: {maximize: accuracy}
parameters:
  lr: {float: [1e-5, 0.1], scale: log}
  width: {int: [16, 256]}
budget: {trials: 20}
job:
  command: [python3, train.py]
)";

// One change of the file, and what is said of it.
struct ChangeCase {
  std::string name;
  std::string old_text;
  std::string new_text;
  std::string described;
};
class SpecChangesTest : public ::testing::TestWithParam<ChangeCase> {};

TEST_P(SpecChangesTest, NamesTheFieldAsTheFileHasIt) {
  const ChangeCase& c = GetParam();
  std::string changed = kFile;
  const auto at = changed.find(c.old_text);
  ASSERT_NE(at, std::string::npos);
  changed.replace(at, c.old_text.size(), c.new_text);
  EXPECT_EQ(DescribeChanges(CompareSpecs(Parse(kFile), Parse(changed))), c.described);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    SpecChangesTest,
    ::testing::Values(
        ChangeCase{"Nothing", "trials: 20", "trials: 20", ""},
        ChangeCase{"ABound", "trials: 20", "trials: 40", "budget.trials 20 → 40"},
        ChangeCase{"ABoundMore", "trials: 20", "trials: 20, time: 2h", "budget.time none → 2h"},
        ChangeCase{"NoBudget", "budget: {trials: 20}\n", "", "budget.trials 20 → none"},
        ChangeCase{"ACommand",
                   "train.py",
                   "fit.py",
                   R"(job.command ["python3","train.py"] → ["python3","fit.py"])"},
        ChangeCase{"ALongCommand",
                   "train.py",
                   "a/very/long/path/that/nobody/wants/to/read/twice.py",
                   "job.command"},
        ChangeCase{"AVariable", "job:\n", "job:\n  env: {TOKEN: hunter2}\n", "job.env.TOKEN"},
        ChangeCase{"TwoThings",
                   "width: {int: [16, 256]}\nbudget: {trials: 20}",
                   "width: {int: [16, 512]}\nbudget: {trials: 21}",
                   "parameters.width.int [16,256] → [16,512]; budget.trials 20 → 21"},
        ChangeCase{"AParameterMore", "budget:", "  on: {bool: {}}\nbudget:", "parameters.on.bool"},
        ChangeCase{"AnotherOrder",
                   "lr: {float: [1e-5, 0.1], scale: log}\n  width: {int: [16, 256]}",
                   "width: {int: [16, 256]}\n  lr: {float: [1e-5, 0.1], scale: log}",
                   "parameters"},
        ChangeCase{"ARule", "job:", "stopping: median\njob:", "stopping automatic → median"}),
    [](const auto& row) { return row.param.name; });

TEST(SpecChanges, OfManyTheFirstAreShown) {
  const std::vector<FieldChange> changes(10, {.field = "a", .from = "1", .to = "2"});
  EXPECT_EQ(DescribeChanges(changes, 2), "a 1 → 2; a 1 → 2; and 8 more");
  EXPECT_EQ(DescribeChanges({}, 2), "");
}

// Whatever part differs, it is seen.
TEST(SpecChanges, EveryPartOfADefinitionIsCompared) {
  const StudySpec base = Parse(kFile);
  const std::vector<std::function<void(StudySpec&)>> edits = {
      [](StudySpec& s) { s.name = "other"; },
      [](StudySpec& s) { s.labels["a"] = "b"; },
      [](StudySpec& s) { s.objectives[0].goal = Goal::kMinimize; },
      [](StudySpec& s) { s.objectives[0].final = FinalValue::kBest; },
      [](StudySpec& s) { s.outcome_constraints = {"latency <= 2"}; },
      [](StudySpec& s) { s.algorithm.options["a"] = std::int64_t{1}; },
      [](StudySpec& s) { s.warm_start = {"x"}; },
      [](StudySpec& s) { s.stopping.name = "median"; },
      [](StudySpec& s) { s.judged_when_asked = true; },
      [](StudySpec& s) { s.parallel = 3; },
      [](StudySpec& s) { s.budget.gpu_hours = 2.5; },
      [](StudySpec& s) { s.convergence = {.tolerance = 0.1, .stop = true}; },
      [](StudySpec& s) { s.seed = 9; },
      [](StudySpec& s) { s.metrics["a"].from = Role::kWorker; },
      [](StudySpec& s) { s.lease.ttl = absl::Seconds(1); },
      [](StudySpec& s) { s.job->grace = absl::Seconds(1); },
      [](StudySpec& s) { s.job->nan_limit = 3; },
      [](StudySpec& s) { s.job->pausable = true; },
      [](StudySpec& s) { s.job->replicas[Role::kWorker].count = 2; },
      [](StudySpec& s) { s.job->replicas.begin()->second.resources.gpus = 1; },
      [](StudySpec& s) { s.job->restarts.job = 9; },
      [](StudySpec& s) { s.job.reset(); },
  };
  for (std::size_t i = 0; i < edits.size(); ++i) {
    SCOPED_TRACE(i);
    StudySpec changed = base;
    edits[i](changed);
    EXPECT_FALSE(CompareSpecs(base, changed).empty());
    EXPECT_FALSE(CompareSpecs(changed, base).empty());
  }
  EXPECT_THAT(CompareSpecs(base, base), IsEmpty());
}

}  // namespace
}  // namespace vernier::codec
