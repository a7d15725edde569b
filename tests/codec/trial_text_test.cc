#include "src/codec/trial_text.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"
#include "tests/codec/random_event.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using ::vernier::testing::RandomTrial;

std::string TrialTextOf(const Trial& trial) { return ToText(TrialToJson(trial)); }

std::optional<Trial> ReadTrialSlowly(const std::string& text) {
  const auto json = ReadStoredJson(text);
  if (!json.ok()) return std::nullopt;
  auto trial = TrialFromJson(*json);
  if (!trial.ok()) return std::nullopt;
  return *std::move(trial);
}

// As most trials are: with values of each kind, and texts that need an escape.
Trial PlainTrial() {
  Trial trial;
  trial.number = TrialNumber(7);
  trial.state = TrialState::kCompleted;
  trial.point = {{"batch", std::int64_t{64}},
                 {"lr", 1e-3},
                 {"one", 1.0},
                 {"nesterov", true},
                 {"optimizer", std::string("adam \"w\"")}};
  trial.suggestion = {.algorithm = "gp",
                      .version = "15",
                      .options = "{\"initial\":5}",
                      .as_of = EventSeq(12),
                      .stream = UINT64_MAX,
                      .pending = {TrialNumber(5), TrialNumber(6)},
                      .origin = "model",
                      .acquisition = -0.25,
                      .predicted_others = {{"latency", {.mean = 2, .deviation = 0.5}}},
                      .importance = {{"batch", 0.25}, {"lr", 0.75}}};
  trial.created = absl::FromUnixNanos(1'700'000'000'123'456'789);
  trial.started = trial.created + absl::Seconds(1);
  trial.ended = trial.created + absl::Seconds(2);
  trial.last = Measurement{.step = 3,
                           .elapsed = absl::Milliseconds(1500),
                           .time = *trial.ended,
                           .metrics = {{"accuracy", 0.75}, {"loss", 2.5e-7}},
                           .source = "client"};
  trial.final_metrics = trial.last->metrics;
  trial.measurements = 3;
  trial.message = "C:\\data\nis gone";
  trial.attempts = {{.number = AttemptNumber(1),
                     .state = AttemptState::kSucceeded,
                     .placement = {{.role = "chief", .host = "localhost", .gpus = {"0", "1"}}},
                     .placed = trial.created,
                     .failure = FailureClass::kTimeout,
                     .transient = true,
                     .replicas = {{.role = "chief", .exit_code = 0, .restarts = 2}}}};
  return trial;
}

TEST(TrialText, ReadsWhatTheStoreWrites) {
  const Trial trial = PlainTrial();
  const auto read = ReadTrialText(TrialTextOf(trial));
  ASSERT_TRUE(read.has_value()) << TrialTextOf(trial);
  EXPECT_EQ(*read, trial);
  EXPECT_TRUE(std::holds_alternative<double>(read->point.at("one")));
}

TEST(TrialText, ReadsAnyTrialRightOrNotAtAll) {
  int quick = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    const Trial trial = RandomTrial(rng, TrialNumber(7));
    const auto read = ReadTrialText(TrialTextOf(trial));
    quick += read.has_value() ? 1 : 0;
    ASSERT_EQ(read.value_or(trial), trial) << "seed " << seed << ": " << TrialTextOf(trial);
  }
  EXPECT_GT(quick, 0);
}

TEST(TrialText, LeavesToOthersWhatIsWrittenOtherwise) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string changed = TrialTextOf(PlainTrial());
    const std::size_t at = rng.UniformInt(changed.size());
    switch (rng.UniformInt(3)) {
      case 0:
        changed.resize(at);
        break;
      case 1:
        changed.erase(at, 1);
        break;
      default:
        changed[at] = static_cast<char>(' ' + rng.UniformInt(95));
    }
    const auto quick = ReadTrialText(changed);
    if (!quick.has_value()) continue;
    EXPECT_EQ(quick, ReadTrialSlowly(changed)) << changed;
  }
  EXPECT_EQ(ReadTrialText(""), std::nullopt);
}

}  // namespace
}  // namespace vernier::codec
