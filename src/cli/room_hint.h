#pragma once

#include <string>
#include <vector>

#include "src/cli/connection.h"
#include "vernier/core/study.h"
#include "vernier/launcher.h"

namespace vernier::cli {

// Says if the study asks for more trials at a time than fit on the empty host: "4 at a time asked, room for 2: each
// trial needs 1 cpu, the host has 2"; otherwise empty. Resources that a trial does not ask for count as free. Empty
// also if it cannot be told: shared devices, several nodes, trials scaled down to the host.
std::string RoomHint(const StudySpec& spec, const std::vector<Node>& nodes);

// Says if the nodes have devices and no replica asks for any: "job: it asks for no GPU, so its programs do not see the
// 2 GPUs here; …"; otherwise empty. Empty also if the job names machine types, since these were chosen with their GPUs.
std::string GpuHint(const StudySpec& spec, const std::vector<Node>& nodes);
// As above, for the server's nodes; empty if it cannot be asked.
std::string GpuHint(Connection& connection, const StudySpec& spec);

// Both hints, one a line, for the server's nodes; empty if it cannot be asked.
std::string RoomHint(Connection& connection, const StudySpec& spec);

}  // namespace vernier::cli
