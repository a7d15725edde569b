// Snapshots of a StudyFold: its third part.
//
// A snapshot has a head and parts (StudySnapshot). The head is JSON: the counters of the study, the rows of trials at work, and
// whatever else changes. The parts hold what only grows: the observations in the order of their log, and the learning curves of
// trials that have ended. A part is a sequence of 64-bit words, little-endian:
//   checksum (2), number of observations, number of curves;
//   for each observation: trial, outcome, a cell for each parameter, a number for each objective and outcome constraint;
//   for each curve: trial, 1 if it is finished else 0, number of points, and for each of them step and value.
// Numbers are the bits of doubles.

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "src/codec/form.h"
#include "src/codec/json_text.h"
#include "src/codec/metadata_form.h"
#include "src/codec/trial_form.h"
#include "src/core/point_check.h"
#include "src/core/status.h"
#include "src/study/fingerprint.h"
#include "src/study/study_state.h"

namespace vernier::study {
namespace {

// Of what this writes. Another one is not read: the log is.
constexpr std::int64_t kFormat = 1;
// A part ends with the trial that makes it this long: 1 MiB. Long enough that a million trials have a few hundred parts, short
// enough to be made between two changes of a study that has none yet.
constexpr std::size_t kPartWords = 131'072;
constexpr std::size_t kPartHeader = 4;
// With more trials at work, no snapshot is taken: to encode a row takes some 15 µs, under the study's lock.
constexpr std::size_t kMostAtWork = 2000;

static_assert(std::endian::native == std::endian::little, "parts are written as words in memory");

struct Definition {
  EventSeq event;
  StudySpec spec;
};

struct RankedTrial {
  TrialNumber trial;
  std::vector<double> values;
};

struct Head {
  std::int64_t format = 0;
  Study study;                    // But for its id.
  std::optional<StudySpec> spec;  // Unset: as created.
  std::optional<StudySpec> given;
  std::vector<Definition> definitions;
  EventSeq defined_by;
  std::int64_t parts = 0;
  std::int64_t observations = 0;
  std::vector<RankedTrial> ranked;
  std::vector<StoredTrialRow> rows;
  std::vector<TrialNumber> first_ended;
  std::string optimizer_state;
  EventSeq optimizer_state_from;
  std::map<std::string, std::string> versions;
  std::int64_t idle_trials = 0;
  absl::Duration paused;
  std::optional<absl::Time> paused_since;
  StudyState ending = StudyState::kCancelled;
  std::int64_t counted_failures = 0;
  std::int64_t counted_completions = 0;
};

void Describe(auto& visit, codec::Is<Definition> auto& definition) {
  visit("event", definition.event);
  visit("spec", definition.spec);
}

void Describe(auto& visit, codec::Is<RankedTrial> auto& ranked) {
  visit("trial", ranked.trial);
  visit("values", ranked.values);
}

void Describe(auto& visit, codec::Is<Head> auto& head) {
  visit("format", head.format);
  visit("state", head.study.state);
  visit("reason", head.study.reason);
  visit("created", head.study.created);
  visit("updated", head.study.updated);
  visit("last_event", head.study.last_event);
  visit("spec_version", head.study.spec_version);
  visit("trials", head.study.trials);
  visit("completed", head.study.completed);
  visit("failed", head.study.failed);
  visit("open", head.study.open);
  visit("best", head.study.best);
  visit("optimal", head.study.optimal);
  visit("cpu_time_ns", head.study.used.cpu_time);
  visit("gpu_time_ns", head.study.used.gpu_time);
  visit("peak_memory_bytes", head.study.used.peak_memory_bytes);
  visit("converged", head.study.converged);
  visit("metadata", head.study.metadata);
  visit("spec", head.spec);
  visit("given", head.given);
  visit("definitions", head.definitions);
  visit("defined_by", head.defined_by);
  visit("parts", head.parts);
  visit("observations", head.observations);
  visit("ranked", head.ranked);
  visit("rows", head.rows);
  visit("first_ended", head.first_ended);
  visit("optimizer_state", head.optimizer_state);
  visit("optimizer_state_from", head.optimizer_state_from);
  visit("versions", head.versions);
  visit("idle_trials", head.idle_trials);
  visit("paused_ns", head.paused);
  visit("paused_since", head.paused_since);
  visit("ending", head.ending);
  visit("counted_failures", head.counted_failures);
  visit("counted_completions", head.counted_completions);
}

// --- parts ---

using Words = std::vector<std::uint64_t>;

std::uint64_t WordOf(std::int64_t number) { return static_cast<std::uint64_t>(number); }
std::uint64_t WordOf(double number) { return std::bit_cast<std::uint64_t>(number); }

// Of all behind the checksum itself.
Fingerprint ChecksumOf(std::span<const std::uint64_t> words) {
  Fingerprinter fingerprinter;
  for (const std::uint64_t word : words.subspan(2)) fingerprinter.Add(word);
  return fingerprinter.Get();
}

void AddObservation(const TrialLog::View& log, std::size_t i, Words& words) {
  words.push_back(WordOf(log.trial(i).value()));
  words.push_back(WordOf(static_cast<std::int64_t>(log.outcome(i))));
  for (const std::int64_t cell : log.cells(i)) words.push_back(WordOf(cell));
  for (const double value : log.values(i)) words.push_back(WordOf(value));
  for (const double slack : log.slacks(i)) words.push_back(WordOf(slack));
}

void AddCurve(const Curve& curve, Words& words) {
  words.push_back(WordOf(curve.trial.value()));
  words.push_back(curve.finished ? 1 : 0);
  words.push_back(curve.points.size());
  for (const CurvePoint& point : curve.points) {
    words.push_back(WordOf(point.step));
    words.push_back(WordOf(point.value));
  }
}

std::string BytesOf(Words& words) {
  const Fingerprint checksum = ChecksumOf(words);
  words[0] = checksum[0];
  words[1] = checksum[1];
  std::string bytes(words.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// The words of a part, from its front.  DataLoss: they are not what was written.
class PartReader {
 public:
  static absl::StatusOr<PartReader> Open(const std::string& part) {
    Words words(part.size() / sizeof(std::uint64_t));
    if (words.size() < kPartHeader || words.size() * sizeof(std::uint64_t) != part.size()) {
      return DataLoss("a part of the snapshot has {} bytes", part.size());
    }
    std::memcpy(words.data(), part.data(), part.size());
    if (ChecksumOf(words) != Fingerprint{words[0], words[1]}) {
      return DataLoss("a part of the snapshot does not have its checksum");
    }
    return PartReader(std::move(words));
  }

  // `count` words; none, from here on, if there are fewer.
  std::span<const std::uint64_t> Take(std::uint64_t count) {
    const std::size_t rest = words_.size() - at_;
    is_short_ = is_short_ || count > rest;
    const std::size_t taken = is_short_ ? 0 : static_cast<std::size_t>(count);
    at_ += taken;
    return std::span(words_).subspan(at_ - taken, taken);
  }
  std::uint64_t Next() {
    const auto word = Take(1);
    return word.empty() ? 0 : word[0];
  }
  std::int64_t NextNumber() { return static_cast<std::int64_t>(Next()); }
  bool is_short() const { return is_short_; }
  bool is_at_end() const { return at_ == words_.size(); }

 private:
  explicit PartReader(Words words) : words_(std::move(words)) {}
  Words words_;
  std::size_t at_ = 2;
  bool is_short_ = false;
};

absl::Status TooShort() { return DataLoss("a part of the snapshot ends too early"); }

std::vector<double> NumbersOf(std::span<const std::uint64_t> words) {
  std::vector<double> numbers;
  numbers.reserve(words.size());
  for (const std::uint64_t word : words) numbers.push_back(std::bit_cast<double>(word));
  return numbers;
}

}  // namespace
}  // namespace vernier::study

namespace vernier::codec {

void Describe(auto& visit, Is<study::StoredTrialRow> auto& row) {
  visit("trial", row.trial);
  visit("created_by", row.created_by);
  visit("last_event", row.last_event);
  visit.IfSet("waiting", row.waiting);
  visit("last_lease", row.last_lease);
  visit.IfSet("defined_by", row.defined_by);
  visit("program_ended", row.program_ended);
  visit.IfSet("is_partial", row.is_partial);
  visit.IfSet("is_forgotten", row.is_forgotten);
}

template <>
struct Form<study::StoredTrialRow> : DescribedForm<study::StoredTrialRow> {};
template <>
struct Form<study::Definition> : DescribedForm<study::Definition> {};
template <>
struct Form<study::RankedTrial> : DescribedForm<study::RankedTrial> {};
template <>
struct Form<study::Head> : DescribedForm<study::Head> {};

}  // namespace vernier::codec

namespace vernier::study {

struct StudyFold::Snapshots {
  static Head HeadOf(const StudyFold& fold);
  // The next part, of what no part has yet, as far as one may hold it.
  static std::string NextPart(StudyFold& fold);
  static bool HasAllParts(const StudyFold& fold) {
    return fold.unstored_.empty() && fold.stored_.observations == fold.finished_.size();
  }

