#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "src/engine/context.h"
#include "vernier/core/ids.h"
#include "vernier/core/trial.h"
#include "vernier/metric_reader.h"

namespace vernier::engine {

// Feeds the metrics that one attempt reports into its study: reads them, and stores them as measurements of the trial.
//
// A read runs as a task of the engine, at most one at a time, so that a step never waits for files or for the store.
// Nothing of it survives the process: after a restart the reader begins anew, and the study drops measurements that it
// has already.
class MetricFeed {
 public:
  MetricFeed(const Context& context, TrialId trial, std::unique_ptr<MetricReader> reader);

  // Starts a read unless one runs, all is read, or Advance was never called. Called for all trials together, so that
  // their reports share one sync of the store.
  void BeginRead();

  // Moves on without waiting. `trial` becomes its recorded version if something new was stored.
  // `needs_all`: the attempt has ended, so read to the end.
  // True: everything that the trial's next move needs is stored.  False: a read is still running.
  // The first call reads also without `needs_all`, so that metrics from before a restart are not missed.
  absl::StatusOr<bool> Advance(Trial& trial, bool needs_all);

  // Advance was called for a trial that had begun to run.
  bool has_begun() const { return trial_started_.has_value(); }
  bool is_reading() const { return read_ != nullptr; }
  const MetricReader& reader() const { return *source_->reader; }

 private:
  // Shared with the task that reads. Used by one thread at a time.
  struct Source {
    std::unique_ptr<MetricReader> reader;
    std::vector<Measurement> unreported;  // Read, not stored yet.
  };
  // One read, and the outcome of storing what it found.
  struct Read {
    absl::Notification done;
    absl::Status stored;
    bool is_last = false;
    std::size_t count = 0;  // Number of measurements that it stores.
  };

  static void ReadNew(Source& source, std::optional<absl::Time> trial_started, bool is_last);
  void Start(bool is_last);
  // Takes the outcome of the read.  False: it is still running.
  absl::StatusOr<bool> TakeOutcome(Trial& trial);

  const Context context_;
  const TrialId trial_;
  const std::shared_ptr<Source> source_;
  std::shared_ptr<Read> read_;  // Shared with its task; null: none runs.
  bool is_complete_ = false;    // The last read is stored.
  std::optional<absl::Time> trial_started_;
};

}  // namespace vernier::engine
