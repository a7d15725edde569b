#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vernier/core/study.h"

// Replicas as users name them when they want the output of some.
namespace vernier::cli {

// "chief 0, worker 0 to 8, ps 0": those of the study's job.
// REQUIRES: spec.job.
std::string DescribeReplicas(const StudySpec& spec);
// The same as the log service calls them, and itself: "master-replica-0, worker-replica-0 to worker-replica-8, service".
// REQUIRES: spec.job.
std::string DescribeTasks(const StudySpec& spec);

// What the log service calls what is no replica but the service itself. Its lines have the role of that name.
inline constexpr std::string_view kServiceTask = "service";

// What the log service calls a replica: "master-replica-0".
std::string TaskName(std::string_view role, std::int32_t index);

// Whether the job has such a replica. Unset: any index.
// REQUIRES: spec.job.
bool HasReplica(const StudySpec& spec, std::string_view role, std::optional<std::int32_t> index);
// REQUIRES: spec.job.
bool HasTask(const StudySpec& spec, std::string_view task);

}  // namespace vernier::cli
