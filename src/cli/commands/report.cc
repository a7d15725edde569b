// `vernier report` runs inside a user's training program, often once for each step. Hence: it never prints to standard
// output, where metrics may be read from; it waits out a restart of the server, since a lost report is a lost
// measurement; and a trial that has ended is answered with "stop", not with an error.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "src/app/report_file.h"
#include "src/cli/arguments.h"
#include "src/cli/assignment.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/client/retry.h"
#include "src/core/status.h"
#include "src/wire/names.h"
#include "vernier/client.h"

namespace vernier::cli {
namespace {

using ordered_json = nlohmann::ordered_json;

constexpr char kAddress[] = "VERNIER_ADDRESS";
constexpr char kTrial[] = "VERNIER_TRIAL_NAME";
constexpr char kToken[] = "VERNIER_TOKEN";
// Timeout of a single call with --wait 0s.
constexpr absl::Duration kShortest = absl::Seconds(5);
// More attempts than fit into the time, which is the real bound.
constexpr int kManyAttempts = 1'000'000;
// Step that asks the server for the one after the trial's last.
constexpr std::int64_t kNextStep = -1;

struct ReportMetricsArgs {
  std::vector<std::string> metrics;
  std::optional<std::int64_t> step;
  std::string elapsed;
  std::string wait = "30s";
};

// Server, trial and token, from the variables that Vernier sets for programs.
struct Identity {
  std::string address;
  wire::TrialName trial;
  std::string token;
};

absl::StatusOr<Identity> ReadEnvironment() {
  std::map<std::string, std::string> values;
  std::vector<std::string> missing;
  for (const char* name : {kAddress, kTrial, kToken}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') {
      missing.emplace_back(name);
    } else {
      values[name] = value;
    }
  }
  if (!missing.empty()) {
    return WithHint(
        InvalidArgument(
            "{} {} not set", fmt::join(missing, ", "), missing.size() > 1 ? "are" : "is"),
        "`vernier report` works in programs that `vernier run` or `vernierd` started; they are "
        "given "
        "these variables");
  }
  Identity identity{.address = values[kAddress], .trial = {}, .token = values[kToken]};
  VERNIER_ASSIGN_OR_RETURN(identity.trial, wire::ParseTrialName(kTrial, values[kTrial]));
  return identity;
}

// A choice: about 30 years, and far from overflow.
constexpr double kMostSeconds = 1e9;

// Plain numbers are seconds: programs have them from a timer.
absl::StatusOr<absl::Duration> ParseElapsed(const std::string& text) {
  if (text.empty()) return absl::ZeroDuration();
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds)) return ParseDurationFlag("--elapsed", text);
  if (seconds >= 0 && seconds <= kMostSeconds) return absl::Seconds(seconds);
  return InvalidArgument("--elapsed: must be 0 to {:.0f} seconds, got '{}'", kMostSeconds, text);
}

absl::StatusOr<Measurement> ReadMeasurement(const Context& context, const ReportMetricsArgs& args) {
  Measurement measurement;
  VERNIER_ASSIGN_OR_RETURN(measurement.metrics, ParseMetrics("metric", args.metrics));
  VERNIER_ASSIGN_OR_RETURN(measurement.elapsed, ParseElapsed(args.elapsed));
  measurement.step = args.step.value_or(kNextStep);
  // The local time, so that a report that is delayed keeps its own.
  measurement.time = context.Now();
  return measurement;
}

// Whether the trial has ended or was deleted, so that the program may stop.
bool IsOver(const absl::Status& status) {
  return absl::IsNotFound(status) || GetReason(status) == Reason::kTrialFinished;
}

absl::Status Explain(const absl::Status& status, const Identity& identity, absl::Duration wait) {
  if (client::IsLost(status) || absl::IsDeadlineExceeded(status)) {
    const std::string patience =
        wait > absl::ZeroDuration() ? " for " + absl::FormatDuration(wait) : "";
    return WithHint(absl::UnavailableError(fmt::format(
                        "not reported: nobody answered at {}{}", identity.address, patience)),
                    "training may go on; `--wait` says how long to try");
  }
  // The token is of an earlier attempt, whose reports no longer count (docs/adr/0003-leases-and-late-results.md).
  if (GetReason(status) != Reason::kLeaseLost) return status;
  return WithHint(absl::PermissionDeniedError(std::string(status.message())),
                  "this program may end: what it reports does not count any more");
}

ExitCode Answer(Context& context, bool stop, const std::string& why) {
  const ordered_json json = {{"stop", stop}, {"reason", why}};
  // Nothing on standard output, where metrics may be read from.
  if (!context.output().is_table()) {
    context.output().Item("", json);
  } else if (stop) {
    context.console().err << fmt::format("vernier: stop: {}\n", why);
  }
  return stop ? ExitCode::kStop : ExitCode::kOk;
}

absl::StatusOr<ExitCode> ReportMetrics(Context& context, const ReportMetricsArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const Measurement measurement, ReadMeasurement(context, args));
  VERNIER_ASSIGN_OR_RETURN(const absl::Duration wait, ParseDurationFlag("--wait", args.wait));
  if (const std::optional<app::ReportFile> file = app::FindReportFile()) {
    VERNIER_ASSIGN_OR_RETURN(const std::string why, app::AppendReport(*file, measurement));
    return Answer(context, !why.empty(), why);
  }
  VERNIER_ASSIGN_OR_RETURN(const Identity identity, ReadEnvironment());
  const bool waits = wait > absl::ZeroDuration();
  const std::unique_ptr<Client> client = Client::Connect(identity.address,
                                                         {.name = "report",
                                                          .timeout = waits ? wait : kShortest,
                                                          .attempts = waits ? kManyAttempts : 1});
  const auto reported = client->ReportFromJob(
      identity.trial.study, identity.trial.number, identity.token, {measurement});
  if (reported.ok()) {
    const auto& stop = reported->trial.stop;
    return Answer(context, reported->should_stop, stop.has_value() ? stop->explanation : "");
  }
  if (IsOver(reported.status())) {
    return Answer(context, true, std::string(reported.status().message()));
  }
  return Explain(reported.status(), identity, wait);
}

}  // namespace

void AddReport(CLI::App& root, Action& chosen) {
  auto [command, args] = AddCommand<ReportMetricsArgs>(
      root, "report", "Report metrics from a program that Vernier runs", &ReportMetrics, chosen);
  command->add_option("METRICS", args->metrics, "Values, each as NAME=VALUE; nan and inf are valid")
      ->required();
  command->add_option("--step", args->step, "Step or epoch of the values; default: the next")
      ->check(AtLeast(0));
  command->add_option(
      "--elapsed", args->elapsed, "Training time so far: seconds, or 1h30m; default: measured");
  command->add_option(
      "--wait", args->wait, "How long to retry while no server answers; default: 30s");
  command->footer(
      "Exit codes: 0 continue, 3 stop now, 2 bad input, 5 the trial no longer belongs to this "
      "program, 6 not delivered");
}
}  // namespace vernier::cli
