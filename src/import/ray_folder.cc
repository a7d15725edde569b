// The folder of an experiment of Ray Tune: experiment_state-*.json with the states of all trials, and for each trial a
// folder with result.json, one line for each report, and error.txt if it failed. The search space is not in it, but as
// pickled Python, which is not read: loading a pickle runs its code.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "src/import/input.h"
#include "src/import/tables.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

namespace fs = std::filesystem;
using End = SourceTrial::End;

constexpr std::size_t kMostFiles = 200'000;

// Fields that Ray adds to each report.
constexpr std::string_view kRayFields[] = {"timestamp",
                                           "pid",
                                           "time_this_iter_s",
                                           "time_since_restore",
                                           "iterations_since_restore",
                                           "timesteps_since_restore",
                                           "warmup_time",
                                           "training_iteration",
                                           "time_total_s"};

std::vector<fs::path> ListFolder(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
    if (entries.size() == kMostFiles) break;
  }
  std::ranges::sort(entries);
  return entries;
}

// The latest: its name holds the time of the start, and a resumed experiment writes another.
absl::StatusOr<fs::path> FindState(const fs::path& folder) {
  std::optional<fs::path> latest;
  for (const fs::path& entry : ListFolder(folder)) {
    const std::string name = entry.filename().string();
    if (name.starts_with("experiment_state-") && name.ends_with(".json")) latest = entry;
  }
  if (latest.has_value()) return *latest;
  return NotFound("{}: has no experiment_state-*.json, as a folder of Ray Tune has",
                  folder.string());
}

// Nested mappings become names with slashes, as Ray names them.
std::string Below(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : fmt::format("{}/{}", prefix, name);
}

void Flatten(const Json& json, const std::string& prefix, Point& out) {
  for (const auto& [name, value] : json.items()) {
    const std::string path = Below(prefix, name);
    if (value.is_object()) {
      Flatten(value, path, out);
    } else {
      out[path] = ValueOf(value);
    }
  }
}

void FlattenMetrics(const Json& json, const std::string& prefix, Measurement& out) {
  for (const auto& [name, value] : json.items()) {
    const std::string path = Below(prefix, name);
    if (prefix.empty() &&
        (name == "config" || std::ranges::find(kRayFields, name) != std::end(kRayFields)))
      continue;
    if (value.is_object()) {
      FlattenMetrics(value, path, out);
    } else if (value.is_number()) {
      out.metrics[path] = value.get<double>();
    } else if (value.is_string()) {
      const ParameterValue number = ValueOfText(value.get<std::string>());
      // NaN and infinities, which JSON lacks; other texts are none of metrics.
      const bool is_word = value == "NaN" || value == "Infinity" || value == "-Infinity";
      if (is_word) out.metrics[path] = *NumberOf(number);
    }
  }
}

Measurement ReportOf(const Json& json) {
  Measurement report;
  FlattenMetrics(json, "", report);
  const Json& iteration = Member(json, "training_iteration");
  if (iteration.is_number_integer()) report.step = iteration.get<std::int64_t>();
  const Json& seconds = Member(json, "time_total_s");
  if (seconds.is_number()) report.elapsed = absl::Seconds(seconds.get<double>());
  const Json& time = Member(json, "timestamp");
  if (time.is_number()) report.time = absl::FromUnixSeconds(time.get<std::int64_t>());
  return report;
}

absl::Status ReadCurve(const fs::path& folder, SourceTrial& trial) {
  std::error_code error;
  const fs::path file = folder / "result.json";
  if (!fs::exists(file, error)) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.string()));
  return ForEachLine(text, [&](std::string_view line, std::size_t number) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(
        const Json json,
        ParseJson(line, fmt::format("{}: line {}", file.filename().string(), number)));
    Measurement report = ReportOf(json);
    // A restored trial reports again from its checkpoint on; the later report counts.
    std::erase_if(trial.curve, [&](const Measurement& m) { return m.step >= report.step; });
    trial.curve.push_back(std::move(report));
    return absl::OkStatus();
  });
}

std::string LastLine(const fs::path& file) {
  std::string last;
  const absl::StatusOr<std::string> text = ReadFile(file.string());
  if (!text.ok()) return last;
  ForEachLine(*text, [&](std::string_view line, std::size_t) {
    last = line;
    return absl::OkStatus();
  }).IgnoreError();
  return last;
}

