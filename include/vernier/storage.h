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

// State of a study after an event, in a format that only the study layer reads. It saves reading the log from its
// beginning, and can be computed from the log again.
struct StudySnapshot {
  EventSeq as_of;    // The last event that is included.
  std::string head;  // The part that changes; replaced as a whole.
  // The parts that only grow, as bytes in a format that the head defines.
  std::vector<std::string> parts;
  friend bool operator==(const StudySnapshot&, const StudySnapshot&) = default;
};

// How a commit changes the snapshot of its study.
struct SnapshotChange {
  std::size_t first_part = 0;      // Index of the first part to replace by `parts`.
  std::vector<std::string> parts;  // New parts.
  // New head, as of the commit's last event. Unset: the parts are incomplete, and the study has no snapshot until a
  // later commit has a head.
  std::optional<std::string> head;
};

// One atomic change of a study: events, and the rows that they change.
struct Commit {
  StudyId study;
  EventSeq expected;          // The study's last event before this commit.
  std::vector<Event> events;  // seq = expected + 1, expected + 2, …; at least one.
  Study header;               // The study after the events; header.last_event is the last seq.
  std::vector<Trial> trials;  // The trials that the events created or changed, after the events.
  std::optional<SnapshotChange> snapshot = {};  // Unset: the snapshot does not change.
};

// Id and name of a study.
struct StudyKey {
  StudyId id;
  std::string name;
};

// Which trials of a study to read, and in what order.
struct TrialScan {
  // Order. Empty: by number. Otherwise by value of this metric, of the trials that have a value other than NaN: the
  // final value, or the last reported one of a trial without a final value. Ties are in the order of numbers.
  std::string metric;
  bool descending = false;
  // Start after this trial, at its current position in the order; 0: start with the first trial. With `metric`, a trial
  // without a value has no position, and the scan is empty.
  TrialNumber after;
  std::vector<TrialState> states;  // Only trials in one of these states. Empty: in any.
  // With `metric`: only trials whose value is in this range, both ends included.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  // If not empty: exactly these trials in this order, except those that do not exist. The fields above are ignored.
  std::vector<TrialNumber> numbers;
  // For StudyReader::ScanTrials: also deleted trials. Storage::ScanTrials ignores it and always visits them.
  bool deleted = false;
};

// A commit in progress. Destroying it does not cancel the commit. Must not outlive its storage.
class PendingCommit {
 public:
  virtual ~PendingCommit() = default;
  // Blocks until the commit is durable or refused. May be called from any thread, more than once.
  // Aborted: the study's last event was not `expected`, or an earlier pending commit of the study failed.
  // NotFound: the study was deleted.  InvalidArgument: the fields of the commit do not fit together.
  // ResourceExhausted: the disk is full.  Unavailable: it could not be written.
  virtual absl::Status Wait() = 0;
  // Returns at once, and calls `told` once with the result of Wait: from any thread, possibly before Then returns. This
  // object may be destroyed before. `told` must not block, since the calling thread may be writing for all studies. The
  // store may start a thread for these calls.
  virtual void Then(std::function<void(const absl::Status&)> told) = 0;
};

// Durable record of studies, trials and events. Programs use it through Studies, which owns the rules:
//
//   const absl::StatusOr<std::unique_ptr<Storage>> storage = OpenSqliteStorage({.path = "studies.db"});
//   if (!storage.ok()) return storage.status();
//   const auto clock = NewRealClock();
//   const auto studies = Studies::Create(**storage, *clock);
//
// Durability: a commit whose Wait returned OK survives the death of the process and of the host (with NewMemoryStorage,
// neither). Thread-safe. Calls read the disk, and block for it, unless they say otherwise. Returned values are copies.
//
// Every call may return DataLoss (kDataLoss): the rows that it read are damaged; the message names the study. Rows that
// are intact can still be read.
class Storage {
 public:
  virtual ~Storage() = default;

