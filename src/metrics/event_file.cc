// A small reader of its own, so that neither TensorFlow nor protobuf's generated code is needed. Only the fields below
// are decoded, by their numbers in tensorflow/core/util/event.proto, framework/summary.proto and
// framework/tensor.proto; all others are skipped. A writer may be in the middle of a record: a record counts only if it
// is complete and its checksum holds.

#include "src/metrics/event_file.h"

#include <sys/stat.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/metrics/regular_file.h"

namespace vernier::metrics {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

// Sizes of a record's frame: length and its checksum; checksum of the content.
constexpr std::size_t kHeader = 12;
constexpr std::size_t kFooter = 4;
// Longer records are skipped without being read: graphs and images make such, scalars never. A choice.
constexpr std::uint64_t kLongestRecord = std::uint64_t{8} << 20;
// A length beyond this (2^50 bytes) is damage even with a valid checksum, and would overflow offsets.
constexpr std::uint64_t kLongestFile = std::uint64_t{1} << 50;

template <typename T>
T Load(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// 0x82F63B78 is the reflected Castagnoli polynomial (RFC 3720, B.4).
constexpr std::array<std::uint32_t, 256> MakeCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    table[i] = crc;
  }
  return table;
}

// One field of a serialised protocol buffer (https://protobuf.dev/programming-guides/encoding).
struct Field {
  std::uint32_t number = 0;
  std::uint64_t scalar = 0;  // Varint, 64 or 32 bits, undecoded.
  std::string_view bytes;    // Length-delimited.
};

// Iterates over the fields of a message.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  // The next field. Nothing: the end, or damage.
  std::optional<Field> Next() {
    if (rest_.empty()) return std::nullopt;
    const std::optional<std::uint64_t> key = Varint();
    if (!key.has_value()) return Damaged();
    Field field{.number = static_cast<std::uint32_t>(*key >> 3)};
    // Wire types: 0 varint, 1 64 bits, 2 length-delimited, 5 32 bits. Groups (3, 4) do not occur in these messages.
    switch (*key & 7) {
      case 0: {
        const std::optional<std::uint64_t> value = Varint();
        if (!value.has_value()) return Damaged();
        field.scalar = *value;
        return field;
      }
      case 1:
        return Fixed<std::uint64_t>(field);
      case 2: {
        const std::optional<std::uint64_t> size = Varint();
        if (!size.has_value() || *size > rest_.size()) return Damaged();
        field.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return field;
      }
      case 5:
        return Fixed<std::uint32_t>(field);
      default:
        return Damaged();
    }
  }

  bool is_damaged() const { return is_damaged_; }

 private:
  std::optional<Field> Damaged() {
    is_damaged_ = true;
    rest_ = {};
    return std::nullopt;
  }

  template <typename T>
  std::optional<Field> Fixed(Field field) {
    if (rest_.size() < sizeof(T)) return Damaged();
    field.scalar = Load<T>(rest_);
    rest_.remove_prefix(sizeof(T));
    return field;
  }

  std::optional<std::uint64_t> Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  bool is_damaged_ = false;
};

