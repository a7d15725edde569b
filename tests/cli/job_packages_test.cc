#include "src/cli/job_packages.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A package `trainer`, with a setup.py beside it if told to, made in another order and with other times and rights the
// second time.
class JobPackagesTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::Create();
    ASSERT_THAT(folder.status(), IsOk());
    folder_.emplace(*std::move(folder));
  }
  std::string MakeSources(const std::string& name, bool is_second) {
    const fs::path root = fs::path(folder_->path()) / name;
    fs::create_directories(root / "trainer");
    for (const char* file : is_second ? kFiles : kFilesBackwards) {
      std::ofstream(root / "trainer" / file) << "# " << file << "\n";
    }
    if (GetParam()) {
      std::ofstream(root / "setup.py") << "from setuptools import find_packages, setup\n"
                                          "setup(name='trainer', version='0.1', "
                                          "packages=find_packages())\n";
    }
    if (is_second) {
      const fs::path task = root / "trainer" / "task.py";
      fs::last_write_time(task, fs::last_write_time(task) - std::chrono::hours(50));
      fs::permissions(task, fs::perms::group_write, fs::perm_options::add);
    }
    return (root / "trainer").string();
  }
  absl::StatusOr<std::string> Build(const std::string& package, const std::string& name) {
    const std::string out = folder_->path() + "/" + name;
    fs::create_directories(out);
    return BuildPackage(package, out);
  }

  static constexpr const char* kFiles[] = {"__init__.py", "model.py", "task.py"};
  static constexpr const char* kFilesBackwards[] = {"task.py", "model.py", "__init__.py"};
  std::optional<base::TemporaryFolder> folder_;
};

TEST_P(JobPackagesTest, EqualSourcesGiveEqualBytes) {
  const auto first = Build(MakeSources("a", false), "first");
  const auto second = Build(MakeSources("b", true), "second");
  ASSERT_THAT(first.status(), IsOk());
  ASSERT_THAT(second.status(), IsOk());
  EXPECT_EQ(fs::path(*first).filename(), fs::path(*second).filename());
  EXPECT_GT(Contents(*first).size(), 100U);
  EXPECT_TRUE(Contents(*first) == Contents(*second));
  std::ofstream(fs::path(folder_->path()) / "b" / "trainer" / "task.py") << "# other\n";
  const auto third = Build((fs::path(folder_->path()) / "b" / "trainer").string(), "third");
  ASSERT_THAT(third.status(), IsOk());
  EXPECT_FALSE(Contents(*first) == Contents(*third));
}

TEST_P(JobPackagesTest, RefusesWhatIsNoPackage) {
  EXPECT_THAT(Build(folder_->path() + "/none", "out").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("is no folder")));
  EXPECT_THAT(Build(folder_->path(), "out").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it has no __init__.py")));
}

INSTANTIATE_TEST_SUITE_P(Setup, JobPackagesTest, ::testing::Bool(), [](const auto& row) {
  return row.param ? "Its" : "Made";
});

}  // namespace
}  // namespace vernier::cli
