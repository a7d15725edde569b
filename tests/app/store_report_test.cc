#include "src/app/store_report.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "tests/app/store_fixture.h"

namespace vernier::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

using StoreReportTest = StoreFixture;

TEST_F(StoreReportTest, AStoreInWhichMuchHasHappenedIsSound) {
  Fill({"first", "second"}, 400);
  ASSERT_OK_AND_ASSIGN(const StoreReport report, ExamineStore(store_));
  EXPECT_TRUE(report.is_sound());
  ASSERT_EQ(report.studies.size(), 2);
  for (const study::StudyCheck& study : report.studies) {
    EXPECT_THAT(study.problems, IsEmpty()) << study.study.name;
    EXPECT_GT(study.trials, 20);
    EXPECT_GT(study.events, 100);
  }
  EXPECT_EQ(report.bytes, static_cast<std::int64_t>(std::filesystem::file_size(store_)));
  EXPECT_FALSE(std::filesystem::exists(store_ + "-wal")) << "nothing is left behind";
}

TEST_F(StoreReportTest, IsMadeBesideAProcessThatWrites) {
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
  const auto studies = Studies::Create(*storage, clock_);
  for (int i = 0; i < 5; ++i) {
    Fill(*studies, {"first"}, 30);
    ASSERT_OK_AND_ASSIGN(const StoreReport report, ExamineStore(store_));
    EXPECT_TRUE(report.is_sound());
    EXPECT_EQ(report.studies.front().events, studies->FindStudy("first")->last_event.value());
  }
  EXPECT_TRUE(std::filesystem::exists(store_ + "-wal")) << "it is the owner's";
}

// What a process that died had not brought into the file yet counts, and stays where it is.
TEST_F(StoreReportTest, ReadsTheLogThatADeadProcessLeft) {
  Fill({"first"}, 50);
  const std::string copy = folder_ / "copy.db";
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = store_}));
    Fill(*Studies::Create(*storage, clock_), {"second"}, 50);
    std::filesystem::copy_file(store_, copy);
    std::filesystem::copy_file(store_ + "-wal", copy + "-wal");
  }
  const auto size = std::filesystem::file_size(copy + "-wal");
  ASSERT_OK_AND_ASSIGN(const StoreReport report, ExamineStore(copy));
  EXPECT_EQ(report.studies.size(), 2);
  EXPECT_TRUE(report.is_sound());
  EXPECT_EQ(std::filesystem::file_size(copy + "-wal"), size);
}

struct DamageCase {
  std::string name;
  std::string sql;
  std::string found;
};

class StoreReportDamage : public StoreFixture, public ::testing::WithParamInterface<DamageCase> {};

TEST_P(StoreReportDamage, IsFoundInItsStudyAlone) {
  Fill({"first", "second"}, 200);
  Tamper(store_, GetParam().sql);
  ASSERT_OK_AND_ASSIGN(const StoreReport report, ExamineStore(store_));
  EXPECT_FALSE(report.is_sound());
  ASSERT_EQ(report.studies.size(), 2);
  ASSERT_FALSE(report.studies.front().problems.empty());
  EXPECT_THAT(report.studies.front().problems.front(), HasSubstr(GetParam().found));
  EXPECT_THAT(report.studies.back().problems, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    StoreReportDamage,
    ::testing::ValuesIn(std::vector<DamageCase>{
        {.name = "RowOfAStudy",
         .sql = "UPDATE studies SET completed = completed + 1 WHERE id = 1",
         .found = "column 'completed' is not what its log comes to"},
        {.name = "UnreadableRow",
         .sql = "UPDATE studies SET spec = '{' WHERE id = 1",
         .found = "its row: '{' is not JSON"},
        {.name = "GapInTheLog",
         .sql = "DELETE FROM events WHERE study = 1 AND seq = 9",
         .found = "its log: event 10"},
        {.name = "EndOfTheLog",
         .sql = "DELETE FROM events WHERE study = 1 AND seq > 20",
         .found = "its log ends at event 20"},
        {.name = "UnreadableEvent",
         .sql = "UPDATE events SET payload = '[' WHERE study = 1 AND seq = 9",
         .found = "its log: '[' is not JSON"},
        {.name = "NoLog",
         .sql = "DELETE FROM events WHERE study = 1",
         .found = "its log: it has no events"},
        {.name = "RowOfATrial",
         .sql = "UPDATE trials SET row = json_set(row, '$.state', 'QUEUED') WHERE study = 1 AND "
                "number = 2",
         .found = "trial 2: 'state' is not what its log comes to"},
        {.name = "MissingTrial",
         .sql = "DELETE FROM trials WHERE study = 1 AND number = 2",
         .found = "trials, "}}),
    [](const auto& row) { return row.param.name; });

TEST_F(StoreReportTest, RowsOfNoStudyAreFound) {
  Fill({"first", "second"}, 30);
  Tamper(store_, "PRAGMA foreign_keys = OFF; DELETE FROM studies WHERE id = 1");
  ASSERT_OK_AND_ASSIGN(const StoreReport report, ExamineStore(store_));
  EXPECT_FALSE(report.is_sound());
  EXPECT_THAT(report.problems, ::testing::Contains(HasSubstr("belongs to no study")));
}

TEST_F(StoreReportTest, ADamagedPageIsFoundByBothLooks) {
  Fill({"first", "second"}, 300);
  const auto size = std::filesystem::file_size(store_);
  std::fstream file(store_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(size / 4096 / 2 * 4096));
  file << std::string(4096, '\xA5');
  file.close();
  ASSERT_OK_AND_ASSIGN(const StoreReport report, ExamineStore(store_));
  EXPECT_FALSE(report.problems.empty());
  ASSERT_OK_AND_ASSIGN(const StoreReport quick, LookIntoStore(store_, [] { return true; }));
  EXPECT_FALSE(quick.problems.empty());
}

TEST_F(StoreReportTest, AQuickLookEndsWhenItIsTold) {
  Fill({"first"}, 300);
  EXPECT_THAT(LookIntoStore(store_, [] { return false; }), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(StoreReportTest, WhatIsNoStoreIsSaid) {
  EXPECT_THAT(ExamineStore(store_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(std::filesystem::exists(store_));
  std::ofstream(store_) << std::string(8192, 'x');
  EXPECT_THAT(ExamineStore(store_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not a database")));
}

}  // namespace
}  // namespace vernier::app
