#include <fstream>
#include <string>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/plot_data.h"
#include "src/cli/resources.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

struct HistoryArgs {
  std::string study;
  std::string svg;
};

// The picture's data, for programs.
ordered_json HistoryToJson(const StudyRecord& study, const History& history) {
  const std::vector<double> best = BestSoFar(history);
  auto items = ordered_json::array();
  for (std::size_t i = 0; i < history.points.size(); ++i) {
    const HistoryPoint& point = history.points[i];
    items.push_back({{"trial", point.trial},
                     {"state", TrialStateName(point.state)},
                     {history.metric, point.value},
                     {"best", best[i] == best[i] ? ordered_json(best[i]) : ordered_json()}});
    if (study.outcome_constraints.empty()) continue;
    items.back()["breaks_constraint"] = point.breaks_constraint;
  }
  return items;
}

absl::StatusOr<ExitCode> PlotHistory(Context& context, const HistoryArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const History history, LoadHistory(connection, study));
  if (!args.svg.empty()) {
    VERNIER_RETURN_IF_ERROR(WriteSvg(HistorySvg(history), args.svg));
    context.output().Say(fmt::format("{} trials drawn to {}", history.points.size(), args.svg));
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  if (!context.output().is_table()) {
    context.output().List(Table({}), HistoryToJson(study, history));
    return ExitCode::kOk;
  }
  for (const std::string& line :
       DrawHistory(history, {.width = console.width, .height = 16}, console.unicode)) {
    context.output().Say(line);
  }
  return ExitCode::kOk;
}

}  // namespace

absl::Status WriteSvg(const std::string& svg, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << svg;
  file.close();
  if (!file) return InvalidArgument("--svg: {} cannot be written", path);
  return absl::OkStatus();
}

absl::StatusOr<History> LoadHistory(Connection& connection, const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  History history = {.study = study.name(),
                     .metric = study.objective().metric,
                     .goal = study.objective().goal,
                     .points = {}};
  for (const TrialRecord& record : trials) {
    const auto value = ObjectiveOf(record.trial, history.metric);
    if (!value) continue;
    history.points.push_back({.trial = record.trial.number.value(),
                              .value = *value,
                              .state = record.trial.state,
                              .stopped_early = record.trial.stop.has_value(),
                              .breaks_constraint = study.BreaksConstraint(record.trial)});
  }
  return history;
}

void AddPlot(CLI::App& root, Action& chosen) {
  CLI::App* plot = root.add_subcommand("plot", "Pictures of a search");
  plot->require_subcommand(1);
  auto [command, args] = AddCommand<HistoryArgs>(
      *plot, "history", "Draw every trial's objective and the best so far", &PlotHistory, chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--svg", args->svg, "Write an SVG file instead");
  AddPlotPareto(*plot, chosen);
}

}  // namespace vernier::cli