  // Creates a study from its first event, a StudyCreated. Returns it with its new id, once it is durable. Ids are never
  // reused, even after deletion.
  // AlreadyExists: another study has the name.
  virtual absl::StatusOr<Study> CreateStudy(const Event& created) = 0;

  // Queues the commit without blocking on the disk. Never null. Commits of one study are applied in the order of these
  // calls. Commits that are queued at the same time may share one transaction and one sync.
  virtual std::unique_ptr<PendingCommit> Begin(Commit commit) = 0;

  // Removes the study, its trials and events, durably. If request_id is not empty, it is stored permanently with the
  // study's name.
  // NotFound: no such study.
  virtual absl::Status DeleteStudy(StudyId id, std::string_view request_id) = 0;
  // Returns the name of the study that was deleted with this request_id; nullopt if there is none. If there are two,
  // the first one.
  virtual absl::StatusOr<std::optional<std::string>> FindDeletion(
      std::string_view request_id) const = 0;

  // NotFound: no such study.
  virtual absl::StatusOr<Study> GetStudy(StudyId id) const = 0;
  virtual absl::StatusOr<Study> GetStudyByName(std::string_view name) const = 0;
  // Returns at most `limit` studies with ids above `after`, in the order of ids.
  virtual absl::StatusOr<std::vector<Study>> ListStudies(StudyId after,
                                                         std::size_t limit) const = 0;
  // Returns all studies in the order of ids, also those whose rows are damaged.
  virtual absl::StatusOr<std::vector<StudyKey>> ListStudyKeys() const = 0;

  // NotFound: no such study or trial.
  virtual absl::StatusOr<Trial> GetTrial(TrialId id) const = 0;
  // Returns at most `limit` trials with numbers above `after`, in the order of numbers, deleted ones included.
  // NotFound: no such study.
  virtual absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                        TrialNumber after,
                                                        std::size_t limit) const = 0;

  // Calls `visit` with each trial of the scan, in its order, until it returns false. The scan sees one moment of the
  // store and holds one trial in memory at a time. `visit` must not call the storage.
  // NotFound: no such study.
  virtual absl::Status ScanTrials(StudyId study,
                                  const TrialScan& scan,
                                  const std::function<bool(Trial)>& visit) const = 0;

  // Returns at most `limit` durable events after `after`, oldest first.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                        EventSeq after,
                                                        std::size_t limit) const = 0;
  // Returns the measurements of these events, in the given order.
  // NotFound: no such study, or an event that reported no measurement.
  virtual absl::StatusOr<std::vector<Measurement>> ReadMeasurements(
      StudyId study, std::span<const EventSeq> events) const = 0;
  // Returns the measurements of one trial, oldest first.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const = 0;
  // Returns all MeasurementReported events of the trial, oldest first.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Event>> ReadReports(TrialId trial) const = 0;
  // Returns all events with this request_id, oldest first; none for an empty one.  NotFound: no such study.
  virtual absl::StatusOr<std::vector<Event>> ReadRequest(StudyId study,
                                                         std::string_view request_id) const = 0;
  // Returns the latest snapshot; nullopt if there is none.  NotFound: no such study.
  virtual absl::StatusOr<std::optional<StudySnapshot>> ReadSnapshot(StudyId study) const = 0;
};

// Makes a store in memory, lost with the object. For tests and for programs that do not need durability.
std::unique_ptr<Storage> NewMemoryStorage();

struct SqliteOptions {
  std::string path;
  // Longest wait for another process that is writing.
  absl::Duration busy_timeout = absl::Seconds(5);
};
// Opens the file, creates it if missing, and brings its schema up to date. The folder must exist.
// FailedPrecondition: a newer version has written it.  DataLoss: it is not a Vernier store, or is damaged.
// Unavailable: it cannot be opened.
absl::StatusOr<std::unique_ptr<Storage>> OpenSqliteStorage(const SqliteOptions& options);

}  // namespace vernier
