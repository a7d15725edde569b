#include "src/jobs/package_path.h"

#include <filesystem>
#include <optional>

#include "gtest/gtest.h"

namespace vernier::jobs {
namespace {

namespace fs = std::filesystem;

TEST(PathOfPackage, IsThatOfWhatIsThereOrIsNamedLikeAFile) {
  const fs::path folder = fs::temp_directory_path();
  EXPECT_EQ(PathOfPackage("numpy", "/nowhere"), std::nullopt);
  EXPECT_EQ(PathOfPackage("https://host/a.whl", "/nowhere"), std::nullopt);
  EXPECT_EQ(PathOfPackage("./numpy", "/nowhere"), "/nowhere/numpy");
  EXPECT_EQ(PathOfPackage("trainer-1.tar.gz", "/nowhere"), "/nowhere/trainer-1.tar.gz");
  EXPECT_EQ(PathOfPackage("file:///a/b.whl", "/nowhere"), "/a/b.whl");
  EXPECT_EQ(PathOfPackage(folder.filename().string(), folder.parent_path().string()),
            folder.string());
}

}  // namespace
}  // namespace vernier::jobs
