// What the events of trials mean: the second half of StudyFold.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "src/core/objectives.h"
#include "src/core/point_check.h"
#include "src/study/fold_error.h"
#include "src/study/problem.h"
#include "src/study/state_machine.h"
#include "src/study/study_state.h"

namespace vernier::study {
namespace {

// Whether the trial counts against the bound on parallel trials.
bool IsOpen(const TrialEntry& row) {
  return !IsFinished(row.trial.state) && row.trial.state != TrialState::kPaused && !row.waiting;
}

Attempt* FindAttempt(Trial& trial, AttemptNumber number) {
  const std::int64_t index = number.value() - 1;
  if (index < 0 || index >= static_cast<std::int64_t>(trial.attempts.size())) return nullptr;
  return &trial.attempts[static_cast<std::size_t>(index)];
}

// When the program of the attempt started, and when nothing of it was left, by the clock of its
// host. `seen`, when the change was noticed, is the upper bound, and the answer if the host
// recorded no time. A clock that was put back does not lead to a time before `placed`.
absl::Time StartTimeOf(const std::vector<ReplicaResult>& replicas,
                       absl::Time placed,
                       absl::Time seen) {
  if (replicas.empty() || !replicas.front().started.has_value()) return seen;
  return std::clamp(*replicas.front().started, std::min(placed, seen), seen);
}
absl::Time EndTimeOf(const std::vector<ReplicaResult>& replicas,
                     absl::Time started,
                     absl::Time seen) {
  std::optional<absl::Time> end;
  for (const ReplicaResult& replica : replicas) {
    if (replica.started.has_value() && !replica.ended.has_value()) return seen;  // It was lost.
    if (replica.ended.has_value()) end = std::max(end.value_or(*replica.ended), *replica.ended);
  }
  return std::clamp(end.value_or(seen), std::min(started, seen), seen);
}

// A trial that was tried elsewhere is recorded as if a client had tried it, whoever drives the study.
bool IsLegalForSomebody(TrialState from, TrialState to) {
  return IsLegal(Driver::kEngine, from, to) || IsLegal(Driver::kClient, from, to);
}

}  // namespace

absl::Status StudyFold::On(const Event& event, const TrialCreated& created) {
  if (created.trial != next_trial()) {
    return Damaged(event, "must create trial {}", next_trial().value());
  }
  TrialEntry row;
  row.trial.number = created.trial;
  row.trial.point = created.point;
  row.trial.suggestion = created.suggestion;
  row.trial.created = event.time;
  row.created_by = event.seq;
  row.last_event = event.seq;
  // A trial that a user added is up for whoever asks next.
  row.waiting = created.suggestion.algorithm.empty();
  row.is_partial = row.waiting && !IsWhole(header_.spec.space, created.point);
  ++header_.trials;
  if (IsOpen(row)) ++header_.open;
  const bool is_partial = row.is_partial;
  rows_.push_back(std::make_unique<TrialEntry>(std::move(row)));
  ++rows_in_memory_;
  curves_.AddTrial(created.trial);
  unfinished_.insert(created.trial);
  if (finite_ && !is_partial) {
    points_[header_.spec.space.Key(created.point)].insert(created.trial);
  }
  JudgeConvergence(created.trial, created.suggestion);
  if (created.suggestion.algorithm.empty()) return absl::OkStatus();
  versions_[created.suggestion.algorithm] = created.suggestion.version;
  // Only the last of a batch carries a state; nobody looks between the events of one commit.
  optimizer_state_ = created.optimizer_state;
  optimizer_state_from_ = event.seq;
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const TrialStateChanged& change) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, change.trial));
  if (change.from != row->trial.state || !IsLegalForSomebody(change.from, change.to)) {
    return Damaged(event,
                   "trial {} is {}: it cannot go from {} to {}",
                   change.trial.value(),
                   TrialStateName(row->trial.state),
                   TrialStateName(change.from),
                   TrialStateName(change.to));
  }
  // Back in REQUESTED is only what is offered again.
  SetState(*row, change.to, /*waiting=*/change.to == TrialState::kRequested);
  if (change.to == TrialState::kRunning && !row->trial.started.has_value()) {
    row->trial.started = StartedAt(*row).value_or(event.time);
  }
  if (change.to == TrialState::kQueued) row->program_ended.reset();  // Another one will.
  if (!change.message.empty()) row->trial.message = change.message;
  if (change.from == TrialState::kPaused) paused_trials_.erase(change.trial);
  if (change.to == TrialState::kPaused) return ApplyPause(event, *row, change);
  if (IsFinished(change.to)) return ApplyTrialEnd(event, *row, change);
  if (change.from == TrialState::kPaused) ApplyResumption(*row);
  return absl::OkStatus();
}

