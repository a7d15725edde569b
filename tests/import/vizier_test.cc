#include <algorithm>

#include "src/import/message_reader.h"
#include "tests/import/fixture.h"

namespace vernier::imports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::vernier::testing::IsOk;

using VizierTest = ImportTest;

TEST_F(VizierTest, HasTheDefinitionWithItsConditions) {
  const auto study = ReadStudy(DataPath("vizier.db"), {});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->format, "vizier");
  EXPECT_EQ(study->spec.name, "digits");
  EXPECT_EQ(study->spec.algorithm.name, "random");
  EXPECT_EQ(study->spec.objectives,
            (std::vector<Objective>{{.metric = "accuracy", .goal = Goal::kMaximize}}));
  EXPECT_EQ(ParameterOf(*study, "lr"), R"({"float":[1e-05,0.1],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "layers"), R"({"int":[1,8],"scale":"linear"})");
  EXPECT_EQ(ParameterOf(*study, "batch"), R"({"discrete":[16.0,32.0,64.0]})");
  EXPECT_EQ(ParameterOf(*study, "optimizer"), R"({"categorical":["adam","sgd"]})");
  EXPECT_EQ(Definition(*study)["parameters"]["momentum"]["when"].dump(),
            R"({"optimizer":["sgd"]})");
}

TEST_F(VizierTest, HasTheTrialsAsVizierSaysThem) {
  const auto study = ReadStudy(DataPath("vizier.db"), {});
  ASSERT_THAT(study, IsOk());
  const auto said = Said("vizier.json")["trials"];
  ASSERT_EQ(study->trials.size(), said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    const TrialAddition& trial = study->trials[i];
    if (said[i]["metrics"].is_null()) {
      EXPECT_FALSE(trial.last.has_value());
    } else {
      EXPECT_EQ(trial.last->metrics.at("accuracy"), said[i]["metrics"]["accuracy"]);
      EXPECT_EQ(trial.last->metrics.at("loss"), said[i]["metrics"]["loss"]);
      EXPECT_EQ(trial.last->step, 3);
      EXPECT_EQ(trial.last->elapsed, absl::Seconds(3));
      EXPECT_EQ(trial.measurements.size(), 2U);
    }
    EXPECT_EQ(trial.point.size(), said[i]["parameters"].size());
    EXPECT_EQ(std::get<double>(trial.point.at("lr")), said[i]["parameters"]["lr"].get<double>());
  }
  EXPECT_EQ(study->trials[6].infeasible, "did not compile");
  EXPECT_THAT(study->notes, Contains(HasSubstr("1 trial that had not ended, REQUESTED")));
}

TEST(MessageReader, StopsWhereTheBytesAreNoMessage) {
  MessageReader reader(
      std::string_view("\x08\x05\x12\x7F"
                       "ab",
                       6));
  EXPECT_EQ(reader.Next()->whole(), 5);
  EXPECT_FALSE(reader.Next().has_value());
  EXPECT_TRUE(reader.is_damaged());
  MessageReader endless(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12));
  EXPECT_FALSE(endless.Next().has_value());
  EXPECT_TRUE(endless.is_damaged());
  MessageReader group(std::string_view("\x0B", 1));
  EXPECT_FALSE(group.Next().has_value());
  EXPECT_TRUE(group.is_damaged());
}

}  // namespace
}  // namespace vernier::imports
