#include "src/app/job_directory.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

TrainingJob JobIn(const std::string& directory) {
  TrainingJob job;
  job.job_directory = directory;
  return job;
}

TEST(CheckJobDirectory, MakesTheFolderAndLeavesNothingElse) {
  const TemporaryFolder folder;
  TrainingJob job = JobIn("out/deep");
  job.working_directory = folder / "work";
  EXPECT_THAT(CheckJobDirectory(job, "/nowhere"), IsOk());
  EXPECT_TRUE(fs::is_empty(folder / "work/out/deep"));
  EXPECT_THAT(CheckJobDirectory(JobIn("file://" + (folder / "url")), "/nowhere"), IsOk());
  EXPECT_TRUE(fs::is_directory(folder / "url"));
}

TEST(CheckJobDirectory, RefusesWhatCannotBeAFolder) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT(CheckJobDirectory(JobIn("file/out"), folder / ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("job.dir: '")));
  TrainingJob job = JobIn(folder / "file");
  job.input.emplace();
  EXPECT_THAT(CheckJobDirectory(job, "/"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("trainingInput.jobDir: '")));
}

TEST(CheckJobDirectory, OnlyLooksIfToldTo) {
  const TemporaryFolder folder;
  TrainingJob job = JobIn("out/deep");
  job.working_directory = folder / "work";
  EXPECT_THAT(CheckJobDirectory(job, "/nowhere", /*only_look=*/true), IsOk());
  EXPECT_FALSE(fs::exists(folder / "work"));
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT(CheckJobDirectory(JobIn("file/out/deep"), folder / "", /*only_look=*/true),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("file' is no folder")));
}

TEST(CheckWritable, LooksAtTheNearestFolderThatIsThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT(CheckWritable(folder / "file/no/such"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("file' is no folder")));
  EXPECT_THAT(CheckWritable(folder / "new/deep"), IsOk());
  EXPECT_THAT(CheckWritable(folder / ""), IsOk());
  EXPECT_TRUE(fs::is_regular_file(folder / "file")) << "and nothing else is left";
  // Its permissions allow root to write.
  EXPECT_THAT(
      CheckWritable("/proc/nope"),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("'/proc/nope' cannot be written")));
}

TEST(CheckJobDirectory, SaysNothingOfStoresThatItCannotReach) {
  EXPECT_THAT(CheckJobDirectory(JobIn("gs://bucket/out"), "/"), IsOk());
  EXPECT_THAT(CheckJobDirectory(JobIn(""), "/"), IsOk());
}

}  // namespace
}  // namespace vernier::app
