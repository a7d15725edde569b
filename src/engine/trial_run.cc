#include "src/engine/trial_run.h"

#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "src/jobs/replica_command.h"
#include "src/metrics/wanted_metric.h"
#include "vernier/core/limits.h"

namespace vernier::engine {
namespace {

// As AI Platform Training says it.
constexpr char kInternalError[] = "Internal error occurred for the current attempt";
// What an attempt ran was told by them alone.
constexpr char kRecordsGone[] = "the records of the attempt are gone";
// Failed trials that a crash is compared with: the first ones.
constexpr std::size_t kMostCompared = 100;

// Somebody else moved or removed the trial between our look and our change. The next step looks again.
bool WasOvertaken(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
}
absl::Status UnlessOvertaken(const absl::Status& status) {
  return WasOvertaken(status) ? absl::OkStatus() : status;
}

// Empty if it has reported every objective.
std::string MissingObjectives(const Study& study, const Trial& trial) {
  return vernier::MissingObjectives(study.spec.objectives,
                                    trial.last.value_or(Measurement()).metrics);
}

// Whether the result of the trial is, or may have been, among what its program printed.
bool DependsOnOutput(const StudySpec& spec, const Trial& trial) {
  const Measurement last = trial.last.value_or(Measurement());
  return !vernier::MissingObjectives(spec.objectives, last.metrics).empty() ||
         last.source == metrics::kLogSource || last.source == metrics::kJsonSource;
}

// Whether the study is a tuning job, whose file says nothing of where metrics are found.
bool IsTuningInput(const StudySpec& spec) {
  return spec.job.has_value() && spec.job->input.has_value() &&
         spec.job->input->hyperparameters.has_value() && spec.metrics.empty();
}

// What was seen instead of the metrics that are missing, and what to write in the study file.
std::string SeenInstead(const Study& study, const Trial& trial, const MetricReader& reader) {
  const std::map<std::string, double> reported = trial.last.value_or(Measurement()).metrics;
  std::vector<std::string> sentences;
  for (const MetricSighting& sighting : reader.Sightings()) {
    const bool is_objective =
        std::ranges::count(study.spec.objectives, sighting.metric, &Objective::metric) > 0;
    if (!is_objective || reported.contains(sighting.metric) || sighting.candidates.empty()) {
      continue;
    }
    const MetricSighting::Candidate& likely = sighting.candidates.front();
    if (likely.entry.empty()) {
      sentences.push_back(likely.what);
    } else if (IsTuningInput(study.spec)) {
      sentences.push_back(
          fmt::format("{}: if that is it, name it in hyperparameterMetricTag", likely.what));
    } else {
      sentences.push_back(
          fmt::format("{}: if that is it, write metrics: {{{}}}", likely.what, likely.entry));
    }
  }
  return fmt::format("{}", fmt::join(sentences, "; "));
}

std::string NoMetricMessage(const std::string& missing,
                            const Study& study,
                            const Trial& trial,
                            const MetricReader* reader) {
  std::string message = fmt::format("ended without reporting its {}", missing);
  if (reader == nullptr) return message;
  if (const std::string seen = SeenInstead(study, trial, *reader); !seen.empty()) {
    return fmt::format("{}; {}", message, seen);
  }
  const std::vector<std::string> lines = reader->UnmatchedLines();
  if (lines.empty()) return message + "; it printed nothing";
  return fmt::format("{}; its last lines were: {}", message, fmt::join(lines, " | "));
}

std::int64_t Restarts(const std::vector<ReplicaResult>& replicas) {
  std::int64_t sum = 0;
  for (const ReplicaResult& replica : replicas) sum += replica.restarts;
  return sum;
}

// Number of the first measurements that one report takes; at least 1.
std::size_t CountForOneCall(const std::vector<Measurement>& measurements) {
  const std::size_t most = std::min(measurements.size(), limits::kMeasurements);
  std::size_t values = 0;
  for (std::size_t i = 0; i < most; ++i) {
    values += measurements[i].metrics.size();
    if (values > limits::kValues) return std::max<std::size_t>(1, i);
  }
  return most;
}

std::vector<Measurement> FirstOf(const std::vector<Measurement>& measurements, std::size_t count) {
  return {measurements.begin(), measurements.begin() + static_cast<std::ptrdiff_t>(count)};
}

void DropFirst(std::size_t count, std::vector<Measurement>& measurements) {
  measurements.erase(measurements.begin(),
                     measurements.begin() + static_cast<std::ptrdiff_t>(count));
}

// A reader may be somebody else's.
absl::StatusOr<std::vector<Measurement>> ReadFrom(MetricReader& reader, bool is_last) {
  try {
    return is_last ? reader.Finish() : reader.Read();
  } catch (const std::exception& error) {
    return Internal("the metrics cannot be read: {}", error.what());
  }
}

// Gives every replica what it takes to report by itself.
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

// Whether something of the trial's last attempt may still run, even if the trial itself has ended.
bool RunsStill(const Trial& trial) {
  return !trial.attempts.empty() && !IsEnded(trial.attempts.back().state);
}

}  // namespace

TrialRun::TrialRun(const Context& context, TrialId id, absl::Time created)
    : context_(context), id_(id), created_(created) {}

Caller TrialRun::caller() const { return {.actor = context_.options.actor, .request_id = ""}; }

absl::Status TrialRun::Step(const Study& study, bool may_start) {
  if (done_) return absl::OkStatus();
  if (is_touched_ || !taken_up_) {
    VERNIER_ASSIGN_OR_RETURN(trial_, context_.studies.GetTrial(id_));
  }
  is_touched_ = true;  // If anything goes wrong.
  const bool is_over = attempt_.has_value() && IsFinished(trial_.state);
  const bool follows = taken_up_ || is_over;
  SetNextLimit(study);
  VERNIER_RETURN_IF_ERROR(follows ? Follow(study, trial_) : TakeUp(study, trial_, may_start));
  is_touched_ = false;
  if (follows) return absl::OkStatus();
  taken_up_ = attempt_.has_value();
  if (taken_up_) next_limit_ = absl::InfinitePast();  // The next step sees what it has come to.
  return absl::OkStatus();
}

void TrialRun::SetNextLimit(const Study& study) {
  next_limit_ = absl::InfiniteFuture();
  if (taken_up_) {
    next_limit_ = NextLimit(*definition_->job, trial_, context_.clock.Now());
  } else if (study.state == StudyState::kActive) {
    next_limit_ = NextLimit(*study.spec.job, trial_, context_.clock.Now());
  }
}

absl::Status TrialRun::TakeUp(const Study& study, Trial& trial, bool may_start) {
  if (IsFinished(trial.state)) return RunsStill(trial) ? AdoptEnded(trial) : GiveBack();
  const bool waits = trial.state == TrialState::kRequested || trial.state == TrialState::kQueued;
  if (waits && study.state == StudyState::kActive) {
    const absl::Time now = context_.clock.Now();
    if (const auto spent = FindSpentWait(*study.spec.job, trial, now)) {
      return Withdraw(trial, *spent);
    }
    if (const auto spent = FindSpentLimit(*study.spec.job, trial, now)) {
      return GiveUp(spent->failure, spent->message);
    }
  }
  const bool start = may_start && study.state == StudyState::kActive;
  switch (trial.state) {
    case TrialState::kRequested:
      return start ? Queue(study) : absl::OkStatus();
    case TrialState::kQueued:
      return start ? Place(study, trial) : absl::OkStatus();
    default:
      VERNIER_RETURN_IF_ERROR(StopWaiting());
      return Adopt(study, trial);
  }
}

absl::Status TrialRun::Queue(const Study& study) {
  const absl::StatusOr<Trial> queued =
      context_.moves.Move(id_, TrialState::kQueued, FailureClass::kNone, "");
  return queued.ok() ? Place(study, *queued) : UnlessOvertaken(queued.status());
}

absl::Status TrialRun::Place(const Study& study, const Trial& trial) {
  const AttemptId id{id_, AttemptNumber(static_cast<std::int64_t>(trial.attempts.size()) + 1)};
  GangRequest request = jobs::MakeGangRequest(id, study.spec);
  request.queued = created_;
  request.needs.directory =
      jobs::Below(context_.options.working_directory, request.needs.directory);
  if (const absl::Status ready = context_.launcher.Prepare(request); !ready.ok()) {
    const bool is_jobs_fault = absl::IsInvalidArgument(ready);
    return PutOff(id, ready, is_jobs_fault ? FailureClass::kUserError : FailureClass::kInternal);
  }
  const absl::StatusOr<PlacedGang> placed = context_.launcher.Place(request);
  if (!placed.ok()) return PutOff(id, placed.status(), FailureClass::kInternal);
  waiting_.reset();
  const absl::StatusOr<Trial> recorded =
      context_.moves.PlaceAttempt(id_, placed->placement, placed->directory);
  if (!recorded.ok()) {
    VERNIER_RETURN_IF_ERROR(context_.launcher.Release(id));
    return UnlessOvertaken(recorded.status());
  }
  attempt_ = id;
  VERNIER_RETURN_IF_ERROR(LoadDefinition(*recorded));
  if (definition_->job != study.spec.job) {  // Changed meanwhile: the room is for another gang.
    VERNIER_RETURN_IF_ERROR(RecordAttempt({}, AttemptState::kStopped));
    return Requeue();
  }
  return Launch(*recorded);
}

absl::Status TrialRun::PutOff(const AttemptId& id, const absl::Status& why, FailureClass failure) {
  waiting_ = id;
  if (absl::IsResourceExhausted(why) || absl::IsUnavailable(why)) return absl::OkStatus();
  return GiveUp(failure, std::string(why.message()));
}

absl::Status TrialRun::LoadDefinition(const Trial& trial) {
  VERNIER_ASSIGN_OR_RETURN(
      definition_, context_.studies.GetDefinition(id_.study, trial.attempts.back().defined_by));
  return absl::OkStatus();
}

absl::StatusOr<GangProgram> TrialRun::Program(const Trial& trial) const {
  const Attempt& attempt = trial.attempts.back();
  const AttemptId id{id_, attempt.number};
  VERNIER_ASSIGN_OR_RETURN(
      GangProgram gang,
      jobs::MakeGangProgram(id,
                            *definition_,
                            trial,
                            {.placement = attempt.placement, .directory = attempt.directory},
                            context_.options.working_directory));
  if (context_.options.reporting) LetReport(context_.options.reporting(*definition_, id), gang);
  return gang;
}

absl::Status TrialRun::OpenReader(const Trial& trial, const GangProgram& gang) {
  if (!context_.options.metrics) return absl::OkStatus();
  source_.reset();
  reading_.reset();
  has_read_all_ = false;
  reads_since_.reset();
  VERNIER_ASSIGN_OR_RETURN(auto reader, context_.options.metrics(*definition_, trial, gang));
  if (reader != nullptr)
    source_ = std::make_shared<Source>(Source{.reader = std::move(reader), .unreported = {}});
  return absl::OkStatus();
}

absl::Status TrialRun::Launch(const Trial& trial) {
  const absl::StatusOr<GangProgram> gang = Program(trial);
  if (!gang.ok()) return GiveUp(FailureClass::kUserError, std::string(gang.status().message()));
  if (const absl::Status opened = OpenReader(trial, *gang); !opened.ok()) {
    return GiveUp(FailureClass::kUserError, std::string(opened.message()));
  }
  VERNIER_RETURN_IF_ERROR(RecordAttempt({}, AttemptState::kStarting));
  return StartGang(*gang);
}

absl::Status TrialRun::StartGang(const GangProgram& gang) {
  absl::Status started = context_.launcher.Start(gang);
  // A full disk is no fault of the trial: the next step tries again.
  if (started.ok() || absl::IsResourceExhausted(started)) return started;
  return Abort(std::string(started.message()));
}

absl::Status TrialRun::Abort(std::string_view error) {
  internal_error_ = error;
  VERNIER_RETURN_IF_ERROR(context_.launcher.Stop(*attempt_));
  stop_sent_ = true;
  return absl::OkStatus();
}

absl::Status TrialRun::Adopt(const Study& study, Trial& trial) {
  if (trial.attempts.empty()) return FinishStopped(study, trial);  // Stopped while it waited.
  const Attempt& attempt = trial.attempts.back();
  const AttemptId id{id_, attempt.number};
  VERNIER_RETURN_IF_ERROR(LoadDefinition(trial));
  const absl::StatusOr<GangProgram> gang = Program(trial);
  if (!gang.ok()) return GiveUp(FailureClass::kUserError, std::string(gang.status().message()));
  VERNIER_RETURN_IF_ERROR(OpenReader(trial, *gang));
  if (IsEnded(attempt.state)) return Finish(study, trial, Recorded(attempt));

  const absl::StatusOr<GangStatus> status =
      context_.launcher.Adopt(jobs::MakeGangRequest(id, *definition_), gang->placed);
  if (!status.ok() && !absl::IsNotFound(status.status())) return status.status();
  attempt_ = id;
  if (status.ok() && status->state == AttemptState::kStarting) {
    // Of which only a part may have been started.
    return attempt.state == AttemptState::kRunning ? Abort(kRecordsGone) : StartGang(*gang);
  }
  if (status.ok()) return Follow(study, trial);
  if (attempt.state == AttemptState::kRunning) {
    return Abort(kRecordsGone);  // What it started may still run.
  }
  if (trial.state == TrialState::kStopping) {
    return Finish(study, trial, {.state = AttemptState::kStopped});
  }
  return Launch(trial);
}

// Somebody ended the trial, and an earlier process did not live to take down what runs of it. The next step does.
absl::Status TrialRun::AdoptEnded(const Trial& trial) {
  const Attempt& attempt = trial.attempts.back();
  VERNIER_RETURN_IF_ERROR(LoadDefinition(trial));
  const AttemptId id{id_, attempt.number};
  absl::Status adopted =
      context_.launcher
          .Adopt(jobs::MakeGangRequest(id, *definition_),
                 {.placement = attempt.placement, .directory = attempt.directory})
          .status();
  if (!adopted.ok() && !absl::IsNotFound(adopted)) return adopted;
  attempt_ = id;
  return absl::OkStatus();
}

absl::Status TrialRun::Follow(const Study& study, Trial& trial) {
  VERNIER_ASSIGN_OR_RETURN(const GangStatus status, context_.launcher.Check(*attempt_));
  if (IsFinished(trial.state)) return TakeDown(status);  // Somebody ended the trial, not its job.
  const bool is_stopping = trial.state == TrialState::kStopping;
  // Of a trial that was told to stop while no engine looked, what it reported before counts.
  const bool is_unread = trial.started.has_value() && !reads_since_.has_value();
  if (status.state != AttemptState::kStarting &&
      (!is_stopping || is_unread || reading_ != nullptr)) {
    if (!is_stopping) {
      const absl::Status running = MarkRunning(trial, status);
      if (!running.ok()) return UnlessOvertaken(running);
    }
    const bool has_ended = IsEnded(status.state);
    const absl::StatusOr<bool> is_read =
        ReadMetrics(trial, /*needs_all=*/has_ended && (!is_stopping || is_unread));
    if (!is_read.ok()) return UnlessOvertaken(is_read.status());
    if (!*is_read && has_ended) return absl::OkStatus();
  }
  if (IsEnded(status.state)) return Finish(study, trial, status);
  return StopIfDue(trial);
}

absl::Status TrialRun::StopIfDue(const Trial& trial) {
  if (stop_sent_) return absl::OkStatus();
  const absl::Time now = context_.clock.Now();
  if (trial.state == TrialState::kPreparing) {
    const auto spent = FindSpentWait(*definition_->job, trial, now);
    if (spent.has_value()) VERNIER_RETURN_IF_ERROR(Withdraw(trial, *spent));
  }
  spent_limit_ = FindSpentLimit(*definition_->job, trial, now);
  if (trial.state != TrialState::kStopping && !spent_limit_) return absl::OkStatus();
  VERNIER_RETURN_IF_ERROR(context_.launcher.Stop(*attempt_));
  stop_sent_ = true;
  return absl::OkStatus();
}

absl::Status TrialRun::MarkRunning(Trial& trial, const GangStatus& status) {
  // One that was stopped before anybody saw it run may never have run.
  if (status.state == AttemptState::kStopped) return absl::OkStatus();
  if (trial.state == TrialState::kRunning && status.state == AttemptState::kRunning &&
      Restarts(status.replicas) > Restarts(trial.attempts.back().replicas)) {
    VERNIER_RETURN_IF_ERROR(RecordAttempt(status, AttemptState::kRunning));
  }
  if (trial.state != TrialState::kPreparing) return absl::OkStatus();
  VERNIER_RETURN_IF_ERROR(RecordAttempt(status, AttemptState::kRunning));
  VERNIER_ASSIGN_OR_RETURN(trial,
                           context_.moves.Move(id_, TrialState::kRunning, FailureClass::kNone, ""));
  return absl::OkStatus();
}

void TrialRun::ReadFresh(Source& source, std::optional<absl::Time> started, bool is_last) {
  const absl::StatusOr<std::vector<Measurement>> read = ReadFrom(*source.reader, is_last);
  // What cannot be read is the trial's own misfortune: it goes on, and fails at its end if a metric is missing.
  if (!read.ok()) return;
  for (Measurement measurement : *read) {
    measurement.elapsed = measurement.time - started.value_or(measurement.time);
    source.unreported.push_back(std::move(measurement));
  }
}

void TrialRun::BeginReport() {
  if (source_ == nullptr || !reads_since_.has_value() || reading_ != nullptr || has_read_all_) {
    return;
  }
  BeginReading(/*is_last=*/false);
}

void TrialRun::BeginReading(bool is_last) {
  reading_ = std::make_shared<Reading>();
  reading_->is_last = is_last;
  context_.tasks.Run([this_id = id_,
                      caller = caller(),
                      &studies = context_.studies,
                      &news = context_.news,
                      source = source_,
                      reading = reading_,
                      started = reads_since_](const std::stop_token&, const Tasks::Done& done) {
    const auto tell = [reading, &news, this_id, done] {
      reading->told.Notify();
      if (reading->is_last) news.Add(this_id);
      done();
    };
    ReadFresh(*source, started, reading->is_last);
    reading->count = CountForOneCall(source->unreported);
    if (reading->count == 0) return tell();
    studies.Report(this_id,
                   FirstOf(source->unreported, reading->count),
                   std::nullopt,
                   caller,
                   [reading, tell](const absl::StatusOr<Studies::Reported>& outcome) {
                     reading->stored = outcome.status();
                     tell();
                   });
  });
}

absl::StatusOr<bool> TrialRun::TakeReading(Trial& trial) {
  if (reading_ == nullptr) return true;
  if (!reading_->told.HasBeenNotified()) return false;
  const std::shared_ptr<Reading> reading = std::exchange(reading_, nullptr);
  // What a reader of somebody's own found, and no study takes, is the trial's own misfortune as well.
  const bool is_refused = absl::IsInvalidArgument(reading->stored);
  if (!is_refused) VERNIER_RETURN_IF_ERROR(reading->stored);
  DropFirst(reading->count, source_->unreported);
  has_read_all_ = reading->is_last && source_->unreported.empty();
  if (is_refused || reading->count == 0) return true;
  // As it is now: what it was when the report was stored may be older than what the log has said of it since.
  VERNIER_ASSIGN_OR_RETURN(trial, context_.studies.GetTrial(id_));
  return true;
}

absl::StatusOr<bool> TrialRun::ReadMetrics(Trial& trial, bool needs_all) {
  if (source_ == nullptr) return true;
  VERNIER_ASSIGN_OR_RETURN(const bool is_free, TakeReading(trial));
  if (!is_free) return false;
  const bool is_first = !reads_since_.has_value();
  reads_since_ = trial.started;
  if (has_read_all_ || (!is_first && !needs_all)) return true;
  while (true) {
    BeginReading(needs_all);
    VERNIER_ASSIGN_OR_RETURN(const bool is_taken, TakeReading(trial));
    if (!is_taken) return false;
    if (!needs_all || has_read_all_) return true;
  }
}

absl::Status TrialRun::TakeDown(const GangStatus& status) {
  if (IsEnded(status.state)) {
    VERNIER_RETURN_IF_ERROR(RecordAttempt(status, status.state));
    return GiveBack();
  }
  if (stop_sent_) return absl::OkStatus();
  stop_sent_ = true;
  return context_.launcher.Stop(*attempt_);
}

absl::Status TrialRun::Abandon() {
  if (done_) return absl::OkStatus();
  if (!attempt_.has_value()) return GiveBack();
  VERNIER_ASSIGN_OR_RETURN(const GangStatus status, context_.launcher.Check(*attempt_));
  return TakeDown(status);
}

GangStatus TrialRun::Judge(const Trial& trial, GangStatus status) const {
  if (status.state == AttemptState::kSucceeded && !status.lost_output.empty() &&
      DependsOnOutput(*definition_, trial)) {
    status.state = AttemptState::kFailed;
    status.failure = FailureClass::kInternal;
    status.transient = true;
    status.message = fmt::format("some of what it printed was lost, and its result with it: {}",
                                 status.lost_output);
    return status;
  }
  if (status.state == AttemptState::kLost) {
    if (status.failure == FailureClass::kNone) status.failure = FailureClass::kNodeLost;
    status.transient = true;
    return status;
  }
  if (status.state != AttemptState::kStopped || trial.state == TrialState::kStopping) return status;
  // Stopped, and nobody wanted the trial to be: because of a limit, or of an error on our side.
  status.state = AttemptState::kFailed;
  const auto spent = spent_limit_.has_value()
                         ? spent_limit_
                         : FindSpentLimit(*definition_->job, trial, context_.clock.Now());
  status.failure = spent.has_value() ? spent->failure : FailureClass::kInternal;
  status.transient = !spent.has_value();
  status.message = spent.has_value()         ? spent->message
                   : internal_error_.empty() ? "it was stopped from outside"
                                             : internal_error_;
  return status;
}

absl::Status TrialRun::Finish(const Study& study, const Trial& trial, const GangStatus& end) {
  GangStatus status = Judge(trial, end);
  VERNIER_RETURN_IF_ERROR(RecordAttempt(status, status.state));
  if (trial.state == TrialState::kStopping) {
    VERNIER_RETURN_IF_ERROR(FinishStopped(study, trial));
  } else if (status.state == AttemptState::kSucceeded) {
    VERNIER_RETURN_IF_ERROR(FinishSucceeded(study, trial));
  } else {
    if (IsWorthAnother(definition_->job->restarts, trial, status)) {
      VERNIER_ASSIGN_OR_RETURN(const std::string why_not, WhyNotAgain(study, trial, status));
      if (why_not.empty()) return Requeue();
      status.message += " " + why_not;
    }
    VERNIER_RETURN_IF_ERROR(FinishFailed(status));
  }
  return GiveBack();
}

absl::StatusOr<std::string> TrialRun::WhyNotAgain(const Study& study,
                                                  const Trial& trial,
                                                  const GangStatus& end) const {
  if (!IsCrash(end)) return std::string();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Measurement> curve,
                           context_.studies.ListMeasurements(id_));
  std::vector<Trial> others;
  if (study.completed == 0) {
    VERNIER_RETURN_IF_ERROR(
        context_.studies.ScanTrials(id_.study, {.states = {TrialState::kFailed}}, [&](Trial other) {
          others.push_back(std::move(other));
          return others.size() < kMostCompared;
        }));
  }
  return FindSameCrash(study, trial, end, curve, others).value_or("");
}

