#include "src/codec/event_json.h"

#include <cmath>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/json_text.h"
#include "tests/codec/random_event.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::RandomNumber;
using ::vernier::testing::RandomPayload;
using ::vernier::testing::RandomTrial;
using ::vernier::testing::RandomValue;
using ::vernier::testing::SameBits;
using ::vernier::testing::StatusIs;
using Json = nlohmann::ordered_json;

// Through text and back, as the store does it.
Json ThroughText(const Json& json) {
  const absl::StatusOr<Json> read = ReadStoredJson(ToText(json));
  return read.ok() ? *read : Json();
}

class PayloadRoundTrip : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PayloadRoundTrip, EveryFieldReadsBackEqual) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const EventPayload payload = RandomPayload(rng, GetParam());
    const Json json = PayloadToJson(payload);
    ASSERT_OK_AND_ASSIGN(const EventPayload read,
                         PayloadFromJson(EventKind(payload), ThroughText(json)));
    EXPECT_EQ(read, payload) << "seed " << seed << ": " << json;
  }
}

TEST_P(PayloadRoundTrip, KeysOfANewerProgramAreIgnored) {
  Rng rng(1);
  const EventPayload payload = RandomPayload(rng, GetParam());
  Json json = PayloadToJson(payload);
  json["added_later"] = Json::array({1, "two"});
  ASSERT_OK_AND_ASSIGN(const EventPayload read, PayloadFromJson(EventKind(payload), json));
  EXPECT_EQ(read, payload);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         PayloadRoundTrip,
                         ::testing::Range<std::size_t>(0, std::variant_size_v<EventPayload>),
                         [](const auto& tested) { return "Kind" + std::to_string(tested.param); });

TEST(EventJson, ReadsATrialWithAllItsFieldsBack) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const Trial trial = RandomTrial(rng, TrialNumber(7));
    ASSERT_OK_AND_ASSIGN(const Trial read, TrialFromJson(ThroughText(TrialToJson(trial))));
    EXPECT_EQ(read, trial) << "seed " << seed;
  }
}

TEST(EventJson, ReadsAStudyWithAllItsFieldsBack) {
  Rng rng(3);
  Study study;
  study.id = StudyId(4);
  study.spec = vernier::testing::RandomSpec(rng, "digits");
  study.state = StudyState::kStopping;
  study.reason = "stopped by hand";
  study.created = absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(1);
  study.updated = study.created + absl::Hours(1);
  study.last_event = EventSeq(12);
  study.spec_version = 2;
  study.trials = 9;
  study.completed = 5;
  study.failed = 1;
  study.open = 3;
  study.best = TrialNumber(2);
  study.optimal = {TrialNumber(2), TrialNumber(5)};
  ASSERT_OK_AND_ASSIGN(const Study read, StudyFromJson(ThroughText(StudyToJson(study))));
  EXPECT_EQ(read, study);
}

TEST(EventJson, NumbersReadBackToTheSameBits) {
  Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    const double number = RandomNumber(rng);
    ASSERT_OK_AND_ASSIGN(const double read, NumberFromJson(ThroughText(NumberToJson(number))));
    EXPECT_TRUE(SameBits(read, number)) << number;
  }
}

TEST(EventJson, NumbersThatJsonLacksAreText) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ToText(NumberToJson(std::nan(""))), R"("nan")");
  EXPECT_EQ(ToText(NumberToJson(kInfinity)), R"("inf")");
  EXPECT_EQ(ToText(NumberToJson(-kInfinity)), R"("-inf")");
  EXPECT_EQ(ToText(NumberToJson(-0.0)), "-0.0");
  ASSERT_OK_AND_ASSIGN(const double nan, NumberFromJson("nan"));
  EXPECT_TRUE(std::isnan(nan));
}

TEST(EventJson, ValuesKeepTheirType) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    const ParameterValue value = RandomValue(rng);
    ASSERT_OK_AND_ASSIGN(const ParameterValue read, ValueFromJson(ThroughText(ValueToJson(value))));
    EXPECT_EQ(read, value) << "seed " << seed;
  }
}

TEST(EventJson, TheCategoryNanIsNotTheNumberNan) {
  const ParameterValue text = std::string("nan");
  const ParameterValue number = std::nan("");
  ASSERT_OK_AND_ASSIGN(const ParameterValue read_text, ValueFromJson(ValueToJson(text)));
  ASSERT_OK_AND_ASSIGN(const ParameterValue read_number, ValueFromJson(ValueToJson(number)));
  EXPECT_EQ(read_text, text);
  ASSERT_TRUE(std::holds_alternative<double>(read_number));
  EXPECT_TRUE(std::isnan(std::get<double>(read_number)));
}

