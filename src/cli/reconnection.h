#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"

namespace vernier::cli {

// How long a command that follows something waits for the next server. A choice: a restart takes seconds.
inline constexpr absl::Duration kReconnectPatience = absl::Minutes(1);

// Whether the call or stream was lost because its server ended, so that another server may answer.
bool IsConnectionLost(const absl::Status& status, const Connection& connection);

// Waits until a server answers in place of the one that ended, and points `connection` to it. Says on standard error
// that it waits. For commands that only read: they never open the store themselves.
// Unavailable: no server answered until `give_up`, or within kReconnectPatience.
absl::Status Reconnect(Context& context, Connection& connection, absl::Time give_up);

}  // namespace vernier::cli
