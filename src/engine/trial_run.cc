#include "src/engine/trial_run.h"

#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/engine/missing_metric.h"
#include "src/jobs/layout.h"
#include "src/jobs/replica_command.h"

namespace vernier::engine {
namespace {

// Begins messages of errors that are ours, not the program's. The words are those of AI Platform Training.
constexpr char kInternalError[] = "Internal error occurred for the current attempt";
// It is not known what became of the attempt: only its records knew its processes.
constexpr char kRecordsGone[] = "the records of the attempt are gone";
// Number of failed trials that a crash is compared with, the first ones. A choice: a program that crashes in every
// trial shows it in far fewer, and each one is read from the store.
constexpr std::size_t kMostCompared = 100;

// The trial was moved or removed between the look and the change of this step. The next step looks again.
bool WasOvertaken(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
}
absl::Status UnlessOvertaken(const absl::Status& status) {
  return WasOvertaken(status) ? absl::OkStatus() : status;
}

std::int64_t Restarts(const std::vector<ReplicaResult>& replicas) {
  std::int64_t sum = 0;
  for (const ReplicaResult& replica : replicas) sum += replica.restarts;
  return sum;
}

// Gives every replica access to the reporting service, so that it can report metrics by itself.
void LetReport(const ReportingAccess& access, GangProgram& gang) {
  for (ReplicaProgram& replica : gang.replicas) {
    for (const auto& [name, value] : access.variables) replica.env[name] = value;
    if (replica.container.has_value() && !access.folder.empty()) {
      replica.container->mounts.push_back(access.folder);
    }
  }
}

GangStatus Recorded(const Attempt& attempt) {
  return {.state = attempt.state,
          .failure = attempt.failure,
          .transient = attempt.transient,
          .message = attempt.message,
          .replicas = attempt.replicas};
}

AttemptId LastAttempt(const TrialId& id, const Trial& trial) {
  return {id, trial.attempts.back().number};
}

// Whether something of the trial's last attempt may still run, even if the trial itself has ended.
bool MayStillRun(const Trial& trial) {
  return !trial.attempts.empty() && !IsEnded(trial.attempts.back().state);
}

}  // namespace

TrialRun::TrialRun(const Context& context, TrialId id, absl::Time created)
    : context_(context), id_(id), created_(created) {}

absl::Status TrialRun::Step(const Study& study, bool may_start) {
  if (done()) return absl::OkStatus();
  // While it runs, `trial_` is current unless an event said otherwise, so that most polls read nothing.
  if (is_touched_ || phase_ != Phase::kRunning) {
    VERNIER_ASSIGN_OR_RETURN(trial_, context_.studies.GetTrial(id_));
  }
  is_touched_ = true;  // Until the step has succeeded: after an error the trial is read again.
  SetNextLimit(study);
  const bool is_running = phase_ == Phase::kRunning;
  // A placed gang whose trial was ended meanwhile is not started any more, only taken down.
  if (is_running || (phase_ == Phase::kPlaced && IsFinished(trial_.state))) {
    VERNIER_RETURN_IF_ERROR(Follow(study, trial_));
  } else {
    VERNIER_RETURN_IF_ERROR(Begin(study, trial_, may_start));
    if (phase_ == Phase::kPlaced) {
      phase_ = Phase::kRunning;
      next_limit_ = absl::InfinitePast();  // The next step sees at once how far the gang has come.
    }
  }
  is_touched_ = false;
  return absl::OkStatus();
}

void TrialRun::SetNextLimit(const Study& study) {
  next_limit_ = absl::InfiniteFuture();
  if (phase_ == Phase::kRunning) {
    next_limit_ = NextLimit(*attempt_.definition->job, trial_, context_.clock.Now());
  } else if (study.state == StudyState::kActive) {
    // Not while the study is paused: its trials cannot help waiting.
    next_limit_ = NextLimit(*study.spec.job, trial_, context_.clock.Now());
  }
}

absl::Status TrialRun::Begin(const Study& study, Trial& trial, bool may_start) {
  if (IsFinished(trial.state)) return MayStillRun(trial) ? AdoptEnded(trial) : Conclude();
  if (trial.state == TrialState::kPaused) return Conclude();  // StudyRun learns when it is resumed.
  const bool waits = trial.state == TrialState::kRequested || trial.state == TrialState::kQueued;
  if (waits && study.state == StudyState::kActive) {
    const absl::Time now = context_.clock.Now();
    // The first is for a trial that has never run, the second for one that waits for another attempt.
    if (const auto spent = FindSpentWait(*study.spec.job, trial, now)) {
      return Withdraw(trial, *spent);
    }
    if (const auto spent = FindSpentLimit(*study.spec.job, trial, now)) {
      return FailTrial(spent->failure, spent->message);
    }
  }
  const bool start = may_start && study.state == StudyState::kActive;
  switch (trial.state) {
    case TrialState::kRequested:
      return start ? Queue(study) : absl::OkStatus();
    case TrialState::kQueued:
      return start ? Place(study, trial) : absl::OkStatus();
    default:
      // An attempt is recorded: of an earlier process, or of this one if its start was refused half
      // way. A trial that was stopped while it waited has none.
      VERNIER_RETURN_IF_ERROR(LeaveQueue());
      return Adopt(study, trial);
  }
}

absl::Status TrialRun::Queue(const Study& study) {
  const absl::StatusOr<Trial> queued =
      context_.moves.Move(id_, TrialState::kQueued, FailureClass::kNone, "");
  return queued.ok() ? Place(study, *queued) : UnlessOvertaken(queued.status());
}

// Room is reserved first and recorded after: a reservation that is not recorded dies with the process, while a recorded
// one without room would have to be undone.
absl::Status TrialRun::Place(const Study& study, const Trial& trial) {
  const AttemptId id{id_, AttemptNumber(static_cast<std::int64_t>(trial.attempts.size()) + 1)};
  GangRequest request = Request(id, study.spec);
  request.needs.directory =
      jobs::Below(context_.options.working_directory, request.needs.directory);
  if (const absl::Status ready = context_.launcher.Prepare(request); !ready.ok()) {
    const bool is_jobs_fault = absl::IsInvalidArgument(ready);
    return StayQueued(
        id, ready, is_jobs_fault ? FailureClass::kUserError : FailureClass::kInternal);
  }
  const absl::StatusOr<PlacedGang> placed = context_.launcher.Place(request);
  if (!placed.ok()) return StayQueued(id, placed.status(), FailureClass::kInternal);
  // The place in the queue has become room, which Conclude or Requeue gives back.
  queued_.reset();
  const absl::StatusOr<Trial> recorded =
      context_.moves.PlaceAttempt(id_, placed->placement, placed->directory);
  if (!recorded.ok()) {
    VERNIER_RETURN_IF_ERROR(context_.launcher.Release(id));
    return UnlessOvertaken(recorded.status());
  }
  attempt_ = {.id = id};
  phase_ = Phase::kPlaced;
  VERNIER_RETURN_IF_ERROR(LoadAttempt(*recorded));
  // The study was amended between our look and the record. The room is for the old gang, so ask again.
  if (attempt_.definition->job != study.spec.job) {
    VERNIER_RETURN_IF_ERROR(RecordAttempt({}, AttemptState::kStopped));
    return Requeue();
  }
  return Launch(*recorded);
}

absl::Status TrialRun::StayQueued(const AttemptId& id,
                                  const absl::Status& why,
                                  FailureClass failure) {
  // Also for a trial that fails here: its last step then takes it out of the queue.
  queued_ = id;
  if (absl::IsResourceExhausted(why) || absl::IsUnavailable(why)) return absl::OkStatus();
  return FailTrial(failure, std::string(why.message()));
}

absl::Status TrialRun::LoadAttempt(const Trial& trial) {
  VERNIER_ASSIGN_OR_RETURN(
      std::shared_ptr<const StudySpec> definition,
      context_.studies.GetDefinition(id_.study, trial.attempts.back().defined_by));
  attempt_.id = LastAttempt(id_, trial);
  attempt_.definition = std::move(definition);
  return absl::OkStatus();
}

GangRequest TrialRun::Request(const AttemptId& attempt, const StudySpec& spec) const {
  GangRequest request = jobs::MakeGangRequest(attempt, spec);
  request.queued = created_;
  return request;
}

absl::StatusOr<GangProgram> TrialRun::Program(const Trial& trial) const {
  const Attempt& attempt = trial.attempts.back();
  VERNIER_ASSIGN_OR_RETURN(
      GangProgram gang,
      jobs::MakeGangProgram(attempt_.id,
                            *attempt_.definition,
                            trial,
                            {.placement = attempt.placement, .directory = attempt.directory},
                            context_.options.working_directory));
  if (context_.options.reporting) {
    LetReport(context_.options.reporting(*attempt_.definition, attempt_.id), gang);
  }
  return gang;
}

absl::Status TrialRun::OpenFeed(const Trial& trial, const GangProgram& gang) {
  if (!context_.options.metrics) return absl::OkStatus();
  attempt_.feed.reset();
  VERNIER_ASSIGN_OR_RETURN(auto reader,
                           context_.options.metrics(*attempt_.definition, trial, gang));
  if (reader == nullptr) return absl::OkStatus();
  attempt_.feed = std::make_unique<MetricFeed>(context_, id_, std::move(reader));
  return absl::OkStatus();
}

// STARTING is recorded before the gang is started, so that an engine which finds the attempt PLACED knows that
// nothing of it runs.
absl::Status TrialRun::Launch(const Trial& trial) {
  const absl::StatusOr<GangProgram> gang = Program(trial);
  if (!gang.ok()) {
    return FailTrial(FailureClass::kUserError, std::string(gang.status().message()));
  }
  if (const absl::Status opened = OpenFeed(trial, *gang); !opened.ok()) {
    return FailTrial(FailureClass::kUserError, std::string(opened.message()));
  }
  VERNIER_RETURN_IF_ERROR(RecordAttempt({}, AttemptState::kStarting));
  return StartGang(*gang);
}

absl::Status TrialRun::StartGang(const GangProgram& gang) {
  absl::Status started = context_.launcher.Start(gang);
  // A full disk is no fault of the trial: the next step tries again. After any other error some replicas may run
  // already, so the gang is stopped, and the end of the attempt gives the error as its reason.
  if (started.ok() || absl::IsResourceExhausted(started)) return started;
  return StopGang({.limit = std::nullopt, .error = std::string(started.message())});
}

absl::Status TrialRun::Adopt(const Study& study, Trial& trial) {
  // Stopped while it waited.
  if (trial.attempts.empty()) return EndStopped(study, trial, /*ran_to_end=*/false);
  const Attempt& attempt = trial.attempts.back();
  VERNIER_RETURN_IF_ERROR(LoadAttempt(trial));
  const absl::StatusOr<GangProgram> gang = Program(trial);
  if (!gang.ok()) {
    return FailTrial(FailureClass::kUserError, std::string(gang.status().message()));
  }
  VERNIER_RETURN_IF_ERROR(OpenFeed(trial, *gang));
  // The end of the attempt was recorded, but not what it means for the trial.
  if (IsEnded(attempt.state)) return EndAttempt(study, trial, Recorded(attempt));

  const absl::StatusOr<GangStatus> status =
      context_.launcher.Adopt(Request(attempt_.id, *attempt_.definition), gang->placed);
  if (!status.ok() && !absl::IsNotFound(status.status())) return status.status();
  // Also if no replica was ever started: the launcher has reserved the room of the gang.
  phase_ = Phase::kPlaced;
  const bool was_running = attempt.state == AttemptState::kRunning;
  if (status.ok() && status->state != AttemptState::kStarting) return Follow(study, trial);
  // The trial is known to have run, yet the launcher knows of no running gang. So its records are gone, while some of
  // its processes may still run. Starting it again could run it twice.
  if (was_running) return StopGang({.limit = std::nullopt, .error = kRecordsGone});
  if (status.ok()) return StartGang(*gang);  // An earlier process may have started a part of it.
  if (trial.state == TrialState::kStopping) {
    return EndAttempt(study, trial, {.state = AttemptState::kStopped});
  }
  return Launch(trial);
}

// Takes back the gang of a trial that has ended: an earlier process did not live to take it down.
// The next step does.
absl::Status TrialRun::AdoptEnded(const Trial& trial) {
  const Attempt& attempt = trial.attempts.back();
  VERNIER_RETURN_IF_ERROR(LoadAttempt(trial));
  absl::Status adopted =
      context_.launcher
          .Adopt(Request(attempt_.id, *attempt_.definition),
                 {.placement = attempt.placement, .directory = attempt.directory})
          .status();
  if (!adopted.ok() && !absl::IsNotFound(adopted)) return adopted;
  phase_ = Phase::kPlaced;
  return absl::OkStatus();
}

absl::Status TrialRun::Follow(const Study& study, Trial& trial) {
  VERNIER_ASSIGN_OR_RETURN(const GangStatus status, context_.launcher.Check(attempt_.id));
  if (IsFinished(trial.state)) return TakeDown(status);  // Somebody ended the trial, not its job.
  const bool is_stopping = trial.state == TrialState::kStopping;
  const MetricFeed* feed = attempt_.feed.get();
  // What a trial reports after it was told to stop is not read. It may have been told while no engine looked, though:
  // the metrics that it reported before that count.
  const bool is_unread = feed != nullptr && trial.started.has_value() && !feed->has_begun();
  const bool is_reading = feed != nullptr && feed->is_reading();
  if (status.state != AttemptState::kStarting && (!is_stopping || is_unread || is_reading)) {
    if (!is_stopping) {
      const absl::Status running = MarkRunning(trial, status);
      if (!running.ok()) return UnlessOvertaken(running);
    }
    const bool has_ended = IsEnded(status.state);
    if (feed != nullptr) {
      const absl::StatusOr<bool> is_read =
          attempt_.feed->Advance(trial, /*needs_all=*/has_ended && (!is_stopping || is_unread));
      if (!is_read.ok()) return UnlessOvertaken(is_read.status());
      if (!*is_read && has_ended) return absl::OkStatus();  // The end of the read wakes the engine.
    }
  }
  if (IsEnded(status.state)) return EndAttempt(study, trial, status);
  return StopIfDue(trial);
}

absl::Status TrialRun::StopIfDue(const Trial& trial) {
  if (attempt_.stop.has_value()) return absl::OkStatus();
  const TrainingJob& job = *attempt_.definition->job;
  const absl::Time now = context_.clock.Now();
  if (trial.state == TrialState::kPreparing) {
    const auto spent = FindSpentWait(job, trial, now);
    // The event of this move brings the next step, which finds the trial STOPPING and stops the gang.
    if (spent.has_value()) VERNIER_RETURN_IF_ERROR(Withdraw(trial, *spent));
  }
  std::optional<SpentLimit> limit = FindSpentLimit(job, trial, now);
  if (trial.state != TrialState::kStopping && !limit.has_value()) return absl::OkStatus();
  return StopGang({.limit = std::move(limit)});
}

absl::Status TrialRun::StopGang(StopCause cause) {
  VERNIER_RETURN_IF_ERROR(context_.launcher.Stop(attempt_.id));
  // Only after the launcher has accepted it: after an error the next step tells it again.
  attempt_.stop = std::move(cause);
  return absl::OkStatus();
}

absl::Status TrialRun::MarkRunning(Trial& trial, const GangStatus& status) {
  // A gang that was stopped before anybody saw it run may never have run.
  if (status.state == AttemptState::kStopped) return absl::OkStatus();
  if (trial.state == TrialState::kRunning && status.state == AttemptState::kRunning &&
      Restarts(status.replicas) > Restarts(trial.attempts.back().replicas)) {
    VERNIER_RETURN_IF_ERROR(RecordAttempt(status, AttemptState::kRunning));
  }
  if (trial.state != TrialState::kPreparing) return absl::OkStatus();
  // The attempt first, since the start of the trial is taken from it.
  VERNIER_RETURN_IF_ERROR(RecordAttempt(status, AttemptState::kRunning));
  VERNIER_ASSIGN_OR_RETURN(trial,
                           context_.moves.Move(id_, TrialState::kRunning, FailureClass::kNone, ""));
  return absl::OkStatus();
}

void TrialRun::BeginReport() {
  if (attempt_.feed != nullptr) attempt_.feed->BeginRead();
}

absl::Status TrialRun::TakeDown(const GangStatus& status) {
  if (IsEnded(status.state)) {
    VERNIER_RETURN_IF_ERROR(RecordAttempt(status, status.state));
    return Conclude();
  }
  return attempt_.stop.has_value() ? absl::OkStatus() : StopGang({});
}

absl::Status TrialRun::Abandon() {
  if (done()) return absl::OkStatus();
  if (!active()) return Conclude();
  VERNIER_ASSIGN_OR_RETURN(const GangStatus status, context_.launcher.Check(attempt_.id));
  return TakeDown(status);
}

GangStatus TrialRun::Interpret(const Trial& trial, GangStatus end) const {
  if (end.state == AttemptState::kSucceeded && !end.lost_output.empty() &&
      DependsOnOutput(*attempt_.definition, trial)) {
    end.state = AttemptState::kFailed;
    end.failure = FailureClass::kInternal;
    end.transient = true;
    end.message = fmt::format("some of what it printed was lost, and its result with it: {}",
                              end.lost_output);
    return end;
  }
  if (end.state == AttemptState::kLost) {
    if (end.failure == FailureClass::kNone) end.failure = FailureClass::kNodeLost;
    end.transient = true;
    return end;
  }
  if (end.state != AttemptState::kStopped || trial.state == TrialState::kStopping) return end;
  // The gang was stopped, but not the trial: a limit was spent, or something went wrong on our side. An earlier process
  // may have stopped it because of a limit, so look at the limits once more.
  end.state = AttemptState::kFailed;
  const StopCause cause = attempt_.stop.value_or(StopCause());
  const std::optional<SpentLimit> spent =
      cause.limit.has_value()
          ? cause.limit
          : FindSpentLimit(*attempt_.definition->job, trial, context_.clock.Now());
  end.failure = spent.has_value() ? spent->failure : FailureClass::kInternal;
  end.transient = !spent.has_value();
  end.message = spent.has_value()     ? spent->message
                : cause.error.empty() ? "it was stopped from outside"
                                      : cause.error;
  return end;
}

absl::Status TrialRun::EndAttempt(const Study& study, const Trial& trial, const GangStatus& end) {
  GangStatus status = Interpret(trial, end);
  // Ahead of what it means for the trial. After a crash in between, Adopt finds the recorded end,
  // and decides again from the log.
  VERNIER_RETURN_IF_ERROR(RecordAttempt(status, status.state));
  // By itself: a gang that was stopped has STOPPED, whatever its programs exit with.
  const bool ran_to_end = status.state == AttemptState::kSucceeded;
  if (!ran_to_end && MayPause(study, trial)) return Pause();
  if (trial.state == TrialState::kStopping) {
    VERNIER_RETURN_IF_ERROR(EndStopped(study, trial, ran_to_end));
  } else if (ran_to_end) {
    VERNIER_RETURN_IF_ERROR(EndSucceeded(study, trial));
  } else {
    if (IsWorthAnother(attempt_.definition->job->restarts, trial, status)) {
      VERNIER_ASSIGN_OR_RETURN(const std::string why_not, WhyNotAgain(study, trial, status));
      if (why_not.empty()) return Requeue();
      status.message += " " + why_not;
    }
    VERNIER_RETURN_IF_ERROR(EndFailed(status));
  }
  return Conclude();
}

absl::StatusOr<std::string> TrialRun::WhyNotAgain(const Study& study,
                                                  const Trial& trial,
                                                  const GangStatus& end) const {
  if (!IsCrash(end)) return std::string();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Measurement> curve,
                           context_.studies.ListMeasurements(id_));
  std::vector<Trial> others;
  // FindSameCrash looks at other trials only then, and reading them costs.
  if (study.completed == 0) {
    VERNIER_RETURN_IF_ERROR(
        context_.studies.ScanTrials(id_.study, {.states = {TrialState::kFailed}}, [&](Trial other) {
          others.push_back(std::move(other));
          return others.size() < kMostCompared;
        }));
  }
  return FindSameCrash(study, trial, end, curve, others).value_or("");
}

