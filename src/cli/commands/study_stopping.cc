// `study stopping-report`: what a stopping rule would have done in a study. Everything is computed here, from the
// measurements that the server stores; the study is not changed.

#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/assignment.h"
#include "src/cli/commands/commands.h"
#include "src/cli/resources.h"
#include "src/cli/stopping_source.h"
#include "src/cli/stopping_text.h"
#include "src/codec/spec_form.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

struct StoppingArgs {
  std::string study;
  std::string rule;
  std::vector<std::string> options;
};

absl::StatusOr<ExitCode> ReportStopping(Context& context, const StoppingArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const auto options, ParseOptions("--option", args.options));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  if (study.study.spec.objectives.empty()) {
    return FailedPrecondition("study '{}' has no objective to judge its trials by", study.name());
  }
  VERNIER_ASSIGN_OR_RETURN(const ReportedRule rule,
                           ChooseReportedRule(study.study.spec, args.rule, options));
  VERNIER_ASSIGN_OR_RETURN(std::vector<TrialRecord> trials, ListTrials(connection, study, {}));
  VERNIER_ASSIGN_OR_RETURN(const StoppingSimulation simulation,
                           SimulateRule(context, connection, study, std::move(trials), *rule.rule));
  if (simulation.longest_curve < 2) {
    return FailedPrecondition("no ended trial of study '{}' has reported its {} more than once",
                              study.name(),
                              study.objective().metric);
  }
  const nlohmann::ordered_json item = SimulationJson(study, rule, simulation);
  Output& output = context.output();
  if (output.format() == Format::kCsv) {
    output.List(StopTable(simulation), item["stops"]);
    return ExitCode::kOk;
  }
  output.Item(DescribeSimulation(study, rule, simulation), item);
  if (output.is_table() && !simulation.stops.empty()) {
    output.Say("");
    output.List(StopTable(simulation), item["stops"]);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddStudyStoppingReport(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<StoppingArgs>(
      study,
      "stopping-report",
      "Report which trials a stopping rule would have stopped early, and what that saves",
      &ReportStopping,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--rule",
                      args->rule,
                      fmt::format("Stopping rule; otherwise the study's own, or {} if it has none",
                                  codec::kAutomaticRule));
  command->add_option("--option", args->options, "Option of the rule, NAME=VALUE; repeatable")
      ->allow_extra_args(false);
}

}  // namespace vernier::cli
