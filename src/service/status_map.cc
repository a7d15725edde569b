#include "src/service/status_map.h"

#include <string>

#include "fmt/format.h"
#include "src/base/log.h"
#include "src/wire/status_proto.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

// Codes that tell of the server's own faults, of which a client can do nothing with the details.
bool IsOwnTrouble(absl::StatusCode code) {
  return code == absl::StatusCode::kUnknown || code == absl::StatusCode::kInternal ||
         code == absl::StatusCode::kDataLoss;
}

}  // namespace

grpc::Status ToWireStatus(const absl::Status& status,
                          std::string_view method,
                          std::string_view request_id) {
  if (!IsOwnTrouble(status.code())) return wire::EncodeStatus(status);
  base::Log(base::LogLevel::kError,
            "call failed",
            {{"method", method}, {"request", request_id}, {"error", status.ToString()}});
  // Of a damaged store whoever asks is told: a backup may help.
  if (GetReason(status) == Reason::kDataLoss) return wire::EncodeStatus(status, request_id);
  return wire::EncodeStatus(
      absl::InternalError(fmt::format("internal error, request {}", request_id)), request_id);
}

}  // namespace vernier::service
