// The table of formats, and how a file is told to be of one.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/codec/document.h"
#include "src/codec/study_file.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "src/import/definitions.h"
#include "src/import/event_log.h"
#include "src/import/input.h"
#include "src/import/optuna.h"
#include "src/import/source_study.h"
#include "src/import/tables.h"
#include "src/import/vizier_database.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::imports {
namespace {

namespace fs = std::filesystem;

constexpr char kOptuna[] = "optuna";
constexpr char kVizier[] = "vizier";
constexpr char kRay[] = "ray";
constexpr char kKatib[] = "katib";
constexpr char kDetermined[] = "determined";
constexpr char kSweep[] = "wandb";
constexpr char kCsv[] = "csv";
constexpr char kVernier[] = "vernier";

bool IsDatabase(std::string_view head) { return head.starts_with("SQLite format 3"); }

// Which of the two an SQLite file is of: by a table that only one has.
absl::StatusOr<std::string> FormatOfDatabase(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto database,
                           sqlite::Connection::OpenToLook(path, absl::Seconds(5)));
  sqlite::Statement tables(*database, "SELECT name FROM sqlite_master WHERE type = 'table'");
  std::vector<std::string> names;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, tables.Step());
    if (!found) break;
    names.emplace_back(tables.Text(0));
  }
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (has("study_directions") && has("trial_params")) return kOptuna;
  if (has("suggestion_operations") && has("owners")) return kVizier;
  if (has("events") && has("studies")) {
    return InvalidArgument("{}: is a store of Vernier, which needs no import", path);
  }
  return InvalidArgument("{}: is an SQLite file with the tables of neither Optuna nor Vizier",
                         path);
}

// The kind of a definition in YAML or JSON, by keys that only it has.
std::string FormatOfDefinition(const Json& document) {
  const auto has = [&](const char* key) { return document.is_object() && document.contains(key); };
  if (TextMember(document, "apiVersion").starts_with("kubeflow.org/") || has("items"))
    return kKatib;
  if (has("hyperparameters") && has("searcher")) return kDetermined;
  if (has("study")) return kVernier;
  if (has("method") && has("parameters")) return kSweep;
  return "";
}

bool IsNamedLike(const std::string& path, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view end) { return path.ends_with(end); });
}

std::string NameList() {
  std::string names;
  for (const Format& format : ListFormats()) names += (names.empty() ? "" : ", ") + format.name;
  return names;
}

absl::StatusOr<std::string> FormatOf(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return kRay;
  VERNIER_ASSIGN_OR_RETURN(const std::string head, ReadHead(path));
  if (IsDatabase(head)) return FormatOfDatabase(path);
  if (head.starts_with("{\"op_code\"")) return kOptuna;
  if (IsEventLog(head)) return kVernier;
  if (IsNamedLike(path, {".csv", ".tsv"})) return kCsv;
  if (IsNamedLike(path, {".yaml", ".yml", ".json"})) {
    VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limits::kFile));
    VERNIER_ASSIGN_OR_RETURN(const Json document, codec::ReadDocument(text, path));
    if (document.is_object() && document.contains("study") && document.contains("trials")) {
      return InvalidArgument(
          "{}: is an export in JSON, which is for other programs; the log that `vernier study "
          "export` writes without -o is imported",
          path);
    }
    if (const std::string format = FormatOfDefinition(document); !format.empty()) return format;
  }
  return InvalidArgument(
      "{}: is in none of the known formats; --format names one of {}", path, NameList());
}

absl::StatusOr<ImportedStudy> ReadDefinition(const std::string& path,
                                             const ImportOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limits::kFile));
  if (options.format == kVernier) {
    ImportedStudy study;
    VERNIER_ASSIGN_OR_RETURN(study.spec, codec::ParseStudyFile(text, options.name));
    return study;
  }
  VERNIER_ASSIGN_OR_RETURN(const Json document, codec::ReadDocument(text, path));
  absl::StatusOr<SourceStudy> source;
  if (options.format == kKatib) source = FromKatib(document);
  if (options.format == kDetermined) source = FromDetermined(document);
  if (options.format == kSweep) source = FromSweep(document);
  VERNIER_RETURN_IF_ERROR(source.status());
  return Assemble(*std::move(source), options);
}