  static absl::Status Take(Head head, StudyFold& fold);
  static absl::Status TakePart(const std::string& part, StudyFold& fold);
  static absl::Status TakeObservations(PartReader& reader, std::uint64_t count, StudyFold& fold);
  static absl::Status TakeCurves(PartReader& reader, std::uint64_t count, StudyFold& fold);
  // What rows and log of observations say together.
  static void Derive(StudyFold& fold);
  static bool IsKept(const StudyFold& fold, TrialNumber trial) {
    return fold.IsAtWork(trial) || std::ranges::count(fold.first_ended_, trial) > 0;
  }
};

// --- to a snapshot ---

Head StudyFold::Snapshots::HeadOf(const StudyFold& fold) {
  Head head{.format = kFormat, .study = fold.header_};
  head.study.spec = {};
  if (fold.header_.spec_version > 1) head.spec = fold.header_.spec;
  if (fold.given_ != nullptr) head.given = *fold.given_;
  for (const auto& [event, spec] : fold.definitions_) head.definitions.push_back({event, *spec});
  head.defined_by = fold.defined_by_;
  head.parts = static_cast<std::int64_t>(fold.stored_.parts);
  head.observations = static_cast<std::int64_t>(fold.finished_.size());
  for (const auto& [trial, values] : fold.optimal_.entries())
    head.ranked.push_back({trial, values});
  std::set<TrialNumber> kept = fold.unfinished_;
  kept.insert(fold.running_.begin(), fold.running_.end());
  kept.insert(fold.first_ended_.begin(), fold.first_ended_.end());
  for (const TrialNumber trial : kept) {
    const StoredTrialRow& row = *fold.Find(trial);
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
  Words words(kPartHeader);
  const TrialLog::View log = fold.finished_.Snapshot();
  std::size_t& observations = fold.stored_.observations;
  for (; observations < log.size() && words.size() < kPartWords; ++observations) {
    AddObservation(log, observations, words);
    ++words[2];
  }
  std::size_t curves = 0;
  for (; curves < fold.unstored_.size() && words.size() < kPartWords; ++curves) {
    AddCurve(fold.curves_.Get(fold.unstored_[curves]), words);
  }
  words[3] = curves;
  fold.unstored_.erase(fold.unstored_.begin(),
                       fold.unstored_.begin() + static_cast<std::ptrdiff_t>(curves));
  ++fold.stored_.parts;
  return BytesOf(words);
}

std::optional<SnapshotChange> StudyFold::TakeSnapshot(std::int64_t interval) {
  const bool is_due = header_.last_event.value() - stored_.as_of.value() >= interval;
  if (!is_due || unfinished_.size() + running_.size() > kMostAtWork) return std::nullopt;
  SnapshotChange change{.first_part = stored_.parts};
  // A study that has no snapshot yet may have much to store: it is stored with one change after the other.
  const bool is_one_part = stored_.as_of == EventSeq();
  while (!Snapshots::HasAllParts(*this)) {
    change.parts.push_back(Snapshots::NextPart(*this));
    if (is_one_part) break;
  }
  if (!Snapshots::HasAllParts(*this)) return change;
  change.head = codec::ToText(codec::Form<Head>::Write(Snapshots::HeadOf(*this)));
  stored_.as_of = header_.last_event;
  return change;
}

void StudyFold::DropSnapshot() {
  stored_ = {};
  unstored_.clear();
  for (const TrialRow* const row : AllRows()) {
    if (IsFinished(row->trial.state)) unstored_.push_back(row->trial.number);
  }
}

void StudyFold::Shed(EventSeq durable) {
  if (stored_.as_of <= shed_ || stored_.as_of > durable) return;
  shed_ = stored_.as_of;
  requests_.Forget(shed_);
  std::vector<TrialNumber> staying;
  for (const TrialNumber trial : std::exchange(ended_rows_, {})) {
    std::unique_ptr<TrialRow>& row = rows_[IndexOf(trial)];
    if (row == nullptr) continue;
    if (row->last_event > shed_ || Snapshots::IsKept(*this, trial)) {
      staying.push_back(trial);
    } else {
      row.reset();
      --rows_in_memory_;
    }
  }
  ended_rows_ = std::move(staying);
}

void StudyFold::Recall(Trial trial) {
  if (!Has(trial.number) || Find(trial.number) != nullptr) return;
  const TrialNumber number = trial.number;
  auto row = std::make_unique<TrialRow>();
  row->is_partial = trial.suggestion.algorithm.empty() && !IsWhole(header_.spec.space, trial.point);
  row->trial = std::move(trial);
  rows_[IndexOf(number)] = std::move(row);
  ++rows_in_memory_;
  ended_rows_.push_back(number);
}

std::vector<const TrialRow*> StudyFold::AllRows() const {
  std::vector<const TrialRow*> rows;
  rows.reserve(rows_.size());
  for (const auto& row : rows_) rows.push_back(row.get());
  return rows;
}

// --- from a snapshot ---

absl::Status StudyFold::Snapshots::Take(Head head, StudyFold& fold) {
  if (head.format != kFormat) return DataLoss("the snapshot has format {}", head.format);
  Study& header = fold.header_;
  head.study.id = header.id;
  head.study.spec = head.spec.has_value() ? *std::move(head.spec) : std::move(header.spec);
  header = std::move(head.study);
  if (head.given.has_value()) fold.given_ = std::make_unique<StudySpec>(*std::move(head.given));
  for (Definition& definition : head.definitions) {
    fold.definitions_.emplace(definition.event,
                              std::make_shared<const StudySpec>(std::move(definition.spec)));
  }
  fold.defined_by_ = head.defined_by;
  std::map<TrialNumber, std::vector<double>> ranked;
  for (RankedTrial& each : head.ranked) ranked.emplace(each.trial, std::move(each.values));
  fold.optimal_.Restore(std::move(ranked));
  for (std::int64_t i = 0; i < header.trials; ++i) {
    fold.curves_.AddTrial(fold.next_trial());
    fold.rows_.push_back(nullptr);
  }
  for (StoredTrialRow& row : head.rows) {
    const TrialNumber trial = row.trial.number;
    if (!fold.Has(trial)) return DataLoss("the snapshot has a trial {}", trial.value());
    fold.rows_[fold.IndexOf(trial)] = std::make_unique<TrialRow>(TrialRow{std::move(row)});
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
  const std::uint64_t observations = reader.Next();
  const std::uint64_t curves = reader.Next();
  VERNIER_RETURN_IF_ERROR(TakeObservations(reader, observations, fold));
  VERNIER_RETURN_IF_ERROR(TakeCurves(reader, curves, fold));
  return reader.is_at_end() ? absl::OkStatus() : DataLoss("a part of the snapshot is too long");
}

absl::Status StudyFold::Snapshots::TakeObservations(PartReader& reader,
                                                    std::uint64_t count,
                                                    StudyFold& fold) {
  const StudySpec& spec = fold.header_.spec;
  std::vector<std::int64_t> cells(spec.space.parameters().size());
  for (std::uint64_t i = 0; i < count; ++i) {
    const TrialNumber trial(reader.NextNumber());
    const std::uint64_t outcome = reader.Next();
    const auto words = reader.Take(cells.size());
    std::ranges::transform(
        words, cells.begin(), [](std::uint64_t word) { return static_cast<std::int64_t>(word); });
    const std::vector<double> values = NumbersOf(reader.Take(spec.objectives.size()));
    const std::vector<double> slacks = NumbersOf(reader.Take(fold.outcome_constraints_.size()));
    if (reader.is_short() || !fold.Has(trial)) return TooShort();
    VERNIER_RETURN_IF_ERROR(
        fold.finished_.AppendCells(trial, static_cast<Outcome>(outcome), cells, values, slacks));
  }
  return absl::OkStatus();
}

absl::Status StudyFold::Snapshots::TakeCurves(PartReader& reader,
                                              std::uint64_t count,
                                              StudyFold& fold) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Curve curve{
        .trial = TrialNumber(reader.NextNumber()), .finished = reader.Next() != 0, .points = {}};
    const std::uint64_t points = reader.Next();
    const auto words = reader.Take(2 * points);
    if (reader.is_short() || !fold.Has(curve.trial)) return TooShort();
    curve.points.reserve(static_cast<std::size_t>(points));
    for (std::size_t at = 0; at < words.size(); at += 2) {
      curve.points.push_back({.step = static_cast<std::int64_t>(words[at]),
                              .value = std::bit_cast<double>(words[at + 1])});
    }
    fold.curves_.Restore(std::move(curve));
  }
  return absl::OkStatus();
}

void StudyFold::Snapshots::Derive(StudyFold& fold) {
  for (const auto& row : fold.rows_) {
    if (row == nullptr) continue;
    const Trial& trial = row->trial;
    if (!IsFinished(trial.state)) fold.unfinished_.insert(trial.number);
    if (trial.lease.has_value()) fold.leased_.insert(trial.number);
    if (!trial.attempts.empty() && !IsEnded(trial.attempts.back().state)) {
      fold.running_.insert(trial.number);
    }
    if (IsFinished(trial.state)) fold.ended_rows_.push_back(trial.number);
  }
  if (!fold.finite_) return;
  const Space& space = fold.header_.spec.space;
  const TrialLog::View log = fold.finished_.Snapshot();
  for (std::size_t i = 0; i < log.size(); ++i) {
    fold.points_[space.Key(log.point(i))].insert(log.trial(i));
  }
  for (const TrialNumber trial : fold.unfinished_) {
    const TrialRow& row = *fold.Find(trial);
    if (!row.is_partial) fold.points_[space.Key(row.trial.point)].insert(trial);
  }
}

absl::StatusOr<StudyFold> StudyFold::Restore(StudyId id,
                                             const Event& created,
                                             const StudySnapshot& snapshot,
                                             ReadReports read_reports) {
  VERNIER_ASSIGN_OR_RETURN(StudyFold fold, Start(id, created));
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(snapshot.head));
  Head head;
  const absl::Status is_read = codec::Form<Head>::Read(json, head);
  if (!is_read.ok()) return DataLoss("the snapshot{}", std::string(is_read.message()));
  const std::int64_t parts = head.parts;
  const std::int64_t observations = head.observations;
  if (parts != std::ssize(snapshot.parts) || head.study.last_event != snapshot.as_of) {
    return DataLoss("the snapshot has {} parts of {}", snapshot.parts.size(), parts);
  }
  VERNIER_RETURN_IF_ERROR(Snapshots::Take(std::move(head), fold));
  for (const std::string& part : snapshot.parts) {
    VERNIER_RETURN_IF_ERROR(Snapshots::TakePart(part, fold));
  }
  if (observations != static_cast<std::int64_t>(fold.finished_.size())) return TooShort();
  Snapshots::Derive(fold);
  for (const TrialNumber trial : fold.unfinished_) {
    if (fold.Find(trial)->trial.measurements == 0) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> reports, read_reports(trial));
    for (const Event& event : reports) {
      if (event.seq > snapshot.as_of) break;
      const auto& report = std::get<MeasurementReported>(event.payload);
      fold.NoteMeasurement(event.seq, report.measurement, *fold.rows_[fold.IndexOf(trial)]);
    }
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

// Bit for bit, so that NaN is like NaN.
bool IsSame(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(
      a, b, {}, [](double x) { return WordOf(x); }, [](double x) { return WordOf(x); });
}

bool IsSame(const TrialLog::View& a, const TrialLog::View& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool is_same = a.trial(i) == b.trial(i) && a.outcome(i) == b.outcome(i) &&
                         std::ranges::equal(a.cells(i), b.cells(i)) &&
                         IsSame(a.values(i), b.values(i)) && IsSame(a.slacks(i), b.slacks(i));
    if (!is_same) return false;
  }
  return true;
}

bool IsSame(const Curve& a, const Curve& b) {
  Words first;
  Words second;
  AddCurve(a, first);
  AddCurve(b, second);
  return first == second;
}

}  // namespace

std::string StudyFold::DifferenceTo(const StudyFold& other) const {
  Head mine = Snapshots::HeadOf(*this);
  Head others = Snapshots::HeadOf(other);
  mine.parts = others.parts;
  const codec::Json left = codec::Form<Head>::Write(mine);
  const codec::Json right = codec::Form<Head>::Write(others);
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
