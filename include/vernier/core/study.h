#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "vernier/core/choice.h"
#include "vernier/core/foreign_definition.h"
#include "vernier/core/ids.h"
#include "vernier/core/metadata.h"
#include "vernier/core/objective.h"
#include "vernier/core/space.h"
#include "vernier/core/training_job.h"
#include "vernier/core/trial.h"

namespace vernier {

// What may be spent. Unset: no bound.
struct Budget {
  // Created by the study or added by hand. Attempts do not count.
  std::optional<std::int64_t> trials;
  // This many failed trials fail the study. Those before a change of its job or metrics do not count.
  std::optional<std::int64_t> failed_trials;
  // From the study's creation, not counting pauses nor the time between its end and its extension.
  std::optional<absl::Duration> time;
  std::optional<double> gpu_hours;  // Once trials have held GPUs for so long, no more are created.
  friend bool operator==(const Budget&, const Budget&) = default;
};

// When further trials are not worth their cost: each of the last kConvergedAfter that the model proposed was expected to
// improve the objective by less than `tolerance`.
struct Convergence {
  double tolerance = 0;  // In the objective's units; more than 0.
  bool stop = false;     // The study then ends as if its budget were spent; else it only says so.
  friend bool operator==(const Convergence&, const Convergence&) = default;
};
inline constexpr std::int64_t kConvergedAfter = 5;

// How a metric is found in what a trial's program writes. Values that the program reports by itself (Studies::Report)
// count whatever is said here.
enum class MetricSourceKind {
  kName,  // By the metric's own name, wherever it turns up first: output, JSON lines, hypertune file, event files.
  kAfter,      // In the output: the number that follows `text`.
  kJson,       // In JSON lines of the output: the value under the dotted path `text`.
  kRegex,      // In the output: RE2; the first group that is not named `step` holds the value.
  kTfevents,   // In TensorBoard event files: the scalar with the tag `text`.
  kHypertune,  // In the file that cloudml-hypertune writes: the metric with the tag `text`.
};

// Where a metric is read from.
struct MetricSource {
  MetricSourceKind kind = MetricSourceKind::kName;
  std::string text;
  // With kTfevents: where the event files are; empty: the job's directory and the replica's own.
  std::string folder;
  std::optional<Role> from;  // Whose first replica reports it; unset: the primary.
  friend bool operator==(const MetricSource&, const MetricSource&) = default;
};

enum class LeaseExpiry { kOfferAgain, kFail };

// For trials that clients drive.
struct LeasePolicy {
  // Infinite: a trial stays with the client that has it, whoever reports on it, token or not.
  absl::Duration ttl = absl::Seconds(60);
  LeaseExpiry on_expiry = LeaseExpiry::kOfferAgain;
  friend bool operator==(const LeasePolicy&, const LeasePolicy&) = default;
};

// Number of earlier studies that a study may start from.
inline constexpr std::size_t kMaxEarlierStudies = 8;

// What a study is, as its user wrote it, with every default filled in.
struct StudySpec {
  std::string name;                           // ^[A-Za-z][A-Za-z0-9_-]{0,127}$
  std::map<std::string, std::string> labels;  // The user's own, for finding it again.
  // May be empty where there is nothing to tune (a job, no parameters, one trial), and with `foreign`.
  std::vector<Objective> objectives;
  Space space;
  std::vector<std::string> outcome_constraints;  // Conditions over metrics: "latency_ms <= 20".
  Choice algorithm = {.name = "gp", .options = {}};
  // Names of earlier studies whose trials are known from the start.
  std::vector<std::string> warm_start;
  Choice stopping = {.name = "none", .options = {}};
  // The rule judges in Studies::Judge only, not as measurements come.
  bool judged_when_asked = false;
  std::int32_t parallel = 1;  // Trials being tried at once.
  Budget budget;
  std::optional<Convergence> convergence;
  std::uint64_t seed = 0;
  std::map<std::string, MetricSource> metrics;
  LeasePolicy lease;
  std::optional<TrainingJob> job;  // Unset: clients run the trials.
  std::optional<ForeignDefinition> foreign;
  friend bool operator==(const StudySpec&, const StudySpec&) = default;
};

// InvalidArgument: a FieldError, paths as in the study file. Says nothing of whether the algorithm exists: that is
// for AlgorithmCatalogue.
absl::Status Validate(const StudySpec& spec);

enum class StudyState { kActive, kPaused, kStopping, kCompleted, kCancelled, kFailed };
std::string_view StudyStateName(StudyState state);
bool IsFinished(StudyState state);

// A study as it is now, but its trials.
struct Study {
  StudyId id;
  StudySpec spec;
  StudyState state = StudyState::kActive;
  std::string reason;  // Why it is in that state: "budget of 20 trials spent".
  absl::Time created;
  absl::Time updated;
  EventSeq last_event;
  std::int64_t spec_version = 1;  // Grows with each amendment that changes something.
  std::int64_t trials = 0;        // Created, deleted ones included.
  std::int64_t completed = 0;
  std::int64_t failed = 0;  // Failed and infeasible.
  std::int64_t open = 0;    // Neither finished nor waiting to be offered again.
  // Of the trials that completed, keep every outcome constraint and have a number for every objective: the best by the
  // first objective (ties go to the better by the next ones, then to the earlier), and, ascending, those that no other
  // one dominates. With one objective that is just the best.
  std::optional<TrialNumber> best;
  std::vector<TrialNumber> optimal;
  ResourceUsage used;  // By the attempts of its trials that have ended.
  // The trial at which spec.convergence came true, as long as it is.
  std::optional<TrialNumber> converged;
  Metadata metadata;
  friend bool operator==(const Study&, const Study&) = default;
};

}  // namespace vernier
