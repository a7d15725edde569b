#include "src/app/store_copy.h"

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "src/app/server.h"
#include "src/app/store_report.h"
#include "tests/app/store_fixture.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class StoreCopy : public StoreFixture {
 protected:
  bool IsSound(const std::string& path) {
    const auto report = ExamineStore(path);
    EXPECT_THAT(report, IsOk());
    return report.ok() && report->is_sound();
  }
  // Nothing but these files.
  void ExpectFiles(std::vector<std::string> names) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "")) {
      found.push_back(entry.path().filename().string());
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(names));
  }

  static void ExpectNothingLeft(const std::string& path, int study) {
    const auto connection = sqlite::Connection::Open(path, absl::Seconds(1), "").value();
    for (const char* table : {"trials", "events", "trial_metrics"}) {
      const std::string rows = fmt::format("SELECT 1 FROM {} WHERE study = {}", table, study);
      EXPECT_FALSE(sqlite::Statement(*connection, rows).Step().value()) << rows;
    }
    EXPECT_FALSE(sqlite::Statement(*connection, "SELECT 1 FROM leftovers").Step().value());
  }

  const std::string backup_ = folder_ / "backup.db";
  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
};

TEST_F(StoreCopy, ABackupHasEveryRowInOneFileForItsOwnerOnly) {
  Fill({"first", "second"}, 200);
  ASSERT_OK_AND_ASSIGN(const BackupReport report, BackUpStore(store_, backup_, IfExists::kRefuse));
  EXPECT_EQ(report.studies, 2);
  EXPECT_GT(report.events, 200);
  EXPECT_EQ(Dump(backup_), Dump(store_));
  struct stat status;
  ASSERT_EQ(stat(backup_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ExpectFiles({"store.db", "backup.db"});
}

TEST_F(StoreCopy, ABackupWhileAProcessWritesIsOneMomentOfIt) {
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
  const auto studies = Studies::Create(*storage, clock_);
  Fill(*studies, {"first"}, 50);
  std::atomic<bool> is_over = false;
  std::atomic<int> rounds = 0;
  std::thread writer([&] {
    while (!is_over) {
      Fill(*studies, {"first", "second"}, 5);
      ++rounds;
    }
  });
  for (int i = 0; i < 5; ++i) {
    const std::string file = folder_ / ("backup" + std::to_string(i));
    EXPECT_THAT(BackUpStore(store_, file, IfExists::kRefuse), IsOk());
    EXPECT_TRUE(IsSound(file)) << "rows agree with the log, so that none is of another moment";
  }
  is_over = true;
  writer.join();
  EXPECT_GT(rounds, 0);
}

TEST_F(StoreCopy, AFileThatIsThereIsReplacedOnlyByForce) {
  Fill({"first"}, 50);
  std::ofstream(backup_) << "mine";
  EXPECT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(backup_)));
  for (const IfExists if_exists : {IfExists::kReplace, IfExists::kAppend}) {
    EXPECT_THAT(BackUpStore(store_, backup_, if_exists),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no backup of a store")));
  }
  EXPECT_EQ(ReadBytes(backup_), "mine");
  std::filesystem::remove(backup_);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  Fill({"first"}, 20);
  EXPECT_THAT(BackUpStore(store_, backup_, IfExists::kReplace), IsOk());
  EXPECT_EQ(Dump(backup_), Dump(store_));
  EXPECT_THAT(BackUpStore(store_, store_, IfExists::kReplace),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is the store itself")));
  ExpectFiles({"store.db", "backup.db"});
}

TEST_F(StoreCopy, NoBackupGoesWhereAStoreIsInUse) {
  Fill({"first"}, 50);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  {
    ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(backup_));
    for (const IfExists if_exists : {IfExists::kReplace, IfExists::kAppend}) {
      EXPECT_EQ(GetReason(BackUpStore(store_, backup_, if_exists).status()), Reason::kStoreBusy);
    }
  }
  // As a daemon leaves it that was killed.
  std::ofstream(backup_ + "-wal") << "log";
  for (const IfExists if_exists : {IfExists::kReplace, IfExists::kAppend}) {
    EXPECT_THAT(
        BackUpStore(store_, backup_, if_exists),
        StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has a write-ahead log")));
  }
}

TEST_F(StoreCopy, ABackupGoesWhereALinkLeadsAndToNoDevice) {
  Fill({"first"}, 50);
  const std::string link = folder_ / "link.db";
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  std::filesystem::create_symlink(backup_, link);
  Fill({"second"}, 50);
  ASSERT_THAT(BackUpStore(store_, link, IfExists::kReplace), IsOk());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Dump(backup_), Dump(store_));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(BackUpStore(store_, pipe, IfExists::kReplace),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no regular file")));
}

TEST_F(StoreCopy, AnEmptyStoreTakesNoBackupAlong) {
  Fill({"first"}, 50);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  const std::string empty = folder_ / "empty.db";
  ASSERT_THAT(OpenSqliteStorage({.path = empty}).status(), IsOk());
  EXPECT_THAT(BackUpStore(empty, backup_, IfExists::kReplace),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the store has no study")));
  EXPECT_EQ(Dump(backup_), Dump(store_));
}

TEST_F(StoreCopy, ANewerBackupIsNotAddedToAfterARestore) {
  Fill({"first"}, 50);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  Fill({"second"}, 50);
  const std::string newer = folder_ / "newer.db";
  ASSERT_THAT(BackUpStore(store_, newer, IfExists::kRefuse), IsOk());
  const std::string before = Dump(newer);
  ASSERT_THAT(RestoreStore(backup_, store_, true, now_), IsOk());
  EXPECT_THAT(BackUpStore(store_, newer, IfExists::kAppend),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("its study 'second'")));
  EXPECT_EQ(Dump(newer), before);
}

TEST_F(StoreCopy, ADamagedStoreIsNotAddedToABackup) {
  Fill({"first"}, 200);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  const std::string before = ReadBytes(backup_);
  std::fstream file(store_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096 * 10);
  file << std::string(4096, '\xA5');
  file.close();
  EXPECT_THAT(BackUpStore(store_, backup_, IfExists::kAppend),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the backup stays as it was")));
  EXPECT_EQ(ReadBytes(backup_), before);
}

TEST_F(StoreCopy, AnEmptyFileIsNoStore) {
  std::ofstream(store_) << "";
  EXPECT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("it is no store")));
  EXPECT_THAT(ExamineStore(store_),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("it is no store")));
}

