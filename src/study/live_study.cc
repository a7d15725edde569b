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

constexpr int kReadAttempts = 3;

std::unique_ptr<Transient> MakeTransient(const AlgorithmCatalogue& algorithms,
                                         const StudyFold& fold,
                                         absl::Time now) {
  auto transient = std::make_unique<Transient>();
  const StudySpec& spec = fold.header().spec;
  transient->optimizer = algorithms.NewOptimizer(spec.algorithm, ProblemOf(spec, fold.earlier()));
  transient->stopper = algorithms.NewEarlyStopper(spec.stopping, FirstObjective(spec).goal);
  // Whatever the clock said when they were granted, none is longer from now on than the study's leases are.
  const absl::Time latest = now + spec.lease.ttl;
  for (const TrialNumber trial : fold.leased()) {
    if (fold.Find(trial)->trial.lease->expires > latest) transient->lease_expires[trial] = latest;
  }
  return transient;
}

}  // namespace

std::string StudyNameOf(const Storage& storage, StudyId id) {
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

// Callers need not know that the store counts events: to them it was busy.
absl::Status LiveStudy::Refusal(const absl::Status& status) const {
  if (absl::IsNotFound(status)) return Gone();
  if (!absl::IsAborted(status)) return status;
  return WithReason(
      Unavailable("study {}: an earlier change could not be stored; try again", id_.value()),
      Reason::kStoreBusy);
}

absl::Status LiveStudy::Load() {
  while (!barred_ && fold_ == nullptr) {
    if (loading_) {
      mu_.Await(absl::Condition(
          +[](bool* loading) { return !*loading; }, &loading_));
      continue;
    }
    loading_ = true;
    const std::shared_ptr<PendingCommit> last = last_commit_;
    const bool needs_log = needs_log_;
    std::unique_ptr<Transient> transient = std::move(transient_);
    mu_.Unlock();
    if (last != nullptr) last->Wait().IgnoreError();  // What is still in line must not land later.
    absl::StatusOr<StudyFold> fold = needs_log ? FoldLog(storage_, id_) : LoadFold(storage_, id_);
    if (fold.ok() && transient == nullptr) {
      transient = MakeTransient(algorithms_, *fold, clock_.Now());
    }
    const std::string name = absl::IsDataLoss(fold.status()) ? StudyNameOf(storage_, id_) : "";
    mu_.Lock();
    loading_ = false;
    if (!fold.ok()) return Refusal(DamageOf(name, fold.status()));
    fold_ = std::make_unique<StudyFold>(*std::move(fold));
    is_loaded_ = true;
    transient_ = std::move(transient);
    needs_log_ = false;
    durable_ = std::max(durable_, fold_->header().last_event);
    last_commit_.reset();
  }
  return barred_ ? Gone() : absl::OkStatus();
}

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
    // Not Discard: what time and clients have brought about since is not in the log.
    fold_.reset();
    is_loaded_ = false;
    ++generation_;
    needs_log_ = true;
    return absl::OkStatus();
  }
  const std::uint64_t generation = generation_;
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
  // More may have been left to the store meanwhile than it was asked for.
  const bool is_same = fold_ != nullptr && generation == generation_ && fold_->shed() == shed;
  if (!is_same) return absl::OkStatus();
  for (Trial& trial : trials) fold_->Recall(std::move(trial));
  for (const auto& [request, events] : requests) fold_->Recall(request, events);
  return absl::OkStatus();
}

LiveStudy::Ticket LiveStudy::TicketFor(EventSeq shown) const {
  if (shown <= durable_) return Ticket{};
  return Ticket{
      .commit = last_commit_, .last = fold_->header().last_event, .generation = generation_};
}

LiveStudy::Ticket LiveStudy::LastTicket() const { return TicketFor(fold_->header().last_event); }

void LiveStudy::Discard() {
  fold_.reset();
  is_loaded_ = false;
  transient_.reset();
  ++generation_;
}

absl::Status LiveStudy::Read(Look look, std::optional<TrialNumber> only) {
  absl::Status stored;
  // If a change that was shown is refused after all, look again at what is left: that is no fault of the reader.
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
      EventSeq shown = fold_->header().last_event;
      if (only.has_value()) {
        const TrialRow* const row = fold_->Find(*only);
        shown = row == nullptr ? EventSeq() : row->last_event;
      }
      ticket = TicketFor(shown);
    }
    stored = Finish(ticket);
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
    // Before the look at the slot, since it may give up the lock; what goes wrong here, BeginLocked meets again.
    Load().IgnoreError();
    if (slot_taken_) return creations_.push_back(std::move(creation));
    ticket = BeginLocked(creation.caller, creation.decide);
  }
  creation.begun(std::move(ticket));
}

