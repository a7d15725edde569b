// Leases of clients on trials, and the calls that look at what time decides. docs/adr/0003 says why
// an expiry is an event, why late results are accepted, and why heartbeats are seldom written.
//
// Two clocks matter. An event has the expiry in the time of the log, for a process that reads it
// later. Transient::lease_expires has it by the clock of this process, also for renewals that are
// not in the log.

#include <algorithm>
#include <utility>

#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/study/studies_impl.h"

namespace vernier::study {
namespace {

const Caller& TickCaller() {
  static const Caller caller{.actor = "vernier", .request_id = ""};
  return caller;
}

absl::Time ExpiryOf(const TrialEntry& row, const Transient& transient) {
  const auto known = transient.lease_expires.find(row.trial.number);
  return known == transient.lease_expires.end() ? row.trial.lease->expires : known->second;
}

// Ends the lease of a client, for a reason such as "has died". A trial that was told to stop ends with what it reported; any other
// is offered again or fails, as the study defines.
void LoseClient(Draft& draft, TrialNumber number, std::string_view reason) {
  const Trial& trial = draft.trial(number);
  const Study& study = draft.study();
  // Copied, since the next event resets the lease.
  const std::string holder = trial.lease->holder;
  const std::string message = fmt::format("its client '{}' {}", holder, reason);
  // The lease comes first: for a trial that ends, the fold would reset it without a trace in the
  // log.
  draft.Add(LeaseExpired{.trial = number, .token = trial.lease->token});
  if (trial.state == TrialState::kStopping) {
    const Measurement last = FinalMeasurement(draft, number);
    if (MissingObjectives(study.spec.objectives, last.metrics).empty()) {
      AddCompletion(draft, number, last);
    } else {
      AddMove(draft, number, TrialState::kCancelled, message, FailureClass::kLost);
    }
  } else if (study.spec.lease.on_expiry == LeaseExpiry::kFail) {
    AddMove(draft, number, TrialState::kFailed, message, FailureClass::kLost);
  } else {
    AddMove(draft, number, TrialState::kRequested, message);
  }
}

// The trial has not ended, and its lease is the caller's. `consequence`: of its end, for the message.
absl::Status CheckHolder(const Draft& draft,
                         TrialNumber number,
                         const LeaseToken& lease,
                         std::string_view consequence) {
  const TrialEntry& row = draft.row(number);
  if (IsFinished(row.trial.state)) {
    return WithReason(FailedPrecondition("{} is already {}: {}",
                                         TrialTitle(number),
                                         TrialStateName(row.trial.state),
                                         consequence),
                      Reason::kTrialFinished);
  }
  return CheckLease(draft.study(), row, lease);
}

}  // namespace

void ExpireLeases(Draft& draft, Transient& transient) {
  // A copy, since each expiry takes a trial out of the set.
  const std::vector<TrialNumber> leased(draft.fold().leased().begin(), draft.fold().leased().end());
  // The caller did not ask for these events, so they do not bear its request id.
  draft.BeginConsequences();
  for (const TrialNumber trial : leased) {
    if (ExpiryOf(draft.row(trial), transient) > transient.now) continue;
    LoseClient(draft, trial, "was not heard of in time");
    transient.lease_expires.erase(trial);
  }
  draft.EndConsequences();
  // Times of trials that have ended otherwise are dropped here.
  std::erase_if(transient.lease_expires,
                [&](const auto& entry) { return !draft.fold().leased().contains(entry.first); });
}

absl::Status CheckLease(const Study& study,
                        const TrialEntry& row,
                        const std::optional<LeaseToken>& lease) {
  if (study.spec.lease.ttl == absl::InfiniteDuration() && !lease.has_value()) {
    // Leases that never end are never granted to another client, so that no token is needed.
    return absl::OkStatus();
  }
  const std::string title = TrialTitle(row.trial.number);
  absl::Status refused;
  // The last grant decides, expired or not. A trial that was never leased takes reports without a
  // token.
  if (!row.last_lease.has_value()) {
    if (lease.has_value()) refused = Aborted("{} is not leased to '{}'", title, lease->holder);
  } else if (!lease.has_value()) {
    refused =
        Aborted("{} is leased to '{}': its lease token is needed", title, row.last_lease->holder);
  } else if (lease->token != row.last_lease->token || lease->holder != row.last_lease->holder) {
    refused = Aborted("{} was leased anew with token {} to '{}': token {} of '{}' is void",
                      title,
                      row.last_lease->token,
                      row.last_lease->holder,
                      lease->token,
                      lease->holder);
  }
  return refused.ok() ? refused : WithReason(refused, Reason::kLeaseLost);
}

absl::Time Extend(const Draft& draft, Transient& transient, TrialNumber trial) {
  const absl::Duration ttl = draft.study().spec.lease.ttl;
  // By the clock of this process; the event has the time of the log, which may be later if the
  // clock was put back.
  transient.lease_expires[trial] = transient.now + ttl;
  return draft.now() + ttl;
}

void ReviveLease(Draft& draft, Transient& transient, TrialNumber trial) {
  const TrialEntry& row = draft.row(trial);
  // Waiting with a last lease: it expired, and nobody has the trial now.
  if (!row.waiting || !row.last_lease.has_value()) return;
  draft.Add(LeaseRenewed{.trial = trial, .expires = Extend(draft, transient, trial)});
  AddMove(draft, trial, TrialState::kRunning);
}

void RenewLease(Draft& draft, Transient& transient, TrialNumber trial, bool record) {
  const absl::Time expires = Extend(draft, transient, trial);
  const absl::Duration ttl = draft.study().spec.lease.ttl;
  // Half a ttl: the stored expiry is then never nearer than that, and a restart costs a client at
  // most half of its lease.
  if (!record && draft.trial(trial).lease->expires >= draft.now() + ttl / 2) return;
  draft.Add(LeaseRenewed{.trial = trial, .expires = expires});
}

void StudiesImpl::Heartbeat(TrialId id, const LeaseToken& lease, OnTrial renewed) {
  FinishChange(BeginRenewal(id, lease), std::move(renewed));
}

absl::StatusOr<Trial> StudiesImpl::Heartbeat(TrialId id, const LeaseToken& lease) {
  return FinishChange(BeginRenewal(id, lease));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginRenewal(TrialId id,
                                                                   const LeaseToken& lease) {
  const Caller caller{.actor = lease.holder, .request_id = ""};
  const auto renew = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckHolder(draft, id.number, lease, "there is nothing to renew"));
    ReviveLease(draft, transient, id.number);
    RenewLease(draft, transient, id.number, /*record=*/false);
    return absl::OkStatus();
  };
  return BeginTrialChange(id, caller, renew);
}