absl::Status TrialRun::EndFailed(const GangStatus& end) {
  return FailTrial(
      end.failure,
      IsInternal(end.failure) ? fmt::format("{}: {}", kInternalError, end.message) : end.message);
}

absl::Status TrialRun::Withdraw(const Trial& trial, std::string_view reason) {
  const auto move = [&](TrialState to) {
    return context_.moves.Move(id_, to, FailureClass::kNone, reason).status();
  };
  if (trial.state == TrialState::kRequested) return UnlessOvertaken(move(TrialState::kCancelled));
  // A queued trial has nothing to take down. One that is being prepared is cancelled when its gang is down.
  absl::Status moved = move(TrialState::kStopping);
  if (moved.ok() && trial.state == TrialState::kQueued) moved = move(TrialState::kCancelled);
  return UnlessOvertaken(moved);
}

absl::Status TrialRun::Requeue() {
  // The move comes first: if the store refuses it, nothing has changed, and the next step tries again.
  const absl::Status queued =
      context_.moves.Move(id_, TrialState::kQueued, FailureClass::kNone, "").status();
  if (!queued.ok()) return UnlessOvertaken(queued);
  const bool held_room = active();
  const AttemptId old = attempt_.id;
  attempt_ = {};
  phase_ = Phase::kWaiting;
  return held_room ? context_.launcher.Release(old) : absl::OkStatus();
}

