#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::client {

// Sends a file to the server, which stores it under its hash. Returns the server's name for it.
// InvalidArgument: no file that can be read, or one that is too large.
absl::StatusOr<std::string> UploadFile(v1::StudyService::StubInterface& stub,
                                       const std::string& path);

}  // namespace vernier::client
