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

// The facts that a study's log is made of. What each means for the state of the study is in src/study/study_state.h.

struct StudyCreated {
  StudySpec spec;
  // The studies that spec.warm_start names, as they were then, followed by those that they started from themselves.
  std::vector<EarlierStudy> earlier;
  // The first trial has the next number. More than 0 for a job that resumes another.
  std::int64_t trials_before = 0;
  // Trial n draws from random stream n + streams_before, since earlier studies drew from the streams before.
  std::int64_t streams_before = 0;
  // To start from; empty unless the study continues the sequence of an earlier one.
  std::string optimizer_state;
  friend bool operator==(const StudyCreated&, const StudyCreated&) = default;
};

struct StudyStateChanged {
  StudyState from;
  StudyState to;
  std::string reason;
  std::optional<StudyState> ending;  // With to == kStopping: how a user wants it to end.
  friend bool operator==(const StudyStateChanged&, const StudyStateChanged&) = default;
};

// Parts of the definition that may change after the study's creation, as they are from here on.
struct StudyAmended {
  Budget budget;
  std::int32_t parallel = 1;
  std::optional<std::map<std::string, std::string>> labels;  // All of them; unset: as they were.
  // The whole definition, the above included; unset: nothing but the above changed.
  std::optional<StudySpec> definition;
  // The job or its metrics changed, or a user fixed its program: failures before count no more against the study.
  bool fixed = false;
  bool whole = false;                // It came as a whole definition (Amendment::definition).
  std::vector<FieldChange> changes;  // For people. Empty in logs of older versions.
  friend bool operator==(const StudyAmended&, const StudyAmended&) = default;
};

// The algorithm or stopping rule now in use differs from the one that made the last decision.
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
  std::string optimizer_state;  // After this suggestion; only the last of a batch carries it.
  friend bool operator==(const TrialCreated&, const TrialCreated&) = default;
};

struct TrialStateChanged {
  TrialNumber trial;
  TrialState from;
  TrialState to;
  FailureClass failure = FailureClass::kNone;
  std::string message;
  std::map<std::string, double> final_metrics;  // With to == kCompleted.
  std::int64_t final_step = 0;                  // Of final_metrics.
  absl::Duration final_elapsed;
  friend bool operator==(const TrialStateChanged&, const TrialStateChanged&) = default;
};

struct MeasurementReported {
  TrialNumber trial;
  Measurement measurement;
  friend bool operator==(const MeasurementReported&, const MeasurementReported&) = default;
};

// A verdict; the change to STOPPING follows it in the same commit.
struct StopDecided {
  TrialNumber trial;
  StopRecord stop;
  friend bool operator==(const StopDecided&, const StopDecided&) = default;
};

struct LeaseGranted {
  TrialNumber trial;
  Lease lease;
  friend bool operator==(const LeaseGranted&, const LeaseGranted&) = default;
};
struct LeaseRenewed {
  TrialNumber trial;
  absl::Time expires;
  friend bool operator==(const LeaseRenewed&, const LeaseRenewed&) = default;
};
struct LeaseExpired {
  TrialNumber trial;
  std::int64_t token = 0;
  friend bool operator==(const LeaseExpired&, const LeaseExpired&) = default;
};

// Durable before anything of the attempt is started.
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

// Nobody sees the trial any more, and no algorithm learns from it. Its number is not used again.
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
                                  LeaseGranted,
                                  LeaseRenewed,
                                  LeaseExpired,
                                  AttemptPlaced,
                                  AttemptStateChanged,
                                  TrialDeleted,
                                  MetadataChanged>;

// "trial_created": the kind as stored and as shown.
std::string_view EventKind(const EventPayload& payload);
// The trial that the event is about; 0 if it is about the study.
TrialNumber EventTrial(const EventPayload& payload);

struct Event {
  EventSeq seq;            // Within its study.
  absl::Time time;         // When it was decided or observed. Never goes back within a study.
  std::string actor;       // "engine", "cli", a client's name.
  std::string request_id;  // Of the call that caused it; may be empty.
  EventPayload payload;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace vernier
