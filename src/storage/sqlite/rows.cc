#include "src/storage/sqlite/rows.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "fmt/format.h"
#include "src/codec/event_json.h"
#include "src/codec/json_text.h"
#include "src/codec/measurement_text.h"
#include "src/codec/metadata_form.h"
#include "src/codec/study_file.h"
#include "src/codec/trial_text.h"
#include "src/core/counted_metrics.h"
#include "src/core/status.h"
#include "src/core/utf8.h"
#include "src/storage/commit_rules.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {
namespace {

constexpr std::string_view kMeasurementReported = "measurement_reported";

// With nine digits always, so that reading a text gives the same instant, and the text has the form
// that ReadTimeText reads fast.
std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E9SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseTimeText(std::string_view text) {
  if (const auto plain = codec::ReadTimeText(text)) return *plain;
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, std::string(text), &time, &error)) return time;
  return DataLoss("'{}' is not a time", text);
}

absl::StatusOr<StudyState> ParseStudyState(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(StudyState::kFailed); ++i) {
    if (StudyStateName(static_cast<StudyState>(i)) == name) return static_cast<StudyState>(i);
  }
  return DataLoss("'{}' is not a state of a study", name);
}

// A stored definition that is no longer legal is the store's fault, not its reader's.
absl::StatusOr<StudySpec> ParseSpec(std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(text));
  VERNIER_ASSIGN_OR_RETURN(
      const EventPayload payload,
      codec::PayloadFromJson("study_created", nlohmann::ordered_json::object({{"spec", json}})));
  return std::get<StudyCreated>(payload).spec;
}

std::string OptimalText(const std::vector<TrialNumber>& trials) {
  auto numbers = nlohmann::ordered_json::array();
  for (const TrialNumber trial : trials) numbers.push_back(trial.value());
  return codec::ToText(numbers);
}

absl::StatusOr<std::vector<TrialNumber>> ParseOptimal(std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(text));
  if (!json.is_array()) return DataLoss("'{}' is not a list of trials", text);
  std::vector<TrialNumber> trials;
  for (const auto& number : json) {
    if (!number.is_number_integer()) return DataLoss("'{}' is not a list of trials", text);
    trials.emplace_back(number.get<std::int64_t>());
  }
  return trials;
}

std::int64_t ToSqlLimit(std::size_t limit) {
  constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, kMax));
}

absl::StatusOr<Metadata> ParseMetadata(std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(text));
  Metadata metadata;
  const absl::Status status = codec::Form<Metadata>::Read(json, metadata);
  if (!status.ok()) return codec::Within("metadata", status);
  return metadata;
}

// The columns of a study that change with its events, one list for those who read them and those who write them.
void DescribeColumns(auto& visit, auto& study) {
  visit("state", study.state);
  visit("reason", study.reason);
  visit("updated_at", study.updated);
  visit("last_event", study.last_event);
  visit("trials", study.trials);
  visit("completed", study.completed);
  visit("failed", study.failed);
  visit("open", study.open);
  visit("best_trial", study.best);
  visit("optimal_trials", study.optimal);
  visit("converged_trial", study.converged);
  visit("cpu_time_ns", study.used.cpu_time);
  visit("gpu_time_ns", study.used.gpu_time);
  visit("peak_memory_bytes", study.used.peak_memory_bytes);
  visit("spec_version", study.spec_version);
}

// Their names, with something behind each, joined by commas: "state = ?, reason = ?".
std::string ColumnNames(std::string_view behind) {
  std::vector<std::string> names;
  const Study study;
  const auto visit = [&](std::string_view name, const auto&) {
    names.push_back(fmt::format("{}{}", name, behind));
  };
  DescribeColumns(visit, study);
  return fmt::format("{}", fmt::join(names, ", "));
}

// ", ?" for each of them.
std::string PlacesForColumns() {
  std::string places;
  const Study study;
  const auto visit = [&](std::string_view, const auto&) { places += ", ?"; };
  DescribeColumns(visit, study);
  return places;
}

