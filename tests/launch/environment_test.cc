#include "src/launch/environment.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::launch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(OwnEnvironment, HasWhatIsNamed) {
  setenv("VERNIER_TEST_A", "1=2", 1);
  setenv("VERNIER_TEST_AB", "", 1);
  EXPECT_THAT(OwnEnvironment({"VERNIER_TEST_A"}), ElementsAre("VERNIER_TEST_A=1=2"));
  EXPECT_THAT(OwnEnvironment({"VERNIER_TEST_A*"}),
              ::testing::UnorderedElementsAre("VERNIER_TEST_A=1=2", "VERNIER_TEST_AB="));
  EXPECT_THAT(OwnEnvironment({"VERNIER_TEST"}), IsEmpty());
  EXPECT_THAT(OwnEnvironment({}), IsEmpty());
  EXPECT_THAT(OwnEnvironment({"*"}), Contains("VERNIER_TEST_AB="));
  EXPECT_THAT(OwnEnvironment(UsualVariables()), Not(Contains("VERNIER_TEST_AB=")));
  EXPECT_THAT(OwnEnvironment(UsualVariables()), Contains(::testing::StartsWith("PATH=")));
}

TEST(UsualVariables, AreNoSecrets) {
  for (const char* secret : {"AWS_SECRET_ACCESS_KEY",
                             "HF_TOKEN",
                             "WANDB_API_KEY",
                             "VERNIER_TOKEN",
                             "UV_PUBLISH_TOKEN",
                             "APPTAINER_DOCKER_PASSWORD",
                             "SINGULARITY_DOCKER_PASSWORD"}) {
    setenv(secret, "hidden", 1);
  }
  for (const std::string& variable : OwnEnvironment(UsualVariables())) {
    EXPECT_THAT(variable, Not(::testing::EndsWith("=hidden")));
  }
}

}  // namespace
}  // namespace vernier::launch
