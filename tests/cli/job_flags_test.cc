#include "src/cli/job_flags.h"

#include <string>
#include <utility>

#include "CLI/CLI.hpp"
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

TEST(JobFlags, LeaveWhatTheFileSaysWhereTheyAreNotGiven) {
  const auto chief_by = [](const std::string& words) {
    CLI::App command;
    JobFlags flags;
    AddJobFlags(command, flags);
    command.parse(words);
    const auto job = ApplyJobFlags(
        "census", Json::parse(R"({"trainingInput": {"useChiefInTfConfig": true}})"), flags);
    EXPECT_TRUE(job.ok());
    return (*job)["trainingInput"]["useChiefInTfConfig"].get<bool>();
  };
  EXPECT_TRUE(chief_by(""));
  EXPECT_TRUE(chief_by("--use-chief-in-tf-config"));
  EXPECT_TRUE(chief_by("--use-chief-in-tf-config=true"));
  EXPECT_FALSE(chief_by("--use-chief-in-tf-config=false"));
}

TEST(JobFlags, AddRestartsToThoseOfTheFile) {
  JobFlags flags;
  flags.restarts = "job=0,reading=lenient";
  const auto job =
      ApplyJobFlags("census", Json::parse(R"({"restarts": {"replica": 2, "job": 7}})"), flags);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ((*job)["restarts"], Json::parse(R"({"replica": 2, "job": 0, "reading": "lenient"})"));
  flags.restarts = "7";
  EXPECT_THAT(
      ApplyJobFlags("census", Json::object(), flags),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--restarts: must be KEY=VALUE")));
}

TEST(JobFlags, RefuseToAddToWhatIsNoMapping) {
  JobFlags flags;
  flags.labels = {"team=vision"};
  flags.restarts = "job=0";
  flags.worker.image_uri = "image";
  for (const auto& [text, key] :
       {std::pair(R"({"labels": 5})", "labels"),
        std::pair(R"({"restarts": [1]})", "restarts"),
        std::pair(R"({"trainingInput": "x"})", "trainingInput"),
        std::pair(R"({"trainingInput": {"workerConfig": "x"}})", "trainingInput.workerConfig")}) {
    EXPECT_THAT(ApplyJobFlags("census", Json::parse(text), flags),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string("--config: ") + key + " must be a mapping")));
  }
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
