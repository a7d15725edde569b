#include "src/service/cluster_service.h"

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/status.h"
#include "src/service/status_map.h"
#include "src/wire/cluster_proto.h"
#include "src/wire/names.h"

namespace vernier::service {
namespace {

// The calls change nothing, so that none has an id of its own.
grpc::Status Answer(const absl::Status& status, std::string_view method) {
  return status.ok() ? grpc::Status::OK : ToWireStatus(status, method, "cluster");
}

}  // namespace

grpc::Status ClusterServiceImpl::GetNode(grpc::ServerContext*,
                                         const v1::GetNodeRequest* request,
                                         v1::Node* response) {
  return Answer(FindNode(*request, response), "GetNode");
}

grpc::Status ClusterServiceImpl::ListNodes(grpc::ServerContext*,
                                           const v1::ListNodesRequest*,
                                           v1::ListNodesResponse* response) {
  return Answer(FillNodes(response), "ListNodes");
}

grpc::Status ClusterServiceImpl::ListQueue(grpc::ServerContext*,
                                           const v1::ListQueueRequest* request,
                                           v1::ListQueueResponse* response) {
  return Answer(FillQueue(*request, response), "ListQueue");
}

absl::Status ClusterServiceImpl::FindNode(const v1::GetNodeRequest& request, v1::Node* response) {
  VERNIER_ASSIGN_OR_RETURN(const std::string name, wire::ParseNodeName("name", request.name()));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Node> nodes, source_.Nodes());
  for (const Node& node : nodes) {
    if (node.name != name) continue;
    wire::EncodeNode(node, response);
    return absl::OkStatus();
  }
  return NotFound("node '{}' does not exist", name);
}

absl::Status ClusterServiceImpl::FillNodes(v1::ListNodesResponse* response) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Node> nodes, source_.Nodes());
  for (const Node& node : nodes) wire::EncodeNode(node, response->add_nodes());
  return absl::OkStatus();
}

absl::Status ClusterServiceImpl::FillQueue(const v1::ListQueueRequest& request,
                                           v1::ListQueueResponse* response) {
  // The name is checked even though it is only compared: a misspelt one is an error, not an empty list.
  if (!request.trial().empty()) {
    VERNIER_RETURN_IF_ERROR(wire::ParseTrialName("trial", request.trial()).status());
  }
  std::int64_t position = 0;
  for (const QueuedGang& gang : source_.Queue()) {
    // Counted before the filter: the position is that in the whole queue.
    ++position;
    const std::string trial = wire::TrialResource(gang.study, gang.id.trial.number);
    if (!request.trial().empty() && request.trial() != trial) continue;
    wire::EncodeQueuedGang(gang, position, response->add_trials());
  }
  return absl::OkStatus();
}

}  // namespace vernier::service
