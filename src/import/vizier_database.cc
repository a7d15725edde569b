// Rows of Vizier's SQLDataStore hold serialized messages. The fields that an import needs are read by their numbers in
// proto/vizier/study.proto.

#include "src/import/vizier_database.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/import/message_reader.h"
#include "src/import/optuna.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::imports {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using End = SourceTrial::End;

constexpr std::size_t kMostParameterDepth = limits::kFileDepth;  // Of conditional parameters.

// Calls `visit` with each field of a message; false where its bytes are damaged.
template <typename Visit>
bool ForEachField(std::string_view bytes, Visit visit) {
  MessageReader message(bytes);
  while (const std::optional<Field> field = message.Next()) visit(*field);
  return !message.is_damaged();
}

// --- definitions. A part that is damaged reads as empty, and the definition is then refused for what it lacks. ---

Json RangeOf(std::string_view bytes, bool is_int) {
  Json low = is_int ? Json(0) : Json(0.0);
  Json high = low;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number > 2 || field.is_bytes) return;
    (field.number == 1 ? low : high) = is_int ? Json(field.whole()) : Json(field.real());
  });
  return {{is_int ? "int" : "float", {low, high}}};
}

Json TextsOf(std::string_view bytes) {
  Json texts = Json::array();
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) texts.push_back(std::string(field.bytes));
  });
  return texts;
}

// Sorted, as Vizier's clients may give them in any order.
Json NumbersOf(std::string_view bytes, bool is_int) {
  Json numbers = Json::array();
  ForEachField(bytes, [&](const Field& field) {
    if (field.number != 1) return;
    if (!field.is_bytes) numbers.push_back(is_int ? Json(field.whole()) : Json(field.real()));
    MessageReader packed(field.bytes);
    while (is_int && field.is_bytes) {
      const auto number = packed.NextInteger();
      if (!number.has_value()) break;
      numbers.push_back(*number);
    }
    while (!is_int && field.is_bytes) {
      const auto number = packed.NextReal();
      if (!number.has_value()) break;
      numbers.push_back(*number);
    }
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void AddParameter(std::string_view bytes, const Json& when, std::size_t depth, SourceStudy& out);

void AddChild(std::string_view bytes,
              const std::string& parent,
              std::size_t depth,
              SourceStudy& out) {
  std::string_view child;
  Json values = Json::array();
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) child = field.bytes;
    if (field.number == 2) values = NumbersOf(field.bytes, /*is_int=*/false);
    if (field.number == 3) values = NumbersOf(field.bytes, /*is_int=*/true);
    if (field.number == 4) values = TextsOf(field.bytes);
  });
  AddParameter(child, {{parent, values}}, depth + 1, out);
}

// Of several parameters that share a name, each in a branch of its own, the ones after the first are left out with a note.
void AddParameter(std::string_view bytes, const Json& when, std::size_t depth, SourceStudy& out) {
  std::string name;
  Json domain = Json::object();
  std::uint64_t scale = 0;
  std::vector<std::string_view> children;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) name = field.bytes;
    if (field.number == 2) domain = RangeOf(field.bytes, /*is_int=*/false);
    if (field.number == 3) domain = RangeOf(field.bytes, /*is_int=*/true);
    if (field.number == 4) domain = {{"categorical", TextsOf(field.bytes)}};
    if (field.number == 5) domain = {{"discrete", NumbersOf(field.bytes, /*is_int=*/false)}};
    if (field.number == 6) scale = field.bits;
    if (field.number == 10) children.push_back(field.bytes);
  });
  const bool is_range = domain.contains("float") || domain.contains("int");
  if (is_range && scale == 2) domain["scale"] = "log";
  if (is_range && scale == 3) domain["scale"] = "reverse-log";
  if (!when.is_null()) domain["when"] = when;
  if (out.parameters().contains(name)) {
    out.Note(
        fmt::format("{}: there are two parameters of this name in different branches; only the "
                    "first is imported",
                    name));
    return;
  }
  out.parameters()[name] = domain;
  if (depth >= kMostParameterDepth) return;
  for (const std::string_view child : children) AddChild(child, name, depth, out);
}

void AddMetric(std::string_view bytes, SourceStudy& out) {
  std::string name = "(unnamed)";
  std::uint64_t goal = 0;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) name = field.bytes;
    if (field.number == 2) goal = field.bits;
    if (field.number == 3) {
      out.Note(fmt::format("{}: its safety threshold is left out", name));
    }
  });
  if (goal == 0) return;
  out.definition["objective"].push_back({{goal == 1 ? "maximize" : "minimize", name}});
}

// Algorithms that both have.
void SetAlgorithm(const std::string& name, SourceStudy& out) {
  std::string algorithm = "gp";
  if (name == "RANDOM_SEARCH") algorithm = "random";
  if (name == "QUASI_RANDOM_SEARCH") algorithm = "quasi-random";
  if (name == "GRID_SEARCH" || name == "SHUFFLED_GRID_SEARCH") algorithm = "grid";
  out.definition["algorithm"] = algorithm;
  if (algorithm == "gp") {
    out.Note(fmt::format("algorithm: '{}' of Vizier is gp here", name.empty() ? "DEFAULT" : name));
  }
}

void SetDefinition(std::string_view bytes, SourceStudy& out) {
  std::string algorithm;
  out.parameters() = Json::object();
  out.definition["objective"] = Json::array();
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) AddMetric(field.bytes, out);
    if (field.number == 2) AddParameter(field.bytes, Json(), 0, out);
    if (field.number == 3) algorithm = field.bytes;
    if (field.number == 9) out.Note("automated stopping: left out, the study stops no trial");
  });
  if (out.definition["objective"].empty()) out.definition.erase("objective");
  SetAlgorithm(algorithm, out);
}

