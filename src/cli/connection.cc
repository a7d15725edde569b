// Finds the server for a command, in the order of docs/adr/0004-the-command-line-is-a-client.md: --server, the owner of
// the store, a server inside this process. gRPC's own messages ("Socket closed", "failed to connect to all addresses")
// help no user, so a lost connection is explained by looking at the causes one after another: has the owner ended, has
// another process taken over, is the socket gone, or is it another user's.

#include "src/cli/connection.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/app/access.h"
#include "src/app/listen_address.h"
#include "src/app/paths.h"
#include "src/base/access_token.h"
#include "src/base/files.h"
#include "src/cli/hint.h"
#include "src/client/access.h"
#include "src/client/retry.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "src/wire/channel.h"
#include "src/wire/names.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

// Targets with a scheme of gRPC's name resolution pass unchecked; gRPC knows them best.
absl::Status CheckTarget(const std::string& target) {
  for (const std::string_view scheme : {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"}) {
    if (target.starts_with(scheme) && target.size() > scheme.size()) return absl::OkStatus();
  }
  if (app::CheckListenAddress(target, /*allow_remote=*/true).ok()) return absl::OkStatus();
  return InvalidArgument("--server: must be HOST:PORT or unix:PATH, got '{}'", target);
}

absl::Status LostConnection(const std::string& target) {
  return WithHint(
      Unavailable("the connection to {} was lost", target),
      "repeat the command; if no server answers then, start one with `vernier server start`");
}

// Whether the process was stopped by a signal (proc(5): the state follows the name, which may hold parentheses itself).
bool IsSuspended(std::int64_t process) {
  const std::string stat = base::ReadFile(fmt::format("/proc/{}/stat", process), 4096).value_or("");
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) == "T";
}

}  // namespace

absl::Status CheckStoreExists(const std::string& store) {
  std::error_code error;
  if (store == app::kInMemory || std::filesystem::exists(store, error)) return absl::OkStatus();
  // A store in a folder that cannot be looked into may be there all the same.
  absl::Status folder = app::CheckStoreFolder(store);
  if (!folder.ok() && !absl::IsNotFound(folder)) return folder;
  // The lock file still names a live process: the store was taken away from under it.
  if (const std::optional<app::StoreOwner> owner = app::FindStoreOwner(store)) {
    return WithHint(NotFound("{} is gone: it was moved or removed under process {}, which stores "
                             "nothing any more",
                             store,
                             owner->process_id),
                    "put it back, or stop that process and restore a backup");
  }
  return WithHint(
      absl::NotFoundError(fmt::format("there is no store at {}", store)),
      "`vernier run FILE` and `vernier study create FILE` create it; --store names another one");
}

Connection::Connection(std::shared_ptr<grpc::Channel> channel, std::string target)
    : target_(std::move(target)),
      channel_(std::move(channel)),
      stub_(v1::StudyService::NewStub(channel_)),
      cluster_stub_(v1::ClusterService::NewStub(channel_)) {}

absl::StatusOr<Connection> Connection::Embed(const app::ServerOptions& options) {
  VERNIER_RETURN_IF_ERROR(app::CreateStoreFolder(options.store));
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<app::Server> server, app::Server::Start(options));
  Connection connection(server->InProcessChannel(), "this process");
  connection.server_ = std::move(server);
  return connection;
}

absl::StatusOr<Connection> Connection::Open(const ServerChoice& choice) {
  if (!choice.server.empty()) {
    VERNIER_RETURN_IF_ERROR(CheckTarget(choice.server));
    VERNIER_ASSIGN_OR_RETURN(const std::string token, client::FindToken(choice.server));
    return Connection(wire::OpenChannel(choice.server, token), choice.server);
  }
  app::ServerOptions options = {.store = choice.store, .run_engine = false};
  absl::Status exists = CheckStoreExists(choice.store);
  // If the file is gone but a server had it open, the call is sent all the same: the server's error says more.
  if (!exists.ok() && app::FindStoreOwner(choice.store).has_value()) exists = absl::OkStatus();
  const bool is_refused = choice.missing == MissingStore::kRefuse || !absl::IsNotFound(exists);
  if (!exists.ok() && is_refused) return exists;
  if (!exists.ok() && choice.missing == MissingStore::kDoWithout) options.store = app::kInMemory;
  return OpenWithEngine(options);
}

