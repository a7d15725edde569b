#include "src/study/study_state.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "src/core/status.h"
#include "src/study/alike.h"
#include "src/study/amendable.h"
#include "src/study/fold_error.h"
#include "src/study/problem.h"
#include "src/study/state_machine.h"

namespace vernier::study {
Fingerprint MeasurementKey(const Measurement& measurement) {
  Fingerprinter key;
  key.Add(static_cast<std::uint64_t>(measurement.step));
  key.Add(static_cast<std::uint64_t>(absl::ToUnixNanos(measurement.time)));
  key.Add(measurement.source);
  for (const auto& [name, value] : measurement.metrics) {
    key.Add(name);
    // By its bits, so that NaN equals itself.
    key.Add(std::bit_cast<std::uint64_t>(value));
  }
  return key.Get();
}

StudyFold::StudyFold(Study header,
                     StudyCreated created,
                     std::vector<OutcomeConstraint> outcome_constraints)
    : header_(std::move(header)),
      created_(std::move(created)),
      outcome_constraints_(std::move(outcome_constraints)),
      optimal_(header_.spec.objectives),
      curves_(created_.trials_before),
      finished_(ProblemOf(header_.spec, {})),
      optimizer_state_(created_.optimizer_state),
      // A warm start may bring a state with the first event.
      optimizer_state_from_(created_.optimizer_state.empty() ? 0 : 1),
      finite_(header_.spec.space.Cardinality().has_value()) {
  // A definition may be long, and the header has it.
  created_.spec = {};
}

absl::StatusOr<StudyFold> StudyFold::Start(StudyId id, const Event& created) {
  const auto* payload = std::get_if<StudyCreated>(&created.payload);
  if (payload == nullptr || created.seq != EventSeq(1)) {
    return Damaged(created, "the log must begin with the creation of the study");
  }
  if (payload->trials_before < 0 || payload->streams_before < 0) {
    return Damaged(created, "trials and random streams before it cannot be negative in number");
  }
  auto constraints = ParseOutcomeConstraints(payload->spec);
  if (!constraints.ok()) return Damaged(created, "{}", std::string(constraints.status().message()));
  Study header;
  header.id = id;
  header.spec = payload->spec;
  header.created = created.time;
  header.updated = created.time;
  header.last_event = created.seq;
  StudyFold fold(std::move(header), *payload, *std::move(constraints));
  fold.requests_.Note(created);
  return fold;
}

absl::Status StudyFold::Apply(const Event& event) {
  if (event.seq.value() != header_.last_event.value() + 1) {
    return Damaged(event, "must be event {}", header_.last_event.value() + 1);
  }
  if (event.time < header_.updated) {
    return Damaged(event,
                   "its time {} is before that of the event before it, {}",
                   absl::FormatTime(event.time, absl::UTCTimeZone()),
                   absl::FormatTime(header_.updated, absl::UTCTimeZone()));
  }
  VERNIER_RETURN_IF_ERROR(
      std::visit([&](const auto& payload) { return On(event, payload); }, event.payload));
  requests_.Note(event);
  // After the handler, which sees the study as it was before the event.
  header_.last_event = event.seq;
  header_.updated = event.time;
  return absl::OkStatus();
}

const TrialEntry* StudyFold::Find(TrialNumber trial) const {
  return Has(trial) ? rows_[IndexOf(trial)].get() : nullptr;
}

std::set<TrialNumber> StudyFold::AtWork() const {
  std::set<TrialNumber> trials = unfinished_;
  trials.insert(running_.begin(), running_.end());
  return trials;
}

absl::Status StudyFold::NeedTrial(TrialNumber trial) const {
  if (!Has(trial) || Find(trial) != nullptr) return absl::OkStatus();
  missing_.trials.insert(trial);
  return Unavailable("trial {} is not in memory", trial.value());
}

absl::Status StudyFold::NeedRequest(std::string_view request_id) const {
  if (requests_.IsKnown(request_id)) return absl::OkStatus();
  missing_.requests.emplace(request_id);
  return Unavailable("what request '{}' did is not in memory", request_id);
}

absl::Status StudyFold::NeedLog() const {
  if (shed_ == EventSeq()) return absl::OkStatus();
  missing_.log = true;
  return Unavailable("not all trials are in memory");
}

const std::string* StudyFold::VersionInUse(std::string_view name) const {
  const auto at = versions_.find(name);
  return at == versions_.end() ? nullptr : &at->second;
}

std::optional<TrialNumber> StudyFold::FindPoint(const Point& point) const {
  if (!finite_) return std::nullopt;
  const auto at = points_.find(header_.spec.space.Key(point));
  if (at == points_.end()) return std::nullopt;
  return *at->second.begin();
}

absl::Duration StudyFold::ActiveTime(absl::Time now) const {
  return paused_since_.value_or(now) - header_.created - paused_;
}

bool StudyFold::TimeSpent(absl::Time now) const {
  const std::optional<absl::Duration>& bound = header_.spec.budget.time;
  return bound.has_value() && ActiveTime(now) >= *bound;
}

absl::Duration StudyFold::HeldGpuTime(absl::Time now) const {
  absl::Duration held = header_.used.gpu_time;
  for (const TrialNumber number : unfinished_) {
    const std::vector<Attempt>& attempts = Find(number)->trial.attempts;
    if (!attempts.empty() && !attempts.back().ended) held += GpuTime(attempts.back(), now);
  }
  return held;
}

bool StudyFold::GpuTimeSpent(absl::Time now) const {
  const std::optional<double>& bound = header_.spec.budget.gpu_hours;
  return bound.has_value() && HeldGpuTime(now) >= absl::Hours(*bound);
}

bool StudyFold::FailuresSpent() const {
  const std::optional<std::int64_t>& bound = header_.spec.budget.failed_trials;
  return bound.has_value() && counted_failures_ >= *bound;
}

bool StudyFold::FailedAlike() const {
  return !header_.spec.budget.failed_trials.has_value() && FirstFailedAlike();
}

bool StudyFold::FirstFailedAlike() const {
  if (!header_.spec.job.has_value() || counted_completions_ > 0) return false;
  if (first_ended_.size() < kTellingTrials) return false;
  const Trial& first = Find(first_ended_.front())->trial;
  const std::string end = EndOf(first.message, first.point);
  return std::ranges::all_of(first_ended_, [&](TrialNumber number) {
    const Trial& trial = Find(number)->trial;
    // Divergence is no sign of a broken job: the algorithm has to learn which points cause it.
    return trial.state == TrialState::kFailed && trial.failure == first.failure &&
           trial.failure != FailureClass::kDiverged && EndOf(trial.message, trial.point) == end;
  });
}

absl::StatusOr<TrialEntry*> StudyFold::Row(const Event& event, TrialNumber trial) {
  if (!Has(trial)) return Damaged(event, "there is no trial {}", trial.value());
  TrialEntry* const row = rows_[IndexOf(trial)].get();
  if (row == nullptr) return NeedTrial(trial);
  row->last_event = event.seq;
  return row;
}

absl::Status StudyFold::On(const Event& event, const StudyCreated&) {
  return Damaged(event, "the study was created before");
}

absl::Status StudyFold::On(const Event& event, const StudyStateChanged& change) {
  if (change.from != header_.state || !IsLegal(change.from, change.to)) {
    return Damaged(event,
                   "the study is {}: it cannot go from {} to {}",
                   StudyStateName(header_.state),
                   StudyStateName(change.from),
                   StudyStateName(change.to));
  }
  // The time budget does not count pauses, nor the time between an end and an extension.
  if (paused_since_.has_value()) {
    paused_ += event.time - *paused_since_;
    paused_since_.reset();
  }
  if (change.to == StudyState::kPaused || IsFinished(change.to)) paused_since_ = event.time;
  // Extended: the trials to come show what is left to gain.
  if (IsFinished(change.from)) {
    idle_trials_ = 0;
    header_.converged.reset();
  }
  if (change.to == StudyState::kStopping) {
    const StudyState wanted = change.ending.value_or(StudyState::kCancelled);
    // Decided when the stop begins: how trials end from here on is due to the stop.
    ending_ = HasFailed()             ? StudyState::kFailed
              : TimeSpent(event.time) ? StudyState::kCompleted
                                      : wanted;
  }
  header_.state = change.to;
  header_.reason = change.reason;
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const StudyAmended& change) {
  const StudySpec before = header_.spec;
  if (change.definition.has_value()) {
    if (!IsAmendment(before, *change.definition)) {
      return Damaged(event, "changes a part of the definition that cannot change");
    }
    header_.spec = *change.definition;
  }
  header_.spec.budget = change.budget;
  header_.spec.parallel = change.parallel;
  if (change.labels.has_value()) header_.spec.labels = *change.labels;
  // Kept from the first amendment of single parts on; until then the definition is as it was given.
  if (!change.whole && given_ == nullptr) given_ = std::make_unique<StudySpec>(before);
  if (change.whole && given_ != nullptr) NoteWhole(before, header_.spec, *given_);
  if (change.fixed) VERNIER_RETURN_IF_ERROR(Redefine(event, before));
  if (before.convergence != header_.spec.convergence) {
    VERNIER_RETURN_IF_ERROR(NeedLog());
    JudgeConvergenceAnew();
  }
  if (change.fixed || before != header_.spec) ++header_.spec_version;
  return absl::OkStatus();
}

absl::Status StudyFold::Redefine(const Event& event, const StudySpec& before) {
  // Attempts go on with the job that they were started with, so the old definition stays.
  definitions_.try_emplace(defined_by_, std::make_shared<const StudySpec>(before));
  definitions_.emplace(event.seq, std::make_shared<const StudySpec>(header_.spec));
  defined_by_ = event.seq;
  counted_failures_ = 0;
  counted_completions_ = 0;
  first_ended_.clear();
  if (header_.completed > 0) return absl::OkStatus();
  // Nothing ever worked: failures of that job say nothing of the points.
  VERNIER_RETURN_IF_ERROR(NeedLog());
  absl::flat_hash_set<TrialNumber> forgotten;
  for (const std::unique_ptr<TrialEntry>& row : rows_) {
    const bool has_failed = !row->trial.deleted && row->trial.state == TrialState::kFailed;
    if (!has_failed || row->is_forgotten) continue;
    row->is_forgotten = true;
    forgotten.insert(row->trial.number);
  }
  for (const TrialNumber trial : forgotten) ForgetPoint(Find(trial)->trial);
  return forgotten.empty() ? absl::OkStatus() : ForgetObservations(event, forgotten);
}

std::shared_ptr<const StudySpec> StudyFold::DefinedBy(EventSeq defined_by) const {
  const auto at = definitions_.find(defined_by);
  return at == definitions_.end() ? nullptr : at->second;
}

absl::Status StudyFold::On(const Event&, const AlgorithmChanged& change) {
  versions_[change.name] = change.to_version;
  return absl::OkStatus();
}

absl::Status StudyFold::On(const Event& event, const MetadataChanged& change) {
  Merge(change.values.study, header_.metadata);
  for (const auto& [trial, values] : change.values.trials) {
    // A row that is left to the store has this change already. A caller that adds such an event has fetched it before.
    if (Has(trial) && Find(trial) == nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(TrialEntry * row, Row(event, trial));
    Merge(values, row->trial.metadata);
  }
  return absl::OkStatus();
}

}  // namespace vernier::study