TEST_F(StoreCopy, ADamagedStoreReplacesNoBackup) {
  Fill({"first"}, 200);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  const std::string before = ReadBytes(backup_);
  std::fstream file(store_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096 * 10);
  file << std::string(4096, '\xA5');
  file.close();
  EXPECT_THAT(BackUpStore(store_, backup_, IfExists::kReplace),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(ReadBytes(backup_), before);
  ExpectFiles({"store.db", "backup.db"});
}

TEST_F(StoreCopy, AnIncrementalBackupComesToTheSameAsAWholeOne) {
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
  const auto studies = Studies::Create(*storage, clock_);
  Fill(*studies, {"first", "second", "third"}, 100);
  ASSERT_OK_AND_ASSIGN(const BackupReport whole, BackUpStore(store_, backup_, IfExists::kAppend));
  EXPECT_FALSE(whole.is_incremental) << "there was none";
  for (int round = 0; round < 4; ++round) {
    Fill(*studies, {"first", "new" + std::to_string(round)}, 60);
    if (round == 1) {
      ASSERT_THAT(studies->Delete("second", true, {.actor = "t", .request_id = "r"}), IsOk());
    }
    ASSERT_OK_AND_ASSIGN(const BackupReport report,
                         BackUpStore(store_, backup_, IfExists::kAppend));
    EXPECT_TRUE(report.is_incremental);
    EXPECT_EQ(report.studies_added, 1);
    EXPECT_EQ(report.studies_removed, round == 1 ? 1 : 0);
    EXPECT_LT(report.events_added, report.events);
    EXPECT_EQ(Dump(backup_), Dump(store_)) << "round " << round;
    EXPECT_TRUE(IsSound(backup_));
  }
  ASSERT_OK_AND_ASSIGN(const BackupReport none, BackUpStore(store_, backup_, IfExists::kAppend));
  EXPECT_EQ(none.events_added, 0);
  EXPECT_EQ(none.trials_written, 0);
}

// As a whole backup has them that is made while a study is being removed.
TEST_F(StoreCopy, AnIncrementalBackupRemovesWhatIsLeftOfDeletedStudies) {
  Fill({"first", "second"}, 100);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  Tamper(backup_,
         "PRAGMA foreign_keys = OFF; DELETE FROM studies WHERE id = 2; INSERT INTO leftovers "
         "VALUES (2)");
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    ASSERT_THAT(Studies::Create(*storage, clock_)->Delete("second", true, Me()), IsOk());
  }
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kAppend), IsOk());
  EXPECT_EQ(Dump(backup_), Dump(store_));
  ExpectNothingLeft(backup_, 2);
}

