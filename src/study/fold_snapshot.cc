// Snapshots of a StudyFold (docs/adr/0034): the third part of that class. snapshot_head.h and
// snapshot_part.h have their formats.
//
// To a snapshot: TakeSnapshot writes a new head each time, and parts for what no part has yet. Shed
// lets rows leave memory once the snapshot that has them is durable. From a snapshot: Restore reads
// head and parts, then computes the rest from these (Derive).
//
// A field of StudyFold that cannot be computed from others must be in the head, or be added to
// Derive. DifferenceTo, which `server check` and tests use, finds one that was forgotten.

#include <algorithm>
#include <span>
#include <utility>

#include "src/codec/json_text.h"
#include "src/core/point_check.h"
#include "src/core/status.h"
#include "src/core/trial_log_cells.h"
#include "src/study/same_bits.h"
#include "src/study/snapshot_head.h"
#include "src/study/snapshot_part.h"
#include "src/study/study_state.h"

namespace vernier::study {
namespace {

// Number of trials at work beyond which no snapshot is taken: to encode a row takes some 15 µs,
// under the study's lock.
constexpr std::size_t kMostAtWork = 2000;

}  // namespace

struct StudyFold::Snapshots {
  static SnapshotHead HeadOf(const StudyFold& fold);
  // The next part: observations and curves that no part has yet, up to the size of a part.
  static std::string NextPart(StudyFold& fold);
  static bool HasAllParts(const StudyFold& fold) {
    return fold.unstored_.empty() && fold.stored_.observations == fold.finished_.size();
  }

