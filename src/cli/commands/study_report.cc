// `study report`: the figures of `vernier plot` and tables on one page. A figure that cannot be drawn becomes its
// reason, and does not fail the report. Readers of a report may not be its author, so values of secret variables are
// hidden.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/model_source.h"
#include "src/cli/outcome_text.h"
#include "src/cli/plot/contour.h"
#include "src/cli/plot/curves.h"
#include "src/cli/plot/history.h"
#include "src/cli/plot/importance.h"
#include "src/cli/plot/parallel.h"
#include "src/cli/plot/pareto.h"
#include "src/cli/plot/report.h"
#include "src/cli/plot/slice.h"
#include "src/cli/plot/timeline.h"
#include "src/cli/plot_data.h"
#include "src/cli/resources.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/figures.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

// Whether a variable of this name probably holds a secret. docs/guides/cli.md lists the words.
bool IsSecret(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  for (const char* word : {"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

// Hides keys and passwords, since reports are passed on.
StudySpec WithoutSecrets(StudySpec spec) {
  const auto hide = [](std::map<std::string, std::string>& variables) {
    for (auto& [name, value] : variables) {
      if (IsSecret(name)) value = "(hidden)";
    }
  };
  // Without a job there are no variables.
  if (!spec.job) return spec;
  hide(spec.job->env);
  for (auto& [role, replica] : spec.job->replicas) hide(replica.env);
  return spec;
}

using plot::ReportSection;

// Objectives with figures of their own. A choice, and the most that the Gaussian process takes.
constexpr std::size_t kMostObjectives = 4;

struct StudyReportArgs {
  std::string study;
  std::string html;
};

// Inputs of a report.
struct ReportSource {
  Context& context;
  Connection& connection;
  const StudyRecord& record;
  const plot::StudyData& study;

  std::vector<Objective> objectives() const {
    const std::vector<Objective>& all = study.spec.objectives;
    return {all.begin(),
            all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostObjectives))};
  }
  // Otherwise figures of values would say one after the other that they are empty.
  bool has_values() const {
    return std::any_of(
        study.trials.begin(), study.trials.end(), [this](const plot::PlotTrial& trial) {
          return trial.ValueOf(record.objective().metric).has_value();
        });
  }
};

// Adds the figure, or the sentence why there is none.
void AddFigure(plot::Figure figure, ReportSection& section) {
  if (figure.empty.empty()) {
    section.figures.push_back(std::move(figure));
  } else if (section.text.empty()) {
    // The first reason is enough: others of the section are the same or follow from it.
    section.text = figure.empty;
  }
}
void AddFigure(absl::StatusOr<plot::Figure> figure, ReportSection& section) {
  if (figure.ok()) {
    AddFigure(*std::move(figure), section);
  } else if (section.text.empty()) {
    section.text = std::string(figure.status().message());
  }
}

std::string CountOf(const plot::StudyData& study) {
  std::string text = fmt::format("{}", study.trials.size());
  std::string parts;
  for (const plot::Fate fate : {plot::Fate::kCompleted,
                                plot::Fate::kStopped,
                                plot::Fate::kBreaking,
                                plot::Fate::kFailed,
                                plot::Fate::kCancelled,
                                plot::Fate::kOpen}) {
    const auto count = std::count_if(study.trials.begin(),
                                     study.trials.end(),
                                     [fate](const auto& trial) { return trial.fate == fate; });
    if (count == 0) continue;
    const std::string name = fate == plot::Fate::kBreaking
                                 ? (count == 1 ? "breaks a constraint" : "break a constraint")
                                 : std::string(plot::FateName(fate));
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, name);
  }
  return parts.empty() ? text : text + ": " + parts;
}

