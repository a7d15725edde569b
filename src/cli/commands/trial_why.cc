#include <string>

#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/trial_text.h"

namespace vernier::cli {
namespace {

using nlohmann::ordered_json;

// A choice: enough to see whether the model had data nearby.
constexpr std::size_t kNeighbours = 3;

absl::StatusOr<ExitCode> Why(Context& context, const TrialArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  Neighbourhood neighbourhood(study, trial.trial, kNeighbours);
  const auto show = [&](const TrialRecord& other) {
    neighbourhood.Show(other.trial);
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(ForEachTrial(connection, study, {}, show));
  const ordered_json whole = ProtoToJson(trial.message);
  ordered_json item = {{"name", whole["name"]}, {"number", whole["number"]}};
  for (const char* key : {"state", "parameters", "suggestion", "stop", "final_metrics"}) {
    if (whole.contains(key)) item[key] = whole[key];
  }
  item["nearest"] = ordered_json::array();
  for (const Neighbour& neighbour : neighbourhood.nearest()) {
    item["nearest"].push_back(
        {{"trial", neighbour.trial},
         {"distance", neighbour.distance},
         {"objective", neighbour.objective ? ordered_json(*neighbour.objective) : ordered_json()}});
  }
  context.output().Item(
      ExplainTrial(study, trial, neighbourhood.nearest(), context.console().unicode), item);
  return ExitCode::kOk;
}

}  // namespace

void AddTrialWhy(CLI::App& trial, Action& chosen) {
  auto [command, args] = AddCommand<TrialArgs>(
      trial, "why", "Explain why a trial was proposed or stopped", &Why, chosen);
  AddTrialOptions(*command, args->study, args->trial);
}

}  // namespace vernier::cli
