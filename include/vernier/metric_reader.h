#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier {

// How a metric was found, or what may have been meant by it. For messages to users.
struct MetricSighting {
  // Something in the program's output or files that resembles the metric but was not read as it.
  struct Candidate {
    std::string what;  // "the output has 'acc' 12 times, last 0.93"
    // Entry for the study file that would read it: "accuracy: {after: 'acc='}". Empty: no entry would.
    std::string entry;
  };

  std::string metric;
  std::int64_t values = 0;  // Number of values found.
  std::string source;       // "log", "json", "hypertune", "tfevents"; empty: nothing was found.
  // If nothing was found: candidates, most likely first. Otherwise the names that were skipped: 'val loss', for the
  // metric 'loss' of a program that prints both.
  std::vector<Candidate> candidates;
};

// Reads the metrics of one attempt: turns what its programs write into measurements. Implement it for a source of your
// own and pass a factory to EngineOptions::metrics or ServerOptions::metrics.
//
//   class QueueReader final : public MetricReader {
//    public:
//     absl::StatusOr<std::vector<Measurement>> Read() override { return queue_.TakeNew(); }
//   };
//
// The engine polls it, one call at a time, possibly from a thread of its executor. A call must not wait for new data.
// Need not be thread-safe.
class MetricReader {
 public:
  virtual ~MetricReader() = default;
  // Returns the measurements since the last call, oldest first. The first call starts from the beginning of the
  // attempt, so that nothing is missed after a restart; the study skips measurements that it has. Values may be NaN or
  // infinite. A measurement that may be incomplete, such as the last line of output, may be returned by a later call.
  virtual absl::StatusOr<std::vector<Measurement>> Read() = 0;
  // Called once the programs have ended: returns the remaining measurements, incomplete ones included. The default
  // calls Read.
  virtual absl::StatusOr<std::vector<Measurement>> Finish() { return Read(); }
  // One for each metric that the study needs. Used when a metric is missing; the default says nothing.
  virtual std::vector<MetricSighting> Sightings() const { return {}; }
  // The last lines of output without a metric, oldest first.
  virtual std::vector<std::string> UnmatchedLines() const { return {}; }
};

// Makes the reader of the attempt `gang.id` of `trial`.  InvalidArgument: as ValidateMetricSources.
using MetricReaderFactory = std::function<absl::StatusOr<std::unique_ptr<MetricReader>>(
    const StudySpec& spec, const Trial& trial, const GangProgram& gang)>;

// Makes the reader that vernierd uses, of files on this host. StudySpec::metrics says where each metric is: in the
// output of a replica (`log_file`, docs/formats/attempt_directory.md), in JSON lines of it, in TensorBoard event files,
// or in the file of cloudml-hypertune. A metric of kind kName is read from the source in which its name appears first,
// and from no other. Of event files, only those begun during the trial's last attempt count; all of them if it has no
// attempt.
//
// InvalidArgument: as ValidateMetricSources, except that folders are not checked.
absl::StatusOr<std::unique_ptr<MetricReader>> NewMetricReader(const StudySpec& spec,
                                                              const Trial& trial,
                                                              const GangProgram& gang);

// Checks the metric sources of a definition.
// InvalidArgument: a FieldError with path "metrics.NAME.regex" if the expression does not compile or has no group for
// the value, "metrics.NAME.from" if the job has no such role, "metrics.NAME.folder" if parallel trials would share a
// folder of event files.
absl::Status ValidateMetricSources(const StudySpec& spec);

}  // namespace vernier