class ColumnReader {
 public:
  ColumnReader(const Statement& row, int first) : row_(row), column_(first) {}
  void operator()(std::string_view /*name*/, auto& value) {
    status_.Update(Read(value));
    ++column_;
  }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status Read(std::int64_t& value) const {
    value = row_.Integer(column_);
    return absl::OkStatus();
  }
  absl::Status Read(std::string& value) const {
    value = row_.Text(column_);
    return absl::OkStatus();
  }
  absl::Status Read(EventSeq& value) const {
    value = EventSeq(row_.Integer(column_));
    return absl::OkStatus();
  }
  absl::Status Read(absl::Duration& value) const {
    value = absl::Nanoseconds(row_.Integer(column_));
    return absl::OkStatus();
  }
  absl::Status Read(std::optional<TrialNumber>& value) const {
    if (const auto number = row_.OptionalInteger(column_)) value = TrialNumber(*number);
    return absl::OkStatus();
  }
  absl::Status Read(absl::Time& value) const {
    VERNIER_ASSIGN_OR_RETURN(value, ParseTimeText(row_.Text(column_)));
    return absl::OkStatus();
  }
  absl::Status Read(StudyState& value) const {
    VERNIER_ASSIGN_OR_RETURN(value, ParseStudyState(row_.Text(column_)));
    return absl::OkStatus();
  }
  absl::Status Read(std::vector<TrialNumber>& value) const {
    VERNIER_ASSIGN_OR_RETURN(value, ParseOptimal(row_.Text(column_)));
    return absl::OkStatus();
  }

  const Statement& row_;
  int column_;
  absl::Status status_;
};

// Binds the columns to a statement. Must live as long as the statement runs.
class ColumnWriter {
 public:
  explicit ColumnWriter(Statement& statement) : statement_(statement) {}
  void operator()(std::string_view /*name*/, const auto& value) { statement_.Bind(Of(value)); }

 private:
  static std::int64_t Of(std::int64_t value) { return value; }
  static std::string_view Of(const std::string& value) { return value; }
  static std::string_view Of(StudyState value) { return StudyStateName(value); }
  static std::int64_t Of(EventSeq value) { return value.value(); }
  static std::int64_t Of(absl::Duration value) { return absl::ToInt64Nanoseconds(value); }
  static std::optional<std::int64_t> Of(const std::optional<TrialNumber>& value) {
    return value ? std::optional(value->value()) : std::nullopt;
  }
  std::string_view Of(absl::Time value) { return texts_.emplace_back(TimeText(value)); }
  std::string_view Of(const std::vector<TrialNumber>& value) {
    return texts_.emplace_back(OptimalText(value));
  }

  Statement& statement_;
  // A deque, since the statement refers to the texts while more are added.
  std::deque<std::string> texts_;
};

// Reads a row of SelectStudies.
absl::StatusOr<Study> ReadStudy(const Statement& row) {
  Study study;
  study.id = StudyId(row.Integer(0));
  VERNIER_ASSIGN_OR_RETURN(study.created, ParseTimeText(row.Text(1)));
  VERNIER_ASSIGN_OR_RETURN(study.spec, ParseSpec(row.Text(2)));
  VERNIER_ASSIGN_OR_RETURN(study.metadata, ParseMetadata(row.Text(3)));
  ColumnReader read(row, 4);
  DescribeColumns(read, study);
  VERNIER_RETURN_IF_ERROR(read.status());
  return study;
}

absl::StatusOr<Trial> ReadTrial(const Statement& row) { return ParseTrial(row.Text(0)); }

absl::StatusOr<Event> ReadEvent(const Statement& row) {
  Event event;
  event.seq = EventSeq(row.Integer(0));
  VERNIER_ASSIGN_OR_RETURN(event.time, ParseTimeText(row.Text(1)));
  event.actor = row.Text(2);
  event.request_id = row.Text(3);
  // SQLite does not check the encoding of a text, so a damaged page may pass as a sound one.
  if (ToValidUtf8(event.actor) != event.actor ||
      ToValidUtf8(event.request_id) != event.request_id) {
    return DataLoss("event {}: actor or request_id is not UTF-8", event.seq.value());
  }
  // Most events of a long study are measurements, so these are read without a JSON document.
  if (row.Text(4) == kMeasurementReported) {
    if (auto report = codec::ReadMeasurementText(row.Text(5))) {
      event.payload = *std::move(report);
      return event;
    }
  }
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(row.Text(5)));
  VERNIER_ASSIGN_OR_RETURN(event.payload, codec::PayloadFromJson(row.Text(4), json));
  return event;
}

