#include "src/service/log_stream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/status.h"
#include "src/wire/enum_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"

namespace vernier::service {
namespace {

// How often a followed log is looked at; programs print without telling anybody.
constexpr absl::Duration kLookPeriod = absl::Milliseconds(100);

const Attempt* FindAttempt(const Trial& trial, AttemptNumber number) {
  for (const Attempt& attempt : trial.attempts) {
    if (attempt.number == number) return &attempt;
  }
  return nullptr;
}

// A misspelt role would look like a replica that prints nothing.
absl::Status CheckReplica(const Attempt& attempt, const LogFilter& filter) {
  if (filter.role.empty() || attempt.placement.empty()) return absl::OkStatus();
  std::vector<std::string> roles;
  std::int32_t replicas = 0;
  for (const auto& replica : attempt.placement) {
    if (roles.empty() || roles.back() != replica.role) roles.push_back(replica.role);
    replicas += replica.role == filter.role ? 1 : 0;
  }
  if (replicas == 0) {
    return FieldError(
        "role", fmt::format("must be one of {}, got '{}'", fmt::join(roles, ", "), filter.role));
  }
  if (filter.index.value_or(0) < replicas) return absl::OkStatus();
  return FieldError(
      "index",
      fmt::format(
          "must be at most {} of role {}, got {}", replicas - 1, filter.role, *filter.index));
}

v1::LogLine EncodeLogLine(const LogLine& line, AttemptNumber attempt) {
  v1::LogLine proto;
  wire::EncodeTime(line.time, proto.mutable_time());
  proto.set_attempt(attempt.value());
  proto.set_role(line.role);
  proto.set_index(line.index);
  proto.set_is_stderr(line.is_stderr);
  proto.set_text(wire::ValidUtf8(line.text));
  proto.set_severity(wire::Encode(line.severity));
  if (line.message.has_value()) proto.set_message(*line.message);
  if (line.stated.has_value()) wire::EncodeTime(*line.stated, proto.mutable_stated_time());
  proto.set_fields_json(line.fields);
  return proto;
}

}  // namespace

absl::StatusOr<LogFilter> DecodeFilter(const v1::StreamTrialLogsRequest& request) {
  LogFilter filter{.role = request.role()};
  // An index alone would mean a replica of each role.
  if (request.has_index()) {
    if (request.role().empty()) return FieldError("index", "needs a role beside it");
    filter.index = request.index();
  }
  if (request.min_severity() != v1::LogLine::SEVERITY_UNSPECIFIED) {
    const auto least = wire::Decode(request.min_severity());
    if (!least.has_value()) {
      return FieldError("min_severity",
                        fmt::format("must be one of the known ones, got {}",
                                    static_cast<int>(request.min_severity())));
    }
    filter.least = *least;
  }
  if (request.has_since_time()) filter.since = wire::DecodeTime(request.since_time());
  if (request.has_until_time()) filter.until = wire::DecodeTime(request.until_time());
  if (filter.since >= filter.until) {
    return FieldError("since_time",
                      fmt::format("must be before until_time, which is {}, got {}",
                                  absl::FormatTime(filter.until, absl::UTCTimeZone()),
                                  absl::FormatTime(filter.since, absl::UTCTimeZone())));
  }
  return filter;
}

LogStream::LogStream(const Studies& studies,
                     LogSource& logs,
                     const Clock& clock,
                     TrialId trial,
                     const v1::StreamTrialLogsRequest& request,
                     LogFilter filter,
                     Sink sink)
    : studies_(studies),
      logs_(logs),
      clock_(clock),
      trial_(trial),
      request_(request),
      filter_(std::move(filter)),
      sink_(std::move(sink)) {}

absl::Status LogStream::OpenAttempt(const Trial& trial) {
  // 0: the latest attempt, whichever that is at the time.
  const bool last_one = request_.attempt() == 0;
  if (last_one && trial.attempts.empty()) return absl::OkStatus();
  const AttemptNumber wanted =
      last_one ? trial.attempts.back().number : AttemptNumber(request_.attempt());
  if (wanted == attempt_) return absl::OkStatus();
  const Attempt* attempt = FindAttempt(trial, wanted);
  if (attempt == nullptr) {
    return NotFound("trial {} has no attempt {}", trial.number.value(), wanted.value());
  }
  VERNIER_RETURN_IF_ERROR(CheckReplica(*attempt, filter_));
  // The tail is that of the first attempt read: an attempt that starts while the log is followed is read whole.
  const bool first = attempt_ == AttemptNumber();
  attempt_ = wanted;
  VERNIER_ASSIGN_OR_RETURN(cursor_, logs_.Open(*attempt, filter_));
  return first && request_.tail() > 0 ? cursor_->SeekTail(request_.tail()) : absl::OkStatus();
}

absl::StatusOr<bool> LogStream::SendLines() {
  if (cursor_ == nullptr) return false;
  // May return fewer lines than there are, so that a long log does not keep the call from looking at its stop token.
  VERNIER_ASSIGN_OR_RETURN(const auto lines, cursor_->Read());
  for (const LogLine& line : lines) {
    if (!sink_(EncodeLogLine(line, attempt_))) return Cancelled("nobody reads the log");
  }
  return !cursor_->at_end();
}

bool LogStream::IsOver(const Trial& trial, absl::Time now) const {
  // A line from just before `until` may be found one look later.
  if (IsFinished(trial.state) || now >= filter_.until + kLookPeriod) return true;
  // Without a number in the request no attempt is found, and only the trial's end counts.
  const Attempt* attempt = FindAttempt(trial, AttemptNumber(request_.attempt()));
  return attempt != nullptr && IsEnded(attempt->state);
}

absl::Status LogStream::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    // State and time are read before the lines, so that nothing printed before the end is missed.
    VERNIER_ASSIGN_OR_RETURN(const Trial trial, studies_.GetTrial(trial_));
    const absl::Time now = clock_.Now();
    const AttemptNumber before = attempt_;
    VERNIER_ASSIGN_OR_RETURN(const bool sent, SendLines());
    if (sent) continue;
    // A newer attempt is opened only once every line of the one before it was sent.
    VERNIER_RETURN_IF_ERROR(OpenAttempt(trial));
    if (attempt_ != before) continue;
    if (!request_.follow() || IsOver(trial, now)) return absl::OkStatus();
    VERNIER_ASSIGN_OR_RETURN(const Study study, studies_.GetStudy(trial_.study));
    // The wait ends early on a change of the study, such as a new attempt; lines cause no change, so the period bounds
    // it.
    studies_.WaitForEvents(trial_.study, study.last_event, kLookPeriod, stop);
  }
  return Cancelled("nobody waits for the log");
}

}  // namespace vernier::service
