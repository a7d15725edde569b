// Objects with very many keys take time in proportion to their number. Before, 100,000 keys took 15 seconds.
#include <algorithm>
#include <ctime>
#include <limits>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "src/codec/document.h"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"
#include "tests/support/status_matchers.h"

namespace vernier::codec {
namespace {

using testing::IsOk;

// How many times longer twenty times as many keys may take: between a linear pass, 20, and a quadratic one, 400.
constexpr double kPatience = 60;

// Seconds of the processor, the least of three.
template <typename Work>
double Seconds(Work work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

MeasurementReported WithMetrics(int n) {
  MeasurementReported report{.trial = TrialNumber(1)};
  for (int i = 0; i < n; ++i) report.measurement.metrics[fmt::format("metric_{:06}", i)] = i;
  return report;
}

TEST(ManyKeys, OfAMeasurementAreWrittenAndReadInLinearTime) {
  const auto seconds = [](int n) {
    const MeasurementReported report = WithMetrics(n);
    return Seconds([&] {
      const auto json = ReadStoredJson(ToText(PayloadToJson(report)));
      ASSERT_THAT(json, IsOk());
      const auto read = PayloadFromJson("measurement_reported", *json);
      ASSERT_THAT(read, IsOk());
      EXPECT_EQ(std::get<MeasurementReported>(*read), report);
    });
  };
  EXPECT_LT(seconds(100'000), kPatience * seconds(5'000));
}

TEST(ManyKeys, OfAFileAreReadInLinearTime) {
  const auto json = [](int n) {
    std::string text = "{";
    for (int i = 0; i < n; ++i) text += fmt::format("{}\"k{}\": 1", i == 0 ? "" : ",", i);
    return text + "}";
  };
  const auto yaml = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += fmt::format("k{}: 1\n", i);
    return text;
  };
  const auto seconds = [](const std::string& text, int n) {
    return Seconds([&] {
      const auto read = ReadDocument(text, "file");
      ASSERT_THAT(read, IsOk());
      EXPECT_EQ(read->size(), n);
    });
  };
  // About as many as a file may have.
  EXPECT_LT(seconds(json(70'000), 70'000), kPatience * seconds(json(3'500), 3'500));
  EXPECT_LT(seconds(yaml(70'000), 70'000), kPatience * seconds(yaml(3'500), 3'500));
}

}  // namespace
}  // namespace vernier::codec