absl::StatusOr<Measurement> ReadMeasurement(const Statement& row) {
  if (auto report = codec::ReadMeasurementText(row.Text(0))) return std::move(report->measurement);
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(row.Text(0)));
  VERNIER_ASSIGN_OR_RETURN(EventPayload payload,
                           codec::PayloadFromJson(kMeasurementReported, json));
  return std::get<MeasurementReported>(std::move(payload)).measurement;
}

template <typename T>
absl::StatusOr<std::vector<T>> ReadAll(Statement& select,
                                       absl::StatusOr<T> (*read)(const Statement&)) {
  std::vector<T> values;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return values;
    VERNIER_ASSIGN_OR_RETURN(T value, read(select));
    values.push_back(std::move(value));
  }
}

// Selects events of a study. `condition`: what they must fulfil, and their order, in SQL, followed by its values. The
// index is named because SQLite would rather read all events of the study in the requested order than sort a few.
template <typename... Values>
absl::StatusOr<std::vector<Event>> SelectEventsWhere(Connection& connection,
                                                     StudyId study,
                                                     std::string_view index,
                                                     std::string_view condition,
                                                     const Values&... values) {
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, study).status());
  const std::string sql = fmt::format(
      "SELECT seq, time, actor, request_id, kind, payload FROM events INDEXED BY {} "
      "WHERE study = ? AND {}",
      index,
      condition);
  Statement select(connection, sql, study.value(), values...);
  return ReadAll<Event>(select, &ReadEvent);
}

}  // namespace

std::string SpecText(const StudySpec& spec) { return codec::ToText(codec::StudySpecToJson(spec)); }

std::string MetadataText(const Metadata& metadata) {
  return codec::ToText(codec::Form<Metadata>::Write(metadata));
}

absl::StatusOr<StudyId> InsertStudy(Connection& connection,
                                    const Study& study,
                                    std::string_view spec) {
  // Asked for ahead of the insert, whose failure would not say which constraint it broke.
  Statement same_name(connection, "SELECT 1 FROM studies WHERE name = ?", study.spec.name);
  VERNIER_ASSIGN_OR_RETURN(const bool exists, same_name.Step());
  if (exists) return storage::StudyExists(study.spec.name);
  static const std::string kInsert =
      fmt::format("INSERT INTO studies (name, created_at, spec, {}) VALUES (?, ?, ?{})",
                  ColumnNames(""),
                  PlacesForColumns());
  const std::string created = TimeText(study.created);
  Statement insert(connection, kInsert, study.spec.name, created, spec);
  ColumnWriter write(insert);
  DescribeColumns(write, study);
  VERNIER_RETURN_IF_ERROR(insert.Run());
  return StudyId(connection.last_insert_id());
}

// Runs with every commit, hence without the spec and the metadata, which are long and seldom change.
absl::Status UpdateStudy(Connection& connection, const Study& study) {
  static const std::string kUpdate =
      fmt::format("UPDATE studies SET {} WHERE id = ?", ColumnNames(" = ?"));
  Statement update(connection, kUpdate);
  ColumnWriter write(update);
  DescribeColumns(write, study);
  update.Bind(study.id.value());
  return update.Run();
}

absl::Status UpdateSpec(Connection& connection, StudyId id, std::string_view spec) {
  return Statement(connection, "UPDATE studies SET spec = ? WHERE id = ?", spec, id.value()).Run();
}

absl::Status UpdateMetadata(Connection& connection, StudyId id, std::string_view metadata) {
  return Statement(connection, "UPDATE studies SET metadata = ? WHERE id = ?", metadata, id.value())
      .Run();
}

