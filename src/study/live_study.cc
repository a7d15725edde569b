// A change goes through these steps:
//   1. under the lock: load the fold if it is not in memory, let the rules decide, apply each event to the
//      fold, and put the commit in line at the store (BeginLocked);
//   2. without the lock: wait until the store has it on disk (AwaitStored, WhenStored);
//   3. under the lock: note what became durable, or throw the fold away (Learn).
//
// The fold may therefore be ahead of the disk. Whoever shows a part of it waits for the commit that
// made that part (Ticket), so that a reader never sees a change that the store refuses in the end.
//
// A refused commit invalidates all that follow it, since each expects the event before. The fold is
// then discarded, and `generation_` counts up, so that the waiters of one refused batch discard it
// only once. The next call folds again from the store.

#include "src/study/live_study.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/core/damage.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/study/fold_loading.h"
#include "src/study/problem.h"

namespace vernier::study {
namespace {

// Number of looks before a reader is told that the store refuses changes. A choice.
constexpr int kReadAttempts = 3;

std::unique_ptr<Transient> MakeTransient(const AlgorithmCatalogue& algorithms,
                                         const StudyFold& fold,
                                         absl::Time now) {
  auto transient = std::make_unique<Transient>();
  const StudySpec& spec = fold.header().spec;
  transient->optimizer = algorithms.NewOptimizer(spec.algorithm, ProblemOf(spec, fold.earlier()));
  transient->stopper = algorithms.NewEarlyStopper(spec.stopping, FirstObjective(spec).goal);
  // A clock that was put back since a lease was granted would make the lease last longer than its
  // ttl. From now on none is longer than the study's ttl.
  const absl::Time latest = now + spec.lease.ttl;
  for (const TrialNumber trial : fold.leased()) {
    if (fold.Find(trial)->trial.lease->expires > latest) transient->lease_expires[trial] = latest;
  }
  return transient;
}

}  // namespace

std::string StudyNameOf(const Storage& storage, StudyId id) {
  // Keys are read apart from rows: the name is wanted when the row of the study is damaged.
  const absl::StatusOr<std::vector<StudyKey>> keys = storage.ListStudyKeys();
  if (!keys.ok()) return "";
  const auto found = std::ranges::find(*keys, id, &StudyKey::id);
  return found == keys->end() ? "" : found->name;
}

LiveStudy::LiveStudy(Storage& storage,
                     const Clock& clock,
                     const AlgorithmCatalogue& algorithms,
                     std::shared_ptr<const Listeners> listeners,
                     RecentDurations& commits,
                     StudyId id,
                     std::int64_t snapshot_interval)
    : storage_(storage),
      clock_(clock),
      algorithms_(algorithms),
      listeners_(std::move(listeners)),
      commits_(commits),
      id_(id),
      snapshot_interval_(snapshot_interval) {}

absl::Status LiveStudy::Gone() const {
  return WithReason(NotFound("there is no study {}", id_.value()), Reason::kStudyNotFound);
}

// Aborted means that the store has other events than the change expected, because an earlier change
// was refused. To callers the store was busy, and the same call may succeed when it is repeated.
absl::Status LiveStudy::Refusal(const absl::Status& status) const {
  if (absl::IsNotFound(status)) return Gone();
  if (!absl::IsAborted(status)) return status;
  return WithReason(
      Unavailable("study {}: an earlier change could not be stored; try again", id_.value()),
      Reason::kStoreBusy);
}

absl::Status LiveStudy::Load() {
  while (!barred_ && fold_ == nullptr) {
    // One caller loads, and the others wait for it: two folds of one log would be twice the work,
    // and the second would overwrite changes made on the first.
    if (loading_) {
      mu_.Await(absl::Condition(
          +[](bool* loading) { return !*loading; }, &loading_));
      continue;
    }
    loading_ = true;
    const std::shared_ptr<PendingCommit> last = last_commit_;
    const bool needs_log = needs_log_;
    // Kept when only the fold was dropped (Fetch): renewed leases are not in the log.
    std::unique_ptr<Transient> transient = std::move(transient_);
    mu_.Unlock();
    // A commit that is still in line must not land after the log was read: the fold would lack it.
    if (last != nullptr) last->Wait().IgnoreError();
    absl::StatusOr<StudyFold> fold = needs_log ? FoldLog(storage_, id_) : LoadFold(storage_, id_);
    if (fold.ok() && transient == nullptr) {
      transient = MakeTransient(algorithms_, *fold, clock_.Now());
    }
    // Read without the lock, as the whole store is asked.
    const std::string name = absl::IsDataLoss(fold.status()) ? StudyNameOf(storage_, id_) : "";
    mu_.Lock();
    loading_ = false;
    if (!fold.ok()) return Refusal(DamageOf(name, fold.status()));
    fold_ = std::make_unique<StudyFold>(*std::move(fold));
    is_loaded_ = true;
    transient_ = std::move(transient);
    needs_log_ = false;
    // All that was read is on disk, including commits whose outcome nobody has asked for yet.
    durable_ = std::max(durable_, fold_->header().last_event);
    last_commit_.reset();
  }
  return barred_ ? Gone() : absl::OkStatus();
}

// Rules run under the lock and must not read the store, so a rule that meets a row or request that
// was left to the store fails, and names what it needs (docs/adr/0034). The rule is then called
// again from its beginning, on a fold that has the missing part. It must not have added events
// before.
absl::Status LiveStudy::RunFetching(absl::FunctionRef<absl::Status()> look) {
  while (true) {
    VERNIER_RETURN_IF_ERROR(Load());
    fold_->ForgetMissing();
    absl::Status seen = look();
    if (fold_->missing().empty()) return seen;
    VERNIER_RETURN_IF_ERROR(Fetch());
  }
}

absl::Status LiveStudy::Fetch() {
  const Missing missing = fold_->missing();
  if (missing.log) {
    // Only the fold is dropped, unlike in Discard: lease times and an exhausted space are not in
    // the log.
    fold_.reset();
    is_loaded_ = false;
    ++generation_;
    needs_log_ = true;
    return absl::OkStatus();
  }
  const std::uint64_t generation = generation_;
  // Errors are collected, and all of it is read without the lock.
  const EventSeq shed = fold_->shed();
  std::vector<Trial> trials;
  std::vector<std::pair<std::string, std::vector<Event>>> requests;
  absl::Status read;
  mu_.Unlock();
  for (const TrialNumber number : missing.trials) {
    absl::StatusOr<Trial> trial = storage_.GetTrial({id_, number});
    read.Update(trial.status());
    if (trial.ok()) trials.push_back(*std::move(trial));
  }
  for (const std::string& request : missing.requests) {
    absl::StatusOr<std::vector<Event>> events = storage_.ReadRequest(id_, request);
    read.Update(events.status());
    if (events.ok()) requests.emplace_back(request, *std::move(events));
  }
  mu_.Lock();
  VERNIER_RETURN_IF_ERROR(read);
  // While the lock was released, the fold may have been replaced, or may have left more to the
  // store than was read. The caller then looks again and asks for the rest.
  const bool is_same = fold_ != nullptr && generation == generation_ && fold_->shed() == shed;
  if (!is_same) return absl::OkStatus();
  for (Trial& trial : trials) fold_->Recall(std::move(trial));
  for (const auto& [request, events] : requests) fold_->Recall(request, events);
  return absl::OkStatus();
}

LiveStudy::Ticket LiveStudy::TicketFor(EventSeq shown) const {
  // The last commit is waited for, not the one that made `shown`: commits become durable in order,
  // and only the last one is kept.
  if (shown <= durable_) return Ticket{};
  return Ticket{
      .commit = last_commit_, .last = fold_->header().last_event, .generation = generation_};
}

LiveStudy::Ticket LiveStudy::LastTicket() const { return TicketFor(fold_->header().last_event); }

// The transient part goes with the fold: it was changed by decisions that no log records.
void LiveStudy::Discard() {
  fold_.reset();
  is_loaded_ = false;
  transient_.reset();
  ++generation_;
}

absl::Status LiveStudy::Read(Look look, std::optional<TrialNumber> only) {
  absl::Status stored;
  // A change that was shown may be refused by the store. That is no fault of the reader, who looks
  // again at what is left.
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    Ticket ticket;
    absl::Status seen;
    {
      absl::MutexLock lock(&mu_);
      seen = RunFetching([&] {
        mu_.AssertHeld();
        return look(*fold_, *transient_);
      });
      if (fold_ == nullptr) return seen;
      // A look at one trial waits for changes of that trial only, so that it is not held up by
      // reports on other trials.
      EventSeq shown = fold_->header().last_event;
      if (only.has_value()) {
        const TrialEntry* const row = fold_->Find(*only);
        shown = row == nullptr ? EventSeq() : row->last_event;
      }
      ticket = TicketFor(shown);
    }
    stored = AwaitStored(ticket);
    if (stored.ok()) return seen;
  }
  return stored;
}

