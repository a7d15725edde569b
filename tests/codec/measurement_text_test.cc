#include "src/codec/measurement_text.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"
#include "tests/codec/random_event.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using ::vernier::testing::RandomMeasurement;
using ::vernier::testing::RandomNumber;
using ::vernier::testing::SameBits;

std::string MeasurementTextOf(const MeasurementReported& report) {
  return ToText(PayloadToJson(EventPayload(report)));
}

// As the store read it before there was a short way.
std::optional<MeasurementReported> ReadMeasurementSlowly(const std::string& text) {
  const auto json = ReadStoredJson(text);
  if (!json.ok()) return std::nullopt;
  auto payload = PayloadFromJson("measurement_reported", *json);
  if (!payload.ok()) return std::nullopt;
  return std::get<MeasurementReported>(*std::move(payload));
}

MeasurementReported PlainMeasurement(std::uint64_t seed) {
  Rng rng(seed);
  MeasurementReported report{.trial = TrialNumber(7), .measurement = RandomMeasurement(rng)};
  report.measurement.source = "report";
  report.measurement.metrics = {{"accuracy", RandomNumber(rng)}, {"val/loss", RandomNumber(rng)}};
  return report;
}

TEST(MeasurementText, ReadsWhatTheStoreWrites) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const MeasurementReported report = PlainMeasurement(seed);
    const auto read = ReadMeasurementText(MeasurementTextOf(report));
    ASSERT_TRUE(read.has_value()) << "seed " << seed << ": " << MeasurementTextOf(report);
    ASSERT_EQ(*read, report) << "seed " << seed;
  }
}

TEST(MeasurementText, ReadsWhatIsNoNumber) {
  MeasurementReported report{.trial = TrialNumber(1), .measurement = {.step = 1, .source = "log"}};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, -0.0, 5e-324, 1e308}) {
    report.measurement.metrics = {{"m", value}};
    const auto read = ReadMeasurementText(MeasurementTextOf(report));
    ASSERT_TRUE(read.has_value()) << value;
    EXPECT_TRUE(SameBits(read->measurement.metrics.at("m"), value)) << value;
  }
}

TEST(MeasurementText, LeavesToOthersWhatIsWrittenOtherwise) {
  // Of any text it either says the same as the long way, or nothing.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const MeasurementReported any{.trial = TrialNumber(7), .measurement = RandomMeasurement(rng)};
    std::string text = MeasurementTextOf(any);
    const auto read = ReadMeasurementText(text);
    EXPECT_EQ(read.value_or(any), any) << text;
    for (int change = 0; change < 20; ++change) {
      std::string changed = MeasurementTextOf(PlainMeasurement(seed));
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
      const auto quick = ReadMeasurementText(changed);
      if (!quick.has_value()) continue;
      EXPECT_EQ(quick, ReadMeasurementSlowly(changed)) << changed;
    }
  }
  EXPECT_EQ(ReadMeasurementText(""), std::nullopt);
  EXPECT_EQ(ReadMeasurementText("{}"), std::nullopt);
}

TEST(TimeText, ReadsTheStoresTimesAndNoOthers) {
  const std::string text = "2026-11-21T04:12:13.123456789Z";
  absl::Time time;
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, nullptr));
  EXPECT_EQ(ReadTimeText(text), time);
  EXPECT_EQ(ReadTimeText("1969-12-31T23:59:59.999999999Z"),
            absl::UnixEpoch() - absl::Nanoseconds(1));
  for (const char* other : {"",
                            "2026-11-21T04:12:13Z",
                            "2026-11-21T04:12:13.12345678901Z",
                            "2026-02-29T04:12:13.123456789Z",
                            "2026-13-21T04:12:13.123456789Z",
                            "2026-11-21T24:12:13.123456789Z",
                            "2026-11-21T04:12:60.123456789Z",
                            "2026-11-21T04:12:-1.123456789Z",
                            "2026-11-21 04:12:13.123456789Z",
                            "2026-11-21T04:12:13.123456789+",
                            "infinite-future-0123456789abcd"}) {
    EXPECT_EQ(ReadTimeText(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace vernier::codec
