#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "vernier/core/amendment.h"
#include "vernier/core/ids.h"
#include "vernier/core/metadata.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/problem.h"

namespace vernier {

// The events of a study's log. docs/formats/events.md describes their stored form; src/study/study_state.h applies them
// to the state of a study.

struct StudyCreated {
  StudySpec spec;
  // Copies of the studies in spec.warm_start at the time of creation, then of the studies that those started from.
  std::vector<EarlierStudy> earlier;
  // Number of the last trial before this study; its first trial has the next number. More than 0 only for a job that
  // resumes another.
  std::int64_t trials_before = 0;
  // Number of random streams that earlier studies have used: trial n draws from stream n + streams_before.
  std::int64_t streams_before = 0;
  // First state of the optimiser. Empty unless the study continues the sequence of an earlier one.
  std::string optimizer_state;
  friend bool operator==(const StudyCreated&, const StudyCreated&) = default;
};

struct StudyStateChanged {
  StudyState from;
  StudyState to;
  std::string reason;
  std::optional<StudyState> ending;  // With to == kStopping: the final state that a user requested.
  friend bool operator==(const StudyStateChanged&, const StudyStateChanged&) = default;
};

// A change of the definition. The values are those after the change.
struct StudyAmended {
  Budget budget;
  std::int32_t parallel = 1;
  std::optional<std::map<std::string, std::string>> labels;  // All labels; unset: unchanged.
  // The whole definition, including the fields above. Unset: only those changed.
  std::optional<StudySpec> definition;
  // Earlier failures no longer count against the study: the job or its metrics changed, or a user fixed the program.
  bool fixed = false;
  bool whole = false;                // The change was a whole definition (Amendment::definition).
  std::vector<FieldChange> changes;  // For users. Empty in logs of older versions.
  friend bool operator==(const StudyAmended&, const StudyAmended&) = default;
};

// The version of the algorithm or stopping rule differs from that of its last decision; `from_version` is empty at the
// first use.
struct AlgorithmChanged {
  std::string name;
  std::string from_version;
  std::string to_version;
  friend bool operator==(const AlgorithmChanged&, const AlgorithmChanged&) = default;
};

struct TrialCreated {
  TrialNumber trial;
  Point point;
  SuggestionRecord suggestion;
  std::string optimizer_state;  // State after the batch; only in the last trial of a batch.
  friend bool operator==(const TrialCreated&, const TrialCreated&) = default;
};

struct TrialStateChanged {
  TrialNumber trial;
  TrialState from;
  TrialState to;
  FailureClass failure = FailureClass::kNone;
  std::string message;
  // With to == kCompleted; with kPaused, what the trial would end with.
  std::map<std::string, double> final_metrics;
  std::int64_t final_step = 0;  // Of final_metrics.
  absl::Duration final_elapsed;
  // With to == kCompleted, of a trial that was told to stop: its program had ended by itself before. Trial::stop is unset from then
  // on, and the trial counts as one that was never told.
  bool ran_to_end = false;
  friend bool operator==(const TrialStateChanged&, const TrialStateChanged&) = default;
};

struct MeasurementReported {
  TrialNumber trial;
  Measurement measurement;
  // Last event that the stopping rule knew of, apart from this trial's own, where that is not the one before this report:
  // the rule let the trial go on while others reported. 0: it is the one before, or no rule judged.
  EventSeq judged_as_of;
  friend bool operator==(const MeasurementReported&, const MeasurementReported&) = default;
};

// A rule or a user stopped the trial. The change to STOPPING follows in the same commit.
struct StopDecided {
  TrialNumber trial;
  StopRecord stop;
  friend bool operator==(const StopDecided&, const StopDecided&) = default;
};

// A rule that paused the trial would not stop it any more: other trials have taught it better. The change to QUEUED follows in
// the same commit. `verdict.explanation` says why.
struct ResumeDecided {
  TrialNumber trial;
  StopRecord verdict;
  friend bool operator==(const ResumeDecided&, const ResumeDecided&) = default;
};

// A client got the trial.
struct LeaseGranted {
  TrialNumber trial;
  Lease lease;
  friend bool operator==(const LeaseGranted&, const LeaseGranted&) = default;
};
// Its client reported or sent a heartbeat. Renewals are recorded only when the recorded one is about to expire.
struct LeaseRenewed {
  TrialNumber trial;
  absl::Time expires;
  friend bool operator==(const LeaseRenewed&, const LeaseRenewed&) = default;
};
// The client did not renew the lease in time.
struct LeaseExpired {
  TrialNumber trial;
  std::int64_t token = 0;
  friend bool operator==(const LeaseExpired&, const LeaseExpired&) = default;
};

// Room was reserved for an attempt. Durable before anything of the attempt is started.
struct AttemptPlaced {
  TrialNumber trial;
  AttemptNumber attempt;
  Placement placement;
  std::string directory;
  friend bool operator==(const AttemptPlaced&, const AttemptPlaced&) = default;
};

struct AttemptStateChanged {
  TrialNumber trial;
  AttemptNumber attempt;
  AttemptState to;
  FailureClass failure = FailureClass::kNone;
  bool transient = false;
  std::string message;
  std::vector<ReplicaResult> replicas;
  friend bool operator==(const AttemptStateChanged&, const AttemptStateChanged&) = default;
};

// A user deleted the trial: it is hidden, and no algorithm learns from it. Its number is not used again.
struct TrialDeleted {
  TrialNumber trial;
  friend bool operator==(const TrialDeleted&, const TrialDeleted&) = default;
};

struct MetadataChanged {
  MetadataUpdate values;
  friend bool operator==(const MetadataChanged&, const MetadataChanged&) = default;
};

using EventPayload = std::variant<StudyCreated,
                                  StudyStateChanged,
                                  StudyAmended,
                                  AlgorithmChanged,
                                  TrialCreated,
                                  TrialStateChanged,
                                  MeasurementReported,
                                  StopDecided,
                                  ResumeDecided,
                                  LeaseGranted,
                                  LeaseRenewed,
                                  LeaseExpired,
                                  AttemptPlaced,
                                  AttemptStateChanged,
                                  TrialDeleted,
                                  MetadataChanged>;

// Returns the kind as it is stored and shown: "trial_created".
std::string_view EventKind(const EventPayload& payload);
// Returns the trial that the event is about; 0 if it is about the study.
TrialNumber EventTrial(const EventPayload& payload);

// One entry of a study's log.
struct Event {
  EventSeq seq;            // Position in the log of its study.
  absl::Time time;         // Time of the decision or observation. Never decreases within a study.
  std::string actor;       // "engine", "cli", a client's name.
  std::string request_id;  // Request id of the call that caused it; may be empty.
  EventPayload payload;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace vernier
