// Commands that change the state of a study. Each prints the resulting state, and says if no server is running that
// could act on it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/assignment.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/label_flags.h"
#include "src/cli/resources.h"
#include "src/cli/study_text.h"
#include "src/cli/study_update.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/status.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;

// Prints the study's new state.
absl::StatusOr<ExitCode> ReportOutcome(Context& context,
                                       const Connection& connection,
                                       const v1::Study& message,
                                       std::string_view note) {
  VERNIER_ASSIGN_OR_RETURN(const Study study, wire::DecodeStudy(message));
  context.output().Item(
      fmt::format("study '{}' is {}{}\n", study.spec.name, StudyStateName(study.state), note) +
          NobodyRuns(context, connection, study),
      ProtoToJson(message));
  return ExitCode::kOk;
}

template <typename Request, typename Method>
absl::StatusOr<ExitCode> Steer(Context& context,
                               const std::string& study,
                               Request request,
                               Method method,
                               std::string_view note) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  request.set_name(wire::StudyResource(study));
  // One id for the command: the call is tried again if it is lost.
  request.set_request_id(NewRequestId());
  VERNIER_ASSIGN_OR_RETURN(const v1::Study message, connection.CallOn(study, method, request));
  return ReportOutcome(context, connection, message, note);
}

absl::StatusOr<ExitCode> Pause(Context& context, const StudyArgs& args) {
  return Steer(context,
               args.study,
               v1::PauseStudyRequest(),
               &Stub::PauseStudy,
               "; trials that run go on, no new ones start");
}

absl::StatusOr<ExitCode> Resume(Context& context, const StudyArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  v1::ResumeStudyRequest request;
  request.set_name(wire::StudyResource(args.study));
  request.set_request_id(NewRequestId());
  const absl::StatusOr<v1::Study> message =
      connection.CallOn(args.study, &Stub::ResumeStudy, request);
  // Users who resume a study that has ended want more trials.
  if (absl::IsFailedPrecondition(message.status())) {
    const absl::StatusOr<StudyRecord> study = GetStudy(connection, args.study);
    if (!study.ok() || !IsFinished(study->study.state)) return message.status();
    return WithHint(message.status(),
                    "`vernier study amend` extends a study that has ended: --trials N for more "
                    "trials, --fixed once what made its trials fail is fixed");
  }
  VERNIER_RETURN_IF_ERROR(message.status());
  return ReportOutcome(context, connection, *message, "");
}

struct EndArgs {
  std::string study;
  std::string reason;
};

template <typename Request, typename Method>
absl::StatusOr<ExitCode> End(Context& context, const EndArgs& args, Method method) {
  Request request;
  request.set_reason(args.reason);
  return Steer(context, args.study, std::move(request), method, "");
}

absl::StatusOr<ExitCode> CancelStudy(Context& context, const EndArgs& args) {
  return End<v1::StopStudyRequest>(context, args, &Stub::StopStudy);
}

absl::StatusOr<ExitCode> Finish(Context& context, const EndArgs& args) {
  return End<v1::FinishStudyRequest>(context, args, &Stub::FinishStudy);
}

struct DeleteStudyArgs {
  std::string study;
  bool yes = false;
  bool force = false;
};

absl::Status SendDeletion(Connection& connection, const DeleteStudyArgs& args) {
  v1::DeleteStudyRequest request;
  request.set_name(wire::StudyResource(args.study));
  request.set_force(args.force);
  request.set_request_id(NewRequestId());
  return connection.CallOn(args.study, &Stub::DeleteStudy, request).status();
}

