#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/job_output.h"
#include "src/cli/outcome_text.h"
#include "src/cli/resources.h"
#include "src/cli/stopping_source.h"
#include "src/cli/stopping_text.h"
#include "src/cli/study_text.h"
#include "src/cli/study_update.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/codec/study_file.h"
#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/core/stopped_early.h"
#include "src/core/stopping_savings.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

// The value of the first objective in the best trial; nothing without one.
absl::StatusOr<std::optional<double>> BestValue(Connection& connection, const StudyRecord& study) {
  if (!study.study.best || study.study.spec.objectives.empty()) return std::nullopt;
  VERNIER_ASSIGN_OR_RETURN(
      const TrialRecord best,
      GetTrial(connection, study.name(), std::to_string(study.study.best->value())));
  return ObjectiveOf(best.trial, study.objective().metric);
}

// A study as a row of CSV: its progress, not its definition.
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

// Columns of the list of studies. NAME and OBJECTIVE are shortened if lines are too long, down to `least`.
std::vector<Column> StudyColumns() {
  constexpr int kLeast = 12;
  return {{.name = "NAME", .flexible = true, .least = kLeast},
          {.name = "STATE"},
          {.name = "OBJECTIVE", .flexible = true, .least = kLeast},
          {.name = "ALGORITHM"},
          {.name = "TRIALS", .align = Align::kRight},
          {.name = "FAILED", .align = Align::kRight},
          {.name = "BEST", .align = Align::kRight},
          {.name = "AGE", .align = Align::kRight}};
}

// The table for this width. If columns do not fit, the least important ones are left out whole: cut numbers would
// mislead.
Table FittedTable(std::vector<std::vector<Cell>> rows, int width) {
  std::vector<Column> columns = StudyColumns();
  const auto taken = [&] {
    // There is no gap before the first column.
    int sum = -2;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      int widest = DisplayWidth(columns[i].name);
      for (const std::vector<Cell>& row : rows) {
        widest = std::max(widest, DisplayWidth(row[i].text));
      }
      sum += 2 + (columns[i].flexible ? std::min(widest, columns[i].least) : widest);
    }
    return sum;
  };
  for (const std::string_view name : {"ALGORITHM", "AGE", "FAILED", "OBJECTIVE"}) {
    if (taken() <= width) break;
    const auto at = std::ranges::find(columns, name, &Column::name) - columns.begin();
    columns.erase(columns.begin() + at);
    for (std::vector<Cell>& row : rows) row.erase(row.begin() + at);
  }
  Table table(std::move(columns));
  for (std::vector<Cell>& row : rows) table.AddRow(std::move(row));
  return table;
}

absl::StatusOr<ExitCode> PrintStudies(Context& context, const Query& query) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  std::vector<std::string> damaged;
  VERNIER_ASSIGN_OR_RETURN(const auto studies, ListStudies(connection, query, &damaged));
  std::vector<std::vector<Cell>> cells;
  auto items = nlohmann::ordered_json::array();
  auto rows = nlohmann::ordered_json::array();
  for (const v1::Study& message : studies) {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, RecordOf(message));
    const Study& study = record.study;
    std::optional<double> best;
    // One call for each study, so only for formats that show it.
    if (context.output().is_table() || context.output().format() == Format::kCsv) {
      const absl::StatusOr<std::optional<double>> value = BestValue(connection, record);
      // A damaged study must not hide the others.
      if (absl::IsDataLoss(value.status())) damaged.emplace_back(value.status().message());
      if (!value.ok() && !absl::IsDataLoss(value.status())) return value.status();
      best = value.value_or(std::nullopt);
    }
    const auto& bound = study.spec.budget.trials;
    cells.push_back(
        {{study.spec.name, Style::kBold},
         {std::string(StudyStateName(study.state)), StyleOf(study.state)},
         {DescribeObjectives(study.spec.objectives)},
         {study.spec.algorithm.name},
         {bound ? fmt::format("{}/{}", study.trials, *bound) : std::to_string(study.trials)},
         {std::to_string(study.failed)},
         {DescribeBestValue(record, best)},
         {FormatElapsed(context.Now() - study.created)}});
    items.push_back(ProtoToJson(message));
    rows.push_back(CsvRow(study, items.back()));
    rows.back()["best_value"] = best ? nlohmann::ordered_json(*best) : nlohmann::ordered_json();
  }
  for (const std::string& error : damaged) context.console().err << "warning: " << error << "\n";
  if (studies.empty() && damaged.empty() && query.filter.empty()) {
    context.console().err << "no studies yet; `vernier study create FILE` makes one\n";
  }
  const bool is_cut = context.console().is_terminal && !context.output().is_wide();
  const int width = is_cut ? context.console().width : std::numeric_limits<int>::max();
  context.output().List(FittedTable(std::move(cells), width), items, rows);
  return ExitCode::kOk;
}

struct ShowArgs {
  std::string study;
  bool file = false;
};

// The note of the newest trial's suggestion.
absl::StatusOr<std::string> NewestNote(Connection& connection, const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto newest,
                           ListTrials(connection, study, {.sort = "-number", .limit = 1}));
  if (newest.empty()) return std::string();
  const Trial& trial = newest.front().trial;
  if (trial.suggestion.note.empty()) return std::string();
  return fmt::format("trial {}: {}", trial.number.value(), trial.suggestion.note);
}

// Trials with curves up to which `study show` simulates a rule: each costs a call.
constexpr std::int64_t kMostSimulated = 200;

