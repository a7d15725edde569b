#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "fmt/format.h"
#include "src/wire/page_token.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::service {

inline constexpr std::int32_t kDefaultPageSize = 100;
// A page ends with the row that reaches this size, so that it fits a message of 4 MiB.
inline constexpr std::size_t kPageBytes = std::size_t{2} << 20;

// What a request asks of a list.
struct PageRequest {
  std::int64_t size = 0;
  std::string query;      // What must stay the same from page to page.
  wire::PageToken begin;  // Where the page before it ended.
};

// InvalidArgument: a FieldError at "page_size" or "page_token".
template <typename Request>
absl::StatusOr<PageRequest> DecodePage(const Request& request, std::string_view parent) {
  if (request.page_size() < 0) {
    return FieldError("page_size",
                      fmt::format("must not be negative, got {}", request.page_size()));
  }
  PageRequest page{
      .size = request.page_size() == 0 ? kDefaultPageSize
                                       : std::min(request.page_size(), limits::kPageSize),
      .query = fmt::format("{}\n{}\n{}", parent, request.filter(), request.order_by())};
  if (!request.page_token().empty()) {
    VERNIER_ASSIGN_OR_RETURN(page.begin, wire::DecodePageToken(request.page_token(), page.query));
  }
  return page;
}

}  // namespace vernier::service