  static absl::Status Take(SnapshotHead head, StudyFold& fold);
  static absl::Status TakePart(const std::string& part, StudyFold& fold);
  // Computes the fields that follow from rows and observations.
  static void Derive(StudyFold& fold);
  static bool IsKept(const StudyFold& fold, TrialNumber trial) {
    return fold.IsAtWork(trial) || std::ranges::count(fold.first_ended_, trial) > 0;
  }
};

// --- to a snapshot ---

SnapshotHead StudyFold::Snapshots::HeadOf(const StudyFold& fold) {
  SnapshotHead head{.study = fold.header_};
  // A definition is large and seldom changes. As long as it is the one of the first event, the head
  // does not repeat it.
  head.study.spec = {};
  if (fold.header_.spec_version > 1) head.spec = fold.header_.spec;
  if (fold.given_ != nullptr) head.given = *fold.given_;
  for (const auto& [event, spec] : fold.definitions_) head.definitions.push_back({event, *spec});
  head.defined_by = fold.defined_by_;
  head.parts = static_cast<std::int64_t>(fold.stored_.parts);
  head.observations = static_cast<std::int64_t>(fold.finished_.size());
  for (const auto& [trial, values] : fold.optimal_.entries())
    head.ranked.push_back({trial, values});
  std::set<TrialNumber> kept = fold.AtWork();
  // Their messages are compared with each new failure (FirstFailedAlike).
  kept.insert(fold.first_ended_.begin(), fold.first_ended_.end());
  for (const TrialNumber trial : kept) {
    const StoredTrialEntry& row = *fold.Find(trial);
    head.rows.push_back(row);
  }
  head.first_ended = fold.first_ended_;
  head.optimizer_state = fold.optimizer_state_;
  head.optimizer_state_from = fold.optimizer_state_from_;
  head.versions.insert(fold.versions_.begin(), fold.versions_.end());
  head.idle_trials = fold.idle_trials_;
  head.paused = fold.paused_;
  head.paused_since = fold.paused_since_;
  head.ending = fold.ending_;
  head.counted_failures = fold.counted_failures_;
  head.counted_completions = fold.counted_completions_;
  return head;
}

std::string StudyFold::Snapshots::NextPart(StudyFold& fold) {
  PartWriter part;
  const TrialLog::View log = fold.finished_.Snapshot();
  // Observations before curves, in the order of the log: Restore appends them in the order of the
  // parts.
  std::size_t& observations = fold.stored_.observations;
  for (; observations < log.size() && !part.IsFull(); ++observations) {
    part.AddObservation(log, observations);
  }
  std::size_t curves = 0;
  for (; curves < fold.unstored_.size() && !part.IsFull(); ++curves) {
    part.AddCurve(fold.curves_.Get(fold.unstored_[curves]));
  }
  fold.unstored_.erase(fold.unstored_.begin(),
                       fold.unstored_.begin() + static_cast<std::ptrdiff_t>(curves));
  ++fold.stored_.parts;
  return std::move(part).Finish();
}

std::optional<SnapshotChange> StudyFold::TakeSnapshot(std::int64_t interval) {
  const std::size_t at_work = std::max(unfinished_.size(), running_.size());
  if (at_work > kMostAtWork) return std::nullopt;
  // The rows of trials at work are written anew each time, which has to pay.
  const std::int64_t needed = std::max(interval, 2 * static_cast<std::int64_t>(at_work));
  if (header_.last_event.value() - stored_.as_of.value() < needed) return std::nullopt;
  SnapshotChange change{.first_part = stored_.parts};
  // A study without a snapshot, such as one of an older store, may have much to store. It stores
  // one part with each change, and the head once all parts are there.
  const bool is_one_part = stored_.as_of == EventSeq();
  while (!Snapshots::HasAllParts(*this)) {
    change.parts.push_back(Snapshots::NextPart(*this));
    if (is_one_part) break;
  }
  // Without a head the parts are not used yet.
  if (!Snapshots::HasAllParts(*this)) return change;
  change.head = codec::ToText(ToJson(Snapshots::HeadOf(*this)));
  // If the commit is refused, the whole fold is discarded, and these counters with it.
  stored_.as_of = header_.last_event;
  return change;
}

// Parts only grow, so that an observation cannot be taken out of one. Everything is stored anew.
void StudyFold::DropSnapshot() {
  stored_ = {};
  unstored_.clear();
  for (const TrialEntry* const row : AllRows()) {
    if (IsFinished(row->trial.state)) unstored_.push_back(row->trial.number);
  }
}

void StudyFold::Shed(EventSeq durable) {
  // Not before the snapshot is durable: rows that are left to the store must be there.
  if (stored_.as_of <= shed_ || stored_.as_of > durable) return;
  shed_ = stored_.as_of;
  requests_.Forget(shed_);
  std::vector<TrialNumber> staying;
  for (const TrialNumber trial : std::exchange(ended_rows_, {})) {
    std::unique_ptr<TrialEntry>& row = rows_[IndexOf(trial)];
    if (row == nullptr) continue;
    // A row with events after the snapshot stays: a commit with it may be refused, and a recalled
    // row would be that of an earlier moment.
    if (row->last_event > shed_ || Snapshots::IsKept(*this, trial)) {
      staying.push_back(trial);
    } else {
      row.reset();
      --rows_in_memory_;
    }
  }
  ended_rows_ = std::move(staying);
}

// The row was read without the lock, so that another caller may have recalled it first.
void StudyFold::Recall(Trial trial) {
  if (!Has(trial.number) || Find(trial.number) != nullptr) return;
  const TrialNumber number = trial.number;
  auto row = std::make_unique<TrialEntry>();
  // As when the trial was created (On of TrialCreated). The other fields of an entry matter only
  // for trials that have not ended.
  row->is_partial = trial.suggestion.algorithm.empty() && !IsWhole(header_.spec.space, trial.point);
  row->trial = std::move(trial);
  rows_[IndexOf(number)] = std::move(row);
  ++rows_in_memory_;
  ended_rows_.push_back(number);
}

std::vector<const TrialEntry*> StudyFold::AllRows() const {
  std::vector<const TrialEntry*> rows;
  rows.reserve(rows_.size());
  for (const auto& row : rows_) rows.push_back(row.get());
  return rows;
}

// --- from a snapshot ---

absl::Status StudyFold::Snapshots::Take(SnapshotHead head, StudyFold& fold) {
  Study& header = fold.header_;
  head.study.id = header.id;
  head.study.spec = head.spec.has_value() ? *std::move(head.spec) : std::move(header.spec);
  header = std::move(head.study);
  if (head.given.has_value()) fold.given_ = std::make_unique<StudySpec>(*std::move(head.given));
  for (auto& [event, spec] : head.definitions) {
    fold.definitions_.emplace(event, std::make_shared<const StudySpec>(std::move(spec)));
  }
  fold.defined_by_ = head.defined_by;
  std::map<TrialNumber, std::vector<double>> ranked;
  for (auto& [trial, values] : head.ranked) ranked.emplace(trial, std::move(values));
  fold.optimal_.Restore(std::move(ranked));
  // Each trial has a place, by its number; those whose rows stay in the store have no row there.
  for (std::int64_t i = 0; i < header.trials; ++i) {
    fold.curves_.AddTrial(fold.next_trial());
    fold.rows_.push_back(nullptr);
  }
  for (StoredTrialEntry& row : head.rows) {
    const TrialNumber trial = row.trial.number;
    if (!fold.Has(trial)) return DataLoss("the snapshot has a trial {}", trial.value());
    fold.rows_[fold.IndexOf(trial)] = std::make_unique<TrialEntry>(TrialEntry{std::move(row)});
  }
  fold.rows_in_memory_ = std::ssize(head.rows);
  fold.first_ended_ = std::move(head.first_ended);
  fold.optimizer_state_ = std::move(head.optimizer_state);
  fold.optimizer_state_from_ = head.optimizer_state_from;
  for (auto& [name, version] : head.versions) fold.versions_[name] = std::move(version);
  fold.idle_trials_ = head.idle_trials;
  fold.paused_ = head.paused;
  fold.paused_since_ = head.paused_since;
  fold.ending_ = head.ending;
  fold.counted_failures_ = head.counted_failures;
  fold.counted_completions_ = head.counted_completions;
  return absl::OkStatus();
}

absl::Status StudyFold::Snapshots::TakePart(const std::string& part, StudyFold& fold) {
  VERNIER_ASSIGN_OR_RETURN(PartReader reader, PartReader::Open(part));
  const StudySpec& spec = fold.header_.spec;
  PartReader::Cells observation;
  observation.cells.resize(spec.space.parameters().size());
  observation.values.resize(spec.objectives.size());
  observation.slacks.resize(fold.outcome_constraints_.size());
  for (std::uint64_t i = 0; i < reader.observations(); ++i) {
    VERNIER_RETURN_IF_ERROR(reader.Next(observation));
    const auto& [trial, outcome, cells, values, slacks, expected_end] = observation;
    if (!fold.Has(trial)) return DataLoss("the snapshot has a trial {}", trial.value());
    VERNIER_RETURN_IF_ERROR(
        TrialLogCells::Append(fold.finished_, trial, outcome, cells, values, slacks, expected_end));
  }
  for (std::uint64_t i = 0; i < reader.curves(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(Curve curve, reader.NextCurve());
    if (!fold.Has(curve.trial)) return DataLoss("the snapshot has a trial {}", curve.trial.value());
    fold.curves_.Restore(std::move(curve));
  }
  return reader.CheckAtEnd();
}

void StudyFold::Snapshots::Derive(StudyFold& fold) {
  for (const auto& row : fold.rows_) {
    if (row == nullptr) continue;
    const Trial& trial = row->trial;
    if (!IsFinished(trial.state)) fold.unfinished_.insert(trial.number);
    if (trial.state == TrialState::kPaused) fold.paused_trials_.insert(trial.number);
    if (trial.lease.has_value()) fold.leased_.insert(trial.number);
    if (!trial.attempts.empty() && !IsEnded(trial.attempts.back().state)) {
      fold.running_.insert(trial.number);
    }
    if (IsFinished(trial.state)) fold.ended_rows_.push_back(trial.number);
  }
  // Points are looked up in finite spaces only (FindPoint).
  if (!fold.finite_) return;
  const Space& space = fold.header_.spec.space;
  const TrialLog::View log = fold.finished_.Snapshot();
  for (std::size_t i = 0; i < log.size(); ++i) {
    fold.points_[space.Key(log.point(i))].insert(log.trial(i));
  }
  for (const TrialNumber trial : fold.unfinished_) {
    const TrialEntry& row = *fold.Find(trial);
    if (!row.is_partial) fold.points_[space.Key(row.trial.point)].insert(trial);
  }
}

absl::StatusOr<StudyFold> StudyFold::Restore(StudyId id,
                                             const Event& created,
                                             const StudySnapshot& snapshot,
                                             ReadReports read_reports) {
  // The first event has what never changes: the definition at creation and the earlier studies.
  VERNIER_ASSIGN_OR_RETURN(StudyFold fold, Start(id, created));
  VERNIER_ASSIGN_OR_RETURN(SnapshotHead head, ReadSnapshotHead(snapshot.head));
  const std::int64_t parts = head.parts;
  const std::int64_t observations = head.observations;
  // Head and parts are written in one transaction, so that a difference is damage.
  if (parts != std::ssize(snapshot.parts) || head.study.last_event != snapshot.as_of) {
    return DataLoss("the snapshot has {} parts of {}", snapshot.parts.size(), parts);
  }
  VERNIER_RETURN_IF_ERROR(Snapshots::Take(std::move(head), fold));
  for (const std::string& part : snapshot.parts) {
    VERNIER_RETURN_IF_ERROR(Snapshots::TakePart(part, fold));
  }
  if (observations != static_cast<std::int64_t>(fold.finished_.size()))
    return DataLoss("the snapshot has {} observations of {}", fold.finished_.size(), observations);
  Snapshots::Derive(fold);
  for (const TrialNumber trial : fold.unfinished_) {
    // What is derived from the measurements of running trials is not in the snapshot. Their events
    // are few beside the log, and are read again.
    if (fold.Find(trial)->trial.measurements == 0) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> reports, read_reports(trial));
    for (const Event& event : reports) {
      // Later ones are applied with all other events after the snapshot.
      if (event.seq > snapshot.as_of) break;
      const auto& report = std::get<MeasurementReported>(event.payload);
      fold.NoteMeasurement(event.seq, report.measurement, *fold.rows_[fold.IndexOf(trial)]);
    }
  }
  for (const TrialNumber trial : fold.paused_trials_) {
    fold.curves_.MarkFinished(
        trial, /*stopped_early=*/true, fold.KeepsConstraints(fold.Find(trial)->trial));
  }
  fold.stored_ = {.as_of = snapshot.as_of,
                  .parts = snapshot.parts.size(),
                  .observations = fold.finished_.size()};
  fold.shed_ = snapshot.as_of;
  fold.requests_.Forget(fold.shed_);
  return fold;
}

// --- comparison ---

namespace {

bool IsSame(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, [](double x, double y) { return SameBits(x, y); });
}

bool IsSame(const TrialLog::View& a, const TrialLog::View& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_same = a.trial(i) == b.trial(i) && a.outcome(i) == b.outcome(i) &&
                         std::ranges::equal(TrialLogCells::Of(a, i), TrialLogCells::Of(b, i)) &&
                         IsSame(a.values(i), b.values(i)) && IsSame(a.slacks(i), b.slacks(i)) &&
                         a.expected_end(i) == b.expected_end(i);
    if (!is_same) return false;
  }
  return true;
}

