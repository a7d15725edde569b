#include "src/base/access_token.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/private_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::base {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class AccessToken : public ::testing::Test {
 protected:
  AccessToken() : folder_((fs::temp_directory_path() / "vernier-token-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~AccessToken() override { fs::remove_all(folder_); }

  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& text, mode_t mode = 0600) const {
    const std::string path = PathOf("token");
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  static unsigned ModeOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
  }

 private:
  std::string folder_;
};

TEST_F(AccessToken, IsMadeOnceForItsOwnerOnly) {
  const mode_t before = umask(0);
  const std::string path = PathOf("state/vernier/token");
  EXPECT_THAT(ReadToken(path), StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
  ASSERT_OK_AND_ASSIGN(const std::string token, LoadOrMakeToken(path));
  umask(before);
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(ModeOf(PathOf("state")), 0700u);
  ASSERT_OK_AND_ASSIGN(const std::string again, LoadOrMakeToken(path));
  EXPECT_EQ(again, token);
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(PathOf("state/vernier")), {}), 1);
}

TEST_F(AccessToken, IsOneForAllWhoMakeItAtOnce) {
  const std::string path = PathOf("token");
  std::vector<std::string> tokens(8);
  {
    std::vector<std::jthread> threads;
    for (std::string& token : tokens) {
      threads.emplace_back([&] { token = LoadOrMakeToken(path).value_or(""); });
    }
  }
  for (const std::string& token : tokens) EXPECT_EQ(token, tokens.front());
  EXPECT_EQ(tokens.front().size(), 64u);
}

TEST_F(AccessToken, ThatOthersCanReadIsRefused) {
  for (const mode_t mode : {0640, 0604, 0620, 0666}) {
    EXPECT_THAT(LoadOrMakeToken(Write(std::string(32, 'a'), mode)),
                StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("chmod 600")));
  }
}

TEST_F(AccessToken, MayBeWrittenByHand) {
  ASSERT_OK_AND_ASSIGN(const std::string token,
                       ReadToken(Write(std::string(32, 'a') + "\n", 0400)));
  EXPECT_EQ(token, std::string(32, 'a'));
  EXPECT_THAT(ReadToken(Write(std::string(4096, 'a'))), IsOk());
  for (const std::string& text : {std::string(),
                                  std::string(31, 'a'),
                                  std::string(4097, 'a'),
                                  std::string(32, 'a') + " b",
                                  std::string(31, 'a') + "\x01",
                                  std::string(31, 'a') + "\xc3\xa4"}) {
    EXPECT_THAT(ReadToken(Write(text)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")));
  }
}

TEST_F(AccessToken, IsNotReadFromAnythingButAFile) {
  const std::string path = PathOf("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(LoadOrMakeToken(path),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pipe")));
}

TEST_F(AccessToken, OfAFolderThatCannotBeMadeIsUnavailable) {
  std::ofstream(PathOf("file")) << "x";
  EXPECT_THAT(LoadOrMakeToken(PathOf("file/sub/token")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("file")));
}

TEST_F(AccessToken, FoldersKeepTheModeThatTheyHave) {
  fs::create_directory(PathOf("a"));
  ASSERT_EQ(chmod(PathOf("a").c_str(), 0755), 0);
  EXPECT_FALSE(MakePrivateFolders(PathOf("a/b/c/")));
  EXPECT_EQ(ModeOf(PathOf("a")), 0755u);
  EXPECT_EQ(ModeOf(PathOf("a/b")), 0700u);
  EXPECT_EQ(ModeOf(PathOf("a/b/c")), 0700u);
  EXPECT_THAT(ClaimPrivateFolder(PathOf("a")), IsOk());
  EXPECT_EQ(ModeOf(PathOf("a")), 0700u);
  fs::create_directory_symlink(PathOf("a"), PathOf("link"));
  EXPECT_THAT(
      ClaimPrivateFolder(PathOf("link")),
      StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("not a folder of this user")));
}

}  // namespace
}  // namespace vernier::base
