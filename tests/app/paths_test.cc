#include "src/app/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::app {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::StartsWith;
using testing::StatusIs;

// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { old_.has_value() ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(DefaultStorePath, FollowsTheEnvironment) {
  const Variable home("HOME", "/home/ann");
  const Variable no_store("VERNIER_STORE", nullptr);
  const Variable no_state("XDG_STATE_HOME", nullptr);
  EXPECT_EQ(DefaultStorePath(), "/home/ann/.local/state/vernier/vernier.db");
  const Variable relative("XDG_STATE_HOME", "state");
  EXPECT_EQ(DefaultStorePath(), "/home/ann/.local/state/vernier/vernier.db");
  const Variable state("XDG_STATE_HOME", "/state");
  EXPECT_EQ(DefaultStorePath(), "/state/vernier/vernier.db");
  const Variable empty("VERNIER_STORE", "");
  EXPECT_EQ(DefaultStorePath(), "/state/vernier/vernier.db");
  const Variable store("VERNIER_STORE", "/data/my.db");
  EXPECT_EQ(DefaultStorePath(), "/data/my.db");
}

TEST(CreateStoreFolder, MakesThePrivateFolderOfTheOwnStore) {
  const TemporaryFolder folder;
  const Variable none("VERNIER_STORE", nullptr);
  const Variable state("XDG_STATE_HOME", (folder / "a/b").c_str());
  ASSERT_THAT(CreateStoreFolder(DefaultStorePath()), IsOk());
  ASSERT_THAT(CreateStoreFolder(DefaultStorePath()), IsOk());
  struct stat info = {};
  ASSERT_EQ(stat((folder / "a/b/vernier").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  EXPECT_THAT(CreateStoreFolder(":memory:"), IsOk());
}

TEST(CreateStoreFolder, CreatesNoFolderForAStoreThatWasNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(CreateStoreFolder(folder / "vernier.db"), IsOk());
  EXPECT_THAT(CreateStoreFolder("vernier.db"), IsOk());
  EXPECT_THAT(CreateStoreFolder(folder / "typo/vernier.db"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is no folder")));
  struct stat info = {};
  EXPECT_NE(stat((folder / "typo").c_str(), &info), 0);
}

TEST(CreateStoreFolder, SaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  const Variable none("VERNIER_STORE", nullptr);
  const Variable state("XDG_STATE_HOME", (folder / "file/sub").c_str());
  EXPECT_THAT(CreateStoreFolder(DefaultStorePath()), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(DefaultSocket, IsBesideTheStoreWhereThatIsNotTooLong) {
  const TemporaryFolder folder;
  EXPECT_EQ(DefaultSocket(folder / "vernier.db"), folder / "vernier.db.sock");
  EXPECT_THAT(PrepareDefaultSocket(folder / "vernier.db"), IsOk());
  const std::string deep = folder / std::string(100, 'd') + "/vernier.db";
  const std::string socket = DefaultSocket(deep);
  EXPECT_THAT(socket, StartsWith("/tmp/vernier-" + std::to_string(geteuid()) + "-"));
  EXPECT_LE(socket.size(), 107u);
  EXPECT_EQ(DefaultSocket(deep), socket);
  EXPECT_NE(DefaultSocket(deep + "2"), socket);
}

TEST(DefaultSocket, OfASymbolicLinkIsThatOfTheFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "vernier.db") << "";
  std::filesystem::create_symlink("vernier.db", folder / "link.db");
  EXPECT_EQ(DefaultSocket(folder / "link.db"), folder / "vernier.db.sock");
}

}  // namespace
}  // namespace vernier::app
