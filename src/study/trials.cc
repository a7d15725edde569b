#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "absl/synchronization/notification.h"
#include "src/core/limit_checks.h"
#include "src/core/objectives.h"
#include "src/core/point_check.h"
#include "src/core/status.h"
#include "src/study/studies_impl.h"
#include "vernier/core/limits.h"

namespace vernier::study {
namespace {

constexpr std::string_view kUserOrigin = "user";
constexpr std::string_view kTriedElsewhere = "tried elsewhere";
// Least number of points of a shortened curve: its ends and two extremes.
constexpr std::size_t kLeastPoints = 4;
// A stored curve with more measurements is not indexed again for each part of it that is read in a row.
constexpr std::int64_t kShortCurve = 2000;

// The status with the trial's place in the call before its path.
absl::Status InTrial(std::size_t index, const absl::Status& status) {
  const std::optional<std::string> field = GetField(status);
  if (!field.has_value()) return status;
  const std::string message(status.message());
  return FieldError(
      fmt::format("trials[{}].{}", index, *field),
      std::string_view(message).substr(field->size() + std::string_view(": ").size()));
}

absl::Status CheckSize(const Metadata& metadata) {
  VERNIER_RETURN_IF_ERROR(
      CheckMetadataLimits({.study = {}, .trials = {{TrialNumber(), metadata}}}));
  const std::size_t size = SizeOf(metadata);
  if (size <= limits::kTrialMetadata) return absl::OkStatus();
  return FieldError(
      "metadata",
      fmt::format("of a trial must have at most {} bytes, got {}", limits::kTrialMetadata, size));
}

// Checks the bounds that do not depend on the study, but for the length of the curve.
absl::Status CheckAdditionLimits(const TrialAddition& addition) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost("parameters", addition.point.size(), limits::kParameters));
  VERNIER_RETURN_IF_ERROR(CheckTrialMetrics(std::nullopt, addition.measurements));
  if (addition.last.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckMetricLimits("final_metrics", addition.last->metrics));
  }
  VERNIER_RETURN_IF_ERROR(
      CheckLength("infeasible", addition.infeasible.value_or(""), limits::kMessage));
  VERNIER_RETURN_IF_ERROR(CheckLength("stopped", addition.stopped.value_or(""), limits::kMessage));
  if (addition.failed.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckLength("message", addition.failed->message, limits::kMessage));
    if (addition.last.has_value() || addition.stopped.has_value() ||
        addition.infeasible.has_value()) {
      return FieldError("failed", "must be the only end of its trial");
    }
  }
  return CheckSize(addition.metadata);
}

absl::Status CheckAdditionLimits(const std::vector<TrialAddition>& additions) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost("trials", additions.size(), limits::kAsked));
  std::size_t values = 0;
  for (std::size_t i = 0; i < additions.size(); ++i) {
    const TrialAddition& addition = additions[i];
    VERNIER_RETURN_IF_ERROR(InTrial(i, CheckAdditionLimits(addition)));
    for (std::size_t m = 0; m < addition.measurements.size(); ++m) {
      const std::string path = fmt::format("trials[{}].measurements[{}].metrics", i, m);
      const auto& metrics = addition.measurements[m].metrics;
      if (metrics.empty()) return FieldError(path, "must not be empty");
      VERNIER_RETURN_IF_ERROR(CheckMetricLimits(path, metrics));
      values += metrics.size();
    }
  }
  if (values <= limits::kAddedValues) return absl::OkStatus();
  return FieldError("trials",
                    fmt::format("must hold at most {} values in their measurements, got {}; add "
                                "them in several calls",
                                limits::kAddedValues,
                                values));
}

