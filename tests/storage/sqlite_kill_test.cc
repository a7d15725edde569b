#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"
#include "vernier/storage.h"

// A process that writes is killed; another one reads what it left.
namespace vernier {
namespace {

using ::testing::Ge;
using ::vernier::testing::CheckConsistent;
using ::vernier::testing::CreatedEvent;
using ::vernier::testing::IsOk;
using ::vernier::testing::TempFolder;
using ::vernier::testing::TrialCommit;

// The child: commits without end, and says so on the pipe after each acknowledgement.
[[noreturn]] void WriteUntilKilled(const std::string& path, int acknowledge) {
  auto storage = OpenSqliteStorage({.path = path});
  if (!storage.ok()) _exit(1);
  absl::StatusOr<Study> study = (*storage)->GetStudyByName("a");
  if (!study.ok()) study = (*storage)->CreateStudy(CreatedEvent("a"));
  if (!study.ok()) _exit(2);
  while (true) {
    const Commit commit = TrialCommit(*study);
    *study = commit.header;
    if (!(*storage)->Begin(commit)->Wait().ok()) _exit(3);
    const std::int64_t trials = study->trials;
    if (write(acknowledge, &trials, sizeof(trials)) != sizeof(trials)) _exit(4);
  }
}

// Lets the child acknowledge `count` commits, kills it, and returns the last that it acknowledged.
std::int64_t KillAfter(const std::string& path, std::uint64_t count) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    WriteUntilKilled(path, ends[1]);
  }
  close(ends[1]);
  std::int64_t acknowledged = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(read(ends[0], &acknowledged, sizeof(acknowledged)),
              static_cast<ssize_t>(sizeof(acknowledged)));
  }
  EXPECT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer left with " << WEXITSTATUS(status);
  // What it managed to say between the last read and its end.
  while (read(ends[0], &acknowledged, sizeof(acknowledged)) == sizeof(acknowledged)) {
  }
  close(ends[0]);
  return acknowledged;
}

TEST(SqliteKill, EveryAcknowledgedCommitOutlivesItsProcess) {
  const TempFolder folder;
  const std::string path = folder.PathOf("store");
  Rng rng(11);
  for (int round = 0; round < 8; ++round) {
    const std::int64_t acknowledged = KillAfter(path, 1 + rng.UniformInt(12));
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = path}));
    ASSERT_OK_AND_ASSIGN(const Study study, storage->GetStudyByName("a"));
    EXPECT_THAT(study.trials, Ge(acknowledged));
    EXPECT_THAT(CheckConsistent(*storage, study.id), IsOk());
  }
}

}  // namespace
}  // namespace vernier
