// `metrics test` runs the real metric readers over a sample: a log or folder given by the user, or the files of a
// trial. The sample is put into the form in which replicas leave their files.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/base/output_line.h"
#include "src/base/temporary_folder.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/resources.h"
#include "src/cli/study_source.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/text.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "vernier/core/error.h"
#include "vernier/metric_reader.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct TestArgs {
  std::string file;
  std::string log;
  std::string folder;
  std::vector<std::string> trial;  // Name of the study, number of the trial.
};

// A study, and a gang whose replicas may have left something to read.
struct Sample {
  StudySpec spec;
  Trial trial;
  GangProgram gang;
};

// The text in the form in which supervisors store output (src/base/output_line.h), with lines 10 ms apart. Text in that
// form already stays as it is.
std::string AsCaptured(std::string_view text) {
  if (base::ParseOutputLine(text.substr(0, text.find('\n'))).has_value()) {
    return std::string(text);
  }
  std::string captured;
  absl::Time time = absl::UnixEpoch();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    time += absl::Milliseconds(10);
    captured += fmt::format(
        "{} O {}\n", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()), line);
  }
  return captured;
}

// The hypertune file in the folder: under the name that Vernier gives it, or the default of cloudml-hypertune.
std::string HypertuneFile(const fs::path& folder) {
  std::error_code error;
  for (const char* const name :
       {"hypertune.metrics", "output.metrics", "hypertune/output.metrics"}) {
    if (fs::is_regular_file(folder / name, error)) return (folder / name).string();
  }
  return "";
}

// Where the entry's event files are: in its own subfolder of --folder, or, without that subfolder, in --folder itself,
// which may be a copy of it.
std::string EventFolder(const fs::path& folder, const std::string& own) {
  std::error_code error;
  const bool is_there =
      !own.empty() && fs::path(own).is_relative() && fs::is_directory(folder / own, error);
  return is_there ? own : folder.string();
}

// Largest log, in bytes. A choice: it is read into memory.
constexpr std::int64_t kMostLog = std::int64_t{256} << 20;

// A gang that left the log and the folder. Every role gets them, so that `from` of a metric finds its role.
absl::StatusOr<Sample> SampleOfFiles(const TestArgs& args, const base::TemporaryFolder& temporary) {
  Sample sample;
  VERNIER_ASSIGN_OR_RETURN(sample.spec, LoadStudy(args.file));
  const std::string log_file = temporary.path() + "/output.log";
  if (!args.log.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadInput(args.log, "log", kMostLog));
    std::ofstream(log_file, std::ios::binary) << AsCaptured(text);
  }
  std::string folder;
  if (!args.folder.empty()) {
    std::error_code error;
    if (!fs::is_directory(args.folder, error)) {
      return NotFound("--folder: there is no folder '{}'", args.folder);
    }
    folder = fs::absolute(args.folder, error).string();
    // An objective without an entry is read by name; it needs an entry to get a folder.
    for (const Objective& objective : sample.spec.objectives) sample.spec.metrics[objective.metric];
    for (auto& [name, source] : sample.spec.metrics) {
      const bool reads_files =
          source.kind == MetricSourceKind::kName || source.kind == MetricSourceKind::kTfevents;
      if (reads_files) source.folder = EventFolder(folder, source.folder);
    }
  }
  std::set<std::string> roles = {sample.spec.job.has_value() ? sample.spec.job->primary_name
                                                             : "chief"};
  for (const auto& [metric, source] : sample.spec.metrics) {
    if (source.from && sample.spec.job) roles.insert(RoleName(*source.from, *sample.spec.job));
  }
  for (const std::string& role : roles) {
    sample.gang.replicas.push_back({.role = role,
                                    .directory = folder.empty() ? "." : folder,
                                    .metric_file = HypertuneFile(folder),
                                    .log_file = log_file});
  }
  return sample;
}

