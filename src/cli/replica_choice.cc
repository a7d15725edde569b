#include "src/cli/replica_choice.h"

#include <algorithm>
#include <map>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/jobs/layout.h"

namespace vernier::cli {
namespace {

// From the request that the launcher gets, so that roles and indices are the real ones.
std::vector<ReplicaRequest> ReplicasOf(const StudySpec& spec) {
  return jobs::MakeGangRequest(AttemptId(), spec).replicas;
}

// Joins runs of replicas of one role: "worker 0 to 8".
template <typename First, typename Last>
std::string Describe(const StudySpec& spec, First name_first, Last name_last) {
  std::vector<std::string> names;
  const std::vector<ReplicaRequest> replicas = ReplicasOf(spec);  // By role, each by index.
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const bool is_first = replicas[i].index == 0;
    const bool is_last = i + 1 == replicas.size() || replicas[i + 1].index == 0;
    if (is_first) names.push_back(name_first(replicas[i]));
    if (!is_first && is_last) names.back() += " to " + name_last(replicas[i]);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string DescribeReplicas(const StudySpec& spec) {
  return Describe(
      spec,
      [](const ReplicaRequest& replica) {
        return fmt::format("{} {}", replica.role, replica.index);
      },
      [](const ReplicaRequest& replica) { return std::to_string(replica.index); });
}

std::string DescribeTasks(const StudySpec& spec) {
  const auto name = [](const ReplicaRequest& replica) {
    return TaskName(replica.role, replica.index);
  };
  return fmt::format("{}, {}", Describe(spec, name, name), kServiceTask);
}

std::string TaskName(std::string_view role, std::int32_t index) {
  if (role == kServiceTask) return std::string(role);
  return fmt::format("{}-replica-{}", role == "chief" ? "master" : role, index);
}

bool HasReplica(const StudySpec& spec, std::string_view role, std::optional<std::int32_t> index) {
  return std::ranges::any_of(ReplicasOf(spec), [&](const ReplicaRequest& replica) {
    return replica.role == role && (!index || replica.index == *index);
  });
}

bool HasTask(const StudySpec& spec, std::string_view task) {
  if (task == kServiceTask) return true;
  return std::ranges::any_of(ReplicasOf(spec), [&](const ReplicaRequest& replica) {
    return TaskName(replica.role, replica.index) == task;
  });
}

}  // namespace vernier::cli
