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

// What becomes of a command whose store does not exist.
enum class MissingStore {
  kRefuse,     // It says so: there is nothing to read, and a new file would hide a typing error.
  kCreate,     // It creates the store.
  kDoWithout,  // It works on an empty store that is gone when it ends.
};

// Which server to talk to.
struct ServerChoice {
  std::string server;  // A gRPC target; empty: whoever owns the store, or this process.
  std::string store;   // Path of the store.
  MissingStore missing = MissingStore::kRefuse;
};

// A way to the service: over the network, to the process that owns the store, or to a server inside this process. What is
// said over it is the same.
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

  // Unavailable: nobody answers, or the store cannot be opened.  NotFound: there is no store, or no folder for it.
  static absl::StatusOr<Connection> Open(const ServerChoice& choice);
  // To a server inside this process that is started with `options`, unless a live process owns the store already.
  static absl::StatusOr<Connection> OpenWithEngine(const app::ServerOptions& options);

  // One call: connection.Call(&Connection::Stub::GetStudy, request).
  // Errors are the server's, with their reason.  DeadlineExceeded: no answer within `timeout`.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(Method<Request, Response> method,
                                const Request& request,
                                absl::Duration timeout = absl::Seconds(60)) {
    return CallThrough<Response>(*stub_, method, request, timeout);
  }
  // As above, of the machines: connection.Call(&Connection::ClusterStub::ListNodes, request).
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(ClusterMethod<Request, Response> method, const Request& request) {
    return CallThrough<Response>(*cluster_stub_, method, request, absl::Seconds(60));
  }

  // A call about a study. Where there is none of that name, the hint names the nearest one.
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
  // The end of a stream, with a hint where no server answers; a call is explained as it ends.
  absl::Status Explain(absl::Status status) const;
  // The status of a call or stream about a study, with a hint.
  absl::Status ExplainMissing(std::string_view study, absl::Status status);
  // The process of this host that owns the store; nothing if that is this one, or a server was named.
  const std::optional<app::StoreOwner>& owner() const { return owner_; }
  // Whether the server is a part of this process.
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
  // What became of the owner that does not answer.
  absl::Status ExplainLostOwner() const;
  static absl::StatusOr<Connection> Embed(const app::ServerOptions& options);
  static void SetDeadline(absl::Duration timeout, grpc::ClientContext& context);

  std::unique_ptr<app::Server> server_;  // Outlives the channel into it.
  std::string target_;
  std::string store_;  // Of the owner; empty: none.
  std::optional<app::StoreOwner> owner_;
  std::shared_ptr<grpc::Channel> channel_;  // gRPC shares it with the stubs.
  std::unique_ptr<Stub> stub_;
  std::unique_ptr<ClusterStub> cluster_stub_;
};

// NotFound, with what to do, if there is no store at that path.
absl::Status CheckStoreExists(const std::string& store);

}  // namespace vernier::cli
