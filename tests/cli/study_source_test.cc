#include "src/cli/study_source.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using vernier::testing::IsOk;

class LoadStudyTest : public ::testing::Test {
 protected:
  std::vector<std::string> PackagesOf(const std::string& job) const {
    const std::string file = folder_.path() + "/study.yaml";
    std::ofstream(file) << "{study: s, job: {" << job << "}}";
    const auto spec = LoadStudy(file);
    EXPECT_THAT(spec, IsOk());
    return spec.ok() ? spec->job->python->packages : std::vector<std::string>();
  }

  base::TemporaryFolder folder_ = base::TemporaryFolder::Create().value();
};

// Whatever the working directory: what is written in a file is meant from there.
TEST_F(LoadStudyTest, PackagesAreThoseBesideTheFile) {
  fs::create_directory(folder_.path() + "/pkg");
  std::ofstream(folder_.path() + "/trainer-1.tar.gz") << "x";
  const std::string python =
      "python: {module: trainer.task, packages: [pkg, trainer-1.tar.gz, ./dist/a.whl, /abs/b.whl, "
      "gone-2.zip, numpy, 'https://host/c.whl']}";
  for (const char* where : {"", ", working_dir: empty", ", code: ."}) {
    EXPECT_THAT(PackagesOf(python + where),
                ElementsAre(folder_.path() + "/pkg",
                            folder_.path() + "/trainer-1.tar.gz",
                            folder_.path() + "/dist/a.whl",
                            "/abs/b.whl",
                            folder_.path() + "/gone-2.zip",
                            "numpy",
                            "https://host/c.whl"))
        << where;
  }
}

}  // namespace
}  // namespace vernier::cli
