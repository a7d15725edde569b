#include "src/codec/measurement_text.h"

#include <string>
#include <utility>

#include "absl/time/civil_time.h"
#include "src/codec/text_scanner.h"

namespace vernier::codec {
namespace {

// The digits of text[begin, begin + count); -1 if one is none.
int Digits(std::string_view text, std::size_t begin, std::size_t count) {
  int value = 0;
  for (std::size_t i = begin; i < begin + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

}  // namespace

std::optional<absl::Time> ReadTimeText(std::string_view text) {
  // The separators of this form are compared at their places; the digits are read below.
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000000000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (const std::size_t i : {4, 7, 10, 13, 16, 19, 29}) {
    if (text[i] != kForm[i]) return std::nullopt;
  }
  const int year = Digits(text, 0, 4);
  const int month = Digits(text, 5, 2);
  const int day = Digits(text, 8, 2);
  const int hour = Digits(text, 11, 2);
  const int minute = Digits(text, 14, 2);
  const int second = Digits(text, 17, 2);
  const int nanoseconds = Digits(text, 20, 9);
  // The other parts are compared below, where -1 never is the same.
  if (year < 0 || nanoseconds < 0) return std::nullopt;
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  // Out of range, -1 included, it would be another one.
  const bool is_same = civil.month() == month && civil.day() == day && civil.hour() == hour &&
                       civil.minute() == minute && civil.second() == second;
  if (!is_same) return std::nullopt;
  return absl::FromCivil(civil, absl::UTCTimeZone()) + absl::Nanoseconds(nanoseconds);
}

std::optional<MeasurementReported> ReadMeasurementText(std::string_view text) {
  Scanner scanner(text);
  MeasurementReported report;
  Measurement& measurement = report.measurement;
  scanner.Skip("{\"trial\":");
  report.trial = TrialNumber(scanner.Integer());
  scanner.Skip(",\"measurement\":{\"step\":");
  measurement.step = scanner.Integer();
  scanner.Skip(",\"elapsed_ns\":");
  measurement.elapsed = absl::Nanoseconds(scanner.Integer());
  scanner.Skip(",\"time\":");
  const std::optional<absl::Time> time = ReadTimeText(scanner.Text());
  scanner.Skip(",\"metrics\":{");
  while (scanner.ok() && !scanner.TakeIf('}')) {
    // No comma in front of the first. A missing comma fails.
    if (!measurement.metrics.empty()) scanner.Skip(",");
    std::string name(scanner.Text());
    scanner.Skip(":");
    const double value = scanner.Double();
    // A name that is there twice is not what the store writes.
    if (!measurement.metrics.emplace(std::move(name), value).second) scanner.Fail();
  }
  scanner.Skip(",\"source\":");
  measurement.source = scanner.Text();
  scanner.Skip("}}");
  if (!scanner.done() || !time.has_value()) return std::nullopt;
  measurement.time = *time;
  return report;
}

}  // namespace vernier::codec
