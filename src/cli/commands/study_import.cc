// `study import`: reads a study of another tool, shows what becomes of it, and stores it with the calls of any other client.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/resources.h"
#include "src/cli/study_source.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/import/imported_study.h"
#include "src/import/storing.h"
#include "src/wire/added_trial_proto.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

// Time for a call that stores a batch of trials. A choice: a full batch takes seconds.
constexpr absl::Duration kBatchTimeout = absl::Minutes(10);

struct ImportArgs {
  std::string path;
  imports::ImportOptions options;
  std::string parameters;  // Names with commas.
  bool dry_run = false;
};

// The server that the command talks to.
class ServerTarget final : public imports::Target {
 public:
  explicit ServerTarget(Connection& connection) : connection_(connection) {}

  absl::Status CreateStudy(const StudySpec& spec) override {
    return cli::CreateStudy(connection_, spec).status();
  }
  absl::Status AddTrials(const std::string& study,
                         const std::vector<TrialAddition>& trials) override {
    v1::AddTrialsRequest request;
    request.set_parent(wire::StudyResource(study));
    request.set_request_id(NewRequestId());
    for (const TrialAddition& trial : trials) wire::EncodeAddedTrial(trial, request.add_trials());
    return connection_.CallOn(study, &Stub::AddTrials, request, kBatchTimeout).status();
  }
  absl::StatusOr<StudySpec> GetDefinition(const std::string& study) override {
    VERNIER_ASSIGN_OR_RETURN(StudyRecord record, GetStudy(connection_, study));
    return std::move(record.study.spec);
  }
  absl::Status SetLabels(const std::string& study, const StudySpec& with_labels) override {
    v1::UpdateStudyRequest request;
    request.set_name(wire::StudyResource(study));
    request.set_request_id(NewRequestId());
    request.mutable_study()->set_name(request.name());
    auto& labels = *request.mutable_study()->mutable_spec()->mutable_labels();
    for (const auto& [key, value] : with_labels.labels) labels[key] = value;
    request.mutable_update_mask()->add_paths("spec.labels");
    return connection_.Call(&Stub::UpdateStudy, request).status();
  }
  absl::Status DeleteStudy(const std::string& study) override {
    v1::DeleteStudyRequest request;
    request.set_name(wire::StudyResource(study));
    request.set_request_id(NewRequestId());
    return connection_.Call(&Stub::DeleteStudy, request).status();
  }

 private:
  Connection& connection_;
};

// A completed trial whose objective is NaN or infinite becomes a failed one.
bool HasDiverged(const TrialAddition& trial, const StudySpec& spec) {
  return trial.last.has_value() && !trial.stopped.has_value() &&
         std::ranges::any_of(spec.objectives, [&](const Objective& objective) {
           const auto value = trial.last->metrics.find(objective.metric);
           return value != trial.last->metrics.end() && !std::isfinite(value->second);
         });
}

std::string_view EndOfTrial(const TrialAddition& trial, const StudySpec& spec) {
  if (trial.failed.has_value() || HasDiverged(trial, spec)) return "failed";
  if (trial.infeasible.has_value()) return "infeasible";
  if (trial.stopped.has_value()) return "stopped early";
  return trial.last.has_value() ? "completed" : "to be run";
}

// Numbers of trials by what became of them, in this order.
std::vector<std::pair<std::string_view, std::size_t>> CountEnds(
    const imports::ImportedStudy& study) {
  std::vector<std::pair<std::string_view, std::size_t>> counts = {
      {"completed", 0}, {"stopped early", 0}, {"failed", 0}, {"infeasible", 0}, {"to be run", 0}};
  for (const TrialAddition& trial : study.trials) {
    for (auto& [end, count] : counts) count += end == EndOfTrial(trial, study.spec) ? 1 : 0;
  }
  std::erase_if(counts, [](const auto& count) { return count.second == 0; });
  return counts;
}

// "12 trials (10 completed, 2 failed)".
std::string DescribeTrials(const imports::ImportedStudy& study) {
  std::string ends;
  for (const auto& [end, count] : CountEnds(study)) {
    ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", count, end);
  }
  const std::size_t count = study.trials.size();
  return fmt::format(
      "{} trial{}{}", count, count == 1 ? "" : "s", ends.empty() ? "" : fmt::format(" ({})", ends));
}

