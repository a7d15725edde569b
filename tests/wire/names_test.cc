#include "src/wire/names.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

TEST(Names, ReadBackAsWritten) {
  ASSERT_OK_AND_ASSIGN(const std::string study, ParseStudyName("name", StudyResource("digits-2")));
  EXPECT_EQ(study, "digits-2");
  ASSERT_OK_AND_ASSIGN(const TrialName trial,
                       ParseTrialName("name", TrialResource("digits", TrialNumber(42))));
  EXPECT_EQ(trial, (TrialName{.study = "digits", .number = TrialNumber(42)}));
  ASSERT_OK_AND_ASSIGN(const TrialName of_trials,
                       ParseTrialName("name", TrialResource("trials", TrialNumber(2))));
  EXPECT_EQ(of_trials, (TrialName{.study = "trials", .number = TrialNumber(2)}));
}

TEST(Names, OfNodesAreThoseOfHosts) {
  ASSERT_OK_AND_ASSIGN(const std::string node, ParseNodeName("name", NodeResource("gpu-1.lan")));
  EXPECT_EQ(node, "gpu-1.lan");
  for (const std::string bad : {"", "gpu-1", "nodes/", "nodes/a/b"}) {
    const auto refused = ParseNodeName("name", bad);
    ASSERT_THAT(refused, testing::StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
    EXPECT_EQ(GetField(refused.status()), "name");
  }
}

TEST(Names, OfStudiesAreRefusedWithTheFieldAndTheValue) {
  const std::vector<std::string> bad = {"",
                                        "digits",
                                        "studies/",
                                        "studies/1digits",
                                        "studies/a b",
                                        "studies/a/trials/1",
                                        "Studies/a",
                                        "studies/" + std::string(129, 'a')};
  for (const std::string& name : bad) {
    const auto study = ParseStudyName("parent", name);
    ASSERT_THAT(study, testing::StatusIs(absl::StatusCode::kInvalidArgument)) << name;
    EXPECT_EQ(GetField(study.status()), "parent");
    EXPECT_THAT(std::string(study.status().message()), ::testing::HasSubstr("studies/STUDY"));
  }
}

TEST(Names, OfTrialsHaveOneFormOnly) {
  const std::vector<std::string> bad = {"studies/a",
                                        "studies/a/trials/",
                                        "studies/a/trials/0",
                                        "studies/a/trials/-1",
                                        "studies/a/trials/+1",
                                        "studies/a/trials/01",
                                        "studies/a/trials/1x",
                                        "studies/a/trials/1/trials/2",
                                        "studies/a/trials/99999999999999999999",
                                        "studies//trials/1"};
  for (const std::string& name : bad) {
    const auto trial = ParseTrialName("name", name);
    ASSERT_THAT(trial, testing::StatusIs(absl::StatusCode::kInvalidArgument)) << name;
    EXPECT_THAT(std::string(trial.status().message()),
                ::testing::HasSubstr("must be studies/STUDY/trials/NUMBER, got '" + name + "'"));
  }
}

}  // namespace
}  // namespace vernier::wire
