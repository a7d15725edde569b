#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/migrations.h"
#include "tests/storage/storage_testing.h"
#include "tests/storage/stored_store.h"
#include "tests/support/status_matchers.h"
#include "vernier/storage.h"

// A store of every schema that was ever released opens and reads the same.
namespace vernier {
namespace {

using ::vernier::testing::IsOk;
using ::vernier::testing::TempFolder;
using ::vernier::testing::TrialCommit;

constexpr std::size_t kAllRows = 1'000'000;

std::vector<std::int64_t> NumbersIn(const Storage& storage, StudyId study, const TrialScan& scan) {
  std::vector<std::int64_t> numbers;
  EXPECT_THAT(storage.ScanTrials(study,
                                 scan,
                                 [&](const Trial& trial) {
                                   numbers.push_back(trial.number.value());
                                   return true;
                                 }),
              IsOk());
  return numbers;
}

void ExpectSameContent(const Storage& expected, const Storage& actual) {
  ASSERT_OK_AND_ASSIGN(const auto studies, expected.ListStudies(StudyId(0), kAllRows));
  ASSERT_OK_AND_ASSIGN(const auto read, actual.ListStudies(StudyId(0), kAllRows));
  EXPECT_EQ(read, studies);
  EXPECT_EQ(studies.size(), 2u);
  for (const Study& study : studies) {
    EXPECT_EQ(actual.ListTrials(study.id, TrialNumber(0), kAllRows).value(),
              expected.ListTrials(study.id, TrialNumber(0), kAllRows).value());
    EXPECT_EQ(actual.ReadEvents(study.id, EventSeq(0), kAllRows).value(),
              expected.ReadEvents(study.id, EventSeq(0), kAllRows).value());
    for (const TrialScan& scan : {TrialScan{.metric = "loss"},
                                  TrialScan{.metric = "accuracy", .descending = true},
                                  TrialScan{.states = {TrialState::kCompleted}}}) {
      EXPECT_EQ(NumbersIn(actual, study.id, scan), NumbersIn(expected, study.id, scan));
    }
    const TrialId trial{study.id, TrialNumber(1)};
    EXPECT_EQ(actual.ListMeasurements(trial).value(), expected.ListMeasurements(trial).value());
  }
}

class SqliteUpgrade : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SqliteUpgrade, AStoredDatabaseReadsTheSameAndCanBeWritten) {
  const TempFolder folder;
  const std::string path = folder.PathOf("store");
  std::filesystem::copy_file(
      VERNIER_STORED_STORES "/schema_" + std::to_string(GetParam()) + ".vernier", path);
  const auto memory = NewMemoryStorage();
  ASSERT_THAT(vernier::testing::WriteStoredContent(*memory), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto store, OpenSqliteStorage({.path = path}));
  ExpectSameContent(*memory, *store);
  const std::optional<std::string> deleted = store->FindDeletion("delete-gone").value();
  EXPECT_EQ(deleted, GetParam() < 2 ? std::nullopt : std::optional<std::string>("gone"));
  ASSERT_OK_AND_ASSIGN(const Study study, store->GetStudyByName("plain"));
  EXPECT_THAT(store->Begin(TrialCommit(study))->Wait(), IsOk());
}

// One for each schema: a migration without its stored database fails here.
INSTANTIATE_TEST_SUITE_P(Schemas,
                         SqliteUpgrade,
                         ::testing::Range<std::size_t>(1, sqlite::Migrations().size() + 1),
                         [](const auto& tested) {
                           return "Schema" + std::to_string(tested.param);
                         });

}  // namespace
}  // namespace vernier
