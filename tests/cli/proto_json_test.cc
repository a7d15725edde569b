#include "src/cli/terminal/proto_json.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "src/wire/enum_proto.h"
#include "vernier/v1/study.pb.h"
#include "vernier/v1/trial.pb.h"

namespace vernier::cli {
namespace {

TEST(ProtoToJson, ShowsSixtyFourBitIntegersAsNumbers) {
  v1::Trial trial;
  trial.set_number(9007199254740993);
  trial.mutable_suggestion()->set_stream(std::numeric_limits<std::uint64_t>::max());
  const auto json = ProtoToJson(trial);
  EXPECT_EQ(json["number"].dump(), "9007199254740993");
  EXPECT_EQ(json["suggestion"]["stream"].dump(), "18446744073709551615");
}

TEST(ProtoToJson, ShowsParameterValuesPlainly) {
  v1::Trial trial;
  auto& parameters = *trial.mutable_parameters();
  parameters["lr"].set_number(0.25);
  parameters["width"].set_integer(64);
  parameters["augment"].set_boolean(false);
  parameters["optimizer"].set_text("sgd");
  EXPECT_EQ(ProtoToJson(trial)["parameters"].dump(),
            R"({"augment":false,"lr":0.25,"optimizer":"sgd","width":64})");
}

TEST(ProtoToJson, ShowsTimesAndDurations) {
  v1::Measurement measurement;
  measurement.mutable_time()->set_seconds(1);
  measurement.mutable_time()->set_nanos(250000000);
  measurement.mutable_elapsed()->set_seconds(90);
  const auto json = ProtoToJson(measurement);
  EXPECT_EQ(json["time"], "1970-01-01T00:00:01.25Z");
  EXPECT_EQ(json["elapsed"], "90s");
}

TEST(ProtoToJson, NamesWhatJsonHasNoNumberFor) {
  v1::Measurement measurement;
  (*measurement.mutable_metrics())["a"] = std::nan("");
  (*measurement.mutable_metrics())["b"] = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(ProtoToJson(measurement)["metrics"].dump(), R"({"a":"NaN","b":"-Infinity"})");
}

TEST(ProtoToJson, LeavesOutWhatIsNotSetAndKeepsPlainDefaults) {
  v1::Study study;
  study.set_state(v1::STUDY_ACTIVE);
  const auto json = ProtoToJson(study);
  EXPECT_EQ(json["state"], "ACTIVE");
  EXPECT_EQ(json["best_trial"], 0);
  EXPECT_FALSE(json.contains("spec"));
  EXPECT_FALSE(ProtoToJson(v1::Trial()).contains("failure"));
  EXPECT_FALSE(ProtoToJson(v1::Budget()).contains("trials"));
}

TEST(ProtoToJson, SpellsStatesAndFailuresAsTablesDo) {
  v1::Study study;
  study.set_state(v1::STUDY_COMPLETED);
  EXPECT_EQ(ProtoToJson(study)["state"], "COMPLETED");
  v1::Attempt attempt;
  attempt.set_state(v1::ATTEMPT_SUCCEEDED);
  attempt.set_failure(v1::INFEASIBLE_POINT);
  EXPECT_EQ(ProtoToJson(attempt)["state"], "SUCCEEDED");
  EXPECT_EQ(ProtoToJson(attempt)["failure"], "INFEASIBLE");
  // Every name of these enumerations is the word that core has for it.
  for (int i = 0; i <= static_cast<int>(StudyState::kFailed); ++i) {
    study.set_state(wire::Encode(static_cast<StudyState>(i)));
    EXPECT_EQ(ProtoToJson(study)["state"], StudyStateName(static_cast<StudyState>(i)));
  }
  for (int i = 0; i <= static_cast<int>(AttemptState::kLost); ++i) {
    attempt.set_state(wire::Encode(static_cast<AttemptState>(i)));
    EXPECT_EQ(ProtoToJson(attempt)["state"], AttemptStateName(static_cast<AttemptState>(i)));
  }
  for (int i = 1; i <= static_cast<int>(FailureClass::kDiverged); ++i) {
    attempt.set_failure(wire::Encode(static_cast<FailureClass>(i)));
    EXPECT_EQ(ProtoToJson(attempt)["failure"], FailureClassName(static_cast<FailureClass>(i)));
  }
}

}  // namespace
}  // namespace vernier::cli
