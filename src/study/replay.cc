#include "src/study/replay.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/study/problem.h"
#include "src/study/same_bits.h"
#include "src/study/study_state.h"
#include "src/study/verdicts.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/rng.h"

namespace vernier {

bool ReplayReport::diverged() const {
  return std::any_of(problems.begin(), problems.end(), [](const Line& line) {
    return line.result == Line::Result::kDiverged;
  });
}

namespace study {
namespace {

using Result = ReplayReport::Line::Result;

// Empty if they agree.
std::string Difference(const TrialCreated& recorded, const Suggestion& computed) {
  if (!SameBits(recorded.point, computed.point)) {
    return fmt::format(
        "recorded {}, computed {}", FormatPoint(recorded.point), FormatPoint(computed.point));
  }
  const SuggestionRecord& why = recorded.suggestion;
  if (!SameBits(why.acquisition, computed.acquisition) ||
      !SameBits(why.predicted_mean, computed.predicted_mean) ||
      !SameBits(why.predicted_deviation, computed.predicted_deviation)) {
    return "same point, but another acquisition or prediction";
  }
  // Older logs do not have what follows.
  if (!why.predicted_others.empty() && why.predicted_others != computed.predicted_others) {
    return "same point, but another prediction";
  }
  if (why.expected_improvement.has_value() &&
      !SameBits(why.expected_improvement, computed.expected_improvement)) {
    return "same point, but another expected improvement";
  }
  return "";
}

// Whether algorithms are told of a trial in this state as of one whose result is to come.
bool IsPending(TrialState state) { return !IsFinished(state) && state != TrialState::kPaused; }

// What made the record, an algorithm or a rule, is of another version or has other options now. Empty: neither.
template <typename Record, typename Maker>
std::string WhyUnlike(const Record& record, const Maker& now) {
  if (record.version != now.version()) {
    return fmt::format("made by version {}, this is {}", record.version, now.version());
  }
  if (record.options != now.options()) {
    return fmt::format("made with options {}, these are {}", record.options, now.options());
  }
  return "";
}

}  // namespace

class Replayer::Rep {
 public:
  Rep(StudyId id, AlgorithmCatalogue algorithms) : id_(id), algorithms_(std::move(algorithms)) {}

  absl::Status Add(const Event& event);
  absl::StatusOr<ReplayReport> Finish();

 private:
  // A batch whose events are being read, and what it started from.
  struct Batch {
    std::vector<std::pair<EventSeq, TrialCreated>> trials;
    std::string state;
    EventSeq state_from;
    std::vector<TrialNumber> pending;  // As the fold has it, at as_of.
    TrialLog::View finished;           // As it was then.
  };
  // A verdict that is due: the rule says stop, the log must say so next.
  struct Due {
    EventSeq measurement;
    TrialNumber trial;
    Verdict verdict;
  };

  absl::Status Start(const Event& event);
  void Note(EventSeq event, TrialNumber trial, Result result, std::string detail);
  void Count(std::size_t verified) { report_.verified += static_cast<std::int64_t>(verified); }

  bool Continues(const TrialCreated& created) const;
  void OpenBatch(const TrialCreated& created);
  std::vector<TrialNumber> PendingAt(EventSeq as_of) const;
  void CloseBatch();
  std::string WhyUnverifiable(const SuggestionRecord& record) const;
  std::string WhyInconsistent(const Batch& batch) const;
  absl::StatusOr<Suggestions> Recompute(const Batch& batch) const;
  void Compare(const Batch& batch, const Suggestions& computed);

  void CheckDue(const Event& event);
  std::optional<Due> JudgeNow(TrialNumber trial);
  void CheckStop(const Event& event, const StopDecided& decided);
  void CheckResumption(const Event& event, const ResumeDecided& decided);
  std::string WhyUnverifiable(const StopRecord& record) const;
  bool IsJudged(const MeasurementReported& report) const;
  void JudgeMeasurement(const Event& event, const MeasurementReported& report);

