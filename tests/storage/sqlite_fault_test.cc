#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "tests/storage/fault_vfs.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"

// What is left of a store when writes and syncs fail, or the power does.
namespace vernier::sqlite {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;
using ::vernier::testing::CheckConsistent;
using ::vernier::testing::FaultVfs;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;
using ::vernier::testing::TempFolder;
using ::vernier::testing::TrialCommit;
using ::vernier::testing::WriteTrials;
using ::vernier::testing::Written;

constexpr int kFaultCommits = 6;

struct FaultCase {
  std::string name;
  FaultVfs::Fault fault;
  bool for_good;
};

class FaultLoop : public ::testing::TestWithParam<FaultCase> {
 protected:
  // Opens a new store and writes to it while the n-th operation fails.
  Written WriteWithFault(const std::string& path, std::int64_t n) {
    vfs_.FailAt(n, GetParam().fault, GetParam().for_good);
    absl::StatusOr<std::unique_ptr<SqliteStorage>> store =
        Open({.path = path}, {.vfs = vfs_.name(), .synchronous = true});
    Written written;
    written.error = store.status();
    if (!store.ok()) return written;
    // SQLite gets over some faults while it makes a file. One while a commit is written must be told.
    const bool failed_before = vfs_.failed();
    written = WriteTrials(**store, "a", kFaultCommits);
    if (!failed_before) {
      EXPECT_EQ(written.error.ok(), !vfs_.failed()) << written.error;
    }
    if (!GetParam().for_good && !written.error.ok()) CheckUsable(**store);
    return written;
  }

  // A store that met one fault goes on when the disk does.
  static void CheckUsable(SqliteStorage& store) {
    ASSERT_OK_AND_ASSIGN(const Study study, store.CreateStudy(vernier::testing::CreatedEvent("b")));
    EXPECT_THAT(store.Begin(TrialCommit(study))->Wait(), IsOk());
    EXPECT_THAT(CheckConsistent(store, study.id), IsOk());
  }

  // What was acknowledged is there; what was not is there as a whole or not at all.
  static void CheckReopened(const std::string& path, const Written& written) {
    ASSERT_OK_AND_ASSIGN(const auto store, Open({.path = path}, {.vfs = "", .synchronous = false}));
    const absl::StatusOr<Study> study = store->GetStudyByName("a");
    EXPECT_TRUE(study.ok() || written.study == StudyId()) << study.status();
    if (!study.ok()) return;
    EXPECT_THAT(CheckConsistent(*store, study->id), IsOk());
    EXPECT_THAT(study->trials, AllOf(Ge(written.trials), Le(written.trials + 1)));
    EXPECT_THAT(store->Begin(TrialCommit(*study))->Wait(), IsOk());
  }

