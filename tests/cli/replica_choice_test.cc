#include "src/cli/replica_choice.h"

#include <optional>

#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

StudySpec SpecOf(int workers, int parameter_servers) {
  StudySpec spec;
  spec.job.emplace();
  spec.job->replicas[Role::kWorker].count = workers;
  spec.job->replicas[Role::kParameterServer].count = parameter_servers;
  return spec;
}

TEST(ReplicaChoice, SaysWhatThereIs) {
  EXPECT_EQ(DescribeReplicas(SpecOf(9, 1)), "chief 0, worker 0 to 8, ps 0");
  EXPECT_EQ(DescribeTasks(SpecOf(9, 1)),
            "master-replica-0, worker-replica-0 to worker-replica-8, ps-replica-0, service");
  EXPECT_EQ(DescribeReplicas(SpecOf(0, 0)), "chief 0");
  StudySpec older = SpecOf(1, 2);
  older.job->primary_name = "master";
  EXPECT_EQ(DescribeReplicas(older), "master 0, worker 0, ps 0 to 1");
  EXPECT_EQ(DescribeTasks(older),
            "master-replica-0, worker-replica-0, ps-replica-0 to ps-replica-1, service");
}

TEST(ReplicaChoice, KnowsWhichReplicasThereAre) {
  const StudySpec spec = SpecOf(9, 0);
  EXPECT_TRUE(HasReplica(spec, "chief", std::nullopt));
  EXPECT_TRUE(HasReplica(spec, "worker", 8));
  EXPECT_FALSE(HasReplica(spec, "worker", 9));
  EXPECT_FALSE(HasReplica(spec, "wrker", std::nullopt));
  EXPECT_FALSE(HasReplica(spec, "ps", std::nullopt));
  EXPECT_TRUE(HasTask(spec, "service"));
  EXPECT_TRUE(HasTask(spec, "master-replica-0"));
  EXPECT_TRUE(HasTask(spec, "worker-replica-8"));
  EXPECT_FALSE(HasTask(spec, "worker-replica-9"));
  EXPECT_FALSE(HasTask(spec, "chief-replica-0"));
  EXPECT_FALSE(HasTask(spec, "nope-replica-9"));
}

}  // namespace
}  // namespace vernier::cli
