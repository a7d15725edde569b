#include "src/app/clean_up.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "src/launch/replica_files.h"
#include "tests/app/temporary_folder.h"
#include "tests/study/study_fixture.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;
using service::CleanUpReport;
using service::CleanUpRule;
using service::Leftover;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;
using Kind = Leftover::Kind;

class CleanUpTest : public study::StudyFixture {
 protected:
  CleanUpTest() {
    std::ofstream(store_) << "a store";
    EXPECT_THAT(ClaimRuns(runs_, store_), IsOk());
  }

  // A folder with a file of 1,000 bytes, all of it as old as said.
  std::string Make(const std::string& name, absl::Duration age) {
    const fs::path folder = fs::path(runs_) / name;
    fs::create_directories(folder);
    std::ofstream(folder / "file") << std::string(1000, 'x');
    Age(folder / "file", age);
    for (fs::path path = folder; path != runs_; path = path.parent_path()) Age(path, age);
    return folder.string();
  }
  void Age(const fs::path& path, absl::Duration age) {
    const timespec time = absl::ToTimespec(clock_.Now() - age);
    const timespec times[2] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
  // A study with a trial whose attempt runs in the folder.
  StudyId RunIn(const std::string& name, const std::string& directory) {
    const StudyId id = Create(study::JobSpec(name)).id;
    const TrialNumber trial = studies_->Ask(id, 1, As("engine"), {}).value().front().number;
    EXPECT_THAT(
        studies_->engine_moves().Move({id, trial}, TrialState::kQueued, FailureClass::kNone, ""),
        IsOk());
    EXPECT_THAT(studies_->engine_moves().PlaceAttempt({id, trial}, {{.role = "chief"}}, directory),
                IsOk());
    return id;
  }
  absl::StatusOr<CleanUpReport> Run(const CleanUpRule& rule) {
    const RunsFolder runs{.directory = runs_, .store = store_, .deleted = deleted_};
    return CleanUp(*studies_, clock_, runs, rule, stop_.get_token());
  }
  std::vector<std::string> PathsOf(const CleanUpReport& report) const {
    std::vector<std::string> paths;
    for (const Leftover& leftover : report.leftovers) {
      paths.push_back(fs::path(leftover.path).lexically_relative(runs_).string());
    }
    return paths;
  }
  std::vector<std::string> Listed(const CleanUpRule& rule = {}) {
    const auto report = Run(rule);
    EXPECT_THAT(report, IsOk());
    return report.ok() ? PathsOf(*report) : std::vector<std::string>();
  }

  const TemporaryFolder folder_;
  const std::string store_ = folder_ / "store.db";
  const std::string runs_ = folder_ / "store.db.runs";
  std::set<std::string> deleted_ = {"gone"};
  std::stop_source stop_;
};

constexpr absl::Duration kDay = absl::Hours(24);
const std::string kSomeHash(32, 'a');
const std::string kOtherHash(32, 'b');

TEST_F(CleanUpTest, RunsOfDeletedStudiesGo) {
  const std::string kept = Make("alive/trial-1/attempt-1", 30 * kDay);
  RunIn("alive", kept);
  Make("gone/trial-1/attempt-1", 30 * kDay);
  Make("gone/trial-2/attempt-1", 8 * kDay);
  Make("gone/trial-2/attempt-2", 6 * kDay);
  ASSERT_OK_AND_ASSIGN(const CleanUpReport listed, Run({}));
  EXPECT_THAT(PathsOf(listed), ElementsAre("gone/trial-1/attempt-1", "gone/trial-2/attempt-1"));
  EXPECT_EQ(listed.leftovers.front().kind, Kind::kRuns);
  EXPECT_GE(listed.leftovers.front().bytes, 1000) << "what the disk gives for it";
  EXPECT_EQ(listed.leftovers.front().last_used, clock_.Now() - 30 * kDay);
  EXPECT_TRUE(fs::exists(runs_ + "/gone/trial-1/attempt-1")) << "it is only listed";

  ASSERT_OK_AND_ASSIGN(const CleanUpReport removed, Run({.remove = true}));
  EXPECT_EQ(PathsOf(removed), PathsOf(listed));
  EXPECT_TRUE(removed.leftovers.front().removed);
  EXPECT_FALSE(fs::exists(runs_ + "/gone/trial-1")) << "with its empty folder";
  EXPECT_TRUE(fs::exists(runs_ + "/gone/trial-2/attempt-2/file"));
  EXPECT_TRUE(fs::exists(kept + "/file"));
}

TEST_F(CleanUpTest, AStudyGoesAsAWholeIfAllOfItDoes) {
  Make("gone/trial-1/attempt-1", 9 * kDay);
  Make("gone/trial-2/attempt-1", 8 * kDay);
  ASSERT_OK_AND_ASSIGN(const CleanUpReport report, Run({.remove = true}));
  EXPECT_THAT(PathsOf(report), ElementsAre("gone"));
  EXPECT_GE(report.leftovers.front().bytes, 2000);
  EXPECT_EQ(report.leftovers.front().last_used, clock_.Now() - 8 * kDay);
  EXPECT_FALSE(fs::exists(runs_ + "/gone"));
  EXPECT_TRUE(fs::exists(runs_));
}

TEST_F(CleanUpTest, AStudyThatHasTheNameOfADeletedOneKeepsItsOwn) {
  Make("digits/trial-1/attempt-1", 30 * kDay);
  Make("digits/trial-2/attempt-1", 8 * kDay);
  RunIn("digits", Make("digits/trial-1/attempt-1~2", 30 * kDay));
  EXPECT_THAT(Listed(), IsEmpty()) << "nobody deleted any";
  deleted_ = {"digits"};
  clock_.Advance(10 * kDay);
  EXPECT_THAT(Listed(), ElementsAre("digits/trial-1/attempt-1", "digits/trial-2/attempt-1"));
  Age(runs_ + "/digits/trial-2/attempt-1", 9 * kDay);  // Since the study is there.
  EXPECT_THAT(Listed(), ElementsAre("digits/trial-1/attempt-1"));
}

// Of a store that was set aside, of another one, or of nobody.
TEST_F(CleanUpTest, RunsOfStudiesThatNobodyDeletedAreKept) {
  Make("unknown/trial-1/attempt-1", 300 * kDay);
  EXPECT_THAT(Listed(), IsEmpty());
}

TEST_F(CleanUpTest, WhatTheStoreNeedsThatABackupReplacedIsKept) {
  Make("gone/trial-1/attempt-1", 30 * kDay);
  Make(".packages/" + std::string(64, 'e'), 30 * kDay);
  Make(".environments/" + kSomeHash, 30 * kDay);
  const std::string replaced = store_ + ".replaced-20261124T040000Z";
  std::ofstream(replaced) << "a store";
  ASSERT_OK_AND_ASSIGN(const CleanUpReport report, Run({}));
  EXPECT_THAT(PathsOf(report), ElementsAre(".environments/" + kSomeHash));
  EXPECT_EQ(report.kept,
            "'" + replaced + "', which a backup replaced, may need them: remove it first");
  fs::remove(replaced);
  EXPECT_EQ(Listed().size(), 3);
}

TEST_F(CleanUpTest, TheStoreKnowsWhatWasDeleted) {
  const std::string file = folder_ / "real.db";
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = file}));
  const auto studies = Studies::Create(*storage, clock_);
  for (const char* name : {"a", "b"}) {
    ASSERT_THAT(studies->CreateStudy(study::ClientSpec(name), As("test")), IsOk());
  }
  ASSERT_THAT(studies->Delete("b", false, As("test", "r1")), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::set<std::string> deleted, DeletedStudies(file));
  EXPECT_THAT(deleted, ElementsAre("b"));
  EXPECT_THAT(DeletedStudies(":memory:").value(), IsEmpty());
}

