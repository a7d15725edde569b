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

absl::Time ExpiryOf(const TrialRow& row, const Transient& transient) {
  const auto known = transient.lease_expires.find(row.trial.number);
  return known == transient.lease_expires.end() ? row.trial.lease->expires : known->second;
}

// What the holder left behind: a trial that was told to stop ends with what it reported, any other as the study says.
void EndLease(Draft& draft, TrialNumber number) {
  const Trial& trial = draft.trial(number);
  const Study& study = draft.study();
  const std::string holder = trial.lease->holder;
  const std::string message = fmt::format("its client '{}' was not heard of in time", holder);
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

}  // namespace

void ExpireLeases(Draft& draft, Transient& transient) {
  const std::vector<TrialNumber> leased(draft.fold().leased().begin(), draft.fold().leased().end());
  draft.BeginConsequences();  // Whoever asks did not ask for this.
  for (const TrialNumber trial : leased) {
    if (ExpiryOf(draft.row(trial), transient) > transient.now) continue;
    EndLease(draft, trial);
    transient.lease_expires.erase(trial);
  }
  draft.EndConsequences();
  std::erase_if(transient.lease_expires,
                [&](const auto& entry) { return !draft.fold().leased().contains(entry.first); });
}

absl::Status CheckLease(const Study& study,
                        const TrialRow& row,
                        const std::optional<LeaseToken>& lease) {
  if (study.spec.lease.ttl == absl::InfiniteDuration() && !lease.has_value()) {
    return absl::OkStatus();  // Nobody else can have it.
  }
  const std::string title = TrialTitle(row.trial.number);
  absl::Status refused;
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
  transient.lease_expires[trial] = transient.now + ttl;
  return draft.now() + ttl;
}

void ReviveLease(Draft& draft, Transient& transient, TrialNumber trial) {
  const TrialRow& row = draft.row(trial);
  if (!row.waiting || !row.last_lease.has_value()) return;
  draft.Add(LeaseRenewed{.trial = trial, .expires = Extend(draft, transient, trial)});
  AddMove(draft, trial, TrialState::kRunning);
}

void RenewLease(Draft& draft, Transient& transient, TrialNumber trial, bool record) {
  const absl::Time expires = Extend(draft, transient, trial);
  const absl::Duration ttl = draft.study().spec.lease.ttl;
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
    const TrialRow& row = draft.row(id.number);
    if (IsFinished(row.trial.state)) {
      return WithReason(FailedPrecondition("{} is already {}: there is nothing to renew",
                                           TrialTitle(id.number),
                                           TrialStateName(row.trial.state)),
                        Reason::kTrialFinished);
    }
    VERNIER_RETURN_IF_ERROR(CheckLease(draft.study(), row, lease));
    ReviveLease(draft, transient, id.number);
    RenewLease(draft, transient, id.number, /*record=*/false);
    return absl::OkStatus();
  };
  return BeginTrialChange(id, caller, renew);
}

absl::Status StudiesImpl::LoadUnfinished() {
  {
    absl::MutexLock lock(&mu_);
    if (unfinished_.has_value()) return absl::OkStatus();
    unfinished_.emplace();  // Studies created from here on add themselves.
  }
  std::vector<StudyId> found;
  absl::Status scanned = ScanStudies(StudyId(0), [&](const Study& study) {
    if (!IsFinished(study.state)) found.push_back(study.id);
    return true;
  });
  absl::MutexLock lock(&mu_);
  if (!scanned.ok()) {
    unfinished_.reset();
    return scanned;
  }
  unfinished_->insert(found.begin(), found.end());
  for (const auto& [id, damage] : damaged_) unfinished_->insert(id);  // As far as can be told.
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
    extensions = extensions_;
  }
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
  std::erase_if(due, [&](StudyId id) { return IsDamaged(id, now); });
  std::erase_if(ticked.unloaded, [&](StudyId id) { return IsDamaged(id, now); });
  absl::Status failed;
  bool any = !ticked.unfinished.empty();
  for (const StudyId id : due) {
    const absl::Status status = Load(id);
    any = any || status.ok();
    if (absl::IsDataLoss(status) || absl::IsNotFound(status)) continue;
    if (!status.ok()) failed.Update(status);
    const absl::MutexLock lock(&mu_);
    if (unfinished_->contains(id)) ticked.unfinished.push_back(id);
  }
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
