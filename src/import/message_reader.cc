#include "src/import/message_reader.h"

namespace vernier::imports {

std::optional<Field> MessageReader::Next() {
  if (is_damaged_ || rest_.empty()) return std::nullopt;
  const std::uint64_t tag = Varint();
  Field field{.number = tag >> 3};
  switch (tag & 7) {
    case 0:
      field.bits = Varint();
      break;
    case 1:
      field.bits = Fixed(8);
      break;
    case 2:
      field.is_bytes = true;
      field.bytes = Take(Varint());
      break;
    case 5:
      field.bits = Fixed(4);
      break;
    default:
      is_damaged_ = true;
  }
  if (is_damaged_) return std::nullopt;
  return field;
}

std::optional<std::int64_t> MessageReader::NextInteger() {
  if (is_damaged_ || rest_.empty()) return std::nullopt;
  const auto value = static_cast<std::int64_t>(Varint());
  if (is_damaged_) return std::nullopt;
  return value;
}

std::optional<double> MessageReader::NextReal() {
  if (is_damaged_ || rest_.empty()) return std::nullopt;
  const auto value = std::bit_cast<double>(Fixed(8));
  if (is_damaged_) return std::nullopt;
  return value;
}

std::uint64_t MessageReader::Varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  is_damaged_ = true;
  return 0;
}

std::string_view MessageReader::Take(std::uint64_t size) {
  if (size > rest_.size()) {
    is_damaged_ = true;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

// Little-endian.
std::uint64_t MessageReader::Fixed(std::size_t size) {
  const std::string_view bytes = Take(size);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

}  // namespace vernier::imports
