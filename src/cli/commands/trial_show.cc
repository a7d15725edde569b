// `trial list`, `show` and `metrics`. CSV and jsonl are streamed, since lists may have a million trials; a table is
// laid out as a whole. Curves cost one call for each trial and are left out of long lists.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/job_description.h"
#include "src/cli/resources.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/trial_columns.h"
#include "src/cli/trial_csv.h"
#include "src/cli/trial_text.h"
#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

// Longest list that is shown with curves. A choice: 200 calls take a moment.
constexpr std::size_t kMostCurves = 200;
// Points requested for a curve: more than eight characters can show.
constexpr std::int32_t kPointsOfCurve = 200;

struct ListTrialsArgs {
  std::string study;
  std::string columns;
  Query query;
};

absl::StatusOr<std::vector<TrialSummary>> RowsOf(Context& context,
                                                 Connection& connection,
                                                 const StudyRecord& study,
                                                 const std::vector<TrialRecord>& trials) {
  std::vector<TrialSummary> rows;
  for (const TrialRecord& trial : trials) {
    TrialSummary row = RowOf(trial, study, context.Now());
    if (trial.message.measurement_count() > 1 && trials.size() <= kMostCurves) {
      const std::string& metric = study.objective().metric;
      VERNIER_ASSIGN_OR_RETURN(
          const auto measurements,
          SampleMeasurements(connection, trial.message, metric, kPointsOfCurve));
      row.curve = CurveOf(measurements, metric);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Last step of the study's longest curve, for "STOPPED 1/10"; 0 if it is not needed: no trial of the list was stopped,
// or the list is complete.
absl::StatusOr<std::int64_t> LongestCurve(Connection& connection,
                                          const StudyRecord& study,
                                          const std::vector<TrialSummary>& rows,
                                          bool is_all) {
  std::int64_t longest = 0;
  const bool is_asked = std::any_of(
      rows.begin(), rows.end(), [](const TrialSummary& row) { return row.stopped_early; });
  if (is_all || !is_asked) return longest;
  VERNIER_RETURN_IF_ERROR(ForEachTrial(connection, study, {}, [&](const TrialRecord& trial) {
    longest = std::max(longest, LastStepOf(trial.trial));
    return absl::OkStatus();
  }));
  return longest;
}

// Prints lists that need not be held in memory: CSV with all columns, and jsonl.
absl::StatusOr<ExitCode> StreamList(Context& context,
                                    Connection& connection,
                                    const StudyRecord& study,
                                    const Query& query) {
  Output& output = context.output();
  if (output.format() == Format::kCsv) {
    VERNIER_RETURN_IF_ERROR(
        WriteTrialCsv(connection, study, query, context.console().out, output.options().headers));
    return ExitCode::kOk;
  }
  VERNIER_RETURN_IF_ERROR(ForEachTrial(connection, study, query, [&](const TrialRecord& trial) {
    output.StreamItem("", ProtoToJson(trial.message));
    return absl::OkStatus();
  }));
  return ExitCode::kOk;
}

// Names after "metrics." or "parameters." in a filter or an order.
std::vector<std::string> NamesAfter(std::string_view prefix, const std::string& text) {
  constexpr std::string_view kEnds = " <>=!,()\"'";
  std::vector<std::string> names;
  for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at)) {
    at += prefix.size();
    names.push_back(text.substr(at, text.find_first_of(kEnds, at) - at));
  }
  return names;
}

// Warns of names that no trial of the list has. For the server they are no error, since trials may still report them;
// for the user a misspelt name just gives an empty list.
void NoteUnknownNames(Context& context,
                      const StudyRecord& study,
                      std::vector<std::string> metrics,
                      const Query& query) {
  for (const Objective& objective : study.study.spec.objectives) {
    if (std::ranges::find(metrics, objective.metric) == metrics.end()) {
      metrics.push_back(objective.metric);
    }
  }
  const auto note =
      [&](std::string_view what, std::string_view prefix, const std::vector<std::string>& known) {
        std::set<std::string> told;
        for (const std::string& text : {query.filter, query.sort}) {
          for (const std::string& name : NamesAfter(prefix, text)) {
            if (std::ranges::find(known, name) != known.end() || !told.insert(name).second)
              continue;
            context.console().err << fmt::format(
                "vernier: warning: no trial of this list has {} '{}'{}\n",
                what,
                name,
                NearestHint(name, known));
          }
        }
      };
  note("a metric", "metrics.", metrics);
  note("a parameter", "parameters.", study.parameter_names());
}

absl::StatusOr<ExitCode> PrintTrials(Context& context, const ListTrialsArgs& args) {
  Output& output = context.output();
  const bool chooses = !args.columns.empty();
  if (chooses && !output.is_table() && output.format() != Format::kCsv) {
    return InvalidArgument("--columns: is for tables and CSV, got '-o {}'", context.flags().output);
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  const bool is_streamed = output.format() == Format::kJsonl || output.format() == Format::kCsv;
  if (is_streamed && !chooses) return StreamList(context, connection, study, args.query);
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, args.query));
  std::vector<TrialSummary> rows;
  TrialColumnContext columns_of = {
      .study = study, .metrics = MetricNames(study, trials), .scale = {}, .zone = context.zone()};
  NoteUnknownNames(context, study, columns_of.metrics, args.query);
  if (output.is_table()) {
    if (trials.size() > kMostCurves && args.columns.empty()) {
      context.console().err << fmt::format(
          "vernier: warning: curves are shown in lists of at most {0} trials; try --limit {0}\n",
          kMostCurves);
    }
    VERNIER_ASSIGN_OR_RETURN(rows, RowsOf(context, connection, study, trials));
    const bool is_all = args.query.filter.empty() && args.query.limit == 0;
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t longest,
                             LongestCurve(connection, study, rows, is_all));
    columns_of.scale = ScaleOf(rows, context.console().unicode, longest);
  }
  std::vector<TrialColumn> columns;
  if (chooses) {
    VERNIER_ASSIGN_OR_RETURN(columns, ChooseColumns(args.columns, columns_of));
  } else if (output.is_wide()) {
    columns = WideColumns(columns_of);
  }
  const Table table = columns.empty() || !output.is_table()
                          ? TrialTable(rows, study.study.spec.objectives, columns_of.scale)
                          : MakeTrialTable(columns, trials, rows);
  ordered_json csv = ordered_json::array();
  if (chooses && !output.is_table()) {
    VERNIER_ASSIGN_OR_RETURN(csv, SelectCsvColumns(columns, TrialCsvRows(study, trials)));
  }
  auto items = ordered_json::array();
  if (!output.is_table() && !chooses) {
    for (const TrialRecord& trial : trials) items.push_back(ProtoToJson(trial.message));
  }
  output.List(table, items, csv);
  return ExitCode::kOk;
}

