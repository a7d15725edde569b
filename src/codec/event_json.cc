#include "src/codec/event_json.h"

#include <functional>
#include <map>
#include <string>

#include "src/codec/form.h"
#include "src/codec/trial_form.h"
#include "src/core/status.h"

namespace vernier::codec {

// A trial of an earlier study. Like every description here it is a stored format: a key never changes its meaning, and
// IfSet is for keys that came later, so that events without them stay byte for byte as they were.
void Describe(auto& visit, Is<Observation> auto& trial) {
  visit("trial", trial.trial);
  visit("point", trial.point);
  visit("values", trial.values);
  visit("slacks", trial.slacks);
}
template <>
struct Form<Observation> : DescribedForm<Observation> {};

void Describe(auto& visit, Is<EarlierStudy> auto& earlier) {
  visit("study", earlier.name);
  visit("trials", earlier.trials);
  visit("tried", earlier.tried);
  visit.IfSet("count", earlier.count);
  visit.IfSet("is_projected", earlier.is_projected);
}
template <>
struct Form<EarlierStudy> : DescribedForm<EarlierStudy> {};

void Describe(auto& visit, Is<StudyCreated> auto& event) {
  visit("spec", event.spec);
  visit("earlier", event.earlier);
  visit.IfSet("trials_before", event.trials_before);
  visit.IfSet("streams_before", event.streams_before);
  visit("optimizer_state", event.optimizer_state);
}

void Describe(auto& visit, Is<StudyStateChanged> auto& event) {
  visit("from", event.from);
  visit("to", event.to);
  visit("reason", event.reason);
  visit("ending", event.ending);
}

void Describe(auto& visit, Is<Budget> auto& budget) {
  visit("trials", budget.trials);
  visit("failed", budget.failed_trials);
  visit("time_ns", budget.time);
  visit("gpu_hours", budget.gpu_hours);
}
template <>
struct Form<Budget> : DescribedForm<Budget> {};

void Describe(auto& visit, Is<FieldChange> auto& change) {
  visit("field", change.field);
  visit("from", change.from);
  visit("to", change.to);
}
template <>
struct Form<FieldChange> : DescribedForm<FieldChange> {};

// Without a definition, as in events of older programs, the first three say all.
void Describe(auto& visit, Is<StudyAmended> auto& event) {
  visit("budget", event.budget);
  visit("parallel", event.parallel);
  visit("labels", event.labels);
  visit("definition", event.definition);
  visit.IfSet("fixed", event.fixed);
  visit.IfSet("whole", event.whole);
  visit("changes", event.changes);
}

void Describe(auto& visit, Is<AlgorithmChanged> auto& event) {
  visit("name", event.name);
  visit("from_version", event.from_version);
  visit("to_version", event.to_version);
}

void Describe(auto& visit, Is<TrialCreated> auto& event) {
  visit("trial", event.trial);
  visit("point", event.point);
  visit("suggestion", event.suggestion);
  visit("optimizer_state", event.optimizer_state);
}

void Describe(auto& visit, Is<TrialStateChanged> auto& event) {
  visit("trial", event.trial);
  visit("from", event.from);
  visit("to", event.to);
  visit("failure", event.failure);
  visit("message", event.message);
  visit("final_metrics", event.final_metrics);
  visit.IfSet("final_step", event.final_step);
  visit.IfSet("final_elapsed_ns", event.final_elapsed);
  visit.IfSet("ran_to_end", event.ran_to_end);
}

void Describe(auto& visit, Is<MeasurementReported> auto& event) {
  visit("trial", event.trial);
  visit("measurement", event.measurement);
  visit.IfSet("judged_as_of", event.judged_as_of);
}

void Describe(auto& visit, Is<StopDecided> auto& event) {
  visit("trial", event.trial);
  visit("stop", event.stop);
}

void Describe(auto& visit, Is<ResumeDecided> auto& event) {
  visit("trial", event.trial);
  visit("verdict", event.verdict);
}

void Describe(auto& visit, Is<LeaseGranted> auto& event) {
  visit("trial", event.trial);
  visit("lease", event.lease);
}

void Describe(auto& visit, Is<LeaseRenewed> auto& event) {
  visit("trial", event.trial);
  visit("expires", event.expires);
}

void Describe(auto& visit, Is<LeaseExpired> auto& event) {
  visit("trial", event.trial);
  visit("token", event.token);
}

void Describe(auto& visit, Is<AttemptPlaced> auto& event) {
  visit("trial", event.trial);
  visit("attempt", event.attempt);
  visit("placement", event.placement);
  visit("directory", event.directory);
}

void Describe(auto& visit, Is<AttemptStateChanged> auto& event) {
  visit("trial", event.trial);
  visit("attempt", event.attempt);
  visit("to", event.to);
  visit("failure", event.failure);
  visit.IfSet("transient", event.transient);
  visit("message", event.message);
  visit("replicas", event.replicas);
}

void Describe(auto& visit, Is<TrialDeleted> auto& event) { visit("trial", event.trial); }

void Describe(auto& visit, Is<MetadataChanged> auto& event) {
  visit("study", event.values.study);
  visit("trials", event.values.trials);
}

namespace {

using PayloadReader = absl::StatusOr<EventPayload> (*)(const Json&);

// Reads a payload of type T as any payload.
template <typename T>
absl::StatusOr<EventPayload> ReadPayload(const Json& json) {
  T payload{};
  VERNIER_RETURN_IF_ERROR(DescribedForm<T>::Read(json, payload));
  return EventPayload(std::move(payload));
}

// One reader for each alternative of the variant, by the name of its kind, so that a new kind cannot be forgotten.
template <typename... T>
std::map<std::string, PayloadReader, std::less<>> ReadersOf(
    std::type_identity<std::variant<T...>>) {
  return {{std::string(EventKind(EventPayload(T{}))), &ReadPayload<T>}...};
}

const std::map<std::string, PayloadReader, std::less<>>& PayloadReaders() {
  // Never destroyed: a thread may still read an event while the process exits.
  static const auto* const readers = new std::map<std::string, PayloadReader, std::less<>>(
      ReadersOf(std::type_identity<EventPayload>{}));
  return *readers;
}

}  // namespace

nlohmann::ordered_json PayloadToJson(const EventPayload& payload) {
  return std::visit(
      []<typename T>(const T& alternative) { return DescribedForm<T>::Write(alternative); },
      payload);
}

bool IsEventKind(std::string_view kind) { return PayloadReaders().contains(kind); }

absl::StatusOr<EventPayload> PayloadFromJson(std::string_view kind,
                                             const nlohmann::ordered_json& payload) {
  const auto reader = PayloadReaders().find(kind);
  // A kind of a newer program. Its effect is unknown, so that skipping it would replay another study.
  if (reader == PayloadReaders().end()) return DataLoss("unknown kind of event '{}'", kind);
  absl::StatusOr<EventPayload> read = reader->second(payload);
  return read.ok() ? std::move(read) : Within(kind, read.status());
}

}  // namespace vernier::codec