double FloatOf(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
double DoubleOf(std::uint64_t bits) { return std::bit_cast<double>(bits); }

// Values of tensorflow.DataType (framework/types.proto).
enum DataType : std::uint64_t {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kInt64 = 9,
  kBfloat16 = 14,
  kHalf = 19
};

// IEEE 754 binary16.
double HalfOf(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 0x1F) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The value of one element's bytes; nothing if the size does not match the type.
std::optional<double> ElementOf(std::uint64_t type, std::string_view content) {
  switch (type) {
    case kFloat:
      return content.size() == 4 ? std::optional<double>(Load<float>(content)) : std::nullopt;
    case kDouble:
      return content.size() == 8 ? std::optional(Load<double>(content)) : std::nullopt;
    case kInt32:
      return content.size() == 4 ? std::optional<double>(Load<std::int32_t>(content))
                                 : std::nullopt;
    case kInt64:
      return content.size() == 8 ? std::optional(static_cast<double>(Load<std::int64_t>(content)))
                                 : std::nullopt;
    case kHalf:
      return content.size() == 2 ? std::optional(HalfOf(Load<std::uint16_t>(content)))
                                 : std::nullopt;
    case kBfloat16:
      return content.size() == 2
                 ? std::optional(FloatOf(std::uint64_t{Load<std::uint16_t>(content)} << 16))
                 : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The value of a tensorflow.TensorProto with one element: fields dtype (1), tensor_content (4), float_val (5),
// double_val (6).
std::optional<double> TensorValue(std::string_view tensor) {
  std::uint64_t type = 0;
  std::optional<double> value;
  Fields fields(tensor);
  while (const auto field = fields.Next()) {
    switch (field->number) {
      case 1:
        type = field->scalar;
        break;
      case 4:
        value = ElementOf(type, field->bytes);
        break;
      case 5:  // float_val, packed or single.
        if (field->bytes.size() == 4) {
          value = Load<float>(field->bytes);
        } else if (field->bytes.empty()) {
          value = FloatOf(field->scalar);
        }
        break;
      case 6:  // double_val
        if (field->bytes.size() == 8) {
          value = Load<double>(field->bytes);
        } else if (field->bytes.empty()) {
          value = DoubleOf(field->scalar);
        }
        break;
      default:
        break;
    }
  }
  return fields.is_damaged() ? std::nullopt : value;
}

// The plugin's name in a tensorflow.SummaryMetadata: plugin_data (1), plugin_name (1).
std::string_view PluginName(std::string_view metadata) {
  Fields fields(metadata);
  while (const auto field = fields.Next()) {
    if (field->number != 1) continue;
    Fields plugin(field->bytes);
    while (const auto part = plugin.Next()) {
      if (part->number == 1) return part->bytes;
    }
  }
  return {};
}

// Converts an event's wall_time, in seconds since 1970; nothing if it is out of range.
std::optional<absl::Time> ToTime(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e12) return std::nullopt;
  return absl::UnixEpoch() + absl::Microseconds(std::llround(seconds * 1e6));
}

// The time in a file's name: 1795405933 of "events.out.tfevents.1795405933.host".
std::optional<absl::Time> TimeInName(std::string_view path) {
  constexpr std::string_view kMark = "tfevents.";
  const std::size_t mark = path.rfind(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view rest = path.substr(mark + kMark.size());
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
  constexpr std::int64_t kEarliest = 100'000'000;  // March 1973; smaller numbers are not times.
  const bool is_whole = end == rest.data() + rest.size() || *end == '.';
  if (error != std::errc() || !is_whole || seconds < kEarliest) return std::nullopt;
  return absl::FromUnixSeconds(seconds);
}

std::optional<absl::Time> TimeOfChange(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return absl::TimeFromTimespec(status.st_mtim);
}

// TensorFlow 2 begins a file with the time in whole seconds, which may be just before the attempt's placement.
bool IsWithin(const TimeSpan& span, absl::Time time) {
  const absl::Time second = absl::FromUnixSeconds(absl::ToUnixSeconds(time));
  if (time == second) return time + absl::Seconds(1) > span.from && time <= span.until;
  return time >= span.from && time <= span.until;
}

struct SummaryValue {
  std::string tag;
  std::optional<double> simple;
  std::string_view tensor;
  std::string_view plugin;
};

// Parses a tensorflow.Summary.Value: tag (1), simple_value (2), tensor (8), metadata (9).
std::optional<SummaryValue> ParseValue(std::string_view message) {
  SummaryValue value;
  Fields fields(message);
  while (const auto field = fields.Next()) {
    switch (field->number) {
      case 1:
        value.tag = std::string(field->bytes);
        break;
      case 2:
        value.simple = FloatOf(field->scalar);
        break;
      case 8:
        value.tensor = field->bytes;
        break;
      case 9:
        value.plugin = PluginName(field->bytes);
        break;
      default:
        break;
    }
  }
  if (fields.is_damaged()) return std::nullopt;
  return value;
}

}  // namespace

std::uint32_t MaskedCrc(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = MakeCrcTable();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes)
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  crc ^= 0xFFFFFFFFU;
  // The mask of tensorflow/core/lib/hash/crc32c.h (kMaskDelta).
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

std::optional<std::vector<EventScalar>> ParseEvent(std::string_view record) {
  std::vector<EventScalar> scalars;
  double wall_time = 0;
  std::int64_t step = 0;
  Fields event(record);
  while (const auto field = event.Next()) {
    // tensorflow.Event: wall_time (1), step (2), summary (5).
    if (field->number == 1) wall_time = DoubleOf(field->scalar);
    if (field->number == 2) step = static_cast<std::int64_t>(field->scalar);
    if (field->number != 5) continue;
    Fields summary(field->bytes);
    while (const auto entry = summary.Next()) {
      if (entry->number != 1) continue;
      const std::optional<SummaryValue> value = ParseValue(entry->bytes);
      if (!value.has_value()) return std::nullopt;
      std::optional<double> number = value->simple;
      // Text and histograms are also tensors, of other plugins.
      if (!number.has_value() && value->plugin == "scalars") number = TensorValue(value->tensor);
      if (number.has_value()) scalars.push_back({.tag = value->tag, .value = *number});
    }
    if (summary.is_damaged()) return std::nullopt;
  }
  const std::optional<absl::Time> time = ToTime(wall_time);
  if (event.is_damaged() || !time.has_value()) return std::nullopt;
  // Set at the end: fields may come in any order.
  for (EventScalar& scalar : scalars) {
    scalar.step = step;
    scalar.time = *time;
  }
  return scalars;
}

std::optional<absl::Time> TimeOfEvent(std::string_view record) {
  Fields event(record);
  while (const auto field = event.Next()) {
    if (field->number != 1) continue;
    const double seconds = DoubleOf(field->scalar);
    return seconds > 0 ? ToTime(seconds) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<absl::Time> EventFile::FindBeginning(std::string_view bytes) const {
  if (bytes.size() < kHeader) return std::nullopt;
  const auto length = Load<std::uint64_t>(bytes);
  const bool is_length = MaskedCrc(bytes.substr(0, 8)) == Load<std::uint32_t>(bytes.substr(8));
  if (is_length && length <= kLongestRecord) {
    if (bytes.size() < kHeader + length + kFooter) return std::nullopt;
    const std::string_view record = bytes.substr(kHeader, length);
    const bool is_whole = MaskedCrc(record) == Load<std::uint32_t>(bytes.substr(kHeader + length));
    if (const auto time = is_whole ? TimeOfEvent(record) : std::nullopt) return time;
  }
  // Without a first record with a time (a damaged file, or another writer), fall back to what the file system knows.
  if (const auto time = TimeInName(path_)) return time;
  return TimeOfChange(path_);
}

bool EventFile::Counts(std::string_view bytes) {
  if (counts_.has_value()) return *counts_;
  const std::optional<absl::Time> begun = FindBeginning(bytes);
  if (!begun.has_value()) return true;  // Nothing to read yet.
  counts_ = IsWithin(span_, *begun);
  return *counts_;
}

absl::StatusOr<std::vector<EventScalar>> EventFile::Read(std::int64_t most_bytes) {
  std::vector<EventScalar> found;
  if (is_broken_ || !counts_.value_or(true)) return found;
  VERNIER_ASSIGN_OR_RETURN(const std::string bytes, ReadRegularFile(path_, offset_, most_bytes));
  if (!Counts(bytes)) return found;
  std::string_view rest = bytes;
  while (rest.size() >= kHeader) {
    const auto length = Load<std::uint64_t>(rest);
    const bool is_length = MaskedCrc(rest.substr(0, 8)) == Load<std::uint32_t>(rest.substr(8));
    if (!is_length || length > kLongestFile) {
      damage_ = fmt::format("'{}' is damaged at byte {}: it is read no further", path_, offset_);
      is_broken_ = true;
      break;
    }
    if (length > kLongestRecord) {
      offset_ += static_cast<std::int64_t>(kHeader + length + kFooter);
      break;  // The next call continues after it.
    }
    if (rest.size() < kHeader + length + kFooter) break;  // Not complete yet.
    const std::string_view record = rest.substr(kHeader, length);
    const bool is_whole = MaskedCrc(record) == Load<std::uint32_t>(rest.substr(kHeader + length));
    auto scalars = is_whole ? ParseEvent(record) : std::nullopt;
    if (scalars.has_value()) {
      for (EventScalar& scalar : *scalars) found.push_back(std::move(scalar));
    } else {
      damage_ =
          fmt::format("'{}' has a damaged record at byte {}, which was left out", path_, offset_);
    }
    rest.remove_prefix(kHeader + length + kFooter);
    offset_ += static_cast<std::int64_t>(kHeader + length + kFooter);
  }
  return found;
}

}  // namespace vernier::metrics
