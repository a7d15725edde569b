#include <algorithm>
#include <utility>

#include "src/core/limit_checks.h"
#include "src/core/status.h"
#include "src/study/resumption.h"
#include "src/study/studies_impl.h"
#include "src/study/suggestion_batch.h"
#include "vernier/core/limits.h"

namespace vernier::study {
namespace {

// A suggestion that takes longer is nothing for a thread that others wait for: a call takes some 0.2 ms altogether.
constexpr absl::Duration kAtOnce = absl::Milliseconds(1);

ResumptionEvidence EvidenceOf(const StudyFold& fold) {
  return {.paused = fold.paused(),
          .observations = fold.finished().size(),
          .spec_version = fold.header().spec_version};
}

// One call that hands out trials, from its first look to its answer.
class SuggestCall {
 public:
  // Where it notes how long it computed.
  struct Times {
    const Clock& clock;
    RecentDurations& durations;
  };
  // `holder`: of the leases; none for the engine, whose trials stay in REQUESTED.
  SuggestCall(const Caller& caller,
              std::size_t count,
              std::optional<std::string> holder,
              const Times& times)
      : caller_(caller),
        count_(static_cast<std::int64_t>(count)),
        holder_(std::move(holder)),
        times_(times) {}

  // Answers if it can. Else takes the inputs of the batch that it needs, and adds nothing.
  absl::Status Decide(Draft& draft, Transient& transient);
  // Computes what Decide took the inputs of, and notes how long a batch took.  OutOfRange is kept for the next Decide.
  absl::Status Compute(std::stop_token stop);

  bool answered() const { return answered_; }
  // Whether what was computed last took so little, by an algorithm that gets no slower as trials end.
  bool is_quick() const { return is_quick_; }
  // What to answer once the change is durable.
  absl::StatusOr<std::vector<Trial>> Answer() &&;

 private:
  struct Claims {
    std::vector<TrialNumber> held;     // Running under the caller's name.
    std::vector<TrialNumber> offered;  // Up for whoever asks.
    std::int64_t size() const { return static_cast<std::int64_t>(held.size() + offered.size()); }
  };

  absl::StatusOr<bool> AnswerRepeated(const Draft& draft, const Transient& transient);
  Claims FindClaims(const StudyFold& fold) const;
  // How many new trials the call may have besides its claims.
  std::int64_t Need(const StudyFold& fold, const Claims& claims, absl::Time now) const;
  absl::Status WhyNone(const StudyFold& fold, absl::Time now) const;
  // Whether paused trials may go on now, for the engine's calls.
  bool MayResume(const StudyFold& fold, absl::Time now) const;
  bool IsLast(const StudyFold& fold, const Transient& transient) const;
  // Answers with those that go on; leaves it unanswered if none does.
  void Resume(Draft& draft, Transient& transient);
  absl::Status Take(Draft& draft, Transient& transient, const Claims& claims);
  void Grant(Draft& draft, Transient& transient, TrialNumber trial);