TEST_F(StoreCopy, ABackupOfAnotherStoreIsNotAddedTo) {
  Fill({"first"}, 50);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  std::filesystem::remove(store_);
  clock_.Advance(absl::Hours(1));
  Fill({"first"}, 80);
  const std::string before = Dump(backup_);
  EXPECT_THAT(BackUpStore(store_, backup_, IfExists::kAppend),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("study 'first'")));
  EXPECT_EQ(Dump(backup_), before);
}

TEST_F(StoreCopy, AStoreIsRestoredWhereThereIsNone) {
  Fill({"first"}, 100);
  const std::string before = Dump(store_);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  std::filesystem::remove(store_);
  ASSERT_OK_AND_ASSIGN(const RestoreReport report, RestoreStore(backup_, store_, false, now_));
  EXPECT_EQ(report.replaced, "");
  EXPECT_EQ(Dump(store_), before);
  Fill({"first"}, 20);  // It goes on.
  EXPECT_TRUE(IsSound(store_));
}

TEST_F(StoreCopy, AStoreThatIsReplacedIsKeptWithItsLog) {
  Fill({"first"}, 100);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  EXPECT_THAT(RestoreStore(backup_, store_, false, now_),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(store_)));
  // As after a kill: what was written last is in the log alone.
  const std::string killed = folder_ / "killed.db";
  std::string last;
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    Fill(*Studies::Create(*storage, clock_), {"second"}, 50);
    std::filesystem::copy_file(store_, killed);
    std::filesystem::copy_file(store_ + "-wal", killed + "-wal");
  }
  ASSERT_OK_AND_ASSIGN(const RestoreReport report, RestoreStore(backup_, killed, true, now_));
  EXPECT_EQ(report.replaced, killed + ".replaced-20270115T080000Z");
  EXPECT_FALSE(std::filesystem::exists(killed + "-wal")) << "it is not the new one's";
  EXPECT_EQ(Dump(killed), Dump(backup_));
  EXPECT_EQ(Dump(report.replaced), Dump(store_));
}

TEST_F(StoreCopy, TheLogOfAStoreThatWasRemovedIsNotTheNewOnes) {
  Fill({"first"}, 50);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  const std::string removed = folder_ / "removed.db";
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    Fill(*Studies::Create(*storage, clock_), {"junk"}, 50);
    std::filesystem::copy_file(store_ + "-wal", removed + "-wal");
  }
  ASSERT_OK_AND_ASSIGN(const RestoreReport report, RestoreStore(backup_, removed, false, now_));
  EXPECT_EQ(Dump(removed), Dump(backup_));
  EXPECT_TRUE(IsSound(removed));
  EXPECT_TRUE(std::filesystem::exists(report.replaced + "-wal"));
}

TEST_F(StoreCopy, NothingIsRestoredUnderALiveOwner) {
  Fill({"first"}, 50);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  const std::string before = ReadBytes(store_);
  ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(store_));
  EXPECT_EQ(GetReason(RestoreStore(backup_, store_, true, now_).status()), Reason::kStoreBusy);
  EXPECT_EQ(ReadBytes(store_), before);
}

