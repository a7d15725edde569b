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

// ARCHITECTURE.md has the valid transitions.
enum class TrialState {
  kRequested,   // Proposed; waits for the engine or a client.
  kQueued,      // Waits for packages, an image or room; holds nothing.
  kPreparing,   // Its gang is placed and is being started.
  kRunning,     // Its gang runs, or a client has its lease.
  kPaused,      // Stopped by a rule that may take that back; nothing of it runs.
  kStopping,    // Told to stop; its gang or its client is still active.
  kCompleted,   // Ended with a value of every objective. In a foreign study values may be missing.
  kFailed,      // Ended without; see Trial::failure.
  kInfeasible,  // The point cannot be evaluated.
  kCancelled,   // Ended by a user or with its study.
};
// Returns "COMPLETED", as on the wire.
std::string_view TrialStateName(TrialState state);
// Whether the state is COMPLETED, FAILED, INFEASIBLE or CANCELLED. These are final.
bool IsFinished(TrialState state);

// Why a trial or an attempt failed.
enum class FailureClass {
  kNone,
  kUserError,    // The program failed by itself.
  kOutOfMemory,  // The program exceeded its memory, or the host ran out of it.
  kPreempted,    // The program was ended from outside.
  kNodeLost,     // The host, or the supervisor of a replica, was lost.
  kTimeout,      // A limit of the job was exceeded.
  kNoMetric,     // The program ended without a value of every objective.
  kInfeasible,   // The point cannot be evaluated.
  kInternal,     // An error of the service itself.
  kLost,         // The client that had the lease went away.
  kDiverged,     // An objective became NaN or infinite.
};
// Returns "USER_ERROR", as on the wire.
std::string_view FailureClassName(FailureClass failure);

// Metric values at one step of a trial. They are stored as reported, also NaN and infinities.
//
//   const Measurement measurement{.step = 3, .metrics = {{"accuracy", 0.91}}};
struct Measurement {
  std::int64_t step = 0;
  absl::Duration elapsed;  // Time since the trial started to run.
  absl::Time time;         // Time of the report. The Unix epoch: filled in when it is reported.
  std::map<std::string, double> metrics;  // By name. Not empty in a report.
  // Where it was read: "hypertune", "tfevents", "json", "log", "report", "client". With the other fields it tells
  // whether the measurement was read before.
  std::string source;
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

// Prediction of a metric at a point, in the user's units and sign.
struct PredictedValue {
  double mean = 0;
  // Standard deviation, without the noise of measurements. If the model works on a transformed scale, half of the
  // distance between the values one deviation above and below the mean.
  double deviation = 0;
  friend bool operator==(const PredictedValue&, const PredictedValue&) = default;
};

// Why a point was proposed, and the inputs to compute it again. Stored with the trial.
struct SuggestionRecord {
  std::string algorithm;    // "gp"
  std::string version;      // Optimizer::version.
  std::string options;      // Optimizer::options: the options in force, as JSON with sorted keys.
  std::string fingerprint;  // NumericsFingerprint of the program that computed it.
  EventSeq as_of;           // The last event of the log that was an input.
  EventSeq state_from;  // The event with the optimiser state that was an input. 0: the first state.
  std::uint64_t stream = 0;  // Key of the random stream: Rng(seed).Fork(stream).
  std::int32_t batch_size = 1;
  std::int32_t batch_index = 0;
  std::vector<TrialNumber> pending;  // Trials that had not finished at as_of.