// The replicas of the trial's last attempt, if their files are on this host.
absl::StatusOr<Sample> SampleOfTrial(Context& context, const TestArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.trial[0]));
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial,
                           GetTrial(connection, args.trial[0], args.trial[1]));
  Sample sample{.spec = study.study.spec, .trial = trial.trial};
  if (!args.file.empty()) {
    VERNIER_ASSIGN_OR_RETURN(sample.spec, LoadStudy(args.file));
  }
  if (trial.trial.attempts.empty()) {
    return FailedPrecondition("trial {} of study '{}' never ran: it left nothing to read",
                              trial.trial.number.value(),
                              args.trial[0]);
  }
  const Attempt& attempt = trial.trial.attempts.back();
  std::error_code error;
  if (!fs::is_directory(attempt.directory, error)) {
    return NotFound(
        "the files of trial {} are not on this host ('{}'); save its output with 'vernier trial "
        "logs {} {}' and give it as --log",
        trial.trial.number.value(),
        attempt.directory,
        args.trial[0],
        trial.trial.number.value());
  }
  sample.trial.last.reset();  // As if nothing had been read yet.
  for (const ReplicaPlacement& replica : attempt.placement) {
    const std::string own = fmt::format("{}/{}-{}", attempt.directory, replica.role, replica.index);
    sample.gang.replicas.push_back(
        {.role = replica.role,
         .index = replica.index,
         .directory = sample.spec.job ? sample.spec.job->working_directory : ".",
         .metric_file = own + "/hypertune.metrics",
         .log_file = own + "/output.log"});
  }
  return sample;
}

// The values read for one metric.
struct Curve {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t not_finite = 0;
  double last = 0;
};

std::map<std::string, Curve> CurvesOf(const std::vector<Measurement>& measurements) {
  std::map<std::string, Curve> curves;
  for (const Measurement& measurement : measurements) {
    for (const auto& [metric, value] : measurement.metrics) {
      const auto [curve, is_first] = curves.try_emplace(metric);
      if (is_first) curve->second.first_step = measurement.step;
      curve->second.last_step = measurement.step;
      curve->second.last = value;
      if (!std::isfinite(value)) ++curve->second.not_finite;
    }
  }
  return curves;
}

Table SightingTable(const std::vector<MetricSighting>& sightings,
                    const std::map<std::string, Curve>& curves) {
  Table table({{.name = "METRIC", .flexible = true},
               {.name = "SOURCE"},
               {.name = "VALUES", .align = Align::kRight},
               {.name = "STEPS", .align = Align::kRight},
               {.name = "LAST", .align = Align::kRight},
               {.name = "NOT FINITE", .align = Align::kRight}});
  for (const MetricSighting& sighting : sightings) {
    const auto curve = curves.find(sighting.metric);
    if (curve == curves.end()) {
      table.AddRow({{sighting.metric, Style::kBold}, {"not found"}, {"0"}, {"-"}, {"-"}, {"-"}});
      continue;
    }
    table.AddRow({{sighting.metric, Style::kBold},
                  {sighting.source},
                  {std::to_string(sighting.values)},
                  {fmt::format("{} to {}", curve->second.first_step, curve->second.last_step)},
                  {FormatFigure(curve->second.last)},
                  {std::to_string(curve->second.not_finite)}});
  }
  return table;
}

ordered_json SightingJson(const MetricSighting& sighting,
                          const std::map<std::string, Curve>& curves) {
  ordered_json json = {
      {"metric", sighting.metric}, {"values", sighting.values}, {"source", sighting.source}};
  if (const auto curve = curves.find(sighting.metric); curve != curves.end()) {
    json["first_step"] = curve->second.first_step;
    json["last_step"] = curve->second.last_step;
    json["last"] = FormatFigure(curve->second.last);
    json["not_finite"] = curve->second.not_finite;
  }
  ordered_json& candidates = json["candidates"] = ordered_json::array();
  for (const MetricSighting::Candidate& candidate : sighting.candidates) {
    candidates.push_back({{"what", candidate.what}, {"entry", candidate.entry}});
  }
  return json;
}

// Why nothing was found: the sample was empty.
std::string NothingIn(const TestArgs& args) {
  if (args.folder.empty()) return "there is no output";
  const std::string folder =
      fmt::format("there is no event file below '{}' with any scalar", args.folder);
  return args.log.empty() ? folder : "there is no output, and " + folder;
}

