#include "src/service/trial_lists.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/fault_storage.h"
#include "tests/support/status_matchers.h"
#include "tests/wire/select.h"
#include "vernier/core/clock.h"
#include "vernier/core/rng.h"
#include "vernier/studies.h"

namespace vernier::service {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Le;
using ::testing::SizeIs;

constexpr std::int64_t kMostTrials = 4500;
constexpr int kPageSize = 1000;
// Trials that a call may read: for its page and the one behind it, and for its ranking.
constexpr int kMessageBound = 2 * 2001 + 50;

// Says how many trials were read.
class CountingStorage final : public testing::FaultStorage {
 public:
  using FaultStorage::FaultStorage;
  absl::Status ScanTrials(StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) const override {
    return FaultStorage::ScanTrials(study, scan, [&](Trial trial) {
      ++read;
      return visit(std::move(trial));
    });
  }
  mutable std::atomic<int> read = 0;
};

// Trials of every kind: ended and not, deleted, with equal values, without one and with NaN; 'last' is the last one's message.
std::vector<Trial> ManyTrials() {
  std::vector<Trial> trials;
  Rng rng(11);
  for (std::int64_t number = 1; number <= kMostTrials; ++number) {
    Trial trial;
    trial.number = TrialNumber(number);
    trial.created = absl::FromUnixSeconds(1'700'000'000 + number / 3);
    trial.point = {{"x", rng.Uniform()}, {"kind", number % 2 == 0 ? "even" : "odd"}};
    trial.state = number % 10 == 0 ? TrialState::kFailed : TrialState::kCompleted;
    if (number % 500 == 1) trial.state = TrialState::kRunning;
    if (IsFinished(trial.state)) trial.ended = trial.created + absl::Seconds(1);
    const double value = number % 97 == 0 ? std::nan("") : std::floor(1000 * rng.Uniform());
    if (number % 10 != 0) trial.last = Measurement{.step = 1, .metrics = {{"loss", value}}};
    if (number % 10 != 0 && IsFinished(trial.state)) trial.final_metrics = {{"loss", value}};
    trial.message = number == kMostTrials ? "last" : "";
    trial.deleted = number % 333 == 0;
    trials.push_back(std::move(trial));
  }
  return trials;
}

class TrialListsTest : public ::testing::Test {
 protected:
  TrialListsTest() {
    const Study study = *memory_->CreateStudy(testing::CreatedEvent("s"));
    Store(study, all_);
  }

  void Store(const Study& study, const std::vector<Trial>& trials) {
    Commit commit = testing::TrialCommit(study);
    commit.trials = trials;
    ASSERT_THAT(memory_->Begin(commit)->Wait(), IsOk());
    study_ = commit.header;
  }
  // The list in pages, and how many trials each call read.
  struct Walk {
    std::vector<std::int64_t> numbers;
    std::vector<int> read;
    int empty = 0;
  };
  Walk Read(TrialLists& lists, const std::string& filter, const std::string& order_by) {
    Walk walk;
    std::optional<wire::PageToken> next(std::in_place);
    while (next.has_value()) {
      storage_.read = 0;
      int rows = 0;
      auto page = lists.Read({.study = study_.id, .filter = filter, .order_by = order_by},
                             *next,
                             [&](const Trial& trial) {
                               if (rows == kPageSize) return false;
                               ++rows;
                               walk.numbers.push_back(trial.number.value());
                               return true;
                             });
      EXPECT_THAT(page, IsOk());
      next = page.value_or(std::nullopt);
      walk.read.push_back(storage_.read);
      walk.empty += rows == 0 ? 1 : 0;
    }
    return walk;
  }
  std::vector<std::int64_t> Expected(const std::string& filter, const std::string& order_by) {
    std::vector<Trial> trials = all_;
    std::erase_if(trials, [](const Trial& trial) { return trial.deleted; });
    std::vector<std::int64_t> numbers;
    trials = wire::SelectTrials(std::move(trials), filter, order_by).value();
    for (const Trial& trial : trials) numbers.push_back(trial.number.value());
    return numbers;
  }

  std::vector<Trial> all_ = ManyTrials();
  ManualClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  const std::unique_ptr<Storage> memory_ = NewMemoryStorage();
  CountingStorage storage_{*memory_};
  const std::unique_ptr<Studies> studies_ = Studies::Create(storage_, clock_);
  TrialLists lists_{*studies_};
  Study study_;
};

TEST_F(TrialListsTest, EveryCallReadsABoundedNumberOfTrialsAndTheListIsWhole) {
  for (const std::string filter : {"",
                                   "metrics.loss > 2000",  // None.
                                   "message = last",
                                   "metrics.loss >= 0 OR NOT metrics.loss >= 0",
                                   "state = FAILED",
                                   "state = RUNNING OR state = FAILED",
                                   "metrics.loss < 10 AND metrics.loss >= 5",
                                   "NOT metrics.loss : *"}) {
    for (const std::string order : {"",
                                    "number desc",
                                    "metrics.loss",
                                    "metrics.loss desc, number",
                                    "parameters.x",
                                    "parameters.kind desc, metrics.loss, number desc",
                                    "end_time desc, metrics.other"}) {
      const Walk walk = Read(lists_, filter, order);
      EXPECT_EQ(walk.numbers, Expected(filter, order)) << filter << " by " << order;
      EXPECT_THAT(walk.read, Each(Le(kMessageBound))) << filter << " by " << order;
    }
  }
}

TEST_F(TrialListsTest, AFilterThatLeavesOutAllGivesEmptyPagesUntilTheEnd) {
  const Walk walk = Read(lists_, "message = none", "");
  EXPECT_THAT(walk.numbers, IsEmpty());
  EXPECT_THAT(walk.read, SizeIs(3));
  EXPECT_EQ(walk.empty, 3);
}

TEST_F(TrialListsTest, AFilterAndAnOrderByTheSameMetricReadOnlyWhatMatches) {
  for (const std::string order : {"metrics.loss", "metrics.loss desc"}) {
    const Walk walk = Read(lists_, "metrics.loss >= 100 AND metrics.loss < 110", order);
    EXPECT_THAT(walk.read, SizeIs(1));
    EXPECT_THAT(walk.read, Each(Le(90)));
  }
  EXPECT_THAT(Read(lists_, "metrics.loss > 2000", "metrics.loss").read, SizeIs(1));
}

TEST_F(TrialListsTest, AListByStatesReadsNoTrialInAnother) {
  const Walk walk = Read(lists_, "state = RUNNING OR state = CANCELLED", "number desc");
  EXPECT_THAT(walk.numbers, SizeIs(9));
  EXPECT_THAT(walk.read, SizeIs(1));
  EXPECT_THAT(walk.read, Each(9));
}

TEST_F(TrialListsTest, ARankingIsBuiltOnceAndThenFollowsTheStudy) {
  const Walk first = Read(lists_, "", "parameters.x");
  EXPECT_EQ(first.empty, 2) << "2,000 trials a call";
  const Walk again = Read(lists_, "", "parameters.x");
  EXPECT_EQ(again.empty, 0);
  EXPECT_EQ(again.numbers, first.numbers);
  Read(lists_, "", "metrics.loss, message");
  // One is new, and one that ran has a value that it had not.
  Trial added;
  added.number = TrialNumber(kMostTrials + 1);
  added.point = {{"x", -1.0}};
  added.state = TrialState::kCompleted;
  added.ended = added.created = clock_.Now();
  added.final_metrics = {{"loss", -1.0}};
  all_.push_back(added);
  Trial& ended = all_[500];
  ASSERT_EQ(ended.state, TrialState::kRunning);
  ended.state = TrialState::kCompleted;
  ended.ended = clock_.Now();
  ended.final_metrics = {{"loss", -2.0}};
  Store(study_, {added, ended});
  for (const std::string order : {"parameters.x", "metrics.loss, message"}) {
    const Walk now = Read(lists_, "", order);
    EXPECT_EQ(now.numbers, Expected("", order)) << order;
    EXPECT_EQ(now.empty, 0) << order;
  }
}

TEST_F(TrialListsTest, AListGoesOnWhereItWasInAServerThatHasNoRanking) {
  std::vector<std::int64_t> numbers;
  std::optional<wire::PageToken> next(std::in_place);
  while (next.has_value()) {
    TrialLists restarted(*studies_);
    const std::size_t before = numbers.size();
    while (next.has_value() && numbers.size() == before) {
      int rows = 0;
      const auto page =
          restarted.Read({.study = study_.id, .filter = "", .order_by = "parameters.x desc"},
                         *next,
                         [&](const Trial& trial) {
                           if (rows++ == kPageSize) return false;
                           numbers.push_back(trial.number.value());
                           return true;
                         });
      ASSERT_THAT(page, IsOk());
      next = *page;
    }
  }
  EXPECT_EQ(numbers, Expected("", "parameters.x desc"));
}

}  // namespace
}  // namespace vernier::service
