#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vernier/core/study.h"

// Replicas as users name them when they want the output of some.
namespace vernier::cli {

// The replicas of the study's job: "chief 0, worker 0 to 8, ps 0".
std::string DescribeReplicas(const StudySpec& spec);
// The same in the names of AI Platform's logs, with the service: "master-replica-0, worker-replica-0 to
// worker-replica-8, service".
std::string DescribeTasks(const StudySpec& spec);

// The task under which AI Platform's logs show lines of the service itself. Their role has this name, too.
inline constexpr std::string_view kServiceTask = "service";

// A replica's name in AI Platform's logs: "master-replica-0".
std::string TaskName(std::string_view role, std::int32_t index);

// Whether the job has such a replica. Without an index: any of the role.
bool HasReplica(const StudySpec& spec, std::string_view role, std::optional<std::int32_t> index);
// REQUIRES: spec.job.
bool HasTask(const StudySpec& spec, std::string_view task);

}  // namespace vernier::cli