// Deletes a study that cannot be read.
absl::StatusOr<ExitCode> DeleteDamaged(Context& context,
                                       Connection& connection,
                                       const DeleteStudyArgs& args,
                                       const absl::Status& damage) {
  // Without --force, the server would refuse it, too; this says what to do.
  if (!args.force) return WithHint(damage, "--force deletes what can be read of it");
  if (!args.yes) {
    return WithHint(
        InvalidArgument("deleting study '{}', which is damaged, needs --yes", args.study),
        "a backup may have all of it: `vernier server restore`");
  }
  VERNIER_RETURN_IF_ERROR(SendDeletion(connection, args));
  context.output().Say(fmt::format(
      "study '{}' deleted; it was damaged, and rows in damaged pages stay in the store's file",
      args.study));
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> DeleteStudy(Context& context, const DeleteStudyArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  const absl::StatusOr<StudyRecord> found = GetStudy(connection, args.study);
  if (absl::IsDataLoss(found.status())) {
    return DeleteDamaged(context, connection, args, found.status());
  }
  VERNIER_RETURN_IF_ERROR(found.status());
  const StudyRecord& study = *found;
  // With what would be lost, since there is no undo.
  if (!args.yes) {
    return WithHint(
        InvalidArgument("deleting study '{}' with its {} trial{} and their history needs --yes",
                        args.study,
                        study.study.trials,
                        study.study.trials == 1 ? "" : "s"),
        fmt::format("`vernier study export {0} > {0}.jsonl` keeps a record to read, "
                    "`vernier server backup` a copy of the store",
                    args.study));
  }
  // A server inside this process runs no engine, so processes of its trials would go on without a study.
  if (args.force && connection.is_embedded() && study.study.open > 0 &&
      study.study.spec.job.has_value()) {
    return WithHint(
        FailedPrecondition("study '{}' has {}, and no server runs that could end {}",
                           args.study,
                           study.study.open == 1
                               ? "a trial that has not ended"
                               : fmt::format("{} trials that have not ended", study.study.open),
                           study.study.open == 1 ? "its programs" : "their programs"),
        "start one first: `vernier server start`");
  }
  VERNIER_RETURN_IF_ERROR(SendDeletion(connection, args));
  context.output().Say(fmt::format("study '{}' deleted", args.study));
  return ExitCode::kOk;
}

struct AmendArgs {
  std::string study;
  std::string trials;
  std::string failed;
  std::string time;
  std::string gpu_hours;
  std::string stopping;
  std::vector<std::string> stopping_options;
  int parallel = 0;
  bool fixed = false;
  LabelFlags labels;
};

// Each given bound is added to the update mask. "none" leaves its field unset, which removes the bound.
absl::StatusOr<v1::UpdateStudyRequest> MakeAmendment(const AmendArgs& args) {
  v1::UpdateStudyRequest request;
  request.set_name(wire::StudyResource(args.study));
  request.mutable_study()->set_name(request.name());
  request.set_request_id(NewRequestId());
  v1::StudySpec& spec = *request.mutable_study()->mutable_spec();
  if (!args.trials.empty()) {
    request.mutable_update_mask()->add_paths("spec.budget.trials");
    if (args.trials != "none") {
      VERNIER_ASSIGN_OR_RETURN(const std::int64_t bound, ParseCountFlag("--trials", args.trials));
      spec.mutable_budget()->set_trials(bound);
    }
  }
  if (!args.failed.empty()) {
    request.mutable_update_mask()->add_paths("spec.budget.failed_trials");
    if (args.failed != "none") {
      VERNIER_ASSIGN_OR_RETURN(const std::int64_t bound, ParseCountFlag("--failed", args.failed));
      spec.mutable_budget()->set_failed_trials(bound);
    }
  }
  if (!args.time.empty()) {
    request.mutable_update_mask()->add_paths("spec.budget.time");
    if (args.time != "none") {
      VERNIER_ASSIGN_OR_RETURN(const absl::Duration bound, ParseDurationFlag("--time", args.time));
      wire::EncodeDuration(bound, spec.mutable_budget()->mutable_time());
    }
  }
  if (!args.gpu_hours.empty()) {
    request.mutable_update_mask()->add_paths("spec.budget.gpu_hours");
    if (args.gpu_hours != "none") {
      VERNIER_ASSIGN_OR_RETURN(const double bound, ParseNumberFlag("--gpu-hours", args.gpu_hours));
      spec.mutable_budget()->set_gpu_hours(bound);
    }
  }
  if (args.parallel > 0) {
    request.mutable_update_mask()->add_paths("spec.parallel");
    spec.set_parallel(args.parallel);
  }
  if (!args.stopping.empty()) {
    request.mutable_update_mask()->add_paths("spec.stopping");
    spec.mutable_stopping()->set_name(args.stopping);
    VERNIER_ASSIGN_OR_RETURN(const auto options,
                             ParseOptions("--stopping-option", args.stopping_options));
    wire::EncodePoint(options, spec.mutable_stopping()->mutable_options());
  } else if (!args.stopping_options.empty()) {
    return InvalidArgument("--stopping-option: needs --stopping, the rule that it is for");
  }
  // A change of its own, which needs no path.
  request.set_fixed(args.fixed);
  VERNIER_RETURN_IF_ERROR(ApplyLabelFlags(args.labels, request));
  return request;
}

absl::StatusOr<ExitCode> Amend(Context& context, const AmendArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const v1::UpdateStudyRequest request, MakeAmendment(args));
  if (request.update_mask().paths().empty() && !args.fixed) {
    return InvalidArgument(
        "nothing to amend: give --trials, --failed, --time, --gpu-hours, --parallel, --stopping, "
        "--fixed or labels; `vernier study create FILE --update` changes the rest");
  }
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const v1::Study message,
                           connection.CallOn(args.study, &Stub::UpdateStudy, request));
  VERNIER_ASSIGN_OR_RETURN(const Study study, wire::DecodeStudy(message));
  // If the study still counts as ended, the reason is shown.
  const std::string reason = IsFinished(study.state) ? " (" + study.reason + ")" : "";
  return ReportOutcome(
      context,
      connection,
      message,
      fmt::format("{}: {}, {} at a time", reason, DescribeBudget(study), study.spec.parallel));
}

}  // namespace

