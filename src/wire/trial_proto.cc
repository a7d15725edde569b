#include "src/wire/trial_proto.h"

#include <optional>
#include <utility>

#include "fmt/format.h"
#include "src/wire/attempt_proto.h"
#include "src/wire/enum_proto.h"
#include "src/wire/names.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {

void EncodePredicted(const std::map<std::string, PredictedValue>& predicted,
                     google::protobuf::Map<std::string, v1::PredictedValue>* out) {
  for (const auto& [name, value] : predicted) {
    v1::PredictedValue& encoded = (*out)[name];
    encoded.set_mean(value.mean);
    encoded.set_deviation(value.deviation);
  }
}

namespace {

// Everything that is needed to compute the suggestion again, and to say why it was made.
void EncodeSuggestion(const SuggestionRecord& record, v1::SuggestionRecord* out) {
  out->set_algorithm(record.algorithm);
  out->set_version(record.version);
  out->set_options_json(record.options);
  out->set_fingerprint(record.fingerprint);
  out->set_as_of_event(record.as_of.value());
  out->set_state_event(record.state_from.value());
  out->set_stream(record.stream);
  out->set_batch_size(record.batch_size);
  out->set_batch_index(record.batch_index);
  for (const TrialNumber trial : record.pending) out->add_pending_trials(trial.value());
  out->set_origin(record.origin);
  if (record.acquisition.has_value()) out->set_acquisition(*record.acquisition);
  if (record.predicted_mean.has_value()) out->set_predicted_mean(*record.predicted_mean);
  if (record.predicted_deviation.has_value()) {
    out->set_predicted_deviation(*record.predicted_deviation);
  }
  if (record.expected_improvement.has_value()) {
    out->set_expected_improvement(*record.expected_improvement);
  }
  EncodePredicted(record.predicted_others, out->mutable_predicted_others());
  EncodeMetrics(record.importance, out->mutable_importance());
  out->set_note(ValidUtf8(record.note));
}

SuggestionRecord DecodeSuggestion(const v1::SuggestionRecord& proto) {
  SuggestionRecord record;
  record.algorithm = proto.algorithm();
  record.version = proto.version();
  record.options = proto.options_json();
  record.fingerprint = proto.fingerprint();
  record.as_of = EventSeq(proto.as_of_event());
  record.state_from = EventSeq(proto.state_event());
  record.stream = proto.stream();
  record.batch_size = proto.batch_size();
  record.batch_index = proto.batch_index();
  for (const auto trial : proto.pending_trials()) record.pending.emplace_back(trial);
  record.origin = proto.origin();
  if (proto.has_acquisition()) record.acquisition = proto.acquisition();
  if (proto.has_predicted_mean()) record.predicted_mean = proto.predicted_mean();
  if (proto.has_predicted_deviation()) record.predicted_deviation = proto.predicted_deviation();
  if (proto.has_expected_improvement()) record.expected_improvement = proto.expected_improvement();
  for (const auto& [name, value] : proto.predicted_others()) {
    record.predicted_others[name] = {.mean = value.mean(), .deviation = value.deviation()};
  }
  record.importance = DecodeMetrics(proto.importance());
  record.note = proto.note();
  return record;
}

void EncodeStop(const StopRecord& stop, v1::StopRecord* out) {
  out->set_rule(stop.rule);
  out->set_version(stop.version);
  out->set_options_json(stop.options);
  out->set_as_of_event(stop.as_of.value());
  EncodeMetrics(stop.numbers, out->mutable_numbers());
  out->set_explanation(ValidUtf8(stop.explanation));
}

StopRecord DecodeStop(const v1::StopRecord& proto) {
  return {.rule = proto.rule(),
          .version = proto.version(),
          .options = proto.options_json(),
          .as_of = EventSeq(proto.as_of_event()),
          .numbers = DecodeMetrics(proto.numbers()),
          .explanation = proto.explanation()};
}

void EncodeLease(const Lease& lease, v1::Lease* out) {
  out->set_holder(lease.holder);
  out->set_token(lease.token);
  EncodeTime(lease.expires, out->mutable_expire_time());
}

// The parts of a trial that may be absent. They are messages, whose absence is visible.
void EncodeOptionals(const Trial& trial, v1::Trial* out) {
  if (trial.started.has_value()) EncodeTime(*trial.started, out->mutable_start_time());
  if (trial.ended.has_value()) EncodeTime(*trial.ended, out->mutable_end_time());
  if (trial.last.has_value()) EncodeMeasurement(*trial.last, out->mutable_last_measurement());
  if (trial.stop.has_value()) EncodeStop(*trial.stop, out->mutable_stop());
  if (trial.lease.has_value()) EncodeLease(*trial.lease, out->mutable_lease());
}

void DecodeOptionals(const v1::Trial& proto, Trial* out) {
  if (proto.has_start_time()) out->started = DecodeTime(proto.start_time());
  if (proto.has_end_time()) out->ended = DecodeTime(proto.end_time());
  if (proto.has_last_measurement()) out->last = DecodeMeasurement(proto.last_measurement());
  if (proto.has_stop()) out->stop = DecodeStop(proto.stop());
  if (proto.has_lease()) {
    out->lease = Lease{.holder = proto.lease().holder(),
                       .token = proto.lease().token(),
                       .expires = DecodeTime(proto.lease().expire_time())};
  }
}

absl::Status DecodeStates(const v1::Trial& proto, Trial* out) {
  // What a newer server means by an unknown state cannot be guessed.
  const auto state = Decode(proto.state());
  if (!state.has_value()) {
    return FieldError("state", fmt::format("unknown state {}", static_cast<int>(proto.state())));
  }
  const auto failure = Decode(proto.failure());
  if (!failure.has_value()) {
    return FieldError("failure",
                      fmt::format("unknown class {}", static_cast<int>(proto.failure())));
  }
  out->state = *state;
  out->failure = *failure;
  return absl::OkStatus();
}

}  // namespace

