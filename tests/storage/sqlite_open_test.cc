#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/connection.h"
#include "src/storage/sqlite/migrations.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"

namespace vernier::sqlite {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::vernier::testing::CheckConsistent;
using ::vernier::testing::CreatedEvent;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;
using ::vernier::testing::TempFolder;
using ::vernier::testing::TrialCommit;
using ::vernier::testing::WriteTrials;

class SqliteOpen : public ::testing::Test {
 protected:
  // Runs SQL on the file, past the store.
  void Tamper(const std::string& sql) {
    ASSERT_OK_AND_ASSIGN(const auto connection, Connection::Open(path_, absl::Seconds(1), ""));
    ASSERT_THAT(connection->Execute(sql), IsOk());
  }
  std::int64_t Ask(const std::string& sql) {
    const auto connection = Connection::Open(path_, absl::Seconds(1), "");
    EXPECT_THAT(connection, IsOk());
    Statement select(**connection, sql);
    EXPECT_TRUE(select.Step().value());
    return select.Integer(0);
  }
  void MakeStore(int trials) {
    ASSERT_OK_AND_ASSIGN(const auto store,
                         Open({.path = path_}, {.vfs = "", .synchronous = false}));
    ASSERT_THAT(WriteTrials(*store, "a", trials).error, IsOk());
  }
  absl::Status OpenError() { return OpenSqliteStorage({.path = path_}).status(); }

