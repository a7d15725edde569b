// AI Platform's logs contain lines of the service beside those of the replicas, and users look there for why a job does
// not run. They are made here from the study's events; only reasons for waiting have no events, and are asked of the
// queue each time. Events of kinds that this program does not know, from a newer server, are skipped.

#include "src/cli/service_log.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/wire/enum_proto.h"
#include "src/wire/event_proto.h"
#include "src/wire/names.h"
#include "src/wire/status_proto.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

constexpr char kRole[] = "service";

struct LogText {
  std::string text;  // Empty: no line.
  Severity severity = Severity::kInfo;
};

// "chief 0 on 127.0.0.1:40001 with 4 GPUs, worker 0 on 127.0.0.1:40002"
std::string DescribePlacement(const Placement& placement) {
  std::vector<std::string> replicas;
  replicas.reserve(placement.size());
  for (const ReplicaPlacement& replica : placement) {
    std::string text =
        fmt::format("{} {} on {}:{}", replica.role, replica.index, replica.host, replica.port);
    if (!replica.gpus.empty()) text += fmt::format(" with {} GPUs", replica.gpus.size());
    replicas.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(replicas, ", "));
}

std::string With(std::string text, std::string_view reason) {
  return reason.empty() ? text + "." : fmt::format("{}: {}", text, reason);
}

LogText OfTrial(const TrialStateChanged& changed) {
  switch (changed.to) {
    case TrialState::kQueued:
      return {changed.from == TrialState::kRequested ? "Queued." : "Queued, to be run again."};
    case TrialState::kStopping:
      return {With("Stopping the trial", changed.message)};
    case TrialState::kCompleted:
      return {"The trial completed."};
    case TrialState::kCancelled:
      return {With("The trial was cancelled", changed.message), Severity::kWarning};
    case TrialState::kFailed:
    case TrialState::kInfeasible:
      return {With("The trial failed", changed.message), Severity::kError};
    default:
      return {};
  }
}

LogText OfAttempt(const AttemptStateChanged& changed, std::int64_t restarts) {
  switch (changed.to) {
    case AttemptState::kStarting:
      return {"Starting its programs."};
    case AttemptState::kRunning:
      if (restarts == 0) return {"Its programs run."};
      return {fmt::format("A replica was restarted; restarts so far: {}.", restarts),
              Severity::kWarning};
    case AttemptState::kFailed:
    case AttemptState::kLost:
      return {With(fmt::format("Attempt {} failed", changed.attempt.value()), changed.message),
              Severity::kError};
    default:
      return {};
  }
}

LogText OfStudy(const StudyStateChanged& changed, bool is_tuned) {
  switch (changed.to) {
    case StudyState::kStopping:
      return {With("Stopping the job", changed.reason)};
    case StudyState::kCompleted:
      return {With("The job completed", is_tuned ? changed.reason : "")};
    case StudyState::kCancelled:
      return {With("The job was cancelled", changed.reason), Severity::kWarning};
    case StudyState::kFailed:
      return {With("The job failed", changed.reason), Severity::kError};
    case StudyState::kPaused:
      return {"The job is paused."};
    case StudyState::kActive:
      return {"The job goes on."};
  }
  return {};
}

std::int64_t Restarts(const AttemptStateChanged& changed) {
  std::int64_t sum = 0;
  for (const ReplicaResult& replica : changed.replicas) sum += replica.restarts;
  return sum;
}

}  // namespace

void ServiceLog::AddLine(absl::Time time,
                         TrialNumber trial,
                         Severity severity,
                         const std::string& text) {
  v1::LogLine line;
  wire::EncodeTime(time, line.mutable_time());
  line.set_role(kRole);
  line.set_severity(wire::Encode(severity));
  line.set_text(text);
  lines_.emplace_back(trial, std::move(line));
}

void ServiceLog::Add(const Event& event) {
  LogText said;
  if (const auto* created = std::get_if<StudyCreated>(&event.payload)) {
    is_tuned_ = !created->spec.objectives.empty();
    said.text = "The job was checked and accepted.";
  } else if (const auto* amended = std::get_if<StudyAmended>(&event.payload)) {
    if (!amended->changes.empty()) said.text = "The definition of the job was changed.";
  } else if (const auto* study = std::get_if<StudyStateChanged>(&event.payload)) {
    said = OfStudy(*study, is_tuned_);
  } else if (const auto* trial = std::get_if<TrialStateChanged>(&event.payload)) {
    said = OfTrial(*trial);
  } else if (const auto* placed = std::get_if<AttemptPlaced>(&event.payload)) {
    // A new attempt counts its restarts from 0.
    restarts_[placed->trial] = 0;
    said.text = fmt::format(
        "Attempt {} has room: {}.", placed->attempt.value(), DescribePlacement(placed->placement));
  } else if (const auto* attempt = std::get_if<AttemptStateChanged>(&event.payload)) {
    // A running attempt is reported again with each restart of a replica; the sum only grows.
    restarts_[attempt->trial] = std::max(restarts_[attempt->trial], Restarts(*attempt));
    said = OfAttempt(*attempt, restarts_[attempt->trial]);
  }
  if (!said.text.empty()) {
    AddLine(event.time, EventTrial(event.payload), said.severity, said.text);
  }
}

absl::Status ServiceLog::Look(Connection& connection,
                              const StudyRecord& study,
                              const std::vector<TrialRecord>& trials,
                              absl::Time now) {
  v1::WatchStudyRequest request;
  request.set_name(wire::StudyResource(study.name()));
  request.set_after_event(last_.value());
  // Only the kinds that Add turns into lines: most events of a study are measurements.
  for (const char* kind : {"study_created",
                           "study_amended",
                           "study_state_changed",
                           "trial_state_changed",
                           "attempt_placed",
                           "attempt_state_changed"}) {
    request.add_kinds(kind);
  }
  grpc::ClientContext call;
  const auto reader = connection.stub().WatchStudy(&call, request);
  v1::StudyEvent message;
  while (reader->Read(&message)) {
    const absl::StatusOr<Event> event = wire::DecodeEvent(message);
    if (!event.ok()) continue;  // From a newer server.
    last_ = event->seq;
    Add(*event);
  }
  VERNIER_RETURN_IF_ERROR(connection.Explain(wire::DecodeStatus(reader->Finish())));
  return AddWaits(connection, now, trials);
}

absl::Status ServiceLog::AddWaits(Connection& connection,
                                  absl::Time now,
                                  const std::vector<TrialRecord>& trials) {
  for (const TrialRecord& trial : trials) {
    const std::optional<QueuedGang> queued = FindQueued(connection, trial);
    std::string& known = waits_for_[trial.trial.number];
    // Its last reason is kept: if it waits for the same one later, that was said.
    if (!queued.has_value()) continue;
    // Progress behind the colon is left out: the output of pip is in the log as lines of its own.
    const std::string reason = queued->reason.substr(0, queued->reason.find(": "));
    if (reason == known) continue;
    known = reason;
    AddLine(now, trial.trial.number, Severity::kInfo, With("Waiting", known));
  }
  return absl::OkStatus();
}

}  // namespace vernier::cli
