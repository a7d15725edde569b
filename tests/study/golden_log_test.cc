// Stored logs of studies must replay to the same bits: an algorithm or a rule whose output changes must change its
// version too. After a change of version, record them anew:
//   VERNIER_UPDATE_GOLDEN=1 ctest --test-dir <build> -R GoldenLog
// The bits of gp depend on compiler and C library. On other machines than the one that recorded them its log is skipped;
// with VERNIER_GOLDEN_REQUIRED set, as scripts/test does where they must replay, that is a failure.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "src/codec/event_json.h"
#include "src/study/replay.h"
#include "tests/study/replay_driver.h"
#include "tests/study/study_fixture.h"
#include "vernier/algorithm_catalogue.h"

namespace vernier::study {
namespace {

using testing::IsOk;
using Json = nlohmann::ordered_json;

std::string ToLine(const Event& event) {
  Json line;
  line["seq"] = event.seq.value();
  line["time"] = absl::ToUnixNanos(event.time);
  line["actor"] = event.actor;
  line["kind"] = EventKind(event.payload);
  line["payload"] = codec::PayloadToJson(event.payload);
  return line.dump();
}

absl::StatusOr<Event> FromLine(const std::string& text) {
  const Json line = Json::parse(text);
  VERNIER_ASSIGN_OR_RETURN(
      EventPayload payload,
      codec::PayloadFromJson(line.at("kind").get<std::string>(), line.at("payload")));
  return Event{.seq = EventSeq(line.at("seq").get<std::int64_t>()),
               .time = absl::FromUnixNanos(line.at("time").get<std::int64_t>()),
               .actor = line.at("actor").get<std::string>(),
               .request_id = "",
               .payload = std::move(payload)};
}

class GoldenLogTest : public StudyFixture, public ::testing::WithParamInterface<std::string> {
 protected:
  static std::filesystem::path File() {
    const char* folder = std::getenv("VERNIER_GOLDEN_LOGS");
    return std::filesystem::path(folder == nullptr ? "tests/golden/logs" : folder) /
           (GetParam() + ".jsonl");
  }

  void Record() {
    StudySpec spec = ClientSpec("golden");
    Parameter x = Float("x", 0, 1);
    std::get<FloatDomain>(x.domain).points = 9;
    spec.space = SpaceOf({x, Choices("kind", {ParameterValue("a"), ParameterValue("b")})});
    spec.algorithm.name = GetParam();
    spec.stopping = {.name = "median", .options = {}};
    const Study study = Create(spec);
    ASSERT_THAT(DriveOutOfOrder(*studies_, clock_, study.id, 18, 99), IsOk());
    std::ofstream file(File());
    for (const Event& event : Log(study.id)) file << ToLine(event) << '\n';
    ASSERT_TRUE(file.good()) << File();
  }

  static std::vector<Event> Stored() {
    std::vector<Event> log;
    std::ifstream file(File());
    EXPECT_TRUE(file.good()) << File();
    for (std::string line; std::getline(file, line);) {
      absl::StatusOr<Event> event = FromLine(line);
      EXPECT_THAT(event, IsOk());
      if (event.ok()) log.push_back(*std::move(event));
    }
    return log;
  }
};

TEST_P(GoldenLogTest, ReplaysToTheSameBits) {
  if (std::getenv("VERNIER_UPDATE_GOLDEN") != nullptr) Record();
  std::vector<Event> log = Stored();
  ASSERT_FALSE(log.empty());
  Replayer replayer((StudyId(1)));
  for (Event& event : log) {
    auto* created = std::get_if<TrialCreated>(&event.payload);
    if (created != nullptr && created->suggestion.fingerprint != NumericsFingerprint()) {
      if (GetParam() == "gp") {
        ASSERT_EQ(std::getenv("VERNIER_GOLDEN_REQUIRED"), nullptr)
            << "this machine must replay the logs of gp, but they were recorded by "
            << created->suggestion.fingerprint << " and this is " << NumericsFingerprint();
        GTEST_SKIP() << "recorded by " << created->suggestion.fingerprint;
      }
      created->suggestion.fingerprint = NumericsFingerprint();  // Others replay everywhere.
    }
    ASSERT_THAT(replayer.Add(event), IsOk());
  }
  const auto report = std::move(replayer).Finish();
  ASSERT_THAT(report, IsOk());
  for (const auto& line : report->problems) {
    ADD_FAILURE() << "event " << line.event.value() << ", trial " << line.trial.value() << ": "
                  << line.detail;
  }
  EXPECT_GE(report->suggestions, 18);
  EXPECT_EQ(report->verified, report->suggestions + report->stops);
}

INSTANTIATE_TEST_SUITE_P(Algorithms,
                         GoldenLogTest,
                         ::testing::ValuesIn(AlgorithmCatalogue::BuiltIn().AlgorithmNames()),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace vernier::study