// What the rule of a study that does not act on it would have done.
absl::Status AddUnactedRule(Context& context,
                            Connection& connection,
                            const StudyRecord& study,
                            StudyFacts& facts) {
  const absl::StatusOr<ReportedRule> rule = ChooseReportedRule(study.study.spec, "", {});
  // The server may have rules of its own, which are unknown here.
  if (!rule.ok() || rule->origin != RuleOrigin::kOwn) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(std::vector<TrialRecord> trials, ListTrials(connection, study, {}));
  const auto has_curve = [](const TrialRecord& record) { return record.trial.measurements > 0; };
  if (std::ranges::count_if(trials, has_curve) > kMostSimulated) {
    facts.early_stopping = fmt::format(
        "rule not acted on; `vernier study stopping-report {}` shows what it would have stopped",
        study.name());
    return absl::OkStatus();
  }
  VERNIER_ASSIGN_OR_RETURN(
      const StoppingSimulation simulation,
      SimulateRule(context, connection, study, std::move(trials), *rule->rule));
  facts.early_stopping = DescribeUnactedRule(simulation);
  facts.early_stopping_json = UnactedRuleJson(simulation);
  return absl::OkStatus();
}

// What the rule of the study has saved.  REQUIRES: it stopped a trial.
absl::Status AddSavings(Connection& connection, const StudyRecord& study, StudyFacts& facts) {
  std::vector<Trial> trials;
  VERNIER_RETURN_IF_ERROR(ForEachTrial(connection, study, {}, [&trials](TrialRecord record) {
    trials.push_back(std::move(record.trial));
    return absl::OkStatus();
  }));
  const StoppingSavings savings = EstimateSavings(trials);
  facts.early_stopping = DescribeSavings(savings, std::ssize(trials));
  facts.early_stopping_json = SavingsJson(savings);
  return absl::OkStatus();
}

absl::StatusOr<StudyFacts> FactsOf(Context& context,
                                   Connection& connection,
                                   const StudyRecord& study) {
  StudyFacts facts;
  VERNIER_ASSIGN_OR_RETURN(facts.best, BestValue(connection, study));
  VERNIER_ASSIGN_OR_RETURN(facts.note, NewestNote(connection, study));
  if (study.study.spec.stopping.name == "none" && study.study.completed == 0) return facts;
  VERNIER_ASSIGN_OR_RETURN(const auto stopped,
                           ListTrials(connection, study, {.filter = "stopped"}));
  facts.paused = std::ranges::count_if(
      stopped, [](const TrialRecord& record) { return record.trial.state == TrialState::kPaused; });
  facts.stopped = static_cast<std::int64_t>(stopped.size()) - facts.paused;
  const auto is_by_rule = [](const TrialRecord& record) { return IsStoppedByRule(record.trial); };
  if (!ActsOnStopping(study.study.spec)) {
    VERNIER_RETURN_IF_ERROR(AddUnactedRule(context, connection, study, facts));
  } else if (std::ranges::any_of(stopped, is_by_rule)) {
    VERNIER_RETURN_IF_ERROR(AddSavings(connection, study, facts));
  }
  return facts;
}

// Prints the study file from which `study create` makes the same study.
absl::StatusOr<ExitCode> ShowFile(Context& context, const StudySpec& spec) {
  const nlohmann::ordered_json file = codec::StudySpecToJson(spec);
  switch (context.output().format()) {
    case Format::kTable:
    case Format::kWide:
    case Format::kYaml:
      context.console().out << codec::JsonToYaml(file);
      return ExitCode::kOk;
    case Format::kJson:
      context.console().out << ToJsonText(file) << '\n';
      return ExitCode::kOk;
    default:
      return InvalidArgument("--output: a study file is YAML or JSON, got '{}'",
                             context.flags().output);
  }
}

absl::StatusOr<ExitCode> ShowStudy(Context& context, const ShowArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  if (args.file) return ShowFile(context, study.study.spec);
  VERNIER_ASSIGN_OR_RETURN(const StudyFacts facts, FactsOf(context, connection, study));
  VERNIER_ASSIGN_OR_RETURN(const auto amendments, ListAmendments(connection, study));
  nlohmann::ordered_json item = ProtoToJson(study.message);
  item["stopped_count"] = facts.stopped;
  item["paused_count"] = facts.paused;
  item.update(facts.early_stopping_json);
  context.output().Item(DescribeStudy(study, facts, context.zone(), amendments), item);
  return ExitCode::kOk;
}

struct BestArgs {
  std::string study;
  std::string export_to;
};

// Copies the trial's job directory.
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

// Shows the optimal trials, or says why there is none.
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

absl::StatusOr<ExitCode> ShowBest(Context& context, const BestArgs& args) {
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
  VERNIER_ASSIGN_OR_RETURN(const StudySpec definition,
                           DefinitionOf(connection, study, trial.trial));
  context.output().Item(DescribeBest(study, definition, trial, context.Now()).Text(),
                        ProtoToJson(trial.message));
  return ExitCode::kOk;
}

}  // namespace

void AddStudyList(CLI::App& study, Action& chosen) {
  auto [command, query] = AddCommand<Query>(study, "list", "List studies", &PrintStudies, chosen);
  AddQueryOptions(*command,
                  "Only these studies, e.g. 'state = ACTIVE'",
                  "Sort by columns, - for descending: name, -create_time, trial_count, …",
                  *query);
}

void AddStudyShow(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<ShowArgs>(
      study, "show", "Show the definition and the progress of a study", &ShowStudy, chosen);
  AddStudyOption(*command, args->study);
  command->add_flag(
      "--as-file", args->file, "Print its study file instead, as input for `study create`");
}

void AddStudyBest(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<BestArgs>(
      study,
      "best",
      "Show the best trial and how to reproduce it; with several objectives, all optimal trials",
      &ShowBest,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_option(
      "--export", args->export_to, "Copy the trial's output folder to this new folder");
}

}  // namespace vernier::cli