// A paused trial may stay so for most of the study, so algorithms learn of it as of one that was stopped early. If it is
// resumed, it is in their log a second time once it ends.
absl::Status StudyFold::ApplyPause(const Event& event,
                                   TrialEntry& row,
                                   const TrialStateChanged& change) {
  Trial& trial = row.trial;
  if (!trial.stop.has_value()) {
    return Damaged(event, "trial {} is paused by no rule", trial.number.value());
  }
  trial.final_metrics = change.final_metrics;
  trial.final_step = change.final_step;
  trial.final_elapsed = change.final_elapsed;
  paused_trials_.insert(trial.number);
  curves_.MarkFinished(trial.number, /*stopped_early=*/true, KeepsConstraints(trial));
  // A trial may report some objective only at its end: it says nothing of its point yet.
  const bool has_all = MissingObjectives(header_.spec.objectives, trial.final_metrics).empty();
  return has_all ? Observe(event, row) : absl::OkStatus();
}

void StudyFold::ApplyResumption(TrialEntry& row) {
  Trial& trial = row.trial;
  trial.stop.reset();
  trial.message.clear();
  trial.final_metrics.clear();
  trial.final_step = 0;
  trial.final_elapsed = absl::ZeroDuration();
  curves_.Reopen(trial.number);
}

bool StudyFold::KeepsConstraints(const Trial& trial) const {
  return AreKept(SlacksOf(outcome_constraints_, trial.final_metrics));
}

// When the program of the last attempt started. Unset: known only by when it was seen to run.
std::optional<absl::Time> StudyFold::StartedAt(const TrialEntry& row) {
  if (row.trial.attempts.empty()) return std::nullopt;
  const Attempt& attempt = row.trial.attempts.back();
  const bool is_told = !attempt.replicas.empty() && attempt.replicas.front().started.has_value();
  return is_told ? attempt.started : std::nullopt;
}

// Trials that no model proposed say nothing of what there is to gain.
void StudyFold::JudgeConvergence(TrialNumber trial, const SuggestionRecord& suggestion) {
  const std::optional<double>& improvement = suggestion.expected_improvement;
  if (!header_.spec.convergence.has_value() || !improvement.has_value()) return;
  const bool is_idle = *improvement < header_.spec.convergence->tolerance;
  idle_trials_ = is_idle ? idle_trials_ + 1 : 0;
  if (idle_trials_ == kConvergedAfter) header_.converged = trial;
  if (!is_idle) header_.converged.reset();
}

// Judges all trials by a tolerance that changed after they were proposed.
void StudyFold::JudgeConvergenceAnew() {
  idle_trials_ = 0;
  header_.converged.reset();
  for (const auto& row : rows_) JudgeConvergence(row->trial.number, row->trial.suggestion);
}

void StudyFold::SetState(TrialEntry& row, TrialState to, bool waiting) {
  header_.open -= IsOpen(row) ? 1 : 0;
  row.trial.state = to;
  row.waiting = waiting;
  header_.open += IsOpen(row) ? 1 : 0;
}

absl::Status StudyFold::ApplyTrialEnd(const Event& event,
                                      TrialEntry& row,
                                      const TrialStateChanged& change) {
  Trial& trial = row.trial;
  trial.ended = row.program_ended.value_or(event.time);
  trial.failure = change.failure;
  trial.final_metrics = change.final_metrics;
  trial.final_step = change.final_step;
  trial.final_elapsed = change.final_elapsed;
  trial.lease.reset();
  // Nothing is reported to a trial that has ended, and many such rows may be in memory.
  row.seen = {};
  row.curve = {};
  row.finals = {};
  unstored_.push_back(trial.number);
  ended_rows_.push_back(trial.number);
  row.defined_by = trial.attempts.empty() ? defined_by_ : trial.attempts.back().defined_by;
  unfinished_.erase(trial.number);
  leased_.erase(trial.number);
  switch (change.to) {
    case TrialState::kCompleted:
      if (change.ran_to_end) trial.stop.reset();
      ++header_.completed;
      counted_completions_ += Counts(row) ? 1 : 0;
      curves_.MarkFinished(trial.number, trial.stop.has_value(), KeepsConstraints(trial));
      break;
    case TrialState::kCancelled:
      ForgetPoint(trial);  // Nothing was learnt of it.
      return absl::OkStatus();
    default:
      ++header_.failed;
      counted_failures_ += Counts(row) ? 1 : 0;
  }
  if (Counts(row)) {
    if (first_ended_.size() < kTellingTrials) first_ended_.push_back(trial.number);
  } else if (trial.state == TrialState::kFailed && header_.completed == 0) {
    // It ran under a definition that was replaced since, and nothing has ever completed: the
    // failure says nothing of the point.
    row.is_forgotten = true;
    ForgetPoint(trial);
    return absl::OkStatus();
  }
  // What ends as it was paused is in the log of observations already.
  const bool is_known = change.from == TrialState::kPaused && change.to == TrialState::kCompleted;
  return Observe(event, row, is_known);
}

