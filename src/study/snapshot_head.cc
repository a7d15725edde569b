#include "src/study/snapshot_head.h"

#include "src/codec/json_text.h"
#include "src/codec/metadata_form.h"
#include "src/codec/trial_form.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::study {

void Describe(auto& visit, codec::Is<SnapshotHead::Definition> auto& definition) {
  visit("event", definition.event);
  visit("spec", definition.spec);
}

void Describe(auto& visit, codec::Is<SnapshotHead::RankedTrial> auto& ranked) {
  visit("trial", ranked.trial);
  visit("values", ranked.values);
}

// One description for reading and writing. A new field needs another SnapshotHead::kFormat: a head
// without it would be read as if it had the default value.
void Describe(auto& visit, codec::Is<SnapshotHead> auto& head) {
  visit("format", head.format);
  visit("state", head.study.state);
  visit("reason", head.study.reason);
  visit("created", head.study.created);
  visit("updated", head.study.updated);
  visit("last_event", head.study.last_event);
  visit("spec_version", head.study.spec_version);
  visit("trials", head.study.trials);
  visit("completed", head.study.completed);
  visit("failed", head.study.failed);
  visit("open", head.study.open);
  visit("best", head.study.best);
  visit("optimal", head.study.optimal);
  visit("cpu_time_ns", head.study.used.cpu_time);
  visit("gpu_time_ns", head.study.used.gpu_time);
  visit("peak_memory_bytes", head.study.used.peak_memory_bytes);
  visit("converged", head.study.converged);
  visit("metadata", head.study.metadata);
  visit("spec", head.spec);
  visit("given", head.given);
  visit("definitions", head.definitions);
  visit("defined_by", head.defined_by);
  visit("parts", head.parts);
  visit("observations", head.observations);
  visit("ranked", head.ranked);
  visit("rows", head.rows);
  visit("first_ended", head.first_ended);
  visit("optimizer_state", head.optimizer_state);
  visit("optimizer_state_from", head.optimizer_state_from);
  visit("versions", head.versions);
  visit("idle_trials", head.idle_trials);
  visit("paused_ns", head.paused);
  visit("paused_since", head.paused_since);
  visit("ending", head.ending);
  visit("counted_failures", head.counted_failures);
  visit("counted_completions", head.counted_completions);
}

}  // namespace vernier::study

namespace vernier::codec {

void Describe(auto& visit, Is<study::StoredTrialEntry> auto& row) {
  visit("trial", row.trial);
  visit("created_by", row.created_by);
  visit("last_event", row.last_event);
  visit.IfSet("waiting", row.waiting);
  visit("last_lease", row.last_lease);
  visit.IfSet("defined_by", row.defined_by);
  visit("program_ended", row.program_ended);
  visit.IfSet("is_partial", row.is_partial);
  visit.IfSet("is_forgotten", row.is_forgotten);
}

template <>
struct Form<study::StoredTrialEntry> : DescribedForm<study::StoredTrialEntry> {};
template <>
struct Form<study::SnapshotHead::Definition> : DescribedForm<study::SnapshotHead::Definition> {};
template <>
struct Form<study::SnapshotHead::RankedTrial> : DescribedForm<study::SnapshotHead::RankedTrial> {};
template <>
struct Form<study::SnapshotHead> : DescribedForm<study::SnapshotHead> {};

}  // namespace vernier::codec

namespace vernier::study {

codec::Json ToJson(const SnapshotHead& head) { return codec::Form<SnapshotHead>::Write(head); }

absl::StatusOr<SnapshotHead> ReadSnapshotHead(const std::string& text) {
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(text));
  // 0, so that a head that has no format does not pass as one of this version.
  SnapshotHead head{.format = 0};
  const absl::Status status = codec::Form<SnapshotHead>::Read(json, head);
  if (!status.ok()) return DataLoss("the snapshot{}", std::string(status.message()));
  if (head.format != SnapshotHead::kFormat) {
    return DataLoss("the snapshot has format {}", head.format);
  }
  return head;
}

}  // namespace vernier::study