  const Caller& caller_;
  const std::int64_t count_;
  const std::optional<std::string> holder_;
  const Times times_;
  std::optional<ResumptionInputs> paused_;             // To be judged next.
  std::optional<std::vector<TrialNumber>> resumable_;  // Of the paused ones; unset: not judged yet.
  std::optional<BatchInputs> inputs_;
  std::optional<Suggestions> batch_;  // Computed from inputs_.
  // Why the algorithm found no point; empty: it was not asked, or found some.
  std::string exhausted_;
  bool is_quick_ = false;
  bool answered_ = false;
  std::vector<Trial> answer_;
  absl::Status refusal_;
};

absl::StatusOr<bool> SuggestCall::AnswerRepeated(const Draft& draft, const Transient& transient) {
  const Verb verb = holder_.has_value() ? Verb::kSuggest : Verb::kAsk;
  VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated, FindRequest(draft.fold(), caller_, verb));
  if (repeated == nullptr) return false;
  if (holder_.has_value() && !repeated->holder.empty() && repeated->holder != *holder_) {
    return RequestReused(caller_);
  }
  for (const TrialNumber number : repeated->trials) {
    const Trial& trial = draft.trial(number);
    // A trial that the caller has lost since is left out: it is offered again, or somebody else has it.
    const bool is_lost = holder_.has_value() && !IsFinished(trial.state) &&
                         (!trial.lease.has_value() || trial.lease->holder != *holder_);
    if (!is_lost) answer_.push_back(Shown(trial, transient));
  }
  answered_ = !answer_.empty();
  return answered_;
}

SuggestCall::Claims SuggestCall::FindClaims(const StudyFold& fold) const {
  Claims claims;
  if (!holder_.has_value()) return claims;
  // What the caller holds comes first, so that a client that lost its answer gets the same trials again.
  for (const TrialNumber trial : fold.leased()) {
    const Trial& row = fold.Find(trial)->trial;
    if (claims.size() == count_) return claims;
    if (row.state != TrialState::kRunning || row.lease->holder != *holder_) continue;
    claims.held.push_back(trial);
  }
  if (fold.header().state != StudyState::kActive) return claims;
  const std::int64_t room = ParallelRoom(fold.header());
  for (const TrialNumber trial : fold.unfinished()) {
    const bool full = static_cast<std::int64_t>(claims.offered.size()) == room;
    if (full || claims.size() == count_) break;
    if (fold.Find(trial)->waiting) claims.offered.push_back(trial);
  }
  return claims;
}

std::int64_t SuggestCall::Need(const StudyFold& fold, const Claims& claims, absl::Time now) const {
  const Study& study = fold.header();
  if (study.state != StudyState::kActive || fold.TimeSpent(now) || fold.GpuTimeSpent(now)) return 0;
  const std::int64_t room = ParallelRoom(study) - static_cast<std::int64_t>(claims.offered.size());
  return std::min({count_ - claims.size(), TrialRoom(study), room});
}

absl::Status SuggestCall::WhyNone(const StudyFold& fold, absl::Time now) const {
  VERNIER_RETURN_IF_ERROR(CheckActive(fold.header()));
  VERNIER_RETURN_IF_ERROR(CheckBudget(fold, now));
  return CheckParallel(fold.header());
}

absl::Status SuggestCall::Decide(Draft& draft, Transient& transient) {
  const StudyFold& fold = draft.fold();
  if (holder_.has_value() && fold.header().spec.job.has_value()) {
    return FailedPrecondition("{} runs its own job: its trials are not for clients",
                              StudyTitle(fold.header()));
  }
  // Before the first event, since it may have to be fetched.
  const Verb verb = holder_.has_value() ? Verb::kSuggest : Verb::kAsk;
  VERNIER_RETURN_IF_ERROR(FindRequest(fold, caller_, verb).status());
  // Leases that have run out end now, and not only with the next Tick: their trials may be the answer.
  ExpireLeases(draft, transient);
  VERNIER_ASSIGN_OR_RETURN(const bool repeated, AnswerRepeated(draft, transient));
  if (repeated) return absl::OkStatus();
  if (MayResume(fold, draft.now())) {
    const ResumptionEvidence evidence = EvidenceOf(fold);
    if (!resumable_.has_value() && transient.none_resumable != evidence) {
      VERNIER_RETURN_IF_ERROR(transient.stopper.status());
      paused_ = TakePaused(fold, transient);
      return absl::OkStatus();
    }
    if (resumable_.has_value()) Resume(draft, transient);
    if (answered_) return absl::OkStatus();
    transient.none_resumable = evidence;
  }
  const Claims claims = FindClaims(fold);
  const std::int64_t need = Need(fold, claims, draft.now());
  if (need == 0 && claims.size() == 0) {
    refusal_ = WhyNone(fold, draft.now());
    if (IsLast(fold, transient)) {
      EndPaused(draft);
      Settle(draft, transient);
    }
    if (draft.empty()) return refusal_;
    answered_ = true;  // Leases or trials have ended, which is to be stored.
    return absl::OkStatus();
  }
  const bool fits = batch_.has_value() && IsStillTrue(fold, *inputs_) &&
                    static_cast<std::int64_t>(inputs_->count) <= need;
  if (!fits) batch_.reset();
  if (need == 0 || fits || !exhausted_.empty()) return Take(draft, transient, claims);
  VERNIER_RETURN_IF_ERROR(transient.optimizer.status());
  inputs_ = TakeInputs(fold, transient, static_cast<std::size_t>(need));
  return absl::OkStatus();
}

bool SuggestCall::MayResume(const StudyFold& fold, absl::Time now) const {
  const Study& study = fold.header();
  return !holder_.has_value() && study.state == StudyState::kActive && !fold.paused().empty() &&
         ParallelRoom(study) > 0 && !fold.TimeSpent(now) && !fold.GpuTimeSpent(now);
}

// Nothing is at work but paused trials, and no verdict on them is taken back.
bool SuggestCall::IsLast(const StudyFold& fold, const Transient& transient) const {
  return !holder_.has_value() && fold.header().state == StudyState::kActive && fold.IsAllPaused() &&
         transient.none_resumable == EvidenceOf(fold);
}

// A trial that is well under way costs less to finish than a new one does, so the paused ones come first.
void SuggestCall::Resume(Draft& draft, Transient& transient) {
  for (const TrialNumber trial : std::exchange(*resumable_, {})) {
    const bool has_room =
        static_cast<std::int64_t>(answer_.size()) < count_ && ParallelRoom(draft.study()) > 0;
    if (!has_room) break;
    if (AddResumption(draft, transient, trial)) {
      answer_.push_back(Shown(draft.trial(trial), transient));
    }
  }
  answered_ = !answer_.empty();
}

absl::Status SuggestCall::Take(Draft& draft, Transient& transient, const Claims& claims) {
  if (batch_.has_value()) {
    // Ahead of all events, since a refused decision must have added none.
    VERNIER_RETURN_IF_ERROR(CheckPoints(draft.fold(), *inputs_, *batch_));
  }
  // Events in the order of the answer: a repeated request is answered from them.
  for (const TrialNumber trial : claims.held) {
    RenewLease(draft, transient, trial, /*record=*/!caller_.request_id.empty());
  }
  for (const TrialNumber trial : claims.offered) Grant(draft, transient, trial);
  std::vector<TrialNumber> fresh;
  if (batch_.has_value()) fresh = AddBatch(draft, *inputs_, *std::move(batch_));
  if (holder_.has_value()) {
    for (const TrialNumber trial : fresh) Grant(draft, transient, trial);
  }
  if (!exhausted_.empty()) transient.exhausted = exhausted_;
  if (!exhausted_.empty() && IsLast(draft.fold(), transient)) EndPaused(draft);
  Settle(draft, transient);
  std::vector<TrialNumber> all = claims.held;
  all.insert(all.end(), claims.offered.begin(), claims.offered.end());
  all.insert(all.end(), fresh.begin(), fresh.end());
  for (const TrialNumber trial : all) answer_.push_back(Shown(draft.trial(trial), transient));
  if (all.empty()) {
    refusal_ = WithReason(OutOfRange("{}: {}", StudyTitle(draft.study()), transient.exhausted),
                          Reason::kSpaceExhausted);
  }
  answered_ = true;
  return absl::OkStatus();
}

void SuggestCall::Grant(Draft& draft, Transient& transient, TrialNumber trial) {
  const TrialEntry& row = draft.row(trial);
  // Each grant has a larger token, which fences earlier holders.
  const std::int64_t before = row.last_lease.has_value() ? row.last_lease->token : 0;
  draft.Add(LeaseGranted{
      .trial = trial,
      .lease = {
          .holder = *holder_, .token = before + 1, .expires = Extend(draft, transient, trial)}});
  AddMove(draft, trial, TrialState::kRunning);
}

absl::Status SuggestCall::Compute(std::stop_token stop) {
  if (paused_.has_value()) {
    resumable_ = ChooseResumable(paused_->paused, paused_->curves);
    paused_.reset();
    return absl::OkStatus();
  }
  const absl::Time begun = times_.clock.Now();
  absl::StatusOr<Suggestions> computed = study::Compute(*inputs_, std::move(stop));
  const absl::Time ended = times_.clock.Now();
  times_.durations.Add(ended, ended - begun);
  is_quick_ = !inputs_->optimizer->has_model() && ended - begun < kAtOnce;
  if (absl::IsOutOfRange(computed.status())) {
    exhausted_ = std::string(computed.status().message());
    return absl::OkStatus();
  }
  VERNIER_RETURN_IF_ERROR(computed.status());
  batch_ = *std::move(computed);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Trial>> SuggestCall::Answer() && {
  if (!refusal_.ok()) return refusal_;
  return std::move(answer_);
}

// The loop behind Invariant 7: look, compute outside every lock, record the result if what was looked at still holds,
// and otherwise begin again.
absl::StatusOr<LiveStudy::Ticket> Serve(LiveStudy& live,
                                        SuggestCall& call,
                                        const Caller& caller,
                                        const std::stop_token& stop) {
  const auto decide = [&](Draft& draft, Transient& transient) {
    return call.Decide(draft, transient);
  };
  VERNIER_ASSIGN_OR_RETURN(LiveStudy::Ticket ticket, live.Begin(caller, decide));
  if (!call.answered()) {
    // A second look with the slot: another call may have created trials meanwhile.
    VERNIER_ASSIGN_OR_RETURN(const Slot slot, Slot::Acquire(live, stop));
    VERNIER_ASSIGN_OR_RETURN(ticket, live.Begin(caller, decide));
    while (!call.answered()) {
      if (stop.stop_requested()) return Cancelled("the call was given up while it was computed");
      VERNIER_RETURN_IF_ERROR(call.Compute(stop));
      live.set_suggests_at_once(call.is_quick());
      VERNIER_ASSIGN_OR_RETURN(ticket, live.Begin(caller, decide));
    }
  }  // The slot is free again before the wait, so that the next batch may share the sync.
  return ticket;
}

absl::Status CheckCount(std::size_t count) {
  if (count < 1) return FieldError("count", "must be at least 1, got 0");
  return CheckAtMost("count", count, limits::kAsked);
}

}  // namespace

absl::StatusOr<StudiesImpl::PendingSuggestions> StudiesImpl::BeginSuggest(
    StudyId id,
    std::size_t count,
    std::optional<std::string> holder,
    const Caller& caller,
    const std::stop_token& stop) {
  VERNIER_RETURN_IF_ERROR(CheckCount(count));
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  if (holder.has_value() && holder->empty()) return FieldError("client_id", "must not be empty");
  if (holder.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckLength("client_id", *holder, limits::kClientId));
  }
  PendingSuggestions pending;
  VERNIER_ASSIGN_OR_RETURN(pending.study, Find(id));
  SuggestCall call(caller, count, std::move(holder), {clock_, suggestions_});
  VERNIER_ASSIGN_OR_RETURN(pending.ticket, Serve(*pending.study, call, caller, stop));
  pending.trials = std::move(call).Answer();
  return pending;
}