// Near misses for a metric that was not found, or the last unmatched lines.
std::string Advice(const MetricSighting& sighting,
                   const std::vector<std::string>& unmatched,
                   const TestArgs& args) {
  std::string text = fmt::format("{} was not found", sighting.metric);
  if (sighting.candidates.empty()) {
    text += unmatched.empty() ? fmt::format("; {}\n", NothingIn(args))
                              : "; the last lines without it are:\n";
    const std::size_t shown = std::min<std::size_t>(unmatched.size(), 5);
    for (std::size_t i = unmatched.size() - shown; i < unmatched.size(); ++i) {
      text += fmt::format("  {}\n", Printable(unmatched[i]));
    }
    return text;
  }
  text += ":\n";
  for (const MetricSighting::Candidate& candidate : sighting.candidates) {
    text += fmt::format("  {}\n", Printable(candidate.what));
    if (!candidate.entry.empty()) {
      text += fmt::format("    write  metrics: {{{}}}\n", Printable(candidate.entry));
    }
  }
  return text;
}

// Other candidates for a metric that was found.
std::string Notice(const MetricSighting& sighting) {
  std::string text;
  for (const MetricSighting::Candidate& candidate : sighting.candidates) {
    text += fmt::format("{}: {}; to take that one, write  metrics: {{{}}}\n",
                        sighting.metric,
                        Printable(candidate.what),
                        Printable(candidate.entry));
  }
  return text;
}

absl::StatusOr<ExitCode> Test(Context& context, const TestArgs& args) {
  const bool reads_files = !args.log.empty() || !args.folder.empty();
  if (reads_files != args.trial.empty()) {
    return InvalidArgument("give --log FILE, --folder DIR or both, or else --trial STUDY NUMBER");
  }
  if (reads_files && args.file.empty()) {
    return InvalidArgument("name the study file whose metrics are to be tried");
  }
  VERNIER_ASSIGN_OR_RETURN(const base::TemporaryFolder temporary, base::TemporaryFolder::Create());
  VERNIER_ASSIGN_OR_RETURN(
      const Sample sample,
      reads_files ? SampleOfFiles(args, temporary) : SampleOfTrial(context, args));
  VERNIER_ASSIGN_OR_RETURN(const auto reader,
                           NewMetricReader(sample.spec, sample.trial, sample.gang));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Measurement> measurements, reader->Finish());
  const std::vector<MetricSighting> sightings = reader->Sightings();
  const std::map<std::string, Curve> curves = CurvesOf(measurements);

  auto items = ordered_json::array();
  for (const MetricSighting& sighting : sightings) items.push_back(SightingJson(sighting, curves));
  context.output().List(SightingTable(sightings, curves), items);
  for (const MetricSighting& sighting : sightings) {
    context.console().err << (sighting.values == 0
                                  ? Advice(sighting, reader->UnmatchedLines(), args)
                                  : Notice(sighting));
  }
  std::map<std::string, double> found;
  for (const auto& [metric, curve] : curves) found[metric] = curve.last;
  const bool has_all = MissingObjectives(sample.spec.objectives, found).empty();
  return has_all ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

void AddMetricsCommands(CLI::App& root, Action& chosen) {
  CLI::App* metrics = root.add_subcommand("metrics", "Test how metrics are read from programs");
  metrics->require_subcommand(1);
  auto [command, args] =
      AddCommand<TestArgs>(*metrics,
                           "test",
                           "Show which values a study's metrics find in a log, a folder or a "
                           "trial, and suggest an entry for each metric that is not found",
                           &Test,
                           chosen);
  command->add_option(
      "FILE", args->file, "Study file; with --trial, the default is the study's own definition");
  command->add_option(
      "--log", args->log, "Output of a program, as it was printed; - is standard input");
  command->add_option("--folder", args->folder, "Folder with event files or a hypertune file");
  command->add_option("--trial", args->trial, "A trial that ran on this host: STUDY NUMBER")
      ->expected(2)
      ->type_name("STUDY NUMBER");
}

}  // namespace vernier::cli
