#include "src/cli/run_summary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/outcome_text.h"
#include "src/cli/plot/history.h"
#include "src/cli/plot/pareto.h"
#include "src/cli/plot/text_renderer.h"
#include "src/cli/plot_data.h"
#include "src/cli/study_text.h"
#include "src/cli/study_update.h"
#include "src/cli/terminal/fields.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/terminal/text.h"
#include "src/core/objectives.h"

namespace vernier::cli {
namespace {

// Collects commands that the user may want next.
class NextSteps {
 public:
  NextSteps(const Context& context, Fields& fields)
      : flags_(context.SameStoreFlags()), fields_(fields) {}

  // Adds a command, with the flags that lead to the same store.
  void Add(std::string_view command) {
    fields_.Add(is_first_ ? "next" : "", fmt::format("vernier {}{}", command, flags_));
    is_first_ = false;
  }

 private:
  const std::string flags_;
  Fields& fields_;
  bool is_first_ = true;
};

void AddNextSteps(const Context& context,
                  const StudyRecord& study,
                  std::int64_t best,
                  std::optional<TrialNumber> failed,
                  Fields& fields) {
  NextSteps next(context, fields);
  const std::string& name = study.name();
  if (study.study.spec.objectives.empty()) {  // Not a search: there is nothing to compare.
    next.Add(fmt::format("trial logs {} {}", name, best));
    return;
  }
  // Best first.
  const char* sort = study.objective().goal == Goal::kMaximize ? "-objective" : "objective";
  next.Add(fmt::format("trial list {} --sort {} --limit 5", name, sort));
  next.Add(fmt::format("trial why {} {}", name, best));
  next.Add(fmt::format("plot history {} --svg {}.svg", name, name));
  if (failed) next.Add(fmt::format("trial logs {} {}", name, failed->value()));
}

// The last trial that failed, if any.
absl::StatusOr<std::optional<TrialRecord>> LastFailed(Connection& connection,
                                                      const StudyRecord& study) {
  if (study.study.failed == 0) return std::nullopt;
  VERNIER_ASSIGN_OR_RETURN(
      std::vector<TrialRecord> failed,
      ListTrials(connection,
                 study,
                 {.filter = "state = FAILED", .sort = "-number", .limit = 1, .page_size = 1}));
  if (failed.empty()) return std::nullopt;
  return std::move(failed.front());
}

// The figure of the search; with several objectives, of the first two.
absl::StatusOr<std::vector<std::string>> Picture(Context& context,
                                                 Connection& connection,
                                                 const StudyRecord& record) {
  VERNIER_ASSIGN_OR_RETURN(const plot::StudyData study,
                           LoadStudyData(connection, record, context.Now()));
  plot::Figure figure;
  if (record.has_several_objectives()) {
    const std::vector<Objective>& objectives = study.spec.objectives;
    figure = plot::ParetoFigure(study, objectives[0], objectives[1]);
  } else {
    VERNIER_ASSIGN_OR_RETURN(figure, plot::HistoryFigure(study, record.objective()));
  }
  const Console& console = context.console();
  return plot::RenderText(
      figure,
      {.width = console.width, .height = 14, .unicode = console.unicode, .color = console.color});
}

std::string Heading(const StudyRecord& study) {
  std::string heading = fmt::format("\nstudy '{}' is {}{}\n",
                                    study.name(),
                                    StudyStateName(study.study.state),
                                    study.study.reason.empty() ? "" : ": " + study.study.reason);
  // A study that ended because it converged says so in its reason.
  if (HasConverged(study.study) && !study.study.spec.convergence->stop) {
    heading += fmt::format("converged {}\n", DescribeConvergence(study.study));
  }
  return heading;
}

// All lines of the failed trial's message; empty if the study's reason contains it.
std::string FailureText(const StudyRecord& study, const Trial& trial) {
  if (trial.message.empty() || study.study.reason.ends_with(trial.message)) return "";
  std::string text = fmt::format("trial {} {}", trial.number.value(), TrialStateName(trial.state));
  if (trial.failure != FailureClass::kNone) {
    text += fmt::format(" {}", FailureClassName(trial.failure));
  }
  std::string separator = ": ";
  for (const std::string& line : PrintableLines(trial.message)) {
    text += separator + line;
    separator = "\n  ";
  }
  return text + "\n";
}

absl::Status SumUpWithoutBest(Context& context, Connection& connection, const StudyRecord& study) {
  std::string why = "no trial has completed";
  // All trials are needed to name the one that came nearest.
  if (study.study.completed > 0) {
    VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
    why = WhyNoBest(study, trials);
  }
  VERNIER_ASSIGN_OR_RETURN(const auto failed, LastFailed(connection, study));
  Fields fields;
  NextSteps next(context, fields);
  if (failed) next.Add(fmt::format("trial logs {} {}", study.name(), failed->trial.number.value()));
  next.Add(fmt::format("trial list {}", study.name()));
  context.output().Item(Heading(study) + why + "\n" +
                            (failed ? FailureText(study, failed->trial) : "") + "\n" +
                            fields.Text(),
                        ProtoToJson(study.message));
  return absl::OkStatus();
}

absl::Status SumUpSeveral(Context& context, Connection& connection, const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  VERNIER_ASSIGN_OR_RETURN(const auto failed, LastFailed(connection, study));
  const std::vector<TrialRecord> optimal = SelectOptimal(study, trials);
  Output& output = context.output();
  output.Say(Heading(study));
  output.Say(fmt::format("{} of {} completed trials are optimal: no other dominates them",
                         optimal.size(),
                         study.study.completed));
  ListOptimal(output, study, optimal);
  Fields fields;
  NextSteps next(context, fields);
  next.Add(fmt::format("trial show {} {}", study.name(), optimal.front().trial.number.value()));
  next.Add(fmt::format("plot pareto {} --svg {}.svg", study.name(), study.name()));
  if (failed) next.Add(fmt::format("trial logs {} {}", study.name(), failed->trial.number.value()));
  std::string text = "\n" + fields.Text();
  text.pop_back();  // Say adds the line end.
  output.Say(text);
  return absl::OkStatus();
}

absl::Status SumUpBest(Context& context, Connection& connection, const StudyRecord& study) {
  const std::int64_t best = study.study.best->value();
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial,
                           GetTrial(connection, study.name(), std::to_string(best)));
  // The definition may have changed since the trial ran.
  VERNIER_ASSIGN_OR_RETURN(const StudySpec definition,
                           DefinitionOf(connection, study, trial.trial));
  VERNIER_ASSIGN_OR_RETURN(const auto failed, LastFailed(connection, study));
  Fields fields = DescribeBest(study, definition, trial, context.Now());
  AddNextSteps(
      context, study, best, failed ? std::optional(failed->trial.number) : std::nullopt, fields);
  context.output().Item(Heading(study) + "\n" + fields.Text(), ProtoToJson(trial.message));
  return absl::OkStatus();
}

}  // namespace

absl::Status SumUp(Context& context, Connection& connection, const StudyRecord& study, bool plot) {
  // In this format the events were printed, and the last of them is the end.
  if (context.output().format() == Format::kJsonl) return absl::OkStatus();
  if (!study.study.best) return SumUpWithoutBest(context, connection, study);
  VERNIER_RETURN_IF_ERROR(study.has_several_objectives() ? SumUpSeveral(context, connection, study)
                                                         : SumUpBest(context, connection, study));
  const bool has_picture = !study.study.spec.objectives.empty();
  if (!plot || !has_picture || !context.output().is_table()) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const auto lines, Picture(context, connection, study));
  context.output().Say("");
  for (const std::string& line : lines) context.output().Say(line);
  return absl::OkStatus();
}

absl::StatusOr<std::string> AfterFailure(const Context& context,
                                         Connection& connection,
                                         const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto failed, LastFailed(connection, study));
  if (!failed) return std::string();
  Fields fields;
  NextSteps next(context, fields);
  next.Add(fmt::format("trial logs {} {}", study.name(), failed->trial.number.value()));
  next.Add(fmt::format("trial list {}", study.name()));
  return fields.Text();
}

}  // namespace vernier::cli
