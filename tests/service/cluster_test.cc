// The machines and their queue over the wire.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/service/cluster_service.h"
#include "src/wire/cluster_proto.h"
#include "src/wire/status_proto.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

using testing::IsOk;
using testing::StatusIs;

class FakeCluster final : public ClusterSource {
 public:
  absl::StatusOr<std::vector<Node>> Nodes() override { return nodes; }
  std::vector<QueuedGang> Queue() override { return queue; }

  absl::StatusOr<std::vector<Node>> nodes =
      std::vector<Node>{{.name = "host-1",
                         .cpus = 8,
                         .free_cpus = 2.5,
                         .memory_bytes = 1 << 30,
                         .free_memory_bytes = 1 << 20,
                         .devices = {{.type = "T4", .count = 4, .free = 1, .shared = 2}}}};
  std::vector<QueuedGang> queue = {Gang("a", 3), Gang("b", 7)};

 private:
  static QueuedGang Gang(const std::string& study, std::int64_t trial) {
    return {.id = {{StudyId(), TrialNumber(trial)}, AttemptNumber(2)},
            .study = study,
            .priority = 5,
            .queued = absl::FromUnixSeconds(1'700'000'000),
            .needs = "2 cpus",
            .reason = "needs 2 cpus, 1 free",
            .start_by = absl::FromUnixSeconds(1'700'000'060)};
  }
};

class ClusterTest : public ::testing::Test {
 protected:
  template <typename Request, typename Response>
  absl::Status Call(grpc::Status (ClusterServiceImpl::*method)(grpc::ServerContext*,
                                                               const Request*,
                                                               Response*),
                    const Request& request,
                    Response& response) {
    grpc::ServerContext context;
    return wire::DecodeStatus((service_.*method)(&context, &request, &response));
  }

  FakeCluster cluster_;
  ClusterServiceImpl service_{cluster_};
};

TEST_F(ClusterTest, ListsNodes) {
  v1::ListNodesResponse response;
  ASSERT_THAT(Call(&ClusterServiceImpl::ListNodes, v1::ListNodesRequest(), response), IsOk());
  ASSERT_EQ(response.nodes_size(), 1);
  EXPECT_EQ(response.nodes(0).name(), "nodes/host-1");
  ASSERT_OK_AND_ASSIGN(const Node node, wire::DecodeNode(response.nodes(0)));
  EXPECT_EQ(node.name, "host-1");
  EXPECT_EQ(node.free_cpus, 2.5);
  EXPECT_EQ(node.free_memory_bytes, 1 << 20);
  ASSERT_EQ(node.devices.size(), 1u);
  EXPECT_EQ(node.devices[0].shared, 2);
}

TEST_F(ClusterTest, GetsANodeByItsName) {
  v1::GetNodeRequest request;
  v1::Node node;
  request.set_name("nodes/host-1");
  ASSERT_THAT(Call(&ClusterServiceImpl::GetNode, request, node), IsOk());
  EXPECT_EQ(node.cpus(), 8);
  request.set_name("nodes/other");
  EXPECT_THAT(Call(&ClusterServiceImpl::GetNode, request, node),
              StatusIs(absl::StatusCode::kNotFound, "node 'other' does not exist"));
  request.set_name("host-1");
  const absl::Status malformed = Call(&ClusterServiceImpl::GetNode, request, node);
  EXPECT_THAT(
      malformed,
      StatusIs(absl::StatusCode::kInvalidArgument, "name: must be nodes/NODE, got 'host-1'"));
  EXPECT_EQ(GetField(malformed), "name");
}

TEST_F(ClusterTest, SaysWhyTheHostCannotBeDescribed) {
  cluster_.nodes = FieldError("cpus", "must be above 0, got -1");
  v1::ListNodesResponse response;
  EXPECT_THAT(Call(&ClusterServiceImpl::ListNodes, v1::ListNodesRequest(), response),
              StatusIs(absl::StatusCode::kInvalidArgument, "cpus: must be above 0, got -1"));
}

TEST_F(ClusterTest, ListsTheQueueInItsOrder) {
  v1::ListQueueResponse response;
  ASSERT_THAT(Call(&ClusterServiceImpl::ListQueue, v1::ListQueueRequest(), response), IsOk());
  ASSERT_EQ(response.trials_size(), 2);
  EXPECT_EQ(response.trials(0).position(), 1);
  EXPECT_EQ(response.trials(0).trial(), "studies/a/trials/3");
  ASSERT_OK_AND_ASSIGN(const QueuedGang gang, wire::DecodeQueuedGang(response.trials(1)));
  EXPECT_EQ(gang.study, "b");
  EXPECT_EQ(gang.id, cluster_.queue[1].id);
  EXPECT_EQ(gang.priority, 5);
  EXPECT_EQ(gang.queued, cluster_.queue[1].queued);
  EXPECT_EQ(gang.needs, "2 cpus");
  EXPECT_EQ(gang.reason, "needs 2 cpus, 1 free");
  EXPECT_EQ(gang.start_by, cluster_.queue[1].start_by);
}

TEST_F(ClusterTest, ListsOneTrialWithItsPositionInTheWholeQueue) {
  v1::ListQueueRequest request;
  v1::ListQueueResponse response;
  request.set_trial("studies/b/trials/7");
  ASSERT_THAT(Call(&ClusterServiceImpl::ListQueue, request, response), IsOk());
  ASSERT_EQ(response.trials_size(), 1);
  EXPECT_EQ(response.trials(0).position(), 2);
  request.set_trial("studies/b");
  EXPECT_EQ(GetField(Call(&ClusterServiceImpl::ListQueue, request, response)), "trial");
}

}  // namespace
}  // namespace vernier::service
