#include <algorithm>
#include <filesystem>

#include "tests/import/fixture.h"

namespace vernier::imports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

using RayTest = ImportTest;

TEST_F(RayTest, AsksWhichWayIsBetter) {
  EXPECT_THAT(
      ReadStudy(DataPath("ray"), {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("objective: the folder does not say which way 'accuracy' is better; give "
                         "--objective maximize:accuracy or minimize:accuracy")));
}

TEST_F(RayTest, HasTheTrialsAsRaySaysThem) {
  const auto study = ReadStudy(DataPath("ray"), {.objectives = {"maximize:accuracy"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->format, "ray");
  EXPECT_EQ(study->spec.name, "ray");
  const auto said = Said("ray.json")["trials"];
  ASSERT_EQ(study->trials.size(), said.size());
  std::size_t failed = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const TrialAddition& trial = study->trials[i];
    EXPECT_EQ(std::get<double>(trial.point.at("lr")), said[i]["config"]["lr"].get<double>());
    EXPECT_EQ(std::get<std::int64_t>(trial.point.at("width")), said[i]["config"]["width"]);
    EXPECT_EQ(trial.failed.has_value(), said[i]["failed"].get<bool>());
    if (trial.failed.has_value()) {
      ++failed;
      EXPECT_EQ(trial.failed->message, "RuntimeError: no memory left");
      continue;
    }
    EXPECT_EQ(trial.last->metrics.at("accuracy"), said[i]["metrics"]["accuracy"]);
    EXPECT_EQ(trial.last->metrics.at("loss"), said[i]["metrics"]["loss"]);
    EXPECT_EQ(trial.last->metrics.size(), 2U);  // None of those that Ray adds.
    ASSERT_EQ(trial.measurements.size(), 3U);
    EXPECT_EQ(trial.measurements[2].step, 3);
  }
  EXPECT_GT(failed, 0U);
}

TEST_F(RayTest, DerivesTheSpaceFromTheTrialsAndSaysSo) {
  const auto study = ReadStudy(DataPath("ray"), {.objectives = {"maximize:accuracy"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_THAT(ParameterOf(*study, "lr"), HasSubstr("\"scale\":\"log\""));
  EXPECT_THAT(study->notes, Contains(HasSubstr("lr: {\"float\":[")));
  EXPECT_THAT(study->notes,
              Contains(HasSubstr("epochs: is 3 in every trial, so it is no parameter")));
  EXPECT_TRUE(study->spec.space.Find("model/dropout").has_value());
  EXPECT_THAT(study->notes,
              Contains(HasSubstr("stored as pickled Python only, which is not read")));
}

TEST_F(RayTest, TakesTheSpaceFromAStudyFile) {
  const std::string space =
      Write("space.yaml",
            "study: mine\nobjective: {maximize: accuracy}\nparameters:\n"
            "  lr: {float: [1e-5, 0.1], scale: log}\n  width: {int: [16, 128]}\n");
  const auto study = ReadStudy(DataPath("ray"), {.space = space});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(ParameterOf(*study, "width"), R"({"int":[16,128],"scale":"linear"})");
  EXPECT_LT(study->trials.size(), 8U);
  EXPECT_THAT(study->notes,
              Contains(HasSubstr("left out, as the point does not fit the space: trial ")));
  EXPECT_THAT(study->notes, Contains(HasSubstr("width: must be at most 128")));
}

TEST_F(RayTest, RefusesOtherFolders) {
  EXPECT_THAT(ReadStudy(folder_.string(), {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("has no experiment_state-*.json")));
  Write("experiment_state-1.json", "{}");
  EXPECT_THAT(ReadStudy(folder_.string(), {.objectives = {"maximize:a"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("trial_data: the experiment has no trials")));
  Write("experiment_state-1.json", R"({"trial_data": [["{}", 7]]})");
  EXPECT_THAT(ReadStudy(folder_.string(), {.objectives = {"maximize:a"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("trial_data: must be pairs of texts")));
}

// A path in the file leads nowhere but into the folder.
TEST_F(RayTest, ReadsNothingOutsideOfTheFolder) {
  std::filesystem::create_directory(folder_ / "inside");
  std::filesystem::create_directory(folder_ / "secret");
  Write("secret/error.txt", "password\n");
  Write("inside/experiment_state-1.json",
        R"({"trial_data": [["{\"trial_id\": \"a\", \"status\": \"ERROR\", \"config\": {\"x\": 1},)"
        R"( \"relative_logdir\": \"../secret\"}", "{}"],)"
        R"(["{\"trial_id\": \"b\", \"status\": \"ERROR\", \"config\": {\"x\": 2},)"
        R"( \"relative_logdir\": \"..\"}", "{}"]]})");
  const auto study = ReadStudy((folder_ / "inside").string(), {.objectives = {"maximize:a"}});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->trials[0].failed->message, "failed elsewhere");
}

}  // namespace
}  // namespace vernier::imports