absl::StatusOr<LiveStudy::Ticket> LiveStudy::BeginLocked(const Caller& caller, Decide decide) {
  std::optional<Draft> draft;
  const absl::Status decided = RunFetching([&] {
    mu_.AssertHeld();
    transient_->now = clock_.Now();
    draft.emplace(*fold_, caller, transient_->now);
    absl::Status status = decide(*draft, *transient_);
    if (status.ok()) status = draft->status();
    // Too late to ask for what is missing: what it added is in the fold.
    if (!status.ok() && !draft->empty()) fold_->ForgetMissing();
    // It is not the log that is damaged but a rule that is broken.
    return absl::IsDataLoss(status) ? Internal("{}", std::string(status.message())) : status;
  });
  if (!decided.ok()) {
    if (fold_ != nullptr && draft.has_value() && !draft->empty()) Discard();
    return decided;
  }
  if (draft->empty()) return LastTicket();
  Commit commit = std::move(*draft).Build();
  commit.snapshot = fold_->TakeSnapshot(snapshot_interval_);
  last_commit_ = storage_.Begin(std::move(commit));
  Ticket ticket = LastTicket();
  ticket.begun = transient_->now;
  return ticket;
}

absl::Status LiveStudy::Finish(const Ticket& ticket) {
  if (ticket.commit == nullptr) return absl::OkStatus();
  return Learn(ticket.commit->Wait(), ticket);
}

void LiveStudy::Finish(const Ticket& ticket, std::function<void(const absl::Status&)> finished) {
  if (ticket.commit == nullptr) return finished(absl::OkStatus());
  Ticket rest = ticket;
  rest.commit.reset();  // Which has this function until it is called.
  ticket.commit->Then([this, rest, finished = std::move(finished)](const absl::Status& stored) {
    finished(Learn(stored, rest));
  });
}

absl::Status LiveStudy::Learn(const absl::Status& stored, const Ticket& ticket) {
  if (ticket.begun.has_value()) {
    const absl::Time now = clock_.Now();
    commits_.Add(now, now - *ticket.begun);
  }
  {
    absl::MutexLock lock(&mu_);
    if (!stored.ok()) {
      if (ticket.generation == generation_) Discard();
      return Refusal(stored);
    }
    if (durable_ >= ticket.last) return absl::OkStatus();
    durable_ = ticket.last;
    if (fold_ != nullptr) fold_->Shed(durable_);
  }
  listeners_->Tell(id_);
  return absl::OkStatus();
}

absl::Status LiveStudy::Change(const Caller& caller, Decide decide) {
  VERNIER_ASSIGN_OR_RETURN(const Ticket ticket, Begin(caller, decide));
  return Finish(ticket);
}

absl::Status LiveStudy::AcquireSlot(const std::stop_token& stop) {
  struct Wish {
    const bool* taken;
    const std::stop_token* stop;
  } wish{&slot_taken_, &stop};
  // Taking and leaving the lock makes the mutex look at its conditions again.
  const std::stop_callback wake(stop, [this] { absl::MutexLock lock(&mu_); });
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(
      +[](Wish* w) { return !*w->taken || w->stop->stop_requested(); }, &wish));
  if (stop.stop_requested()) return Cancelled("the call was given up while it waited its turn");
  slot_taken_ = true;
  return absl::OkStatus();
}

void LiveStudy::ReleaseSlot() {
  std::vector<std::pair<Creation, absl::StatusOr<Ticket>>> begun;
  {
    absl::MutexLock lock(&mu_);
    // The slot stays taken meanwhile, since to begin may give up the lock to load the study.
    while (!creations_.empty()) {
      for (Creation& creation : std::exchange(creations_, {})) {
        absl::StatusOr<Ticket> ticket = BeginLocked(creation.caller, creation.decide);
        begun.emplace_back(std::move(creation), std::move(ticket));
      }
    }
    slot_taken_ = false;
  }
  for (auto& [creation, ticket] : begun) creation.begun(std::move(ticket));
}

bool LiveStudy::WaitForEvents(EventSeq after, absl::Duration timeout, const std::stop_token& stop) {
  struct Wish {
    LiveStudy* study;
    EventSeq after;
    const std::stop_token* stop;
    bool Holds() const ABSL_NO_THREAD_SAFETY_ANALYSIS {  // Called by the mutex, which is held.
      return study->durable_ > after || study->barred_ || stop->stop_requested();
    }
  } wish{this, after, &stop};
  const std::stop_callback wake(stop, [this] { absl::MutexLock lock(&mu_); });
  absl::MutexLock lock(&mu_);
  if (!Load().ok()) return false;
  mu_.AwaitWithTimeout(absl::Condition(
                           +[](Wish* w) { return w->Holds(); }, &wish),
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
  if (fold_ == nullptr) return IsAtRest();
  if (!MayRest()) return false;
  Discard();
  definition_.reset();
  last_commit_.reset();
  return true;
}

absl::Status LiveStudy::Bar(Look look, absl::FunctionRef<absl::Status(const Study&)> look_at_row) {
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
