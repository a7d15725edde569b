#include <string>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/job_output.h"
#include "src/cli/outcome_text.h"
#include "src/cli/resources.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

// A study as a row of CSV: how it stands, not what it is made of.
nlohmann::ordered_json CsvRow(const Study& study, const nlohmann::ordered_json& item) {
  nlohmann::ordered_json row = {{"name", study.spec.name},
                                {"state", StudyStateName(study.state)},
                                {"objective", DescribeObjectives(study.spec.objectives)},
                                {"algorithm", study.spec.algorithm.name}};
  for (const char* key : {"trial_count",
                          "completed_count",
                          "failed_count",
                          "open_count",
                          "best_trial",
                          "create_time",
                          "update_time",
                          "reason"}) {
    row[key] = item[key];
  }
  return row;
}

absl::StatusOr<ExitCode> List(Context& context, const Query& query) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const auto studies, ListStudies(connection, query));
  Table table({{.name = "NAME", .flexible = true},
               {.name = "STATE"},
               {.name = "OBJECTIVE", .flexible = true},
               {.name = "ALGORITHM"},
               {.name = "TRIALS", .align = Align::kRight},
               {.name = "FAILED", .align = Align::kRight},
               {.name = "BEST", .align = Align::kRight},
               {.name = "AGE", .align = Align::kRight}});
  auto items = nlohmann::ordered_json::array();
  auto rows = nlohmann::ordered_json::array();
  for (const v1::Study& message : studies) {
    VERNIER_ASSIGN_OR_RETURN(const Study study, wire::DecodeStudy(message));
    const auto& bound = study.spec.budget.trials;
    table.AddRow(
        {{study.spec.name, Style::kBold},
         {std::string(StudyStateName(study.state)), StyleOf(study.state)},
         {DescribeObjectives(study.spec.objectives)},
         {study.spec.algorithm.name},
         {bound ? fmt::format("{}/{}", study.trials, *bound) : std::to_string(study.trials)},
         {std::to_string(study.failed)},
         {study.best ? std::to_string(study.best->value()) : "-"},
         {FormatElapsed(context.Now() - study.created)}});
    items.push_back(ProtoToJson(message));
    rows.push_back(CsvRow(study, items.back()));
  }
  if (studies.empty() && query.filter.empty()) {
    context.console().err << "no studies yet; `vernier study create FILE` makes one\n";
  }
  context.output().List(table, items, rows);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Show(Context& context, const StudyArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  context.output().Item(DescribeStudy(study, context.zone()), ProtoToJson(study.message));
  return ExitCode::kOk;
}

struct BestArgs {
  std::string study;
  std::string export_to;
};

// Copies what a trial wrote into its job directory.
absl::Status ExportOutput(Context& context,
                          const StudySpec& spec,
                          TrialNumber trial,
                          const std::string& to) {
  VERNIER_ASSIGN_OR_RETURN(const std::string from, JobOutputOf(spec, trial));
  VERNIER_ASSIGN_OR_RETURN(const FolderSize size, CopyFolder(from, to));
  context.console().err << fmt::format("copied {} of trial {} to {}: {} files, {}\n",
                                       from,
                                       trial.value(),
                                       to,
                                       size.files,
                                       FormatBytes(size.bytes));
  return absl::OkStatus();
}

// The trials that no other dominates, or why there is none.
absl::StatusOr<ExitCode> Optimal(Context& context,
                                 Connection& connection,
                                 const StudyRecord& study,
                                 const std::string& export_to) {
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  if (!study.study.best) return NotFound("{}", WhyNoBest(study, trials));
  const std::vector<TrialRecord> optimal = SelectOptimal(study, trials);
  for (const TrialRecord& record : optimal) {
    if (export_to.empty()) break;
    const TrialNumber trial = record.trial.number;
    VERNIER_RETURN_IF_ERROR(ExportOutput(
        context, study.study.spec, trial, fmt::format("{}/{}", export_to, trial.value())));
  }
  ListOptimal(context.output(), study, optimal);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Best(Context& context, const BestArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  if (study.has_several_objectives() || !study.study.best)
    return Optimal(context, connection, study, args.export_to);
  if (!args.export_to.empty()) {
    VERNIER_RETURN_IF_ERROR(
        ExportOutput(context, study.study.spec, *study.study.best, args.export_to));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const TrialRecord trial,
      GetTrial(connection, args.study, std::to_string(study.study.best->value())));
  context.output().Item(DescribeBest(study, trial, context.Now()), ProtoToJson(trial.message));
  return ExitCode::kOk;
}

}  // namespace

void AddStudyList(CLI::App& study, Action& chosen) {
  auto [command, query] =
      AddCommand<Query>(study, "list", "List the studies of the store", &List, chosen);
  AddQueryOptions(*command,
                  "Only those, e.g. 'state = ACTIVE'",
                  "Columns, - for descending: name, -create_time, trial_count, …",
                  *query);
}

void AddStudyShow(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<StudyArgs>(
      study, "show", "Show a study: its definition and how far it is", &Show, chosen);
  AddStudyOption(*command, args->study);
}

void AddStudyBest(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<BestArgs>(
      study,
      "best",
      "Show the best trial and how to reproduce it; with several objectives, every trial that no "
      "other dominates",
      &Best,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--export",
                      args->export_to,
                      "Copy what it wrote into its job directory to this folder, which must not be "
                      "there yet");
}

}  // namespace vernier::cli