absl::Status StudyFold::Observe(const Event& event, const TrialEntry& row, bool is_known) {
  const Observation observation = ObservationOf(row);
  // A point that lacks values may be the best, but teaches algorithms nothing.
  if (row.trial.state == TrialState::kCompleted) Rank(observation);
  if (row.is_partial || is_known) return absl::OkStatus();
  const absl::Status taken = finished_.Append(observation);
  return taken.ok() ? taken : Damaged(event, "{}", std::string(taken.message()));
}

Observation StudyFold::ObservationOf(const TrialEntry& row) const {
  Observation observation{.trial = row.trial.number, .point = row.trial.point, .values = {}};
  switch (row.trial.state) {
    case TrialState::kPaused:
    case TrialState::kCompleted:
      observation.outcome =
          row.trial.stop.has_value() ? Outcome::kStoppedEarly : Outcome::kCompleted;
      observation.values = ValuesOf(header_.spec.objectives, row.trial.final_metrics);
      observation.slacks = SlacksOf(outcome_constraints_, row.trial.final_metrics);
      if (row.trial.stop.has_value()) {
        observation.expected_end = ExpectedEndOf(row.trial.stop->numbers);
      }
      break;
    case TrialState::kInfeasible:
      observation.outcome = Outcome::kInfeasible;
      break;
    default:
      observation.outcome = Outcome::kFailed;
  }
  return observation;
}

void StudyFold::Rank(const Observation& completed) {
  if (!HasBest(header_.spec)) return;
  optimal_.Tell(completed.trial, completed.values, completed.slacks);
  header_.best = optimal_.best();
  header_.optimal = optimal_.optimal();
}

absl::Status StudyFold::On(const Event& event, const TrialDeleted& deleted) {
  VERNIER_RETURN_IF_ERROR(NeedLog());
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, deleted.trial));
  Trial& trial = row->trial;
  if (trial.deleted || !IsFinished(trial.state) || running_.contains(trial.number)) {
    return Damaged(event, "trial {} cannot be deleted", trial.number.value());
  }
  trial.deleted = true;
  DropSnapshot();
  // A cancelled trial was never counted, observed or ranked.
  if (trial.state == TrialState::kCancelled) return absl::OkStatus();
  const bool was_completed = trial.state == TrialState::kCompleted;
  --(was_completed ? header_.completed : header_.failed);
  if (Counts(*row)) --(was_completed ? counted_completions_ : counted_failures_);
  std::erase(first_ended_, trial.number);
  curves_.Forget(trial.number);
  ForgetPoint(trial);
  return ForgetObservations(event, {trial.number});
}

// The log of observations only grows, and snapshots of it are in use: a new one begins without the trials.
absl::Status StudyFold::ForgetObservations(const Event& event,
                                           const absl::flat_hash_set<TrialNumber>& trials) {
  const TrialLog::View before = finished_.Snapshot();
  DropSnapshot();
  finished_ = TrialLog(ProblemOf(header_.spec, {}));
  optimal_ = OptimalTrials(header_.spec.objectives);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (trials.contains(before.trial(i))) continue;
    // As it was: of a trial that was resumed, the row has no longer what was learnt when it was paused.
    const absl::Status taken = finished_.Append(before[i]);
    if (!taken.ok()) return Damaged(event, "{}", std::string(taken.message()));
  }
  for (const auto& row : rows_) {
    const bool counts = row->trial.state == TrialState::kCompleted && !row->trial.deleted &&
                        !trials.contains(row->trial.number);
    if (counts) Rank(ObservationOf(*row));
  }
  header_.best = optimal_.best();
  header_.optimal = optimal_.optimal();
  return absl::OkStatus();
}

// The point of the trial may be proposed again, unless another trial has it.
void StudyFold::ForgetPoint(const Trial& trial) {
  if (!finite_) return;
  const auto at = points_.find(header_.spec.space.Key(trial.point));
  if (at == points_.end()) return;
  at->second.erase(trial.number);
  if (at->second.empty()) points_.erase(at);
}

// Measurements without an objective say nothing of it.
void StudyFold::CountNotFinite(const Measurement& measurement, Trial& trial) const {
  bool has_objective = false;
  bool is_finite = true;
  for (const Objective& objective : header_.spec.objectives) {
    const auto value = measurement.metrics.find(objective.metric);
    if (value == measurement.metrics.end()) continue;
    has_objective = true;
    is_finite = is_finite && std::isfinite(value->second);
  }
  if (has_objective) trial.not_finite = is_finite ? 0 : trial.not_finite + 1;
}

