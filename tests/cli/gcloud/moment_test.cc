#include "src/cli/gcloud/moment.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::gcloud {
namespace {

// A Sunday at the end of a month that has no 31st before it.
TimeFrame MomentFrame() {
  const absl::TimeZone zone = absl::FixedTimeZone(3600);
  return {.now = absl::FromCivil(absl::CivilSecond(2026, 5, 31, 10, 30, 0), zone), .zone = zone};
}

std::string Parsed(const std::string& text) {
  const std::optional<absl::Time> time = ParseMoment(text, MomentFrame());
  return time ? absl::FormatTime("%Y-%m-%dT%H:%M:%E*S", *time, absl::UTCTimeZone()) : "-";
}

TEST(ParseMoment, ReadsTimesAndDates) {
  EXPECT_EQ(Parsed("2026-11-21T04:30:00.5Z"), "2026-11-21T04:30:00.5");
  EXPECT_EQ(Parsed("2026-11-21T04:30:00+02:00"), "2026-11-21T02:30:00");
  EXPECT_EQ(Parsed("2026-11-21T04:30"), "2026-11-21T03:30:00");
  EXPECT_EQ(Parsed("2026-11-21 04:30:00"), "2026-11-21T03:30:00");
  EXPECT_EQ(Parsed("2026-11-21"), "2026-11-20T23:00:00");
  EXPECT_EQ(Parsed("2026/11/21"), "2026-11-20T23:00:00");
  EXPECT_EQ(Parsed("20261121"), "2026-11-20T23:00:00");
  for (const char* text : {"",
                           "soon",
                           "2026-13-01",
                           "2026-11-21T",
                           "P1D",
                           "-P",
                           "-P1",
                           "-PD",
                           "-P1X",
                           "-PT1D",
                           "-P99999999999D",
                           "-P1..5D"}) {
    EXPECT_EQ(Parsed(text), "-") << text;
  }
}

TEST(ParseMoment, CountsFromNow) {
  EXPECT_EQ(Parsed("-P1D"), "2026-05-30T09:30:00");
  EXPECT_EQ(Parsed("+PT1H30M"), "2026-05-31T11:00:00");
  EXPECT_EQ(Parsed("-p2w"), "2026-05-17T09:30:00");
  EXPECT_EQ(Parsed("-P1Y2M"), "2025-03-31T09:30:00");
  EXPECT_EQ(Parsed("-P0.5D"), "2026-05-30T21:30:00");
  EXPECT_EQ(Parsed("-P1DT12H0.5S"), "2026-05-29T21:29:59.5");
}

TEST(FormatIsoDuration, NamesThreeParts) {
  EXPECT_EQ(FormatIsoDuration(absl::ZeroDuration(), {}), "P0");
  EXPECT_EQ(FormatIsoDuration(absl::Seconds(61), {}), "PT1M1S");
  EXPECT_EQ(FormatIsoDuration(absl::Seconds(0.25), {}), "PT0.25S");
  EXPECT_EQ(FormatIsoDuration(-absl::Hours(49), {}), "-P2DT1H");
  EXPECT_EQ(FormatIsoDuration(absl::Hours(24) + absl::Seconds(1), {}), "P1D");
  EXPECT_EQ(FormatIsoDuration(absl::Seconds(1.26), {.precision = 1}), "PT1.3S");
  EXPECT_EQ(ParseIsoDuration("P1DT2H"), absl::Hours(26));
  EXPECT_EQ(ParseIsoDuration("-PT30M"), absl::Minutes(-30));
  EXPECT_EQ(ParseIsoDuration("1.5s"), absl::Seconds(1.5));
  EXPECT_EQ(ParseIsoDuration("x"), std::nullopt);
}

TEST(LooksLikeTime, WantsDateAndTime) {
  EXPECT_TRUE(LooksLikeTime("2026-11-21T04:30:00Z"));
  EXPECT_FALSE(LooksLikeTime("2026-11-21"));
  EXPECT_FALSE(LooksLikeTime("2026-11-21x04:30:00Z"));
}

}  // namespace
}  // namespace vernier::gcloud
