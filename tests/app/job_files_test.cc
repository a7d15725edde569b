#include "src/app/job_files.h"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr absl::StatusCode kRefused = absl::StatusCode::kInvalidArgument;

TEST(CheckJobFiles, RefusesFoldersThatAreNotHere) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "work");
  TrainingJob job{.command = {"train"}};
  EXPECT_THAT(CheckJobFiles(folder / "work", job), IsOk());
  job.working_directory = folder / "gone";
  EXPECT_THAT(CheckJobFiles("/", job),
              StatusIs(kRefused, HasSubstr("/gone' is no folder on the server's host")));
  job.working_directory = folder / "work";
  job.replicas[Role::kWorker].directory = "sub";
  EXPECT_EQ(GetField(CheckJobFiles("/", job)), "job.replicas.worker.directory");
}

TEST(CheckJobFiles, LeavesFoldersOfContainersAndOfReplicasAlone) {
  TrainingJob job{.image = "trainer"};
  job.working_directory = "/nowhere";
  EXPECT_THAT(CheckJobFiles("/", job), IsOk());
  TrainingJob submitted{.command = {"train"}};
  submitted.input.emplace();
  EXPECT_THAT(CheckJobFiles("/nowhere", submitted), IsOk());
}

TEST(CheckJobFiles, RefusesPackagesThatAreNotHere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.tar.gz") << "x";
  TrainingJob job;
  job.python = PythonProgram{.module = "trainer.task",
                             .packages = {"./a.tar.gz", "numpy>=2", "https://host/x.whl"}};
  EXPECT_THAT(CheckJobFiles(folder / "", job), IsOk());
  job.python->packages.push_back("file:///nowhere/b.tar.gz");
  const absl::Status status = CheckJobFiles(folder / "", job);
  EXPECT_EQ(GetField(status), "job.python.packages[3]");
  EXPECT_THAT(status, StatusIs(kRefused, HasSubstr("'/nowhere/b.tar.gz' is not there")));
}

TEST(CheckJobFiles, FillsInTheHashOfCodeAndRefusesAnother) {
  const TemporaryFolder folder;
  std::ofstream(folder / "code.tar.gz") << "abc";
  TrainingJob job{.command = {"train"}};
  job.code = {.archive = "file://" + (folder / "code.tar.gz"), .sha256 = {}, .folder = {}};
  EXPECT_THAT(CheckJobFiles("/", job), IsOk());
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(job.code->sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THAT(CheckJobFiles("/", job), IsOk());
  job.code->sha256.front() = 'c';
  EXPECT_EQ(GetField(CheckJobFiles("/", job)), "job.code.sha256");
  job.code = {.archive = folder / "gone.tar.gz", .sha256 = {}, .folder = {}};
  EXPECT_EQ(GetField(CheckJobFiles("/", job)), "job.code.archive");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  job.code = {.archive = folder / "pipe", .sha256 = {}, .folder = {}};
  EXPECT_THAT(CheckJobFiles("/", job),
              StatusIs(kRefused, HasSubstr("/pipe' is no file on the server's host")));
  std::ofstream(folder / "large") << "";
  fs::resize_file(folder / "large", (std::uintmax_t{1} << 30) + 1);  // Without a block of its own.
  job.code = {.archive = folder / "large", .sha256 = {}, .folder = {}};
  EXPECT_THAT(CheckJobFiles("/", job),
              StatusIs(kRefused, HasSubstr("has 1073741825 bytes, at most 1073741824 are taken")));
  job.code = {.archive = {}, .sha256 = {}, .folder = "/home/ann/trainer"};
  EXPECT_EQ(GetField(CheckJobFiles("/", job)), "job.code");
}

}  // namespace
}  // namespace vernier::app
