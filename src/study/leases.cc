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
  const auto fresher = transient.lease_expires.find(row.trial.number);
  if (fresher == transient.lease_expires.end()) return row.trial.lease->expires;
  return std::max(row.trial.lease->expires, fresher->second);
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

void ExpireLeases(Draft& draft, Transient& transient) {
  const std::vector<TrialNumber> leased(draft.fold().leased().begin(), draft.fold().leased().end());
  for (const TrialNumber trial : leased) {
    if (ExpiryOf(draft.row(trial), transient) > draft.now()) continue;
    EndLease(draft, trial);
    transient.lease_expires.erase(trial);
  }
  std::erase_if(transient.lease_expires,
                [&](const auto& entry) { return !draft.fold().leased().contains(entry.first); });
}

}  // namespace

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

void ReviveLease(Draft& draft, TrialNumber trial) {
  const TrialRow& row = draft.row(trial);
  if (!row.waiting || !row.last_lease.has_value()) return;
  draft.Add(LeaseRenewed{.trial = trial, .expires = draft.now() + draft.study().spec.lease.ttl});
  AddMove(draft, trial, TrialState::kRunning);
}

void RenewLease(Draft& draft, Transient& transient, TrialNumber trial, bool record) {
  const absl::Duration ttl = draft.study().spec.lease.ttl;
  const absl::Time expires = draft.now() + ttl;
  if (record || draft.trial(trial).lease->expires < draft.now() + ttl / 2) {
    transient.lease_expires.erase(trial);
    draft.Add(LeaseRenewed{.trial = trial, .expires = expires});
  } else {
    absl::Time& fresher = transient.lease_expires[trial];
    fresher = std::max(fresher, expires);
  }
}

absl::StatusOr<Trial> StudiesImpl::Heartbeat(TrialId id, const LeaseToken& lease) {
  const Caller caller{.actor = lease.holder, .request_id = ""};
  return ChangeTrial(id, caller, [&](Draft& draft, Transient& transient) -> absl::Status {
    const TrialRow& row = draft.row(id.number);
    if (IsFinished(row.trial.state)) {
      return WithReason(FailedPrecondition("{} is already {}: there is nothing to renew",
                                           TrialTitle(id.number),
                                           TrialStateName(row.trial.state)),
                        Reason::kTrialFinished);
    }
    VERNIER_RETURN_IF_ERROR(CheckLease(draft.study(), row, lease));
    ReviveLease(draft, id.number);
    RenewLease(draft, transient, id.number, /*record=*/false);
    return absl::OkStatus();
  });
}

absl::Status StudiesImpl::LoadUnfinished() {
  {
    absl::MutexLock lock(&mu_);
    if (unfinished_.has_value()) return absl::OkStatus();
    unfinished_.emplace();  // Studies created from here on add themselves.
  }
  absl::StatusOr<std::vector<Study>> studies = ListStudies();
  absl::MutexLock lock(&mu_);
  if (!studies.ok()) {
    unfinished_.reset();
    return studies.status();
  }
  for (const Study& study : *studies) {
    if (!IsFinished(study.state)) unfinished_->insert(study.id);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> StudiesImpl::TickOne(StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
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

absl::StatusOr<std::vector<StudyId>> StudiesImpl::Tick() {
  VERNIER_RETURN_IF_ERROR(LoadUnfinished());
  std::vector<StudyId> ids;
  std::uint64_t extensions = 0;
  {
    absl::MutexLock lock(&mu_);
    ids.assign(unfinished_->begin(), unfinished_->end());
    extensions = extensions_;
  }
  std::vector<StudyId> unfinished;
  absl::Status failed;
  for (const StudyId id : ids) {
    const absl::StatusOr<bool> finished = TickOne(id);
    if (finished.ok() && !*finished) {
      unfinished.push_back(id);
    } else if (finished.ok() || absl::IsNotFound(finished.status())) {
      absl::MutexLock lock(&mu_);
      if (extensions == extensions_) unfinished_->erase(id);
    } else if (!absl::IsDataLoss(finished.status())) {
      failed.Update(finished.status());
    }  // A damaged log is told to whoever asks for that study; it must not hold up the others.
  }
  VERNIER_RETURN_IF_ERROR(failed);
  return unfinished;
}

}  // namespace vernier::study
