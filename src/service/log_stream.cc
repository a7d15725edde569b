#include "src/service/log_stream.h"

#include <optional>
#include <utility>

#include "src/core/status.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"

namespace vernier::service {
namespace {

// How often a followed log is looked at; programs print without telling anybody.
constexpr absl::Duration kPeriod = absl::Milliseconds(100);

const Attempt* FindAttempt(const Trial& trial, AttemptNumber number) {
  for (const Attempt& attempt : trial.attempts) {
    if (attempt.number == number) return &attempt;
  }
  return nullptr;
}

}  // namespace

LogStream::LogStream(const Studies& studies,
                     LogSource& logs,
                     TrialId trial,
                     const v1::StreamTrialLogsRequest& request,
                     Sink sink)
    : studies_(studies), logs_(logs), trial_(trial), request_(request), sink_(std::move(sink)) {}

absl::Status LogStream::OpenAttempt(const Trial& trial) {
  const bool last_one = request_.attempt() == 0;
  if (last_one && trial.attempts.empty()) return absl::OkStatus();
  const AttemptNumber wanted =
      last_one ? trial.attempts.back().number : AttemptNumber(request_.attempt());
  if (wanted == attempt_) return absl::OkStatus();
  const Attempt* attempt = FindAttempt(trial, wanted);
  if (attempt == nullptr) {
    return NotFound("trial {} has no attempt {}", trial.number.value(), wanted.value());
  }
  const bool first = attempt_ == AttemptNumber();
  attempt_ = wanted;
  cursor_ = logs_.Open(*attempt,
                       request_.role(),
                       request_.has_index() ? std::optional(request_.index()) : std::nullopt);
  return first && request_.tail() > 0 ? cursor_->SeekTail(request_.tail()) : absl::OkStatus();
}

absl::StatusOr<bool> LogStream::SendLines() {
  if (cursor_ == nullptr) return false;
  VERNIER_ASSIGN_OR_RETURN(const auto lines, cursor_->Read());
  for (const LogLine& line : lines) {
    v1::LogLine proto;
    wire::EncodeTime(line.time, proto.mutable_time());
    proto.set_attempt(attempt_.value());
    proto.set_role(line.role);
    proto.set_index(line.index);
    proto.set_is_stderr(line.is_stderr);
    proto.set_text(wire::ValidUtf8(line.text));
    if (!sink_(proto)) return Cancelled("nobody reads the log");
  }
  return !lines.empty();
}

absl::Status LogStream::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    // The state is read before the lines, so that nothing printed before the end is missed.
    VERNIER_ASSIGN_OR_RETURN(const Trial trial, studies_.GetTrial(trial_));
    const AttemptNumber before = attempt_;
    VERNIER_ASSIGN_OR_RETURN(const bool sent, SendLines());
    if (sent) continue;
    VERNIER_RETURN_IF_ERROR(OpenAttempt(trial));
    if (attempt_ != before) continue;
    if (!request_.follow() || IsFinished(trial.state)) return absl::OkStatus();
    VERNIER_ASSIGN_OR_RETURN(const Study study, studies_.GetStudy(trial_.study));
    studies_.WaitForEvents(trial_.study, study.last_event, kPeriod, stop);
  }
  return Cancelled("nobody waits for the log");
}

}  // namespace vernier::service