absl::Status TrialRun::FinishFailed(const GangStatus& status) {
  const bool is_internal = IsInternal(status.failure);
  return GiveUp(
      status.failure,
      is_internal ? fmt::format("{}: {}", kInternalError, status.message) : status.message);
}

absl::Status TrialRun::Withdraw(const Trial& trial, std::string_view reason) {
  const auto move = [&](TrialState to) {
    return context_.moves.Move(id_, to, FailureClass::kNone, reason).status();
  };
  if (trial.state == TrialState::kRequested) return UnlessOvertaken(move(TrialState::kCancelled));
  absl::Status moved = move(TrialState::kStopping);
  if (moved.ok() && trial.state == TrialState::kQueued) moved = move(TrialState::kCancelled);
  return UnlessOvertaken(moved);
}

absl::Status TrialRun::Requeue() {
  const absl::Status queued =
      context_.moves.Move(id_, TrialState::kQueued, FailureClass::kNone, "").status();
  if (!queued.ok()) return UnlessOvertaken(queued);
  const std::optional<AttemptId> old = std::exchange(attempt_, std::nullopt);
  taken_up_ = false;
  definition_.reset();
  stop_sent_ = false;
  internal_error_.clear();
  spent_limit_.reset();
  source_.reset();
  reading_.reset();
  has_read_all_ = false;
  reads_since_.reset();
  return old.has_value() ? context_.launcher.Release(*old) : absl::OkStatus();
}

