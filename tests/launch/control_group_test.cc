#include "src/launch/control_group.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/local/control_group_host.h"

// Control groups in a folder that looks like a cgroup file system. tests/launch/limits_test.cc has the real one.
namespace vernier::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ControlGroupTest : public ::testing::Test {
 protected:
  ControlGroupTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-cgroup-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~ControlGroupTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + file).parent_path());
    std::ofstream(root_ + "/" + file) << text;
  }
  std::string Read(const std::string& file) const {
    std::ifstream stream(root_ + "/" + file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Control files, empty, as the kernel makes them with a group.
  void MakeFiles(const std::string& group, const std::vector<std::string>& files) const {
    for (const std::string& file : files) Write(group + "/" + file, "");
  }

  // A group of version 2 with both controllers, in which the processes are.
  void MakeUnified(const std::string& group,
                   const std::string& processes,
                   const std::string& enabled = "") const {
    Write("cgroup.controllers", "cpuset cpu io memory pids\n");
    Write(group + "/cgroup.controllers", "cpu memory pids\n");
    Write(group + "/cgroup.subtree_control", enabled);
    Write(group + "/cgroup.procs", processes);
  }
  // Says in which groups this process is.
  ControlGroupOptions Options(const std::string& own, const std::string& group = "") const {
    Write("self", own);
    return {.group = group, .root = root_, .own = root_ + "/self"};
  }

  const std::string self_ = std::to_string(getpid()) + "\n";
  std::string root_;
};

TEST_F(ControlGroupTest, OfVersion2LimitsAndTells) {
  MakeFiles("a",
            {"cgroup.procs",
             "cgroup.kill",
             "cpu.max",
             "memory.max",
             "memory.swap.max",
             "memory.oom.group"});
  Write("a/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n");
  Write("a/memory.peak", "123456\n");
  Write("a/cpu.stat", "usage_usec 2500000\nuser_usec 1\n");
  const ControlGroup group({root_ + "/a"});
  EXPECT_EQ(group.Create({.cpu_millis = 1500, .memory_bytes = 1 << 20}), "");
  EXPECT_EQ(Read("a/cpu.max"), "150000 100000");
  EXPECT_EQ(Read("a/memory.max"), "1048576");
  EXPECT_EQ(Read("a/memory.swap.max"), "0");
  EXPECT_EQ(Read("a/memory.oom.group"), "1");
  EXPECT_TRUE(group.Enter());
  EXPECT_EQ(Read("a/cgroup.procs"), "0");
  EXPECT_EQ(group.OutOfMemoryKills(), 2);
  EXPECT_EQ(group.PeakMemory(), 123456);
  EXPECT_EQ(group.CpuSeconds(), 2.5);
  group.Kill();
  EXPECT_EQ(Read("a/cgroup.kill"), "1");
}

TEST_F(ControlGroupTest, OfVersion1LimitsAndTells) {
  MakeFiles("memory/a", {"cgroup.procs", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"});
  Write("memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  Write("memory/a/memory.max_usage_in_bytes", "777\n");
  MakeFiles("cpu/a", {"cgroup.procs", "cpu.cfs_period_us", "cpu.cfs_quota_us"});
  const ControlGroup group({root_ + "/memory/a", root_ + "/cpu/a"});
  EXPECT_EQ(group.Create({.cpu_millis = 1, .memory_bytes = 4096}), "");
  EXPECT_EQ(Read("memory/a/memory.limit_in_bytes"), "4096");
  EXPECT_EQ(Read("memory/a/memory.memsw.limit_in_bytes"), "4096");
  EXPECT_EQ(Read("cpu/a/cpu.cfs_period_us"), "100000");
  EXPECT_EQ(Read("cpu/a/cpu.cfs_quota_us"), "1000");  // The kernel takes no less.
  EXPECT_TRUE(group.Enter());
  EXPECT_EQ(Read("cpu/a/cgroup.procs"), "0");
  EXPECT_EQ(group.OutOfMemoryKills(), 4);
  EXPECT_EQ(group.PeakMemory(), 777);
  EXPECT_EQ(group.CpuSeconds(), std::nullopt);
}

TEST_F(ControlGroupTest, WhatWasNotAskedIsNotLimited) {
  MakeFiles("a", {"cpu.max", "cpu.weight", "cpu.shares", "memory.max", "memory.oom.group"});
  EXPECT_EQ(ControlGroup({root_ + "/a"}).Create({}), "");
  EXPECT_EQ(Read("a/cpu.max"), "");
  EXPECT_EQ(Read("a/cpu.weight"), "") << "it shares with all else that the host runs";
  EXPECT_EQ(Read("a/cpu.shares"), "");
  EXPECT_EQ(Read("a/memory.max"), "");
  EXPECT_EQ(Read("a/memory.oom.group"), "");
}

TEST_F(ControlGroupTest, SaysWhatCannotBeDone) {
  EXPECT_THAT(ControlGroup({root_ + "/no/such"}).Create({.cpu_millis = 1}),
              HasSubstr("cannot make control group '" + root_ + "/no/such': No such file"));
  std::filesystem::create_directories(root_ + "/a/memory.max");  // No file that could be written.
  EXPECT_THAT(ControlGroup({root_ + "/a"}).Create({.memory_bytes = 1}),
              HasSubstr("cannot limit memory in control group"));
  EXPECT_FALSE(ControlGroup({root_ + "/a"}).Enter());
}

TEST_F(ControlGroupTest, IsRemovedOnceItIsEmpty) {
  const ControlGroup group({root_ + "/a", root_ + "/b"});
  EXPECT_EQ(group.Create({}), "");
  Write("b/process", "");
  EXPECT_FALSE(group.Remove());
  std::filesystem::remove(root_ + "/b/process");
  EXPECT_TRUE(group.Remove());
  EXPECT_FALSE(std::filesystem::exists(root_ + "/a"));
  EXPECT_TRUE(group.Remove());
}

TEST_F(ControlGroupTest, WithoutFoldersDoesNothing) {
  const ControlGroup none({});
  EXPECT_EQ(none.Create({.cpu_millis = 1, .memory_bytes = 1}), "");
  EXPECT_TRUE(none.Enter());
  EXPECT_EQ(none.OutOfMemoryKills(), std::nullopt);
  EXPECT_EQ(none.PeakMemory(), std::nullopt);
  EXPECT_EQ(none.CpuSeconds(), std::nullopt);
  none.Kill();
  EXPECT_TRUE(none.Remove());
}

TEST_F(ControlGroupTest, AHostDividesTheGroupThatIsItsOwnAlone) {
  MakeUnified("system.slice/vernierd.service", self_);
  MakeFiles("system.slice/vernierd.service/vernier-server", {"cgroup.procs"});
  const ControlGroupOptions options = Options("0::/system.slice/vernierd.service\n");
  const std::string parent = root_ + "/system.slice/vernierd.service";

  const ControlGroupHost seen = ExamineControlGroups(options);
  EXPECT_THAT(seen.parents, ElementsAre(parent));
  EXPECT_EQ(seen.leaf, parent + "/vernier-server");
  EXPECT_EQ(Read("system.slice/vernierd.service/cgroup.subtree_control"), "");  // Only looked.

  const ControlGroupHost host = PrepareControlGroups(options);
  EXPECT_EQ(DescribeLimits(host), "memory and CPUs");
  EXPECT_EQ(Read("system.slice/vernierd.service/vernier-server/cgroup.procs") + "\n", self_);
  EXPECT_EQ(Read("system.slice/vernierd.service/cgroup.subtree_control"), "+cpu +memory");
}

TEST_F(ControlGroupTest, AHostThatIsInItsLeafHasItsParentToDivide) {
  MakeUnified("a.service", "", "cpu memory\n");
  const ControlGroupHost host =
      PrepareControlGroups(Options("1:name=systemd:/x\n0::/a.service/vernier-server\n"));
  EXPECT_EQ(DescribeLimits(host), "memory and CPUs");
  EXPECT_THAT(host.parents, ElementsAre(root_ + "/a.service"));
  EXPECT_EQ(host.leaf, "");
  EXPECT_EQ(host.to_enable, "");
}

TEST_F(ControlGroupTest, AGroupWithOthersInItIsLeftAlone) {
  MakeUnified("session.scope", "1\n" + self_);
  const ControlGroupHost host = PrepareControlGroups(Options("0::/session.scope\n"));
  EXPECT_THAT(host.parents, IsEmpty());
  EXPECT_EQ(DescribeLimits(host),
            "accounted only: other processes are in control group '" + root_ + "/session.scope'");
  EXPECT_EQ(Read("session.scope/cgroup.subtree_control"), "");
}

TEST_F(ControlGroupTest, AGroupThatIsNotOursIsLeftAlone) {
  MakeUnified("a", self_);
  std::filesystem::remove(root_ + "/a/cgroup.subtree_control");
  EXPECT_EQ(DescribeLimits(ExamineControlGroups(Options("0::/a\n"))),
            "accounted only: this user may not divide control group '" + root_ + "/a'");
}

TEST_F(ControlGroupTest, AnotherGroupMayBeConfiguredOrNone) {
  MakeUnified("own", self_);
  MakeUnified("vernier.slice/jobs", "");
  const ControlGroupHost host = PrepareControlGroups(Options("0::/own\n", "/vernier.slice/jobs"));
  EXPECT_THAT(host.parents, ElementsAre(root_ + "/vernier.slice/jobs"));
  EXPECT_EQ(host.leaf, "");
  EXPECT_EQ(Read("vernier.slice/jobs/cgroup.subtree_control"), "+cpu +memory");
  EXPECT_EQ(DescribeLimits(ExamineControlGroups(Options("0::/own\n", "none"))),
            "accounted only: it is configured so");
}

TEST_F(ControlGroupTest, Version1HasATreeForEachController) {
  MakeFiles("memory/outer/own", {"cgroup.procs"});
  MakeFiles("cpu", {"cgroup.procs"});
  MakeFiles("unified", {"cgroup.controllers"});  // Without a controller, as beside version 1.
  const ControlGroupHost host =
      PrepareControlGroups(Options("4:memory:/outer/own\n2:cpu,cpuacct:/\n0::/\n"));
  EXPECT_THAT(host.parents, ElementsAre(root_ + "/memory/outer/own", root_ + "/cpu"));
  EXPECT_EQ(DescribeLimits(host), "memory and CPUs");

  std::filesystem::remove_all(root_ + "/cpu");
  EXPECT_EQ(DescribeLimits(ExamineControlGroups(Options("4:memory:/outer/own\n2:cpu:/\n"))),
            "memory only: the host gives no control groups for it");
}

TEST_F(ControlGroupTest, AHostWithoutControlGroupsOnlyAccounts) {
  for (const char* const own : {"", "0::/\n", "4:memory:/gone\n", "nonsense\n:\n"}) {
    EXPECT_EQ(DescribeLimits(PrepareControlGroups(Options(own))),
              "accounted only: the host gives no control groups for it")
        << own;
  }
}

TEST_F(ControlGroupTest, EveryReplicaHasAGroupOfItsOwn) {
  const ControlGroupHost host{.parents = {"/m", "/c"}};
  const auto groups = ControlGroupsOf(host, "/var/runs/digits/trial-7/attempt-1/chief-0");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_THAT(groups[0],
              ::testing::MatchesRegex("/m/vernier-digits\\.trial-7\\.attempt-1\\.chief-0"
                                      "\\.[0-9a-f]{8}"));
  EXPECT_EQ(groups[1].substr(2), groups[0].substr(2));
  EXPECT_NE(ControlGroupsOf(host, "/tmp/runs/digits/trial-7/attempt-1/chief-0")[0], groups[0]);
  const std::string longest = ControlGroupsOf(host, "/" + std::string(1000, 'x') + "/a/b/c")[0];
  EXPECT_LE(longest.size(), 250U);
  EXPECT_THAT(ControlGroupsOf({}, "/a"), IsEmpty());
}

}  // namespace
}  // namespace vernier::launch
