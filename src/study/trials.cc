#include <algorithm>
#include <utility>

#include "src/core/status.h"
#include "src/study/studies_impl.h"

namespace vernier::study {
namespace {

constexpr std::string_view kUserOrigin = "user";

absl::Status CheckAddition(const StudyFold& fold, const TrialAddition& addition, absl::Time now) {
  const Study& study = fold.header();
  VERNIER_RETURN_IF_ERROR(CheckActive(study));
  VERNIER_RETURN_IF_ERROR(study.spec.space.Check(addition.point));
  VERNIER_RETURN_IF_ERROR(CheckMeasurements(addition.measurements));
  if (addition.last.has_value() && !addition.infeasible.has_value()) {
    for (const Objective& objective : study.spec.objectives) {
      if (addition.last->metrics.contains(objective.metric)) continue;
      return FieldError("final_metrics",
                        fmt::format("must hold the objective '{}'", objective.metric));
    }
  }
  return CheckBudget(fold, now);
}

// As if a client had tried it just now.
void AddTrialTriedElsewhere(Draft& draft, TrialNumber trial, const TrialAddition& addition) {
  AddMove(draft, trial, TrialState::kRunning);
  if (addition.infeasible.has_value()) {
    AddEnd(draft,
           trial,
           TrialState::kInfeasible,
           addition.last.value_or(Measurement()),
           *addition.infeasible,
           FailureClass::kInfeasible);
  } else {
    AddCompletion(draft, trial, *addition.last, "tried elsewhere");
  }
}

// What runs of a job must come down before its trial is forgotten.
absl::Status CheckDeletable(const Draft& draft, TrialNumber trial) {
  const bool has_job = draft.study().spec.job.has_value();
  if (!has_job || !draft.fold().IsAtWork(trial)) return absl::OkStatus();
  return WithReason(FailedPrecondition("{} is {}: stop it before it is deleted",
                                       TrialTitle(trial),
                                       TrialStateName(draft.trial(trial).state)),
                    Reason::kIllegalTransition);
}

SuggestionRecord UserSuggestion(const Study& study) {
  SuggestionRecord record;
  record.as_of = study.last_event;
  record.origin = kUserOrigin;
  return record;
}

}  // namespace

Trial Shown(const Trial& trial, const Transient& transient) {
  Trial shown = trial;
  const auto expires = transient.lease_expires.find(trial.number);
  if (shown.lease.has_value() && expires != transient.lease_expires.end()) {
    shown.lease->expires = std::max(shown.lease->expires, expires->second);
  }
  return shown;
}

absl::StatusOr<Trial> StudiesImpl::ChangeTrial(TrialId id,
                                               const Caller& caller,
                                               LiveStudy::Decide decide) {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.study));
  Trial answer;
  const auto change = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), id.number));
    VERNIER_RETURN_IF_ERROR(decide(draft, transient));
    if (!draft.empty()) Settle(draft, transient);
    answer = Shown(draft.trial(id.number), transient);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Change(caller, change));
  return answer;
}

absl::StatusOr<Trial> StudiesImpl::GetTrial(TrialId id) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.study));
  Trial answer;
  const auto look = [&](const StudyFold& fold, const Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckTrial(fold, id.number));
    answer = Shown(fold.Find(id.number)->trial, transient);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look, id.number));
  return answer;
}

absl::StatusOr<std::vector<Trial>> StudiesImpl::ListTrials(StudyId id) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  std::vector<Trial> trials;
  const auto look = [&](const StudyFold& fold, const Transient& transient) {
    trials.clear();
    trials.reserve(fold.rows().size());
    for (const TrialRow& row : fold.rows()) {
      if (!row.trial.deleted) trials.push_back(Shown(row.trial, transient));
    }
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look));
  return trials;
}

absl::StatusOr<std::vector<Measurement>> StudiesImpl::ListMeasurements(TrialId id) const {
  VERNIER_RETURN_IF_ERROR(GetTrial(id).status());
  return storage_.ListMeasurements(id);
}

absl::StatusOr<Trial> StudiesImpl::AddTrial(StudyId id,
                                            const TrialAddition& addition,
                                            const Caller& caller) {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id));
  Trial answer;
  const auto add = [&](Draft& draft, Transient& transient) -> absl::Status {
    const StudyFold& fold = draft.fold();
    TrialAddition typed = addition;
    typed.point = fold.header().spec.space.InKind(addition.point);
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(fold, caller, Verb::kAddTrial));
    if (repeated != nullptr) {
      answer = Shown(draft.trial(repeated->trials.front()), transient);
      return answer.point == typed.point ? absl::OkStatus() : RequestReused(caller);
    }
    VERNIER_RETURN_IF_ERROR(CheckAddition(fold, typed, draft.now()));
    const TrialNumber number(static_cast<std::int64_t>(fold.rows().size()) + 1);
    draft.Add(TrialCreated{.trial = number,
                           .point = std::move(typed.point),
                           .suggestion = UserSuggestion(draft.study()),
                           .optimizer_state = ""});
    if (!addition.metadata.empty()) {
      draft.Add(MetadataChanged{.values = {.study = {}, .trials = {{number, addition.metadata}}}});
    }
    for (const Measurement& measurement : addition.measurements) {
      draft.Add(MeasurementReported{
          .trial = number,
          .measurement = Completed(measurement, draft.trial(number), draft.now())});
    }
    if (addition.last.has_value() || addition.infeasible.has_value()) {
      AddTrialTriedElsewhere(draft, number, addition);
    }
    Settle(draft, transient);
    answer = draft.trial(number);
    return absl::OkStatus();
  };
  // The next number may be reserved for a suggestion that is being computed.
  VERNIER_ASSIGN_OR_RETURN(const LiveStudy::Ticket ticket, live->BeginCreation(caller, add));
  VERNIER_RETURN_IF_ERROR(live->Finish(ticket));
  return answer;
}

absl::Status StudiesImpl::DeleteTrial(TrialId id, const Caller& caller) {
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.study));
  const auto remove = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kDeleteTrial, id.number));
    if (repeated != nullptr) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), id.number));
    VERNIER_RETURN_IF_ERROR(CheckDeletable(draft, id.number));
    if (!IsFinished(draft.trial(id.number).state)) {
      AddWithdrawal(draft, id.number, kUserStop, "deleted by " + caller.actor);
      if (!IsFinished(draft.trial(id.number).state)) {
        AddMove(draft, id.number, TrialState::kCancelled, "deleted by " + caller.actor);
      }
    }
    draft.Add(TrialDeleted{.trial = id.number});
    transient.exhausted = false;  // In a finite space its point may be proposed again.
    Settle(draft, transient);
    return absl::OkStatus();
  };
  return live->Change(caller, remove);
}

absl::StatusOr<Trial> StudiesImpl::StopTrial(TrialId id,
                                             std::string_view reason,
                                             const Caller& caller) {
  const std::string why = reason.empty() ? "stopped by " + caller.actor : std::string(reason);
  return ChangeTrial(id, caller, [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kStopTrial, id.number));
    if (repeated != nullptr) return absl::OkStatus();
    const TrialState state = draft.trial(id.number).state;
    if (state != TrialState::kRequested) {
      VERNIER_RETURN_IF_ERROR(
          CheckMove(TrialTitle(id.number), DriverOf(draft.study()), state, TrialState::kStopping));
    }
    AddWithdrawal(draft, id.number, kUserStop, why);
    return absl::OkStatus();
  });
}

}  // namespace vernier::study