absl::StatusOr<End> RayEnd(const std::string& status) {
  if (status == "TERMINATED") return End::kCompleted;
  if (status == "ERROR") return End::kFailed;
  if (status == "PENDING" || status == "RUNNING" || status == "PAUSED") return End::kWaiting;
  return InvalidArgument("trial_data: unknown status '{}'", status);
}

absl::StatusOr<SourceTrial> RayTrial(const Json& state,
                                     const Json& metadata,
                                     const fs::path& root) {
  const std::string id = TextMember(state, "trial_id");
  SourceTrial trial{.label = "trial " + id};
  VERNIER_ASSIGN_OR_RETURN(trial.end, RayEnd(TextMember(state, "status")));
  const Json& config = Member(state, "config");
  if (config.is_object()) Flatten(config, "", trial.point);
  // Only the name: what the file says beyond it may lead out of the folder.
  const fs::path name = fs::path(TextMember(state, "relative_logdir")).filename();
  const fs::path folder = root / name;
  if (!name.empty()) VERNIER_RETURN_IF_ERROR(ReadCurve(folder, trial));
  const Json& last = Member(metadata, "last_result");
  if (last.is_object()) trial.last = ReportOf(last);
  if (trial.last.metrics.empty() && !trial.curve.empty()) trial.last = trial.curve.back();
  if (trial.end == End::kFailed) trial.message = LastLine(folder / "error.txt");
  const Json& start = Member(metadata, "start_time");
  NoteOrigin(trial,
             id,
             start.is_number()
                 ? absl::FormatTime(absl::UnixEpoch() + absl::Seconds(start.get<double>()),
                                    absl::UTCTimeZone())
                 : "",
             "");
  return trial;
}

// Ray 2 has texts of JSON in a list of pairs; earlier versions had documents in `checkpoints`.
absl::Status ReadRayTrials(const Json& state, const fs::path& root, SourceStudy& out) {
  for (const Json& pair : Member(state, "trial_data")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      return InvalidArgument("trial_data: must be pairs of texts, as Ray 2 writes them");
    }
    VERNIER_ASSIGN_OR_RETURN(const Json trial, ParseJson(pair[0].get<std::string>(), "trial_data"));
    VERNIER_ASSIGN_OR_RETURN(const Json metadata,
                             ParseJson(pair[1].get<std::string>(), "trial_data"));
    VERNIER_ASSIGN_OR_RETURN(SourceTrial next, RayTrial(trial, metadata, root));
    out.trials.push_back(std::move(next));
  }
  // In the order of their numbers; the file has those that ended first.
  std::ranges::sort(out.trials, {}, &SourceTrial::label);
  if (!out.trials.empty()) return absl::OkStatus();
  return InvalidArgument("trial_data: the experiment has no trials, or was written before Ray 2");
}

// The metric is stored, its goal is not.
absl::Status CheckObjective(const Json& state, const ImportOptions& options) {
  if (!options.objectives.empty() || !options.space.empty()) return absl::OkStatus();
  const std::string metric = TextMember(Member(state, "runner_data"), "_metric");
  if (metric.empty()) return absl::OkStatus();
  return FieldError(
      "objective",
      fmt::format("the folder does not say which way '{0}' is better; give --objective "
                  "maximize:{0} or minimize:{0}",
                  metric));
}

}  // namespace

absl::StatusOr<SourceStudy> ReadRayFolder(const std::string& path, const ImportOptions& options) {
  const fs::path root(path);
  VERNIER_ASSIGN_OR_RETURN(const fs::path file, FindState(root));
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.string()));
  VERNIER_ASSIGN_OR_RETURN(const Json state, ParseJson(text, file.filename().string()));
  VERNIER_RETURN_IF_ERROR(CheckObjective(state, options));
  SourceStudy study;
  study.name = root.lexically_normal().has_filename()
                   ? root.lexically_normal().filename().string()
                   : root.lexically_normal().parent_path().filename().string();
  study.infers_space = true;
  study.infers_conditions = true;
  VERNIER_RETURN_IF_ERROR(ReadRayTrials(state, root, study));
  study.Note(
      "scheduler and search algorithm: stored as pickled Python only, which is not read; the "
      "study suggests by gp and stops no trial");
  return study;
}

}  // namespace vernier::imports
