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

// Limits of a study. Unset: no limit.
struct Budget {
  // Number of trials, suggested or added by hand. Reruns of a trial do not count.
  std::optional<std::int64_t> trials;
  // Number of failed trials that makes the study FAILED. Failures before a change of the job or its metrics do not
  // count.
  std::optional<std::int64_t> failed_trials;
  // Time since the study's creation, without pauses and the time between its end and an extension.
  std::optional<absl::Duration> time;
  // GPU hours that trials may hold; once they are spent, no new trials are created. Only for studies with a job.
  std::optional<double> gpu_hours;
  friend bool operator==(const Budget&, const Budget&) = default;
};

// Convergence: a study has converged when each of the last kConvergedAfter trials that the model proposed had an
// expected improvement below `tolerance`. Needs a single objective and an algorithm with a model.
struct Convergence {
  double tolerance = 0;  // In the objective's units; above 0.
  // End the study as if its budget were spent. Otherwise only Study::converged is set.
  bool stop = false;
  friend bool operator==(const Convergence&, const Convergence&) = default;
};
// A choice: several in a row, so that a single low expectation does not end a study.
inline constexpr std::int64_t kConvergedAfter = 5;

// How to find a metric in the output and files of a program. Reports by the program itself (Trials::ReportFrom) always
// count.
enum class MetricSourceKind {
  // By the metric's name, in the first source where it appears: hypertune file, event files, JSON lines, output.
  kName,
  kAfter,  // In the output: the number after `text`.
  kJson,   // In JSON lines of the output: the value under the dotted path `text`.
  kRegex,  // In the output: the RE2 expression `text`; its first group not named `step` holds the value.
  kTfevents,   // In TensorBoard event files: the scalar with the tag `text`.
  kHypertune,  // In the file of cloudml-hypertune: the metric with the tag `text`.
};

// Where a metric is read from.
struct MetricSource {
  MetricSourceKind kind = MetricSourceKind::kName;
  std::string text;  // See MetricSourceKind.
  // Folder of event files. Empty: the job's directory and the replica's own folder.
  std::string folder;
  std::optional<Role> from;  // The role whose first replica reports it. Unset: the primary.
  friend bool operator==(const MetricSource&, const MetricSource&) = default;
};

// What happens to a trial whose client did not renew the lease: it is given to the next client, or fails with class
// LOST.
enum class LeaseExpiry { kOfferAgain, kFail };

// Leases of trials that clients run.
struct LeasePolicy {
  // Time without a report or heartbeat after which a lease expires. Infinite: leases never expire, and reports need no
  // token.
  absl::Duration ttl = absl::Seconds(60);
  LeaseExpiry on_expiry = LeaseExpiry::kOfferAgain;
  friend bool operator==(const LeasePolicy&, const LeasePolicy&) = default;
};

// Largest number of earlier studies that a study may start from (ADR 16).
inline constexpr std::size_t kMaxEarlierStudies = 8;

// The definition of a study, as the user wrote it, with defaults filled in. The study file has the same fields
// (docs/formats/study_file.md).
//
//   StudySpec spec;
//   spec.name = "digits";
//   spec.objectives = {{"accuracy", Goal::kMaximize}};
//   spec.space = *Space::Create({{.name = "lr", .domain = FloatDomain{1e-5, 0.1, Scale::kLog}}});
//   spec.budget.trials = 20;
struct StudySpec {
  std::string name;                           // ^[A-Za-z][A-Za-z0-9_-]{0,127}$
  std::map<std::string, std::string> labels;  // Of the user, for filters.
  // May be empty for a job without parameters and with one trial, and for a foreign study.
  std::vector<Objective> objectives;
  Space space;
  std::vector<std::string> outcome_constraints;  // Conditions over metrics: "latency_ms <= 20".
  Choice algorithm = {.name = "gp", .options = {}};
  // Names of earlier studies, to start from their results (a warm start).
  std::vector<std::string> warm_start;
  Choice stopping = {.name = "none", .options = {}};
  // The stopping rule judges only in Trials::Judge, not when measurements arrive.
  bool judged_when_asked = false;
  std::int32_t parallel = 1;  // Largest number of open trials.
  Budget budget;
  std::optional<Convergence> convergence;
  std::uint64_t seed = 0;                       // Of all randomness in suggestions.
  std::map<std::string, MetricSource> metrics;  // Sources by metric. Others are found by name.
  LeasePolicy lease;
  std::optional<TrainingJob> job;  // Unset: clients run the trials.
  std::optional<ForeignDefinition> foreign;
  friend bool operator==(const StudySpec&, const StudySpec&) = default;
};

// Checks a definition by itself. Whether the algorithm and the stopping rule exist is checked by AlgorithmCatalogue.
// InvalidArgument: a FieldError with a path as in the study file.
absl::Status Validate(const StudySpec& spec);

// ARCHITECTURE.md has the valid transitions.
enum class StudyState { kActive, kPaused, kStopping, kCompleted, kCancelled, kFailed };
// Returns "ACTIVE", as on the wire.
std::string_view StudyStateName(StudyState state);
// Whether the state is COMPLETED, CANCELLED or FAILED. A COMPLETED or FAILED study may still be extended.
bool IsFinished(StudyState state);

// A study at one moment, without its trials.
struct Study {
  StudyId id;
  StudySpec spec;
  StudyState state = StudyState::kActive;
  std::string reason;  // Why it is in that state: "budget of 20 trials spent".
  absl::Time created;
  absl::Time updated;
  EventSeq last_event;
  std::int64_t spec_version = 1;  // Grows with each amendment that changes something.
  std::int64_t trials = 0;        // Number created, deleted ones included.
  std::int64_t completed = 0;
  std::int64_t failed = 0;  // Failed and infeasible.
  std::int64_t open = 0;    // Neither finished nor waiting to be offered again.
  // The best completed trial that satisfies every outcome constraint and has a number for every objective: best by the
  // first objective; ties go to the better in the next ones, then to the earlier trial.
  std::optional<TrialNumber> best;
  // The Pareto-optimal ones of those trials, ascending: no other one is as good in every objective and better in one.
  // With one objective that is the best trial alone.
  std::vector<TrialNumber> optimal;
  ResourceUsage used;  // By all attempts that have ended.
  // The trial with which the study converged (StudySpec::convergence). Unset: it has not, or no longer.
  std::optional<TrialNumber> converged;
  Metadata metadata;
  friend bool operator==(const Study&, const Study&) = default;
};

}  // namespace vernier
