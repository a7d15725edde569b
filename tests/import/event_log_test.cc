#include "src/import/event_log.h"

#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "tests/import/fixture.h"

namespace vernier::imports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::vernier::testing::StatusIs;

using EventLogTest = ImportTest;

std::string Log() {
  std::ifstream file(DataPath("vernier.jsonl"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What becomes of an addition, in the words of the store.
std::string StateOf(const TrialAddition& trial) {
  if (trial.failed.has_value()) return "FAILED";
  if (trial.infeasible.has_value()) return "INFEASIBLE";
  if (trial.last.has_value()) return "COMPLETED";
  return trial.stopped.has_value() ? "CANCELLED" : "REQUESTED";
}

TEST_F(EventLogTest, ReadsEveryTrialAsTheStoreHadIt) {
  ASSERT_OK_AND_ASSIGN(const ImportedStudy study, ReadStudy(DataPath("vernier.jsonl"), {}));
  EXPECT_EQ(study.format, "vernier");
  EXPECT_EQ(study.spec.name, "digits");
  EXPECT_EQ(study.spec.seed, 3U);
  EXPECT_EQ(study.spec.stopping.name, "median");
  EXPECT_EQ(ParameterOf(study, "momentum"),
            R"({"float":[0.5,0.99],"scale":"linear","when":{"optimizer":["sgd"]}})");
  const nlohmann::json said = Said("vernier.json")["trials"];
  ASSERT_THAT(study.trials, SizeIs(said.size()));
  for (std::size_t i = 0; i < said.size(); ++i) {
    const TrialAddition& trial = study.trials[i];
    EXPECT_EQ(StateOf(trial), said[i]["state"]) << "trial " << i + 1;
    EXPECT_EQ(nlohmann::json(trial.last.value_or(Measurement()).metrics), said[i]["final"]);
    for (const auto& [name, value] : said[i]["point"].items()) {
      EXPECT_EQ(
          value.dump(),
          std::visit([](const auto& v) { return nlohmann::json(v).dump(); }, trial.point.at(name)));
    }
  }
}

TEST_F(EventLogTest, KeepsCurvesAndReasons) {
  ASSERT_OK_AND_ASSIGN(const ImportedStudy study, ReadStudy(DataPath("vernier.jsonl"), {}));
  EXPECT_THAT(study.trials[0].measurements, SizeIs(10));
  EXPECT_EQ(study.trials[0].measurements.back().step, 10);
  EXPECT_EQ(study.trials[2].failed->failure, FailureClass::kUserError);
  EXPECT_EQ(study.trials[2].failed->message, "the loss is no number");
  EXPECT_EQ(study.trials[4].infeasible, "too many layers");
  EXPECT_FALSE(study.trials[6].stopped.has_value());
  EXPECT_THAT(*study.trials[7].stopped, HasSubstr("median"));
  EXPECT_THAT(study.notes, ElementsAre(HasSubstr("had not ended, REQUESTED")));
}

TEST_F(EventLogTest, TakesAnotherNameAndObjective) {
  ASSERT_OK_AND_ASSIGN(
      const ImportedStudy study,
      ReadStudy(DataPath("vernier.jsonl"), {.name = "again", .objectives = {"minimize:seconds"}}));
  EXPECT_EQ(study.spec.name, "again");
  EXPECT_EQ(study.spec.objectives.front().metric, "seconds");
}

TEST_F(EventLogTest, RefusesWhatIsNoWholeLog) {
  const std::string log = Log();
  const std::size_t second = log.find('\n') + 1;
  const auto read = [&](const std::string& text) {
    return ReadStudy(Write("log.jsonl", text), {}).status();
  };
  EXPECT_THAT(read(log.substr(second)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1: ")));
  EXPECT_THAT(read(log.substr(0, log.size() / 2)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not JSON")));
  const std::size_t third = log.find('\n', second) + 1;
  EXPECT_THAT(read(log.substr(0, second) + log.substr(third)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2: ")));
  EXPECT_THAT(read("{\"seq\":1}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1: is no event")));
}

TEST_F(EventLogTest, NamesTheExportThatCanBeImported) {
  const std::string path =
      Write("export.json", R"({"study": {"name": "studies/s"}, "trials": []})");
  EXPECT_THAT(ReadStudy(path, {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("without -o is imported")));
}

}  // namespace
}  // namespace vernier::imports
