// One command for each kind of figure. Each loads a study, makes a figure (src/cli/plot, which knows no connection),
// and either renders it as terminal text or SVG, or prints the data behind it for programs.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/assignment.h"
#include "src/cli/commands/commands.h"
#include "src/cli/model_source.h"
#include "src/cli/plot/comparison.h"
#include "src/cli/plot/contour.h"
#include "src/cli/plot/curves.h"
#include "src/cli/plot/history.h"
#include "src/cli/plot/hypervolume.h"
#include "src/cli/plot/importance.h"
#include "src/cli/plot/parallel.h"
#include "src/cli/plot/pareto.h"
#include "src/cli/plot/rank.h"
#include "src/cli/plot/slice.h"
#include "src/cli/plot/svg_renderer.h"
#include "src/cli/plot/text_renderer.h"
#include "src/cli/plot/timeline.h"
#include "src/cli/plot_data.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/text.h"
#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

// Lines of a parallel figure and rows of a timeline on a terminal; SVG shows all. A choice: more cannot be told apart.
constexpr std::size_t kLinesInTerminal = 25;
constexpr std::size_t kRowsInTerminal = 40;

struct PlotArgs {
  std::string study;
  std::string svg;
  std::string axis = "auto";
  std::string objective;
  std::string metric;
  std::string trials;
  std::vector<std::string> parameters;
  std::vector<std::string> others;
  std::vector<std::string> reference;
  std::string x;
  std::string y;
};

// Inputs of a figure.
struct PlotSource {
  Context& context;
  Connection& connection;
  const plot::StudyData& study;
  const PlotArgs& args;
  bool is_for_terminal = false;

  plot::AxisMode axis() const { return *plot::ParseAxisMode(args.axis); }
  absl::StatusOr<Objective> objective() const {
    return ChooseObjective(study.spec, "--objective", args.objective);
  }
};

// A figure, and its data for -o json and the like.
struct Drawing {
  plot::Figure figure;
  ordered_json rows = ordered_json::array();
  std::size_t other_trials = 0;  // Of other studies than the first.
};

ordered_json NumberOrNull(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

ordered_json ValueToJson(const ParameterValue& value) {
  // Of its own kind: 3 stays an integer, and a category stays text.
  return std::visit([](const auto& each) { return ordered_json(each); }, value);
}

std::string TimeToText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<Drawing> DrawHistory(const PlotSource& source) {
  const plot::StudyData& study = source.study;
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  Drawing drawing;
  VERNIER_ASSIGN_OR_RETURN(drawing.figure, plot::HistoryFigure(study, objective, source.axis()));
  const std::vector<double> best = plot::BestSoFar(study, objective);
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const plot::PlotTrial& trial = study.trials[i];
    const auto value = trial.ValueOf(objective.metric);
    // Data has only what there is; the figure shows trials without a value.
    if (!value) continue;
    drawing.rows.push_back({{"trial", trial.number()},
                            {"state", TrialStateName(trial.trial.state)},
                            {objective.metric, *value},
                            {"best", NumberOrNull(best[i])}});
    // A column that would always be false says nothing.
    if (study.spec.outcome_constraints.empty()) continue;
    drawing.rows.back()["breaks_constraint"] = trial.fate == plot::Fate::kBreaking;
  }
  return drawing;
}

// The study and those to compare it with, which have the same objective.
absl::StatusOr<std::vector<plot::StudyData>> LoadCompared(const PlotSource& source,
                                                          const Objective& objective) {
  std::vector<plot::StudyData> studies = {source.study};
  for (const std::string& name : source.args.others) {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, GetStudy(source.connection, name));
    const std::vector<Objective>& objectives = record.study.spec.objectives;
    if (std::find(objectives.begin(), objectives.end(), objective) == objectives.end()) {
      return InvalidArgument(
          "OTHERS: must {}, which study '{}' does not", plot::Subscription(objective), name);
    }
    VERNIER_ASSIGN_OR_RETURN(plot::StudyData study,
                             LoadStudyData(source.connection, record, source.context.Now()));
    studies.push_back(std::move(study));
  }
  return studies;
}

std::size_t TrialsOfOthers(const std::vector<plot::StudyData>& studies) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < studies.size(); ++i) count += studies[i].trials.size();
  return count;
}

