#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/event.h"
#include "vernier/core/ids.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

namespace vernier {

// What the log of a study comes to, in a form that only the study layer reads. Whoever has it need not read the log from its
// beginning. Everything in it can be computed from the log again.
struct StudySnapshot {
  EventSeq as_of;                  // The last event that it takes in.
  std::string head;                // What changes; replaced as a whole.
  std::vector<std::string> parts;  // What only grows, as bytes; the head says how to read them.
  friend bool operator==(const StudySnapshot&, const StudySnapshot&) = default;
};

// How a commit changes the snapshot of its study.
struct SnapshotChange {
  std::size_t first_part = 0;      // Parts from this index on are replaced by `parts`.
  std::vector<std::string> parts;  // Appended.
  // As of the commit's last event. Unset: the parts are not complete, so
  // that there is no snapshot until a later commit brings a head.
  std::optional<std::string> head;
};

// What one change of a study writes: its events, and the rows that they change. All of it or nothing.
struct Commit {
  StudyId study;
  EventSeq expected;          // The study's last event before this commit.
  std::vector<Event> events;  // seq = expected + 1, expected + 2, …; at least one.
  Study header;               // As it is after the events; header.last_event is the last seq.
  std::vector<Trial> trials;  // Those that the events created or changed, as they are afterwards.
  std::optional<SnapshotChange> snapshot = {};  // Unset: it stays as it is.
};

// A study as others name it.
struct StudyKey {
  StudyId id;
  std::string name;
};

// Which trials of a study to read, and in what order.
struct TrialScan {
  // By their numbers if it is empty. Otherwise those that have a value in this metric, and not NaN, by that value: the final one,
  // or, of a trial that has none, the one reported last. Equals are in the order of their numbers.
  std::string metric;
  bool descending = false;
  // Begins behind this trial, wherever it stands now; 0: with the first. By a metric nothing is behind a trial without a value.
  TrialNumber after;
  std::vector<TrialState> states;  // Only trials in one of these; empty: in any.
  // By a metric: only trials with a value in this range, both ends included.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  // Not empty: these trials in this order, without those that do not exist. The fields above do not count then.
  std::vector<TrialNumber> numbers;
  // Of Studies::ScanTrials: trials that were deleted, too. A storage does not leave them out.
  bool deleted = false;
};

// A commit on its way. Destroying it without waiting does not take the commit back. Must not outlive its storage.
class PendingCommit {
 public:
  virtual ~PendingCommit() = default;
  // Blocks until the commit is durable or refused. May be called from any thread, more than once.
  // Aborted: the study's last event was not `expected`, or an earlier pending commit of the study failed.
  // NotFound: the study was deleted.  InvalidArgument: its parts do not fit.  ResourceExhausted: disk full.  Unavailable: not written.
  virtual absl::Status Wait() = 0;
  // Calls `told` with what Wait would return: once, from any thread, maybe before Then returns; it need not outlive Then.
  // `told` must not block for long: whoever calls it may be writing for all. The store may start a thread for it.
  virtual void Then(std::function<void(const absl::Status&)> told) = 0;
};

// Durable record of studies, trials and events.
//
// Thread-safe. Every call: DataLoss (kDataLoss), with the study's name where rows of one were read: they are damaged. What
// can be read is read all the same. Durability: a commit whose Wait returned OK survives the death of the process and of the host (the
// in-memory implementation survives neither). Returned values are snapshots and never change.
class Storage {
 public:
  virtual ~Storage() = default;

  // Creates the study with its first event (a StudyCreated) and returns it with its new id, durable.
  // AlreadyExists: another study has the name. Ids are never reused, even after deletion.
  virtual absl::StatusOr<Study> CreateStudy(const Event& created) = 0;

  // Puts the commit in line. Never blocks on the disk; commits of one study are applied in the order of these calls.
  // Commits in line at the same time may share one transaction and one sync.
  virtual std::unique_ptr<PendingCommit> Begin(Commit commit) = 0;

  // Removes the study, its trials and events, durably. A request_id that is not empty is kept with the study's name for
  // good.  NotFound.
  virtual absl::Status DeleteStudy(StudyId id, std::string_view request_id) = 0;
  // The name of the study that the request deleted, the first one if it did so twice; nothing if it deleted none.
  virtual absl::StatusOr<std::optional<std::string>> FindDeletion(
      std::string_view request_id) const = 0;

  // NotFound.
  virtual absl::StatusOr<Study> GetStudy(StudyId id) const = 0;
  virtual absl::StatusOr<Study> GetStudyByName(std::string_view name) const = 0;
  // In the order of ids, after `after`, at most `limit`.
  virtual absl::StatusOr<std::vector<Study>> ListStudies(StudyId after,
                                                         std::size_t limit) const = 0;
  // All studies, in the order of their ids; also those of which nothing else can be read any more.
  virtual absl::StatusOr<std::vector<StudyKey>> ListStudyKeys() const = 0;

  // NotFound: no such study or trial.
  virtual absl::StatusOr<Trial> GetTrial(TrialId id) const = 0;
  // In the order of numbers, after `after`, at most `limit`.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                        TrialNumber after,
                                                        std::size_t limit) const = 0;

  // Calls `visit` with one trial of the scan after the other, in its order, until it returns false. All are of one snapshot, and
  // none but the one that is visited is held in memory. `visit` must not call the storage.  NotFound: no such study.
  virtual absl::Status ScanTrials(StudyId study,
                                  const TrialScan& scan,
                                  const std::function<bool(Trial)>& visit) const = 0;

  // The log after `after`, oldest first, at most `limit` events. Only durable events are returned.  NotFound.
  virtual absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                        EventSeq after,
                                                        std::size_t limit) const = 0;
  // The measurements that these events reported, in the order given.  NotFound: no such study, or an event that reported
  // none.
  virtual absl::StatusOr<std::vector<Measurement>> ReadMeasurements(
      StudyId study, std::span<const EventSeq> events) const = 0;
  // The measurements of one trial, oldest first.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const = 0;
  // The events that reported them: all MeasurementReported of the trial, oldest first.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Event>> ReadReports(TrialId trial) const = 0;
  // All events with this request_id, oldest first; none for an empty one.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Event>> ReadRequest(StudyId study,
                                                         std::string_view request_id) const = 0;
  // The snapshot that the last commit with one left; nothing if there is none.  NotFound: no such study.
  virtual absl::StatusOr<std::optional<StudySnapshot>> ReadSnapshot(StudyId study) const = 0;
};

std::unique_ptr<Storage> NewMemoryStorage();

struct SqliteOptions {
  std::string path;
  // How long to wait for another process that is writing.
  absl::Duration busy_timeout = absl::Seconds(5);
};
// Opens or creates the file and brings its schema up to date. The folder must exist.
// FailedPrecondition: written by a newer version.  DataLoss: not a Vernier store, or damaged.  Unavailable: cannot be opened.
absl::StatusOr<std::unique_ptr<Storage>> OpenSqliteStorage(const SqliteOptions& options);

}  // namespace vernier