// Source of the trial's objective, from the last measurement that has it. Empty if there is none.
absl::StatusOr<std::string> SourceOf(Connection& connection,
                                     const StudyRecord& study,
                                     const TrialRecord& trial) {
  const std::string& metric = study.objective().metric;
  const auto& last = trial.trial.last;
  if (last && last->metrics.contains(metric)) return last->source;
  if (trial.message.measurement_count() == 0) return "";
  VERNIER_ASSIGN_OR_RETURN(const auto measurements, ListMeasurements(connection, trial.message));
  for (auto it = measurements.rbegin(); it != measurements.rend(); ++it) {
    if (it->metrics().contains(metric)) return it->source();
  }
  return "";
}

// The server's message, with what is computed from it and its job.
ordered_json TrialToJson(const StudyRecord& study, const TrialRecord& trial) {
  ordered_json json = ProtoToJson(trial.message);
  ordered_json utilization = UtilizationToJson(study.study.spec, trial.trial);
  if (!utilization.is_null()) json["utilization"] = std::move(utilization);
  return json;
}

absl::StatusOr<ExitCode> ShowTrial(Context& context, const TrialArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(TrialRecord trial, GetTrial(connection, args.study, args.trial));
  if (context.output().is_table()) trial.queued = FindQueued(connection, trial);
  std::string source;
  if (context.output().is_table()) {
    VERNIER_ASSIGN_OR_RETURN(source, SourceOf(connection, study, trial));
  }
  context.output().Item(DescribeTrial(study, trial, source, context.Now(), context.zone()),
                        TrialToJson(study, trial));
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> ListMetrics(Context& context, const TrialArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  VERNIER_ASSIGN_OR_RETURN(const auto measurements, ListMeasurements(connection, trial.message));
  auto items = ordered_json::array();
  for (const v1::Measurement& measurement : measurements) items.push_back(ProtoToJson(measurement));
  context.output().List(MeasurementTable(measurements), items);
  return ExitCode::kOk;
}

}  // namespace

void AddTrialList(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<ListTrialsArgs>(trial, "list", "List the trials of a study", &PrintTrials, chosen);
  AddStudyOption(*command, args->study);
  AddQueryOptions(
      *command,
      "Only these trials, e.g. stopped, or 'state = FAILED', or 'metrics.loss < 0.5'",
      "Sort by columns, - for descending: -objective, number, metrics.NAME, parameters.NAME, …",
      args->query);
  command->add_option("--columns",
                      args->columns,
                      "Columns to show after the number, e.g. state,objective,lr,batch");
  command->footer(
      "Columns: number, state, objective, curve, parameters, duration, measurements, attempts, "
      "failure, message, create_time, start_time, end_time, and every parameter and metric by its "
      "name. -o wide shows all parameters and metrics.\n\n7* is the best trial (with several "
      "objectives, an optimal one); 7! breaks an outcome constraint. STOPPED 1/10: the trial was "
      "stopped early, at step 1; the longest curve of the study has 10 steps. Its state in JSON "
      "and in filters is COMPLETED; `--filter stopped` selects it. All curves of one list share "
      "one scale.");
}

void AddTrialShow(CLI::App& trial, Action& chosen) {
  auto [command, args] = AddCommand<TrialArgs>(
      trial, "show", "Show a trial: state, metrics, parameters, attempts", &ShowTrial, chosen);
  AddTrialOptions(*command, args->study, args->trial);
}

void AddTrialMetrics(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<TrialArgs>(trial,
                            "metrics",
                            "List the metrics that a trial reported, step by step",
                            &ListMetrics,
                            chosen);
  AddTrialOptions(*command, args->study, args->trial);
}

}  // namespace vernier::cli