absl::StatusOr<std::vector<Trial>> StudiesImpl::AnswerSuggest(
    absl::StatusOr<PendingSuggestions> pending) {
  VERNIER_RETURN_IF_ERROR(pending.status());
  VERNIER_RETURN_IF_ERROR(pending->study->AwaitStored(pending->ticket));
  return std::move(pending->trials);
}

void StudiesImpl::AnswerSuggest(absl::StatusOr<PendingSuggestions> pending, OnTrials told) {
  if (!pending.ok()) return told(pending.status());
  LiveStudy& study = *pending->study;
  const LiveStudy::Ticket ticket = std::move(pending->ticket);
  study.WhenStored(ticket,
                   // With the study, which lives until then.
                   [study = std::move(pending->study),
                    trials = std::move(pending->trials),
                    told = std::move(told)](const absl::Status& stored) mutable {
                     if (!stored.ok()) return told(stored);
                     told(std::move(trials));
                   });
}

void StudiesImpl::Ask(
    StudyId id, std::size_t count, const Caller& caller, std::stop_token stop, OnTrials asked) {
  AnswerSuggest(BeginSuggest(id, count, std::nullopt, caller, stop), std::move(asked));
}

absl::StatusOr<std::vector<Trial>> StudiesImpl::Ask(StudyId id,
                                                    std::size_t count,
                                                    const Caller& caller,
                                                    std::stop_token stop) {
  return AnswerSuggest(BeginSuggest(id, count, std::nullopt, caller, stop));
}

void StudiesImpl::Suggest(StudyId id,
                          std::size_t count,
                          std::string_view holder,
                          const Caller& caller,
                          std::stop_token stop,
                          OnTrials suggested) {
  AnswerSuggest(BeginSuggest(id, count, std::string(holder), caller, stop), std::move(suggested));
}

absl::StatusOr<std::vector<Trial>> StudiesImpl::Suggest(StudyId id,
                                                        std::size_t count,
                                                        std::string_view holder,
                                                        const Caller& caller,
                                                        std::stop_token stop) {
  return AnswerSuggest(BeginSuggest(id, count, std::string(holder), caller, stop));
}

absl::StatusOr<std::vector<PredictedPoint>> StudiesImpl::Predict(
    StudyId id, std::vector<Point> points, const std::stop_token& stop) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  std::optional<BatchInputs> inputs;
  const auto look = [&](const StudyFold& fold, const Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(transient.optimizer.status());
    const Space& space = fold.header().spec.space;
    for (Point& point : points) point = space.InKind(point);
    inputs = TakeInputs(fold, transient, /*count=*/1);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look));
  return inputs->optimizer->Predict(inputs->finished, inputs->state, points, stop);
}

}  // namespace vernier::study
