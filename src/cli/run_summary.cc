#include "src/cli/run_summary.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "src/cli/plot_data.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/proto_json.h"

namespace vernier::cli {
namespace {

// The commands that a user may want next, with the flags that lead back to the same store.
std::string NextSteps(const Context& context, const StudyRecord& study, std::int64_t best) {
  const std::string flags = context.SameStoreFlags();
  const std::string& name = study.name();
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

absl::Status Picture(Context& context, Connection& connection, const StudyRecord& study) {
  VERNIER_ASSIGN_OR_RETURN(const History history, LoadHistory(connection, study));
  const Console& console = context.console();
  context.output().Say("");
  for (const std::string& line :
       DrawHistory(history, {.width = console.width, .height = 14}, console.unicode)) {
    context.output().Say(line);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SumUp(Context& context, Connection& connection, const StudyRecord& study, bool plot) {
  if (context.output().format() == Format::kJsonl) return absl::OkStatus();
  std::string text = fmt::format("\nstudy '{}' is {}{}\n\n",
                                 study.name(),
                                 StudyStateName(study.study.state),
                                 study.study.reason.empty() ? "" : ": " + study.study.reason);
  if (!study.study.best) {
    text +=
        fmt::format("no trial has completed; `vernier trial list {}` shows what became of them\n",
                    study.name());
    context.output().Item(text, ProtoToJson(study.message));
    return absl::OkStatus();
  }
  const std::int64_t best = study.study.best->value();
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial,
                           GetTrial(connection, study.name(), std::to_string(best)));
  text += DescribeBest(study, trial, context.Now());
  text += NextSteps(context, study, best);
  context.output().Item(text, ProtoToJson(trial.message));
  if (plot && context.output().is_table()) return Picture(context, connection, study);
  return absl::OkStatus();
}

}  // namespace vernier::cli