  const StudyId id_;
  const AlgorithmCatalogue algorithms_;
  std::optional<StudyFold> fold_;
  absl::StatusOr<std::unique_ptr<Optimizer>> optimizer_;
  absl::StatusOr<std::unique_ptr<EarlyStopper>> stopper_;
  std::vector<TrialLog::View> finished_at_;  // By event.
  // When trials ceased to be pending for the algorithm, or came to be so again, in the order of the log.
  struct Turn {
    EventSeq event;
    TrialNumber trial;
    bool is_pending = false;  // From then on.
  };
  std::vector<Turn> turns_;
  std::optional<Batch> batch_;
  std::optional<Due> due_;
  ReplayReport report_;
};

absl::Status Replayer::Rep::Start(const Event& event) {
  VERNIER_ASSIGN_OR_RETURN(fold_, StudyFold::Start(id_, event));
  const StudySpec& spec = fold_->header().spec;
  optimizer_ = algorithms_.NewOptimizer(spec.algorithm, ProblemOf(spec, fold_->earlier()));
  stopper_ = algorithms_.NewEarlyStopper(spec.stopping, FirstObjective(spec).goal);
  finished_at_.resize(2);  // Before the first event, and after it: none.
  return absl::OkStatus();
}

void Replayer::Rep::Note(EventSeq event, TrialNumber trial, Result result, std::string detail) {
  report_.problems.push_back(
      {.event = event, .trial = trial, .result = result, .detail = std::move(detail)});
}

absl::Status Replayer::Rep::Add(const Event& event) {
  if (!fold_.has_value()) return Start(event);
  // Batches and verdicts are compared with the fold as it was before the event, so they come ahead of Apply.
  CheckDue(event);
  const auto* created = std::get_if<TrialCreated>(&event.payload);
  const bool suggested = created != nullptr && !created->suggestion.algorithm.empty();
  if (batch_.has_value() && !(suggested && Continues(*created))) CloseBatch();
  if (suggested) {
    // Now, since the event may bring the next state of the optimiser.
    if (!batch_.has_value()) OpenBatch(*created);
    batch_->trials.emplace_back(event.seq, *created);
    ++report_.suggestions;
  }
  if (const auto* decided = std::get_if<StopDecided>(&event.payload)) CheckStop(event, *decided);
  if (const auto* decided = std::get_if<ResumeDecided>(&event.payload)) {
    CheckResumption(event, *decided);
  }
  const auto* measured = std::get_if<MeasurementReported>(&event.payload);
  // Whether it was judged depends on the state before the event, but the verdict includes the measurement.
  const bool judged = measured != nullptr && IsJudged(*measured);
  VERNIER_RETURN_IF_ERROR(fold_->Apply(event));
  if (const auto* amended = std::get_if<StudyAmended>(&event.payload);
      amended != nullptr && amended->definition.has_value()) {
    const StudySpec& spec = fold_->header().spec;  // What an optimiser works with never changes.
    stopper_ = algorithms_.NewEarlyStopper(spec.stopping, FirstObjective(spec).goal);
  }
  if (judged) JudgeMeasurement(event, *measured);
  if (const auto* moved = std::get_if<TrialStateChanged>(&event.payload)) {
    const bool was_pending = IsPending(moved->from);
    const bool is_pending = IsPending(moved->to);
    if (was_pending != is_pending) turns_.push_back({event.seq, moved->trial, is_pending});
  }
  finished_at_.push_back(fold_->finished().Snapshot());
  return absl::OkStatus();
}

absl::StatusOr<ReplayReport> Replayer::Rep::Finish() {
  if (!fold_.has_value()) return DataLoss("study {} has no events", id_.value());
  if (batch_.has_value()) CloseBatch();
  if (due_.has_value()) {
    Note(due_->measurement, due_->trial, Result::kDiverged, "must have stopped the trial");
  }
  return std::move(report_);
}

// --- suggestions ---

bool Replayer::Rep::Continues(const TrialCreated& created) const {
  const SuggestionRecord& first = batch_->trials.front().second.suggestion;
  return created.suggestion.batch_index > 0 && created.suggestion.stream == first.stream;
}

void Replayer::Rep::OpenBatch(const TrialCreated& created) {
  // A record that is wrong must not lead out of the list; WhyInconsistent reports it.
  const std::int64_t as_of = std::clamp(
      created.suggestion.as_of.value(), std::int64_t{0}, fold_->header().last_event.value());
  batch_ = Batch{.trials = {},
                 .state = fold_->optimizer_state(),
                 .state_from = fold_->optimizer_state_from(),
                 .pending = PendingAt(EventSeq(as_of)),
                 .finished = finished_at_[static_cast<std::size_t>(as_of)]};
}

// Those that are pending now, with what happened after `as_of` undone.
std::vector<TrialNumber> Replayer::Rep::PendingAt(EventSeq as_of) const {
  std::set<TrialNumber> pending = fold_->unfinished();
  for (const TrialNumber trial : fold_->paused()) pending.erase(trial);
  for (auto at = turns_.rbegin(); at != turns_.rend() && at->event > as_of; ++at) {
    if (at->is_pending) {
      pending.erase(at->trial);
    } else {
      pending.insert(at->trial);
    }
  }
  std::erase_if(pending, [&](TrialNumber trial) {
    const TrialEntry& row = *fold_->Find(trial);
    return row.created_by > as_of || row.is_partial;
  });
  return {pending.begin(), pending.end()};
}

std::string Replayer::Rep::WhyUnverifiable(const SuggestionRecord& record) const {
  if (!optimizer_.ok()) return std::string(optimizer_.status().message());
  const Optimizer& now = **optimizer_;
  if (record.algorithm != now.name()) {
    return fmt::format("made by algorithm '{}', the study has '{}'", record.algorithm, now.name());
  }
  if (std::string why = WhyUnlike(record, now); !why.empty()) return why;
  if (record.fingerprint != NumericsFingerprint()) {
    return fmt::format("computed by {}, this is {}", record.fingerprint, NumericsFingerprint());
  }
  return "";
}

// What the record says of its inputs must be what the log says.
std::string Replayer::Rep::WhyInconsistent(const Batch& batch) const {
  const auto& [seq, first] = batch.trials.front();
  const SuggestionRecord& record = first.suggestion;
  if (record.as_of >= seq || record.as_of.value() < 1) {
    return fmt::format("recorded as of event {}, which was not there", record.as_of.value());
  }
  if (record.stream != fold_->StreamOf(first.trial)) {
    return fmt::format("recorded random stream {}, that of trial {} is {}",
                       record.stream,
                       first.trial.value(),
                       fold_->StreamOf(first.trial));
  }
  if (record.state_from != batch.state_from) {
    return fmt::format("recorded the state of event {}, the log has that of event {}",
                       record.state_from.value(),
                       batch.state_from.value());
  }
  if (record.pending != batch.pending) {
    return fmt::format("recorded {} pending trials, the log has {} or others",
                       record.pending.size(),
                       batch.pending.size());
  }
  return "";
}

absl::StatusOr<Suggestions> Replayer::Rep::Recompute(const Batch& batch) const {
  const SuggestionRecord& record = batch.trials.front().second.suggestion;
  std::vector<PendingPoint> pending;
  for (const TrialNumber trial : batch.pending) {
    pending.push_back({.trial = trial, .point = fold_->Find(trial)->trial.point});
  }
  return (*optimizer_)
      ->Suggest(batch.finished,
                pending,
                batch.state,
                Rng(fold_->header().spec.seed).Fork(record.stream),
                static_cast<std::size_t>(std::max(1, record.batch_size)),
                std::stop_token());
}

void Replayer::Rep::CloseBatch() {
  const Batch batch = *std::exchange(batch_, std::nullopt);
  const auto all = [&](Result result, const std::string& detail) {
    for (const auto& [seq, created] : batch.trials) Note(seq, created.trial, result, detail);
  };
  if (const std::string why = WhyUnverifiable(batch.trials.front().second.suggestion);
      !why.empty()) {
    return all(Result::kUnverifiable, why);
  }
  if (const std::string why = WhyInconsistent(batch); !why.empty()) {
    return all(Result::kDiverged, why);
  }
  const absl::StatusOr<Suggestions> computed = Recompute(batch);
  if (!computed.ok()) {
    return all(Result::kDiverged, std::string(computed.status().message()));
  }
  Compare(batch, *computed);
}

void Replayer::Rep::Compare(const Batch& batch, const Suggestions& computed) {
  for (std::size_t i = 0; i < batch.trials.size(); ++i) {
    const auto& [seq, created] = batch.trials[i];
    const bool last = i + 1 == batch.trials.size();
    std::string difference = i < computed.points.size() ? Difference(created, computed.points[i])
                                                        : std::string("computed no such point");
    if (difference.empty() && last && computed.points.size() > batch.trials.size()) {
      difference = fmt::format(
          "recorded a batch of {}, computed {}", batch.trials.size(), computed.points.size());
    }
    if (difference.empty() && last && created.optimizer_state != computed.state) {
      difference = "same point, but another state of the optimiser";
    }
    if (difference.empty()) {
      Count(1);
    } else {
      Note(seq, created.trial, Result::kDiverged, std::move(difference));
    }
  }
}

// --- stop verdicts ---

bool Replayer::Rep::IsJudged(const MeasurementReported& report) const {
  if (!stopper_.ok() || *stopper_ == nullptr) return false;
  const TrialEntry* row = fold_->Find(report.trial);
  return row != nullptr && study::IsJudged(fold_->header().spec, row->trial, report.measurement);
}

// Only under the version that is known to have judged: another one may have let pass what this one would have stopped. Nor
// where the rule did not know the latest reports of other trials.
void Replayer::Rep::JudgeMeasurement(const Event& event, const MeasurementReported& report) {
  const EarlyStopper& rule = **stopper_;
  const std::string* version = fold_->VersionInUse(rule.name());
  if (version == nullptr || *version != rule.version()) return;
  if (report.judged_as_of != EventSeq()) return;
  Verdict verdict = fold_->curves().Judge(rule, report.trial);
  if (!verdict.stop) return;
  due_ = Due{.measurement = event.seq, .trial = report.trial, .verdict = std::move(verdict)};
}

void Replayer::Rep::CheckDue(const Event& event) {
  if (!due_.has_value()) return;
  const auto* decided = std::get_if<StopDecided>(&event.payload);
  if (decided != nullptr && decided->trial == due_->trial &&
      decided->stop.as_of == due_->measurement) {
    return;  // CheckStop compares.
  }
  Note(due_->measurement,
       due_->trial,
       Result::kDiverged,
       fmt::format("must have stopped the trial: {}", due_->verdict.explanation));
  due_.reset();
}

std::optional<Replayer::Rep::Due> Replayer::Rep::JudgeNow(TrialNumber trial) {
  if (fold_->Find(trial) == nullptr) return std::nullopt;
  Verdict verdict = fold_->curves().Judge(**stopper_, trial);
  if (!verdict.stop) return std::nullopt;
  return Due{
      .measurement = fold_->header().last_event, .trial = trial, .verdict = std::move(verdict)};
}

void Replayer::Rep::CheckStop(const Event& event, const StopDecided& decided) {
  // Without a version it is no rule's verdict: a user or the end of the study stopped the trial (AddStop).
  if (decided.stop.version.empty()) return;
  ++report_.stops;
  std::optional<Due> due = std::exchange(due_, std::nullopt);
  const StopRecord& stop = decided.stop;
  if (std::string why = WhyUnverifiable(stop); !why.empty()) {
    return Note(event.seq, decided.trial, Result::kUnverifiable, std::move(why));
  }
  // Here a verdict that lets the trial go on leaves no event, so only stops can be computed again.
  if (fold_->header().spec.judged_when_asked) due = JudgeNow(decided.trial);
  if (!due.has_value()) {
    return Note(event.seq, decided.trial, Result::kDiverged, "the rule lets the trial go on");
  }
  if (!SameBits(due->verdict.numbers, stop.numbers)) {
    return Note(
        event.seq,
        decided.trial,
        Result::kDiverged,
        fmt::format("recorded: {}; computed: {}", stop.explanation, due->verdict.explanation));
  }
  Count(1);
}

std::string Replayer::Rep::WhyUnverifiable(const StopRecord& record) const {
  if (!stopper_.ok()) return std::string(stopper_.status().message());
  if (*stopper_ == nullptr) {
    return fmt::format("made by rule '{}', the study has none", record.rule);
  }
  const EarlyStopper& now = **stopper_;
  if (record.rule != now.name()) {
    return fmt::format("made by rule '{}', the study has '{}'", record.rule, now.name());
  }
  return WhyUnlike(record, now);
}

// The verdict on the one trial: which of several that may go on came first is not computed again.
void Replayer::Rep::CheckResumption(const Event& event, const ResumeDecided& decided) {
  if (decided.verdict.version.empty()) return;  // No rule judged (AddResumption).
  ++report_.stops;
  if (std::string why = WhyUnverifiable(decided.verdict); !why.empty()) {
    return Note(event.seq, decided.trial, Result::kUnverifiable, std::move(why));
  }
  if (!fold_->paused().contains(decided.trial)) return;  // Apply refuses it.
  const Verdict verdict = fold_->curves().Judge(**stopper_, decided.trial);
  if (verdict.stop || !SameBits(verdict.numbers, decided.verdict.numbers)) {
    return Note(
        event.seq,
        decided.trial,
        Result::kDiverged,
        fmt::format(
            "recorded: {}; computed: {}", decided.verdict.explanation, verdict.explanation));
  }
  Count(1);
}

Replayer::Replayer(StudyId id, AlgorithmCatalogue algorithms)
    : rep_(std::make_unique<Rep>(id, std::move(algorithms))) {}
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;
Replayer::~Replayer() = default;

absl::Status Replayer::Add(const Event& event) { return rep_->Add(event); }
absl::StatusOr<ReplayReport> Replayer::Finish() && { return rep_->Finish(); }

}  // namespace study
}  // namespace vernier