TEST_F(StoreCopy, ADamagedBackupIsNotRestored) {
  Fill({"first"}, 200);
  ASSERT_THAT(BackUpStore(store_, backup_, IfExists::kRefuse), IsOk());
  std::fstream file(backup_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096 * 10);
  file << std::string(4096, '\xA5');
  file.close();
  const std::string before = ReadBytes(store_);
  EXPECT_THAT(RestoreStore(backup_, store_, true, now_), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(ReadBytes(store_), before);
  EXPECT_THAT(RestoreStore(folder_ / "none", store_, true, now_),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(StoreCopy, CompactingGivesRoomBackAndKeepsEveryRow) {
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    const auto studies = Studies::Create(*storage, clock_);
    Fill(*studies, {"first", "second"}, 200);
    ASSERT_THAT(studies->Delete("first", true, Me()), IsOk());
  }
  FinishDeletions();
  const std::string before = Dump(store_);
  ASSERT_OK_AND_ASSIGN(const CompactReport report, CompactStore(store_));
  EXPECT_FALSE(report.in_use);
  EXPECT_LT(report.bytes_after, report.bytes_before * 3 / 4);
  EXPECT_EQ(report.bytes_after, static_cast<std::int64_t>(std::filesystem::file_size(store_)));
  EXPECT_EQ(Dump(store_), before);
  EXPECT_TRUE(IsSound(store_));
}

// As after a kill in the midst of a deletion.
TEST_F(StoreCopy, CompactingRemovesWhatIsLeftOfDeletedStudies) {
  Fill({"first", "second"}, 100);
  Tamper(store_,
         "PRAGMA foreign_keys = OFF; DELETE FROM studies WHERE id = 1; INSERT INTO leftovers "
         "VALUES (1)");
  const std::string before = Dump(store_);
  ASSERT_THAT(CompactStore(store_), IsOk());
  EXPECT_EQ(Dump(store_), before);
  ExpectNothingLeft(store_, 1);
}

TEST_F(StoreCopy, WhatIsNoBackupIsNotRestored) {
  Fill({"first"}, 10);
  const std::string before = ReadBytes(store_);
  std::ofstream(folder_ / "text") << std::string(200, 'x');
  EXPECT_THAT(RestoreStore(folder_ / "text", store_, true, now_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no backup of a store")));
  EXPECT_EQ(ReadBytes(store_), before);
}

TEST_F(StoreCopy, NoBackupGoesToAFolderOrWhereThereIsNone) {
  Fill({"first"}, 10);
  for (const IfExists if_exists : {IfExists::kRefuse, IfExists::kReplace, IfExists::kAppend}) {
    EXPECT_THAT(BackUpStore(store_, folder_ / "", if_exists),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a folder")));
    EXPECT_THAT(BackUpStore(store_, folder_ / "none/backup.db", if_exists),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is no folder")));
  }
}

TEST_F(StoreCopy, AStoreInUseIsCompactedBetweenTheChangesOfItsOwner) {
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    const auto studies = Studies::Create(*storage, clock_);
    Fill(*studies, {"first", "second", "third"}, 300);
    ASSERT_THAT(studies->Delete("second", true, Me()), IsOk());
  }
  FinishDeletions();
  ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(store_));
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
  const auto studies = Studies::Create(*storage, clock_);
  std::atomic<bool> is_over = false;
  int rounds = 0;
  std::thread writer([&] {
    for (; !is_over || rounds == 0; ++rounds) Fill(*studies, {"first"}, 1);
  });
  const absl::StatusOr<CompactReport> report = CompactStore(store_);
  is_over = true;
  writer.join();
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->in_use);
  Fill(*studies, {"first", "third"}, 20);
  EXPECT_TRUE(IsSound(store_));
  Tamper(store_, "PRAGMA wal_checkpoint(PASSIVE)");
  EXPECT_LT(std::filesystem::file_size(store_),
            static_cast<std::uintmax_t>(report->bytes_before * 9 / 10));
}

TEST_F(StoreCopy, AStoreOfAnEarlierVersionIsCompactedOnceWhileNobodyUsesIt) {
  Fill({"first", "second"}, 100);
  Tamper(store_, "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM");
  {
    ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(store_));
    EXPECT_THAT(CompactStore(store_),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("was made by an earlier version and gives no room back")));
  }
  const std::string before = Dump(store_);
  ASSERT_THAT(CompactStore(store_), IsOk());
  EXPECT_EQ(Dump(store_), before);
  ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(store_));
  ASSERT_OK_AND_ASSIGN(const CompactReport report, CompactStore(store_));
  EXPECT_TRUE(report.in_use);
}

// SQLite would look for its log beside the other name.
TEST_F(StoreCopy, AStoreInUseIsNotTouchedUnderAnotherName) {
  Fill({"first"}, 20);
  ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(store_));
  const std::string other = store_ + ".other";
  std::filesystem::create_hard_link(store_, other);
  const auto is_refused =
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("in use by another process, under"));
  EXPECT_THAT(CompactStore(other), is_refused);
  EXPECT_THAT(BackUpStore(other, backup_, IfExists::kRefuse), is_refused);
  EXPECT_THAT(ExamineStore(other), is_refused);
  EXPECT_FALSE(std::filesystem::exists(other + "-wal"));
  EXPECT_TRUE(IsSound(store_));
}

TEST_F(StoreCopy, ADamagedStoreInUseIsLeftAsItIs) {
  Fill({"first"}, 200);
  std::fstream file(store_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096 * 10);
  file << std::string(4096, '\xA5');
  file.close();
  const std::string before = ReadBytes(store_);
  ASSERT_OK_AND_ASSIGN(const auto lock, StoreLock::Acquire(store_));
  EXPECT_THAT(CompactStore(store_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no room is given back")));
  EXPECT_EQ(ReadBytes(store_), before);
}

}  // namespace
}  // namespace vernier::app
