#include "src/codec/measurement_text.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "absl/time/civil_time.h"

namespace vernier::codec {
namespace {

// Takes what it expects off the front of a text. Once something is missing, all that follows is.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  void Skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return Fail();
    rest_.remove_prefix(expected.size());
  }
  bool TakeIf(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::int64_t Integer() {
    std::int64_t value = 0;
    Number(value);
    return value;
  }
  // As Form<double> writes it: what is not finite stands as a text.
  double Double() {
    double value = 0;
    if (rest_.starts_with('"')) {
      const std::string_view text = Text();
      if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (text == "inf") return std::numeric_limits<double>::infinity();
      if (text == "-inf") return -std::numeric_limits<double>::infinity();
      Fail();
    } else {
      Number(value);
    }
    return value;
  }
  // Plain characters between quotes; one that is escaped, or no ASCII, is for others to read.
  std::string_view Text() {
    Skip("\"");
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const auto c = static_cast<unsigned char>(rest_[i]);
      if (c == '"') {
        const std::string_view text = rest_.substr(0, i);
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (c < ' ' || c > '~' || c == '\\') break;
    }
    Fail();
    return {};
  }
  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  static bool IsDigit(std::string_view text, std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  }

  // from_chars also takes "inf", "00" and "1.", which JSON has not.
  static bool IsJson(std::string_view number) {
    const std::size_t first = number.starts_with('-') ? 1 : 0;
    if (!IsDigit(number, first)) return false;
    if (number[first] == '0' && IsDigit(number, first + 1)) return false;
    const std::size_t dot = number.find('.');
    return dot == std::string_view::npos || IsDigit(number, dot + 1);
  }

  template <typename T>
  void Number(T& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto size = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc() || !IsJson(rest_.substr(0, size))) return Fail();
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  bool ok_ = true;
};

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
    if (!measurement.metrics.empty()) scanner.Skip(",");
    std::string name(scanner.Text());
    scanner.Skip(":");
    const double value = scanner.Double();
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