  TempFolder folder_;
  std::string path_ = folder_.PathOf("store");
};

TEST_F(SqliteOpen, ANewStoreIsMarkedAsOurs) {
  MakeStore(1);
  EXPECT_EQ(Ask("PRAGMA application_id"), 0x56726E72);
  EXPECT_EQ(Ask("PRAGMA user_version"), static_cast<std::int64_t>(Migrations().size()));
  EXPECT_EQ(Ask("SELECT count(*) FROM trials WHERE state = 'REQUESTED'"), 1);
}

TEST_F(SqliteOpen, EveryTableIsStrict) {
  MakeStore(0);
  EXPECT_EQ(Ask("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
                "AND name NOT LIKE 'sqlite_%' AND NOT strict"),
            0);
}

TEST_F(SqliteOpen, AClosedStoreIsOneFile) {
  MakeStore(3);
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(SqliteOpen, NothingIsAcknowledgedOnceTheFileIsGone) {
  const std::string elsewhere = folder_.PathOf("elsewhere");
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  ASSERT_THAT(WriteTrials(*store, "a", 1).error, IsOk());
  const auto refused = [](const std::string& how) {
    return StatusIs(absl::StatusCode::kUnavailable, HasSubstr(how));
  };
  std::filesystem::rename(path_, elsewhere);
  EXPECT_THAT(WriteTrials(*store, "b", 1).error, refused("the file was moved or removed"));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "nobody makes another one";
  const std::string found = folder_.PathOf("found");
  std::filesystem::copy_file(elsewhere,
                             found);  // Without the log, as somebody would who looks for a .db.
  ASSERT_OK_AND_ASSIGN(const auto copy, OpenSqliteStorage({.path = found}));
  EXPECT_THAT(copy->GetStudyByName("a"), IsOk());
  std::ofstream(path_) << "";
  EXPECT_THAT(WriteTrials(*store, "c", 1).error, refused("the file was replaced"));
  std::filesystem::rename(elsewhere, path_);
  EXPECT_THAT(WriteTrials(*store, "d", 1).error, IsOk()) << "it is back";
  std::filesystem::rename(path_ + "-wal", elsewhere);
  EXPECT_THAT(WriteTrials(*store, "e", 1).error,
              refused("its write-ahead log was moved or removed"));
  std::filesystem::rename(elsewhere, path_ + "-wal");
  EXPECT_THAT(WriteTrials(*store, "f", 1).error, IsOk());
  EXPECT_THAT(store->GetStudyByName("b"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("b")));
  EXPECT_THAT(store->GetStudyByName("d"), IsOk());
}

TEST_F(SqliteOpen, AMovedStoreIsWholeOnceItIsClosed) {
  const std::string elsewhere = folder_.PathOf("elsewhere");
  {
    ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
    ASSERT_THAT(WriteTrials(*store, "a", 1).error, IsOk());
    std::filesystem::rename(path_, elsewhere);
  }
  const std::string found = folder_.PathOf("found");
  std::filesystem::copy_file(elsewhere, found);
  ASSERT_OK_AND_ASSIGN(const auto copy, OpenSqliteStorage({.path = found}));
  EXPECT_THAT(copy->GetStudyByName("a"), IsOk());
}

TEST_F(SqliteOpen, ReadersNeverLookIntoAnotherFile) {
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  ASSERT_THAT(WriteTrials(*store, "a", 1).error, IsOk());
  std::filesystem::rename(path_, folder_.PathOf("elsewhere"));
  EXPECT_THAT(store->GetStudyByName("a"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("store")));
  EXPECT_FALSE(std::filesystem::exists(path_));
  std::ofstream(path_) << "";
  EXPECT_THAT(store->GetStudyByName("a"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("another file is in its place")));
}

TEST_F(SqliteOpen, WhatWasWrittenIsThereWhenOpenedAgain) {
  MakeStore(3);
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  ASSERT_OK_AND_ASSIGN(const Study study, store->GetStudyByName("a"));
  EXPECT_EQ(study.trials, 3);
  EXPECT_THAT(CheckConsistent(*store, study.id), IsOk());
}

TEST_F(SqliteOpen, DeletedStudiesAreRememberedAfterReopening) {
  MakeStore(0);
  {
    ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
    ASSERT_THAT(store->DeleteStudy(StudyId(1), "r1"), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  EXPECT_EQ(store->FindDeletion("r1").value(), "a");
  EXPECT_EQ(WriteTrials(*store, "b", 0).study, StudyId(2));
}

TEST_F(SqliteOpen, ADeletionThatWasUnderWayGoesOnWhenTheStoreIsOpenedAgain) {
  constexpr int kTrials = 1300;  // More than a step removes.
  MakeStore(kTrials);
  Tamper("INSERT INTO leftovers SELECT id FROM studies; DELETE FROM studies");
  {
    ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
    EXPECT_THAT(store->GetTrial({StudyId(1), TrialNumber(1)}),
                StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(store->ReadEvents(StudyId(1), EventSeq(0), 10),
                StatusIs(absl::StatusCode::kNotFound));
    // A change of somebody else goes between its steps.
    ASSERT_OK_AND_ASSIGN(Study other, store->CreateStudy(CreatedEvent("other")));
    for (int i = 0; i < 1000 && Ask("SELECT count(*) FROM leftovers") > 0; ++i) {
      const Commit commit = TrialCommit(other);
      ASSERT_THAT(store->Begin(commit)->Wait(), IsOk());
      other = commit.header;
    }
  }
  EXPECT_EQ(Ask("SELECT count(*) FROM leftovers"), 0);
  EXPECT_EQ(Ask("SELECT count(*) FROM trials WHERE study = 1"), 0);
  EXPECT_EQ(Ask("SELECT count(*) FROM events WHERE study = 1"), 0);
  EXPECT_EQ(Ask("SELECT count(*) FROM events WHERE study = 2 AND seq = 1"), 1);
}

TEST_F(SqliteOpen, AnUnwaitedCommitIsWrittenWhenTheStoreIsClosed) {
  {
    ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
    ASSERT_OK_AND_ASSIGN(const Study study,
                         store->CreateStudy(vernier::testing::CreatedEvent("a")));
    store->Begin(TrialCommit(study));
  }
  EXPECT_EQ(Ask("SELECT count(*) FROM trials"), 1);
}

TEST_F(SqliteOpen, AFolderThatIsNotThereIsUnavailable) {
  path_ = folder_.PathOf("missing/store");
  EXPECT_THAT(OpenError(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr(path_)));
}

TEST_F(SqliteOpen, AFileThatIsNoDatabaseIsDataLossAndLeftAlone) {
  for (const std::string& content : {std::string("study: digits\n"), std::string(5000, 'x')}) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
    EXPECT_THAT(OpenError(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)));
    std::ifstream file(path_, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content);
  }
}

TEST_F(SqliteOpen, AnEmptyFileBecomesAStore) {
  std::ofstream{path_};
  EXPECT_THAT(OpenError(), IsOk());
}

TEST_F(SqliteOpen, ADatabaseOfSomebodyElseIsDataLossAndLeftAlone) {
  Tamper("CREATE TABLE songs (title TEXT)");
  EXPECT_THAT(OpenError(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path_), HasSubstr("not made by vernier"))));
  EXPECT_EQ(Ask("SELECT count(*) FROM sqlite_schema"), 1);
  Tamper("DROP TABLE songs; PRAGMA application_id = 77");
  EXPECT_THAT(OpenError(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("0x4d")));
}

TEST_F(SqliteOpen, AStoreOfANewerVersionIsRefusedAndLeftAlone) {
  MakeStore(2);
  Tamper("PRAGMA user_version = 99");
  EXPECT_THAT(OpenError(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("schema 99"), HasSubstr(path_))));
  EXPECT_EQ(Ask("PRAGMA user_version"), 99);
}