// Where its folder was moved, or is a link now, its attempts remember another path.
TEST_F(CleanUpTest, RunsThatWereMovedAreKept) {
  Make("digits/trial-1/attempt-1", 30 * kDay);
  RunIn("digits", "/elsewhere/runs/digits/trial-1/attempt-1");
  EXPECT_THAT(Listed(), IsEmpty());
}

TEST_F(CleanUpTest, WhatIsNotOursIsLeftAlone) {
  Make("notes/of-mine", 30 * kDay);
  Make("gone/trial-1/checkpoints", 30 * kDay);
  Make(".environments/trainers-1", 30 * kDay);
  Make(".environments/mine", 30 * kDay);
  Make(".packages/mine", 30 * kDay);
  fs::create_directories(runs_ + "/.images");
  std::ofstream(runs_ + "/.images/my.sif") << "image";
  Age(runs_ + "/.images/my.sif", 30 * kDay);
  fs::create_directory_symlink("/etc", runs_ + "/.packages/" + std::string(64, 'a'));
  fs::create_directories(runs_ + "/empty");
  fs::create_directories(folder_ / "outside/trial-1/attempt-1");
  fs::create_directory_symlink(folder_ / "outside", runs_ + "/linked");
  fs::create_directories(runs_ + "/half/trial-1");
  fs::create_directory_symlink(folder_ / "outside", runs_ + "/half/trial-1/attempt-1");
  EXPECT_THAT(Listed(), IsEmpty());
}