std::map<TrialNumber, absl::Time> LiveStudy::lease_expires() const {
  absl::MutexLock lock(&mu_);
  return transient_ == nullptr ? std::map<TrialNumber, absl::Time>() : transient_->lease_expires;
}

absl::StatusOr<std::shared_ptr<const StudySpec>> LiveStudy::Definition() {
  absl::MutexLock lock(&mu_);
  VERNIER_RETURN_IF_ERROR(Load());
  const std::int64_t version = fold_->header().spec_version;
  // Copied once for each version and shared by all callers that ask for it.
  if (definition_ == nullptr || definition_version_ != version) {
    definition_ = std::make_shared<const StudySpec>(fold_->header().spec);
    definition_version_ = version;
  }
  return definition_;
}

absl::StatusOr<std::shared_ptr<const StudySpec>> LiveStudy::Definition(EventSeq defined_by) {
  {
    absl::MutexLock lock(&mu_);
    VERNIER_RETURN_IF_ERROR(Load());
    auto definition = fold_->DefinedBy(defined_by);
    if (definition != nullptr) return definition;
  }
  return Definition();
}

absl::StatusOr<LiveStudy::Ticket> LiveStudy::Begin(const Caller& caller, Decide decide) {
  absl::MutexLock lock(&mu_);
  return BeginLocked(caller, decide);
}

