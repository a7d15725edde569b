#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace vernier::service {

// The one place where a Status becomes what a client sees. Unknown, Internal and DataLoss are the server's own trouble:
// they leave as INTERNAL "internal error, request <id>", and what they say is logged under that id. Everything else
// leaves as it is, with its reason and field as typed details.
grpc::Status ToWireStatus(const absl::Status& status,
                          std::string_view method,
                          std::string_view request_id);

}  // namespace vernier::service