absl::Status CheckAddition(const Study& study, const TrialAddition& addition) {
  if (addition.as_is) VERNIER_RETURN_IF_ERROR(CheckForeign(study));
  const Space& space = study.spec.space;
  VERNIER_RETURN_IF_ERROR(addition.as_is ? CheckGiven(space, addition.point)
                                         : space.Check(addition.point));
  if (addition.last.has_value() && !addition.infeasible.has_value() && !addition.as_is) {
    for (const Objective& objective : study.spec.objectives) {
      if (addition.last->metrics.contains(objective.metric)) continue;
      return FieldError("final_metrics",
                        fmt::format("must hold the objective '{}'", objective.metric));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRoom(const StudyFold& fold, std::size_t count, absl::Time now) {
  VERNIER_RETURN_IF_ERROR(CheckBudget(fold, now));
  const std::int64_t room = TrialRoom(fold.header());
  if (static_cast<std::int64_t>(count) <= room) return absl::OkStatus();
  return WithReason(ResourceExhausted("{}: its budget has room for {} more trials, got {}",
                                      StudyTitle(fold.header()),
                                      room,
                                      count),
                    Reason::kBudgetSpent);
}

bool IsTriedElsewhere(const TrialAddition& addition) {
  return addition.last.has_value() || addition.stopped.has_value() ||
         addition.infeasible.has_value() || addition.failed.has_value();
}

// Records the trial as if a client had tried it just now.
void AddTrialTriedElsewhere(Draft& draft, TrialNumber trial, const TrialAddition& addition) {
  AddMove(draft, trial, TrialState::kRunning);
  if (addition.stopped.has_value()) AddStop(draft, trial, kUserStop, *addition.stopped);
  if (addition.infeasible.has_value()) {
    AddEnd(draft,
           trial,
           TrialState::kInfeasible,
           addition.last.value_or(Measurement()),
           *addition.infeasible,
           FailureClass::kInfeasible);
  } else if (addition.failed.has_value()) {
    AddMove(draft, trial, TrialState::kFailed, addition.failed->message, addition.failed->failure);
  } else if (!addition.last.has_value()) {
    AddMove(draft, trial, TrialState::kCancelled, *addition.stopped);
  } else if (addition.as_is) {
    AddEnd(
        draft, trial, TrialState::kCompleted, *addition.last, kTriedElsewhere, FailureClass::kNone);
  } else {
    AddCompletion(draft, trial, *addition.last, kTriedElsewhere);
  }
}

// A trial with a running job cannot be deleted: the job must come down first.
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

void AddOne(Draft& draft, const TrialAddition& addition) {
  const TrialNumber number = draft.fold().next_trial();
  // The creation comes first: the first event of a request tells what kind of call it was
  // (request_book.cc).
  draft.Add(TrialCreated{.trial = number,
                         .point = addition.point,
                         .suggestion = UserSuggestion(draft.study()),
                         .optimizer_state = ""});
  if (!addition.metadata.empty()) {
    draft.Add(MetadataChanged{.values = {.study = {}, .trials = {{number, addition.metadata}}}});
  }
  for (const Measurement& measurement : addition.measurements) {
    draft.Add(MeasurementReported{
        .trial = number, .measurement = FillIn(measurement, draft.trial(number), draft.now())});
  }
  if (IsTriedElsewhere(addition)) AddTrialTriedElsewhere(draft, number, addition);
}

// Whether the trials of an earlier request are at the points of these additions.
bool AreTheSame(const std::vector<Trial>& trials, const std::vector<TrialAddition>& additions) {
  return std::ranges::equal(trials, additions, {}, &Trial::point, &TrialAddition::point);
}

// `answer`: the trials that were added, now or by the same request before.
absl::Status AddUsersTrials(std::vector<TrialAddition> additions,
                            const Caller& caller,
                            Draft& draft,
                            Transient& transient,
                            std::vector<Trial>& answer) {
  const StudyFold& fold = draft.fold();
  // Converted first, since the recorded point of a repeated request has the types of the space.
  for (TrialAddition& addition : additions) {
    addition.point = fold.header().spec.space.InKind(addition.point);
  }
  answer.clear();
  VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                           FindRequest(fold, caller, Verb::kAddTrial));
  if (repeated != nullptr) {
    for (const TrialNumber trial : repeated->trials) {
      answer.push_back(Shown(draft.trial(trial), transient));
    }
    return AreTheSame(answer, additions) ? absl::OkStatus() : RequestReused(caller);
  }
  VERNIER_RETURN_IF_ERROR(CheckActive(draft.study()));
  for (std::size_t i = 0; i < additions.size(); ++i) {
    VERNIER_RETURN_IF_ERROR(InTrial(i, CheckAddition(draft.study(), additions[i])));
  }
  VERNIER_RETURN_IF_ERROR(CheckRoom(fold, additions.size(), draft.now()));
  const std::int64_t first = fold.next_trial().value();
  for (const TrialAddition& addition : additions) AddOne(draft, addition);
  Settle(draft, transient);
  for (std::int64_t number = first; number < fold.next_trial().value(); ++number) {
    answer.push_back(draft.trial(TrialNumber(number)));
  }
  return absl::OkStatus();
}

// The error of a call about one trial, which does not say which of several.
absl::Status OfOne(const absl::Status& status) {
  constexpr std::string_view kFirst = "trials[0].";
  const std::optional<std::string> field = GetField(status);
  if (!field.has_value() || !field->starts_with(kFirst)) return status;
  const std::string message(status.message());
  return FieldError(
      field->substr(kFirst.size()),
      std::string_view(message).substr(field->size() + std::string_view(": ").size()));
}

absl::StatusOr<Trial> TheOne(absl::StatusOr<std::vector<Trial>> trials) {
  if (!trials.ok()) return OfOne(trials.status());
  return std::move(trials->front());
}

}  // namespace

Trial Shown(Trial trial, const LeaseTimes& expires) {
  const auto at = expires.find(trial.number);
  if (trial.lease.has_value() && at != expires.end()) trial.lease->expires = at->second;
  return trial;
}

Trial Shown(const Trial& trial, const Transient& transient) {
  return Shown(trial, transient.lease_expires);
}

absl::StatusOr<Trial> StudiesImpl::ChangeTrial(TrialId id,
                                               const Caller& caller,
                                               LiveStudy::Decide decide) {
  return FinishChange(BeginTrialChange(id, caller, decide));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginTrialChange(TrialId id,
                                                                       const Caller& caller,
                                                                       LiveStudy::Decide decide) {
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  TrialChange change;
  VERNIER_ASSIGN_OR_RETURN(change.study, Find(id.study));
  const auto decide_all = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), id.number));
    VERNIER_RETURN_IF_ERROR(decide(draft, transient));
    if (!draft.empty()) Settle(draft, transient);
    // Copied under the lock, as of this change, and told once the change is stored.
    change.trial = Shown(draft.trial(id.number), transient);
    return absl::OkStatus();
  };
  VERNIER_ASSIGN_OR_RETURN(change.ticket, change.study->Begin(caller, decide_all));
  return change;
}