void LiveStudy::Begin(Creation creation) {
  absl::StatusOr<Ticket> ticket;
  {
    absl::MutexLock lock(&mu_);
    // Load may give up the lock, so it comes before the look at the slot: nothing may come between
    // that look and the creation. An error of it is met again by BeginLocked.
    Load().IgnoreError();
    if (slot_taken_) return creations_.push_back(std::move(creation));
    ticket = BeginLocked(creation.caller, creation.decide);
  }
  creation.begun(std::move(ticket));
}

// `decide` changes the fold while it decides. An error after its first event leaves a fold that no
// log has, so the fold is discarded; an error before leaves nothing to undo.
absl::StatusOr<LiveStudy::Ticket> LiveStudy::BeginLocked(const Caller& caller, Decide decide) {
  std::optional<Draft> draft;
  const absl::Status decided = RunFetching([&] {
    mu_.AssertHeld();
    // Read anew for each try, since a fetch in between may take long.
    transient_->now = clock_.Now();
    draft.emplace(*fold_, caller, transient_->now);
    absl::Status status = decide(*draft, *transient_);
    if (status.ok()) status = draft->status();
    // With events in the fold, `decide` cannot be called again, so what it misses is not fetched.
    if (!status.ok() && !draft->empty()) fold_->ForgetMissing();
    // The log was read without a fault. An event that does not fit it is a bug in a rule.
    return absl::IsDataLoss(status) ? Internal("{}", std::string(status.message())) : status;
  });
  if (!decided.ok()) {
    if (fold_ != nullptr && draft.has_value() && !draft->empty()) Discard();
    return decided;
  }
  // Nothing changed, but the answer shows what earlier changes made, which may be on their way to
  // disk.
  if (draft->empty()) return LastTicket();
  Commit commit = std::move(*draft).Build();
  // Stored in the transaction of the change, so that the two cannot disagree.
  commit.snapshot = fold_->TakeSnapshot(snapshot_interval_);
  last_commit_ = storage_.Begin(std::move(commit));
  Ticket ticket = LastTicket();
  ticket.begun = transient_->now;
  return ticket;
}

