#include "src/cli/run_summary.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "src/cli/outcome_text.h"
#include "src/cli/plot_data.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/terminal/text.h"

namespace vernier::cli {
namespace {

// The commands that a user may want next, with the flags that lead back to the same store.
std::string NextSteps(const Context& context, const StudyRecord& study, std::int64_t best) {
  const std::string flags = context.SameStoreFlags();
  const std::string& name = study.name();
  if (study.study.spec.objectives.empty()) {  // Nothing was tuned.
    return fmt::format("{:<12}vernier trial logs {} {}{}\n", "next", name, best, flags);
  }
  const char* sort = study.objective().goal == Goal::kMaximize ? "-objective" : "objective";
  return fmt::format(
      "{:<12}vernier trial list {} --sort {} --limit 5{}\n"
      "{:<12}vernier trial why {} {}{}\n"
      "{:<12}vernier plot history {} --svg {}.svg{}\n",
      "next",
      name,
      sort,
      flags,
      "",
      name,
      best,
      flags,
      "",
      name,
      name,
      flags);
}

// The search as a picture: of several objectives, the trials by the first two.
absl::StatusOr<std::vector<std::string>> Picture(const Console& console,
                                                 Connection& connection,
                                                 const StudyRecord& study) {
  const PlotSize size = {.width = console.width, .height = 14};
  if (study.has_several_objectives()) {
    VERNIER_ASSIGN_OR_RETURN(const ParetoPicture picture, LoadPareto(connection, study, "", ""));
    return DrawPareto(picture, size, console.unicode);
  }
  VERNIER_ASSIGN_OR_RETURN(const History history, LoadHistory(connection, study));
  return DrawHistory(history, size, console.unicode);
}

std::string Heading(const StudyRecord& study) {
  std::string heading = fmt::format("\nstudy '{}' is {}{}\n",
                                    study.name(),
                                    StudyStateName(study.study.state),
                                    study.study.reason.empty() ? "" : ": " + study.study.reason);
  // One that ended for it has said so.
  if (study.study.converged && !study.study.spec.convergence->stop) {
    heading += fmt::format("converged {}\n", DescribeConvergence(study.study));
  }
  return heading;
}

// The first trial that failed; null: none has.
const TrialRecord* FirstFailed(const std::vector<TrialRecord>& trials) {
  const TrialRecord* first = nullptr;
  for (const TrialRecord& trial : trials) {
    if (trial.trial.state != TrialState::kFailed) continue;
    if (first == nullptr || trial.trial.number < first->trial.number) first = &trial;
  }
  return first;
}

std::string LogOf(const Context& context, const StudyRecord& study, const TrialRecord& failed) {
  const std::string flags = context.SameStoreFlags();
  return fmt::format("{0:<12}vernier trial logs {1} {2}{3}\n{4:<12}vernier trial list {1}{3}\n",
                     "next",
                     study.name(),
                     failed.trial.number.value(),
                     flags,
                     "");
}

absl::Status SumUpWithoutBest(Context& context, Connection& connection, const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  std::string text = Heading(study);
  text += study.study.completed > 0 ? WhyNoBest(study, trials) : "no trial has completed";
  if (const TrialRecord* failed = FirstFailed(trials)) {
    const std::string& message = failed->trial.message;
    // A study that ended because its trials fail alike has said it.
    if (!message.empty() && !study.study.reason.ends_with(message)) {
      text +=
          fmt::format("\ntrial {} failed: {}", failed->trial.number.value(), Printable(message));
    }
    text += "\n" + LogOf(context, study, *failed);
  } else {
    text += fmt::format("; `vernier trial list {}{}` shows what became of them\n",
                        study.name(),
                        context.SameStoreFlags());
  }
  context.output().Item(text, ProtoToJson(study.message));
  return absl::OkStatus();
}

absl::Status SumUpSeveral(Context& context, Connection& connection, const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  const std::vector<TrialRecord> optimal = SelectOptimal(study, trials);
  Output& output = context.output();
  output.Say(Heading(study));
  output.Say(fmt::format("{} of {} completed trials are optimal: no other dominates them",
                         optimal.size(),
                         study.study.completed));
  ListOptimal(output, study, optimal);
  const std::string flags = context.SameStoreFlags();
  output.Say(
      fmt::format("\n{:<12}vernier trial show {} {}{}\n{:<12}vernier plot pareto {} --svg {}.svg{}",
                  "next",
                  study.name(),
                  optimal.front().trial.number.value(),
                  flags,
                  "",
                  study.name(),
                  study.name(),
                  flags));
  return absl::OkStatus();
}

absl::Status SumUpBest(Context& context, Connection& connection, const StudyRecord& study) {
  const std::int64_t best = study.study.best->value();
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial,
                           GetTrial(connection, study.name(), std::to_string(best)));
  context.output().Item(Heading(study) + "\n" + DescribeBest(study, trial, context.Now()) +
                            NextSteps(context, study, best),
                        ProtoToJson(trial.message));
  return absl::OkStatus();
}

}  // namespace

absl::Status SumUp(Context& context, Connection& connection, const StudyRecord& study, bool plot) {
  if (context.output().format() == Format::kJsonl) return absl::OkStatus();
  if (!study.study.best) return SumUpWithoutBest(context, connection, study);
  VERNIER_RETURN_IF_ERROR(study.has_several_objectives() ? SumUpSeveral(context, connection, study)
                                                         : SumUpBest(context, connection, study));
  const bool has_picture = !study.study.spec.objectives.empty();
  if (!plot || !has_picture || !context.output().is_table()) return absl::OkStatus();
  VERNIER_ASSIGN_OR_RETURN(const auto lines, Picture(context.console(), connection, study));
  context.output().Say("");
  for (const std::string& line : lines) context.output().Say(line);
  return absl::OkStatus();
}

absl::StatusOr<std::string> AfterFailure(const Context& context,
                                         Connection& connection,
                                         const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection, study, {}));
  const TrialRecord* failed = FirstFailed(trials);
  return failed == nullptr ? std::string() : LogOf(context, study, *failed);
}

}  // namespace vernier::cli
