#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "grpcpp/support/status.h"
#include "src/core/status.h"
#include "src/service/status_map.h"
#include "src/wire/page_token.h"
#include "vernier/core/error.h"

// What every call of the service shares.
namespace vernier::vizier {

// Runs `work` and turns what it returns into what the client sees.
template <typename Work>
grpc::Status Reply(std::string_view method, Work work) {
  const absl::Status status = work();
  return status.ok() ? grpc::Status::OK : service::ToWireStatus(status, method, method);
}

// A client takes replies of 4 MiB unless it says otherwise; a little is left for what surrounds the rows.
inline constexpr std::size_t kMostReplyBytes = (std::size_t{4} << 20) - (std::size_t{64} << 10);

// Adds to the response what `request` asks for of the rows: `count` of them, of which `encode(i, row)` writes the i-th and
// returns a status. A request without page_size gets all.  ResourceExhausted: they are too many for a reply.
template <typename Row, typename Request, typename Encode>
absl::Status AddPage(const Request& request,
                     std::int64_t count,
                     google::protobuf::RepeatedPtrField<Row>* rows,
                     std::string* next_page_token,
                     Encode encode) {
  if (request.page_size() < 0) {
    return FieldError("page_size",
                      fmt::format("must not be negative, got {}", request.page_size()));
  }
  std::int64_t begin = 0;
  if (!request.page_token().empty()) {
    VERNIER_ASSIGN_OR_RETURN(const wire::PageToken token,
                             wire::DecodePageToken(request.page_token(), request.parent()));
    begin = std::clamp<std::int64_t>(token.offset, 0, count);
  }
  const bool is_whole = request.page_size() == 0 && request.page_token().empty();
  const std::int64_t most = request.page_size() > 0 ? request.page_size() : count;
  std::size_t bytes = 0;
  std::int64_t i = begin;
  for (; i < count && i - begin < most; ++i) {
    Row row;
    VERNIER_RETURN_IF_ERROR(encode(i, &row));
    bytes += row.ByteSizeLong() + 8;
    if (bytes > kMostReplyBytes && i > begin) break;
    *rows->Add() = std::move(row);
  }
  if (i == count) return absl::OkStatus();
  if (is_whole) {
    return ResourceExhausted(
        "{} of them do not fit into a reply of 4 MiB: ask for them in pages, with page_size",
        count);
  }
  *next_page_token = wire::EncodePageToken({.last = i, .offset = i}, request.parent());
  return absl::OkStatus();
}

}  // namespace vernier::vizier