ReportSection Overview(const ReportSource& source) {
  const Study& study = source.record.study;
  const absl::TimeZone zone = source.context.zone();
  std::string state(StudyStateName(study.state));
  if (!study.reason.empty()) state += ": " + study.reason;
  ReportSection section = {.heading = "Overview"};
  section.facts = {{"state", state},
                   {"objective", DescribeObjectives(study.spec.objectives)},
                   {"trials", CountOf(source.study)},
                   {"budget", DescribeBudget(study)},
                   {"algorithm",
                    fmt::format("{}; stopping: {}; {} at a time; seed {}",
                                study.spec.algorithm.name,
                                study.spec.stopping.name,
                                DescribeParallel(study.spec.parallel),
                                study.spec.seed)}};
  for (const std::string& constraint : study.spec.outcome_constraints) {
    section.facts.emplace_back("outcome constraint", constraint);
  }
  const auto moment = [&zone](absl::Time time) {
    return absl::FormatTime("%Y-%m-%d %H:%M:%S %Z", time, zone);
  };
  section.facts.emplace_back("created", moment(study.created));
  section.facts.emplace_back("updated", moment(study.updated));
  if (const std::string converged = DescribeConvergence(study); !converged.empty()) {
    section.facts.emplace_back("converged", converged);
  }
  if (study.used != ResourceUsage{}) section.facts.emplace_back("used", DescribeUsage(study.used));
  return section;
}

std::string ValueText(const std::optional<double>& value) {
  return value ? FormatFigure(*value) : "";
}

// A table of trials: objectives, parameters and duration.
plot::ReportTable TrialTable(const ReportSource& source,
                             const std::vector<const plot::PlotTrial*>& trials) {
  const StudySpec& spec = source.study.spec;
  plot::ReportTable table;
  table.columns = {{.name = "trial", .is_number = true}, {.name = "state"}};
  for (const Objective& objective : spec.objectives) {
    table.columns.push_back({.name = objective.metric, .is_number = true});
  }
  for (const Parameter& parameter : spec.space.parameters()) {
    // Numbers stand below each other, words do not.
    const bool is_number = !std::holds_alternative<CategoricalDomain>(parameter.domain) &&
                           !std::holds_alternative<BoolDomain>(parameter.domain);
    table.columns.push_back({.name = parameter.name, .is_number = is_number});
  }
  table.columns.push_back({.name = "took", .is_number = true});
  for (const plot::PlotTrial* each : trials) {
    const Trial& trial = each->trial;
    std::string state(TrialStateName(trial.state));
    if (each->fate == plot::Fate::kStopped || each->fate == plot::Fate::kBreaking) {
      state += fmt::format(" ({})", plot::FateName(each->fate));
    }
    plot::ReportTable::Row row = {.cells = {std::to_string(each->number()), state},
                                  .is_best = each->optimal};
    for (const Objective& objective : spec.objectives) {
      row.cells.push_back(ValueText(each->ValueOf(objective.metric)));
    }
    for (const Parameter& parameter : spec.space.parameters()) {
      const auto value = trial.point.find(parameter.name);
      if (value == trial.point.end()) {
        row.cells.emplace_back();
      } else if (const double* number = std::get_if<double>(&value->second)) {
        row.cells.push_back(FormatFigure(*number));
      } else {
        row.cells.push_back(FormatValue(value->second));
      }
    }
    const auto took = DurationOf(trial, source.study.now);
    row.cells.push_back(took ? FormatElapsed(*took) : "");
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportSection BestOfOne(const ReportSource& source) {
  ReportSection section = {.heading = "Best trial"};
  // It may have been deleted between two calls.
  const plot::PlotTrial* best =
      source.record.study.best ? source.study.Find(source.record.study.best->value()) : nullptr;
  if (best == nullptr) {
    section.text = "No trial counts as the best yet.";
    return section;
  }
  const Trial& trial = best->trial;
  section.facts.emplace_back("trial", std::to_string(best->number()));
  for (const Objective& objective : source.study.spec.objectives) {
    section.facts.emplace_back(objective.metric, ValueText(best->ValueOf(objective.metric)));
  }
  for (const Parameter& parameter : source.study.spec.space.parameters()) {
    const auto value = trial.point.find(parameter.name);
    if (value == trial.point.end()) continue;
    section.facts.emplace_back(parameter.name, FormatValue(value->second));
  }
  if (const auto took = DurationOf(trial, source.study.now)) {
    section.facts.emplace_back("took", FormatElapsed(*took));
  }
  // The command contains the variables of the job.
  const std::string command = ReproducingCommand(WithoutSecrets(source.study.spec), trial);
  if (!command.empty() && ReplicaCount(source.study.spec) == 1) {
    section.facts.emplace_back("command", command);
  } else if (source.study.spec.job) {
    section.facts.emplace_back(
        "reproduce",
        fmt::format("vernier trial repeat {} {}", source.study.name(), best->number()));
  }
  return section;
}

ReportSection BestTrials(const ReportSource& source) {
  if (!source.record.has_several_objectives()) return BestOfOne(source);
  ReportSection section = {.heading = "Optimal trials"};
  std::vector<const plot::PlotTrial*> optimal;
  for (const plot::PlotTrial& trial : source.study.trials) {
    if (trial.optimal) optimal.push_back(&trial);
  }
  if (optimal.empty()) {
    section.text = "No trial counts as optimal yet.";
    return section;
  }
  section.text = "Completed trials that no other one beats in every objective.";
  section.table = TrialTable(source, optimal);
  // All of them are optimal; marking every row would say nothing.
  for (plot::ReportTable::Row& row : section.table.rows) row.is_best = false;
  return section;
}

ReportSection HistorySection(const ReportSource& source) {
  ReportSection section = {.heading = "History"};
  const std::vector<Objective> objectives = source.objectives();
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    // Each pair of objectives once.
    for (std::size_t j = i + 1; j < objectives.size(); ++j) {
      AddFigure(plot::ParetoFigure(source.study, objectives[i], objectives[j]), section);
    }
  }
  for (const Objective& objective : objectives) {
    AddFigure(plot::HistoryFigure(source.study, objective), section);
  }
  return section;
}

absl::StatusOr<ReportSection> Curves(const ReportSource& source) {
  ReportSection section = {.heading = "Learning curves"};
  const std::vector<std::int64_t> trials = TrialsWithCurves(source.study);
  for (const Objective& objective : source.objectives()) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<plot::Curve> curves,
                             LoadCurves(source.connection, source.study, objective.metric, trials));
    // A curve of one point shows nothing that the history does not.
    const bool is_worth_it = std::any_of(
        curves.begin(), curves.end(), [](const auto& curve) { return curve.points.size() > 1; });
    if (!is_worth_it) continue;
    AddFigure(plot::CurvesFigure(source.study, objective, source.study.Best(objective), curves),
              section);
  }
  if (section.figures.empty()) section.text = "No trial reported more than one value.";
  return section;
}

