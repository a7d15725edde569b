#include "src/cli/job_output.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

StudySpec SpecWithOutput(const std::string& directory, const std::string& working_directory) {
  StudySpec spec;
  spec.name = "census";
  spec.objectives = {{"accuracy", Goal::kMaximize}};
  spec.job = TrainingJob{};
  spec.job->job_directory = directory;
  spec.job->working_directory = working_directory;
  return spec;
}

TEST(JobOutput, IsTheTrialsFolderBelowTheJobDirectory) {
  const auto output_of = [](const std::string& directory, const std::string& working_directory) {
    return *JobOutputOf(SpecWithOutput(directory, working_directory), TrialNumber(7));
  };
  EXPECT_EQ(output_of("/data/out", ""), "/data/out/7");
  EXPECT_EQ(output_of("out", "/home/me/study"), "/home/me/study/out/7");
  EXPECT_EQ(output_of("file:///data/out", "/home/me"), "/data/out/7");
  StudySpec untuned = SpecWithOutput("/data/out", "");
  untuned.objectives.clear();
  EXPECT_EQ(*JobOutputOf(untuned, TrialNumber(1)), "/data/out");
}

TEST(JobOutput, SaysWhyThereIsNothingToCopy) {
  const auto refusal = [](const std::string& directory, const std::string& working_directory) {
    return JobOutputOf(SpecWithOutput(directory, working_directory), TrialNumber(7)).status();
  };
  EXPECT_THAT(refusal("", "/home/me"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("study 'census' has no job directory")));
  EXPECT_THAT(
      refusal("gs://bucket/out", "/home/me"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'gs://bucket/out/7' is a URL")));
  EXPECT_THAT(refusal("out", ""),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("'out/7' is relative to the folder that vernierd")));
}

class CopyFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "from" / "export"); }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(root_ / path) << text;
  }
  std::string Path(const std::string& path) const { return (root_ / path).string(); }

  const fs::path root_ = fs::path(::testing::TempDir()) /
                         ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CopyFolderTest, CopiesAllThatIsInItAndKeepsLinks) {
  Write("from/checkpoint", "step 10");
  Write("from/export/model", "weights");
  fs::create_symlink("checkpoint", root_ / "from" / "latest");
  ASSERT_OK_AND_ASSIGN(const FolderSize size, CopyFolder(Path("from"), Path("new/best/")));
  EXPECT_EQ(size.files, 2);
  EXPECT_EQ(size.bytes, 14);
  EXPECT_EQ(fs::file_size(root_ / "new" / "best" / "export" / "model"), 7u);
  EXPECT_EQ(fs::read_symlink(root_ / "new" / "best" / "latest"), "checkpoint");
}

TEST_F(CopyFolderTest, ReplacesNothing) {
  Write("kept", "mine");
  EXPECT_THAT(CopyFolder(Path("from"), Path("kept")).status(),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("is already there")));
  EXPECT_EQ(fs::file_size(root_ / "kept"), 4u);
}

TEST_F(CopyFolderTest, SaysWhatIsNotThere) {
  EXPECT_THAT(CopyFolder(Path("elsewhere"), Path("to")).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("is no folder of this machine")));
  EXPECT_FALSE(fs::exists(root_ / "to"));
}

TEST_F(CopyFolderTest, LeavesNothingHalfWritten) {
  Write("file", "in the way");
  EXPECT_THAT(CopyFolder(Path("from"), Path("file/best")).status(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot make the folder of")));
  Write("from/checkpoint", "step 10");
  fs::create_directories(root_ / "best.partial" / "left");  // By a copy that was cut off.
  ASSERT_THAT(CopyFolder(Path("from"), Path("best")).status(), IsOk());
  EXPECT_FALSE(fs::exists(root_ / "best" / "left"));
  EXPECT_FALSE(fs::exists(root_ / "best.partial"));
}

}  // namespace
}  // namespace vernier::cli
