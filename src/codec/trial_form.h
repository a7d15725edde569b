#pragma once

#include "src/codec/form.h"
#include "src/codec/metadata_form.h"
#include "vernier/core/trial.h"

// Descriptions of what trials are made of.
namespace vernier::codec {

void Describe(auto& visit, Is<Measurement> auto& measurement) {
  visit("step", measurement.step);
  visit("elapsed_ns", measurement.elapsed);
  visit("time", measurement.time);
  visit("metrics", measurement.metrics);
  visit("source", measurement.source);
}
template <>
struct Form<Measurement> : DescribedForm<Measurement> {};

void Describe(auto& visit, Is<PredictedValue> auto& predicted) {
  visit("mean", predicted.mean);
  visit("deviation", predicted.deviation);
}
template <>
struct Form<PredictedValue> : DescribedForm<PredictedValue> {};

void Describe(auto& visit, Is<SuggestionRecord> auto& suggestion) {
  visit("algorithm", suggestion.algorithm);
  visit("version", suggestion.version);
  visit("options", suggestion.options);
  visit("fingerprint", suggestion.fingerprint);
  visit("as_of", suggestion.as_of);
  visit("state_from", suggestion.state_from);
  visit("stream", suggestion.stream);
  visit("batch_size", suggestion.batch_size);
  visit("batch_index", suggestion.batch_index);
  visit("pending", suggestion.pending);
  visit("origin", suggestion.origin);
  visit("acquisition", suggestion.acquisition);
  visit("predicted_mean", suggestion.predicted_mean);
  visit("predicted_deviation", suggestion.predicted_deviation);
  visit("predicted_others", suggestion.predicted_others);
  visit("expected_improvement", suggestion.expected_improvement);
  visit("importance", suggestion.importance);
  visit("note", suggestion.note);
}
template <>
struct Form<SuggestionRecord> : DescribedForm<SuggestionRecord> {};

void Describe(auto& visit, Is<Lease> auto& lease) {
  visit("holder", lease.holder);
  visit("token", lease.token);
  visit("expires", lease.expires);
}
template <>
struct Form<Lease> : DescribedForm<Lease> {};

void Describe(auto& visit, Is<StopRecord> auto& stop) {
  visit("rule", stop.rule);
  visit("version", stop.version);
  visit("options", stop.options);
  visit("as_of", stop.as_of);
  visit("numbers", stop.numbers);
  visit("explanation", stop.explanation);
}
template <>
struct Form<StopRecord> : DescribedForm<StopRecord> {};

void Describe(auto& visit, Is<ReplicaPlacement> auto& replica) {
  visit("role", replica.role);
  visit("index", replica.index);
  visit("host", replica.host);
  visit("port", replica.port);
  visit("gpus", replica.gpus);
}
template <>
struct Form<ReplicaPlacement> : DescribedForm<ReplicaPlacement> {};

void Describe(auto& visit, Is<GpuUse> auto& use) {
  visit("samples", use.samples);
  visit("utilization", use.utilization);
  visit("peak_utilization", use.peak_utilization);
  visit("memory_bytes", use.memory_bytes);
  visit("peak_memory_bytes", use.peak_memory_bytes);
  visit("device_memory_bytes", use.device_memory_bytes);
}
template <>
struct Form<GpuUse> : DescribedForm<GpuUse> {};

void Describe(auto& visit, Is<ReplicaResult> auto& replica) {
  visit("role", replica.role);
  visit("index", replica.index);
  visit("exit_code", replica.exit_code);
  visit("signal", replica.signal);
  visit.IfSet("restarts", replica.restarts);
  visit("started", replica.started);
  visit("ended", replica.ended);
  visit.IfSet("cpu_time_ns", replica.cpu_time);
  visit.IfSet("peak_memory_bytes", replica.peak_memory_bytes);
  visit("gpu", replica.gpu);
}
template <>
struct Form<ReplicaResult> : DescribedForm<ReplicaResult> {};

void Describe(auto& visit, Is<Attempt> auto& attempt) {
  visit("number", attempt.number);
  visit("state", attempt.state);
  visit("placement", attempt.placement);
  visit("directory", attempt.directory);
  visit.IfSet("defined_by", attempt.defined_by);
  visit("placed", attempt.placed);
  visit("started", attempt.started);
  visit("ended", attempt.ended);
  visit("failure", attempt.failure);
  visit.IfSet("transient", attempt.transient);
  visit("message", attempt.message);
  visit("replicas", attempt.replicas);
}
template <>
struct Form<Attempt> : DescribedForm<Attempt> {};

void Describe(auto& visit, Is<Trial> auto& trial) {
  visit("number", trial.number);
  visit("state", trial.state);
  visit("point", trial.point);
  visit("suggestion", trial.suggestion);
  visit("created", trial.created);
  visit("started", trial.started);
  visit("ended", trial.ended);
  visit("last", trial.last);
  visit("final_metrics", trial.final_metrics);
  visit.IfSet("final_step", trial.final_step);
  visit.IfSet("final_elapsed_ns", trial.final_elapsed);
  visit("measurements", trial.measurements);
  visit.IfSet("not_finite", trial.not_finite);
  visit("failure", trial.failure);
  visit("message", trial.message);
  visit("stop", trial.stop);
  visit("lease", trial.lease);
  visit.IfSet("client", trial.client);
  visit("attempts", trial.attempts);
  visit.IfSet("deleted", trial.deleted);
  visit("metadata", trial.metadata);
}
template <>
struct Form<Trial> : DescribedForm<Trial> {};

}  // namespace vernier::codec