// Parameters by importance; in the study's order if that is unknown.
std::vector<int> Ranked(const Space& space, const plot::Importance& importance) {
  std::vector<int> ranked;
  for (const auto& [name, share] : importance.shares) {
    if (const auto index = space.Find(name)) ranked.push_back(*index);
  }
  for (int i = 0; i < std::ssize(space.parameters()); ++i) {
    if (std::find(ranked.begin(), ranked.end(), i) == ranked.end()) ranked.push_back(i);
  }
  return ranked;
}

absl::StatusOr<ReportSection> Parameters(const ReportSource& source) {
  ReportSection section = {.heading = "Parameters"};
  for (const Objective& objective : source.objectives()) {
    // Chosen anew for each objective: each has a model of its own.
    const ModelChoice model = ChooseModel(source.connection, source.study, objective);
    VERNIER_ASSIGN_OR_RETURN(const plot::Importance importance,
                             FindImportance(source.study, objective, model.get()));
    // Drawn for the first objective only.
    const bool is_first = objective.metric == source.record.objective().metric;
    if (is_first && !importance.shares.empty()) {
      AddFigure(plot::ImportanceFigure(source.study, objective, importance), section);
    }
    const std::vector<int> ranked = Ranked(source.study.spec.space, importance);
    VERNIER_ASSIGN_OR_RETURN(const std::vector<plot::Slice> slices,
                             plot::ComputeSlices(source.study, objective, ranked, model.get()));
    AddFigure(plot::SliceFigure(source.study, objective, slices, model.caption()), section);
    // A contour needs a model and two parameters.
    if (model.get() != nullptr && ranked.size() >= 2) {
      VERNIER_ASSIGN_OR_RETURN(
          const plot::Surface surface,
          plot::ComputeSurface(source.study, objective, ranked[0], ranked[1], *model.model));
      if (!surface.means.empty()) {
        AddFigure(plot::ContourFigure(source.study, objective, surface, model.caption()), section);
      }
    }
    AddFigure(plot::ParallelFigure(source.study, objective), section);
  }
  return section;
}