absl::StatusOr<Connection> Connection::OpenWithEngine(const app::ServerOptions& options) {
  auto owner = app::FindStoreOwner(options.store);
  if (!owner.has_value() || owner->address.empty()) {
    // Waits for its turn. An owner that has no address uses the store for a moment, or is a server that is starting.
    absl::StatusOr<Connection> embedded = Embed(options);
    if (GetReason(embedded.status()) != Reason::kStoreBusy) return embedded;
    owner = app::FindStoreOwner(options.store);
    if (!owner.has_value() || owner->address.empty()) return embedded;
  }
  std::string token;
  if (!owner->token_file.empty()) {
    VERNIER_ASSIGN_OR_RETURN(token, base::ReadToken(owner->token_file));
  }
  Connection connection(wire::OpenChannel(owner->address, token), owner->address);
  connection.owner_ = owner;
  connection.store_ = options.store;
  return connection;
}

void Connection::SetDeadline(absl::Duration timeout, grpc::ClientContext& context) {
  // By the monotonic clock, so that a change of the system's time neither cuts a call short nor prolongs it.
  context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_millis(absl::ToInt64Milliseconds(timeout), GPR_TIMESPAN)));
}

absl::Status Connection::Explain(absl::Status status) const {
  if (!client::IsLost(status) || is_embedded()) return status;
  // A reason comes from the server, so it did answer.
  if (GetReason(status) != Reason::kNone) return status;
  if (owner_.has_value()) return ExplainLostOwner();
  // A connect(2) of our own tells refused, missing and forbidden sockets apart; gRPC reports all of them as
  // UNAVAILABLE.
  const std::optional<std::string> socket = app::SocketPathOf(target_);
  const int error = socket.has_value() ? app::TryToConnect(*socket) : ECONNREFUSED;
  if (error == 0) return LostConnection(target_);
  if (error == EACCES) return PermissionDenied("socket '{}' is another user's", *socket);
  return WithHint(
      absl::UnavailableError(fmt::format("no server answers at {}", target_)),
      "start one with `vernier server start`, or leave --server out to use the store directly");
}

absl::Status Connection::ExplainLostOwner() const {
  const std::optional<app::StoreOwner> now = app::FindStoreOwner(store_);
  if (!now.has_value()) {
    return WithHint(Unavailable("the server (process {}) has ended", owner_->process_id),
                    "repeat the command once another one runs; `vernier server start` starts it");
  }
  if (now->process_id != owner_->process_id) {
    return WithHint(Unavailable("the server (process {}) has ended; process {} has the store now",
                                owner_->process_id,
                                now->process_id),
                    "repeat the command");
  }
  const std::optional<std::string> socket = app::SocketPathOf(target_);
  const int error = socket.has_value() ? app::TryToConnect(*socket) : 0;
  if (error == EACCES) return PermissionDenied("socket '{}' is another user's", *socket);
  if (IsSuspended(owner_->process_id)) {
    return WithHint(Unavailable("the server (process {}) is suspended", owner_->process_id),
                    fmt::format("`kill -CONT {}` resumes it", owner_->process_id));
  }
  if (error != ENOENT) return LostConnection(target_);
  return WithHint(
      Unavailable(
          "process {} has the store, but its socket '{}' is gone", owner_->process_id, *socket),
      fmt::format("it may be about to end; if it does not, somebody removed the "
                  "socket: stop it with `kill {}` and start it again",
                  owner_->process_id));
}

absl::Status Connection::ExplainMissing(std::string_view study, absl::Status status) {
  if (GetReason(status) != Reason::kStudyNotFound) return status;
  // One page of names suffices for a suggestion. If this call fails, the first error is the one to show.
  const auto known = Call(&Stub::ListStudies, v1::ListStudiesRequest());
  if (!known.ok()) return status;
  if (known->studies().empty()) {
    return WithHint(std::move(status),
                    "this store has no studies; `vernier study create FILE` makes one");
  }
  std::vector<std::string> names;
  for (const v1::Study& other : known->studies()) {
    names.push_back(wire::ParseStudyName("name", other.name()).value_or(other.name()));
  }
  std::string hint = NearestHint(study, names);
  // NearestHint continues a sentence; a hint begins one.
  hint.erase(0, hint.find_first_not_of("; "));
  return WithHint(std::move(status), hint);
}

}  // namespace vernier::cli
