#pragma once

#include <string>
#include <vector>

#include "src/cli/connection.h"
#include "vernier/core/study.h"
#include "vernier/launcher.h"

namespace vernier::cli {

// "4 at a time asked, room for 2: each trial needs 1 cpu, the host has 2" where the study asks for more trials at a time
// than the empty host has room for; else empty. What a trial does not ask for takes no room. Empty also where nobody can
// tell: parts of devices, several nodes, trials that are scaled down to the host.
std::string RoomHint(const StudySpec& spec, const std::vector<Node>& nodes);

// "job: it asks for no GPU, so its programs see none of the 2 that are here; …" where the nodes have devices and no replica
// asks for any; else empty. Empty also where the job names machine types: what they have was chosen.
std::string GpuHint(const StudySpec& spec, const std::vector<Node>& nodes);
// As above, of the nodes that the server knows; empty if it cannot be asked.
std::string GpuHint(Connection& connection, const StudySpec& spec);

// Both, one a line, of the nodes that the server knows; empty if it cannot be asked.
std::string RoomHint(Connection& connection, const StudySpec& spec);

}  // namespace vernier::cli
