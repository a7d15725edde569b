#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/plot_data.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/pareto.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

struct ParetoArgs {
  std::string study;
  std::string x;
  std::string y;
  std::string svg;
};

// The objective that the option names.
absl::StatusOr<Objective> FindObjective(const StudySpec& spec,
                                        std::string_view option,
                                        const std::string& metric) {
  std::vector<std::string> known;
  for (const Objective& objective : spec.objectives) {
    if (objective.metric == metric) return objective;
    known.push_back(objective.metric);
  }
  return InvalidArgument(
      "{}: must be one of the objectives {}, got '{}'", option, fmt::join(known, ", "), metric);
}

// The first objective that is not `other`.
std::string FirstBut(const StudySpec& spec, const std::string& other) {
  const auto found = std::find_if(
      spec.objectives.begin(), spec.objectives.end(), [&other](const Objective& objective) {
        return objective.metric != other;
      });
  return found->metric;
}

// What stands along the axes: the objectives of these names, the first ones that are left where a name is empty.
absl::StatusOr<ParetoPicture> ChooseAxes(const StudyRecord& study,
                                         const std::string& x_or_empty,
                                         const std::string& y_or_empty) {
  const StudySpec& spec = study.study.spec;
  if (!study.has_several_objectives()) {
    return InvalidArgument("study '{}' has one objective; `vernier plot history {}` draws it",
                           study.name(),
                           study.name());
  }
  const std::string x = !x_or_empty.empty() ? x_or_empty : FirstBut(spec, y_or_empty);
  const std::string y = !y_or_empty.empty() ? y_or_empty : FirstBut(spec, x);
  ParetoPicture picture = {.study = study.name(), .x = {}, .y = {}, .points = {}};
  VERNIER_ASSIGN_OR_RETURN(picture.x, FindObjective(spec, "--x", x));
  VERNIER_ASSIGN_OR_RETURN(picture.y, FindObjective(spec, "--y", y));
  if (x == y) return InvalidArgument("--y: must be another objective than --x, got '{}'", y);
  return picture;
}

void AddPoints(const StudyRecord& study,
               const std::vector<TrialRecord>& trials,
               ParetoPicture& picture) {
  for (const TrialRecord& record : trials) {
    const Trial& trial = record.trial;
    if (trial.state != TrialState::kCompleted) continue;
    const auto x = ObjectiveOf(trial, picture.x.metric);
    const auto y = ObjectiveOf(trial, picture.y.metric);
    if (!x || !y || !std::isfinite(*x) || !std::isfinite(*y)) continue;
    picture.points.push_back({.trial = trial.number.value(),
                              .x = *x,
                              .y = *y,
                              .optimal = study.IsOptimal(trial.number),
                              .breaks_constraint = study.BreaksConstraint(trial)});
  }
}

ordered_json ParetoToJson(const ParetoPicture& picture) {
  auto items = ordered_json::array();
  for (const ParetoPoint& point : picture.points) {
    items.push_back({{"trial", point.trial},
                     {picture.x.metric, point.x},
                     {picture.y.metric, point.y},
                     {"optimal", point.optimal},
                     {"breaks_constraint", point.breaks_constraint}});
  }
  return items;
}

absl::StatusOr<ExitCode> PlotPareto(Context& context, const ParetoArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const ParetoPicture picture,
                           LoadPareto(connection, study, args.x, args.y));
  Output& output = context.output();
  if (!args.svg.empty()) {
    VERNIER_RETURN_IF_ERROR(WriteSvg(ParetoSvg(picture), args.svg));
    output.Say(fmt::format("{} trials drawn to {}", picture.points.size(), args.svg));
    return ExitCode::kOk;
  }
  if (!output.is_table()) {
    output.List(Table({}), ParetoToJson(picture));
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  for (const std::string& line :
       DrawPareto(picture, {.width = console.width, .height = 16}, console.unicode)) {
    output.Say(line);
  }
  return ExitCode::kOk;
}

}  // namespace

absl::StatusOr<ParetoPicture> LoadPareto(Connection& connection,
                                         const StudyRecord& study,
                                         const std::string& x,
                                         const std::string& y) {
  VERNIER_ASSIGN_OR_RETURN(ParetoPicture picture, ChooseAxes(study, x, y));
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  AddPoints(study, trials, picture);
  return picture;
}

void AddPlotPareto(CLI::App& plot, Action& chosen) {
  auto [command, args] = AddCommand<ParetoArgs>(
      plot,
      "pareto",
      "Draw two objectives of every completed trial, and the line of those that none dominates",
      &PlotPareto,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--x", args->x, "Objective across; the first if not given");
  command->add_option("--y", args->y, "Objective up; the next if not given");
  command->add_option("--svg", args->svg, "Write an SVG file instead");
}

}  // namespace vernier::cli
