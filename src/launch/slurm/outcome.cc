#include "src/launch/slurm/outcome.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fmt/format.h"

namespace vernier::launch::slurm {
namespace {

struct Row {
  JobState state;
  FailureClass failure;
  bool transient;
  std::string_view message;
};

// The state of a component says more than that of the others if it stands further up: a job whose node failed has
// components that Slurm cancelled for it.
constexpr std::array<Row, 8> kEnds = {{
    {JobState::kOutOfMemory,
     FailureClass::kOutOfMemory,
     false,
     "Slurm ended it: it took more memory than it asked for"},
    {JobState::kNodeFail, FailureClass::kNodeLost, true, "a node of it failed"},
    {JobState::kBootFail, FailureClass::kNodeLost, true, "a node of it did not boot"},
    {JobState::kPreempted,
     FailureClass::kPreempted,
     true,
     "Slurm preempted it for a job of a higher priority"},
    {JobState::kTimeout,
     FailureClass::kTimeout,
     false,
     "Slurm ended it at its time limit; without limits.time that is the partition's"},
    {JobState::kDeadline, FailureClass::kTimeout, false, "Slurm ended it at its deadline"},
    {JobState::kFailed,
     FailureClass::kInternal,
     true,
     "its job failed in Slurm before its replicas could say why"},
    {JobState::kCancelled, FailureClass::kInternal, true, "somebody cancelled its job in Slurm"},
}};

// Reasons of waiting jobs: https://slurm.schedmd.com/job_reason_codes.html.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kWaits = {{
    {"Resources", "it waits for room"},
    {"Priority", "jobs of a higher priority are before it"},
    {"Dependency", "it waits for another job"},
    {"BeginTime", "its time to begin has not come"},
    {"JobHeldUser", "its user holds it; scontrol release lets it go on"},
    {"JobHeldAdmin", "an administrator holds it"},
    {"ReqNodeNotAvail", "nodes that it needs are down or reserved"},
    {"Reservation", "its reservation has not begun"},
    {"PartitionDown", "its partition is down"},
    {"PartitionInactive", "its partition is inactive"},
    {"Licenses", "it waits for licenses"},
    {"QOSMaxJobsPerUserLimit", "its user has as many running jobs as the QOS allows"},
    {"QOSMaxCpuPerUserLimit", "its user has as many CPUs as the QOS allows"},
    {"QOSMaxGRESPerUser", "its user has as many devices as the QOS allows"},
    {"AssocGrpCpuLimit", "its account has as many CPUs as it is allowed"},
    {"AssocGrpGRES", "its account has as many devices as it is allowed"},
    {"AssocMaxJobsLimit", "its account has as many running jobs as it is allowed"},
    {"JobArrayTaskLimit", "its array runs as many tasks as it is allowed"},
}};

// Reasons of jobs that Slurm accepts and never starts, unless EnforcePartLimits makes it refuse them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNever = {{
    {"PartitionNodeLimit", "it needs more nodes than its partition gives a job"},
    {"PartitionTimeLimit", "its time limit is longer than its partition allows"},
    {"BadConstraints", "no node has what it is constrained to"},
    {"DependencyNeverSatisfied", "what it depends on has failed"},
}};

}  // namespace

Outcome ExplainEnd(std::span<const JobRecord> components) {
  if (components.empty()) {
    return {.failure = FailureClass::kNodeLost,
            .transient = true,
            .message = "Slurm has forgotten its job, and nothing tells how it ended"};
  }
  for (const Row& row : kEnds) {
    const auto job = std::ranges::find(components, row.state, &JobRecord::state);
    if (job == components.end()) continue;
    std::string message(row.message);
    const bool has_reason = !job->reason.empty() && job->reason != "None";
    message += fmt::format(" (job {}{}{}{})",
                           job->leader,
                           has_reason ? ": " : "",
                           has_reason ? job->reason : "",
                           job->nodes.empty() ? "" : " on " + job->nodes);
    return {.failure = row.failure, .transient = row.transient, .message = std::move(message)};
  }
  return {.failure = FailureClass::kNodeLost,
          .transient = true,
          .message = fmt::format("its job {} ended, and its replicas left no record of their end",
                                 components.front().leader)};
}

std::optional<std::string> WhyNever(const JobRecord& job) {
  if (job.state != JobState::kPending) return std::nullopt;
  const auto* const never =
      std::ranges::find(kNever, std::string_view(job.reason), &decltype(kNever)::value_type::first);
  if (never == kNever.end()) return std::nullopt;
  return fmt::format("Slurm will never run it: {} ({})", never->second, never->first);
}

std::string ExplainWait(std::string_view reason) {
  // "ReqNodeNotAvail, UnavailableNodes:n1"
  const std::string_view word = reason.substr(0, reason.find(','));
  const auto* const known = std::ranges::find(kWaits, word, &decltype(kWaits)::value_type::first);
  if (known != kWaits.end()) return fmt::format("{} (Slurm: {})", known->second, reason);
  return reason.empty() || reason == "None" ? std::string("Slurm has not looked at it yet")
                                            : fmt::format("Slurm: {}", reason);
}

}  // namespace vernier::launch::slurm
