#include "src/base/files.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "src/base/open_file.h"
#include "tests/support/status_matchers.h"

namespace vernier::base {
namespace {

using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

constexpr std::int64_t kMostRead = std::int64_t{1} << 20;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-files-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  static unsigned Mode(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
  }

  std::string folder_;
};

TEST_F(Files, ReadsEveryByte) {
  std::string content = "text\n";
  for (int i = 0; i < 300000; ++i) content += static_cast<char>(i % 256);
  std::ofstream(Path("a"), std::ios::binary) << content;
  ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(Path("a"), kMostRead));
  EXPECT_TRUE(read == content);
  { const std::ofstream none(Path("b"), std::ios::binary); }
  ASSERT_OK_AND_ASSIGN(const std::string empty, ReadFile(Path("b"), kMostRead));
  EXPECT_EQ(empty, "");
}

TEST_F(Files, ReadsNoMoreThanIsWanted) {
  std::ofstream(Path("a")) << "12345";
  ASSERT_OK_AND_ASSIGN(const std::string all, ReadFile(Path("a"), 5));
  EXPECT_EQ(all, "12345");
  EXPECT_THAT(ReadFile(Path("a"), 4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'" + Path("a") + "' has 5 bytes, at most 4 are read"));
  // A file that does not say how much it has.
  EXPECT_THAT(ReadFile("/proc/self/status", 4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'/proc/self/status' has more than the 4 bytes that are read"));
}

TEST_F(Files, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadFile(Path("pipe"), kMostRead),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'" + Path("pipe") + "' is a pipe, not a regular file"));
}

TEST_F(Files, APipeOfAShellIsReadToItsEnd) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    const std::string text(200000, 'x');  // More than a pipe holds.
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), 200000);
    ::close(ends[1]);
  });
  const absl::StatusOr<std::string> read =
      ReadInput("/dev/fd/" + std::to_string(ends[0]), kMostRead);
  writer.join();
  ::close(ends[0]);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->size(), 200000U);
}

TEST_F(Files, WhatIsNeitherAFileNorAStreamIsNotWaitedFor) {
  const int events = ::eventfd(0, EFD_NONBLOCK);
  EXPECT_EQ(OpenFile(events).ReadToEnd(kMostRead), std::nullopt);
  EXPECT_EQ(errno, EAGAIN);
  ::close(events);
}

TEST_F(Files, OfWhatHasNoEndNotMuchMoreIsReadThanIsWanted) {
  const OpenFile file("/dev/zero");
  const std::optional<std::string> read = file.ReadToEnd(1000000);
  ASSERT_TRUE(read.has_value());
  EXPECT_GT(read->size(), 1000000U);
  EXPECT_LT(read->size(), 1100000U);
}

TEST_F(Files, ReadingSaysWhatIsWrong) {
  EXPECT_THAT(ReadFile(Path("none"), kMostRead),
              StatusIs(absl::StatusCode::kNotFound,
                       "cannot open '" + Path("none") + "': No such file or directory"));
  EXPECT_THAT(ReadFile(folder_, kMostRead),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'" + folder_ + "' is a folder, not a regular file"));
  EXPECT_THAT(
      ReadFile("/dev/zero", kMostRead),
      StatusIs(absl::StatusCode::kInvalidArgument, "'/dev/zero' is a device, not a regular file"));
  EXPECT_THAT(
      ReadFile("/proc/self/mem", kMostRead),
      StatusIs(absl::StatusCode::kUnavailable, "cannot read '/proc/self/mem': Input/output error"));
}

TEST_F(Files, OneLockAtATime) {
  EXPECT_FALSE(IsLocked(Path("lock")));
  ASSERT_OK_AND_ASSIGN(std::optional<FileLock> first, FileLock::TryAcquire(Path("lock")));
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(IsLocked(Path("lock")));
  EXPECT_EQ(Mode(Path("lock")), 0600u);
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
  a.reset();  // NOLINT(bugprone-use-after-move): what was moved from lets go of nothing.
  EXPECT_TRUE(IsLocked(Path("a")));
  held = *std::move(b);
  b.reset();  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(IsLocked(Path("b")));
  EXPECT_FALSE(IsLocked(Path("a")));
}

TEST_F(Files, LockedFileHoldsWhatWasWrittenLast) {
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> lock, FileLock::TryAcquire(Path("lock")));
  ASSERT_TRUE(lock.has_value());
  ASSERT_THAT(lock->Write("a longer text"), IsOk());
  ASSERT_THAT(lock->Write("short"), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string content, ReadFile(Path("lock"), kMostRead));
  EXPECT_EQ(content, "short");
}

TEST_F(Files, WritingThatFailsNamesTheFile) {
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> lock, FileLock::TryAcquire(Path("lock")));
  ASSERT_TRUE(lock.has_value());
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit nothing = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  const absl::Status status = lock->Write("x");
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kUnavailable,
                       "cannot write '" + Path("lock") + "': File too large"));
}

TEST_F(Files, AHolderSeesWhoWaitsUntilTheWaiterDies) {
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> lock, FileLock::TryAcquire(Path("lock")));
  EXPECT_FALSE(lock->IsAwaited());
  const int told = ::eventfd(0, EFD_CLOEXEC);
  std::uint64_t count = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    LockWaiter waiter(Path("lock"));
    waiter.Tell();
    // A look ends what was told, and must not be the last word.
    const bool is_taken = !FileLock::TryAcquire(Path("lock"))->has_value();
    waiter.Tell();
    if (is_taken && ::write(told, &count, sizeof count) > 0) ::pause();
    ::_exit(1);
  }
  ASSERT_EQ(::read(told, &count, sizeof count), static_cast<ssize_t>(sizeof count));
  EXPECT_TRUE(lock->IsAwaited());
  ::kill(child, SIGSTOP);
  EXPECT_TRUE(lock->IsAwaited());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(lock->IsAwaited());
  ::close(told);
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

TEST_F(Files, AcquireWaitsForAChildThatIsAboutToLetGo) {
  ASSERT_OK_AND_ASSIGN(std::optional<FileLock> lock, FileLock::TryAcquire(Path("lock")));
  ASSERT_TRUE(lock.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    ::poll(nullptr, 0, 100);
    ::_exit(0);
  }
  lock.reset();  // The child has its own copy of the descriptor.
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> next, FileLock::Acquire(Path("lock")));
  EXPECT_TRUE(next.has_value());
  ::waitpid(child, nullptr, 0);
  ASSERT_OK_AND_ASSIGN(const std::optional<FileLock> other, FileLock::Acquire(Path("lock")));
  EXPECT_FALSE(other.has_value());
}

}  // namespace
}  // namespace vernier::base