// Whether the verdict that stopped the trial may be taken back.
bool TrialRun::MayPause(const Study& study, const Trial& trial) const {
  const bool is_verdict = trial.stop.has_value() && !trial.stop->version.empty();
  return attempt_.definition->job->pausable && trial.state == TrialState::kStopping && is_verdict &&
         study.state != StudyState::kStopping;
}

// Room is given back first, as a trial that was moved could be resumed at once, and another object would run it. If the move
// fails, the next step finds the trial STOPPING with an attempt that has ended, and comes here again.
absl::Status TrialRun::Pause() {
  const bool held_room = active();
  const AttemptId old = attempt_.id;
  attempt_ = {};
  phase_ = Phase::kWaiting;
  if (held_room) VERNIER_RETURN_IF_ERROR(context_.launcher.Release(old));
  VERNIER_RETURN_IF_ERROR(UnlessOvertaken(
      context_.moves.Move(id_, TrialState::kPaused, FailureClass::kNone, "").status()));
  phase_ = Phase::kDone;
  return absl::OkStatus();
}

// A trial that a rule or a user stopped keeps its last measurement as its result. One that its study stopped, or that
// reported nothing, is cancelled.
absl::Status TrialRun::EndStopped(const Study& study, const Trial& trial, bool ran_to_end) {
  const bool keeps = trial.stop.has_value() && study.state != StudyState::kStopping;
  if (keeps && MissingObjectives(study, trial).empty()) {
    return UnlessOvertaken(
        context_.studies
            .End(id_, {.last = {}, .ran_to_end = ran_to_end}, std::nullopt, context_.caller())
            .status());
  }
  const std::string message = trial.message.empty() ? "stopped" : trial.message;
  return UnlessOvertaken(
      context_.moves.Move(id_, TrialState::kCancelled, FailureClass::kNone, message).status());
}