absl::StatusOr<Trial> StudiesImpl::FinishChange(absl::StatusOr<TrialChange> change) {
  VERNIER_RETURN_IF_ERROR(change.status());
  VERNIER_RETURN_IF_ERROR(change->study->AwaitStored(change->ticket));
  return std::move(change->trial);
}

void StudiesImpl::FinishChange(absl::StatusOr<TrialChange> change, OnTrial finished) {
  if (!change.ok()) return finished(change.status());
  LiveStudy& study = *change->study;
  const LiveStudy::Ticket ticket = std::move(change->ticket);
  study.WhenStored(ticket,
                   // With the study, which lives until then.
                   [study = std::move(change->study),
                    trial = std::move(change->trial),
                    finished = std::move(finished)](const absl::Status& stored) mutable {
                     if (!stored.ok()) return finished(stored);
                     finished(std::move(trial));
                   });
}

absl::StatusOr<Trial> StudiesImpl::ReadTrialRow(TrialId id) const {
  absl::StatusOr<Trial> trial = storage_.GetTrial(id);
  if (trial.ok() && !trial->deleted) return trial;
  if (!trial.ok() && !absl::IsNotFound(trial.status())) return trial;
  VERNIER_ASSIGN_OR_RETURN(const Study study, ReadRow(id.study));
  return NoTrial(study, id.number);
}

