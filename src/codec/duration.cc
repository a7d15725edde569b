#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"

namespace vernier::codec {
namespace {

constexpr std::string_view kDigits = "0123456789";

struct Unit {
  std::string_view name;
  absl::Duration length;
};

// Longest name first, so that "ms" is not taken for "m".
std::array<Unit, 7> Units() {
  return {{{"ms", absl::Milliseconds(1)},
           {"us", absl::Microseconds(1)},
           {"ns", absl::Nanoseconds(1)},
           {"d", absl::Hours(24)},
           {"h", absl::Hours(1)},
           {"m", absl::Minutes(1)},
           {"s", absl::Seconds(1)}}};
}

// Takes digits from the front; false if there are none or too many.
// Too many: for 64 bits.
bool TakeDigits(std::string_view& text, std::int64_t& value, std::size_t& count) {
  count = std::min(text.find_first_not_of(kDigits), text.size());
  const bool ok = absl::SimpleAtoi(std::string(text.substr(0, count)), &value);
  text.remove_prefix(count);
  return ok;
}

// Takes "90s", "1.5h" … from the front and adds it. Whole numbers only, so that every nanosecond counts.
bool TakeTerm(std::string_view& text, absl::Duration& sum) {
  std::int64_t whole = 0;
  std::int64_t fraction = 0;
  std::size_t digits = 0;
  if (!TakeDigits(text, whole, digits)) return false;
  digits = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    // Nine digits are nanoseconds of a second, and few enough for the divisor below.
    if (!TakeDigits(text, fraction, digits) || digits > 9) return false;
  }
  for (const Unit& unit : Units()) {
    if (text.substr(0, unit.name.size()) != unit.name) continue;
    text.remove_prefix(unit.name.size());
    std::int64_t divisor = 1;
    for (std::size_t i = 0; i < digits; ++i) divisor *= 10;
    // In this order, the fraction loses nothing below a nanosecond: the product is exact.
    sum += unit.length * whole + unit.length * fraction / divisor;
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  absl::Duration sum;
  if (rest == "0") return sum;
  // At least one term: an empty text is no duration.
  do {
    // Sums that are too large become infinite, which a text cannot mean.
    if (!TakeTerm(rest, sum) || sum == absl::InfiniteDuration()) {
      return InvalidArgument("'{}' is not a duration such as 90s, 30m or 1h30m", text);
    }
  } while (!rest.empty());
  return sum;
}

std::string FormatDuration(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "inf";
  std::string text = duration < absl::ZeroDuration() ? "-" : "";
  // Hours are the largest unit that is written, though days are read.
  absl::Duration rest = absl::AbsDuration(duration);
  const std::int64_t hours = absl::IDivDuration(rest, absl::Hours(1), &rest);
  const std::int64_t minutes = absl::IDivDuration(rest, absl::Minutes(1), &rest);
  const std::int64_t seconds = absl::IDivDuration(rest, absl::Seconds(1), &rest);
  const std::int64_t nanoseconds = absl::IDivDuration(rest, absl::Nanoseconds(1), &rest);
  if (hours > 0) text += fmt::format("{}h", hours);
  if (minutes > 0) text += fmt::format("{}m", minutes);
  if (seconds == 0 && nanoseconds == 0) return text.size() > 1 ? text : "0s";
  std::string fraction = nanoseconds == 0 ? "" : fmt::format(".{:09}", nanoseconds);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fmt::format("{}{}{}s", text, seconds, fraction);
}

}  // namespace vernier::codec