// A trial that a rule or a user stopped keeps its last measurement; one that its study stopped, or that has none, is
// cancelled.
absl::Status TrialRun::FinishStopped(const Study& study, const Trial& trial) {
  const bool keeps = trial.stop.has_value() && study.state != StudyState::kStopping;
  if (keeps && MissingObjectives(study, trial).empty()) {
    return UnlessOvertaken(context_.studies.Complete(id_, {}, std::nullopt, caller()).status());
  }
  const std::string message = trial.message.empty() ? "stopped" : trial.message;
  return UnlessOvertaken(
      context_.moves.Move(id_, TrialState::kCancelled, FailureClass::kNone, message).status());
}

absl::Status TrialRun::FinishSucceeded(const Study& study, const Trial& trial) {
  const std::string missing = MissingObjectives(study, trial);
  if (missing.empty()) {
    return UnlessOvertaken(context_.studies.Complete(id_, {}, std::nullopt, caller()).status());
  }
  return UnlessOvertaken(
      context_.studies
          .Fail(id_,
                FailureClass::kNoMetric,
                NoMetricMessage(
                    missing, study, trial, source_ == nullptr ? nullptr : source_->reader.get()),
                std::nullopt,
                caller())
          .status());
}

absl::Status TrialRun::RecordAttempt(const GangStatus& status, AttemptState state) {
  const absl::StatusOr<Trial> trial = context_.studies.GetTrial(id_);
  if (!trial.ok()) return UnlessOvertaken(trial.status());
  if (trial->attempts.empty()) return absl::OkStatus();
  const AttemptId id{id_, trial->attempts.back().number};
  return UnlessOvertaken(
      context_.moves
          .MoveAttempt(id, state, status.failure, status.transient, status.message, status.replicas)
          .status());
}

// What went wrong has nothing to do with the study as a whole: the trial fails, and what runs of it is taken down by
// the next steps.
absl::Status TrialRun::GiveUp(FailureClass failure, std::string_view message) {
  return UnlessOvertaken(
      context_.studies.Fail(id_, failure, message, std::nullopt, caller()).status());
}

absl::Status TrialRun::StopWaiting() {
  if (!waiting_.has_value()) return absl::OkStatus();
  const AttemptId id = *waiting_;
  waiting_.reset();
  return context_.launcher.Release(id);
}

absl::Status TrialRun::GiveBack() {
  done_ = true;
  if (!attempt_.has_value()) return StopWaiting();
  return context_.launcher.Release(*attempt_);
}

}  // namespace vernier::engine
