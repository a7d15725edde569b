#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"

namespace vernier::cli {

// How long a command that follows something waits for the next server after the one it talked to has gone.
inline constexpr absl::Duration kReconnectPatience = absl::Minutes(1);

// Whether the call or stream was lost since the server ends, or has ended: another one may answer.
bool IsConnectionLost(const absl::Status& status, const Connection& connection);

// Waits until a server answers where the one of `connection` went away, and makes `connection` one to it. Says on standard
// error that it waits. For commands that only look: they never become the server themselves.
// Unavailable: none did until `give_up`, or for kReconnectPatience.
absl::Status Reconnect(Context& context, Connection& connection, absl::Time give_up);

}  // namespace vernier::cli