absl::Status TrialRun::EndSucceeded(const Study& study, const Trial& trial) {
  const std::string missing = MissingObjectives(study, trial);
  if (missing.empty()) {
    return UnlessOvertaken(
        context_.studies.Complete(id_, {}, std::nullopt, context_.caller()).status());
  }
  const MetricReader* reader = attempt_.feed == nullptr ? nullptr : &attempt_.feed->reader();
  return FailTrial(FailureClass::kNoMetric, NoMetricMessage(missing, study, trial, reader));
}

absl::Status TrialRun::RecordAttempt(const GangStatus& status, AttemptState state) {
  const absl::StatusOr<Trial> trial = context_.studies.GetTrial(id_);
  if (!trial.ok()) return UnlessOvertaken(trial.status());
  if (trial->attempts.empty()) return absl::OkStatus();
  return UnlessOvertaken(context_.moves
                             .MoveAttempt(LastAttempt(id_, *trial),
                                          state,
                                          status.failure,
                                          status.transient,
                                          status.message,
                                          status.replicas)
                             .status());
}

// Ends the trial alone: the study goes on, and the next steps take down what runs of the trial.
absl::Status TrialRun::FailTrial(FailureClass failure, std::string_view message) {
  return UnlessOvertaken(
      context_.studies.Fail(id_, failure, message, std::nullopt, context_.caller()).status());
}

absl::Status TrialRun::LeaveQueue() {
  if (!queued_.has_value()) return absl::OkStatus();
  const AttemptId id = *std::exchange(queued_, std::nullopt);
  return context_.launcher.Release(id);
}

absl::Status TrialRun::Conclude() {
  const bool held_room = active();
  phase_ = Phase::kDone;
  return held_room ? context_.launcher.Release(attempt_.id) : LeaveQueue();
}

}  // namespace vernier::engine