absl::Status DeleteStudy(Connection& connection, StudyId id) {
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "DELETE FROM studies WHERE id = ?", id.value()).Run());
  if (connection.changed_rows() == 0) return storage::StudyNotFound(id);
  // Its rows may stay for a while: ids are never reused, so no later study takes them for its own.
  return Statement(connection, "INSERT INTO leftovers (study) VALUES (?)", id.value()).Run();
}

absl::StatusOr<std::vector<StudyId>> SelectLeftovers(Connection& connection) {
  Statement select(connection, "SELECT study FROM leftovers");
  constexpr auto kRead = [](const Statement& row) -> absl::StatusOr<StudyId> {
    return StudyId(row.Integer(0));
  };
  return ReadAll<StudyId>(select, kRead);
}

absl::StatusOr<bool> RemoveLeftovers(Connection& connection, StudyId id, std::uint32_t& damaged) {
  constexpr std::int64_t kRows = 500;  // Of each table.
  // The metrics have no rowid (WITHOUT ROWID), so their key selects them.
  constexpr const char* kRemovals[] = {
      "DELETE FROM trial_metrics WHERE (study, metric, value, number) IN (SELECT study, metric, "
      "value, number FROM trial_metrics WHERE study = ? LIMIT ?)",
      "DELETE FROM trials WHERE rowid IN (SELECT rowid FROM trials WHERE study = ? LIMIT ?)",
      "DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE study = ? LIMIT ?)",
      "DELETE FROM snapshot_parts WHERE rowid IN (SELECT rowid FROM snapshot_parts WHERE study = ? "
      "LIMIT ? / 50)"};  // About 100 KiB each.
  bool is_any = false;
  // Bit of the current table in `damaged`.
  std::uint32_t table = 1;
  for (const char* const removal : kRemovals) {
    if ((damaged & table) == 0) {
      const absl::Status removed = Statement(connection, removal, id.value(), kRows).Run();
      // The error ends this call, and its rows are rolled back. The next call skips the table.
      if (absl::IsDataLoss(removed)) damaged |= table;
      VERNIER_RETURN_IF_ERROR(removed);
      is_any = is_any || connection.changed_rows() > 0;
    }
    table <<= 1;
  }
  // The row in `leftovers` goes last, and stays if a table is damaged: it is what a later start resumes from.
  if (is_any || damaged != 0) return is_any;
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "DELETE FROM snapshots WHERE study = ?", id.value()).Run());
  VERNIER_RETURN_IF_ERROR(
      Statement(connection, "DELETE FROM leftovers WHERE study = ?", id.value()).Run());
  return false;
}

// IGNORE: a repeated request must get the answer that it got first.
absl::Status InsertDeletion(Connection& connection, std::string_view request_id, StudyId id) {
  return Statement(
             connection,
             "INSERT OR IGNORE INTO deletions (request_id, study) SELECT ?, name FROM studies "
             "WHERE id = ?",
             request_id,
             id.value())
      .Run();
}

absl::StatusOr<std::optional<std::string>> SelectDeletion(Connection& connection,
                                                          std::string_view request_id) {
  Statement select(connection, "SELECT study FROM deletions WHERE request_id = ?", request_id);
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(select.Text(0));
}

absl::StatusOr<Study> SelectStudy(Connection& connection, StudyId id) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<Study> studies,
                           SelectStudies(connection, StudyId(id.value() - 1), 1));
  if (studies.empty() || studies.front().id != id) return storage::StudyNotFound(id);
  return std::move(studies.front());
}

// For a store whose index of names is damaged: reads the rows of all studies instead.
static absl::StatusOr<Study> SelectStudyByRow(Connection& connection, std::string_view name) {
  Statement select(connection, "SELECT id FROM studies NOT INDEXED WHERE name = ?", name);
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  if (!found) return storage::StudyNotFound(name);
  return SelectStudy(connection, StudyId(select.Integer(0)));
}

