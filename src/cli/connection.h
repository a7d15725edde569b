#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "src/app/server.h"
#include "src/wire/status_proto.h"
#include "vernier/v1/cluster_service.grpc.pb.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::cli {

// What a command does if its store does not exist.
enum class MissingStore {
  kRefuse,     // Fail: there is nothing to read, and a new file would hide a typing error.
  kCreate,     // Create the store.
  kDoWithout,  // Use an empty store in memory.
};

// Which server to talk to.
struct ServerChoice {
  // A gRPC target; empty: the owner of the store, or a server inside this process.
  std::string server;
  std::string store;  // Path of the store.
  MissingStore missing = MissingStore::kRefuse;
};

// A connection to the service: over the network, to the process that owns the store, or to a server inside this process
// (docs/adr/0004-the-command-line-is-a-client.md). Calls are the same for all three.
class Connection {
 public:
  using Stub = v1::StudyService::StubInterface;
  using ClusterStub = v1::ClusterService::StubInterface;
  template <typename Request, typename Response>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);
  template <typename Request, typename Response>
  using ClusterMethod = grpc::Status (ClusterStub::*)(grpc::ClientContext*,
                                                      const Request&,
                                                      Response*);

  // Unavailable: no server answers, or the store cannot be opened.  NotFound: the store or its folder is missing.
  static absl::StatusOr<Connection> Open(const ServerChoice& choice);
  // Connects to the live owner of the store, or starts a server with `options` inside this process if there is none.
  static absl::StatusOr<Connection> OpenWithEngine(const app::ServerOptions& options);

  // One call: connection.Call(&Connection::Stub::GetStudy, request).
  // Errors are the server's, with their reason.  DeadlineExceeded: no answer within `timeout`.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(Method<Request, Response> method,
                                const Request& request,
                                absl::Duration timeout = absl::Seconds(60)) {
    return CallThrough<Response>(*stub_, method, request, timeout);
  }
  // As above, for the service of machines: connection.Call(&Connection::ClusterStub::ListNodes, request).
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(ClusterMethod<Request, Response> method, const Request& request) {
    return CallThrough<Response>(*cluster_stub_, method, request, absl::Seconds(60));
  }

  // A call about a study. If no study has that name, the hint suggests the nearest one.
  template <typename Request, typename Response>
  absl::StatusOr<Response> CallOn(std::string_view study,
                                  Method<Request, Response> method,
                                  const Request& request,
                                  absl::Duration timeout = absl::Seconds(60)) {
    absl::StatusOr<Response> response = Call(method, request, timeout);
    if (!response.ok()) return ExplainMissing(study, response.status());
    return response;
  }

  Stub& stub() { return *stub_; }
  // The final status of a stream, with a hint if no server answers. Call does this by itself.
  absl::Status Explain(absl::Status status) const;
  // The status of a call or stream about a study; if the study is missing, the hint suggests the nearest name.
  absl::Status ExplainMissing(std::string_view study, absl::Status status);
  // The process of this host that owns the store; nothing if this process does, or --server named a server.
  const std::optional<app::StoreOwner>& owner() const { return owner_; }
  // Whether the server runs inside this process.
  bool is_embedded() const { return server_ != nullptr; }

 private:
  template <typename Response, typename AnyStub, typename AnyMethod, typename Request>
  absl::StatusOr<Response> CallThrough(AnyStub& stub,
                                       AnyMethod method,
                                       const Request& request,
                                       absl::Duration timeout) {
    grpc::ClientContext context;
    SetDeadline(timeout, context);
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) return Explain(wire::DecodeStatus(status));
    return response;
  }

  Connection(std::shared_ptr<grpc::Channel> channel, std::string target);
  // Why the owner does not answer.
  absl::Status ExplainLostOwner() const;
  static absl::StatusOr<Connection> Embed(const app::ServerOptions& options);
  static void SetDeadline(absl::Duration timeout, grpc::ClientContext& context);

  std::unique_ptr<app::Server> server_;  // Declared first: it must outlive the channel into it.
  std::string target_;
  std::string store_;  // The owner's store; empty without an owner.
  std::optional<app::StoreOwner> owner_;
  std::shared_ptr<grpc::Channel> channel_;  // gRPC shares it with the stubs.
  std::unique_ptr<Stub> stub_;
  std::unique_ptr<ClusterStub> cluster_stub_;
};

// NotFound, with a hint: there is no store at that path.  Unavailable: its folder cannot be looked into.
absl::Status CheckStoreExists(const std::string& store);

}  // namespace vernier::cli