absl::StatusOr<Trial> StudiesImpl::EndLease(TrialId id,
                                            const LeaseToken& lease,
                                            const Caller& caller) {
  const auto end = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckHolder(draft, id.number, lease, "it has no lease"));
    if (!draft.trial(id.number).lease.has_value()) {
      return WithReason(Aborted("{} is leased to nobody", TrialTitle(id.number)),
                        Reason::kLeaseLost);
    }
    LoseClient(draft, id.number, "has died");
    transient.lease_expires.erase(id.number);
    return absl::OkStatus();
  };
  return FinishChange(BeginTrialChange(id, caller, end));
}

absl::Status StudiesImpl::LoadUnfinished() {
  {
    absl::MutexLock lock(&mu_);
    if (unfinished_.has_value()) return absl::OkStatus();
    // Set before the scan, so that studies that are created during it add themselves.
    unfinished_.emplace();
  }
  std::vector<StudyId> found;
  absl::Status scanned = ScanStudies(StudyId(0), [&](const Study& study) {
    if (!IsFinished(study.state)) found.push_back(study.id);
    return true;
  });
  absl::MutexLock lock(&mu_);
  // The next call scans again.
  if (!scanned.ok()) {
    unfinished_.reset();
    return scanned;
  }
  unfinished_->insert(found.begin(), found.end());
  // The state of a damaged study is unknown, so that it counts as unfinished.
  for (const auto& [id, damage] : damaged_) unfinished_->insert(id);
  return absl::OkStatus();
}

