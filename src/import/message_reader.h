#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vernier::imports {

// One field of a message: its number, and its value as bytes or as a number.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t bits = 0;  // Of a varint or a number of fixed size.
  bool is_bytes = false;
  std::string_view bytes;  // Of a text, a message or a packed list.

  double real() const { return std::bit_cast<double>(bits); }
  std::int64_t whole() const { return static_cast<std::int64_t>(bits); }
};

// Reads a message in protobuf's wire format (protobuf.dev, «Encoding») without its definition, so that this library needs
// no protobuf. Borrows the bytes.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  // The next field; nothing at the end, or where the bytes are no message.
  std::optional<Field> Next();
  // The next number of a packed list of integers or doubles; nothing at the end.
  std::optional<std::int64_t> NextInteger();
  std::optional<double> NextReal();
  bool is_damaged() const { return is_damaged_; }

 private:
  std::uint64_t Varint();
  std::string_view Take(std::uint64_t size);
  std::uint64_t Fixed(std::size_t size);

  std::string_view rest_;
  bool is_damaged_ = false;
};

}  // namespace vernier::imports
