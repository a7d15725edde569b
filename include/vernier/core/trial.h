#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "vernier/core/ids.h"
#include "vernier/core/metadata.h"
#include "vernier/core/space.h"

namespace vernier {

enum class TrialState {
  kRequested,   // Proposed; nobody works on it.
  kQueued,      // Waits for capacity.
  kPreparing,   // Its gang is placed and being started.
  kRunning,     // Its gang runs, or a client holds its lease.
  kPaused,      // Set aside by a rule that may promote it later.
  kStopping,    // Told to stop; its gang is coming down.
  kCompleted,   // Ended with a value of every objective; in a foreign study maybe not.
  kFailed,      // Ended without; see failure.
  kInfeasible,  // The point cannot be evaluated.
  kCancelled,   // Ended because the study or a user said so.
};
// "COMPLETED", as on the wire.
std::string_view TrialStateName(TrialState state);
// Completed, failed, infeasible or cancelled: never changes again.
bool IsFinished(TrialState state);

enum class FailureClass {
  kNone,
  kUserError,
  kOutOfMemory,
  kPreempted,
  kNodeLost,
  kTimeout,
  kNoMetric,
  kInfeasible,
  kInternal,
  kLost,      // The client that held the lease went away.
  kDiverged,  // Its objective became NaN or infinite.
};
std::string_view FailureClassName(FailureClass failure);

// Metric values at one step of a trial. Values may be NaN or infinite: what a program reports is kept as it is.
struct Measurement {
  std::int64_t step = 0;
  absl::Duration elapsed;                 // Since the trial started to run.
  absl::Time time;                        // When the program reported it.
  std::map<std::string, double> metrics;  // By name; never empty.
  // Where it was read, for telling it from what was read already: "hypertune", "log", "client".
  std::string source;
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

// What a model expects of a metric at a point, in the user's units and sign. Half of the distance between what it would be
// one deviation above and below the mean is `deviation`; noise is not part of it.
struct PredictedValue {
  double mean = 0;
  double deviation = 0;
  friend bool operator==(const PredictedValue&, const PredictedValue&) = default;
};

// Why a point was proposed. Recorded with the trial, enough to compute it again.
struct SuggestionRecord {
  std::string algorithm;     // "gp"
  std::string version;       // Changes when the output of equal inputs does.
  std::string options;       // Canonical JSON of the options used.
  std::string fingerprint;   // Instruction set, compiler and libraries that computed it.
  EventSeq as_of;            // The log up to here was its input.
  EventSeq state_from;       // The event whose optimiser state it started from; 0: empty state.
  std::uint64_t stream = 0;  // Key of the random stream: Rng(seed).Fork(stream).
  std::int32_t batch_size = 1;
  std::int32_t batch_index = 0;
  std::vector<TrialNumber> pending;  // Handed out and not finished, at as_of.

