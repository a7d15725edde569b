#include "src/launch/slurm/commands.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "src/launch/slurm/client_environment.h"
#include "src/launch/slurm/records.h"
#include "src/launch/supervisor/bounded_run.h"

namespace vernier::launch::slurm {
namespace {

// The message without the program's name and prefixes, in one line.
std::string Message(const std::string& errors) {
  std::string message;
  for (absl::string_view line : absl::StrSplit(errors, '\n')) {
    const std::size_t at = line.find("error: ");
    if (at != absl::string_view::npos) line.remove_prefix(at + 7);
    absl::ConsumePrefix(&line, "Batch job submission failed: ");
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    if (!message.empty()) message += "; ";
    message += std::string(line);
  }
  return message;
}

void AddComponent(const BatchJob& job, const Component& component, std::vector<std::string>& argv) {
  const auto add_if = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) argv.push_back(fmt::format("--{}={}", option, value));
  };
  argv.push_back(fmt::format("--ntasks={}", component.tasks));
  argv.push_back(fmt::format("--cpus-per-task={}", WholeCpus(component)));
  if (component.memory_bytes > 0) {
    argv.push_back(fmt::format("--mem-per-cpu={}M", MegabytesPerCpu(component)));
  }
  if (component.gpus > 0) argv.push_back("--gpus-per-task=" + GpuText(component));
  if (job.time_limit.has_value()) {
    argv.push_back(fmt::format("--time={}", WholeMinutes(*job.time_limit)));
  }
  add_if("partition", job.site.partition);
  add_if("account", job.site.account);
  add_if("qos", job.site.qos);
  add_if("constraint", job.site.constraint);
  add_if("reservation", job.site.reservation);
  argv.insert(argv.end(), job.site.arguments.begin(), job.site.arguments.end());
}

class SlurmCommands final : public Slurm {
 public:
  explicit SlurmCommands(CommandOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::int64_t> Submit(const BatchJob& job) override {
    std::vector<std::string> argv = SubmitArguments(job);
    VERNIER_ASSIGN_OR_RETURN(const std::string answer, Run(std::move(argv)));
    // "ID" or "ID;CLUSTER".
    const std::string first(absl::StripAsciiWhitespace(answer));
    std::int64_t id = 0;
    if (absl::SimpleAtoi(first.substr(0, first.find(';')), &id) && id > 0) return id;
    return FailedPrecondition("sbatch answered '{}' instead of a job's id", first);
  }

  absl::Status Test(const BatchJob& job) override {
    std::vector<std::string> argv = SubmitArguments(job);
    argv.insert(argv.begin() + 1, "--test-only");
    return Run(std::move(argv)).status();
  }

  absl::StatusOr<std::vector<JobRecord>> Jobs() override {
    VERNIER_ASSIGN_OR_RETURN(const std::string answer, Run({"squeue", "--all", "--json"}));
    return ParseJobs(answer);
  }

  absl::Status Stop(std::int64_t id, Listener listener) override {
    std::vector<std::string> argv = {
        "scancel", fmt::format("--signal={}", kStopSignal), fmt::format("{}", id)};
    if (listener == Listener::kScript) argv.insert(argv.begin() + 1, "--batch");
    return UnlessGone(Run(std::move(argv)));
  }

  absl::Status Cancel(std::int64_t id) override {
    return UnlessGone(Run({"scancel", fmt::format("{}", id)}));
  }

  absl::StatusOr<std::vector<NodeRecord>> Nodes() override {
    // Since 23.02 sinfo groups nodes, and scontrol lists them; before, scontrol knew no JSON.
    absl::StatusOr<std::string> answer = Run({"scontrol", "show", "nodes", "--json"});
    if (!answer.ok() && !absl::IsUnavailable(answer.status())) answer = Run({"sinfo", "--json"});
    if (!answer.ok()) return answer.status();
    return ParseNodes(*answer);
  }

 private:
  static absl::Status UnlessGone(const absl::StatusOr<std::string>& ran) {
    const bool is_gone =
        absl::IsInvalidArgument(ran.status()) && SaysNoJob(std::string(ran.status().message()));
    return is_gone ? absl::OkStatus() : ran.status();
  }

  // What the program prints.  InvalidArgument: it refuses, for the reason that it gives.
  absl::StatusOr<std::string> Run(std::vector<std::string> argv) const {
    const std::string name = argv[0];
    if (!options_.folder.empty()) argv[0] = options_.folder + "/" + name;
    BoundedRun run = RunBounded(argv,
                                absl::ToInt64Milliseconds(options_.patience),
                                ErrorOutput::kApart,
                                kMostAnswer,
                                ClientEnvironment());
    switch (run.end) {
      case BoundedRun::End::kNotRun:
        return FailedPrecondition("{} cannot be run: {}", argv[0], std::strerror(run.error));
      case BoundedRun::End::kOverdue:
        return Unavailable(
            "{} did not answer within {}", name, absl::FormatDuration(options_.patience));
      case BoundedRun::End::kExited:
        break;
    }
    if (run.status == 0) return std::move(run.output);
    const std::string message = Message(run.errors);
    if (SaysNoAnswer(run.errors)) return Unavailable("{}: {}", name, message);
    return InvalidArgument("{}: {}", name, message.empty() ? "it failed" : message);
  }

  const CommandOptions options_;
};

}  // namespace

std::vector<std::string> SubmitArguments(const BatchJob& job) {
  std::vector<std::string> argv = {
      "sbatch",
      "--parsable",
      // Retries are the engine's: a job that Slurm starts again by itself would be an attempt
      // that nobody recorded.
      "--no-requeue",
      // Of ClientEnvironment, which is all that the client has; programs get theirs from the replica's record. Any other
      // choice makes a node run the user's login shell before the job (sbatch(1), --get-user-env), which takes from 0.1 s
      // to minutes.
      "--export=ALL",
      "--job-name=" + job.name,
      "--comment=" + job.comment,
      // In the name of an output file, sbatch replaces %j and the like (sbatch(1), "filename pattern").
      "--output=" + absl::StrReplaceAll(job.output, {{"%", "%%"}}),
      "--open-mode=append",
      "--chdir=" + job.directory};
  for (std::size_t i = 0; i < job.components.size(); ++i) {
    if (i > 0) argv.emplace_back(":");
    AddComponent(job, job.components[i], argv);
  }
  argv.push_back(job.script);
  return argv;
}

std::unique_ptr<Slurm> NewSlurmCommands(CommandOptions options) {
  return std::make_unique<SlurmCommands>(std::move(options));
}

}  // namespace vernier::launch::slurm