absl::StatusOr<Trial> StudiesImpl::GetTrial(TrialId id) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, FindToRead(id.study));
  if (live == nullptr) return ReadTrialRow(id);
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
  std::vector<Trial> trials;
  VERNIER_RETURN_IF_ERROR(ScanTrials(id, {}, [&](Trial trial) {
    trials.push_back(std::move(trial));
    return true;
  }));
  return trials;
}

absl::StatusOr<std::vector<Trial>> StudiesImpl::ListTrialsAtWork(StudyId id) const {
  VERNIER_ASSIGN_OR_RETURN(const Live live, FindToRead(id));
  std::vector<Trial> trials;
  if (live == nullptr) return trials;
  const auto look = [&](const StudyFold& fold, const Transient& transient) {
    trials.clear();
    for (const TrialNumber number : fold.AtWork()) {
      const Trial& trial = fold.Find(number)->trial;
      // Of a paused one nothing is at work; it comes back when it is resumed.
      if (!trial.deleted && trial.state != TrialState::kPaused)
        trials.push_back(Shown(trial, transient));
    }
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look));
  return trials;
}

absl::Status StudiesImpl::ScanTrials(StudyId id,
                                     const TrialScan& scan,
                                     const std::function<bool(Trial)>& visit) const {
  // Leases are renewed in memory more often than in the rows (docs/adr/0003).
  const Live live = FindAtHand(id);
  const LeaseTimes expires = live == nullptr ? LeaseTimes() : live->lease_expires();
  const absl::Status scanned = storage_.ScanTrials(id, scan, [&](Trial trial) {
    if (trial.deleted && !scan.deleted) return true;
    return visit(Shown(std::move(trial), expires));
  });
  return NoStudy(scanned, fmt::format("{}", id.value()));
}

absl::StatusOr<std::vector<Measurement>> StudiesImpl::ListMeasurements(TrialId id) const {
  VERNIER_RETURN_IF_ERROR(GetTrial(id).status());
  return storage_.ListMeasurements(id);
}

absl::StatusOr<CurvePart> StudiesImpl::ReadCurve(TrialId id, const CurveQuery& query) const {
  if (query.max_points != 0 && query.max_points < kLeastPoints) {
    return FieldError(
        "max_points",
        fmt::format("must be 0, or {} or more, got {}", kLeastPoints, query.max_points));
  }
  VERNIER_ASSIGN_OR_RETURN(const Live live, FindToRead(id.study));
  if (live == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(const Trial trial, ReadTrialRow(id));
    return ReadStoredCurve(id, trial.measurements, query);
  }
  // Set if the trial has ended: the number of its measurements.
  std::optional<std::int64_t> stored;
  std::vector<EventSeq> events;
  CurvePart part;
  const auto look = [&](const StudyFold& fold, const Transient&) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckTrial(fold, id.number));
    const TrialEntry& row = *fold.Find(id.number);
    // The curve of an ended trial is only in the store, which is read without the lock of the study.
    if (IsFinished(row.trial.state)) {
      stored = row.trial.measurements;
      return absl::OkStatus();
    }
    part.total = row.curve.Count(query.metric);
    const std::string& objective = FirstObjective(fold.header().spec).metric;
    events = row.curve.Choose(query.metric, objective, query.max_points);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(live->Read(look, id.number));
  if (stored.has_value()) return ReadStoredCurve(id, *stored, query);
  VERNIER_RETURN_IF_ERROR(ReadChosen(id, events, query, part));
  return part;
}

