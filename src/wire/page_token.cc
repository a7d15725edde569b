#include "src/wire/page_token.h"

#include "absl/strings/escaping.h"
#include "src/core/fnv.h"
#include "src/core/limit_checks.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::wire {
namespace {

constexpr std::size_t kWordSize = 8;  // Bytes of a number.
// Hash of the query, last, offset, part; behind them a hash of these four. As base64 that is 56 characters, which fit
// the limit of a request's token.
constexpr std::size_t kWords = 4;
constexpr std::size_t kSize = (kWords + 1) * kWordSize;

// The same bytes on every host: a token may outlive the server that gave it.
void AppendWord(std::uint64_t word, std::string* bytes) {
  for (std::size_t i = 0; i < kWordSize; ++i) bytes->push_back(static_cast<char>(word >> (8 * i)));
}

std::uint64_t Read(std::string_view bytes, std::size_t index) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kWordSize; ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[index * kWordSize + i])} << (8 * i);
  }
  return word;
}

}  // namespace

std::string EncodePageToken(const PageToken& token, std::string_view query) {
  std::string bytes;
  // A hash of the query instead of its text keeps tokens short.
  AppendWord(Fnv1a(query), &bytes);
  AppendWord(static_cast<std::uint64_t>(token.last), &bytes);
  AppendWord(static_cast<std::uint64_t>(token.offset), &bytes);
  AppendWord(static_cast<std::uint64_t>(token.part), &bytes);
  // It tells a damaged token from a sound one. It is no secret: a forged token shows no more than another page.
  AppendWord(Fnv1a(bytes), &bytes);
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<PageToken> DecodePageToken(std::string_view text, std::string_view query) {
  VERNIER_RETURN_IF_ERROR(CheckLength("page_token", text, limits::kPageToken));
  std::string bytes;
  const bool decoded = absl::WebSafeBase64Unescape(std::string(text), &bytes);
  // The size is checked first, since Read does not.
  if (!decoded || bytes.size() != kSize ||
      Read(bytes, kWords) != Fnv1a(std::string_view(bytes).substr(0, kWords * kWordSize))) {
    return FieldError("page_token", "is not one that this server gave out");
  }
  if (Read(bytes, 0) != Fnv1a(query)) {
    return FieldError("page_token", "belongs to a list with another parent, filter or order_by");
  }
  return PageToken{.last = static_cast<std::int64_t>(Read(bytes, 1)),
                   .offset = static_cast<std::int64_t>(Read(bytes, 2)),
                   .part = static_cast<std::int64_t>(Read(bytes, 3))};
}

}  // namespace vernier::wire