TEST(EventJson, MissingKeysTakeTheirDefaults) {
  ASSERT_OK_AND_ASSIGN(const EventPayload read,
                       PayloadFromJson("trial_created", Json::parse(R"({"trial": 3})")));
  const auto& created = std::get<TrialCreated>(read);
  EXPECT_EQ(created.trial, TrialNumber(3));
  EXPECT_EQ(created.suggestion, SuggestionRecord{});
}

TEST(EventJson, EmptyFieldsAreLeftOut) {
  const EventPayload payload = TrialStateChanged{
      .trial = TrialNumber(1), .from = TrialState::kRequested, .to = TrialState::kRunning};
  EXPECT_EQ(ToText(PayloadToJson(payload)), R"({"trial":1,"from":"REQUESTED","to":"RUNNING"})");
}

TEST(EventJson, TextThatIsNoUtf8IsMended) {
  const EventPayload payload =
      StudyStateChanged{.from = StudyState::kActive, .to = StudyState::kFailed, .reason = "a\xFFz"};
  EXPECT_EQ(PayloadToJson(payload)["reason"], "a\uFFFDz");
}

TEST(EventJson, TimesAreUtcWithNanoseconds) {
  const EventPayload payload = LeaseRenewed{
      .trial = TrialNumber(1), .expires = absl::FromUnixSeconds(1) + absl::Nanoseconds(5)};
  EXPECT_EQ(PayloadToJson(payload)["expires"], "1970-01-01T00:00:01.000000005Z");
}

struct DamageCase {
  std::string name;
  std::string kind;
  std::string payload;
  std::string error;
};

class DamagedPayload : public ::testing::TestWithParam<DamageCase> {};

TEST_P(DamagedPayload, IsDataLossThatNamesTheField) {
  const DamageCase& c = GetParam();
  EXPECT_THAT(PayloadFromJson(c.kind, Json::parse(c.payload)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(c.error)));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    DamagedPayload,
    ::testing::ValuesIn(std::vector<DamageCase>{
        {.name = "Kind", .kind = "trial_sold", .payload = "{}", .error = "'trial_sold'"},
        {.name = "NoObject",
         .kind = "trial_created",
         .payload = "[1]",
         .error = "trial_created: must be an object, got [1]"},
        {.name = "Integer",
         .kind = "trial_created",
         .payload = R"({"trial": "x"})",
         .error = R"(trial_created.trial: must be an integer, got "x")"},
        {.name = "IntegerBeyond64Bits",
         .kind = "trial_created",
         .payload = R"({"trial": 9223372036854775808})",
         .error = "trial_created.trial: must be an integer"},
        {.name = "IntegerBeyond32Bits",
         .kind = "study_amended",
         .payload = R"({"parallel": 4294967296})",
         .error = "study_amended.parallel: must be an integer of 32 bits"},
        {.name = "NegativeStream",
         .kind = "trial_created",
         .payload = R"({"suggestion": {"stream": -1}})",
         .error = "trial_created.suggestion.stream: must be an integer of at least 0"},
        {.name = "Deep",
         .kind = "trial_created",
         .payload = R"({"suggestion": {"pending": [1, 2.5]}})",
         .error = "trial_created.suggestion.pending[1]: must be an integer, got 2.5"},
        {.name = "State",
         .kind = "trial_state_changed",
         .payload = R"({"to": "SLEEPING"})",
         .error = R"(trial_state_changed.to: must be a known name, got "SLEEPING")"},
        {.name = "Metric",
         .kind = "measurement_reported",
         .payload = R"({"measurement": {"metrics": {"loss": "low"}}})",
         .error = R"(measurement_reported.measurement.metrics.loss: must be a number, got "low")"},
        {.name = "Time",
         .kind = "lease_renewed",
         .payload = R"({"expires": "noon"})",
         .error = R"(lease_renewed.expires: must be a time, got "noon")"},
        {.name = "Text",
         .kind = "study_state_changed",
         .payload = R"({"reason": 5})",
         .error = "study_state_changed.reason: must be text, got 5"},
        {.name = "List",
         .kind = "attempt_placed",
         .payload = R"({"placement": {}})",
         .error = "attempt_placed.placement: must be a list, got {}"},
        {.name = "Point",
         .kind = "trial_created",
         .payload = R"({"point": {"lr": [1]}})",
         .error = "trial_created.point.lr: must be a number, text, true or false, got [1]"},
        {.name = "Spec",
         .kind = "study_created",
         .payload = R"({"spec": {"study": "a"}})",
         .error = "study_created.spec.objective: is missing"},
    }),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace vernier::codec