  // What the algorithm says of it: "model", "initial design", "default point", "earlier study", "grid cell",
  // "user".
  std::string origin;
  std::optional<double> acquisition;          // Value of the acquisition function.
  std::optional<double> predicted_mean;       // Of the first objective, in its own units.
  std::optional<double> predicted_deviation;  // Standard deviation of the prediction.
  // Of the other objectives, by metric, and of how far outcome constraints are kept, by their text.
  std::map<std::string, PredictedValue> predicted_others;
  std::optional<double> expected_improvement;  // Over the best trial, in the objective's units.
  // Per parameter, sums to 1; empty if the algorithm has no opinion.
  std::map<std::string, double> importance;
  std::string note;  // One sentence, where there is something to say.
  friend bool operator==(const SuggestionRecord&, const SuggestionRecord&) = default;
};

// The right of an outside client to report on a trial.
struct Lease {
  std::string holder;      // The client's name for itself.
  std::int64_t token = 0;  // Fences: a call with an older token is refused. Grows with each grant.
  absl::Time expires;
  friend bool operator==(const Lease&, const Lease&) = default;
};

enum class AttemptState { kPlaced, kStarting, kRunning, kSucceeded, kFailed, kStopped, kLost };
std::string_view AttemptStateName(AttemptState state);
bool IsEnded(AttemptState state);

// Where one replica of an attempt runs.
struct ReplicaPlacement {
  std::string role;  // "chief", "master", "worker", "ps", "evaluator".
  std::int32_t index = 0;
  std::string host;  // Address its peers reach it by.
  std::int32_t port = 0;
  std::vector<std::string> gpus;  // Device ids it may use, as CUDA_VISIBLE_DEVICES takes them.
  friend bool operator==(const ReplicaPlacement&, const ReplicaPlacement&) = default;
};
using Placement = std::vector<ReplicaPlacement>;

// What a replica used of its GPUs, by samples taken while it ran.
struct GpuUse {
  std::int64_t samples = 0;
  double utilization = 0;         // Mean over samples and devices, as a share of 1.
  double peak_utilization = 0;    // Of any of its devices in any sample.
  std::int64_t memory_bytes = 0;  // Mean over samples, of the device with the most at the time.
  std::int64_t peak_memory_bytes = 0;    // Of any of its devices in any sample.
  std::int64_t device_memory_bytes = 0;  // What a device has: the smallest of them.
  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

struct ReplicaResult {
  std::string role;
  std::int32_t index = 0;
  std::optional<std::int32_t> exit_code;  // Or
  std::optional<std::int32_t> signal;     // neither, while it runs or when it was lost.
  std::int32_t restarts = 0;              // How often it was started again in this attempt.
  // By the clock of its host: its first run's start, its last run's end. Unset: not yet, or nobody knows.
  std::optional<absl::Time> started;
  std::optional<absl::Time> ended;
  // Of all of its runs that have ended, as far as anybody could tell.
  absl::Duration cpu_time;
  std::int64_t peak_memory_bytes = 0;
  std::optional<GpuUse> gpu;  // Unset: it has none, or they cannot be asked.
  friend bool operator==(const ReplicaResult&, const ReplicaResult&) = default;
};

// One launch of a trial's whole job.
struct Attempt {
  AttemptNumber number;
  AttemptState state = AttemptState::kPlaced;
  Placement placement;
  std::string directory;  // Holds its replicas' logs and records.
  EventSeq defined_by;    // The event that defined the job it runs; 0: the study's creation.
  absl::Time placed;
  // When its primary started and its last replica ended, or, where that is not known, when they were seen to.
  std::optional<absl::Time> started;
  std::optional<absl::Time> ended;
  FailureClass failure = FailureClass::kNone;
  bool transient = false;  // The failure may pass: the whole job is worth another attempt.
  std::string message;
  std::vector<ReplicaResult> replicas;
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// What was used of the hosts.
struct ResourceUsage {
  absl::Duration cpu_time;             // User and system, of all processes.
  absl::Duration gpu_time;             // Each GPU counts for as long as it was held, busy or not.
  std::int64_t peak_memory_bytes = 0;  // The most that a single replica used at once.
  friend bool operator==(const ResourceUsage&, const ResourceUsage&) = default;
};
// Adds `more`; of memory the greater one counts.
ResourceUsage& operator+=(ResourceUsage& usage, const ResourceUsage& more);
// GPU time that the attempt had held by `now`: from its placement to its end.
absl::Duration GpuTime(const Attempt& attempt, absl::Time now);
// Of an attempt that has not ended: nothing yet.
ResourceUsage UsageOf(const Attempt& attempt);

// Why an early stopping rule stopped a trial. Recorded, enough to compute it again.
struct StopRecord {
  std::string rule;  // "median"
  std::string version;
  std::string options;  // Canonical JSON.
  EventSeq as_of;
  std::map<std::string, double> numbers;  // What was compared: "best", "median", "step", "curves".
  std::string explanation;                // One sentence with the numbers.
  friend bool operator==(const StopRecord&, const StopRecord&) = default;
};

// One point of the space being tried, and all that became of it but its curve.
struct Trial {
  TrialNumber number;
  TrialState state = TrialState::kRequested;
  Point point;  // In a foreign study it may lack values: src/core/point_check.h.
  SuggestionRecord suggestion;
  absl::Time created;
  std::optional<absl::Time> started;  // Its program first started, or its client took it.
  std::optional<absl::Time> ended;
  // Merged by metric: the last value of each, at the last step seen.
  std::optional<Measurement> last;
  // When completed: what the trial counts for. When infeasible: what its client measured all the same.
  std::map<std::string, double> final_metrics;
  std::int64_t final_step = 0;    // Where they were measured; 0: not told.
  absl::Duration final_elapsed;   // As Measurement::elapsed.
  std::int64_t measurements = 0;  // How many were reported.
  // Of the latest in a row, how many had NaN or an infinity for an objective.
  std::int64_t not_finite = 0;
  FailureClass failure = FailureClass::kNone;
  std::string message;             // Why it ended as it did, one sentence.
  std::optional<StopRecord> stop;  // Set once a rule or a user told it to stop.
  std::optional<Lease> lease;      // While a client works on it.
  std::string client;              // That had the last lease; empty: none had any.
  std::vector<Attempt> attempts;
  bool deleted = false;  // Kept for the log's sake; Studies shows it to nobody.
  Metadata metadata;
  friend bool operator==(const Trial&, const Trial&) = default;
};
// Of its attempts that have ended.
ResourceUsage UsageOf(const Trial& trial);

}  // namespace vernier