// --- trials ---

absl::Duration DurationOf(std::string_view bytes) {
  absl::Duration duration;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) duration += absl::Seconds(field.whole());
    if (field.number == 2) duration += absl::Nanoseconds(field.whole());
  });
  return duration;
}

std::string TimeOf(std::string_view bytes) {
  return absl::FormatTime(absl::UnixEpoch() + DurationOf(bytes), absl::UTCTimeZone());
}

Measurement MeasurementOf(std::string_view bytes) {
  Measurement measurement;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) measurement.elapsed = DurationOf(field.bytes);
    if (field.number == 2) measurement.step = field.whole();
    if (field.number != 3) return;
    std::string name = "(unnamed)";
    double value = 0;
    ForEachField(field.bytes, [&](const Field& metric) {
      if (metric.number == 1) name = metric.bytes;
      if (metric.number == 2) value = metric.real();
    });
    measurement.metrics[name] = value;
  });
  return measurement;
}

// google.protobuf.Value: a number (2), a text (3) or a boolean (4).
void AddValue(std::string_view bytes, Point& point) {
  std::string name;
  ParameterValue value = 0.0;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) name = field.bytes;
    if (field.number != 2) return;
    ForEachField(field.bytes, [&](const Field& kind) {
      if (kind.number == 2) value = kind.real();
      if (kind.number == 3) value = std::string(kind.bytes);
      if (kind.number == 4) value = kind.bits != 0;
    });
  });
  point[name] = value;
}

void AddMetadatum(std::string_view bytes, SourceTrial& trial) {
  std::string name;
  std::string value;
  std::string space;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 1) name = field.bytes;
    if (field.number == 2) value = field.bytes;
    if (field.number == 4) space = field.bytes;
  });
  NoteAttribute(trial, space + name, value);
}

// States of a trial: SUCCEEDED is 4, INFEASIBLE 5; others have not ended.
SourceTrial TrialOf(std::string_view bytes, std::int64_t number) {
  SourceTrial trial{.label = fmt::format("trial {}", number)};
  std::string start;
  std::string end;
  ForEachField(bytes, [&](const Field& field) {
    if (field.number == 3 && field.bits == 4) trial.end = End::kCompleted;
    if (field.number == 3 && field.bits == 5) trial.end = End::kInfeasible;
    if (field.number == 4) AddValue(field.bytes, trial.point);
    if (field.number == 5) trial.last = MeasurementOf(field.bytes);
    if (field.number == 6) trial.curve.push_back(MeasurementOf(field.bytes));
    if (field.number == 7) start = TimeOf(field.bytes);
    if (field.number == 8) end = TimeOf(field.bytes);
    if (field.number == 10) trial.message = field.bytes;
    if (field.number == 11) AddMetadatum(field.bytes, trial);
  });
  NoteOrigin(trial, std::to_string(number), start, end);
  return trial;
}

absl::Status ReadVizierTrials(Connection& database,
                              const std::string& owner,
                              const std::string& study,
                              SourceStudy& out) {
  Statement select(database,
                   "SELECT trial_id, serialized_trial FROM trials WHERE owner_id = ? AND "
                   "study_id = ? ORDER BY trial_id",
                   owner,
                   study);
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return absl::OkStatus();
    const std::string_view bytes = select.Bytes(1);
    if (!ForEachField(bytes, [](const Field&) {})) {
      return InvalidArgument("trial {} of '{}' is damaged", select.Integer(0), study);
    }
    out.trials.push_back(TrialOf(bytes, select.Integer(0)));
  }
}

}  // namespace

absl::StatusOr<SourceStudy> ReadVizierDatabase(const std::string& path,
                                               const ImportOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> database,
                           Connection::OpenToLook(path, sqlite::kBusyTimeout));
  VERNIER_RETURN_IF_ERROR(database->Execute("BEGIN"));
  std::vector<std::string> owners;
  std::vector<std::string> ids;
  std::vector<std::string> resources;  // owners/OWNER/studies/ID
  std::vector<std::string> serialized;
  Statement select(*database,
                   "SELECT owner_id, study_id, study_name, serialized_study FROM studies "
                   "ORDER BY rowid");
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) break;
    owners.emplace_back(select.Text(0));
    ids.emplace_back(select.Text(1));
    resources.emplace_back(select.Text(2));
    serialized.emplace_back(select.Bytes(3));
  }
  // Owners may have studies of one id, which only the whole name tells apart.
  const bool are_distinct = std::set<std::string>(ids.begin(), ids.end()).size() == ids.size();
  const bool is_resource = std::ranges::find(resources, options.study) != resources.end();
  VERNIER_ASSIGN_OR_RETURN(
      const std::size_t picked,
      PickStudy(is_resource || !are_distinct ? resources : ids, options.study));
  SourceStudy study;
  study.name = ids[picked];
  const bool is_whole = ForEachField(serialized[picked], [&](const Field& field) {
    if (field.number == 3) SetDefinition(field.bytes, study);
  });
  if (!is_whole) return InvalidArgument("study '{}' is damaged", study.name);
  VERNIER_RETURN_IF_ERROR(ReadVizierTrials(*database, owners[picked], ids[picked], study));
  return study;
}

}  // namespace vernier::imports