  // How the point was found: "model", "initial design", "default point", "earlier study", "grid cell", "sequence",
  // "random", "user".
  std::string origin;
  std::optional<double> acquisition;          // Value of the acquisition function.
  std::optional<double> predicted_mean;       // Of the first objective, in its own units.
  std::optional<double> predicted_deviation;  // Standard deviation of the prediction.
  // Predictions of the other objectives, by metric, and of the slacks of outcome constraints, by their text.
  std::map<std::string, PredictedValue> predicted_others;
  std::optional<double> expected_improvement;  // Over the best trial, in the objective's units.
  // Importance by parameter; sums to 1. Empty: unknown.
  std::map<std::string, double> importance;
  std::string note;  // One sentence; may be empty.
  friend bool operator==(const SuggestionRecord&, const SuggestionRecord&) = default;
};

// The right of a client to report on a trial.
struct Lease {
  std::string holder;      // Name of the client.
  std::int64_t token = 0;  // Grows with each grant. A call with an older token is refused.
  absl::Time expires;
  friend bool operator==(const Lease&, const Lease&) = default;
};

// ARCHITECTURE.md has the valid transitions.
enum class AttemptState { kPlaced, kStarting, kRunning, kSucceeded, kFailed, kStopped, kLost };
// Returns "RUNNING".
std::string_view AttemptStateName(AttemptState state);
// Whether the state is SUCCEEDED, FAILED, STOPPED or LOST.
bool IsEnded(AttemptState state);

// Where one replica of an attempt runs.
struct ReplicaPlacement {
  std::string role;  // "chief", "master", "worker", "ps", "evaluator".
  std::int32_t index = 0;
  std::string host;  // Address for its peers.
  std::int32_t port = 0;
  // Ids of its devices, as in CUDA_VISIBLE_DEVICES; kUnknownGpu for each that a cluster chooses when it starts the replica.
  std::vector<std::string> gpus;
  friend bool operator==(const ReplicaPlacement&, const ReplicaPlacement&) = default;
};
using Placement = std::vector<ReplicaPlacement>;
inline constexpr char kUnknownGpu[] = "?";

// GPU use of a replica, from samples while it ran.
struct GpuUse {
  std::int64_t samples = 0;
  double utilization = 0;                // Mean over samples and devices, 0 to 1.
  double peak_utilization = 0;           // Maximum over samples and devices.
  std::int64_t memory_bytes = 0;         // Mean over samples of the largest use of a device.
  std::int64_t peak_memory_bytes = 0;    // Maximum over samples and devices.
  std::int64_t device_memory_bytes = 0;  // Memory of its smallest device.
  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

// The state or the end of one replica of an attempt.
struct ReplicaResult {
  std::string role;
  std::int32_t index = 0;
  // At most one of exit_code and signal is set; neither while the replica runs, or if it was lost.
  std::optional<std::int32_t> exit_code;
  std::optional<std::int32_t> signal;
  std::int32_t restarts = 0;  // Number of restarts in this attempt.
  // Start of its first run and end of its last one, by the clock of its host. Unset: not yet, or unknown.
  std::optional<absl::Time> started;
  std::optional<absl::Time> ended;
  // CPU time, and peak memory, of its ended runs, as far as known.
  absl::Duration cpu_time;
  std::int64_t peak_memory_bytes = 0;
  std::optional<GpuUse> gpu;  // Unset: it has no GPUs, or their use is unknown.
  friend bool operator==(const ReplicaResult&, const ReplicaResult&) = default;
};

// One run of a trial's whole job.
struct Attempt {
  AttemptNumber number;
  AttemptState state = AttemptState::kPlaced;
  Placement placement;
  std::string directory;  // Folder of the logs and records of its replicas.
  EventSeq defined_by;    // The event that defined its job. 0: the study's creation.
  absl::Time placed;
  // Start of its primary and end of its last replica; if unknown, the times when the engine noticed them.
  std::optional<absl::Time> started;
  std::optional<absl::Time> ended;
  FailureClass failure = FailureClass::kNone;
  bool transient = false;  // The failure is temporary: another attempt may succeed.
  std::string message;
  std::vector<ReplicaResult> replicas;
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// Used resources.
struct ResourceUsage {
  absl::Duration cpu_time;  // User and system time of all processes.
  absl::Duration gpu_time;  // Time that GPUs were reserved, busy or not, summed over GPUs.
  std::int64_t peak_memory_bytes = 0;  // Largest use of a single replica.
  friend bool operator==(const ResourceUsage&, const ResourceUsage&) = default;
};
// Adds times; takes the larger peak of memory.
ResourceUsage& operator+=(ResourceUsage& usage, const ResourceUsage& more);
// Returns the GPU time of the attempt from its placement to its end, or to `now` if it has not ended. Devices that a cluster
// chooses are held from the start of the attempt on only; until then it waits in the cluster's queue.
absl::Duration GpuTime(const Attempt& attempt, absl::Time now);
// Returns the usage of an attempt that has ended; zero for others.
ResourceUsage UsageOf(const Attempt& attempt);

// Why a trial was told to stop, and the inputs to compute a rule's verdict again. Stored with the trial.
struct StopRecord {
  std::string rule;     // "median"; "user" if a user stopped the trial.
  std::string version;  // EarlyStopper::version.
  std::string options;  // EarlyStopper::options.
  EventSeq as_of;       // The last event of the log that was an input.
  // The compared values: "best", "median", "step", "curves".
  std::map<std::string, double> numbers;
  std::string explanation;  // One sentence.
  friend bool operator==(const StopRecord&, const StopRecord&) = default;
};

// One evaluation of a point, without its curve (StudyReader::ListMeasurements).
struct Trial {
  TrialNumber number;
  TrialState state = TrialState::kRequested;
  Point point;  // May lack values in a foreign study.
  SuggestionRecord suggestion;
  absl::Time created;
  std::optional<absl::Time> started;  // First start of its program, or first lease.
  std::optional<absl::Time> ended;
  // The last value of each metric, and the last step.
  std::optional<Measurement> last;
  // The result of a completed trial. Of an infeasible trial: what its client measured anyway.
  std::map<std::string, double> final_metrics;
  std::int64_t final_step = 0;    // Step of final_metrics. 0: unknown.
  absl::Duration final_elapsed;   // Measurement::elapsed of final_metrics.
  std::int64_t measurements = 0;  // Number of measurements.
  // Number of latest measurements in a row with NaN or an infinity for an objective.
  std::int64_t not_finite = 0;
  FailureClass failure = FailureClass::kNone;
  std::string message;             // Why it is in its state, one sentence.
  std::optional<StopRecord> stop;  // Set once a rule or a user told it to stop.
  std::optional<Lease> lease;      // Set while a client runs it.
  std::string client;  // Name of its last client, also after its end. Empty: it had none.
  std::vector<Attempt> attempts;
  bool deleted = false;  // Deleted by a user: only the log still has it, and Studies hides it.
  Metadata metadata;
  friend bool operator==(const Trial&, const Trial&) = default;
};
// Returns the usage of all attempts that have ended.
ResourceUsage UsageOf(const Trial& trial);

}  // namespace vernier
