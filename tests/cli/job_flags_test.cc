#include "src/cli/job_flags.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;
using Json = nlohmann::ordered_json;

TEST(JobFlags, NameTheKeyInFullOrInParts) {
  const auto key_of = [](const JobFlags& flags) {
    const auto job = ApplyJobFlags("census", Json::object(), flags);
    return job.ok() ? (*job)["trainingInput"]["encryptionConfig"]["kmsKeyName"].get<std::string>()
                    : std::string(job.status().message());
  };
  JobFlags flags;
  flags.kms_key = "projects/p/locations/l/keyRings/r/cryptoKeys/k";
  EXPECT_EQ(key_of(flags), flags.kms_key);
  flags.kms_key = "key";
  flags.kms_keyring = "ring";
  flags.kms_location = "here";
  EXPECT_THAT(key_of(flags), HasSubstr("--kms-key: must be a full name"));
  flags.project = "mine";
  EXPECT_EQ(key_of(flags), "projects/mine/locations/here/keyRings/ring/cryptoKeys/key");
  flags.kms_project = "other";
  EXPECT_EQ(key_of(flags), "projects/other/locations/here/keyRings/ring/cryptoKeys/key");
}

TEST(JobFlags, RefusePartsOfNoKey) {
  JobFlags flags;
  flags.kms_keyring = "ring";
  EXPECT_THAT(ApplyJobFlags("census", Json::object(), flags),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--kms-keyring: 'ring' needs --kms-key")));
}

TEST(JobFlags, WithoutAKeyEncryptionIsNotMentioned) {
  JobFlags flags;
  flags.project = "mine";
  const auto job = ApplyJobFlags("census", Json::object(), flags);
  ASSERT_TRUE(job.ok());
  EXPECT_FALSE((*job)["trainingInput"].contains("encryptionConfig"));
}

}  // namespace
}  // namespace vernier::cli
