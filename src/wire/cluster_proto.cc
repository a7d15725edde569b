#include "src/wire/cluster_proto.h"

#include "src/wire/names.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {

void EncodeNode(const Node& node, v1::Node* out) {
  out->set_name(NodeResource(node.name));
  out->set_cpus(node.cpus);
  out->set_free_cpus(node.free_cpus);
  out->set_memory_bytes(node.memory_bytes);
  out->set_free_memory_bytes(node.free_memory_bytes);
  for (const NodeDevices& devices : node.devices) {
    v1::NodeDevices* const kind = out->add_devices();
    kind->set_type(devices.type);
    kind->set_count(devices.count);
    kind->set_free(devices.free);
    kind->set_shared(devices.shared);
  }
}

absl::StatusOr<Node> DecodeNode(const v1::Node& node) {
  Node decoded;
  VERNIER_ASSIGN_OR_RETURN(decoded.name, ParseNodeName("name", node.name()));
  decoded.cpus = node.cpus();
  decoded.free_cpus = node.free_cpus();
  decoded.memory_bytes = node.memory_bytes();
  decoded.free_memory_bytes = node.free_memory_bytes();
  for (const v1::NodeDevices& kind : node.devices()) {
    decoded.devices.push_back(
        {.type = kind.type(), .count = kind.count(), .free = kind.free(), .shared = kind.shared()});
  }
  return decoded;
}

// The study goes by its name, and its id stays behind: ids are of one store.
void EncodeQueuedGang(const QueuedGang& gang, std::int64_t position, v1::QueuedTrial* out) {
  out->set_position(position);
  out->set_trial(TrialResource(gang.study, gang.id.trial.number));
  out->set_attempt(gang.id.number.value());
  out->set_priority(gang.priority);
  EncodeTime(gang.queued, out->mutable_queue_time());
  out->set_needs(gang.needs);
  out->set_reason(ValidUtf8(gang.reason));  // May quote what a program printed.
  if (gang.start_by) EncodeTime(*gang.start_by, out->mutable_start_by_time());
}

absl::StatusOr<QueuedGang> DecodeQueuedGang(const v1::QueuedTrial& trial) {
  VERNIER_ASSIGN_OR_RETURN(const TrialName name, ParseTrialName("trial", trial.trial()));
  QueuedGang gang{.id = {{StudyId(), name.number}, AttemptNumber(trial.attempt())},
                  .study = name.study,
                  .priority = trial.priority(),
                  .queued = DecodeTime(trial.queue_time()),
                  .needs = trial.needs(),
                  .reason = trial.reason(),
                  .start_by = {}};
  if (trial.has_start_by_time()) gang.start_by = DecodeTime(trial.start_by_time());
  return gang;
}

}  // namespace vernier::wire
