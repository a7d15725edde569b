#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"

namespace vernier::sqlite {
namespace {

using ::vernier::testing::CheckConsistent;
using ::vernier::testing::CreatedEvent;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;
using ::vernier::testing::TempFolder;
using ::vernier::testing::TrialCommit;
using ::vernier::testing::TrialCommitAfter;

class GroupCommit : public ::testing::Test {
 protected:
  GroupCommit() {
    auto opened = Open({.path = folder_.PathOf("store")}, {.vfs = "", .synchronous = false});
    EXPECT_THAT(opened, IsOk());
    store_ = *std::move(opened);
  }
  Study Create(const std::string& name) {
    const absl::StatusOr<Study> study = store_->CreateStudy(CreatedEvent(name));
    EXPECT_THAT(study, IsOk());
    return *study;
  }
  std::vector<Study> CreateMany(int count) {
    std::vector<Study> studies;
    for (int i = 0; i < count; ++i) studies.push_back(Create("s" + std::to_string(i)));
    return studies;
  }
  // A thread for each study makes so many commits of it; `settle` waits for one in line.
  void CommitInThreads(
      std::vector<Study>& studies,
      int rounds,
      const std::function<void(PendingCommit&, std::size_t thread, int round)>& settle) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < studies.size(); ++t) {
      threads.emplace_back([&, t] {
        Study& study = studies[t];
        for (int round = 0; round < rounds; ++round) {
          const Commit commit = TrialCommit(study);
          study = commit.header;
          settle(*store_->Begin(commit), t, round);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // What was written since `before`.
  GroupWriter::Statistics Since(const GroupWriter::Statistics& before) const {
    const GroupWriter::Statistics now = store_->statistics();
    return {.writes = now.writes - before.writes,
            .transactions = now.transactions - before.transactions};
  }

  TempFolder folder_;
  std::unique_ptr<SqliteStorage> store_;
};

TEST_F(GroupCommit, CommitsInLineShareOneTransaction) {
  Study study = Create("a");
  const GroupWriter::Statistics before = store_->statistics();
  std::vector<std::unique_ptr<PendingCommit>> line;
  for (int i = 0; i < 10; ++i) {
    const Commit commit = TrialCommit(study);
    study = commit.header;
    line.push_back(store_->Begin(commit));
  }
  EXPECT_EQ(Since(before).transactions, 0) << "Begin wrote to the disk";
  for (const auto& commit : line) EXPECT_THAT(commit->Wait(), IsOk());
  EXPECT_EQ(Since(before).writes, 10);
  EXPECT_EQ(Since(before).transactions, 1);
}

TEST_F(GroupCommit, ThreadsThatCommitTogetherShareTransactions) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 10;
  std::vector<Study> studies = CreateMany(kThreads);
  const GroupWriter::Statistics before = store_->statistics();
  std::barrier all_in_line(kThreads);
  CommitInThreads(studies, kRounds, [&](PendingCommit& pending, std::size_t, int) {
    all_in_line.arrive_and_wait();
    EXPECT_THAT(pending.Wait(), IsOk());
  });
  EXPECT_EQ(Since(before).writes, kThreads * kRounds);
  EXPECT_EQ(Since(before).transactions, kRounds);  // The first to wait takes the whole round.
  for (const Study& study : studies) EXPECT_THAT(CheckConsistent(*store_, study.id), IsOk());
}

TEST_F(GroupCommit, SomeWaitAndOthersAreTold) {
  std::vector<Study> studies = CreateMany(4);
  CommitInThreads(studies, 50, [](PendingCommit& pending, std::size_t thread, int round) {
    if ((static_cast<std::size_t>(round) + thread) % 2 == 0) {
      EXPECT_THAT(pending.Wait(), IsOk());
      return;
    }
    absl::Notification told;
    pending.Then([&told](const absl::Status& status) {
      EXPECT_THAT(status, IsOk());
      told.Notify();
    });
    told.WaitForNotification();
  });
  for (const Study& study : studies) {
    EXPECT_EQ(store_->GetStudy(study.id).value(), study);
    EXPECT_THAT(CheckConsistent(*store_, study.id), IsOk());
  }
}

TEST_F(GroupCommit, WhatIsInLineAtTheEndIsWrittenAndTold) {
  Study study = Create("a");
  std::atomic<int> told = 0;
  constexpr int kCommits = 20;
  for (int i = 0; i < kCommits; ++i) {
    const Commit commit = TrialCommit(study);
    study = commit.header;
    store_->Begin(commit)->Then([&told](const absl::Status& status) {
      EXPECT_THAT(status, IsOk());
      ++told;
    });
  }
  store_.reset();
  EXPECT_EQ(told, kCommits);
}

TEST_F(GroupCommit, ListenersMayCommitWhileTheStoreIsClosed) {
  constexpr int kCommits = 50;
  Study study = Create("a");
  SqliteStorage* const store = store_.get();
  int told = 0;  // Of one listener at a time.
  // Each commit is begun by the listener of the one before, so that most are begun after the store's end has.
  const std::function<void(const absl::Status&)> next = [&](const absl::Status& status) {
    EXPECT_THAT(status, IsOk());
    if (told++ == kCommits) return;
    const Commit commit = TrialCommit(study);
    study = commit.header;
    store->Begin(commit)->Then(next);
  };
  next(absl::OkStatus());
  store_.reset();
  EXPECT_EQ(told, kCommits + 1);
}

TEST_F(GroupCommit, ARefusedCommitLeavesTheOthersOfItsTransaction) {
  const Study a = Create("a");
  const Study b = Create("b");
  const GroupWriter::Statistics before = store_->statistics();
  const auto refused = store_->Begin(TrialCommitAfter(EventSeq(5), a));
  const auto made = store_->Begin(TrialCommit(b));
  EXPECT_THAT(made->Wait(), IsOk());
  EXPECT_THAT(refused->Wait(), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(Since(before).transactions, 1);
  EXPECT_EQ(store_->GetStudy(a.id).value(), a);
  EXPECT_THAT(CheckConsistent(*store_, b.id), IsOk());
}

TEST_F(GroupCommit, DeletionsAndCreationsKeepTheirPlaceInLine) {
  const Study study = Create("a");
  const auto before_deletion = store_->Begin(TrialCommit(study));
  EXPECT_THAT(store_->DeleteStudy(study.id, ""), IsOk());
  EXPECT_THAT(before_deletion->Wait(), IsOk());
  EXPECT_THAT(store_->GetStudy(study.id), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(Create("a").id, StudyId(2));
}

}  // namespace
}  // namespace vernier::sqlite
