#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "src/core/recent_durations.h"
#include "src/study/draft.h"
#include "src/study/listeners.h"
#include "src/study/study_state.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/clock.h"
#include "vernier/early_stopper.h"
#include "vernier/optimizer.h"
#include "vernier/storage.h"

namespace vernier::study {

// What the verdicts on paused trials follow from, as far as they are worth asking for again: they are taken back as other trials
// end or pause, seldom by a report.
struct ResumptionEvidence {
  std::set<TrialNumber> paused;  // A pause may bring no observation.
  std::size_t observations = 0;
  std::int64_t spec_version = 0;
  friend bool operator==(const ResumptionEvidence&, const ResumptionEvidence&) = default;
};

// What a study holds in memory besides the fold of its log. Lost with the process, and missed by nobody: what it decides
// is recorded as events.
struct Transient {
  // The clock at the change that is being decided. Events have a later time where the clock was put back since the last one.
  absl::Time now;
  // When leases are over by this process's clock: of those granted or renewed by it, and of others that were stored as longer
  // than a lease can be. The rest are over when they are stored to be.
  std::map<TrialNumber, absl::Time> lease_expires;
  // The algorithm found no point that was not proposed before.
  std::string exhausted;  // In the algorithm's words; empty: it did.
  // As it was when the rule last let none of the paused trials go on.
  std::optional<ResumptionEvidence> none_resumable;
  // What the study computes with. A status where the catalogue refuses: the study was made by another version.
  // Shared with suggestions being computed.
  absl::StatusOr<std::shared_ptr<const Optimizer>> optimizer;
  absl::StatusOr<std::shared_ptr<const EarlyStopper>> stopper;
};

// One study in memory: its fold, the order of its changes, and what of it is durable.
//
// Loaded from storage on first use: from the snapshot that one of its changes stored, and the events after it. A change is decided and put in line under the lock, and made durable outside of it,
// so that changes of many callers share a sync. If the store refuses one, the fold is thrown away and folded again from
// storage: every change behind the refused one is refused too, and none is half-made.
// Thread-safe. No storage call but Begin, which never blocks, happens under the lock.
class LiveStudy {
 public:
  // Nothing is owned; all must outlive it.
  LiveStudy(Storage& storage,
            const Clock& clock,
            const AlgorithmCatalogue& algorithms,
            std::shared_ptr<const Listeners> listeners,
            RecentDurations& commits,
            StudyId id,
            std::int64_t snapshot_interval);

  using Look = absl::FunctionRef<absl::Status(const StudyFold&, const Transient&)>;
  using Decide = absl::FunctionRef<absl::Status(Draft&, Transient&)>;

  // Shows the study as of some moment during the call, and returns once all that was shown is durable. `look` and `decide` may
  // be called again, after an error of theirs, once what they missed (StudyFold::missing) was fetched. `only`: nothing
  // but this trial is looked at, so that changes of others need not be waited for.
  absl::Status Read(Look look, std::optional<TrialNumber> only = std::nullopt);

  // Transient::lease_expires as it is now.
  std::map<TrialNumber, absl::Time> lease_expires() const;

  // As it was at some moment during the call. Waits for no change, so that an amendment it shows may not be durable yet.
  absl::StatusOr<std::shared_ptr<const StudySpec>> Definition();
  // The one that attempts with this Attempt::defined_by were started with, as far as job and metrics go.
  absl::StatusOr<std::shared_ptr<const StudySpec>> Definition(EventSeq defined_by);

  // Runs `decide` and stores what it added. What `decide` copied out is true, and durable, once this returns OK. An error
  // of `decide` is returned as it is; it must then have added nothing.
  // Unavailable (kStoreBusy), ResourceExhausted: the store refused it, or one before it.  NotFound: deleted.
  absl::Status Change(const Caller& caller, Decide decide);

  // A change that is in line.
  struct Ticket {
    // Shared with readers that wait for it; null: nothing to wait for.
    std::shared_ptr<PendingCommit> commit;
    EventSeq last;
    std::uint64_t generation = 0;
    std::optional<absl::Time> begun;  // When it came in line; unset: nothing did.
  };
  // Change in two halves, for those who let something go between them.
  absl::StatusOr<Ticket> Begin(const Caller& caller, Decide decide);
  absl::Status AwaitStored(const Ticket& ticket);
  // Finish that returns at once: `finished` is called once, from any thread, maybe before this returns. The study must
  // live until then.
  void WhenStored(const Ticket& ticket, std::function<void(const absl::Status&)> finished);

  // A change that creates trials by itself. It begins once nobody has the slot: at once, or by whoever releases it; then
  // `begun` gets what Begin would return, outside the lock.
  struct Creation {
    Caller caller;
    std::function<absl::Status(Draft&, Transient&)> decide;
    std::function<void(absl::StatusOr<Ticket>)> begun;
  };
  void Begin(Creation creation);