// Whether the best is also the only optimal one, the tables of schema 2 say of studies with one objective alone.
TEST_F(SqliteOpen, OptimalTrialsOfOlderStoresAreTheBestWhereThatIsCertain) {
  MakeStore(2);
  Tamper(
      "UPDATE studies SET best_trial = 2;"
      "INSERT INTO studies SELECT 7, 'two', state, reason, created_at, updated_at, last_event,"
      " trials, completed, failed, open, best_trial, spec_version, json_set(spec, '$.objective',"
      " json('[{\"maximize\": \"a\"}, {\"minimize\": \"b\"}]')), '[]', NULL, 0, 0, 0, '[]' FROM "
      "studies;"
      "INSERT INTO studies SELECT 8, 'bound', state, reason, created_at, updated_at, last_event,"
      " trials, completed, failed, open, best_trial, spec_version, json_set(spec,"
      " '$.outcome_constraints', json('[\"b < 1\"]')), '[]', NULL, 0, 0, 0, '[]' FROM studies "
      "WHERE id = "
      "1;"
      "INSERT INTO studies SELECT 9, 'new', state, reason, created_at, updated_at, last_event,"
      " trials, completed, failed, open, NULL, spec_version, spec, '[]', NULL, 0, 0, 0, '[]' FROM "
      "studies WHERE "
      "id = 1;"
      "ALTER TABLE studies DROP COLUMN optimal_trials;"
      "ALTER TABLE studies DROP COLUMN converged_trial;"
      "ALTER TABLE studies DROP COLUMN cpu_time_ns;"
      "ALTER TABLE studies DROP COLUMN gpu_time_ns;"
      "ALTER TABLE studies DROP COLUMN peak_memory_bytes;"
      "ALTER TABLE studies DROP COLUMN metadata;"
      "DROP TABLE trial_metrics;"
      "DROP TABLE leftovers;"
      "DROP INDEX trials_by_state;"
      "DROP TABLE snapshots;"
      "DROP TABLE snapshot_parts;"
      "DROP INDEX requests;"
      "PRAGMA user_version = 2");
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  const auto optimal = [&](std::int64_t id) { return store->GetStudy(StudyId(id))->optimal; };
  EXPECT_THAT(optimal(1), ElementsAre(TrialNumber(2)));
  EXPECT_THAT(optimal(7), IsEmpty());
  EXPECT_THAT(optimal(8), IsEmpty());
  EXPECT_THAT(optimal(9), IsEmpty());
}