absl::StatusOr<std::shared_ptr<const StudiesImpl::StoredCurve>> StudiesImpl::IndexStoredCurve(
    TrialId id, std::int64_t measurements) const {
  {
    absl::MutexLock lock(&mu_);
    const bool is_it = long_curve_ != nullptr && long_curve_->trial == id &&
                       long_curve_->measurements == measurements;
    if (is_it) return long_curve_;
  }
  // Indexed without the lock. Two callers may do it at once; the index of the last one stays.
  auto curve = std::make_shared<StoredCurve>();
  curve->trial = id;
  curve->measurements = measurements;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> reports, storage_.ReadReports(id));
  for (const Event& event : reports) {
    curve->index.Add(event.seq, std::get<MeasurementReported>(event.payload).measurement.metrics);
  }
  if (measurements > kShortCurve) {
    absl::MutexLock lock(&mu_);
    long_curve_ = curve;
  }
  return curve;
}

absl::StatusOr<CurvePart> StudiesImpl::ReadStoredCurve(TrialId id,
                                                       std::int64_t measurements,
                                                       const CurveQuery& query) const {
  VERNIER_ASSIGN_OR_RETURN(const Study study, ReadRow(id.study));
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const StoredCurve> curve,
                           IndexStoredCurve(id, measurements));
  const std::string& objective = FirstObjective(study.spec).metric;
  CurvePart part;
  part.total = curve->index.Count(query.metric);
  VERNIER_RETURN_IF_ERROR(
      ReadChosen(id, curve->index.Choose(query.metric, objective, query.max_points), query, part));
  return part;
}

absl::Status StudiesImpl::ReadChosen(TrialId id,
                                     const std::vector<EventSeq>& events,
                                     const CurveQuery& query,
                                     CurvePart& part) const {
  part.chosen = events.size();
  const std::size_t begin = std::min(query.offset, events.size());
  const std::size_t rest = events.size() - begin;
  const std::size_t count = query.limit == 0 ? rest : std::min(query.limit, rest);
  VERNIER_ASSIGN_OR_RETURN(
      part.measurements,
      storage_.ReadMeasurements(id.study, std::span(events).subspan(begin, count)));
  return absl::OkStatus();
}

absl::StatusOr<Trial> StudiesImpl::AddTrial(StudyId id,
                                            const TrialAddition& addition,
                                            const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckMeasurements(addition.measurements));
  return TheOne(AddTrials(id, {addition}, caller));
}

void StudiesImpl::AddTrial(StudyId id,
                           TrialAddition addition,
                           const Caller& caller,
                           OnTrial added) {
  const absl::Status bounded = CheckMeasurements(addition.measurements);
  if (!bounded.ok()) return added(bounded);
  AddTrials(id,
            {std::move(addition)},
            caller,
            [added = std::move(added)](absl::StatusOr<std::vector<Trial>> trials) {
              added(TheOne(std::move(trials)));
            });
}

absl::StatusOr<std::vector<Trial>> StudiesImpl::AddTrials(
    StudyId id, const std::vector<TrialAddition>& additions, const Caller& caller) {
  absl::StatusOr<PendingSuggestions> pending;
  absl::Notification begun;
  BeginAddition(id, additions, caller, [&](absl::StatusOr<PendingSuggestions> addition_begun) {
    pending = std::move(addition_begun);
    begun.Notify();
  });
  begun.WaitForNotification();
  return AnswerSuggest(std::move(pending));
}

void StudiesImpl::AddTrials(StudyId id,
                            std::vector<TrialAddition> additions,
                            const Caller& caller,
                            OnTrials added) {
  BeginAddition(id,
                std::move(additions),
                caller,
                [added = std::move(added)](absl::StatusOr<PendingSuggestions> pending) {
                  AnswerSuggest(std::move(pending), added);
                });
}

