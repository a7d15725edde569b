#include "src/wire/status_proto.h"

#include <optional>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

// Those that a client may meet. One that is missing here would arrive as kNone.
constexpr Reason kReasons[] = {
    Reason::kStudyExists,
    Reason::kStudyNotFound,
    Reason::kStudyNotActive,
    Reason::kTrialNotFound,
    Reason::kTrialFinished,
    Reason::kIllegalTransition,
    Reason::kBudgetSpent,
    Reason::kParallelLimit,
    Reason::kSpaceExhausted,
    Reason::kLeaseLost,
    Reason::kRequestReused,
    Reason::kInsufficientCapacity,
    Reason::kStoreBusy,
    Reason::kStoreGone,
    Reason::kDataLoss,
};

Reason ReasonOf(std::string_view name) {
  for (const Reason reason : kReasons) {
    if (ReasonName(reason) == name) return reason;
  }
  return Reason::kNone;
}

// Statuses travel as HTTP/2 trailers, of which peers accept 8 KiB. The text is sent up to three times: as
// the status's message and, in base64, in the details and in the violation of a field: 1,500 + 2 * 2,000 bytes.
constexpr std::size_t kMaxMessage = 1500;

std::string Bounded(std::string_view text) {
  if (text.size() <= kMaxMessage) return ValidUtf8(text);
  // ValidUtf8 last: the cut may have split a character.
  return ValidUtf8(text.substr(0, kMaxMessage)) + "…";
}

// A FieldError's message begins with its path, which travels as a field of its own.
std::string Description(const std::string& field, const std::string& message) {
  const std::string prefix = field + ": ";
  return message.compare(0, prefix.size(), prefix) == 0 ? message.substr(prefix.size()) : message;
}

void AddDetails(const absl::Status& status, std::string_view request_id, google::rpc::Status* out) {
  // The reason is for programs, the message for people.
  if (const Reason reason = GetReason(status); reason != Reason::kNone) {
    google::rpc::ErrorInfo info;
    info.set_reason(std::string(ReasonName(reason)));
    info.set_domain(std::string(kErrorDomain));
    out->add_details()->PackFrom(info);
  }
  if (const auto field = GetField(status)) {
    google::rpc::BadRequest bad;
    auto* violation = bad.add_field_violations();
    violation->set_field(Bounded(*field));
    violation->set_description(Bounded(Description(*field, std::string(status.message()))));
    out->add_details()->PackFrom(bad);
  }
  if (!request_id.empty()) {
    // The id is for people, who look for it in the server's log; DecodeStatus leaves it alone.
    google::rpc::RequestInfo info;
    info.set_request_id(Bounded(request_id));
    out->add_details()->PackFrom(info);
  }
}

}  // namespace

grpc::Status EncodeStatus(const absl::Status& status, std::string_view request_id) {
  if (status.ok()) return grpc::Status::OK;
  google::rpc::Status proto;
  proto.set_code(static_cast<int>(status.code()));
  proto.set_message(Bounded(std::string(status.message())));
  AddDetails(status, request_id, &proto);
  // absl's codes are gRPC's.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      proto.message(),
                      proto.details().empty() ? std::string() : proto.SerializeAsString());
}

absl::Status DecodeStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status decoded(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status proto;
  // Another server, or a proxy, sends no details, or ones of its own.
  if (!proto.ParseFromString(status.error_details())) return decoded;
  Reason reason = Reason::kNone;
  for (const auto& detail : proto.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad;
    // Another domain's reasons may have the same names.
    if (detail.UnpackTo(&info) && info.domain() == kErrorDomain) {
      reason = ReasonOf(info.reason());
    } else if (detail.UnpackTo(&bad) && !bad.field_violations().empty()) {
      const auto& violation = bad.field_violations(0);
      // Puts the path back in front of the message.
      decoded = FieldError(violation.field(), violation.description());
    }
  }
  // A reason of a newer server is kNone here, and the error keeps its code and message.
  return reason == Reason::kNone ? decoded : WithReason(decoded, reason);
}

}  // namespace vernier::wire
