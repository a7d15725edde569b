#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

// Errors on the wire: the code and message, and for programs google.rpc.ErrorInfo with the reason (domain "vernier") and
// google.rpc.BadRequest with the path of the bad field.
namespace vernier::wire {

inline constexpr std::string_view kErrorDomain = "vernier";

// `request_id` names the call in the server's log; empty: none.
grpc::Status EncodeStatus(const absl::Status& status, std::string_view request_id = {});
// The status as the server had it: GetReason and GetField answer as they did there.
absl::Status DecodeStatus(const grpc::Status& status);

}  // namespace vernier::wire
