#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/service/log_source.h"
#include "vernier/studies.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::service {

// One call of StreamTrialLogs: the output of a trial's attempts, as far as there is any or, following, until the trial
// has ended and all was sent.
class LogStream {
 public:
  // False: the reader is gone.
  using Sink = std::function<bool(const v1::LogLine&)>;

  LogStream(const Studies& studies,
            LogSource& logs,
            TrialId trial,
            const v1::StreamTrialLogsRequest& request,
            Sink sink);

  // NotFound: no such trial or attempt.  Cancelled: `stop` fired or the reader is gone.
  absl::Status Run(const std::stop_token& stop);

 private:
  // Opens the attempt asked for, or a later one, once there is one.
  absl::Status OpenAttempt(const Trial& trial);
  // Sends what there is to send.  False: there was nothing.
  absl::StatusOr<bool> SendLines();

  const Studies& studies_;
  LogSource& logs_;
  const TrialId trial_;
  const v1::StreamTrialLogsRequest& request_;
  const Sink sink_;
  AttemptNumber attempt_;  // The one being read; 0: none yet.
  std::unique_ptr<LogCursor> cursor_;
};

}  // namespace vernier::service
