#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/import/fixture.h"

namespace vernier::imports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

// The database and the journal hold the same studies, apart from times.
class OptunaTest : public ImportTest, public ::testing::WithParamInterface<std::string> {
 protected:
  static absl::StatusOr<ImportedStudy> Read(const std::string& study) {
    return ReadStudy(DataPath(GetParam()), {.study = study});
  }
  static const TrialAddition* Find(const ImportedStudy& study, std::int64_t number) {
    const auto at = std::ranges::find_if(study.trials, [&](const TrialAddition& trial) {
      return trial.metadata.at({.space = kOriginSpace, .name = "number"}).content ==
             std::to_string(number);
    });
    return at == study.trials.end() ? nullptr : &*at;
  }
  static std::string StateOf(const TrialAddition& trial) {
    if (trial.failed.has_value()) return "FAIL";
    if (trial.stopped.has_value()) return "PRUNED";
    return trial.last.has_value() ? "COMPLETE" : "WAITING";
  }
};

TEST_P(OptunaTest, HasTheSpaceOfTheProgram) {
  const auto study = Read("digits");
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->format, "optuna");
  EXPECT_EQ(study->spec.name, "digits");
  EXPECT_EQ(study->spec.objectives,
            (std::vector<Objective>{{.metric = "value", .goal = Goal::kMaximize}}));
  EXPECT_EQ(ParameterOf(*study, "lr"), R"({"float":[1e-05,0.1],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "width"), R"({"int":[16,256],"scale":"log"})");
  EXPECT_EQ(ParameterOf(*study, "layers"), R"({"int":[1,7],"scale":"linear","step":2})");
  EXPECT_EQ(ParameterOf(*study, "dropout"), R"({"float":[0.0,0.5],"scale":"linear","step":0.1})");
  EXPECT_EQ(ParameterOf(*study, "optimizer"), R"({"categorical":["sgd","adam","None"]})");
  EXPECT_EQ(ParameterOf(*study, "batch"), R"({"categorical":[16,32,64]})");
  // Optuna stores no conditions.
  EXPECT_EQ(Definition(*study)["parameters"]["momentum"]["when"].dump(),
            R"({"optimizer":["sgd"]})");
}

TEST_P(OptunaTest, HasTheTrialsAsOptunaSaysThem) {
  const auto study = Read("digits");
  ASSERT_THAT(study, IsOk());
  std::size_t found = 0;
  const auto all = Said("optuna.json")[GetParam()]["digits"]["trials"];
  for (const auto& said : all) {
    const TrialAddition* const trial = Find(*study, said["number"]);
    // A trial that was told to stop at its first report, or that only waits for a part of its point, lacks parameters.
    if (trial == nullptr) {
      EXPECT_NE(said["state"], "COMPLETE");
      continue;
    }
    ++found;
    const bool is_open = said["state"] == "RUNNING" || said["state"] == "WAITING";
    EXPECT_EQ(StateOf(*trial), is_open ? "WAITING" : said["state"]);
    if (said["state"] == "COMPLETE" || said["state"] == "PRUNED") {
      ASSERT_TRUE(trial->last.has_value());
      EXPECT_EQ(trial->last->metrics.at("value"), said["values"][0]);
      EXPECT_EQ(trial->measurements.size(), said["curve"].size());
    }
    if (is_open) continue;
    for (const auto& [name, value] : said["params"].items()) {
      const std::string text =
          value.is_null() ? "None"
          : value.is_string()
              ? value.get<std::string>()
              : FormatValue(value.is_number_integer() ? ParameterValue(value.get<std::int64_t>())
                                                      : ParameterValue(value.get<double>()));
      EXPECT_EQ(FormatValue(trial->point.at(name)), text) << name;
    }
    EXPECT_EQ(trial->point.size(), said["params"].size());
  }
  EXPECT_EQ(found, study->trials.size());
  EXPECT_EQ(study->trials.size(), 13U);  // 12 that ran, 1 that waits and whose point is whole.
  EXPECT_THAT(study->notes, Contains(HasSubstr("2 trials left out")));
}

TEST_P(OptunaTest, CarriesAttributesAndTimes) {
  const auto study = Read("digits");
  ASSERT_THAT(study, IsOk());
  const Metadata& metadata = Find(*study, 0)->metadata;
  EXPECT_EQ(metadata.at({.space = kAttributesSpace, .name = "host"}).content, "\"node-1\"");
  EXPECT_THAT(metadata.at({.space = kOriginSpace, .name = "start"}).content, HasSubstr("20"));
  EXPECT_THAT(study->notes, Contains(HasSubstr("user attributes of the study are left out: team")));
}

TEST_P(OptunaTest, HasSeveralObjectives) {
  const auto study = Read("front");
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(study->spec.objectives,
            (std::vector<Objective>{{.metric = "gain", .goal = Goal::kMaximize},
                                    {.metric = "cost", .goal = Goal::kMinimize}}));
  const auto all = Said("optuna.json")[GetParam()]["front"]["trials"];
  ASSERT_EQ(all.size(), study->trials.size());
  for (const auto& said : all) {
    const TrialAddition* const trial = Find(*study, said["number"]);
    ASSERT_NE(trial, nullptr);
    EXPECT_EQ(trial->last->metrics.at("gain"), said["values"][0]);
    EXPECT_EQ(trial->last->metrics.at("cost"), said["values"][1]);
  }
}