absl::StatusOr<Study> SelectStudyByName(Connection& connection, std::string_view name) {
  Statement select(connection, "SELECT id FROM studies WHERE name = ?", name);
  const absl::StatusOr<bool> found = select.Step();
  if (absl::IsDataLoss(found.status())) return SelectStudyByRow(connection, name);
  VERNIER_RETURN_IF_ERROR(found.status());
  if (!*found) return storage::StudyNotFound(name);
  return SelectStudy(connection, StudyId(select.Integer(0)));
}

absl::StatusOr<std::vector<Study>> SelectStudies(Connection& connection,
                                                 StudyId after,
                                                 std::size_t limit) {
  static const std::string kSelect = fmt::format(
      "SELECT id, created_at, spec, metadata, {} FROM studies WHERE id > ? ORDER BY id LIMIT ?",
      ColumnNames(""));
  Statement select(connection, kSelect, after.value(), ToSqlLimit(limit));
  return ReadAll<Study>(select, &ReadStudy);
}

absl::StatusOr<std::vector<StudyKey>> SelectStudyKeys(Connection& connection) {
  constexpr auto kRead = [](const Statement& row) -> absl::StatusOr<StudyKey> {
    return StudyKey{.id = StudyId(row.Integer(0)), .name = std::string(row.Text(1))};
  };
  Statement by_index(
      connection, "SELECT id, name FROM studies INDEXED BY sqlite_autoindex_studies_1 ORDER BY id");
  absl::StatusOr<std::vector<StudyKey>> keys = ReadAll<StudyKey>(by_index, kRead);
  if (!absl::IsDataLoss(keys.status())) return keys;
  Statement by_row(connection, "SELECT id, name FROM studies NOT INDEXED ORDER BY id");
  return ReadAll<StudyKey>(by_row, kRead);
}

absl::StatusOr<StudyVersion> SelectStudyVersion(Connection& connection, StudyId id) {
  Statement select(
      connection, "SELECT last_event, spec_version FROM studies WHERE id = ?", id.value());
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  if (!found) return storage::StudyNotFound(id);
  return StudyVersion{EventSeq(select.Integer(0)), select.Integer(1)};
}

TrialRow::TrialRow(const Trial& trial)
    : number(trial.number.value()),
      state(TrialStateName(trial.state)),
      created_at(TimeText(trial.created)),
      message(trial.message),
      row(codec::ToText(codec::TrialToJson(trial))) {
  if (trial.ended) {
    ended_at = TimeText(*trial.ended);
    metrics = CountedValues(trial);
    // A NaN has no place in the order, and SQLite stores it as NULL.
    std::erase_if(metrics, [](const auto& metric) { return std::isnan(metric.second); });
  }
  if (trial.failure != FailureClass::kNone) failure = FailureClassName(trial.failure);
}

// IGNORE: the metrics of an ended trial never change, and its row is written again, for example
// with new metadata.
absl::Status InsertMetrics(Connection& connection, StudyId study, const TrialRow& trial) {
  for (const auto& [name, value] : trial.metrics) {
    VERNIER_RETURN_IF_ERROR(
        Statement(connection,
                  "INSERT OR IGNORE INTO trial_metrics (study, metric, value, number) "
                  "VALUES (?, ?, ?, ?)",
                  study.value(),
                  name,
                  value,
                  trial.number)
            .Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<Trial> ParseTrial(std::string_view row) {
  if (auto trial = codec::ReadTrialText(row)) return *std::move(trial);
  VERNIER_ASSIGN_OR_RETURN(const auto json, codec::ReadStoredJson(row));
  return codec::TrialFromJson(json);
}

// An upsert, since a commit does not say whether a trial is new. The time of its creation never changes.
absl::Status UpsertTrial(Connection& connection, StudyId study, const TrialRow& trial) {
  VERNIER_RETURN_IF_ERROR(InsertMetrics(connection, study, trial));
  return Statement(connection,
                   "INSERT INTO trials (study, number, state, created_at, ended_at, failure, "
                   "message, row) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (study, number) DO "
                   "UPDATE SET state = excluded.state, ended_at = excluded.ended_at, failure = "
                   "excluded.failure, message = excluded.message, row = excluded.row",
                   study.value(),
                   trial.number,
                   trial.state,
                   trial.created_at,
                   trial.ended_at,
                   trial.failure,
                   trial.message,
                   trial.row)
      .Run();
}

// Rows of a deleted study stay for a while, so the study must exist, too.
absl::StatusOr<Trial> SelectTrial(Connection& connection, TrialId id) {
  Statement select(connection,
                   "SELECT row FROM trials WHERE study = ? AND number = ? AND EXISTS (SELECT 1 "
                   "FROM studies WHERE id = study)",
                   id.study.value(),
                   id.number.value());
  VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
  if (found) return ReadTrial(select);
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, id.study).status());
  return storage::TrialNotFound(id);
}

absl::StatusOr<std::vector<Trial>> SelectTrials(Connection& connection,
                                                StudyId study,
                                                TrialNumber after,
                                                std::size_t limit) {
  // NotFound for a deleted study, whose rows may still be there.
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, study).status());
  Statement select(connection,
                   "SELECT row FROM trials WHERE study = ? AND number > ? ORDER BY number LIMIT ?",
                   study.value(),
                   after.value(),
                   ToSqlLimit(limit));
  return ReadAll<Trial>(select, &ReadTrial);
}

