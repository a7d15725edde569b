#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"

// A real Slurm cluster of four nodes on this host (cluster.sh), and a folder that its nodes share. One serves all tests of
// the process.
namespace vernier::testing {

class TestCluster : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string pattern = "/tmp/vslurm-XXXXXX";  // Short, for its sockets.
    folder_ = mkdtemp(pattern.data());
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));  // For slurmrestd.
    const int status = std::system((Script("start") + " 4").c_str());
    ASSERT_EQ(status, 0) << "Slurm does not start: apt-get install slurmctld slurmd slurm-client "
                            "slurm-wlm-basic-plugins";
    setenv("SLURM_CONF", (folder_ + "/c/slurm.conf").c_str(), 1);
  }
  void TearDown() override {
    std::system(Script("stop").c_str());
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  std::string shared() const { return folder_ + "/shared"; }
  std::string folder() const { return folder_; }

  // The last line that cluster.sh prints for a command such as "token" or "node", "n1".
  std::string Run(const std::string& command, const std::string& word = "") const {
    const std::string file = folder_ + "/said";
    EXPECT_EQ(std::system(fmt::format("{} {} > {}", Script(command), word, file).c_str()), 0);
    std::ifstream said(file);
    std::string last;
    for (std::string line; std::getline(said, line);) last = line;
    return last;
  }

 private:
  std::string Script(const std::string& command) const {
    return fmt::format("{} {} {}/c", VERNIER_SLURM_CLUSTER, command, folder_);
  }

  std::string folder_;
};

// Puts the tests' own apptainer (fake_apptainer.py) first on PATH.
class FakeApptainer {
 public:
  FakeApptainer() : path_(getenv("PATH")) {
    std::string pattern = "/tmp/vapptainer-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::filesystem::copy_file(VERNIER_FAKE_APPTAINER, folder_ + "/apptainer");
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  ~FakeApptainer() {
    setenv("PATH", path_.c_str(), 1);
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  FakeApptainer(const FakeApptainer&) = delete;
  FakeApptainer& operator=(const FakeApptainer&) = delete;
  // A file with the words of each call.
  std::string calls() const { return folder_ + "/calls"; }

 private:
  const std::string path_;
  std::string folder_;
};

inline TestCluster* const test_cluster =
    static_cast<TestCluster*>(::testing::AddGlobalTestEnvironment(new TestCluster()));

}  // namespace vernier::testing
