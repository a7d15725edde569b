#include "src/base/files.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::base {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-files-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::size_t Entries() const {
    const std::filesystem::directory_iterator begin(folder_);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }
  static unsigned Mode(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
  }

  std::string folder_;
};

TEST_F(Files, ReadsBackEveryByte) {
  std::string content = "text\n";
  for (int i = 0; i < 300000; ++i) content += static_cast<char>(i % 256);
  ASSERT_THAT(WriteFileAtomically(Path("a"), content), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(Path("a")));
  EXPECT_TRUE(read == content);
  ASSERT_THAT(WriteFileAtomically(Path("a"), ""), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string empty, ReadFile(Path("a")));
  EXPECT_EQ(empty, "");
}

TEST_F(Files, ReadingSaysWhatIsWrong) {
  EXPECT_THAT(ReadFile(Path("none")),
              StatusIs(absl::StatusCode::kNotFound,
                       "cannot open '" + Path("none") + "': No such file or directory"));
  EXPECT_THAT(
      ReadFile(folder_),
      StatusIs(absl::StatusCode::kUnavailable, "cannot read '" + folder_ + "': Is a directory"));
}

TEST_F(Files, WritingLeavesOneFileForItsOwner) {
  ASSERT_THAT(WriteFileAtomically(Path("a"), "old"), IsOk());
  ASSERT_THAT(WriteFileAtomically(Path("a"), "new"), IsOk());
  EXPECT_EQ(Entries(), 1u);
  EXPECT_EQ(Mode(Path("a")), 0600u);
}

TEST_F(Files, FailedWritingChangesNothing) {
  ASSERT_THAT(MakeDirectories(Path("taken/by/folders")), IsOk());
  EXPECT_THAT(WriteFileAtomically(Path("taken"), "x"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot replace")));
  EXPECT_EQ(Entries(), 1u);
  EXPECT_THAT(WriteFileAtomically(Path("none/a"), "x"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot create a file beside")));
}

TEST_F(Files, ConcurrentWritersNeverMix) {
  const std::vector<std::string> contents = {std::string(70000, 'a'), std::string(50000, 'b')};
  std::vector<std::thread> writers;
  for (const std::string& content : contents) {
    writers.emplace_back([this, &content] {
      for (int i = 0; i < 20; ++i) EXPECT_THAT(WriteFileAtomically(Path("a"), content), IsOk());
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto read = ReadFile(Path("a"));
    if (absl::IsNotFound(read.status())) continue;
    ASSERT_THAT(read, IsOk());
    EXPECT_TRUE(*read == contents[0] || *read == contents[1]) << read->size();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(Files, MakesDirectoriesForTheOwner) {
  ASSERT_THAT(MakeDirectories(Path("a/b/c")), IsOk());
  EXPECT_EQ(Mode(Path("a/b/c")), 0700u);
  EXPECT_THAT(MakeDirectories(Path("a/b/c")), IsOk());
  ASSERT_THAT(WriteFileAtomically(Path("file"), ""), IsOk());
  EXPECT_THAT(MakeDirectories(Path("file/a")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Not a directory")));
}

TEST_F(Files, OneLockAtATime) {
  EXPECT_FALSE(IsLocked(Path("lock")));
  ASSERT_OK_AND_ASSIGN(std::optional<FileLock> first, FileLock::TryAcquire(Path("lock")));
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(IsLocked(Path("lock")));
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> second, FileLock::TryAcquire(Path("lock")));
  EXPECT_FALSE(second.has_value());
  first.reset();
  EXPECT_FALSE(IsLocked(Path("lock")));
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> third, FileLock::TryAcquire(Path("lock")));
  EXPECT_TRUE(third.has_value());
  EXPECT_THAT(FileLock::TryAcquire(Path("none/lock")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Files, MovingALockKeepsItHeld) {
  ASSERT_OK_AND_ASSIGN(std::optional<FileLock> a, FileLock::TryAcquire(Path("a")));
  ASSERT_OK_AND_ASSIGN(std::optional<FileLock> b, FileLock::TryAcquire(Path("b")));
  ASSERT_TRUE(a.has_value() && b.has_value());
  FileLock held = *std::move(a);
  a.reset();
  EXPECT_TRUE(IsLocked(Path("a")));
  held = *std::move(b);
  b.reset();
  EXPECT_TRUE(IsLocked(Path("b")));
  EXPECT_FALSE(IsLocked(Path("a")));
}

TEST_F(Files, LockedFileHoldsWhatWasWrittenLast) {
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> lock, FileLock::TryAcquire(Path("lock")));
  ASSERT_TRUE(lock.has_value());
  ASSERT_THAT(lock->Write("a longer text"), IsOk());
  ASSERT_THAT(lock->Write("short"), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string content, ReadFile(Path("lock")));
  EXPECT_EQ(content, "short");
}

TEST_F(Files, LockGoesWithAKilledProcess) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::TryAcquire(Path("lock"));
    const char ready = lock.ok() && lock->has_value() ? 'y' : 'n';
    if (::write(pipe[1], &ready, 1) == 1) ::pause();
    ::_exit(0);
  }
  char ready = 0;
  ASSERT_EQ(::read(pipe[0], &ready, 1), 1);
  EXPECT_EQ(ready, 'y');
  EXPECT_TRUE(IsLocked(Path("lock")));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(IsLocked(Path("lock")));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace vernier::base
