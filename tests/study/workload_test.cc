#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "src/core/pareto.h"
#include "tests/study/random_workload.h"
#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::IsOk;

StudyFold FoldAll(const std::vector<Event>& events, StudyId id) {
  StudyFold fold = StudyFold::Start(id, events.front()).value();
  for (std::size_t i = 1; i < events.size(); ++i) {
    const absl::Status applied = fold.Apply(events[i]);
    EXPECT_THAT(applied, IsOk());
  }
  return fold;
}

// The tables must hold what the log says, in every storage: the log is the truth, they are its projection.
class WorkloadTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "Memory") {
      storage_ = NewMemoryStorage();
      return;
    }
    folder_ =
        std::filesystem::temp_directory_path() / ("vernier-workload-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    storage_ = OpenSqliteStorage({.path = (folder_ / "store.db").string()}).value();
  }
  void TearDown() override {
    storage_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void ExpectTablesEqualLog(StudyId id) {
    const auto events = storage_->ReadEvents(id, EventSeq(0), 1 << 20);
    ASSERT_THAT(events, IsOk());
    const StudyFold fold = FoldAll(*events, id);
    EXPECT_EQ(storage_->GetStudy(id).value(), fold.header());
    const auto trials = storage_->ListTrials(id, TrialNumber(0), 1 << 20);
    ASSERT_THAT(trials, IsOk());
    const std::vector<const TrialEntry*> rows = fold.AllRows();
    ASSERT_EQ(trials->size(), rows.size());
    for (std::size_t i = 0; i < trials->size(); ++i) {
      EXPECT_EQ((*trials)[i], rows[i]->trial) << "trial " << i + 1;
    }
  }
  void ExpectCountsTrue(const Study& study) {
    const std::vector<Trial> trials = storage_->ListTrials(study.id, {}, 1 << 20).value();
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    for (const Trial& trial : trials) {
      if (trial.deleted) continue;
      completed += trial.state == TrialState::kCompleted ? 1 : 0;
      failed += trial.state == TrialState::kFailed || trial.state == TrialState::kInfeasible;
    }
    EXPECT_EQ(study.trials, static_cast<std::int64_t>(trials.size()));
    EXPECT_EQ(study.completed, completed);
    EXPECT_EQ(study.failed, failed);
  }

  // From the definition: of the completed trials that keep the constraint, those that none dominates.
  void ExpectOptimalTrue(const Study& study) {
    std::vector<TrialNumber> counted;
    std::vector<std::vector<double>> values;
    const std::vector<Trial> trials = storage_->ListTrials(study.id, {}, 1 << 20).value();
    for (const Trial& trial : trials) {
      if (trial.state != TrialState::kCompleted || trial.deleted) continue;
      const double accuracy = trial.final_metrics.at("accuracy");
      const double latency = trial.final_metrics.at("latency_ms");
      if (latency >= 30 && accuracy <= 0.5) continue;
      counted.push_back(trial.number);
      values.push_back({accuracy, -latency});
    }
    const std::vector<bool> dominated = Dominated(values);
    std::vector<TrialNumber> optimal;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      if (!dominated[i]) optimal.push_back(counted[i]);
    }
    EXPECT_EQ(study.optimal, optimal);
    EXPECT_GT(optimal.size(), 1u);
    EXPECT_LT(counted.size(), static_cast<std::size_t>(study.completed));
  }

  std::filesystem::path folder_;
  std::unique_ptr<Storage> storage_;
  ManualClock clock_{absl::FromUnixSeconds(1'800'000'000)};
};

TEST_P(WorkloadTest, FoldOfTheLogEqualsTheTablesAndReplays) {
  const std::uint64_t seed = 20'261'121;
  SCOPED_TRACE(seed);
  const int operations = GetParam() == "Memory" ? 4000 : 1000;
  auto studies = std::make_unique<StudiesImpl>(
      *storage_, clock_, AlgorithmCatalogue::BuiltIn(), SnapshotInterval());
  const Study study = studies->CreateStudy(WorkloadSpec(), {.actor = "test"}).value();
  RandomWorkload workload(*studies, clock_, study.id, seed);
  int accepted = 0;
  for (int i = 0; i < operations; ++i) accepted += workload.Step().ok() ? 1 : 0;
  EXPECT_GT(accepted, operations / 4);
  EXPECT_LT(accepted, operations);
  ExpectTablesEqualLog(study.id);
  ExpectCountsTrue(studies->GetStudy(study.id).value());
  ExpectOptimalTrue(studies->GetStudy(study.id).value());

  const auto report = studies->Replay(study.id);
  ASSERT_THAT(report, IsOk());
  for (const auto& line : report->problems)
    ADD_FAILURE() << line.event.value() << ": " << line.detail;
  EXPECT_GT(report->suggestions, operations / 20);
  EXPECT_GT(report->stops, 0);
  EXPECT_EQ(report->verified, report->suggestions + report->stops);
}

// A second look at the same log must not depend on what is held in memory.
TEST_P(WorkloadTest, ARestartInTheMiddleChangesNothing) {
  auto studies = std::make_unique<StudiesImpl>(
      *storage_, clock_, AlgorithmCatalogue::BuiltIn(), SnapshotInterval());
  const Study study = studies->CreateStudy(WorkloadSpec(), {.actor = "test"}).value();
  for (std::uint64_t round = 0; round < 10; ++round) {
    const std::vector<Trial> before = studies->ListTrials(study.id).value();
    studies = std::make_unique<StudiesImpl>(
        *storage_, clock_, AlgorithmCatalogue::BuiltIn(), SnapshotInterval());
    std::vector<Trial> after = studies->ListTrials(study.id).value();
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i].lease.has_value()) {  // Renewals in memory may be lost, never more.
        EXPECT_LE(after[i].lease->expires, before[i].lease->expires);
        after[i].lease->expires = before[i].lease->expires;
      }
      EXPECT_EQ(after[i], before[i]);
    }
    RandomWorkload workload(*studies, clock_, study.id, round);
    for (int i = 0; i < 60; ++i) workload.Step().IgnoreError();
  }
  ExpectTablesEqualLog(study.id);
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         WorkloadTest,
                         ::testing::Values("Memory", "Sqlite"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace vernier::study