  FaultVfs vfs_;
};

TEST_P(FaultLoop, EveryAcknowledgedCommitIsThereAndNoHalfOne) {
  constexpr int kFarBeyond = 1000;
  int n = 1;
  for (bool clean = false; !clean; ++n) {
    ASSERT_LT(n, kFarBeyond) << "a run without a fault was to come";
    const TempFolder folder;
    const Written written = WriteWithFault(folder.PathOf("store"), n);
    clean = !vfs_.failed();
    if (!clean) {
      EXPECT_THAT(written.error,
                  ::testing::AnyOf(StatusIs(absl::StatusCode::kUnavailable),
                                   StatusIs(absl::StatusCode::kResourceExhausted),
                                   IsOk()));
    }
    vfs_.Off();
    CheckReopened(folder.PathOf("store"), written);
    if (HasFailure()) FAIL() << "with a fault at operation " << n;
  }
  EXPECT_GT(n, 20) << "the loop met fewer faults than there are writes";
}

INSTANTIATE_TEST_SUITE_P(Faults,
                         FaultLoop,
                         ::testing::ValuesIn(std::vector<FaultCase>{
                             {"OneIoError", FaultVfs::Fault::kIoError, false},
                             {"IoErrorsForGood", FaultVfs::Fault::kIoError, true},
                             {"DiskFullOnce", FaultVfs::Fault::kDiskFull, false},
                             {"DiskFullForGood", FaultVfs::Fault::kDiskFull, true},
                         }),
                         [](const auto& tested) { return tested.param.name; });

TEST(SqliteFaults, AFullDiskIsResourceExhausted) {
  const TempFolder folder;
  FaultVfs vfs;
  ASSERT_OK_AND_ASSIGN(const auto store,
                       Open({.path = folder.PathOf("store")}, {.vfs = vfs.name()}));
  vfs.FailAt(1, FaultVfs::Fault::kDiskFull, true);
  EXPECT_THAT(WriteTrials(*store, "a", 1).error, StatusIs(absl::StatusCode::kResourceExhausted));
  vfs.FailAt(1, FaultVfs::Fault::kIoError, true);
  EXPECT_THAT(WriteTrials(*store, "a", 1).error, StatusIs(absl::StatusCode::kUnavailable));
}

TEST(SqliteFaults, AllCommitsOfAFailedTransactionFail) {
  const TempFolder folder;
  FaultVfs vfs;
  ASSERT_OK_AND_ASSIGN(const auto store,
                       Open({.path = folder.PathOf("store")}, {.vfs = vfs.name()}));
  const Written a = WriteTrials(*store, "a", 1);
  const Written b = WriteTrials(*store, "b", 1);
  ASSERT_OK_AND_ASSIGN(const Study study_a, store->GetStudy(a.study));
  ASSERT_OK_AND_ASSIGN(const Study study_b, store->GetStudy(b.study));
  vfs.FailAt(1, FaultVfs::Fault::kIoError, false);
  const auto commit_a = store->Begin(TrialCommit(study_a));
  const auto commit_b = store->Begin(TrialCommit(study_b));
  EXPECT_THAT(commit_a->Wait(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(commit_b->Wait(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(store->GetStudy(a.study).value(), study_a);
  EXPECT_EQ(store->GetStudy(b.study).value(), study_b);
}

// How many of the acknowledged trials a loss of power would take, at its worst.
std::int64_t TrialsLostWithPower(bool synchronous) {
  const TempFolder folder;
  FaultVfs vfs;
  vfs.RecordSyncs();
  std::int64_t lost = 0;
  auto store =
      Open({.path = folder.PathOf("store")}, {.vfs = vfs.name(), .synchronous = synchronous});
  EXPECT_THAT(store, IsOk());
  Study study = (*store)->CreateStudy(vernier::testing::CreatedEvent("a")).value();
  // Enough to move the log into the file now and then.
  for (int i = 0; i < 400; ++i) {
    const Commit commit = TrialCommit(study);
    study = commit.header;
    EXPECT_THAT((*store)->Begin(commit)->Wait(), IsOk());
    if (i % 40 != 7) continue;
    const std::string copy = folder.PathOf("copy-" + std::to_string(i));
    vfs.CopyAsAfterPowerLoss(folder.PathOf("store"), copy);
    const auto reopened = Open({.path = copy}, {.vfs = "", .synchronous = false});
    EXPECT_THAT(reopened, IsOk());
    const absl::StatusOr<Study> left = (*reopened)->GetStudy(study.id);
    lost = std::max(lost, study.trials - (left.ok() ? left->trials : 0));
    if (left.ok()) {
      EXPECT_THAT(CheckConsistent(**reopened, study.id), IsOk());
    }
  }
  return lost;
}

TEST(SqliteFaults, ALossOfPowerTakesNoAcknowledgedCommit) {
  EXPECT_EQ(TrialsLostWithPower(/*synchronous=*/true), 0);
}

// Without this the test above could not fail.
TEST(SqliteFaults, WithoutSyncsALossOfPowerTakesCommits) {
  EXPECT_GT(TrialsLostWithPower(/*synchronous=*/false), 0);
}

}  // namespace
}  // namespace vernier::sqlite
