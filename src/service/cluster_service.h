#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "src/service/cluster_source.h"
#include "vernier/v1/cluster_service.grpc.pb.h"

namespace vernier::service {

// vernier.v1.ClusterService: ask the source, encode. Thread-safe.
class ClusterServiceImpl final : public v1::ClusterService::Service {
 public:
  // Must outlive the service.
  explicit ClusterServiceImpl(ClusterSource& source) : source_(source) {}

  grpc::Status GetNode(grpc::ServerContext* context,
                       const v1::GetNodeRequest* request,
                       v1::Node* response) override;
  grpc::Status ListNodes(grpc::ServerContext* context,
                         const v1::ListNodesRequest* request,
                         v1::ListNodesResponse* response) override;
  grpc::Status ListQueue(grpc::ServerContext* context,
                         const v1::ListQueueRequest* request,
                         v1::ListQueueResponse* response) override;

 private:
  absl::Status FindNode(const v1::GetNodeRequest& request, v1::Node* response);
  absl::Status FillNodes(v1::ListNodesResponse* response);
  absl::Status FillQueue(const v1::ListQueueRequest& request, v1::ListQueueResponse* response);

  ClusterSource& source_;
};

}  // namespace vernier::service