bool IsSame(const Curve& a, const Curve& b) {
  const auto is_same = [](const CurvePoint& x, const CurvePoint& y) {
    return x.step == y.step && SameBits(x.value, y.value);
  };
  return a.finished == b.finished && a.stopped_early == b.stopped_early &&
         a.keeps_constraints == b.keeps_constraints &&
         std::ranges::equal(a.points, b.points, is_same) && IsSame(a.coordinates, b.coordinates);
}

}  // namespace

std::string StudyFold::DifferenceTo(const StudyFold& other) const {
  SnapshotHead mine = Snapshots::HeadOf(*this);
  SnapshotHead others = Snapshots::HeadOf(other);
  // A fold of the log has no parts.
  mine.parts = others.parts;
  const codec::Json left = ToJson(mine);
  const codec::Json right = ToJson(others);
  for (const auto& [key, value] : left.items()) {
    if (!right.contains(key) || right[key] != value) return fmt::format("'{}'", key);
  }
  if (left.size() != right.size()) return "what is not set";
  if (header_ != other.header_) return "the study";
  if (!IsSame(finished_.Snapshot(), other.finished_.Snapshot())) return "what trials came to";
  for (TrialNumber trial(created_.trials_before + 1); trial < next_trial();
       trial = TrialNumber(trial.value() + 1)) {
    if (!IsSame(curves_.Get(trial), other.curves_.Get(trial))) {
      return fmt::format("the curve of trial {}", trial.value());
    }
  }
  if (points_ != other.points_) return "the points that were proposed";
  return leased_ == other.leased_ ? "" : "the trials that are leased";
}

}  // namespace vernier::study
