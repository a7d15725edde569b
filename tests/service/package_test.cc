#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/app/paths.h"
#include "src/wire/status_proto.h"
#include "tests/service/server_fixture.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

using ::testing::EndsWith;
using testing::IsOk;
using ::testing::StartsWith;
using testing::StatusIs;

class PackageTest : public ServerTest {
 protected:
  ~PackageTest() override { std::filesystem::remove_all(app::DefaultRunsDirectory(":memory:")); }

  absl::Status Upload(const std::string& name, const std::vector<std::string>& pieces) {
    grpc::ClientContext context;
    const auto writer = stub_->UploadPackage(&context, &uploaded_);
    v1::UploadPackageRequest request;
    request.set_file_name(name);
    for (const std::string& piece : pieces) {
      request.set_data(piece);
      if (!writer->Write(request)) break;
      request.clear_file_name();
    }
    writer->WritesDone();
    return wire::DecodeStatus(writer->Finish());
  }

  std::string Kept() const {
    std::ifstream file(uploaded_.uri().substr(std::string("file://").size()), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  v1::UploadedPackage uploaded_;
};

TEST_F(PackageTest, IsKeptUnderItsHash) {
  ASSERT_THAT(Upload("trainer-1.0.tar.gz", {"some ", std::string("by\0tes", 6)}), IsOk());
  EXPECT_THAT(uploaded_.uri(), StartsWith("file:///"));
  EXPECT_THAT(uploaded_.uri(), EndsWith("/trainer-1.0.tar.gz"));
  EXPECT_EQ(uploaded_.size(), 11);
  EXPECT_EQ(Kept(), std::string("some by\0tes", 11));
  const std::string first = uploaded_.uri();
  ASSERT_THAT(Upload("trainer-1.0.tar.gz", {"some ", std::string("by\0tes", 6)}), IsOk());
  EXPECT_EQ(uploaded_.uri(), first);
  ASSERT_THAT(Upload("trainer-1.0.tar.gz", {"other"}), IsOk());
  EXPECT_NE(uploaded_.uri(), first);
}

TEST_F(PackageTest, NeedsAPlainFileName) {
  for (const std::string name : {"", "../x", "a/b", ".hidden", "-e", "/etc/passwd"}) {
    const absl::Status status = Upload(name, {"x"});
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << name;
    EXPECT_EQ(GetField(status), "file_name") << name;
  }
  EXPECT_THAT(Upload("never-sent", {}), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace vernier::service