EventRow::EventRow(const Event& event)
    : seq(event.seq.value()),
      time(TimeText(event.time)),
      actor(event.actor),
      request_id(event.request_id),
      kind(EventKind(event.payload)),
      trial(EventTrial(event.payload).value()),
      payload(codec::ToText(codec::PayloadToJson(event.payload))) {}

absl::Status InsertEvent(Connection& connection, StudyId study, const EventRow& event) {
  return Statement(connection,
                   "INSERT INTO events (study, seq, time, actor, request_id, kind, trial, payload) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                   study.value(),
                   event.seq,
                   event.time,
                   event.actor,
                   event.request_id,
                   event.kind,
                   event.trial,
                   event.payload)
      .Run();
}

absl::StatusOr<std::vector<Event>> SelectEvents(Connection& connection,
                                                StudyId study,
                                                EventSeq after,
                                                std::size_t limit) {
  return SelectEventsWhere(connection,
                           study,
                           "sqlite_autoindex_events_1",
                           "seq > ? ORDER BY seq LIMIT ?",
                           after.value(),
                           ToSqlLimit(limit));
}

absl::StatusOr<std::vector<Measurement>> ReadMeasurements(Connection& connection,
                                                          StudyId study,
                                                          std::span<const EventSeq> events) {
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, study).status());
  std::vector<Measurement> measurements;
  measurements.reserve(events.size());
  for (const EventSeq seq : events) {
    Statement select(connection,
                     "SELECT payload FROM events WHERE study = ? AND seq = ? AND kind = "
                     "'measurement_reported'",
                     study.value(),
                     seq.value());
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return storage::MeasurementNotFound(study, seq);
    VERNIER_ASSIGN_OR_RETURN(Measurement measurement, ReadMeasurement(select));
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

absl::StatusOr<std::vector<Measurement>> SelectMeasurements(Connection& connection, TrialId trial) {
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, trial.study).status());
  Statement select(connection,
                   "SELECT payload FROM events WHERE study = ? AND trial = ? AND kind = "
                   "'measurement_reported' ORDER BY seq",
                   trial.study.value(),
                   trial.number.value());
  return ReadAll<Measurement>(select, &ReadMeasurement);
}

absl::StatusOr<std::vector<Event>> SelectReports(Connection& connection, TrialId trial) {
  return SelectEventsWhere(connection,
                           trial.study,
                           "measurements",
                           "trial = ? AND kind = 'measurement_reported' ORDER BY seq",
                           trial.number.value());
}

absl::StatusOr<std::vector<Event>> SelectRequest(Connection& connection,
                                                 StudyId study,
                                                 std::string_view request_id) {
  // The index holds no empty ids. SQLite uses it only for a query that excludes them as well.
  return SelectEventsWhere(connection,
                           study,
                           "requests",
                           "request_id = ? AND request_id <> '' ORDER BY seq",
                           request_id);
}

}  // namespace vernier::sqlite