TEST_P(OptunaTest, AsksWhichOfSeveralStudies) {
  EXPECT_THAT(
      Read(""),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("study: the file holds 2 studies, of which --study NAME picks one: "
                         "digits, front")));
  EXPECT_THAT(Read("digit"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("the file holds no study 'digit'; did you mean 'digits'?")));
}

INSTANTIATE_TEST_SUITE_P(Files,
                         OptunaTest,
                         ::testing::Values("optuna.db", "optuna.log"),
                         [](const auto& row) { return row.index == 0 ? "Database" : "Journal"; });

using OptunaFileTest = ImportTest;

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Every prefix ends in a study or in a sentence.
TEST_F(OptunaFileTest, ADamagedDatabaseIsRefused) {
  const std::string whole = Slurp(DataPath("optuna.db"));
  for (const double share : {0.02, 0.1, 0.3, 0.6, 0.9}) {
    const auto size = static_cast<std::size_t>(static_cast<double>(whole.size()) * share);
    const auto study = ReadStudy(Write("cut.db", whole.substr(0, size)), {.study = "digits"});
    EXPECT_FALSE(study.ok()) << share;
    EXPECT_THAT(std::string(study.status().message()), HasSubstr("cut.db"));
  }
  std::string overwritten = whole;
  for (std::size_t at = 8192; at < overwritten.size(); at += 97) overwritten[at] = '\xA5';
  EXPECT_FALSE(ReadStudy(Write("bits.db", overwritten), {.study = "digits"}).ok());
}

// As of a program that was killed while it wrote.
TEST_F(OptunaFileTest, AnUnfinishedLastLineOfAJournalIsLeftOut) {
  const std::string whole = Slurp(DataPath("optuna.log"));
  const auto cut =
      ReadStudy(Write("cut.log", whole.substr(0, whole.size() - 20)), {.study = "front"});
  ASSERT_THAT(cut, IsOk());
  EXPECT_THAT(cut->notes,
              Contains("journal: its last line is incomplete, and left out: a program was writing "
                       "it, or was ended"));
  // A whole line that only lacks its end counts.
  const auto study =
      ReadStudy(Write("end.log", whole.substr(0, whole.size() - 1)), {.study = "front"});
  ASSERT_THAT(study, IsOk());
  EXPECT_THAT(study->notes, Not(Contains(HasSubstr("incomplete"))));
}

TEST_F(OptunaFileTest, ADamagedJournalIsRefusedWithTheLine) {
  const std::string whole = Slurp(DataPath("optuna.log"));
  const std::size_t end = whole.find('\n', 900);
  EXPECT_THAT(
      ReadStudy(Write("cut.log", whole.substr(0, 800) + whole.substr(end)), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut.log: line 5: is not JSON")));
  EXPECT_THAT(
      ReadStudy(Write("op.log", R"({"op_code":77})"), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1: unknown op_code 77")));
  EXPECT_THAT(
      ReadStudy(Write("id.log", R"({"op_code":5,"trial_id":3})"), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1: trial_id names no trial")));
  EXPECT_THAT(
      ReadStudy(Write("long.log", R"({"op_code":0,"x":")" + std::string(20 << 20, 'x')), {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("line 1: must have at most 16777216 bytes")));
  EXPECT_THAT(
      ReadStudy(Write("deep.log", R"({"op_code":0,"x":)" + std::string(100'000, '[')), {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nested deeper than 64 levels")));
}

// A journal as Optuna writes it, in short.
std::string Journal(const std::string& entries) {
  return R"({"op_code":0,"study_name":"s","directions":[1]})"
         "\n" +
         entries;
}
std::string Trial(int number, const std::string& parameters, const std::string& end) {
  return R"({"op_code":4,"study_id":0,"state":1,"datetime_start":null,"user_attrs":{},"system_attrs":{},)"
         R"("intermediate_values":{},)" +
         parameters + "," + end + "}\n" + (number < 0 ? "" : "");
}

TEST_F(OptunaFileTest, ARangeThatChangesSpansAllTrials) {
  const std::string narrow =
      R"("params":{"x":1.5},"distributions":{"x":"{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 1.0, \"high\": 2.0, \"log\": false, \"step\": null}}"})";
  const std::string wide =
      R"("params":{"x":7.5},"distributions":{"x":"{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 0.5, \"high\": 8.0, \"log\": false, \"step\": null}}"})";
  const auto study = ReadStudy(
      Write("j.log",
            Journal(Trial(0, narrow, R"("values":[1.0])") + Trial(1, wide, R"("values":[NaN])"))),
      {});
  ASSERT_THAT(study, IsOk());
  EXPECT_EQ(ParameterOf(*study, "x"), R"({"float":[0.5,8.0],"scale":"linear"})");
  EXPECT_THAT(study->notes, Contains(HasSubstr("x: its range changes from trial to trial")));
  EXPECT_THAT(study->notes,
              Contains(HasSubstr(
                  "1 trial completed with NaN or an infinity, and so FAILED (DIVERGED): trial 1")));
}

TEST_F(OptunaFileTest, AParameterOfTwoKindsIsRefused) {
  const std::string real =
      R"("params":{"x":1.5},"distributions":{"x":"{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 1.0, \"high\": 2.0}}"})";
  const std::string choice =
      R"("params":{"x":0},"distributions":{"x":"{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"a\"]}}"})";
  EXPECT_THAT(
      ReadStudy(Write("j.log",
                      Journal(Trial(0, real, R"("values":[1.0])") +
                              Trial(1, choice, R"("values":[1.0])"))),
                {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("parameters.x: is float in some trials and categorical in others")));
}

}  // namespace
}  // namespace vernier::imports
