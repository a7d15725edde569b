// Launchers of this host, and those of the examples, under the contract of launchers.
#include "tests/contract/launcher_contract.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "examples/embed_scheduler/toy_cluster.h"
#include "examples/embed_server/licensed_launcher.h"
#include "src/launch/container/container_launcher.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/local/process_launcher.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/clock.h"

namespace vernier::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kRoom = 4;

// A folder of the test's own. Nothing runs there any more when it is removed.
class LocalWorld : public LauncherWorld {
 public:
  LocalWorld() {
    std::string pattern = (fs::temp_directory_path() / "vernier-contract-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    fs::create_directories(out());
  }
  ~LocalWorld() override {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.path().filename() != "supervisor.lock") continue;
      const std::string folder = entry.path().parent_path().string();
      if (!launch::IsDown(launch::Observe(folder))) {
        launch::KillReplica(VERNIER_SUPERVISOR, folder);
      }
    }
    fs::remove_all(root_, error);
  }
  LocalWorld(const LocalWorld&) = delete;
  LocalWorld& operator=(const LocalWorld&) = delete;

  std::unique_ptr<Launcher> NewLauncher() override { return NewLocal({}); }
  std::string out() const override { return root_ + "/out"; }
  std::int32_t room() const override { return kRoom; }
  Resources resources() const override { return {.cpus = 1}; }
  Resources too_much() const override { return {.cpus = kRoom + 1}; }

 protected:
  std::unique_ptr<Launcher> NewLocal(std::shared_ptr<launch::ContainerHost> containers) const {
    launch::ProcessLauncherOptions options;
    options.runs_directory = root_ + "/runs";
    options.supervisor = VERNIER_SUPERVISOR;
    options.detect_gpus = false;
    options.control_group = "none";
    options.cpus = kRoom;
    options.containers = std::move(containers);
    auto launcher = launch::NewProcessLauncher(std::move(options), *clock_);
    EXPECT_THAT(launcher, IsOk());
    return *std::move(launcher);
  }
  const std::string& root() const { return root_; }

 private:
  const std::unique_ptr<Clock> clock_ = NewRealClock();
  std::string root_;
};

// Each replica in a container of an engine of the tests' own.
class ContainerWorld final : public LocalWorld {
 public:
  ContainerWorld() : path_(std::getenv("PATH")) {
    const std::string bin = root() + "/bin";
    fs::create_directories(bin + "/engine");
    fs::copy_file(VERNIER_FAKE_ENGINE, bin + "/podman");
    std::ofstream(bin + "/engine/images") << "trainer\n";
    setenv("PATH", (bin + ":" + path_).c_str(), 1);
  }
  ~ContainerWorld() override { setenv("PATH", path_.c_str(), 1); }
  ContainerWorld(const ContainerWorld&) = delete;
  ContainerWorld& operator=(const ContainerWorld&) = delete;

  std::unique_ptr<Launcher> NewLauncher() override {
    launch::ContainerHostOptions options;
    options.images_directory = root() + "/images";
    const auto host = std::make_shared<launch::ContainerHost>(std::move(options));
    return launch::NewContainerLauncher(NewLocal(host),
                                        host,
                                        VERNIER_SUPERVISOR,
                                        launch::OwnEnvironment({"*"}),
                                        root() + "/fetching");
  }
  void Adapt(ReplicaProgram& program) const override {
    program.container = ReplicaContainer{.image = "trainer", .replaces_entry_point = true};
  }

 private:
  const std::string path_;
};

// The example's launcher around the local one.
class LicensedWorld final : public LocalWorld {
 public:
  std::unique_ptr<Launcher> NewLauncher() override {
    return std::make_unique<LicensedLauncher>(NewLocal({}), /*licences=*/2);
  }
};

// The example's scheduler, in which a job is ten turns of a loop.
class ToyWorld final : public LauncherWorld {
 public:
  ToyWorld() {
    std::string pattern = (fs::temp_directory_path() / "vernier-contract-XXXXXX").string();
    out_ = mkdtemp(pattern.data());
  }
  ~ToyWorld() override {
    std::error_code error;
    fs::remove_all(out_, error);
  }
  ToyWorld(const ToyWorld&) = delete;
  ToyWorld& operator=(const ToyWorld&) = delete;

  std::unique_ptr<Launcher> NewLauncher() override {
    auto launcher = std::make_unique<ToyCluster>(kRoom);
    cluster_ = launcher.get();
    turns_ = 0;
    return launcher;
  }
  std::string out() const override { return out_; }
  std::int32_t room() const override { return kRoom; }
  Resources resources() const override { return {.cpus = 1}; }
  Resources too_much() const override { return {.cpus = 1}; }  // Slots are all that it knows.
  bool is_real() const override { return false; }
  // The first turns make jobs run, the others bring them to their end.
  void Advance() override {
    if (turns_ >= 2 && !fs::exists(out_ + "/go")) return;
    ++turns_;
    cluster_->Turn();
  }

 private:
  std::string out_;
  ToyCluster* cluster_ = nullptr;
  int turns_ = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Hosts,
    LauncherContractTest,
    ::testing::Values(LauncherCase{"Local", [] { return std::make_unique<LocalWorld>(); }},
                      LauncherCase{"Container", [] { return std::make_unique<ContainerWorld>(); }},
                      LauncherCase{"Licensed", [] { return std::make_unique<LicensedWorld>(); }},
                      LauncherCase{"Toy", [] { return std::make_unique<ToyWorld>(); }}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace vernier::testing
