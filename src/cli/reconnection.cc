// Commands that follow a study survive a restart of its server. They must not open the store in the meantime: a
// restarted server needs the lock (docs/adr/0031-a-run-starts-its-own-study.md). So the owner file is polled, and a
// connection is made only when a process with an address is named there.

#include "src/cli/reconnection.h"

#include <poll.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "src/cli/hint.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

constexpr int kPauseMilliseconds = 100;

// A connection to a server that has answered a call. A channel alone proves nothing: gRPC connects lazily.
absl::StatusOr<Connection> TryToConnect(const Context& context) {
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  if (connection.is_embedded()) return Unavailable("no server owns the store");
  VERNIER_RETURN_IF_ERROR(
      connection.Call(&Connection::Stub::GetServerInfo, v1::GetServerInfoRequest()).status());
  return connection;
}

// Whether connecting can succeed. A store without an owner stays untouched, for the server that is about to start.
bool MayAnswer(const Context& context) {
  if (!context.flags().server.empty()) return true;
  const std::optional<app::StoreOwner> owner = app::FindStoreOwner(context.Store());
  return owner.has_value() && !owner->address.empty();
}

}  // namespace

bool IsConnectionLost(const absl::Status& status, const Connection& connection) {
  // A reason comes from a server that is alive.
  return absl::IsUnavailable(status) && GetReason(status) == Reason::kNone &&
         !connection.is_embedded();
}

absl::Status Reconnect(Context& context, Connection& connection, absl::Time give_up) {
  const std::string gone =
      connection.owner().has_value()
          ? fmt::format("the server (process {}) has ended", connection.owner()->process_id)
          : fmt::format("no server answers at {}", context.flags().server);
  context.console().err << gone << "; waiting for another one" << std::endl;
  const absl::Time deadline = std::min(give_up, context.Now() + kReconnectPatience);
  while (context.Now() < deadline) {
    if (MayAnswer(context)) {
      absl::StatusOr<Connection> next = TryToConnect(context);
      if (next.ok()) {
        connection = *std::move(next);
        return absl::OkStatus();
      }
      if (!absl::IsUnavailable(next.status())) return next.status();
    }
    poll(nullptr, 0, kPauseMilliseconds);
  }
  return WithHint(Unavailable("{}", gone),
                  "running trials go on; start a server with `vernier server start` and repeat the "
                  "command");
}

}  // namespace vernier::cli
