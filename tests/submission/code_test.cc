#include "src/submission/code.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/temporary_folder.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::submission {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using vernier::testing::IsOk;
using vernier::testing::StatusIs;

class PackCodeTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text = "x") const {
    fs::create_directories(fs::path(Folder(path)).parent_path());
    std::ofstream(Folder(path)) << text;
  }
  std::string Folder(const std::string& path = "") const { return root_.path() + "/code/" + path; }
  std::string Into(const std::string& name = "into") const {
    fs::create_directories(root_.path() + "/" + name);
    return root_.path() + "/" + name;
  }
  // The names in an archive, sorted, each on a line.
  std::string NamesIn(const std::string& archive) const {
    const std::string list = root_.path() + "/list";
    const std::string command = fmt::format("tar -tzf {} | LC_ALL=C sort > {}", archive, list);
    EXPECT_EQ(std::system(command.c_str()), 0);
    return Slurp(list);
  }
  static std::string Slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  const base::TemporaryFolder root_ = base::TemporaryFolder::Create().value();
};

TEST_F(PackCodeTest, TakesFilesAndFoldersButWhatIsNeverCode) {
  Write("train.py");
  Write("pkg/model.py");
  Write(".git/HEAD");
  Write("pkg/__pycache__/model.cpython-311.pyc");
  Write("vernier.db");
  Write("vernier.db-wal");
  Write("vernier.db.runs/study/trial-1/attempt-1/gang.json");
  fs::create_directories(Folder("out"));
  fs::create_symlink("train.py", Folder("link.py"));
  ASSERT_OK_AND_ASSIGN(const PackedCode packed, PackCode(Folder(), Into()));
  EXPECT_EQ(packed.files, 2);
  EXPECT_EQ(packed.bytes, 2);
  EXPECT_EQ(NamesIn(packed.archive), "./link.py\n./out/\n./pkg/\n./pkg/model.py\n./train.py\n");
}

TEST_F(PackCodeTest, LeavesOutWhatTheIgnoreFileSays) {
  Write("train.py");
  Write("data/a.bin");
  Write("logs/a.txt");
  Write(".gitignore", "data/\n");
  ASSERT_OK_AND_ASSIGN(const PackedCode by_git, PackCode(Folder(), Into()));
  EXPECT_EQ(NamesIn(by_git.archive), "./.gitignore\n./logs/\n./logs/a.txt\n./train.py\n");
  ASSERT_EQ(mkfifo((Folder() + "/.vernierignore").c_str(), 0600), 0);
  EXPECT_THAT(PackCode(Folder(), Into()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("/.vernierignore' is a pipe, not a regular file")));
  fs::remove(Folder() + "/.vernierignore");
  Write(".vernierignore", "logs\n.*ignore\n");
  ASSERT_OK_AND_ASSIGN(const PackedCode by_ours, PackCode(Folder(), Into()));
  EXPECT_EQ(NamesIn(by_ours.archive), "./data/\n./data/a.bin\n./train.py\n");
}

TEST_F(PackCodeTest, GivesEqualBytesForEqualFiles) {
  Write("train.py");
  ASSERT_OK_AND_ASSIGN(const PackedCode first, PackCode(Folder(), Into("first")));
  fs::last_write_time(Folder("train.py"), fs::file_time_type::clock::now() - std::chrono::hours(9));
  ASSERT_OK_AND_ASSIGN(const PackedCode second, PackCode(Folder(), Into("second")));
  EXPECT_EQ(Slurp(first.archive), Slurp(second.archive));
  Write("train.py", "y");
  ASSERT_OK_AND_ASSIGN(const PackedCode third, PackCode(Folder(), Into("third")));
  EXPECT_NE(Slurp(first.archive), Slurp(third.archive));
}

TEST_F(PackCodeTest, RefusesWhatIsTooLargeNamingTheLargest) {
  Write("train.py");
  Write("data/a.bin", std::string(3000, 'x'));
  EXPECT_THAT(
      PackCode(Folder(), Into(), 1024),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("job.code: '"),
                     HasSubstr("at most 1.0 KiB are taken"),
                     HasSubstr(".vernierignore; largest: data (2.9 KiB), train.py (1 B)"))));
}

TEST_F(PackCodeTest, SendsTheArchiveAndForgetsTheFolder) {
  Write("train.py", "print(1)");
  StudySpec spec;
  std::string sent;
  const Upload upload = [&](const std::string& path) -> absl::StatusOr<std::string> {
    sent = NamesIn(path);
    return "vernier://packages/1/code.tar.gz";
  };
  ASSERT_OK_AND_ASSIGN(const std::string nothing, SendCode(upload, spec));
  EXPECT_EQ(nothing + sent, "");
  spec.job = TrainingJob{};
  spec.job->code = CodeSnapshot{.archive = {}, .sha256 = {}, .folder = Folder()};
  ASSERT_OK_AND_ASSIGN(const std::string said, SendCode(upload, spec));
  EXPECT_THAT(said, HasSubstr("code: 1 file, 8 B of "));
  EXPECT_THAT(sent, HasSubstr("train.py"));
  EXPECT_EQ(spec.job->code->archive, "vernier://packages/1/code.tar.gz");
  EXPECT_EQ(spec.job->code->folder, "");
}

TEST_F(PackCodeTest, RefusesWhatIsNoFolderOrHasNothing) {
  EXPECT_THAT(PackCode(Folder("none"), Into()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no folder")));
  fs::create_directories(Folder("empty"));
  EXPECT_THAT(PackCode(Folder("empty"), Into()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has no files")));
}

}  // namespace
}  // namespace vernier::submission