absl::Status LiveStudy::AwaitStored(const Ticket& ticket) {
  if (ticket.commit == nullptr) return absl::OkStatus();
  return Learn(ticket.commit->Wait(), ticket);
}

void LiveStudy::WhenStored(const Ticket& ticket,
                           std::function<void(const absl::Status&)> finished) {
  if (ticket.commit == nullptr) return finished(absl::OkStatus());
  Ticket rest = ticket;
  // The commit owns this function until it is called, so a reference back to it would be a cycle.
  rest.commit.reset();
  ticket.commit->Then([this, rest, finished = std::move(finished)](const absl::Status& stored) {
    finished(Learn(stored, rest));
  });
}

absl::Status LiveStudy::Learn(const absl::Status& stored, const Ticket& ticket) {
  // Only calls that changed something are timed: readers wait for changes of others.
  if (ticket.begun.has_value()) {
    const absl::Time now = clock_.Now();
    commits_.Add(now, now - *ticket.begun);
  }
  {
    absl::MutexLock lock(&mu_);
    if (!stored.ok()) {
      // Another waiter of the same refused batch may have discarded the fold, and a new one be
      // loaded.
      if (ticket.generation == generation_) Discard();
      return Refusal(stored);
    }
    // Waiters of one sync return in any order. The first to learn of an event tells the listeners.
    if (durable_ >= ticket.last) return absl::OkStatus();
    durable_ = ticket.last;
    // Rows may leave memory only once the snapshot that has them is on disk.
    if (fold_ != nullptr) fold_->Shed(durable_);
  }
  // Callbacks are never called under a lock (see also Listeners).
  listeners_->Tell(id_);
  return absl::OkStatus();
}

absl::Status LiveStudy::Change(const Caller& caller, Decide decide) {
  VERNIER_ASSIGN_OR_RETURN(const Ticket ticket, Begin(caller, decide));
  return AwaitStored(ticket);
}

absl::Status LiveStudy::AcquireSlot(const std::stop_token& stop) {
  struct Waiter {
    const bool* taken;
    const std::stop_token* stop;
  } waiter{&slot_taken_, &stop};
  // The mutex evaluates its conditions when a holder releases it, so that taking and releasing it
  // wakes the waiter.
  const std::stop_callback wake(stop, [this] { absl::MutexLock lock(&mu_); });
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(
      +[](Waiter* w) { return !*w->taken || w->stop->stop_requested(); }, &waiter));
  if (stop.stop_requested()) return Cancelled("the call was given up while it waited its turn");
  slot_taken_ = true;
  return absl::OkStatus();
}

void LiveStudy::ReleaseSlot() {
  std::vector<std::pair<Creation, absl::StatusOr<Ticket>>> begun;
  {
    absl::MutexLock lock(&mu_);
    // The slot stays taken until no creation waits, since BeginLocked may give up the lock to load
    // the study and more creations may queue up meanwhile.
    while (!creations_.empty()) {
      for (Creation& creation : std::exchange(creations_, {})) {
        absl::StatusOr<Ticket> ticket = BeginLocked(creation.caller, creation.decide);
        begun.emplace_back(std::move(creation), std::move(ticket));
      }
    }
    slot_taken_ = false;
  }
  // Callbacks run without the lock and in the order of their trial numbers.
  for (auto& [creation, ticket] : begun) creation.begun(std::move(ticket));
}

