#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "src/service/status_map.h"
#include "src/service/vizier/vizier_service.h"
#include "src/wire/page_token.h"
#include "vernier/core/error.h"

// What every call of the service shares.
namespace vernier::vizier {

template <typename Work>
grpc::Status VizierServiceImpl::Reply(std::string_view method, Work work) const {
  return ReplyOf(work(), method);
}

template <typename Work>
grpc::ServerUnaryReactor* VizierServiceImpl::ReplyLater(grpc::CallbackServerContext* context,
                                                        std::string_view method,
                                                        const absl::StatusOr<StudyName>& name,
                                                        Work work) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto serve = [this, reactor, method, work](const absl::StatusOr<Known>& study) {
    const Answer answer = [this, reactor, method](const absl::Status& status) {
      reactor->Finish(ReplyOf(status, method));
    };
    const absl::Status begun = study.ok() ? work(*study, answer) : study.status();
    if (!begun.ok()) answer(begun);
  };
  const absl::StatusOr<Known> study = name.ok() ? FindAtHand(*name) : name.status();
  if (study.ok() && study->codec == nullptr) {
    side_threads_.Run([this, serve, name] { serve(FindKnown(*name)); });
  } else {
    serve(study);
  }
  return reactor;
}

// A client takes replies of 4 MiB unless it says otherwise; a little is left for what surrounds the rows.
inline constexpr std::size_t kMostReplyBytes = (std::size_t{4} << 20) - (std::size_t{64} << 10);

// Adds to the response what `request` asks for of the rows, of which number(row) is the number that they are in the order of
// and `encode(row, out)` writes one and returns a status. A request without page_size gets all.  ResourceExhausted: they
// are too many for a reply.
template <typename Stored, typename Row, typename Request, typename Number, typename Encode>
absl::Status AddPage(const Request& request,
                     const std::vector<Stored>& stored,
                     google::protobuf::RepeatedPtrField<Row>* rows,
                     std::string* next_page_token,
                     Number number,
                     Encode encode) {
  if (request.page_size() < 0) {
    return FieldError("page_size",
                      fmt::format("must not be negative, got {}", request.page_size()));
  }
  auto next = stored.begin();
  if (!request.page_token().empty()) {
    VERNIER_ASSIGN_OR_RETURN(const wire::PageToken token,
                             wire::DecodePageToken(request.page_token(), request.parent()));
    // After the last one given, which may be gone by now.
    next = std::ranges::upper_bound(stored, token.last, {}, number);
  }
  const bool is_whole = request.page_size() == 0 && request.page_token().empty();
  const auto most = request.page_size() > 0 ? static_cast<std::ptrdiff_t>(request.page_size())
                                            : std::ssize(stored);
  const auto begin = next;
  std::size_t bytes = 0;
  for (; next != stored.end() && next - begin < most; ++next) {
    Row row;
    VERNIER_RETURN_IF_ERROR(encode(*next, &row));
    bytes += row.ByteSizeLong() + 8;
    if (bytes > kMostReplyBytes && next > begin) break;
    *rows->Add() = std::move(row);
  }
  if (next == stored.end()) return absl::OkStatus();
  if (is_whole) {
    return ResourceExhausted(
        "{} of them do not fit into a reply of 4 MiB: ask for them in pages, with page_size",
        stored.size());
  }
  const std::int64_t last = number(*std::prev(next));
  *next_page_token = wire::EncodePageToken({.last = last}, request.parent());
  return absl::OkStatus();
}

}  // namespace vernier::vizier