TEST_F(CleanUpTest, ALinkInWhatGoesIsNotFollowed) {
  const std::string attempt = Make("gone/trial-1/attempt-1", 30 * kDay);
  const std::string outside = Make("notes/of-mine", 30 * kDay);
  fs::create_directory_symlink(outside, attempt + "/data");
  Age(attempt + "/data", 30 * kDay);
  Age(attempt, 30 * kDay);
  ASSERT_OK_AND_ASSIGN(const CleanUpReport report, Run({.remove = true}));
  EXPECT_THAT(PathsOf(report), ElementsAre("gone"));
  EXPECT_FALSE(fs::exists(attempt));
  EXPECT_TRUE(fs::exists(outside + "/file"));
}

TEST_F(CleanUpTest, WhatStillRunsStays) {
  const std::string replica = Make("gone/trial-1/attempt-1/chief-0", 30 * kDay);
  std::ofstream(replica + "/" + launch::kProgramFile) << "-";
  std::ofstream(replica + "/" + launch::kStartedFile) << "";
  std::ofstream(replica + "/" + launch::kLockFile) << "1 1\n";
  // As a supervisor that lives has it.
  const int lock = open((replica + "/" + launch::kLockFile).c_str(), O_RDWR);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(lock, F_OFD_SETLK, &whole), 0);
  const auto age = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(runs_ + "/gone")) {
      Age(entry.path(), 30 * kDay);
    }
  };
  age();
  EXPECT_THAT(Listed(), IsEmpty());
  close(lock);
  age();
  EXPECT_THAT(Listed(), ElementsAre("gone"));
}

TEST_F(CleanUpTest, NothingGoesWhereAnotherStoreHasItsRunsTooWhetherOrNotItIsThere) {
  Make("gone/trial-1/attempt-1", 30 * kDay);
  Make(".environments/" + kSomeHash, 30 * kDay);
  const std::string other = folder_ / "unmounted/other.db";
  ASSERT_THAT(ClaimRuns(runs_, other), IsOk());
  ASSERT_OK_AND_ASSIGN(const CleanUpReport report, Run({.remove = true}));
  EXPECT_THAT(report.leftovers, IsEmpty());
  EXPECT_EQ(report.kept,
            "store '" + other + "' has its runs in '" + runs_ +
                "' too; if it is gone for good, remove its line from '" + runs_ + "/.stores'");
  EXPECT_TRUE(fs::exists(runs_ + "/gone/trial-1/attempt-1/file"));
}

TEST_F(CleanUpTest, ClaimsOnceHoweverOftenItStarts) {
  const auto size = fs::file_size(runs_ + "/.stores");
  ASSERT_THAT(ClaimRuns(runs_, store_), IsOk());
  EXPECT_EQ(fs::file_size(runs_ + "/.stores"), size);
}

TEST_F(CleanUpTest, AClaimThatWasTakenBackCountsNoMore) {
  const auto size = fs::file_size(runs_ + "/.stores");
  const std::string other = folder_ / "other.db";
  ASSERT_THAT(ClaimRuns(runs_, other), IsOk());
  DisclaimRuns(runs_, folder_ / "never.db");
  EXPECT_GT(fs::file_size(runs_ + "/.stores"), size);
  DisclaimRuns(runs_, other);
  EXPECT_EQ(fs::file_size(runs_ + "/.stores"), size);
  Make("gone/trial-1/attempt-1", 30 * kDay);
  EXPECT_THAT(Listed(), ElementsAre("gone"));
  DisclaimRuns(runs_, store_);
  EXPECT_EQ(fs::file_size(runs_ + "/.stores"), 0U);
}

TEST_F(CleanUpTest, EnvironmentsAndImagesGoByTheirLastUse) {
  Make(".environments/" + kSomeHash, 8 * kDay);
  Make(".environments/" + kOtherHash, 6 * kDay);
  Make(".images", 1 * kDay);
  const std::string image = ".images/0123456789ab.sif";
  std::ofstream(runs_ + "/" + image) << "image";
  Age(runs_ + "/" + image, 9 * kDay);
  EXPECT_THAT(Listed(), ElementsAre(".environments/" + kSomeHash, image));
  EXPECT_THAT(Listed({.unused_for = 10 * kDay}), IsEmpty());
}

