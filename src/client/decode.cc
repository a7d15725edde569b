#include "src/client/decode.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "src/wire/enum_proto.h"
#include "src/wire/study_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/trial_proto.h"

namespace vernier::client {
namespace {

// The most that the server gives.
constexpr std::int64_t kPage = 1000;

ReplaySummary::Result DecodeResult(v1::ReplayStudyResponse::Result result) {
  switch (result) {
    case v1::ReplayStudyResponse::VERIFIED:
      return ReplaySummary::Result::kVerified;
    case v1::ReplayStudyResponse::DIVERGED:
      return ReplaySummary::Result::kDiverged;
    // What a newer server may say has not been verified for this client.
    default:
      return ReplaySummary::Result::kUnverifiable;
  }
}

}  // namespace

ReplaySummary DecodeReplay(const v1::ReplayStudyResponse& response) {
  ReplaySummary summary{.suggestions = response.suggestions(),
                        .stops = response.stops(),
                        .verified = response.verified(),
                        .problems = {}};
  for (const auto& problem : response.problems()) {
    summary.problems.push_back({.event = EventSeq(problem.event()),
                                .trial = TrialNumber(problem.trial()),
                                .result = DecodeResult(problem.result()),
                                .detail = problem.detail()});
  }
  return summary;
}

PredictedPoint DecodePrediction(const v1::PredictPointsResponse::Prediction& prediction) {
  PredictedPoint point = {
      .objective = {.mean = prediction.mean(), .deviation = prediction.deviation()}, .others = {}};
  for (const auto& [name, value] : prediction.others()) {
    point.others[name] = {.mean = value.mean(), .deviation = value.deviation()};
  }
  return point;
}

ServerStatus DecodeServerInfo(const v1::ServerInfo& info) {
  return {.version = info.version(),
          .store = info.store(),
          .process_id = info.process_id(),
          .started = wire::DecodeTime(info.start_time()),
          .studies = info.studies(),
          .running_trials = info.running_trials(),
          .resident_bytes = info.resident_bytes()};
}

TrialLogLine DecodeLogLine(const v1::LogLine& line) {
  return {.time = wire::DecodeTime(line.time()),
          .attempt = AttemptNumber(line.attempt()),
          .role = line.role(),
          .index = line.index(),
          .is_stderr = line.is_stderr(),
          .text = line.text(),
          // Lines of a kind that this client does not know are shown.
          .severity = wire::Decode(line.severity()).value_or(Severity::kInfo),
          .message = line.has_message() ? std::optional(line.message()) : std::nullopt,
          .stated = line.has_stated_time() ? std::optional(wire::DecodeTime(line.stated_time()))
                                           : std::nullopt,
          .fields = line.fields_json()};
}

v1::StreamTrialLogsRequest EncodeLogQuery(std::string_view trial, const TrialLogQuery& query) {
  v1::StreamTrialLogsRequest request;
  request.set_name(std::string(trial));
  request.set_follow(query.follow);
  request.set_attempt(query.attempt.value());
  request.set_role(query.role);
  if (query.index.has_value()) request.set_index(*query.index);
  request.set_tail(query.tail);
  request.set_min_severity(wire::Encode(query.least));
  // A bound that is not there is not sent.
  if (query.since > absl::InfinitePast()) {
    wire::EncodeTime(query.since, request.mutable_since_time());
  }
  if (query.until < absl::InfiniteFuture()) {
    wire::EncodeTime(query.until, request.mutable_until_time());
  }
  return request;
}

void EncodeAmendment(const Client::Amendment& change, v1::UpdateStudyRequest* request) {
  // The message always has a whole definition; the mask says which parts of it are meant.
  StudySpec spec = change.definition.value_or(StudySpec());
  const auto set = [&](const auto& wanted, auto& part, const char* path) {
    if (!wanted.has_value()) return;
    part = *wanted;
    request->mutable_update_mask()->add_paths(path);
  };
  // A whole definition takes the place of what is stored; the parts below come on top.
  if (change.definition.has_value()) request->mutable_update_mask()->add_paths("spec");
  set(change.trials, spec.budget.trials, "spec.budget.trials");
  set(change.failed_trials, spec.budget.failed_trials, "spec.budget.failed_trials");
  set(change.time, spec.budget.time, "spec.budget.time");
  set(change.gpu_hours, spec.budget.gpu_hours, "spec.budget.gpu_hours");
  set(change.parallel, spec.parallel, "spec.parallel");
  set(change.stopping, spec.stopping, "spec.stopping");
  set(change.convergence, spec.convergence, "spec.convergence");
  set(change.metrics, spec.metrics, "spec.metrics");
  set(change.lease, spec.lease, "spec.lease");
  if (change.job.has_value()) {
    spec.job = change.job;
    request->mutable_update_mask()->add_paths("spec.job");
  }
  if (change.clear_labels) {
    spec.labels.clear();
    request->mutable_update_mask()->add_paths("spec.labels");
  }
  for (const auto& [key, value] : change.labels) {
    request->mutable_update_mask()->add_paths("spec.labels." + key);
    // A label without a value stays out of the definition, and so is removed.
    spec.labels.erase(key);
    if (value) spec.labels.emplace(key, *value);
  }
  wire::EncodeSpec(spec, request->mutable_study()->mutable_spec());
  request->set_keep_amended(change.keep_amended);
  request->set_fixed(change.fixed);
}

void EncodeReport(const Measurement& measurement, v1::Measurement* out) {
  wire::EncodeMeasurement(measurement, out);
  // Zero and the Unix epoch are what a Measurement has when nothing was set.
  if (measurement.elapsed == absl::ZeroDuration()) out->clear_elapsed();
  if (measurement.time == absl::UnixEpoch()) out->clear_time();
}

std::int32_t PageSize(std::int64_t limit, std::size_t have) {
  // Never 0, which would ask for the server's default.
  const std::int64_t wanted = limit <= 0 ? kPage : limit - static_cast<std::int64_t>(have);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(wanted, 1, kPage));
}

bool IsFull(std::int64_t limit, std::size_t have) {
  return limit > 0 && static_cast<std::int64_t>(have) >= limit;
}

}  // namespace vernier::client
