#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "src/wire/page_token.h"
#include "vernier/core/error.h"

namespace vernier::service {

inline constexpr std::int32_t kDefaultPageSize = 100;
inline constexpr std::int32_t kMaxPageSize = 1000;

template <typename Row>
struct Page {
  std::vector<Row> rows;
  std::string next_page_token;  // Empty: that was the last.
};

// The page of `rows` that `request` asks for. `parent` is what the list belongs to, `key` what tells its rows apart.
// InvalidArgument: a FieldError at "page_size" or "page_token".
template <typename Row, typename Request, typename Key>
absl::StatusOr<Page<Row>> TakePage(std::vector<Row> rows,
                                   const Request& request,
                                   std::string_view parent,
                                   Key key) {
  if (request.page_size() < 0) {
    return FieldError("page_size",
                      fmt::format("must not be negative, got {}", request.page_size()));
  }
  const std::int64_t size =
      request.page_size() == 0 ? kDefaultPageSize : std::min(request.page_size(), kMaxPageSize);
  const std::string query = fmt::format("{}\n{}\n{}", parent, request.filter(), request.order_by());
  std::int64_t begin = 0;
  if (!request.page_token().empty()) {
    VERNIER_ASSIGN_OR_RETURN(const wire::PageToken token,
                             wire::DecodePageToken(request.page_token(), query));
    // After the last row given, wherever it is by now; where it was, if it is gone.
    const auto last = std::find_if(
        rows.begin(), rows.end(), [&](const Row& row) { return key(row) == token.last; });
    begin = last != rows.end() ? last - rows.begin() + 1 : token.offset;
  }
  const std::int64_t count = static_cast<std::int64_t>(rows.size());
  begin = std::clamp<std::int64_t>(begin, 0, count);
  const std::int64_t end = std::min(begin + size, count);
  Page<Row> page;
  if (end < count && end > 0) {
    page.next_page_token = wire::EncodePageToken(
        {.last = key(rows[static_cast<std::size_t>(end - 1)]), .offset = end}, query);
  }
  page.rows.assign(std::make_move_iterator(rows.begin() + begin),
                   std::make_move_iterator(rows.begin() + end));
  return page;
}

}  // namespace vernier::service