absl::StatusOr<Drawing> DrawCompare(const PlotSource& source) {
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  VERNIER_ASSIGN_OR_RETURN(const auto studies, LoadCompared(source, objective));
  Drawing drawing = {.other_trials = TrialsOfOthers(studies)};
  VERNIER_ASSIGN_OR_RETURN(drawing.figure, plot::CompareFigure(studies, objective, source.axis()));
  for (const plot::StudyData& study : studies) {
    const std::vector<double> best = plot::BestSoFar(study, objective);
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (std::isnan(best[i])) continue;
      drawing.rows.push_back(
          {{"study", study.name()}, {"trial", study.trials[i].number()}, {"best", best[i]}});
    }
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawEdf(const PlotSource& source) {
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  VERNIER_ASSIGN_OR_RETURN(const auto studies, LoadCompared(source, objective));
  Drawing drawing = {.other_trials = TrialsOfOthers(studies)};
  VERNIER_ASSIGN_OR_RETURN(drawing.figure,
                           plot::DistributionFigure(studies, objective, source.axis()));
  for (const plot::StudyData& study : studies) {
    const std::vector<double> values = plot::CountedValues(study, objective);
    for (std::size_t i = 0; i < values.size(); ++i) {
      drawing.rows.push_back(
          {{"study", study.name()},
           {objective.metric, values[i]},
           {"share", static_cast<double>(i + 1) / static_cast<double>(values.size())}});
    }
  }
  return drawing;
}

// Parses --reference; without it, the worst values.
absl::StatusOr<plot::Reference> ChooseReference(const PlotSource& source) {
  const StudySpec& spec = source.study.spec;
  if (source.args.reference.empty()) return plot::WorstValues(source.study);
  VERNIER_ASSIGN_OR_RETURN(plot::Reference reference,
                           ParseMetrics("--reference", source.args.reference));
  for (const auto& [metric, value] : reference) {
    VERNIER_RETURN_IF_ERROR(ChooseObjective(spec, "--reference", metric).status());
    if (!std::isfinite(value)) {
      return InvalidArgument("--reference: {} must be finite, got {}", metric, value);
    }
  }
  for (const Objective& objective : spec.objectives) {
    if (reference.contains(objective.metric)) continue;
    return InvalidArgument("--reference: must have a value of every objective, {} has none",
                           objective.metric);
  }
  return reference;
}

absl::StatusOr<Drawing> DrawHypervolume(const PlotSource& source) {
  // Only for its errors: several objectives are needed.
  VERNIER_RETURN_IF_ERROR(ChoosePair(source.study.spec, "", "").status());
  VERNIER_ASSIGN_OR_RETURN(const plot::Reference reference, ChooseReference(source));
  Drawing drawing = {.figure = plot::HypervolumeFigure(source.study, reference)};
  for (const plot::HypervolumeStep& step : plot::Hypervolumes(source.study, reference)) {
    drawing.rows.push_back({{"trial", step.trial}, {"hypervolume", step.volume}});
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawPareto(const PlotSource& source) {
  VERNIER_ASSIGN_OR_RETURN(const ObjectivePair pair,
                           ChoosePair(source.study.spec, source.args.x, source.args.y));
  Drawing drawing = {.figure = plot::ParetoFigure(source.study, pair.x, pair.y)};
  for (const plot::ParetoPoint& point : plot::ParetoPoints(source.study, pair.x, pair.y)) {
    drawing.rows.push_back({{"trial", point.trial->number()},
                            {pair.x.metric, point.at.x},
                            {pair.y.metric, point.at.y},
                            {"optimal", point.trial->optimal},
                            {"breaks_constraint", point.trial->fate == plot::Fate::kBreaking}});
  }
  return drawing;
}

// Parses "3,7-9,best" as numbers of trials. Empty: all trials with measurements.
absl::StatusOr<std::vector<std::int64_t>> ParseTrials(const plot::StudyData& study,
                                                      const std::string& text) {
  if (text.empty()) return TrialsWithCurves(study);
  std::vector<std::int64_t> numbers;
  const auto bad = [&](std::string_view term) {
    return InvalidArgument(
        "--trials: must be numbers, ranges such as 3-7, best or last, joined by commas, got '{}'",
        Printable(term));
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view term = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    std::int64_t from = 0;
    std::int64_t to = 0;
    if (term == "best" || term == "last") {
      const plot::PlotTrial* trial = term == "best"         ? study.Best(FirstObjective(study.spec))
                                     : study.trials.empty() ? nullptr
                                                            : &study.trials.back();
      if (trial == nullptr) return NotFound("study '{}' has no {} trial yet", study.name(), term);
      numbers.push_back(trial->number());
      continue;
    }
    const char* const end = term.data() + term.size();
    auto read = std::from_chars(term.data(), end, from);
    // Trial numbers are positive, so that "-" can only be that of a range.
    if (read.ec != std::errc() || from < 1) return bad(term);
    to = from;
    if (read.ptr != end) {
      if (*read.ptr != '-') return bad(term);
      read = std::from_chars(read.ptr + 1, end, to);
      if (read.ec != std::errc() || read.ptr != end || to < from) return bad(term);
    }
    bool is_any = false;
    // A range may have gaps, where trials were deleted; it must not be all gap.
    for (const plot::PlotTrial& trial : study.trials) {
      if (trial.number() < from || trial.number() > to) continue;
      numbers.push_back(trial.number());
      is_any = true;
    }
    if (!is_any) return NotFound("study '{}' has no trial {}", study.name(), term);
  }
  // "best,3" may name a trial twice.
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// InvalidArgument: trials have values, and none of this metric.
absl::Status CheckIsReported(const plot::StudyData& study, const std::string& metric) {
  std::set<std::string> reported;
  for (const plot::PlotTrial& each : study.trials) {
    for (const auto& [name, value] : each.trial.final_metrics) reported.insert(name);
    if (!each.trial.last.has_value()) continue;
    for (const auto& [name, value] : each.trial.last->metrics) reported.insert(name);
  }
  if (reported.empty() || reported.contains(metric)) return absl::OkStatus();
  const std::vector<std::string> names(reported.begin(), reported.end());
  return InvalidArgument(
      "--metric: no trial has reported '{}'{}", Printable(metric), NearestHint(metric, names));
}

absl::StatusOr<Drawing> DrawCurves(const PlotSource& source) {
  const plot::StudyData& study = source.study;
  const Objective& first = FirstObjective(study.spec);
  if (study.spec.objectives.empty() && source.args.metric.empty()) {
    return InvalidArgument("--metric: study '{}' has no objective, so name a metric", study.name());
  }
  Objective metric = first;
  if (!source.args.metric.empty()) metric.metric = source.args.metric;
  plot::AxisMode mode = source.axis();
  const auto objective = ChooseObjective(study.spec, "--metric", metric.metric);
  if (objective.ok()) {
    metric = *objective;
  } else if (mode == plot::AxisMode::kAuto) {
    // Only an objective has a bad side, where outliers could be left out.
    mode = plot::AxisMode::kFull;
  }
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ParseTrials(study, source.args.trials));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<plot::Curve> curves,
                           LoadCurves(source.connection, study, metric.metric, trials));
  if (curves.empty() && !objective.ok()) {
    VERNIER_RETURN_IF_ERROR(CheckIsReported(study, metric.metric));
  }
  Drawing drawing;
  // The best by the first objective, if the metric drawn is none.
  const plot::PlotTrial* best = study.Best(objective.ok() ? metric : first);
  VERNIER_ASSIGN_OR_RETURN(drawing.figure, plot::CurvesFigure(study, metric, best, curves, mode));
  for (const plot::Curve& curve : curves) {
    for (const plot::At& point : curve.points) {
      drawing.rows.push_back({{"trial", curve.trial},
                              {"step", static_cast<std::int64_t>(point.x)},
                              {metric.metric, point.y}});
    }
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawImportance(const PlotSource& source) {
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  const ModelChoice model = ChooseModel(source.connection, source.study, objective);
  VERNIER_ASSIGN_OR_RETURN(const plot::Importance importance,
                           FindImportance(source.study, objective, model.get()));
  Drawing drawing = {.figure = plot::ImportanceFigure(source.study, objective, importance)};
  for (const auto& [name, share] : importance.shares) {
    drawing.rows.push_back(
        {{"parameter", name}, {"importance", share}, {"source", importance.source}});
  }
  return drawing;
}

// The parameters named; without names, all.
absl::StatusOr<std::vector<int>> ChosenParameters(const PlotSource& source) {
  const Space& space = source.study.spec.space;
  std::vector<int> chosen;
  for (const std::string& name : source.args.parameters) {
    VERNIER_ASSIGN_OR_RETURN(const int index, ChooseParameter(space, "PARAMETERS", name));
    chosen.push_back(index);
  }
  // Without names, all: the condition is that of the loop.
  for (int i = 0; source.args.parameters.empty() && i < std::ssize(space.parameters()); ++i) {
    chosen.push_back(i);
  }
  return chosen;
}

absl::StatusOr<Drawing> DrawSlice(const PlotSource& source) {
  const plot::StudyData& study = source.study;
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  VERNIER_ASSIGN_OR_RETURN(const std::vector<int> parameters, ChosenParameters(source));
  const ModelChoice model = ChooseModel(source.connection, study, objective);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<plot::Slice> slices,
                           plot::ComputeSlices(study, objective, parameters, model.get()));
  Drawing drawing;
  VERNIER_ASSIGN_OR_RETURN(
      drawing.figure, plot::SliceFigure(study, objective, slices, model.caption(), source.axis()));
  for (const plot::Slice& slice : slices) {
    const std::string& name =
        study.spec.space.parameters()[static_cast<std::size_t>(slice.parameter)].name;
    for (const plot::Slice::Step& step : slice.steps) {
      drawing.rows.push_back({{"parameter", name},
                              {"value", ValueToJson(step.value)},
                              {"mean", step.predicted.mean},
                              {"deviation", step.predicted.deviation}});
    }
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawParallel(const PlotSource& source) {
  const plot::StudyData& study = source.study;
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  Drawing drawing;
  // SVG shows all, and so does data.
  VERNIER_ASSIGN_OR_RETURN(
      drawing.figure,
      plot::ParallelFigure(
          study, objective, source.is_for_terminal ? kLinesInTerminal : 0, source.axis()));
  for (const plot::PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (!value || !std::isfinite(*value)) continue;
    ordered_json row = {{"trial", trial.number()}, {objective.metric, *value}};
    for (const auto& [name, each] : trial.trial.point) {
      row["parameters." + name] = ValueToJson(each);
    }
    drawing.rows.push_back(std::move(row));
  }
  return drawing;
}

// Two parameters: those named, then the most important remaining ones.
absl::StatusOr<std::pair<int, int>> ChooseTwo(const PlotSource& source,
                                              const Objective& objective,
                                              const plot::Model* model,
                                              std::string_view figure) {
  const Space& space = source.study.spec.space;
  if (space.parameters().size() < 2) {
    return InvalidArgument(
        "study '{}' has {} parameter{}, {} needs two; `vernier plot slice {}` draws one",
        source.study.name(),
        space.parameters().size(),
        space.parameters().size() == 1 ? "" : "s",
        figure,
        source.study.name());
  }
  int x = -1;
  int y = -1;
  if (!source.args.x.empty()) {
    VERNIER_ASSIGN_OR_RETURN(x, ChooseParameter(space, "--x", source.args.x));
  }
  if (!source.args.y.empty()) {
    VERNIER_ASSIGN_OR_RETURN(y, ChooseParameter(space, "--y", source.args.y));
  }
  // Only if both were given: a default never is the other one.
  if (x >= 0 && x == y) {
    return InvalidArgument("--y: must be another parameter than --x, got '{}'", source.args.y);
  }
  VERNIER_ASSIGN_OR_RETURN(const plot::Importance importance,
                           FindImportance(source.study, objective, model));
  std::vector<int> ranked;
  for (const auto& [name, share] : importance.shares) {
    if (const auto index = space.Find(name)) ranked.push_back(*index);
  }
  // Parameters without a known importance follow in the study's order.
  for (int i = 0; i < std::ssize(space.parameters()); ++i) ranked.push_back(i);
  // Fills what was not named; those that were named are passed over.
  for (const int index : ranked) {
    if (index == x || index == y) continue;
    if (x < 0) {
      x = index;
    } else if (y < 0) {
      y = index;
    }
  }
  return std::pair(x, y);
}

absl::StatusOr<Drawing> DrawContour(const PlotSource& source) {
  const plot::StudyData& study = source.study;
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  const ModelChoice model = ChooseModel(source.connection, study, objective);
  VERNIER_ASSIGN_OR_RETURN(const auto axes, ChooseTwo(source, objective, model.get(), "a contour"));
  // After the parameters were chosen, so that their errors are told first.
  if (model.get() == nullptr) {
    return FailedPrecondition(
        "study '{}': a contour needs a model: {}", study.name(), model.why_none);
  }
  VERNIER_ASSIGN_OR_RETURN(
      const plot::Surface surface,
      plot::ComputeSurface(study, objective, axes.first, axes.second, *model.model));
  Drawing drawing = {.figure = plot::ContourFigure(study, objective, surface, model.caption())};
  const auto& parameters = study.spec.space.parameters();
  for (std::size_t i = 0; i < surface.means.size(); ++i) {
    if (std::isnan(surface.means[i])) continue;
    const std::size_t across = i % surface.across.size();
    const std::size_t up = i / surface.across.size();
    drawing.rows.push_back(
        {{parameters[static_cast<std::size_t>(surface.x)].name,
          ValueToJson(surface.across[across])},
         {parameters[static_cast<std::size_t>(surface.y)].name, ValueToJson(surface.up[up])},
         {"mean", surface.means[i]}});
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawRank(const PlotSource& source) {
  const plot::StudyData& study = source.study;
  VERNIER_ASSIGN_OR_RETURN(const Objective objective, source.objective());
  const ModelChoice model = ChooseModel(source.connection, study, objective);
  VERNIER_ASSIGN_OR_RETURN(const auto axes,
                           ChooseTwo(source, objective, model.get(), "a rank figure"));
  const auto [x, y] = axes;
  Drawing drawing = {.figure = plot::RankFigure(study, objective, x, y)};
  const auto& parameters = study.spec.space.parameters();
  for (const plot::RankedTrial& each : plot::Ranks(study, objective, x, y)) {
    ordered_json row = {{"trial", each.trial->number()}};
    for (const int index : {x, y}) {
      const std::string& name = parameters[static_cast<std::size_t>(index)].name;
      row[name] = ValueToJson(each.trial->trial.point.at(name));
    }
    row[objective.metric] = *each.trial->ValueOf(objective.metric);
    row["rank"] = each.rank;
    drawing.rows.push_back(std::move(row));
  }
  return drawing;
}

absl::StatusOr<Drawing> DrawTimeline(const PlotSource& source) {
  Drawing drawing = {.figure = plot::TimelineFigure(source.study,
                                                    source.context.zone(),
                                                    source.is_for_terminal ? kRowsInTerminal : 0)};
  for (const plot::Span& span : plot::Timeline(source.study)) {
    const bool is_running = span.phase == plot::Phase::kRunning;
    drawing.rows.push_back(
        {{"trial", span.trial},
         {"attempt", span.attempt > 0 ? ordered_json(span.attempt) : ordered_json()},
         {"phase", plot::PhaseName(span.phase)},
         {"outcome", is_running ? ordered_json(plot::FateName(span.fate)) : ordered_json()},
         {"from", TimeToText(span.from)},
         {"to", TimeToText(span.to)}});
  }
  return drawing;
}

// A template argument, so that each kind has an action of the plain type that AddCommand takes.
using Draw = absl::StatusOr<Drawing> (*)(const PlotSource&);

template <Draw draw>
absl::StatusOr<ExitCode> Plot(Context& context, const PlotArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const plot::StudyData study,
                           LoadStudyData(connection, record, context.Now()));
  Output& output = context.output();
  // Data for programs is complete, as files are.
  const bool is_for_terminal = args.svg.empty() && output.is_table();
  VERNIER_ASSIGN_OR_RETURN(const Drawing drawing,
                           draw({.context = context,
                                 .connection = connection,
                                 .study = study,
                                 .args = args,
                                 .is_for_terminal = is_for_terminal}));
  const Console& console = context.console();
  // Before the formats of output: --svg asks for a file, whatever -o says.
  if (!args.svg.empty()) {
    VERNIER_RETURN_IF_ERROR(
        WriteText("--svg", plot::RenderSvg(drawing.figure), args.svg, console.out));
    // Standard output holds the file; no sentence may follow it.
    if (args.svg == "-") return ExitCode::kOk;
    output.Say(drawing.figure.empty.empty()
                   ? fmt::format("{} trials drawn to {}",
                                 study.trials.size() + drawing.other_trials,
                                 args.svg)
                   : fmt::format("{}; {} says so", drawing.figure.empty, args.svg));
    return ExitCode::kOk;
  }
  if (!output.is_table()) {
    // No table: for people, the figure is drawn below.
    output.List(Table({}), drawing.rows);
    return ExitCode::kOk;
  }
  const plot::TextOptions options = {
      .width = console.width, .height = 16, .unicode = console.unicode, .color = console.color};
  for (const std::string& line : plot::RenderText(drawing.figure, options)) output.Say(line);
  return ExitCode::kOk;
}

void AddAxis(CLI::App& command, PlotArgs& args) {
  command
      .add_option("--axis",
                  args.axis,
                  "Range of values: auto leaves far outliers out, full shows every value, log is "
                  "logarithmic, regret "
                  "shows the distance to the best value")
      ->check(OneOf({"auto", "full", "log", "regret"}));
}

void AddObjective(CLI::App& command, PlotArgs& args) {
  command.add_option("--objective", args.objective, "Objective to draw; default: the first");
}

void AddTwoParameters(CLI::App& command, PlotArgs& args) {
  // Also positional, as the parameters of a slice are.
  command.add_option(
      "X,--x", args.x, "Parameter on the horizontal axis; default: the most important");
  command.add_option(
      "Y,--y", args.y, "Parameter on the vertical axis; default: the next most important");
}

}  // namespace

void AddPlot(CLI::App& root, Action& chosen) {
  CLI::App* plot =
      root.add_subcommand("plot", "Draw figures of a study, in the terminal or as SVG");
  plot->require_subcommand(1);
  const auto add = [&](const char* kind,
                       const char* help,
                       absl::StatusOr<ExitCode> (*run)(Context&, const PlotArgs&)) {
    auto [command, args] = AddCommand<PlotArgs>(*plot, kind, help, run, chosen);
    AddStudyOption(*command, args->study);
    command->add_option("--svg", args->svg, "Write an SVG file instead; - is standard output");
    return std::pair(command, args);
  };
  {
    auto [command, args] =
        add("history", "Objective of every trial, and the best so far", &Plot<&DrawHistory>);
    AddObjective(*command, *args);
    AddAxis(*command, *args);
  }
  {
    auto [command, args] =
        add("curves", "Learning curves: a metric of every trial, step by step", &Plot<&DrawCurves>);
    command->add_option("--metric", args->metric, "Metric to draw; default: the first objective");
    command->add_option(
        "--trials", args->trials, "Trials to draw, such as 3,7-9,best; default: all");
    AddAxis(*command, *args);
  }
  {
    auto [command, args] =
        add("importance", "How much each parameter matters", &Plot<&DrawImportance>);
    AddObjective(*command, *args);
  }
  {
    auto [command, args] =
        add("slice",
            "Each parameter against the objective, with the model's mean and its uncertainty",
            &Plot<&DrawSlice>);
    command->add_option("PARAMETERS", args->parameters, "Parameters to draw; default: all");
    AddObjective(*command, *args);
    AddAxis(*command, *args);
  }
  {
    auto [command, args] = add("parallel",
                               "Parallel coordinates: a line for each trial through all parameters",
                               &Plot<&DrawParallel>);
    AddObjective(*command, *args);
    AddAxis(*command, *args);
  }
  {
    auto [command, args] =
        add("contour", "Expected objective over two parameters", &Plot<&DrawContour>);
    AddTwoParameters(*command, *args);
    AddObjective(*command, *args);
  }
  {
    auto [command, args] =
        add("rank", "Trials over two parameters, coloured by their rank", &Plot<&DrawRank>);
    AddTwoParameters(*command, *args);
    AddObjective(*command, *args);
  }
  add("timeline",
      "When each trial waited, was prepared and ran, and how it ended",
      &Plot<&DrawTimeline>);
  {
    auto [command, args] =
        add("pareto",
            "Two objectives of every completed trial, and the line of those that none dominates",
            &Plot<&DrawPareto>);
    command->add_option("--x", args->x, "Objective on the horizontal axis; default: the first");
    command->add_option("--y", args->y, "Objective on the vertical axis; default: the next");
  }
  {
    auto [command, args] = add("hypervolume",
                               "Volume that the Pareto-optimal trials dominate, after each trial",
                               &Plot<&DrawHypervolume>);
    command
        ->add_option("--reference",
                     args->reference,
                     "Point up to which it is measured: OBJECTIVE=VALUE, once for each objective; "
                     "default: the worst values so far")
        ->allow_extra_args(false);
  }
  for (const auto& [kind, help, run] :
       {std::tuple("compare", "Best value so far of several studies", &Plot<&DrawCompare>),
        std::tuple("edf",
                   "Share of trials with at most each value, of one study or several",
                   &Plot<&DrawEdf>)}) {
    auto [command, args] = add(kind, help, run);
    command->add_option("OTHERS", args->others, "Other studies of the same objective");
    AddObjective(*command, *args);
    AddAxis(*command, *args);
  }
}

}  // namespace vernier::cli
