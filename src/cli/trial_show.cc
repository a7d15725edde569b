#include <string>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/job_description.h"
#include "src/cli/resources.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/trial_csv.h"
#include "src/cli/trial_text.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

// Curves cost a call for each trial; a longer list is shown without.
constexpr std::size_t kMostCurves = 200;
// More than a curve in a column can show.
constexpr std::int32_t kPointsOfCurve = 200;

struct ListArgs {
  std::string study;
  Query query;
};

absl::StatusOr<Table> TrialListTable(Context& context,
                                     Connection& connection,
                                     const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials) {
  std::vector<TrialRow> rows;
  for (const TrialRecord& trial : trials) {
    TrialRow row = RowOf(trial, study, context.Now());
    if (trial.message.measurement_count() > 1 && trials.size() <= kMostCurves) {
      const std::string& metric = study.objective().metric;
      VERNIER_ASSIGN_OR_RETURN(
          const auto measurements,
          SampleMeasurements(connection, trial.message, metric, kPointsOfCurve));
      row.curve = CurveOf(measurements, metric);
    }
    rows.push_back(std::move(row));
  }
  return TrialTable(rows, study.study.spec.objectives, context.console().unicode);
}

absl::StatusOr<ExitCode> List(Context& context, const ListArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, args.query));
  Table table({});
  if (context.output().is_table()) {
    VERNIER_ASSIGN_OR_RETURN(table, TrialListTable(context, connection, study, trials));
  }
  auto items = ordered_json::array();
  for (const TrialRecord& trial : trials) items.push_back(ProtoToJson(trial.message));
  context.output().List(table, items, TrialCsvRows(study, trials));
  return ExitCode::kOk;
}

// The trial as the server gives it, and what follows from it and its job.
ordered_json TrialToJson(const StudyRecord& study, const TrialRecord& trial) {
  ordered_json json = ProtoToJson(trial.message);
  ordered_json utilization = UtilizationToJson(study.study.spec, trial.trial);
  if (!utilization.is_null()) json["utilization"] = std::move(utilization);
  return json;
}

absl::StatusOr<ExitCode> Show(Context& context, const TrialArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(TrialRecord trial, GetTrial(connection, args.study, args.trial));
  if (context.output().is_table()) trial.queued = FindQueued(connection, trial);
  context.output().Item(DescribeTrial(study, trial, context.Now(), context.zone()),
                        TrialToJson(study, trial));
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Metrics(Context& context, const TrialArgs& args) {
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
      AddCommand<ListArgs>(trial, "list", "List the trials of a study", &List, chosen);
  AddStudyOption(*command, args->study);
  AddQueryOptions(*command,
                  "Only those, e.g. 'state = RUNNING AND metrics.loss < 0.5'",
                  "Columns, - for descending: -objective, number, metrics.NAME, parameters.NAME, …",
                  args->query);
}

void AddTrialShow(CLI::App& trial, Action& chosen) {
  auto [command, args] = AddCommand<TrialArgs>(
      trial, "show", "Show a trial: its point, its values, its attempts", &Show, chosen);
  AddTrialOptions(*command, args->study, args->trial);
}

void AddTrialMetrics(CLI::App& trial, Action& chosen) {
  auto [command, args] = AddCommand<TrialArgs>(
      trial, "metrics", "Show what a trial reported, step by step", &Metrics, chosen);
  AddTrialOptions(*command, args->study, args->trial);
}

}  // namespace vernier::cli
