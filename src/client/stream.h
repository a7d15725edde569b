#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/client/retry.h"
#include "vernier/client.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::client {

// Client::WatchStudy.
absl::Status StreamEvents(v1::StudyService::StubInterface& stub,
                          const Retry& retry,
                          std::string_view study,
                          EventSeq after,
                          bool follow,
                          const std::function<bool(const Event&)>& sink,
                          const std::stop_token& stop);

// Client::StreamTrialLogs of the trial with this resource name. A lost connection ends it: lines have no number to go on
// from.
absl::Status StreamLogs(v1::StudyService::StubInterface& stub,
                        const Retry& retry,
                        const std::string& trial,
                        const TrialLogQuery& query,
                        const std::function<bool(const TrialLogLine&)>& sink,
                        const std::stop_token& stop);

}  // namespace vernier::client
