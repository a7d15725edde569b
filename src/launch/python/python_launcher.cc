// As container_launcher.cc for images: packages are installed before a gang gets room (Prepare), and looked for again
// at its start. The name of an environment is a hash of the packages, which may be large, so that it is computed on the
// executor while callers poll; the engine's thread never waits (docs/adr/0033-long-work-off-the-engine-thread.md).
//
// Nothing here is durable. After a restart the same names are computed again, and the environments' folders hold the
// state.

#include "src/launch/python/python_launcher.h"

#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/built_in_trainers.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "src/launch/preparation.h"
#include "src/launch/python/trainers.h"

namespace vernier::launch {
namespace {

constexpr char kDefaultRuntime[] = "default";
// Role under which the installer's output appears in the log of an attempt.
constexpr char kServiceRole[] = "service";
constexpr char kInstalling[] = "installing its packages";

// A needed environment: first its name is computed, then it is made.
struct Need {
  struct Naming {
    absl::Notification told;
    absl::StatusOr<std::string> name;
  };
  EnvironmentRequest request;
  std::shared_ptr<Naming> naming;  // Shared with the task that hashes.
  std::string name;                // Empty: not computed yet.
};

// A gang that is placed and not yet started by the wrapped launcher.
struct WaitingForPackages {
  GangProgram program;
  Need need;
  std::string failure;  // Why it cannot start; empty: it can.
};

// Returns the program with this interpreter.
GangProgram WithInterpreter(GangProgram gang, const std::string& python) {
  for (ReplicaProgram& replica : gang.replicas) {
    if (replica.runs_python) replica.argv.front() = python;
  }
  return gang;
}

// Returns the program with an environment's interpreter, whose folder is also first on PATH, for the child processes.
GangProgram WithEnvironment(const GangProgram& program, const std::string& python) {
  const std::string folder = python.substr(0, python.rfind('/'));
  GangProgram gang = WithInterpreter(program, python);
  for (ReplicaProgram& replica : gang.replicas) {
    if (!replica.runs_python) continue;
    const char* const inherited = std::getenv("PATH");
    std::string& path = replica.env["PATH"];
    if (path.empty() && inherited != nullptr) path = inherited;
    path = path.empty() ? folder : fmt::format("{}:{}", folder, path);
  }
  return gang;
}

// Returns the program with the folder on PYTHONPATH.
GangProgram WithModules(GangProgram gang, const std::string& folder) {
  for (ReplicaProgram& replica : gang.replicas) {
    if (!replica.runs_python) continue;
    const char* const inherited = std::getenv("PYTHONPATH");
    std::string& path = replica.env["PYTHONPATH"];
    if (path.empty() && inherited != nullptr) path = inherited;
    path = path.empty() ? folder : fmt::format("{}:{}", folder, path);
  }
  return gang;
}

// "trainer-0.0.tar.gz, numpy": without the folders.
std::string NamesOf(const std::vector<std::string>& packages) {
  std::vector<std::string> names;
  names.reserve(packages.size());
  for (const std::string& package : packages) {
    names.push_back(package.substr(package.rfind('/') + 1));  // npos + 1 is 0: all of it.
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class PythonLauncher final : public Launcher {
 public:
  PythonLauncher(std::unique_ptr<Launcher> launcher,
                 PythonLauncherOptions options,
                 const Clock& clock)
      : launcher_(std::move(launcher)),
        directory_(options.environments_directory),
        environments_(options.environments_directory, options.supervisor, options.environment),
        runtimes_(std::move(options.runtimes)),
        executor_(options.executor),
        clock_(clock) {}

  absl::Status CheckFits(const GangRequest& gang) const override {
    return launcher_->CheckFits(gang);
  }
  absl::Status Prepare(const GangRequest& gang) override {
    if (launcher_->WhyHeld().empty()) VERNIER_RETURN_IF_ERROR(Install(gang));
    return launcher_->Prepare(gang);
  }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    return launcher_->Place(gang);
  }

  std::string WhyHeld() override { return launcher_->WhyHeld(); }
  std::vector<Node> Nodes() override { return launcher_->Nodes(); }
  std::vector<QueuedGang> Queue() override {
    std::vector<QueuedGang> queue = launcher_->Queue();
    absl::MutexLock lock(&mu_);
    for (const auto& [id, installation] : installations_) {
      queue.push_back(PreparingGang(installation.gang,
                                    NamesOf(installation.gang.needs.python->packages),
                                    kInstalling,
                                    LastLine(installation.need)));
    }
    return queue;
  }

  absl::Status Start(const GangProgram& gang) override {
    if (!gang.python.has_value()) return launcher_->Start(gang);
    if (!IsBuiltInModule(gang.python->module)) return StartPython(gang);
    VERNIER_ASSIGN_OR_RETURN(const std::string folder, PlaceTrainers(directory_));
    return StartPython(WithModules(gang, folder));
  }

  absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) override {
    return launcher_->Adopt(gang, placed);
  }

  absl::StatusOr<GangStatus> Check(const AttemptId& id) override {
    VERNIER_RETURN_IF_ERROR(Advance(id));
    VERNIER_ASSIGN_OR_RETURN(GangStatus status, launcher_->Check(id));
    const auto waiting = waiting_.find(id);
    if (waiting == waiting_.end()) return status;
    status.state = AttemptState::kStarting;
    if (waiting->second.failure.empty()) return status;
    status.state = AttemptState::kFailed;
    status.failure = FailureClass::kUserError;
    status.message = waiting->second.failure;
    return status;
  }

  absl::Status Stop(const AttemptId& id) override {
    waiting_.erase(id);
    return launcher_->Stop(id);
  }

  absl::Status Release(const AttemptId& id) override {
    VERNIER_RETURN_IF_ERROR(launcher_->Release(id));
    waiting_.erase(id);
    absl::MutexLock lock(&mu_);
    installations_.erase(id);
    installed_.erase(id);
    installed_for_.erase(id);
    return absl::OkStatus();
  }

 private:
  // An installation for a gang that has no room yet.
  struct Installation {
    GangRequest gang;
    Need need;
  };

  // Installs the packages of a gang that has no room yet. OK: they are installed. Otherwise as Launcher::Prepare.
  absl::Status Install(const GangRequest& gang) {
    const std::optional<PythonProgram>& python = gang.needs.python;
    const bool has_packages = python.has_value() && !python->packages.empty();
    if (!has_packages || installed_.contains(gang.id)) return absl::OkStatus();
    absl::MutexLock lock(&mu_);
    auto found = installations_.find(gang.id);
    if (found == installations_.end()) {
      VERNIER_ASSIGN_OR_RETURN(Need need, Begin(*python, gang.needs.directory));
      found = installations_.emplace(gang.id, Installation{gang, std::move(need)}).first;
    }
    const absl::StatusOr<EnvironmentState> state = Look(found->second.need);
    const std::string environment = found->second.need.name;
    if (state.ok() && state->phase == EnvironmentState::Phase::kPreparing) {
      if (!environment.empty()) was_installing_.insert(environment);
      return Unavailable(kInstalling);
    }
    installations_.erase(found);
    VERNIER_RETURN_IF_ERROR(state.status());
    if (state->phase == EnvironmentState::Phase::kReady) {
      installed_.insert(gang.id);
      // Only the first gang that waited gets the installer's output in its log: for later ones it is old.
      if (was_installing_.erase(environment) > 0) installed_for_[gang.id] = environment;
      return absl::OkStatus();
    }
    return InvalidArgument("{}", NotInstalled(*python, state->reason));
  }

  // Starts making the environment.  InvalidArgument: the server does not have the runtime.
  absl::StatusOr<Need> Begin(const PythonProgram& python, const std::string& directory) const {
    VERNIER_ASSIGN_OR_RETURN(const PythonRuntime runtime, RuntimeOf(python));
    Need need{.request = {.runtime = runtime, .packages = python.packages, .directory = directory},
              .naming = std::make_shared<Need::Naming>(),
              .name = ""};
    auto hash = [request = need.request, naming = need.naming] {
      naming->name = PythonEnvironments::Name(request);
      naming->told.Notify();
    };
    if (executor_ == nullptr) {
      hash();
    } else {
      executor_->Run(std::move(hash));
    }
    return need;
  }

  // The state of the environment.  InvalidArgument: a package does not exist.
  absl::StatusOr<EnvironmentState> Look(Need& need) const {
    if (need.name.empty()) {
      if (!need.naming->told.HasBeenNotified()) return EnvironmentState{};
      const absl::StatusOr<std::string>& name = need.naming->name;
      if (absl::IsNotFound(name.status())) {
        return InvalidArgument("{}", std::string(name.status().message()));
      }
      VERNIER_RETURN_IF_ERROR(name.status());
      VERNIER_RETURN_IF_ERROR(environments_.Prepare(*name, need.request, clock_.Now()));
      need.name = *name;
    }
    return environments_.Check(need.name);
  }

  std::string LastLine(const Need& need) const {
    return need.name.empty() ? "" : environments_.LastLine(need.name);
  }

  // Copies the installer's output into the log of the gang that waited for it.
  void KeepOutput(const GangProgram& gang) {
    const auto installed = installed_for_.find(gang.id);
    if (installed == installed_for_.end()) return;
    environments_.CopyOutput(installed->second,
                             jobs::ReplicaDirectory(gang.placed.directory, kServiceRole, 0));
    installed_for_.erase(installed);
  }

  static std::string NotInstalled(const PythonProgram& python, std::string_view reason) {
    return fmt::format(
        "the packages {} could not be installed: {}", fmt::join(python.packages, ", "), reason);
  }

  absl::Status StartPython(const GangProgram& gang) {
    if (gang.python->packages.empty()) {
      VERNIER_ASSIGN_OR_RETURN(const PythonRuntime runtime, RuntimeOf(*gang.python));
      return launcher_->Start(WithInterpreter(gang, runtime.python));
    }
    if (!waiting_.contains(gang.id)) {
      VERNIER_ASSIGN_OR_RETURN(WaitingForPackages waiting, Wait(gang));
      waiting_.emplace(gang.id, std::move(waiting));
    }
    return Advance(gang.id);
  }

  absl::StatusOr<PythonRuntime> RuntimeOf(const PythonProgram& python) const {
    const auto runtime = runtimes_.find(python.runtime.empty() ? kDefaultRuntime : python.runtime);
    if (runtime != runtimes_.end()) return runtime->second;
    // If no runtime is configured, the host's python3 serves for every name.
    if (runtimes_.empty() || python.runtime.empty()) return PythonRuntime{};
    return InvalidArgument("this server has no runtime '{}'", python.runtime);
  }

  // Starts making the environment. Usually Prepare has made it already.
  absl::StatusOr<WaitingForPackages> Wait(const GangProgram& gang) const {
    absl::StatusOr<Need> need = Begin(*gang.python, gang.replicas.front().directory);
    if (absl::IsInvalidArgument(need.status())) {
      return WaitingForPackages{
          .program = gang, .need = {}, .failure = std::string(need.status().message())};
    }
    VERNIER_RETURN_IF_ERROR(need.status());
    return WaitingForPackages{.program = gang, .need = *std::move(need), .failure = ""};
  }

  // Checks the installation, and starts the gang once it is done.
  absl::Status Advance(const AttemptId& id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || !found->second.failure.empty()) return absl::OkStatus();
    WaitingForPackages& waiting = found->second;
    const absl::StatusOr<EnvironmentState> state = Look(waiting.need);
    if (absl::IsInvalidArgument(state.status())) {
      waiting.failure = std::string(state.status().message());
      return absl::OkStatus();
    }
    VERNIER_RETURN_IF_ERROR(state.status());
    if (state->phase == EnvironmentState::Phase::kPreparing) return absl::OkStatus();
    if (state->phase == EnvironmentState::Phase::kFailed) {
      waiting.failure = NotInstalled(*waiting.program.python, state->reason);
      return absl::OkStatus();
    }
    KeepOutput(waiting.program);
    // Started before it is forgotten: if that fails for now, it is tried again.
    VERNIER_RETURN_IF_ERROR(launcher_->Start(WithEnvironment(waiting.program, state->python)));
    waiting_.erase(found);
    return absl::OkStatus();
  }

  const std::unique_ptr<Launcher> launcher_;
  const std::string directory_;
  PythonEnvironments environments_;
  const std::map<std::string, PythonRuntime> runtimes_;
  Executor* const executor_;
  const Clock& clock_;
  std::map<AttemptId, WaitingForPackages> waiting_;
  mutable absl::Mutex mu_;
  std::map<AttemptId, Installation> installations_ ABSL_GUARDED_BY(mu_);
  // Gangs whose packages are installed; they may wait for room for long, and packages are hashed only once.
  std::set<AttemptId> installed_;
  std::set<std::string> was_installing_;            // Environments that a gang has waited for.
  std::map<AttemptId, std::string> installed_for_;  // The gang that waited first, until it starts.
};

}  // namespace

std::unique_ptr<Launcher> NewPythonLauncher(std::unique_ptr<Launcher> launcher,
                                            PythonLauncherOptions options,
                                            const Clock& clock) {
  return std::make_unique<PythonLauncher>(std::move(launcher), std::move(options), clock);
}

}  // namespace vernier::launch