void AddStudyPause(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<StudyArgs>(
      study, "pause", "Pause a study: running trials go on, no new ones start", &Pause, chosen);
  AddStudyOption(*command, args->study);
}

void AddStudyResume(CLI::App& study, Action& chosen) {
  auto [command, args] =
      AddCommand<StudyArgs>(study, "resume", "Resume a paused study", &Resume, chosen);
  AddStudyOption(*command, args->study);
}

void AddStudyStop(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<EndArgs>(
      study, "stop", "Cancel a study and stop its running trials", &CancelStudy, chosen);
  AddStudyOption(*command, args->study);
  args->reason = "stopped by the user";
  command->add_option("--reason", args->reason, "Reason to store with the study");
}

void AddStudyFinish(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<EndArgs>(
      study, "finish", "End a study that is good enough as COMPLETED", &Finish, chosen);
  AddStudyOption(*command, args->study);
  args->reason = "good enough for the user";
  command->add_option("--reason", args->reason, "Reason to store with the study");
}

void AddStudyAmend(CLI::App& study, Action& chosen) {
  auto [command, args] =
      AddCommand<AmendArgs>(study,
                            "amend",
                            "Change the budget, the stopping rule or labels of a study; a larger "
                            "budget extends one that has ended",
                            &Amend,
                            chosen);
  AddStudyOption(*command, args->study);
  command->add_option("--trials", args->trials, "Total number of trials, or none for no bound");
  command->add_option(
      "--failed", args->failed, "Number of failed trials after which the study fails, or none");
  command->add_option("--time", args->time, "Total time, e.g. 2h, or none");
  command->add_option("--gpu-hours", args->gpu_hours, "Total GPU hours, e.g. 40, or none");
  command->add_option("--parallel", args->parallel, "Number of trials at a time")
      ->check(AtLeast(1));
  command->add_option(
      "--stopping", args->stopping, "Name of the rule that stops trials early, or none");
  command
      ->add_option("--stopping-option",
                   args->stopping_options,
                   "Option of that rule, NAME=VALUE; repeatable; the others get their defaults")
      ->allow_extra_args(false);
  command->add_flag("--fixed",
                    args->fixed,
                    "The cause of the failures is fixed: failures so far no longer count");
  AddLabelFlags(*command, args->labels);
}

void AddStudyDelete(CLI::App& study, Action& chosen) {
  auto [command, args] = AddCommand<DeleteStudyArgs>(
      study, "delete", "Delete a study, its trials and its history", &DeleteStudy, chosen);
  AddStudyOption(*command, args->study);
  command->add_flag("--yes", args->yes, "Confirm the deletion");
  command->add_flag(
      "--force", args->force, "Delete the study even while trials run, or if it is damaged");
}

}  // namespace vernier::cli