nlohmann::ordered_json ImportJson(const imports::ImportedStudy& study) {
  nlohmann::ordered_json ends = nlohmann::ordered_json::object();
  for (const auto& [end, count] : CountEnds(study)) ends[std::string(end)] = count;
  return {{"format", study.format},
          {"study", codec::StudySpecToJson(study.spec)},
          {"trials", ends},
          {"notes", study.notes}};
}

std::string NoteLines(const std::vector<std::string>& notes, std::string_view before) {
  std::string text;
  for (const std::string& note : notes) text += fmt::format("{}{}\n", before, note);
  return text;
}

// Comments of YAML, so that the output is a study file.
std::string DryRunText(const imports::ImportedStudy& study) {
  return fmt::format("{}# {}; nothing was stored\n{}",
                     codec::StudySpecToYaml(study.spec),
                     DescribeTrials(study),
                     NoteLines(study.notes, "# "));
}

absl::StatusOr<imports::ImportedStudy> Read(const ImportArgs& args) {
  imports::ImportOptions options = args.options;
  if (!args.parameters.empty()) options.parameters = absl::StrSplit(args.parameters, ',');
  absl::StatusOr<imports::ImportedStudy> study = imports::ReadStudy(args.path, options);
  if (!study.ok()) return WithHint(study.status(), "nothing was stored");
  ResolvePaths(args.path, study->spec);
  return study;
}

absl::StatusOr<ExitCode> Import(Context& context, const ImportArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const imports::ImportedStudy study, Read(args));
  VERNIER_ASSIGN_OR_RETURN(
      Connection connection,
      context.Connect(args.dry_run ? MissingStore::kDoWithout : MissingStore::kCreate));
  const auto with_hint = [](const absl::Status& status) {
    return GetReason(status) == Reason::kStudyExists
               ? WithHint(status, "--name NAME imports it under another name")
               : status;
  };
  if (args.dry_run) {
    const auto valid = CreateStudy(connection, study.spec, /*validate_only=*/true);
    VERNIER_RETURN_IF_ERROR(with_hint(valid.status()));
    context.output().Item(DryRunText(study), ImportJson(study));
    return ExitCode::kOk;
  }
  ServerTarget target(connection);
  VERNIER_RETURN_IF_ERROR(with_hint(imports::StoreStudy(study, target)));
  context.output().Item(fmt::format("study '{}' imported: {}\n{}",
                                    study.spec.name,
                                    DescribeTrials(study),
                                    NoteLines(study.notes, "  ")),
                        ImportJson(study));
  return ExitCode::kOk;
}

std::string FormatNames() {
  std::vector<std::string> names;
  for (const imports::Format& format : imports::ListFormats()) names.push_back(format.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void AddStudyImport(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<ImportArgs>(
      study, "import", "Import a study of another tool, with its trials", &Import, chosen);
  command
      ->add_option("FILE",
                   args->path,
                   "SQLite storage or journal of Optuna, datastore of Vizier, folder of Ray Tune, "
                   "definition of Katib, "
                   "Determined or Weights & Biases, or table of trials in CSV")
      ->required();
  command->add_option(
      "--name", args->options.name, "Name of the study here; default: its name there");
  command->add_option("--study", args->options.study, "Study in the file, if it has several");
  command->add_option(
      "--format", args->options.format, "Format: " + FormatNames() + "; default: found out");
  command
      ->add_option("--objective",
                   args->options.objectives,
                   "Metric to optimise: maximize:METRIC or minimize:METRIC; repeatable")
      ->allow_extra_args(false);
  command->add_option("--space",
                      args->options.space,
                      "Study file, or definition of another tool, with the parameters");
  command->add_option(
      "--parameters", args->parameters, "Columns of a table that are parameters: NAME,…");
  command->add_flag("--dry-run",
                    args->dry_run,
                    "Print the study file, the number of trials and what changes; store nothing");
}

}  // namespace vernier::cli