TEST_F(SqliteOpen, AStoreWithoutItsTablesIsDataLoss) {
  MakeStore(1);
  Tamper("DROP TABLE events");
  EXPECT_THAT(OpenError(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("events")));
}

TEST_F(SqliteOpen, DamagedRowsAreDataLossWhereTheyAreRead) {
  MakeStore(2);
  Tamper(
      "UPDATE trials SET row = '{' WHERE number = 1;"
      "UPDATE events SET payload = '[]' WHERE seq = 2;"
      "INSERT INTO studies SELECT 7, 'b', 'DREAMING', reason, created_at, updated_at, last_event,"
      " trials, completed, failed, open, best_trial, spec_version, spec, '[1]', NULL, 0, 0, 0, "
      "'[]' FROM "
      "studies;"
      "INSERT INTO studies SELECT 8, 'c', 'ACTIVE', reason, created_at, updated_at, last_event,"
      " trials, completed, failed, open, best_trial, spec_version, spec, '{\"1\": 2}', NULL, 0, 0, "
      "0, '[]' "
      "FROM studies WHERE id = 1");
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  EXPECT_THAT(store->GetTrial({StudyId(1), TrialNumber(1)}), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(store->GetTrial({StudyId(1), TrialNumber(2)}), IsOk());
  EXPECT_THAT(store->ReadEvents(StudyId(1), EventSeq(0), 10),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(store->ReadEvents(StudyId(1), EventSeq(2), 10), IsOk());
  EXPECT_THAT(store->GetStudy(StudyId(7)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("DREAMING")));
  EXPECT_THAT(store->GetStudy(StudyId(8)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("list of trials")));
}

TEST_F(SqliteOpen, DamagedPagesAreDataLoss) {
  MakeStore(200);
  const auto size = std::filesystem::file_size(path_);
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4096 * 3);
  file << std::string(size - 4096 * 3, '\xA5');
  file.close();
  const absl::StatusOr<std::unique_ptr<Storage>> store = OpenSqliteStorage({.path = path_});
  const absl::Status error =
      store.ok() ? (*store)->ListTrials(StudyId(1), TrialNumber(0), 1000).status() : store.status();
  EXPECT_THAT(error, StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(SqliteOpen, AWriterElsewhereIsWaitedForThenUnavailable) {
  MakeStore(1);
  ASSERT_OK_AND_ASSIGN(const auto other, Connection::Open(path_, absl::Seconds(1), ""));
  ASSERT_OK_AND_ASSIGN(const auto store,
                       OpenSqliteStorage({.path = path_, .busy_timeout = absl::Milliseconds(20)}));
  ASSERT_OK_AND_ASSIGN(const Study study, store->GetStudyByName("a"));
  ASSERT_THAT(other->Execute("BEGIN IMMEDIATE"), IsOk());
  EXPECT_THAT(store->Begin(TrialCommit(study))->Wait(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(store->GetStudy(study.id), IsOk());  // Readers do not care.
  ASSERT_THAT(other->Execute("ROLLBACK"), IsOk());
  EXPECT_THAT(store->Begin(TrialCommit(study))->Wait(), IsOk());
}

TEST_F(SqliteOpen, AThousandTrialsOpenAtOnce) {
  {
    ASSERT_OK_AND_ASSIGN(const auto store,
                         Open({.path = path_}, {.vfs = "", .synchronous = false}));
    Study study = store->CreateStudy(vernier::testing::CreatedEvent("a")).value();
    for (int i = 0; i < 1000; ++i) {
      const Commit commit = TrialCommit(study);
      study = commit.header;
      store->Begin(commit);
    }
  }
  const auto clock = NewRealClock();
  const absl::Time start = clock->Now();
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path_}));
  ASSERT_OK_AND_ASSIGN(const Study study, store->GetStudyByName("a"));
  EXPECT_LT(clock->Now() - start, absl::Milliseconds(300));  // A few, on an idle machine.
  EXPECT_EQ(study.trials, 1000);
}

}  // namespace
}  // namespace vernier::sqlite
