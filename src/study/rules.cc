#include "src/study/rules.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "src/codec/study_file.h"
#include "src/core/limit_checks.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "vernier/core/limits.h"

namespace vernier::study {
namespace {

void AddStudyMove(Draft& draft, StudyState to, std::string_view reason) {
  draft.Add(
      StudyStateChanged{.from = draft.study().state, .to = to, .reason = std::string(reason)});
}

std::string TimeReason(const Study& study) {
  return fmt::format("time budget of {} spent", codec::FormatDuration(*study.spec.budget.time));
}

std::string GpuTimeReason(const Study& study) {
  return fmt::format("budget of {} GPU hours spent", *study.spec.budget.gpu_hours);
}

// Convergence ends a study only if its definition says so; otherwise it is shown and no more.
bool HasEnough(const Study& study) { return HasConverged(study) && study.spec.convergence->stop; }

// Why no trial may be created. REQUIRES: TrialRoom is 0.
std::string TrialsReason(const Study& study) {
  if (!HasEnough(study)) {
    const std::int64_t bound = *study.spec.budget.trials;
    return fmt::format("budget of {} trial{} spent", bound, bound == 1 ? "" : "s");
  }
  const std::optional<std::int64_t>& bound = study.spec.budget.trials;
  return fmt::format(
      "converged at trial {}: a further one was expected to improve {} by less than {}{}",
      study.converged->value(),
      FirstObjective(study.spec).metric,
      study.spec.convergence->tolerance,
      bound ? fmt::format("; {} of {} trials saved", *bound - study.trials, *bound) : "");
}

std::string FailuresReason(const StudyFold& fold) {
  const Study& study = fold.header();
  // Failures from before a fix do not count (docs/adr/0030).
  const bool is_fixed = fold.counted_failures() < study.failed;
  const char* const since = is_fixed ? " since the job was changed" : "";
  if (!fold.FailuresSpent()) {
    const std::vector<TrialNumber>& first = fold.first_ended();
    return fmt::format("first {} trials{} all failed: {}",
                       first.size(),
                       since,
                       fold.Find(first.front())->trial.message);
  }
  return fmt::format("{} trial{} failed{}, the bound is {}",
                     fold.counted_failures(),
                     fold.counted_failures() == 1 ? "" : "s",
                     since,
                     *study.spec.budget.failed_trials);
}

void FinishIfDown(Draft& draft) {
  const Study& study = draft.study();
  if (study.state != StudyState::kStopping || !draft.fold().IsDown()) return;
  // Copied, since the event changes the header that it is taken from.
  const std::string reason = study.reason;
  AddStudyMove(draft, draft.fold().ending(), reason);
}

// Ends the study. If none of its trials completed and some failed, it has failed, whatever ended
// it.
void EndStudy(Draft& draft, std::string_view reason) {
  const Study& study = draft.study();
  if (study.completed > 0 || study.failed == 0) {
    AddStudyMove(draft, StudyState::kCompleted, reason);
  } else {
    AddStudyMove(draft, StudyState::kFailed, fmt::format("{}, none completed", reason));
  }
}

// A study ends when its last trial has: while trials are at work their results may still come.
void SettleActive(Draft& draft, const Transient& transient) {
  const Study& study = draft.study();
  // With trials that may still be created, the next request for some decides which of the paused ones go on.
  if (draft.fold().IsAllPaused() && draft.fold().GpuTimeSpent(draft.now())) {
    EndPaused(draft, GpuTimeReason(study));
  }
  if (!draft.fold().IsDown()) return;
  if (TrialRoom(study) == 0) {
    EndStudy(draft, TrialsReason(study));
  } else if (draft.fold().GpuTimeSpent(draft.now())) {
    EndStudy(draft, GpuTimeReason(study));
  } else if (!transient.exhausted.empty() && !study.spec.foreign.has_value()) {
    // A foreign study ends only when its client ends it: the client may still add points.
    EndStudy(draft, transient.exhausted);
  }
}

// Empty unless an objective is NaN or infinite.
std::string WhyDiverged(const Study& study, const Measurement& last) {
  for (const Objective& objective : study.spec.objectives) {
    const auto value = last.metrics.find(objective.metric);
    if (value == last.metrics.end() || std::isfinite(value->second)) continue;
    return fmt::format("diverged: its last value of objective '{}' is {}{}",
                       objective.metric,
                       FormatValue(value->second),
                       last.step == 0 ? "" : fmt::format(", at step {}", last.step));
  }
  return "";
}

// Moves the trial to this state with its result, or, if that has diverged, to FAILED.
void AddResult(Draft& draft,
               TrialNumber trial,
               TrialState to,
               const Measurement& last,
               std::string_view message,
               bool ran_to_end = false) {
  const std::string diverged = WhyDiverged(draft.study(), last);
  if (!diverged.empty()) {
    return AddMove(draft, trial, TrialState::kFailed, diverged, FailureClass::kDiverged);
  }
  AddEnd(draft, trial, to, last, message, FailureClass::kNone, ran_to_end);
}

// A rule stopped it before, and it keeps its result as any trial that a rule has stopped. `reason`: empty if only the
// rule kept it from going on.
void EndPausedTrial(Draft& draft, TrialNumber trial, std::string_view reason) {
  const Measurement last = FinalMeasurement(draft, trial);
  const std::optional<StopRecord>& verdict = draft.trial(trial).stop;
  const std::string why = verdict.has_value() ? verdict->explanation : "";
  const std::string message = !reason.empty() ? fmt::format("ended while it was paused: {}", reason)
                              : why.empty()
                                  ? "stayed paused until the study ended"
                                  : fmt::format("stayed paused until the study ended: {}", why);
  if (MissingObjectives(draft.study().spec.objectives, last.metrics).empty()) {
    AddCompletion(draft, trial, last, message);
  } else {
    AddMove(draft, trial, TrialState::kCancelled, message);
  }
}

}  // namespace

Driver DriverOf(const Study& study) {
  return study.spec.job.has_value() ? Driver::kEngine : Driver::kClient;
}

std::string StudyTitle(const Study& study) { return fmt::format("study '{}'", study.spec.name); }
std::string TrialTitle(TrialNumber trial) { return fmt::format("trial {}", trial.value()); }

absl::Status CheckCaller(const Caller& caller) {
  VERNIER_RETURN_IF_ERROR(CheckLength("client_id", caller.actor, limits::kClientId));
  return CheckLength("request_id", caller.request_id, limits::kRequestId);
}

absl::Status NoTrial(const Study& study, TrialNumber trial) {
  return WithReason(NotFound("{} has no trial {}", StudyTitle(study), trial.value()),
                    Reason::kTrialNotFound);
}

absl::Status CheckTrial(const StudyFold& fold, TrialNumber trial) {
  VERNIER_RETURN_IF_ERROR(fold.NeedTrial(trial));
  const TrialEntry* const row = fold.Find(trial);
  if (row != nullptr && !row->trial.deleted) return absl::OkStatus();
  return NoTrial(fold.header(), trial);
}

absl::Status CheckActive(const Study& study) {
  if (study.state == StudyState::kActive) return absl::OkStatus();
  const std::string why = study.reason.empty() ? "" : fmt::format(" ({})", study.reason);
  return WithReason(FailedPrecondition("{} is {}{}: it takes no new trials",
                                       StudyTitle(study),
                                       StudyStateName(study.state),
                                       why),
                    Reason::kStudyNotActive);
}

absl::Status CheckForeign(const Study& study) {
  if (study.spec.foreign.has_value()) return absl::OkStatus();
  return FailedPrecondition(
      "{} is not foreign: its trials need a value of every parameter and objective",
      StudyTitle(study));
}

std::int64_t TrialRoom(const Study& study) {
  if (HasEnough(study)) return 0;
  const std::optional<std::int64_t>& bound = study.spec.budget.trials;
  // As good as no bound, and far from an overflow of sums.
  if (!bound.has_value()) return std::int64_t{1} << 62;
  return std::max<std::int64_t>(0, *bound - study.trials);
}

std::int64_t ParallelRoom(const Study& study) {
  return std::max<std::int64_t>(0, study.spec.parallel - study.open);
}

absl::Status CheckBudget(const StudyFold& fold, absl::Time now) {
  const Study& study = fold.header();
  std::string reason;
  if (fold.TimeSpent(now)) reason = TimeReason(study);
  if (fold.GpuTimeSpent(now)) reason = GpuTimeReason(study);
  if (TrialRoom(study) == 0) reason = TrialsReason(study);
  // The last reason found is reported; a study may have several.
  if (reason.empty()) return absl::OkStatus();
  return WithReason(ResourceExhausted("{}: {}", StudyTitle(study), reason), Reason::kBudgetSpent);
}

absl::Status CheckParallel(const Study& study) {
  if (ParallelRoom(study) > 0) return absl::OkStatus();
  return WithReason(ResourceExhausted("{}: {} trials are open, the bound is {}",
                                      StudyTitle(study),
                                      study.open,
                                      study.spec.parallel),
                    Reason::kParallelLimit);
}

absl::Status RequestReused(const Caller& caller) {
  return WithReason(InvalidArgument("request_id '{}' was used for another call", caller.request_id),
                    Reason::kRequestReused);
}

absl::StatusOr<const RequestRecord*> FindRequest(const StudyFold& fold,
                                                 const Caller& caller,
                                                 Verb verb,
                                                 std::optional<TrialNumber> trial) {
  VERNIER_RETURN_IF_ERROR(fold.NeedRequest(caller.request_id));
  const RequestRecord* record = fold.requests().Find(caller.request_id);
  if (record == nullptr) return record;
  const bool same_trial =
      !trial.has_value() || (!record->trials.empty() && record->trials.front() == *trial);
  if (record->verb != verb || !same_trial) return RequestReused(caller);
  absl::Status is_there;
  // All of them are asked for before the first is missed, so that one fetch brings them all.
  for (const TrialNumber each : record->trials) is_there.Update(fold.NeedTrial(each));
  VERNIER_RETURN_IF_ERROR(is_there);
  return record;
}

void AddMove(Draft& draft,
             TrialNumber trial,
             TrialState to,
             std::string_view message,
             FailureClass failure) {
  draft.Add(TrialStateChanged{.trial = trial,
                              .from = draft.trial(trial).state,
                              .to = to,
                              .failure = failure,
                              .message = std::string(message)});
}

Measurement FinalMeasurement(const Draft& draft, TrialNumber trial) {
  const TrialEntry& row = draft.row(trial);
  return row.finals.Apply(draft.study().spec.objectives, row.trial.last.value_or(Measurement()));
}

void AddCompletion(Draft& draft,
                   TrialNumber trial,
                   const Measurement& last,
                   std::string_view message) {
  AddResult(draft, trial, TrialState::kCompleted, last, message);
}

void AddWholeCompletion(Draft& draft, TrialNumber trial, const Measurement& last) {
  const std::optional<StopRecord>& verdict = draft.trial(trial).stop;
  const std::string why =
      verdict.has_value() && !verdict->explanation.empty() ? ": " + verdict->explanation : "";
  AddResult(draft,
            trial,
            TrialState::kCompleted,
            last,
            "ran to its end before it could be stopped" + why,
            /*ran_to_end=*/true);
}

void AddPause(Draft& draft, TrialNumber trial) {
  AddResult(draft, trial, TrialState::kPaused, FinalMeasurement(draft, trial), "");
}

void AddEnd(Draft& draft,
            TrialNumber trial,
            TrialState end,
            const Measurement& last,
            std::string_view message,
            FailureClass failure,
            bool ran_to_end) {
  draft.Add(TrialStateChanged{.trial = trial,
                              .from = draft.trial(trial).state,
                              .to = end,
                              .failure = failure,
                              .message = std::string(message),
                              .final_metrics = last.metrics,
                              .final_step = last.step,
                              .final_elapsed = last.elapsed,
                              .ran_to_end = ran_to_end});
}

StopRecord RecordOf(const EarlyStopper& rule, const Verdict& verdict, EventSeq as_of) {
  return {.rule = std::string(rule.name()),
          .version = std::string(rule.version()),
          .options = rule.options(),
          .as_of = as_of,
          .numbers = verdict.numbers,
          .explanation = verdict.explanation};
}

void AddStop(Draft& draft, TrialNumber trial, std::string_view rule, std::string_view explanation) {
  // Without a version, since no rule judged: a replay has nothing to compute again.
  StopRecord stop{.rule = std::string(rule),
                  .version = "",
                  .options = "{}",
                  .as_of = draft.study().last_event,
                  .numbers = {},
                  .explanation = std::string(explanation)};
  draft.Add(StopDecided{.trial = trial, .stop = std::move(stop)});
  AddMove(draft, trial, TrialState::kStopping, explanation);
}

void AddWithdrawal(Draft& draft,
                   TrialNumber trial,
                   std::string_view rule,
                   std::string_view explanation) {
  switch (draft.trial(trial).state) {
    case TrialState::kRequested:
      AddMove(draft, trial, TrialState::kCancelled, explanation);
      return;
    // Nothing of it runs, so there is nothing to wait for.
    case TrialState::kQueued:
      AddStop(draft, trial, rule, explanation);
      AddMove(draft, trial, TrialState::kCancelled, explanation);
      return;
    case TrialState::kStopping:
      return;
    case TrialState::kPaused:
      EndPausedTrial(draft, trial, explanation);
      return;
    default:
      AddStop(draft, trial, rule, explanation);
  }
}

void EndPaused(Draft& draft, std::string_view reason) {
  // A copy, since each end takes a trial out of the set.
  const std::set<TrialNumber> paused = draft.fold().paused();
  for (const TrialNumber trial : paused) EndPausedTrial(draft, trial, reason);
}

void AddStudyStop(Draft& draft, std::string_view reason, StudyState ending) {
  StudyStateChanged change{
      .from = draft.study().state, .to = StudyState::kStopping, .reason = std::string(reason)};
  // An event without it means CANCELLED.
  if (ending != StudyState::kCancelled) change.ending = ending;
  draft.Add(std::move(change));
  // A copy, since a withdrawal may end a trial and take it out of the set.
  const std::vector<TrialNumber> trials(draft.fold().unfinished().begin(),
                                        draft.fold().unfinished().end());
  for (const TrialNumber trial : trials) AddWithdrawal(draft, trial, kStudyStop, reason);
  FinishIfDown(draft);
}

void Settle(Draft& draft, const Transient& transient) {
  draft.BeginConsequences();
  const Study& study = draft.study();
  const bool is_active = study.state == StudyState::kActive;
  if (!is_active && study.state != StudyState::kPaused) return FinishIfDown(draft);
  // A paused study can fail or run out of time, too; its other bounds are looked at when it is
  // active.
  const bool failed = draft.fold().HasFailed();
  if (!failed && !draft.fold().TimeSpent(draft.now())) {
    if (is_active) SettleActive(draft, transient);
    return;
  }
  const std::string reason = failed ? FailuresReason(draft.fold()) : TimeReason(study);
  // Nothing has to come down. A paused study has no direct move to its end (state_machine.cc).
  if (is_active && draft.fold().IsDown()) {
    AddStudyMove(draft, failed ? StudyState::kFailed : StudyState::kCompleted, reason);
  } else {
    AddStudyStop(draft, reason);
  }
}

}  // namespace vernier::study
