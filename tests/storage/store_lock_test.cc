#include "src/storage/owner/store_lock.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/status.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::storage {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;
using testing::TempFolder;

// Longer than any wait of these tests.
constexpr absl::Duration kLong = absl::Seconds(60);

// A process that runs `work` and exits with 0 if it returned true.
class Child {
 public:
  explicit Child(const std::function<bool()>& work) : id_(::fork()) {
    if (id_ == 0) ::_exit(work() ? 0 : 1);
  }
  ~Child() {
    if (id_ > 0) Kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t id() const { return id_; }
  void Signal(int signal) const { ::kill(id_, signal); }
  // Whether its work returned true.
  bool Wait() {
    int status = 0;
    ::waitpid(std::exchange(id_, 0), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  void Kill() {
    Signal(SIGKILL);
    Wait();
  }

 private:
  pid_t id_;
};

// Lets a process tell another one something, once.
class Bell {
 public:
  ~Bell() { ::close(event_); }
  void Ring() const {
    const std::uint64_t one = 1;
    if (::write(event_, &one, sizeof one) < 0) std::abort();
  }
  void Await() const {
    std::uint64_t count = 0;
    if (::read(event_, &count, sizeof count) < 0) std::abort();
  }

 private:
  const int event_ = ::eventfd(0, EFD_CLOEXEC);
};

void AwaitWaiter(const StoreLock& lock) {
  while (!lock.IsAwaited()) ::usleep(500);
}

// What Acquire says in a process without the rights of root, which may write everywhere.
class MessageToUser {
 public:
  explicit MessageToUser(const std::string& store) : store_(store) {}
  // Whether it is this message.
  bool Is(const std::string& expected) const {
    constexpr uid_t kNobody = 65534;
    Child user([&] {
      if (::geteuid() == 0 && (::setegid(kNobody) != 0 || ::seteuid(kNobody) != 0)) return false;
      const absl::Status refused = StoreLock::Acquire(store_).status();
      if (refused == Unavailable("{}", expected)) return true;
      std::cerr << refused << '\n';
      return false;
    });
    return user.Wait();
  }

 private:
  const std::string store_;
};

class StoreLockTest : public ::testing::Test {
 protected:
  const TempFolder folder_;
  const std::string store_ = folder_.PathOf("s.db");
};

TEST_F(StoreLockTest, AWaiterGetsTheStoreWhenItIsGivenUp) {
  const Bell is_taken;
  // Before the lock is taken, since a child has the files of its parent.
  Child waiter([&] {
    is_taken.Await();
    return StoreLock::Acquire(store_, kLong).ok();
  });
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<StoreLock> lock, StoreLock::Acquire(store_));
  EXPECT_FALSE(lock->IsAwaited());
  is_taken.Ring();
  AwaitWaiter(*lock);
  lock.reset();
  EXPECT_TRUE(waiter.Wait());
  ASSERT_OK_AND_ASSIGN(lock, StoreLock::Acquire(store_));
  EXPECT_FALSE(lock->IsAwaited());
}

TEST_F(StoreLockTest, RefusalsNameTheStoreAndItsFolder) {
  const std::string missing = folder_.PathOf("none/s.db");
  EXPECT_THAT(StoreLock::Acquire(missing),
              StatusIs(absl::StatusCode::kNotFound,
                       "store: there is no folder '" + folder_.PathOf("none") + "' for '" +
                           missing + "'; create it, or name another store"));
  const std::string folder = folder_.PathOf("");
  const std::string path = folder.substr(0, folder.size() - 1);
  const MessageToUser message(store_);
  ASSERT_EQ(::chmod(path.c_str(), 0555), 0);
  EXPECT_TRUE(message.Is("store '" + store_ + "': its folder '" + path +
                         "' cannot be written: Permission denied"));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_TRUE(message.Is("store '" + store_ + "': its folder '" + path +
                         "' cannot be looked into: Permission denied"));
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  ASSERT_THAT(StoreLock::Acquire(store_), IsOk());  // Leaves its owner file.
  const std::string owner = store_ + ".owner";
  for (const std::string& file : {owner, store_}) {
    std::ofstream(file, std::ios::app).flush();
    ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  }
  EXPECT_TRUE(message.Is("store '" + store_ + "': belongs to another user: Permission denied"));
  ASSERT_EQ(::chmod(store_.c_str(), 0444), 0);
  EXPECT_TRUE(message.Is("store '" + store_ + "': belongs to another user: Permission denied; to " +
                         "read it, copy it to a folder of your own"));
}

TEST_F(StoreLockTest, AWaiterThatDiesWaitsNoLonger) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<StoreLock> lock, StoreLock::Acquire(store_));
  Child waiter([&] { return StoreLock::Acquire(store_, kLong).ok(); });
  AwaitWaiter(*lock);
  waiter.Kill();
  EXPECT_FALSE(lock->IsAwaited());
}

TEST_F(StoreLockTest, APatienceEndsWithTheNameOfTheOwner) {
  const Bell has_it;
  Child owner([&] {
    const auto lock = StoreLock::Acquire(store_);
    has_it.Ring();
    ::pause();
    return lock.ok();
  });
  has_it.Await();
  owner.Signal(SIGSTOP);
  const auto lock = StoreLock::Acquire(store_, absl::Milliseconds(100));
  EXPECT_THAT(lock,
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("in use by process " + std::to_string(owner.id()))));
  EXPECT_EQ(GetReason(lock.status()), Reason::kStoreBusy);
  // A killed owner is waited for no longer, even while it is suspended.
  owner.Kill();
  EXPECT_THAT(StoreLock::Acquire(store_, kLong), IsOk());
}

TEST_F(StoreLockTest, AnOwnerWithAnAddressIsNotWaitedFor) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<StoreLock> lock, StoreLock::Acquire(store_));
  // Published while another process waits.
  Child waiter(
      [&] { return GetReason(StoreLock::Acquire(store_, kLong).status()) == Reason::kStoreBusy; });
  AwaitWaiter(*lock);
  ASSERT_THAT(lock->Publish({.address = "unix:/s.sock", .token_file = ""}), IsOk());
  EXPECT_TRUE(waiter.Wait());
}

// The patience is with one owner: many short turns of others must not use it up.
TEST_F(StoreLockTest, TurnsOfOthersDoNotUseUpThePatience) {
  const auto take_turns = [&] {
    for (int i = 0; i < 40; ++i) {
      const auto lock = StoreLock::Acquire(store_, kLong);
      if (!lock.ok()) return false;
      ::usleep(15'000);
    }
    return true;
  };
  Child first(take_turns);
  Child second(take_turns);
  Child third(take_turns);
  int turns = 0;
  for (; turns < 10; ++turns) {
    ASSERT_THAT(StoreLock::Acquire(store_, absl::Milliseconds(400)), IsOk());
  }
  EXPECT_TRUE(first.Wait());
  EXPECT_TRUE(second.Wait());
  EXPECT_TRUE(third.Wait());
}

}  // namespace
}  // namespace vernier::storage