  // The right to create trials: of one caller at a time, so that the number of the next trial stays reserved while its
  // point is computed.  Cancelled: `stop` fired.
  absl::Status AcquireSlot(const std::stop_token& stop);
  void ReleaseSlot();

  // What the next suggestion is expected to take, for SuggestsAtOnce.
  void set_suggests_at_once(bool at_once) { suggests_at_once_.store(at_once); }
  bool suggests_at_once() const { return suggests_at_once_.load(); }

  // True if there is a durable event after `after`.
  bool WaitForEvents(EventSeq after, absl::Duration timeout, const std::stop_token& stop);

  // Whether the fold is in memory, and what it takes to decide whether it should be.
  struct Fold {
    bool is_loaded = false;
    bool is_finished = false;  // The study.
    std::int64_t rows = 0;     // Number of its trials whose rows are in memory.
    absl::Time used;
  };
  Fold fold() const;
  void MarkUsed(absl::Time now) { used_.store(absl::ToUnixNanos(now)); }
  bool is_loaded() const { return is_loaded_.load(); }
  // Lets go of the fold, which the next call loads again. False: it is needed, since it knows of leases or of time that runs
  // out what no row does, or since a change of it is on its way.
  bool Release();

  // Bars further changes, `look` permitting; Revive takes it back. Of a study that is not in memory `look_at_row` sees the row
  // instead, so that nothing is folded only to be deleted.
  absl::Status Bar(Look look, absl::FunctionRef<absl::Status(const Study&)> look_at_row);
  void Revive();

 private:
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Calls `look`, which looks at the fold, until nothing that it asked for is missing: that is fetched between two calls,
  // without the lock.
  absl::Status RunFetching(absl::FunctionRef<absl::Status()> look)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives up the lock meanwhile.
  absl::Status Fetch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayRest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Nothing of it is in memory, nor on its way there or to the disk.
  bool IsAtRest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return fold_ == nullptr && !loading_ && !barred_ && last_commit_ == nullptr;
  }
  // Of all changes, if those up to `shown` are not durable yet.
  Ticket TicketFor(EventSeq shown) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Ticket LastTicket() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<Ticket> BeginLocked(const Caller& caller, Decide decide)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What became of a change. Returns what Finish does.
  absl::Status Learn(const absl::Status& stored, const Ticket& ticket);
  void Discard() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Gone() const;
  absl::Status Refusal(const absl::Status& status) const;

  Storage& storage_;
  const Clock& clock_;
  const AlgorithmCatalogue& algorithms_;
  const std::shared_ptr<const Listeners> listeners_;  // With the others of the store.
  RecentDurations& commits_;                          // How long they took.
  const StudyId id_;
  const std::int64_t snapshot_interval_;  // In events.
  std::atomic<bool> is_loaded_ = false;   // Whether there is a fold.
  std::atomic<bool> suggests_at_once_ = false;
  std::atomic<std::int64_t> used_ = 0;  // When it was last, in nanoseconds since 1970.

  mutable absl::Mutex mu_;
  std::unique_ptr<StudyFold> fold_ ABSL_GUARDED_BY(mu_);  // Null until loaded.
  std::unique_ptr<Transient> transient_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const StudySpec> definition_
      ABSL_GUARDED_BY(mu_);  // Shared with those who asked; null until then.
  std::int64_t definition_version_ ABSL_GUARDED_BY(mu_) = 0;
  std::shared_ptr<PendingCommit> last_commit_ ABSL_GUARDED_BY(mu_);  // Shared with those who wait.
  EventSeq durable_ ABSL_GUARDED_BY(mu_);
  std::uint64_t generation_ ABSL_GUARDED_BY(mu_) = 0;  // Of the fold.
  bool loading_ ABSL_GUARDED_BY(mu_) = false;
  bool needs_log_ ABSL_GUARDED_BY(mu_) = false;  // The next load is of the whole log.
  bool slot_taken_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Creation> creations_ ABSL_GUARDED_BY(mu_);  // That wait for the slot.
  bool barred_ ABSL_GUARDED_BY(mu_) = false;
};

// The study's name, as far as it can be read.
std::string StudyNameOf(const Storage& storage, StudyId id);

// Holds the slot of a study until it is destroyed.
class Slot {
 public:
  static absl::StatusOr<Slot> Acquire(LiveStudy& study, const std::stop_token& stop);
  Slot(Slot&& other) noexcept;
  Slot& operator=(Slot&& other) noexcept;
  ~Slot();

 private:
  void Release();
  explicit Slot(LiveStudy& study) : study_(&study) {}
  LiveStudy* study_;
};

}  // namespace vernier::study
