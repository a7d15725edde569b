#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace vernier::wire {

// Where the next page of a list begins. Opaque to clients; good only with the query that it was made for.
struct PageToken {
  std::int64_t last = 0;    // Id or number of the last row given.
  std::int64_t offset = 0;  // How many rows came up to it: where to go on if that row is gone.
  std::int64_t part = 0;    // Of a list that is read in parts: which one.
  friend bool operator==(const PageToken&, const PageToken&) = default;
};

// `query` is whatever must stay the same from page to page.
std::string EncodePageToken(const PageToken& token, std::string_view query);
// InvalidArgument: a FieldError at "page_token": not one of ours, or of another query.
absl::StatusOr<PageToken> DecodePageToken(std::string_view text, std::string_view query);

}  // namespace vernier::wire