ReportSection Failures(const ReportSource& source) {
  ReportSection section = {.heading = "Failures"};
  section.table.columns = {{.name = "trial", .is_number = true},
                           {.name = "state"},
                           {.name = "attempts", .is_number = true},
                           {.name = "why"}};
  for (const plot::PlotTrial& each : source.study.trials) {
    if (each.fate != plot::Fate::kFailed) continue;
    const Trial& trial = each.trial;
    std::string state(TrialStateName(trial.state));
    if (trial.failure != FailureClass::kNone) {
      state += fmt::format(" ({})", FailureClassName(trial.failure));
    }
    section.table.rows.push_back(
        {.cells = {std::to_string(each.number()),
                   state,
                   trial.attempts.empty() ? "" : std::to_string(trial.attempts.size()),
                   trial.message}});
  }
  section.text = section.table.rows.empty() ? "No trial failed."
                                            : fmt::format("{} of {} trials failed.",
                                                          section.table.rows.size(),
                                                          source.study.trials.size());
  return section;
}

absl::StatusOr<plot::Report> MakeReport(const ReportSource& source) {
  plot::Report report = {
      .title = source.study.name(),
      .subtitle = fmt::format("Study, {}", DescribeObjectives(source.study.spec.objectives)),
      .sections = {},
      .footer = fmt::format(
          "Written by vernier on {}",
          absl::FormatTime("%Y-%m-%d %H:%M:%S %Z", source.study.now, source.context.zone()))};
  report.sections.push_back(Overview(source));
  // Without values, these sections tell what is missing; the others would have nothing to say.
  if (source.has_values() || !source.study.spec.objectives.empty()) {
    report.sections.push_back(BestTrials(source));
    report.sections.push_back(HistorySection(source));
  }
  if (source.has_values()) {
    VERNIER_ASSIGN_OR_RETURN(ReportSection curves, Curves(source));
    report.sections.push_back(std::move(curves));
    if (!source.study.spec.space.parameters().empty()) {
      VERNIER_ASSIGN_OR_RETURN(ReportSection parameters, Parameters(source));
      report.sections.push_back(std::move(parameters));
    }
  }
  ReportSection timeline = {.heading = "Timeline"};
  AddFigure(plot::TimelineFigure(source.study, source.context.zone()), timeline);
  report.sections.push_back(std::move(timeline));
  report.sections.push_back(Failures(source));
  ReportSection trials = {.heading = "Trials"};
  std::vector<const plot::PlotTrial*> all;
  for (const plot::PlotTrial& trial : source.study.trials) all.push_back(&trial);
  trials.table = TrialTable(source, all);
  if (all.empty()) trials.text = "There are no trials yet.";
  report.sections.push_back(std::move(trials));
  report.sections.push_back(
      {.heading = "Definition",
       .code = codec::StudySpecToYaml(WithoutSecrets(source.record.study.spec))});
  return report;
}

absl::StatusOr<ExitCode> WriteReport(Context& context, const StudyReportArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const plot::StudyData study,
                           LoadStudyData(connection, record, context.Now()));
  VERNIER_ASSIGN_OR_RETURN(
      const plot::Report report,
      MakeReport({.context = context, .connection = connection, .record = record, .study = study}));
  // After everything was computed, so that an error leaves no file behind.
  VERNIER_RETURN_IF_ERROR(
      WriteText("--html", plot::RenderHtml(report), args.html, context.console().out));
  // With "-", standard output holds the page, and no sentence may follow it.
  if (args.html != "-") {
    context.output().Item(
        fmt::format("report of {} trials written to {}\n", study.trials.size(), args.html),
        {{"study", study.name()}, {"file", args.html}, {"trials", study.trials.size()}});
  }
  return ExitCode::kOk;
}

}  // namespace

void AddStudyReport(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<StudyReportArgs>(
      study,
      "report",
      "Write a report: definition, best trial, every figure, tables of trials and failures",
      &WriteReport,
      chosen);
  AddStudyOption(*command, args->study);
  command
      ->add_option("--html",
                   args->html,
                   "File to write: one page that needs no other file; - is standard output")
      ->required();
}

}  // namespace vernier::cli