void EncodeMetrics(const std::map<std::string, double>& metrics, MetricsProto* out) {
  for (const auto& [name, value] : metrics) (*out)[name] = value;
}

std::map<std::string, double> DecodeMetrics(const MetricsProto& metrics) {
  return {metrics.begin(), metrics.end()};
}

void EncodeMeasurement(const Measurement& measurement, v1::Measurement* out) {
  out->set_step(measurement.step);
  EncodeDuration(measurement.elapsed, out->mutable_elapsed());
  EncodeTime(measurement.time, out->mutable_time());
  EncodeMetrics(measurement.metrics, out->mutable_metrics());
  out->set_source(measurement.source);
}

Measurement DecodeMeasurement(const v1::Measurement& proto) {
  Measurement measurement;
  measurement.step = proto.step();
  if (proto.has_elapsed()) measurement.elapsed = DecodeDuration(proto.elapsed());
  // A measurement without a time gets that of its arrival: see Trials::Report.
  if (proto.has_time()) measurement.time = DecodeTime(proto.time());
  measurement.metrics = DecodeMetrics(proto.metrics());
  // Decode keeps what it finds; the service replaces what a client claims.
  measurement.source = proto.source();
  return measurement;
}

void EncodeTrial(std::string_view study, const Trial& trial, v1::Trial* out) {
  out->set_name(TrialResource(study, trial.number));
  out->set_number(trial.number.value());
  out->set_state(Encode(trial.state));
  EncodePoint(trial.point, out->mutable_parameters());
  EncodeSuggestion(trial.suggestion, out->mutable_suggestion());
  EncodeTime(trial.created, out->mutable_create_time());
  EncodeOptionals(trial, out);
  EncodeMetrics(trial.final_metrics, out->mutable_final_metrics());
  out->set_measurement_count(trial.measurements);
  out->set_failure(Encode(trial.failure));
  // A program's own words may be in it, in any encoding.
  out->set_message(ValidUtf8(trial.message));
  out->set_client_id(trial.client);
  for (const auto& attempt : trial.attempts) {
    EncodeAttempt(attempt, out->add_attempts());
    // Once it has used anything; the sum is of all attempts, so it does not matter how often it is set.
    if (attempt.ended.has_value()) EncodeUsage(UsageOf(trial), out->mutable_used());
  }
}

void EncodeSlacks(std::span<const OutcomeConstraint> constraints,
                  const Trial& trial,
                  v1::Trial* out) {
  // While a trial runs, its metrics are not final and say nothing of its constraints.
  if (trial.state != TrialState::kCompleted) return;
  for (const OutcomeConstraint& constraint : constraints) {
    v1::OutcomeSlack* slack = out->add_outcome_slacks();
    slack->set_constraint(constraint.text());
    slack->set_slack(constraint.Slack(trial.final_metrics));
  }
}

absl::StatusOr<Trial> DecodeTrial(const v1::Trial& proto) {
  Trial trial;
  trial.number = TrialNumber(proto.number());
  VERNIER_RETURN_IF_ERROR(DecodeStates(proto, &trial));
  VERNIER_ASSIGN_OR_RETURN(trial.point, DecodePoint("parameters", proto.parameters()));
  trial.suggestion = DecodeSuggestion(proto.suggestion());
  trial.created = DecodeTime(proto.create_time());
  DecodeOptionals(proto, &trial);
  trial.final_metrics = DecodeMetrics(proto.final_metrics());
  trial.measurements = proto.measurement_count();
  trial.message = proto.message();
  trial.client = proto.client_id();
  for (const auto& attempt : proto.attempts()) {
    VERNIER_ASSIGN_OR_RETURN(Attempt decoded, DecodeAttempt(attempt));
    trial.attempts.push_back(std::move(decoded));
  }
  // Slacks and used resources are not read: they follow from the rest.
  return trial;
}

}  // namespace vernier::wire
