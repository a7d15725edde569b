// The launcher of Slurm under the contract of launchers, on a real cluster.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "src/launch/container/container_launcher.h"
#include "src/launch/slurm/commands.h"
#include "src/launch/slurm/rest.h"
#include "src/launch/slurm/slurm_launcher.h"
#include "tests/contract/launcher_contract.h"
#include "tests/slurm/test_cluster.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"

namespace vernier::testing {
namespace {

// Four nodes of eight CPUs.
constexpr std::int32_t kNodes = 4;
constexpr double kCpus = 8;

class SlurmWorld : public LauncherWorld {
 public:
  SlurmWorld() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(name, '/', '-');
    out_ = test_cluster->shared() + "/contract-" + name;
    std::filesystem::create_directories(out_);
  }

  std::unique_ptr<Launcher> NewLauncher() override { return NewSlurm(nullptr); }
  std::string out() const override { return out_; }
  std::int32_t room() const override { return kNodes; }
  Resources resources() const override { return {.cpus = kCpus}; }
  Resources too_much() const override { return {.cpus = 1, .gpus = 9}; }
  bool has_own_queue() const override { return true; }

 protected:
  virtual std::unique_ptr<launch::slurm::Slurm> NewClient() const {
    return launch::slurm::NewSlurmCommands({});
  }
  std::unique_ptr<Launcher> NewSlurm(std::shared_ptr<launch::ContainerHost> containers) const {
    launch::slurm::SlurmLauncherOptions options;
    options.shared = test_cluster->shared();
    options.supervisor = VERNIER_SUPERVISOR;
    options.lag = absl::Seconds(1);
    options.poll_interval = absl::Milliseconds(100);
    options.containers = std::move(containers);
    auto launcher = launch::slurm::NewSlurmLauncher(std::move(options), NewClient(), *clock_);
    EXPECT_THAT(launcher, IsOk());
    return *std::move(launcher);
  }

 private:
  const std::unique_ptr<Clock> clock_ = NewRealClock();
  std::string out_;
};

// Each replica in a container of an apptainer of the tests' own.
class SlurmContainerWorld final : public SlurmWorld {
 public:
  std::unique_ptr<Launcher> NewLauncher() override {
    const auto host = std::make_shared<launch::ContainerHost>(
        launch::ContainerHostOptions{.kind = launch::EngineKind::kApptainer,
                                     .images_directory = test_cluster->shared() + "/.images"});
    return launch::NewContainerLauncher(NewSlurm(host),
                                        host,
                                        VERNIER_SUPERVISOR,
                                        launch::OwnEnvironment({"*"}),
                                        test_cluster->shared() + "/.images/fetching");
  }
  void Adapt(ReplicaProgram& program) const override {
    program.container = ReplicaContainer{.image = "org/trainer",
                                         .replaces_entry_point = true,
                                         .directory = out(),
                                         .mounts = {out()}};
  }

 private:
  const FakeApptainer apptainer_;
};

// By slurmrestd.
class SlurmRestWorld final : public SlurmWorld {
 public:
  bool knows_what_fits() const override { return false; }

 private:
  std::unique_ptr<launch::slurm::Slurm> NewClient() const override {
    static const std::string url = test_cluster->Run("rest");
    const std::string token = test_cluster->folder() + "/token";
    std::ofstream(token) << test_cluster->Run("token");
    std::filesystem::permissions(token, std::filesystem::perms(0600));
    return launch::slurm::NewSlurmRest({.url = url, .token_file = token});
  }
};

INSTANTIATE_TEST_SUITE_P(
    Clusters,
    LauncherContractTest,
    ::testing::Values(LauncherCase{"Slurm", [] { return std::make_unique<SlurmWorld>(); }},
                      LauncherCase{"Rest", [] { return std::make_unique<SlurmRestWorld>(); }},
                      LauncherCase{"Containers",
                                   [] { return std::make_unique<SlurmContainerWorld>(); }}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace vernier::testing
