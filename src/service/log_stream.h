#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/service/log_source.h"
#include "vernier/core/clock.h"
#include "vernier/studies.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::service {

// Which lines the request wants, but for their number.  InvalidArgument: a FieldError.
absl::StatusOr<LogFilter> DecodeFilter(const v1::StreamTrialLogsRequest& request);

// One call of StreamTrialLogs: the output of a trial's attempts, as far as there is any or, following, until what was asked
// for has ended and all was sent.
class LogStream {
 public:
  // False: the reader is gone.
  using Sink = std::function<bool(const v1::LogLine&)>;

  // `filter`: that of the request.
  LogStream(const Studies& studies,
            LogSource& logs,
            const Clock& clock,
            TrialId trial,
            const v1::StreamTrialLogsRequest& request,
            LogFilter filter,
            Sink sink);

  // NotFound: no such trial or attempt.  Cancelled: `stop` fired or the reader is gone.
  absl::Status Run(const std::stop_token& stop);

 private:
  // Opens the attempt asked for, or a later one, once there is one.
  absl::Status OpenAttempt(const Trial& trial);
  // Sends what there is to send.  False: that was all, for now.
  absl::StatusOr<bool> SendLines();
  // Whether nothing will be printed any more that was asked for.
  bool IsOver(const Trial& trial, absl::Time now) const;

  const Studies& studies_;
  LogSource& logs_;
  const Clock& clock_;
  const TrialId trial_;
  const v1::StreamTrialLogsRequest& request_;
  const LogFilter filter_;
  const Sink sink_;
  AttemptNumber attempt_;  // The one being read; 0: none yet.
  std::unique_ptr<LogCursor> cursor_;
};

}  // namespace vernier::service
