// Commands that change trials. Values of points are checked by the server; here they are only given the types of the
// parameters.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/assignment.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/resources.h"
#include "src/cli/runner.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/status.h"
#include "src/wire/names.h"
#include "src/wire/trial_proto.h"
#include "src/wire/value_proto.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

struct StopArgs {
  std::string study;
  std::string trial;
  std::string reason = "stopped by the user";
};

absl::StatusOr<ExitCode> StopTrial(Context& context, const StopArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  v1::StopTrialRequest request;
  // The trial was looked up first, so that "best" and "last" mean one trial from here on.
  request.set_name(trial.message.name());
  request.set_reason(args.reason);
  request.set_request_id(NewRequestId());
  VERNIER_ASSIGN_OR_RETURN(const v1::Trial stopped, connection.Call(&Stub::StopTrial, request));
  std::string text = fmt::format("trial {} of '{}' is {}\n",
                                 stopped.number(),
                                 args.study,
                                 v1::TrialState_Name(stopped.state()));
  // The stop is recorded, but without an engine nothing ends the program.
  if (connection.is_embedded() && stopped.state() == v1::STOPPING) {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
    if (study.study.spec.job.has_value()) {
      text += fmt::format(
          "nobody runs its study: it is stopped by `vernier run {}{}`, or by a server\n",
          args.study,
          context.SameStoreFlags());
    }
  }
  context.output().Item(text, ProtoToJson(stopped));
  return ExitCode::kOk;
}

struct DeleteTrialArgs {
  std::string study;
  std::string trial;
  bool yes = false;
};

absl::StatusOr<ExitCode> DeleteTrial(Context& context, const DeleteTrialArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  const std::int64_t number = trial.message.number();
  if (!args.yes) {
    return WithHint(
        InvalidArgument(
            "deleting trial {} of '{}', as if it had never been, needs --yes", number, args.study),
        fmt::format(
            "`vernier trial show {} {} -o json` shows what would be lost", args.study, number));
  }
  v1::DeleteTrialRequest request;
  request.set_name(trial.message.name());
  request.set_request_id(NewRequestId());
  VERNIER_RETURN_IF_ERROR(connection.Call(&Stub::DeleteTrial, request).status());
  context.output().Say(fmt::format("trial {} of '{}' deleted", number, args.study));
  return ExitCode::kOk;
}

struct AddArgs {
  std::string study;
  std::vector<std::string> point;
  std::vector<std::string> metrics;
};

absl::StatusOr<ExitCode> Add(Context& context, const AddArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const auto metrics, ParseMetrics("--metric", args.metrics));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  VERNIER_ASSIGN_OR_RETURN(const Point point, ParsePoint(study.study.spec.space, args.point));
  v1::CreateTrialRequest request;
  request.set_parent(wire::StudyResource(args.study));
  request.set_request_id(NewRequestId());
  wire::EncodePoint(point, request.mutable_trial()->mutable_parameters());
  wire::EncodeMetrics(metrics, request.mutable_trial()->mutable_final_metrics());
  VERNIER_ASSIGN_OR_RETURN(const v1::Trial trial,
                           connection.CallOn(args.study, &Stub::CreateTrial, request));
  context.output().Item(fmt::format("trial {} of '{}' added: {}\n",
                                    trial.number(),
                                    args.study,
                                    v1::TrialState_Name(trial.state())),
                        ProtoToJson(trial));
  return ExitCode::kOk;
}

struct RepeatArgs {
  std::string study;
  std::string trial;
  CapacityFlags capacity;
};

