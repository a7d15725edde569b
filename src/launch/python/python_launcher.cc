#include "src/launch/python/python_launcher.h"

#include <cstdlib>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/built_in_trainers.h"
#include "src/core/status.h"
#include "src/launch/python/trainers.h"

namespace vernier::launch {
namespace {

constexpr char kDefaultRuntime[] = "default";

// A gang that is placed, and not handed on to be started.
struct Waiting {
  GangProgram program;
  std::string environment;  // The name of what is being made for it.
  std::string failure;      // Why it will never start; empty: it may.
};

// The program with the interpreter in its place.
GangProgram WithInterpreter(GangProgram gang, const std::string& python) {
  for (ReplicaProgram& replica : gang.replicas) {
    if (replica.runs_python) replica.argv.front() = python;
  }
  return gang;
}

// The program with an environment's interpreter in its place, which its own children find first as well.
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

// The program with the folder among those that Python looks for modules in.
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

class PythonLauncher final : public Launcher {
 public:
  PythonLauncher(std::unique_ptr<Launcher> launcher,
                 PythonLauncherOptions options,
                 const Clock& clock)
      : launcher_(std::move(launcher)),
        directory_(options.environments_directory),
        environments_(options.environments_directory, options.supervisor),
        runtimes_(std::move(options.runtimes)),
        clock_(clock) {}

  absl::Status CheckFits(const std::vector<ReplicaRequest>& replicas) const override {
    return launcher_->CheckFits(replicas);
  }
  absl::StatusOr<PlacedGang> Place(const GangRequest& gang) override {
    return launcher_->Place(gang);
  }

  std::vector<Node> Nodes() override { return launcher_->Nodes(); }
  std::vector<QueuedGang> Queue() override { return launcher_->Queue(); }

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
    return absl::OkStatus();
  }

 private:
  absl::Status StartPython(const GangProgram& gang) {
    if (gang.python->packages.empty()) {
      VERNIER_ASSIGN_OR_RETURN(const PythonRuntime runtime, RuntimeOf(*gang.python));
      return launcher_->Start(WithInterpreter(gang, runtime.python));
    }
    if (!waiting_.contains(gang.id)) {
      VERNIER_ASSIGN_OR_RETURN(Waiting waiting, Prepare(gang));
      waiting_.emplace(gang.id, std::move(waiting));
    }
    return Advance(gang.id);
  }

  absl::StatusOr<PythonRuntime> RuntimeOf(const PythonProgram& python) const {
    const auto runtime = runtimes_.find(python.runtime.empty() ? kDefaultRuntime : python.runtime);
    if (runtime != runtimes_.end()) return runtime->second;
    // Without any that is configured, the host's own stands for all.
    if (runtimes_.empty() || python.runtime.empty()) return PythonRuntime{};
    return InvalidArgument("this server has no runtime '{}'", python.runtime);
  }

  // Has the environment made. A package that is not there is the job's fault, and no error of ours.
  absl::StatusOr<Waiting> Prepare(const GangProgram& gang) const {
    VERNIER_ASSIGN_OR_RETURN(const PythonRuntime runtime, RuntimeOf(*gang.python));
    absl::StatusOr<std::string> name =
        environments_.Prepare({.runtime = runtime,
                               .packages = gang.python->packages,
                               .directory = gang.replicas.front().directory},
                              clock_.Now());
    if (absl::IsNotFound(name.status())) {
      return Waiting{.program = gang, .failure = std::string(name.status().message())};
    }
    VERNIER_RETURN_IF_ERROR(name.status());
    return Waiting{.program = gang, .environment = *std::move(name)};
  }

  // Looks how the installation goes, and hands the gang on when it is done.
  absl::Status Advance(const AttemptId& id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || !found->second.failure.empty()) return absl::OkStatus();
    Waiting& waiting = found->second;
    const EnvironmentState state = environments_.Check(waiting.environment);
    if (state.phase == EnvironmentState::Phase::kPreparing) return absl::OkStatus();
    if (state.phase == EnvironmentState::Phase::kFailed) {
      waiting.failure = fmt::format("the packages {} could not be installed: {}",
                                    fmt::join(waiting.program.python->packages, ", "),
                                    state.reason);
      return absl::OkStatus();
    }
    // Handed on before it is forgotten: what cannot be started now is tried again.
    VERNIER_RETURN_IF_ERROR(launcher_->Start(WithEnvironment(waiting.program, state.python)));
    waiting_.erase(found);
    return absl::OkStatus();
  }

  const std::unique_ptr<Launcher> launcher_;
  const std::string directory_;
  PythonEnvironments environments_;
  const std::map<std::string, PythonRuntime> runtimes_;
  const Clock& clock_;
  std::map<AttemptId, Waiting> waiting_;
};

}  // namespace

std::unique_ptr<Launcher> NewPythonLauncher(std::unique_ptr<Launcher> launcher,
                                            PythonLauncherOptions options,
                                            const Clock& clock) {
  return std::make_unique<PythonLauncher>(std::move(launcher), std::move(options), clock);
}

}  // namespace vernier::launch
