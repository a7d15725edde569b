#include "src/wire/attempt_proto.h"

#include <string>

#include "fmt/format.h"
#include "src/wire/enum_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

// The message of the replica with this role and index, added if there is none. Placement and result of a replica are
// two records of an attempt, and one message.
v1::Replica* FindReplica(const std::string& role, std::int32_t index, v1::Attempt* attempt) {
  for (auto& replica : *attempt->mutable_replicas()) {
    if (replica.role() == role && replica.index() == index) return &replica;
  }
  auto* replica = attempt->add_replicas();
  replica->set_role(role);
  replica->set_index(index);
  return replica;
}

void EncodeGpuUse(const GpuUse& use, v1::GpuUse* out) {
  out->set_samples(use.samples);
  out->set_utilization(use.utilization);
  out->set_peak_utilization(use.peak_utilization);
  out->set_memory_bytes(use.memory_bytes);
  out->set_peak_memory_bytes(use.peak_memory_bytes);
  out->set_device_memory_bytes(use.device_memory_bytes);
}

GpuUse DecodeGpuUse(const v1::GpuUse& use) {
  return {.samples = use.samples(),
          .utilization = use.utilization(),
          .peak_utilization = use.peak_utilization(),
          .memory_bytes = use.memory_bytes(),
          .peak_memory_bytes = use.peak_memory_bytes(),
          .device_memory_bytes = use.device_memory_bytes()};
}

void EncodeReplicas(const Attempt& attempt, v1::Attempt* out) {
  for (const auto& placed : attempt.placement) {
    auto* replica = FindReplica(placed.role, placed.index, out);
    replica->set_host(placed.host);
    replica->set_port(placed.port);
    for (const auto& gpu : placed.gpus) replica->add_gpus(gpu);
  }
  for (const auto& result : attempt.replicas) {
    auto* replica = FindReplica(result.role, result.index, out);
    // A result with nothing in it is a result, too; without this flag the reader could not tell it from none.
    replica->set_reported(true);
    if (result.exit_code.has_value()) replica->set_exit_code(*result.exit_code);
    if (result.signal.has_value()) replica->set_signal(*result.signal);
    replica->set_restarts(result.restarts);
    EncodeDuration(result.cpu_time, replica->mutable_cpu_time());
    replica->set_peak_memory_bytes(result.peak_memory_bytes);
    if (result.started.has_value()) EncodeTime(*result.started, replica->mutable_start_time());
    if (result.ended.has_value()) EncodeTime(*result.ended, replica->mutable_end_time());
    if (result.gpu.has_value()) EncodeGpuUse(*result.gpu, replica->mutable_gpu());
  }
}

void DecodeReplica(const v1::Replica& proto, Attempt* attempt) {
  // Every replica of an attempt was placed; where, a cluster may tell only once it runs.
  attempt->placement.push_back({.role = proto.role(),
                                .index = proto.index(),
                                .host = proto.host(),
                                .port = proto.port(),
                                .gpus = {proto.gpus().begin(), proto.gpus().end()}});
  // It has not ended, or nobody knows how.
  if (!proto.reported()) return;
  ReplicaResult result{.role = proto.role(),
                       .index = proto.index(),
                       .exit_code = {},
                       .signal = {},
                       .restarts = proto.restarts(),
                       .started = {},
                       .ended = {},
                       .cpu_time = DecodeDuration(proto.cpu_time()),
                       .peak_memory_bytes = proto.peak_memory_bytes(),
                       .gpu = {}};
  if (proto.has_exit_code()) result.exit_code = proto.exit_code();
  if (proto.has_signal()) result.signal = proto.signal();
  if (proto.has_start_time()) result.started = DecodeTime(proto.start_time());
  if (proto.has_end_time()) result.ended = DecodeTime(proto.end_time());
  if (proto.has_gpu()) result.gpu = DecodeGpuUse(proto.gpu());
  attempt->replicas.push_back(result);
}

}  // namespace

void EncodeUsage(const ResourceUsage& used, v1::ResourceUsage* out) {
  EncodeDuration(used.cpu_time, out->mutable_cpu_time());
  EncodeDuration(used.gpu_time, out->mutable_gpu_time());
  out->set_peak_memory_bytes(used.peak_memory_bytes);
}

ResourceUsage DecodeUsage(const v1::ResourceUsage& used) {
  return {.cpu_time = DecodeDuration(used.cpu_time()),
          .gpu_time = DecodeDuration(used.gpu_time()),
          .peak_memory_bytes = used.peak_memory_bytes()};
}

void EncodeAttempt(const Attempt& attempt, v1::Attempt* out) {
  out->set_number(attempt.number.value());
  out->set_state(Encode(attempt.state));
  out->set_directory(attempt.directory);
  out->set_defined_by(attempt.defined_by.value());
  EncodeTime(attempt.placed, out->mutable_place_time());
  if (attempt.started.has_value()) EncodeTime(*attempt.started, out->mutable_start_time());
  if (attempt.ended.has_value()) EncodeTime(*attempt.ended, out->mutable_end_time());
  out->set_failure(Encode(attempt.failure));
  out->set_transient(attempt.transient);
  // What a program printed may be in it.
  out->set_message(ValidUtf8(attempt.message));
  EncodeReplicas(attempt, out);
  // Computed for readers of the message; DecodeAttempt leaves it to be computed again.
  if (attempt.ended.has_value()) EncodeUsage(UsageOf(attempt), out->mutable_used());
}

absl::StatusOr<Attempt> DecodeAttempt(const v1::Attempt& proto) {
  Attempt attempt;
  attempt.number = AttemptNumber(proto.number());
  const auto state = Decode(proto.state());
  const auto failure = Decode(proto.failure());
  if (!state.has_value() || !failure.has_value()) {
    return FieldError(fmt::format("attempts.{}", proto.number()),
                      fmt::format("unknown state {} or failure class {}",
                                  static_cast<int>(proto.state()),
                                  static_cast<int>(proto.failure())));
  }
  attempt.state = *state;
  attempt.failure = *failure;
  attempt.directory = proto.directory();
  attempt.defined_by = EventSeq(proto.defined_by());
  attempt.placed = DecodeTime(proto.place_time());
  if (proto.has_start_time()) attempt.started = DecodeTime(proto.start_time());
  if (proto.has_end_time()) attempt.ended = DecodeTime(proto.end_time());
  attempt.transient = proto.transient();
  attempt.message = proto.message();
  for (const auto& replica : proto.replicas()) DecodeReplica(replica, &attempt);
  return attempt;
}

}  // namespace vernier::wire
