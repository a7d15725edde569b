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

// What a reader saw of one metric, for messages to people.
struct MetricSighting {
  // Something in the program's output or files that may be the metric, though it was not taken for it.
  struct Candidate {
    std::string what;  // "the output has 'acc' 12 times, last 0.93"
    // What to write in the study file: "accuracy: {after: 'acc='}"; empty: nothing would help.
    std::string entry;
  };

  std::string metric;
  std::int64_t values = 0;  // Number of values found.
  std::string source;       // "log", "json", "hypertune", "tfevents"; empty: nothing was found.
  // Where nothing was found: what may have been meant, most likely first. Otherwise what was passed over: 'val loss', for
  // the metric 'loss' of a program that prints both.
  std::vector<Candidate> candidates;
};

// Reads what an attempt of a trial reports: turns bytes that programs write into measurements. One per attempt.
//
// Not thread-safe. Implement it for a source of your own and hand it to the engine (EngineOptions::metrics).
class MetricReader {
 public:
  virtual ~MetricReader() = default;
  // What was reported since the last call, oldest first. The first call starts from the beginning, so that nothing is
  // missed after a restart; the study skips what it has. Values may be NaN or infinite. What may not be complete yet, such
  // as the last state of a progress bar, may be held back for a later call.
  virtual absl::StatusOr<std::vector<Measurement>> Read() = 0;
  // All that is left to read, nothing held back: the program has ended.
  virtual absl::StatusOr<std::vector<Measurement>> Finish() { return Read(); }
  // One for each metric that the study needs.
  virtual std::vector<MetricSighting> Sightings() const { return {}; }
  // The last lines of output that held no metric, oldest first.
  virtual std::vector<std::string> UnmatchedLines() const { return {}; }
};

// Makes the reader of an attempt of the trial.  InvalidArgument: as ValidateMetricSources.
using MetricReaderFactory = std::function<absl::StatusOr<std::unique_ptr<MetricReader>>(
    const StudySpec& spec, const Trial& trial, const GangProgram& gang)>;

// Vernier's own reader, of files on this host. Each metric is read where StudySpec::metrics says: from the output of a
// replica (`log_file`, docs/formats/attempt_directory.md), JSON lines in it, TensorBoard event files or the file of
// cloudml-hypertune. A metric of kind kName keeps to the source in which its name turned up first. Event files count that
// were begun during the trial's last attempt; if it has none, all of them.
//
// InvalidArgument: as ValidateMetricSources, whose rule for folders is left to it.
absl::StatusOr<std::unique_ptr<MetricReader>> NewMetricReader(const StudySpec& spec,
                                                              const Trial& trial,
                                                              const GangProgram& gang);

// InvalidArgument: a FieldError "metrics.NAME.regex" for an expression that does not compile or has no group for the
// value, "metrics.NAME.from" for a role that the job does not have, "metrics.NAME.folder" for a folder of event files that
// trials which run at once would share.
absl::Status ValidateMetricSources(const StudySpec& spec);

}  // namespace vernier