absl::StatusOr<bool> StudiesImpl::TickOne(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Live live, FindUnused(id));
  bool finished = false;
  const auto tick = [&](Draft& draft, Transient& transient) {
    ExpireLeases(draft, transient);
    Settle(draft, transient);
    finished = IsFinished(draft.study().state);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Change(TickCaller(), tick));
  return finished;
}

absl::Status StudiesImpl::Load(StudyId id) {
  VERNIER_RETURN_IF_ERROR(LoadUnfinished());
  std::uint64_t extensions = 0;
  {
    absl::MutexLock lock(&mu_);
    // An amendment may make a finished study active between TickOne and the lock below. The counter
    // tells.
    extensions = extensions_;
  }
  // A study that is sound again is taken off the list of damaged ones.
  const absl::StatusOr<bool> finished = TickOne(id);
  NoteDamage(
      id, absl::IsDataLoss(finished.status()) ? StudyNameOf(storage_, id) : "", finished.status());
  if (finished.ok() ? *finished : absl::IsNotFound(finished.status())) {
    absl::MutexLock lock(&mu_);
    if (extensions == extensions_) unfinished_->erase(id);
  }
  return finished.status();
}

absl::StatusOr<EngineMoves::Ticked> StudiesImpl::TickThose(bool loads) {
  VERNIER_RETURN_IF_ERROR(LoadUnfinished());
  Ticked ticked;
  std::vector<StudyId> due;
  {
    absl::MutexLock lock(&mu_);
    for (const StudyId id : *unfinished_) {
      const auto at = live_.find(id);
      // Time brings no change to a study that was released (LiveStudy::MayRest).
      if (resting_.contains(id)) {
        ticked.unfinished.push_back(id);
      } else if (loads || (at != live_.end() && at->second->is_loaded())) {
        due.push_back(id);
      } else {
        ticked.unloaded.push_back(id);
      }
    }
  }
  const absl::Time now = clock_.Now();
  // Outside of mu_, which IsDamaged takes. Its log is folded again once a minute at most.
  std::erase_if(due, [&](StudyId id) { return IsDamaged(id, now); });
  std::erase_if(ticked.unloaded, [&](StudyId id) { return IsDamaged(id, now); });
  absl::Status failed;
  bool any = !ticked.unfinished.empty();
  for (const StudyId id : due) {
    const absl::Status status = Load(id);
    any = any || status.ok();
    // One damaged or deleted study is no error of the whole call.
    if (absl::IsDataLoss(status) || absl::IsNotFound(status)) continue;
    if (!status.ok()) failed.Update(status);
    const absl::MutexLock lock(&mu_);
    if (unfinished_->contains(id)) ticked.unfinished.push_back(id);
  }
  // Fails only if no study could be looked at: then the store as a whole is at fault.
  if (!any) VERNIER_RETURN_IF_ERROR(failed);
  ReleaseUnused();
  std::ranges::sort(ticked.unfinished);
  return ticked;
}

absl::StatusOr<EngineMoves::Ticked> StudiesImpl::TickLoaded() { return TickThose(/*loads=*/false); }

absl::StatusOr<std::vector<StudyId>> StudiesImpl::Tick() {
  VERNIER_ASSIGN_OR_RETURN(Ticked ticked, TickThose(/*loads=*/true));
  return std::move(ticked.unfinished);
}

}  // namespace vernier::study
