#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include "tests/study/study_fixture.h"

namespace vernier::study {
namespace {

using testing::IsOk;

constexpr int kThreads = 8;

class ConcurrencyTest : public StudyFixture {
 protected:
  void InThreads(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(ConcurrencyTest, NoTwoClientsEverGetTheSameTrial) {
  StudySpec spec = ClientSpec();
  spec.parallel = 2 * kThreads;
  const Study study = Create(spec);
  absl::Mutex mu;
  std::multiset<TrialNumber> handed;
  InThreads([&](int t) {
    const std::string holder = "w" + std::to_string(t);
    for (int i = 0; i < 40; ++i) {
      const auto trials = studies_->Suggest(study.id, 1, holder, As(holder), {});
      ASSERT_THAT(trials, IsOk());
      {
        absl::MutexLock lock(&mu);
        handed.insert(trials->front().number);
      }
      ASSERT_THAT(Complete(study.id, trials->front(), 0.5), IsOk());
    }
  });
  EXPECT_EQ(handed.size(), std::set<TrialNumber>(handed.begin(), handed.end()).size());
  EXPECT_EQ(Get(study.id).trials, kThreads * 40);
  EXPECT_EQ(Get(study.id).completed, kThreads * 40);
  const auto report = studies_->Replay(study.id);
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->problems.empty());
  EXPECT_EQ(report->verified, kThreads * 40);
}

TEST_F(ConcurrencyTest, OfferedTrialsGoToOneClientEach) {
  StudySpec spec = ClientSpec();
  spec.parallel = 100;
  const Study study = Create(spec);
  for (int i = 0; i < 40; ++i) {
    ASSERT_THAT(studies_->AddTrial(study.id, {.point = {{"x", 0.5}}}, As("ann")), IsOk());
  }
  absl::Mutex mu;
  std::multiset<TrialNumber> handed;
  InThreads([&](int t) {
    for (int i = 0; i < 5; ++i) {
      const std::string holder = "w" + std::to_string(t) + "-" + std::to_string(i);
      const auto trials = studies_->Suggest(study.id, 1, holder, As(holder), {});
      ASSERT_THAT(trials, IsOk());
      absl::MutexLock lock(&mu);
      handed.insert(trials->front().number);
    }
  });
  EXPECT_EQ(handed.size(), 40);
  EXPECT_EQ(std::set<TrialNumber>(handed.begin(), handed.end()).size(), 40);
  EXPECT_EQ(*handed.rbegin(), TrialNumber(40));  // All by hand, none new.
}

TEST_F(ConcurrencyTest, BudgetsAreNeverOvershot) {
  StudySpec spec = ClientSpec();
  spec.parallel = 3;
  spec.budget.trials = 60;
  const Study study = Create(spec);
  std::atomic<std::int64_t> most_open = 0;
  InThreads([&](int t) {
    const std::string holder = "w" + std::to_string(t);
    while (true) {
      const auto trials = studies_->Suggest(study.id, 2, holder, As(holder), {});
      if (!trials.ok()) {
        if (GetReason(trials.status()) == Reason::kParallelLimit) continue;
        break;
      }
      std::int64_t open = studies_->GetStudy(study.id)->open;
      std::int64_t most = most_open;
      while (open > most && !most_open.compare_exchange_weak(most, open)) {
      }
      for (const Trial& trial : *trials) ASSERT_THAT(Complete(study.id, trial, 0.5), IsOk());
    }
  });
  EXPECT_LE(most_open, 3);
  EXPECT_EQ(Get(study.id).trials, 60);
  EXPECT_EQ(Get(study.id).state, StudyState::kCompleted);
}

TEST_F(ConcurrencyTest, OneRequestSentByManyAtOnceIsMadeOnce) {
  StudySpec spec = ClientSpec();
  spec.parallel = 50;
  absl::Mutex mu;
  std::set<StudyId> studies;
  std::set<TrialNumber> trials;
  InThreads([&](int) {
    const auto study = studies_->CreateStudy(spec, As("cli", "create"));
    ASSERT_THAT(study, IsOk());
    const auto suggested = studies_->Suggest(study->id, 1, "w1", As("w1", "suggest"), {});
    ASSERT_THAT(suggested, IsOk());
    const auto added = studies_->AddTrial(study->id, {.point = {{"x", 0.5}}}, As("cli", "add"));
    ASSERT_THAT(added, IsOk());
    absl::MutexLock lock(&mu);
    studies.insert(study->id);
    trials.insert(suggested->front().number);
    trials.insert(added->number);
  });
  ASSERT_EQ(studies.size(), 1);
  EXPECT_EQ(trials.size(), 2);
  EXPECT_EQ(Get(*studies.begin()).trials, 2);
}

// Each thread amends a part of its own, which therefore must be as it left it.
TEST_F(ConcurrencyTest, OfAmendmentsMadeAtOnceNoneUndoesAnother) {
  const Study study = Create(ClientSpec());
  constexpr int kRounds = 100;
  const std::vector<std::function<Amendment(int)>> changes = {
      [](int i) { return Amendment{.trials = i}; },
      [](int i) { return Amendment{.failed_trials = i}; },
      [](int i) { return Amendment{.time = absl::Hours(i)}; },
      [](int i) { return Amendment{.parallel = i}; },
      [](int i) {
        return Amendment{.labels = {{"first", std::to_string(i)}}};
      },
      [](int i) {
        return Amendment{.labels = {{"second", std::to_string(i)}}};
      },
  };
  std::vector<std::thread> threads;
  for (const auto& change : changes) {
    threads.emplace_back([&] {
      for (int i = 1; i <= kRounds; ++i) {
        ASSERT_THAT(studies_->Amend(study.id, change(i), As("w")), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Study after = Get(study.id);
  const Budget last{.trials = kRounds, .failed_trials = kRounds, .time = absl::Hours(kRounds)};
  EXPECT_EQ(after.spec.budget, last);
  EXPECT_EQ(after.spec.parallel, kRounds);
  EXPECT_EQ(after.spec.labels.at("first"), std::to_string(kRounds));
  EXPECT_EQ(after.spec.labels.at("second"), std::to_string(kRounds));
  EXPECT_EQ(after.spec_version, 1 + std::ssize(changes) * kRounds);
}

TEST_F(ConcurrencyTest, AWatcherSeesEveryEventOnceAndInOrder) {
  StudySpec spec = ClientSpec();
  spec.parallel = 2 * kThreads;
  const Study study = Create(spec);
  std::vector<Event> seen;
  std::stop_source done;
  std::thread watcher([&] {
    EventSeq after;
    while (studies_->WaitForEvents(study.id, after, absl::InfiniteDuration(), done.get_token())) {
      const auto events = studies_->ReadEvents(study.id, after, 100);
      ASSERT_THAT(events, IsOk());
      ASSERT_FALSE(events->empty());
      seen.insert(seen.end(), events->begin(), events->end());
      after = seen.back().seq;
    }
  });
  InThreads([&](int t) {
    const std::string holder = "w" + std::to_string(t);
    for (int i = 0; i < 10; ++i) {
      ASSERT_THAT(Complete(study.id, SuggestOne(study.id, holder), 0.5), IsOk());
    }
  });
  done.request_stop();
  watcher.join();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(Get(study.id).last_event.value()));
  EXPECT_EQ(seen, Log(study.id));
}

TEST_F(ConcurrencyTest, OneDeletionSentByManyAtOnceIsOkForAll) {
  Create(ClientSpec());
  InThreads(
      [&](int) { EXPECT_THAT(studies_->Delete("digits", false, As("cli", "delete")), IsOk()); });
  EXPECT_TRUE(studies_->ListStudies()->empty());
}

TEST_F(ConcurrencyTest, ANameNeverStandsForAnOlderStudy) {
  std::atomic<std::int64_t> deleted = 0;  // The last one that was, before a lookup began.
  InThreads([&](int t) {
    for (int i = 0; i < 200; ++i) {
      if (t == 0) {
        const StudyId id = Create(ClientSpec()).id;
        ASSERT_THAT(studies_->Delete("digits", false, As("ann")), IsOk());
        deleted = id.value();
      } else {
        const std::int64_t gone = deleted;
        const auto found = studies_->FindStudy("digits");
        ASSERT_TRUE(!found.ok() || found->id.value() > gone);
      }
    }
  });
  const Study last = Create(ClientSpec());
  EXPECT_EQ(studies_->FindStudyId("digits").value(), last.id);
}

TEST_F(ConcurrencyTest, AStudyDeletedUnderItsClientsIsNotFound) {
  const Study study = Create(ClientSpec());
  InThreads([&](int t) {
    const std::string holder = "w" + std::to_string(t);
    for (int i = 0; i < 20; ++i) {
      if (t == 0 && i == 10) {
        EXPECT_THAT(studies_->Delete("digits", true, As("ann")), IsOk());
      }
      const auto trials = studies_->Suggest(study.id, 1, holder, As(holder), {});
      if (trials.ok()) Complete(study.id, trials->front(), 0.5).IgnoreError();
      if (absl::IsNotFound(trials.status())) return;
    }
  });
  EXPECT_EQ(GetReason(studies_->GetStudy(study.id).status()), Reason::kStudyNotFound);
  EXPECT_TRUE(studies_->Tick()->empty());
}

TEST_F(ConcurrencyTest, AReaderOfOneTrialWaitsForThatTrialOnly) {
  const Study study = Create(ClientSpec());
  const Trial one = SuggestOne(study.id, "w1");
  const Trial two = SuggestOne(study.id, "w2");
  storage_.Hold(true);
  const int before = storage_.commits();
  std::thread writer([&] { EXPECT_THAT(Complete(study.id, one, 0.5), IsOk()); });
  storage_.AwaitCommits(before + 1);
  storage_.AwaitWaiters(1);
  // Neither call waits for the completion; otherwise it would block for ever.
  EXPECT_EQ(Get(study.id, two.number).state, TrialState::kRunning);
  EXPECT_EQ(studies_->GetDefinition(study.id).value()->name, study.spec.name);
  std::thread reader([&] { EXPECT_EQ(Get(study.id, one.number).state, TrialState::kCompleted); });
  // A reader that did not wait for the completion of its trial would never be counted.
  storage_.AwaitWaiters(2);
  storage_.Hold(false);
  writer.join();
  reader.join();
}

}  // namespace
}  // namespace vernier::study