absl::Status StudyFold::On(const Event& event, const MeasurementReported& report) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, report.trial));
  const Measurement& measurement = report.measurement;
  Trial& trial = row->trial;
  ++trial.measurements;
  NoteMeasurement(event.seq, measurement, *row);
  if (!trial.last.has_value()) trial.last.emplace();
  // A program may report its metrics one at a time, so the last value of each is kept.
  std::map<std::string, double> metrics = std::move(trial.last->metrics);
  for (const auto& [name, value] : measurement.metrics) metrics[name] = value;
  trial.last = measurement;
  trial.last->metrics = std::move(metrics);
  CountNotFinite(measurement, trial);
  return absl::OkStatus();
}

void StudyFold::NoteMeasurement(EventSeq event, const Measurement& measurement, TrialEntry& row) {
  row.seen.insert(MeasurementKey(measurement));
  row.curve.Add(event, measurement.metrics);
  // A snapshot's row has its stop before its measurements are noted, so the stop itself says which came first.
  const std::optional<StopRecord>& stop = row.trial.stop;
  const bool is_after_stop = stop.has_value() && event > stop->as_of;
  row.finals.Add(header_.spec.objectives, measurement, is_after_stop);
  const auto objective = measurement.metrics.find(FirstObjective(header_.spec).metric);
  if (objective != measurement.metrics.end()) {
    const Trial& trial = row.trial;
    curves_.AddPoint(
        trial.number, header_.spec.space, trial.point, measurement.step, objective->second);
  }
}

absl::Status StudyFold::On(const Event& event, const StopDecided& decided) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, decided.trial));
  row->trial.stop = decided.stop;
  if (!decided.stop.version.empty()) versions_[decided.stop.rule] = decided.stop.version;
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const ResumeDecided& decided) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, decided.trial));
  if (row->trial.state != TrialState::kPaused) {
    return Damaged(event, "trial {} is not paused", decided.trial.value());
  }
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const LeaseGranted& granted) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, granted.trial));
  row->trial.lease = granted.lease;
  row->trial.client = granted.lease.holder;
  row->last_lease = granted.lease;
  leased_.insert(granted.trial);
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const LeaseRenewed& renewed) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, renewed.trial));
  if (!row->last_lease.has_value()) {
    return Damaged(event, "trial {} was never leased", renewed.trial.value());
  }
  row->last_lease->expires = renewed.expires;
  row->trial.lease = row->last_lease;  // One that had expired is alive again.
  leased_.insert(renewed.trial);
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const LeaseExpired& expired) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, expired.trial));
  row->trial.lease.reset();
  leased_.erase(expired.trial);
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const AttemptPlaced& placed) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, placed.trial));
  const std::int64_t next = static_cast<std::int64_t>(row->trial.attempts.size()) + 1;
  if (placed.attempt.value() != next) return Damaged(event, "must place attempt {}", next);
  Attempt attempt;
  attempt.number = placed.attempt;
  attempt.placement = placed.placement;
  attempt.directory = placed.directory;
  attempt.defined_by = defined_by_;
  attempt.placed = event.time;
  row->trial.attempts.push_back(std::move(attempt));
  running_.insert(placed.trial);
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const AttemptStateChanged& change) {
  VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, change.trial));
  Attempt* attempt = FindAttempt(row->trial, change.attempt);
  if (attempt == nullptr || !IsLegal(attempt->state, change.to)) {
    return Damaged(event,
                   "attempt {} of trial {} cannot become {}",
                   change.attempt.value(),
                   change.trial.value(),
                   AttemptStateName(change.to));
  }
  // What was counted of it, if it had ended: the true end of an attempt that counted as lost may come later.
  const ResourceUsage counted = UsageOf(*attempt);
  attempt->state = change.to;
  if (change.to == AttemptState::kRunning && !attempt->started) {
    attempt->started = StartTimeOf(change.replicas, attempt->placed, event.time);
  }
  if (IsEnded(change.to)) {
    attempt->ended =
        EndTimeOf(change.replicas, attempt->started.value_or(attempt->placed), event.time);
    if (*attempt->ended < event.time) row->program_ended = attempt->ended;
    running_.erase(change.trial);
  }
  attempt->failure = change.failure;
  attempt->transient = change.transient;
  attempt->message = change.message;
  if (!change.replicas.empty()) attempt->replicas = change.replicas;
  ResourceUsage more = UsageOf(*attempt);
  more.cpu_time -= counted.cpu_time;
  more.gpu_time -= counted.gpu_time;
  header_.used += more;
  return absl::OkStatus();
}

}  // namespace vernier::study