void StudiesImpl::BeginAddition(StudyId id,
                                std::vector<TrialAddition> additions,
                                const Caller& caller,
                                std::function<void(absl::StatusOr<PendingSuggestions>)> begun) {
  absl::Status bounded = CheckCaller(caller);
  if (bounded.ok() && additions.empty()) bounded = FieldError("trials", "must not be empty");
  if (bounded.ok()) bounded = CheckAdditionLimits(additions);
  if (!bounded.ok()) return begun(bounded);
  absl::StatusOr<Live> study = Find(id);
  if (!study.ok()) return begun(study.status());
  LiveStudy& live = **study;
  auto pending =
      std::make_shared<PendingSuggestions>();  // Shared by the two halves of the creation.
  pending->study = *std::move(study);
  live.Begin(LiveStudy::Creation{
      .caller = caller,
      .decide =
          [pending, caller, additions = std::move(additions)](Draft& draft, Transient& transient) {
            pending->trials.emplace();
            return AddUsersTrials(additions, caller, draft, transient, *pending->trials);
          },
      .begun =
          [pending, begun = std::move(begun)](absl::StatusOr<LiveStudy::Ticket> ticket) {
            if (!ticket.ok()) return begun(ticket.status());
            pending->ticket = *std::move(ticket);
            begun(std::move(*pending));
          }});
}

absl::Status StudiesImpl::DeleteTrial(TrialId id, const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckCaller(caller));
  VERNIER_ASSIGN_OR_RETURN(const Live live, Find(id.study));
  const auto remove = [&](Draft& draft, Transient& transient) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kDeleteTrial, id.number));
    if (repeated != nullptr) return absl::OkStatus();
    // What algorithms learned is put together again from all remaining trials (docs/adr/0034).
    VERNIER_RETURN_IF_ERROR(draft.fold().NeedLog());
    VERNIER_RETURN_IF_ERROR(CheckTrial(draft.fold(), id.number));
    VERNIER_RETURN_IF_ERROR(CheckDeletable(draft, id.number));
    if (!IsFinished(draft.trial(id.number).state)) {
      AddWithdrawal(draft, id.number, kUserStop, "deleted by " + caller.actor);
      if (!IsFinished(draft.trial(id.number).state)) {
        // A trial of a client was only told to stop, and nobody waits for the client.
        AddMove(draft, id.number, TrialState::kCancelled, "deleted by " + caller.actor);
      }
    }
    draft.Add(TrialDeleted{.trial = id.number});
    transient.exhausted.clear();  // In a finite space its point may be proposed again.
    Settle(draft, transient);
    return absl::OkStatus();
  };
  return live->Change(caller, remove);
}

void StudiesImpl::StopTrial(TrialId id,
                            std::string_view reason,
                            const Caller& caller,
                            OnTrial stopped) {
  FinishChange(BeginStop(id, reason, caller), std::move(stopped));
}

absl::StatusOr<Trial> StudiesImpl::StopTrial(TrialId id,
                                             std::string_view reason,
                                             const Caller& caller) {
  return FinishChange(BeginStop(id, reason, caller));
}

absl::StatusOr<StudiesImpl::TrialChange> StudiesImpl::BeginStop(TrialId id,
                                                                std::string_view reason,
                                                                const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckLength("reason", reason, limits::kMessage));
  const std::string why = reason.empty() ? "stopped by " + caller.actor : std::string(reason);
  const auto stop = [&](Draft& draft, Transient&) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const RequestRecord* repeated,
                             FindRequest(draft.fold(), caller, Verb::kStopTrial, id.number));
    if (repeated != nullptr) return absl::OkStatus();
    const TrialState state = draft.trial(id.number).state;
    if (state != TrialState::kRequested && state != TrialState::kPaused) {
      VERNIER_RETURN_IF_ERROR(
          CheckMove(TrialTitle(id.number), DriverOf(draft.study()), state, TrialState::kStopping));
    }
    AddWithdrawal(draft, id.number, kUserStop, why);
    return absl::OkStatus();
  };
  return BeginTrialChange(id, caller, stop);
}

}  // namespace vernier::study