// A study with this one point, as the defaults that `gp` proposes first. Each parameter becomes a domain with one value, but for
// booleans, which may be flags; inactive parameters are left out, and conditions with them.
// REQUIRES: spec.job.
absl::StatusOr<StudySpec> OnePointStudy(const StudySpec& spec, const Trial& trial) {
  StudySpec one = spec;
  one.name = fmt::format("{}-trial-{}", spec.name, trial.number.value());
  std::vector<Parameter> parameters;
  for (const Parameter& parameter : spec.space.parameters()) {
    const auto value = trial.point.find(parameter.name);
    // Not active in this trial.
    if (value == trial.point.end()) continue;
    Parameter fixed = {
        .name = parameter.name, .domain = {}, .when = {}, .default_value = value->second};
    if (std::holds_alternative<BoolDomain>(parameter.domain)) {
      fixed.domain = BoolDomain();
    } else if (const double* number = std::get_if<double>(&value->second)) {
      fixed.domain = DiscreteDomain{{*number}};
    } else {
      fixed.domain = CategoricalDomain{{value->second}};
    }
    parameters.push_back(std::move(fixed));
  }
  VERNIER_ASSIGN_OR_RETURN(one.space, Space::Create(std::move(parameters)));
  // How a parameter is passed that this study does not have.
  std::erase_if(one.job->arguments,
                [&](const auto& argument) { return !trial.point.contains(argument.first); });
  one.algorithm = {.name = "gp", .options = {}};
  one.warm_start.clear();
  one.convergence.reset();
  // The one trial shall run to its end.
  one.stopping = {.name = "none", .options = {}};
  one.budget = {.trials = 1, .failed_trials = {}, .time = {}};
  one.parallel = 1;
  return one;
}

absl::StatusOr<ExitCode> Repeat(Context& context, const RepeatArgs& args) {
  // OpenToRun would create a missing store.
  if (context.flags().server.empty()) VERNIER_RETURN_IF_ERROR(CheckStoreExists(context.Store()));
  VERNIER_ASSIGN_OR_RETURN(Connection connection, OpenToRun(context, args.capacity));
  VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, args.study));
  if (!study.study.spec.job) {
    return FailedPrecondition("study '{}' has no training job: its clients run its trials",
                              args.study);
  }
  VERNIER_ASSIGN_OR_RETURN(const TrialRecord trial, GetTrial(connection, args.study, args.trial));
  VERNIER_ASSIGN_OR_RETURN(const StudySpec one, OnePointStudy(study.study.spec, trial.trial));
  // A new study each time: repeating twice gives two results to compare.
  return RunStudy(context, connection, one, {.anew = true, .capacity = args.capacity});
}

}  // namespace

void AddTrialStop(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<StopArgs>(trial, "stop", "Stop a waiting or running trial", &StopTrial, chosen);
  AddTrialOptions(*command, args->study, args->trial);
  command->add_option("--reason", args->reason, "Reason to store with the trial");
}

void AddTrialDelete(CLI::App& trial, Action& chosen) {
  auto [command, args] = AddCommand<DeleteTrialArgs>(
      trial, "delete", "Delete a trial; the algorithm forgets it", &DeleteTrial, chosen);
  AddTrialOptions(*command, args->study, args->trial);
  command->add_flag("--yes", args->yes, "Confirm the deletion");
}

void AddTrialAdd(CLI::App& trial, Action& chosen) {
  auto [command, args] = AddCommand<AddArgs>(
      trial,
      "add",
      "Add a trial at a point of your choice, to run next or with known metrics",
      &Add,
      chosen);
  AddStudyOption(*command, args->study);
  command->add_option("PARAMETERS", args->point, "Values of the parameters: NAME=VALUE …")
      ->required();
  command
      ->add_option("--metric",
                   args->metrics,
                   "Metric of a trial that ran elsewhere: NAME=VALUE; repeat it for more")
      ->allow_extra_args(false);
}

void AddTrialRepeat(CLI::App& trial, Action& chosen) {
  auto [command, args] =
      AddCommand<RepeatArgs>(trial,
                             "repeat",
                             "Run the point of a trial again, as a study with one trial",
                             &Repeat,
                             chosen);
  AddTrialOptions(*command, args->study, args->trial);
  AddCapacityOptions(*command, args->capacity);
}

}  // namespace vernier::cli