// Of a trial that has not ended it may be what it runs on.
TEST_F(CleanUpTest, WhatWasUsedSinceTheOldestOpenTrialStays) {
  RunIn("digits", Make("digits/trial-1/attempt-1", kDay));
  Make(".environments/" + kOtherHash, kDay);
  clock_.Advance(30 * kDay);
  Make(".environments/" + kSomeHash, 29 * kDay);
  EXPECT_THAT(Listed(), ElementsAre(".environments/" + kOtherHash));
}

TEST_F(CleanUpTest, WhatATrialRunsOnStaysWhateverItsTimeSays) {
  const std::string attempt = Make("digits/trial-1/attempt-1", 0 * kDay);
  fs::create_directories(attempt + "/chief-0");
  std::ofstream(attempt + "/chief-0/" + launch::kProgramFile)
      << runs_ + "/.environments/" + kSomeHash + "/environment/bin/python";
  RunIn("digits", attempt);
  Make(".environments/" + kSomeHash, 60 * kDay);
  Make(".environments/" + kOtherHash, 60 * kDay);
  EXPECT_THAT(Listed(), ElementsAre(".environments/" + kOtherHash));
}

TEST_F(CleanUpTest, TheLongestUnusedGoUntilTheCachesAreSmallEnough) {
  Make(".environments/" + kSomeHash, 3 * kDay);
  Make(".environments/" + kOtherHash, 2 * kDay);
  Make(".environments/" + std::string(32, 'c'), absl::Minutes(30));
  ASSERT_OK_AND_ASSIGN(const CleanUpReport all, Run({.unused_for = absl::Hours(1)}));
  ASSERT_EQ(all.leftovers.size(), 2);
  const std::int64_t three = 3 * all.leftovers.front().bytes;
  EXPECT_THAT(Listed({.cache_bytes = three}), IsEmpty());
  EXPECT_THAT(Listed({.cache_bytes = three - 1}), ElementsAre(".environments/" + kSomeHash));
  EXPECT_THAT(Listed({.cache_bytes = 1}),
              ElementsAre(".environments/" + kSomeHash, ".environments/" + kOtherHash))
      << "what was used within the hour stays";
}

TEST_F(CleanUpTest, PackagesGoThatNoStudyNames) {
  const std::string package = Make(".packages/" + std::string(64, 'd'), 30 * kDay) + "/file";
  Make(".packages/" + std::string(64, 'e'), 30 * kDay);
  Make(".packages/" + std::string(64, 'f'), kDay);
  StudySpec spec = study::JobSpec();
  spec.job->command.clear();
  spec.job->python = PythonProgram{.module = "trainer", .packages = {"file://" + package}};
  Create(spec);
  EXPECT_THAT(Listed(), ElementsAre(".packages/" + std::string(64, 'e')));
}

TEST_F(CleanUpTest, NothingYoungerThanAnHourGoes) {
  Make("gone/trial-1/attempt-1", absl::Minutes(59));
  EXPECT_THAT(Listed({.unused_for = absl::ZeroDuration()}), IsEmpty());
}

TEST_F(CleanUpTest, GoesOnWithWhatWasHalfRemoved) {
  Make("gone/trial-1/.removed-attempt-1", absl::ZeroDuration());
  Make(".packages/.removed-" + std::string(64, 'a'), absl::ZeroDuration());
  ASSERT_OK_AND_ASSIGN(const CleanUpReport report, Run({.remove = true}));
  EXPECT_THAT(
      PathsOf(report),
      ElementsAre("gone/trial-1/.removed-attempt-1", ".packages/.removed-" + std::string(64, 'a')));
  EXPECT_FALSE(fs::exists(runs_ + "/gone"));
}

TEST_F(CleanUpTest, EndsWhenItIsAskedTo) {
  Make("gone/trial-1/attempt-1", 30 * kDay);
  stop_.request_stop();
  EXPECT_THAT(Run({.remove = true}), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(fs::exists(runs_ + "/gone/trial-1/attempt-1/file"));
}

TEST_F(CleanUpTest, OfAServerThatNeverRanNothingIsRemoved) {
  Make("gone/trial-1/attempt-1", 30 * kDay);
  fs::remove(runs_ + "/.stores");
  ASSERT_OK_AND_ASSIGN(const CleanUpReport report, Run({}));
  EXPECT_THAT(report.leftovers, IsEmpty());
  EXPECT_THAT(report.kept, HasSubstr("no server has run trials in"));
  fs::remove_all(runs_);
  EXPECT_THAT(Listed(), IsEmpty());
}

}  // namespace
}  // namespace vernier::app