absl::StatusOr<SourceStudy> ReadTrials(const std::string& path, const ImportOptions& options) {
  if (options.format == kRay) return ReadRayFolder(path, options);
  if (options.format == kCsv) return ReadTrialTable(path, options);
  if (options.format == kVizier) return ReadVizierDatabase(path, options);
  if (options.format == kVernier) return ReadEventLog(path);
  VERNIER_ASSIGN_OR_RETURN(const std::string head, ReadHead(path));
  return IsDatabase(head) ? ReadOptunaDatabase(path, options) : ReadOptunaJournal(path, options);
}

// SQLite's own words for an error about a file of another tool: "no such table: trials". The connection's message is
// about a store of Vernier: "store 'PATH': WORDS (SQLite code 1); run …".
std::string WordsOfSqlite(const std::string& message) {
  const std::size_t begin = message.find("': ");
  const std::size_t end = message.find(" (SQLite");
  if (begin == message.npos || end == message.npos || end < begin) return message;
  return message.substr(begin + 3, end - begin - 3);
}

// The error with the path of the file, which those of fields lack.
absl::Status NamingFile(const std::string& path, const absl::Status& status) {
  const std::string message(status.message());
  const bool is_of_sqlite = absl::IsDataLoss(status) || absl::IsInternal(status);
  if (is_of_sqlite) {
    return InvalidArgument("{}: is damaged, or written by an unknown version of its tool: {}",
                           path,
                           WordsOfSqlite(message));
  }
  if (status.ok() || message.find(path) != message.npos) return status;
  return absl::Status(status.code(), fmt::format("{}: {}", path, message));
}

}  // namespace

std::vector<Format> ListFormats() {
  return {{kOptuna, "Optuna: SQLite storage or journal file"},
          {kVizier, "open-source Vizier: SQLite datastore"},
          {kRay, "Ray Tune: folder of an experiment"},
          {kKatib, "Katib: Experiment in YAML, with its Trials in a List"},
          {kDetermined, "Determined: experiment configuration in YAML"},
          {kSweep, "Weights & Biases: sweep configuration in YAML"},
          {kCsv, "table of trials"},
          {kVernier, "study file, or log of `vernier study export`"}};
}

absl::StatusOr<ImportedStudy> ReadStudy(const std::string& path, const ImportOptions& options) {
  ImportOptions known = options;
  if (known.format.empty()) {
    absl::StatusOr<std::string> format = FormatOf(path);
    if (!format.ok()) return NamingFile(path, format.status());
    known.format = *std::move(format);
  }
  const std::vector<Format> formats = ListFormats();
  if (std::ranges::find(formats, known.format, &Format::name) == formats.end()) {
    return FieldError("format",
                      fmt::format("must be one of {}, got '{}'", NameList(), known.format));
  }
  const bool is_log = known.format == kVernier && IsEventLog(ReadHead(path).value_or(""));
  const bool has_trials = known.format == kOptuna || known.format == kVizier ||
                          known.format == kRay || known.format == kCsv || is_log;
  absl::StatusOr<ImportedStudy> study;
  if (has_trials) {
    absl::StatusOr<SourceStudy> source = ReadTrials(path, known);
    study = source.ok() ? Assemble(*std::move(source), known)
                        : absl::StatusOr<ImportedStudy>(source.status());
  } else {
    study = ReadDefinition(path, known);
  }
  if (!study.ok()) return NamingFile(path, study.status());
  study->format = known.format;
  return study;
}

}  // namespace vernier::imports