bool LiveStudy::WaitForEvents(EventSeq after, absl::Duration timeout, const std::stop_token& stop) {
  struct Waiter {
    LiveStudy* study;
    EventSeq after;
    const std::stop_token* stop;
    // Called by the mutex, which is held then.
    bool Holds() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return study->durable_ > after || study->barred_ || stop->stop_requested();
    }
  } waiter{this, after, &stop};
  const std::stop_callback wake(stop, [this] { absl::MutexLock lock(&mu_); });
  absl::MutexLock lock(&mu_);
  // Without a fold it is not known which event is the last durable one.
  if (!Load().ok()) return false;
  mu_.AwaitWithTimeout(absl::Condition(
                           +[](Waiter* w) { return w->Holds(); }, &waiter),
                       timeout);
  return durable_ > after;
}

LiveStudy::Fold LiveStudy::fold() const {
  const absl::Time used = absl::FromUnixNanos(used_.load());
  absl::MutexLock lock(&mu_);
  if (fold_ == nullptr) return {.used = used};
  const Study& study = fold_->header();
  return {.is_loaded = true,
          .is_finished = IsFinished(study.state),
          .rows = fold_->rows_in_memory(),
          .used = used};
}

// Invariant 8: a study may leave memory when no change of it is under way, and when nothing of it
// runs out with time. Leases and a time budget do, and Tick has to find the study in memory after
// their end. A study with a job stays as long as a trial or an attempt of it is at work.
bool LiveStudy::MayRest() const {
  const Study& study = fold_->header();
  const bool is_durable = durable_ >= study.last_event;
  if (loading_ || slot_taken_ || barred_ || !creations_.empty() || !is_durable) return false;
  if (IsFinished(study.state)) return fold_->IsDown();
  const bool has_time = study.spec.budget.time.has_value() && study.state != StudyState::kPaused;
  return fold_->leased().empty() && !has_time && (!study.spec.job.has_value() || fold_->IsDown());
}

bool LiveStudy::Release() {
  absl::MutexLock lock(&mu_);
  // A study that was never loaded, or whose fold was discarded, has nothing to release.
  if (fold_ == nullptr) return IsAtRest();
  if (!MayRest()) return false;
  Discard();
  definition_.reset();
  last_commit_.reset();
  return true;
}

absl::Status LiveStudy::Bar(Look look, absl::FunctionRef<absl::Status(const Study&)> look_at_row) {
  // Read before the lock is taken. It is used only if nothing of the study is in memory or on its
  // way: then the row is what the log comes to.
  const absl::StatusOr<Study> row = storage_.GetStudy(id_);
  absl::MutexLock lock(&mu_);
  if (row.ok() && IsAtRest()) {
    VERNIER_RETURN_IF_ERROR(look_at_row(*row));
  } else {
    VERNIER_RETURN_IF_ERROR(RunFetching([&] {
      mu_.AssertHeld();
      return look(*fold_, *transient_);
    }));
  }
  // From here on Load fails, and with it every call that wants to change the study.
  barred_ = true;
  return absl::OkStatus();
}

void LiveStudy::Revive() {
  absl::MutexLock lock(&mu_);
  barred_ = false;
}

absl::StatusOr<Slot> Slot::Acquire(LiveStudy& study, const std::stop_token& stop) {
  VERNIER_RETURN_IF_ERROR(study.AcquireSlot(stop));
  return Slot(study);
}

Slot::Slot(Slot&& other) noexcept : study_(std::exchange(other.study_, nullptr)) {}

Slot& Slot::operator=(Slot&& other) noexcept {
  if (this != &other) {
    Release();
    study_ = std::exchange(other.study_, nullptr);
  }
  return *this;
}

Slot::~Slot() { Release(); }

void Slot::Release() {
  if (study_ != nullptr) std::exchange(study_, nullptr)->ReleaseSlot();
}

}  // namespace vernier::study
