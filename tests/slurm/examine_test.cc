#include "src/launch/slurm/examine.h"

#include <filesystem>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/slurm/test_cluster.h"

namespace vernier::launch::slurm {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::test_cluster;

class ExamineClusterTest : public ::testing::Test {
 protected:
  ClusterOptions Cluster() const { return {.shared = test_cluster->shared() + "/examined"}; }
  // By name.
  std::map<std::string, Finding> Examine(const ClusterOptions& cluster) const {
    std::map<std::string, Finding> findings;
    for (Finding& finding : ExamineCluster(cluster, *clock_, absl::Seconds(60))) {
      const std::string name = finding.name;
      findings[name] = std::move(finding);
    }
    return findings;
  }

 private:
  const std::unique_ptr<Clock> clock_ = NewRealClock();
};

TEST_F(ExamineClusterTest, FindsAClusterThatRunsTrialsAndLeavesNothing) {
  ClusterOptions cluster = Cluster();
  cluster.gpu_types = {{"V100", "v100"}};
  auto findings = Examine(cluster);
  ASSERT_EQ(findings.size(), 5U);
  for (const auto& [name, finding] : findings) {
    EXPECT_TRUE(finding.is_ok) << name << ": " << finding.found;
  }
  EXPECT_THAT(findings["clients"].found, ::testing::StartsWith("slurm"));
  EXPECT_EQ(findings["nodes"].found, "4 of 4 usable, with 32 CPUs, 16 v100");
  EXPECT_THAT(findings["shared"].found, ::testing::MatchesRegex("node n[1-4] sees it.*"));
  EXPECT_TRUE(std::filesystem::is_empty(cluster.shared + "/.vernier"));
}

TEST_F(ExamineClusterTest, NamesATypeOfGpuThatNoNodeHas) {
  ClusterOptions cluster = Cluster();
  cluster.gpu_types = {{"A100", "a100"}};
  auto findings = Examine(cluster);
  EXPECT_FALSE(findings["nodes"].is_ok);
  EXPECT_EQ(findings["nodes"].advice, "gpus.A100: no node has GPUs called 'a100'");
}

TEST_F(ExamineClusterTest, NamesMissingPrograms) {
  ClusterOptions cluster = Cluster();
  cluster.commands = "/nowhere";
  auto findings = Examine(cluster);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_FALSE(findings["clients"].is_ok);
  EXPECT_EQ(findings["clients"].found,
            "sbatch, squeue, scontrol, scancel, sinfo not found in /nowhere");
}

TEST_F(ExamineClusterTest, SaysWhyJobsAreRefused) {
  ClusterOptions cluster = Cluster();
  cluster.site.partition = "a b;$(x)'\"";
  auto findings = Examine(cluster);
  EXPECT_FALSE(findings["jobs"].is_ok);
  EXPECT_THAT(findings["jobs"].found, HasSubstr("invalid partition specified: a b;$(x)'\""));
  EXPECT_FALSE(findings.contains("shared"));
}

TEST_F(ExamineClusterTest, SaysThatTheSharedFolderCannotBeWritten) {
  ClusterOptions cluster = Cluster();
  cluster.shared = "/proc/vernier";
  auto findings = Examine(cluster);
  EXPECT_FALSE(findings["shared"].is_ok);
  EXPECT_THAT(findings["shared"].found, HasSubstr("'/proc/vernier/.vernier/doctor-"));
}

}  // namespace
}  // namespace vernier::launch::slurm
