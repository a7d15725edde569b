// Images are fetched twice if need be:
//
//   Prepare  before a gang has room, so that no room is held during a long pull. Gangs that need the same images share
//            one fetch in `directory`/HASH.
//   Start    once more in the attempt's folder: usually a quick look, or a pull if somebody removed the image.
//
// A fetch is a shell script under a supervisor, with the records of a replica. So it survives this process, and a later
// one finds it by its folder: the maps below only hold what is waiting now, and nothing in them has to be durable.

#include "src/launch/container/container_launcher.h"

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/base/private_folder.h"
#include "src/base/sha256.h"
#include "src/core/status.h"
#include "src/launch/container/command_line.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/output_tail.h"
#include "src/launch/preparation.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {

extern const char kFetchImages[];  // fetch_images.sh.

namespace {

namespace fs = std::filesystem;

// Folder of the fetch in the attempt's folder. No role has this name.
constexpr char kFolder[] = "images";
constexpr char kFetchScript[] = "fetch_images.sh";
constexpr char kFetching[] = "fetching its container images";
// Exit status of fetch_images.sh.
constexpr int kEngineIsDown = 3;
// Limit of the stored output of a fetch. A choice: engines print a progress line per layer, and only the end is shown.
constexpr std::int64_t kFetchOutputBytes = std::int64_t{16} << 20;
// A choice: an interrupted pull leaves nothing worth saving.
constexpr std::int64_t kFetchGraceMs = 1000;

// Why a gang cannot start.
struct Trouble {
  FailureClass failure = FailureClass::kUserError;
  std::string message;
};

// A gang that is placed and not yet started by the wrapped launcher.
struct WaitingForImages {
  GangProgram program;
  std::string folder;
  std::optional<Trouble> trouble;
};

using Images = std::set<std::string>;

// A shared fetch, and the gangs that wait for it.
struct Fetching {
  std::string folder;
  std::map<AttemptId, GangRequest> gangs;
};

Images ImagesOf(const GangProgram& gang) {
  Images images;
  for (const ReplicaProgram& replica : gang.replicas) {
    if (replica.container.has_value()) images.insert(replica.container->image);
  }
  return images;
}

// Returns why the fetch failed; nothing on success.
std::optional<Trouble> Judge(const Images& images,
                             const std::string& folder,
                             const ReplicaObservation& fetching) {
  if (fetching.phase == ReplicaObservation::Phase::kGone) {
    return Trouble{FailureClass::kInternal, "whoever fetched the images is gone"};
  }
  if (fetching.exit.exit_code == 0) return std::nullopt;
  const std::string& error = fetching.exit.error;
  const std::string reason = error.empty() ? OutputTail(folder) : error;
  if (fetching.exit.exit_code == kEngineIsDown) {
    return Trouble{FailureClass::kInternal, "the container engine does not answer: " + reason};
  }
  return Trouble{
      FailureClass::kUserError,
      fmt::format("the images {} could not be fetched: {}", fmt::join(images, ", "), reason)};
}

class ContainerLauncher final : public Launcher {
 public:
  ContainerLauncher(std::unique_ptr<Launcher> launcher,
                    std::shared_ptr<ContainerHost> host,
                    std::string supervisor,
                    Environment environment,
                    std::string directory)
      : launcher_(std::move(launcher)),
        host_(std::move(host)),
        supervisor_(std::move(supervisor)),
        environment_(std::move(environment)),
        directory_(std::move(directory)) {}

  absl::Status CheckFits(const GangRequest& gang) const override {
    return launcher_->CheckFits(gang);
  }
  absl::Status Prepare(const GangRequest& gang) override {
    EndAbandoned();
    if (launcher_->WhyHeld().empty()) VERNIER_RETURN_IF_ERROR(FetchBefore(gang));
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
    for (const auto& [images, fetching] : fetchings_) {
      for (const auto& [id, gang] : fetching.gangs) {
        queue.push_back(PreparingGang(gang,
                                      fmt::format("{}", fmt::join(images, ", ")),
                                      kFetching,
                                      OutputTail(fetching.folder, 1)));
      }
    }
    return queue;
  }

  absl::Status Start(const GangProgram& gang) override {
    if (ImagesOf(gang).empty()) return launcher_->Start(gang);
    // A gang without room, or of nobody's, is no reason to fetch.
    VERNIER_RETURN_IF_ERROR(launcher_->Check(gang.id).status());
    if (!waiting_.contains(gang.id)) {
      VERNIER_ASSIGN_OR_RETURN(WaitingForImages waiting, Fetch(gang));
      waiting_.emplace(gang.id, std::move(waiting));
    }
    return Advance(gang.id);
  }

  absl::StatusOr<GangStatus> Adopt(const GangRequest& gang, const PlacedGang& placed) override {
    return launcher_->Adopt(gang, placed);
  }

  absl::StatusOr<GangStatus> Check(const AttemptId& id) override {
    EndAbandoned();
    VERNIER_RETURN_IF_ERROR(Advance(id));
    VERNIER_ASSIGN_OR_RETURN(GangStatus status, launcher_->Check(id));
    const auto waiting = waiting_.find(id);
    if (waiting == waiting_.end()) return status;
    status.state = AttemptState::kStarting;
    const std::optional<Trouble>& trouble = waiting->second.trouble;
    if (!trouble.has_value()) return status;
    status.state = AttemptState::kFailed;
    status.failure = trouble->failure;
    status.transient = trouble->failure == FailureClass::kInternal;
    status.message = trouble->message;
    return status;
  }

  absl::Status Stop(const AttemptId& id) override {
    Forget(id);
    return launcher_->Stop(id);
  }

  absl::Status Release(const AttemptId& id) override {
    VERNIER_RETURN_IF_ERROR(launcher_->Release(id));
    Forget(id);
    return absl::OkStatus();
  }

 private:
  // Fetches the images of a gang that has no room yet. OK: they were present when last checked, or there is a problem
  // with the engine, which Start reports. Otherwise as Launcher::Prepare.
  absl::Status FetchBefore(const GangRequest& gang) {
    const Images images(gang.needs.images.begin(), gang.needs.images.end());
    if (images.empty() || present_.contains(images)) return absl::OkStatus();
    const absl::StatusOr<ContainerEngine> engine = host_->Engine();
    if (!engine.ok()) return absl::OkStatus();
    absl::MutexLock lock(&mu_);
    auto found = fetchings_.find(images);
    if (found == fetchings_.end()) {
      VERNIER_ASSIGN_OR_RETURN(std::string folder, BeginShared(*engine, images));
      found = fetchings_.emplace(images, Fetching{std::move(folder), {}}).first;
    }
    found->second.gangs.try_emplace(gang.id, gang);
    const ReplicaObservation fetching = Observe(found->second.folder);
    if (!IsDown(fetching)) return Unavailable(kFetching);
    const std::optional<Trouble> trouble = Judge(images, found->second.folder, fetching);
    if (!trouble.has_value()) present_.insert(images);
    found->second.gangs.erase(gang.id);
    // Success ends the waiting of all gangs. A failure is reported to each of them in turn.
    if (!trouble.has_value() || found->second.gangs.empty()) fetchings_.erase(found);
    if (!trouble.has_value() || trouble->failure == FailureClass::kInternal) {
      return absl::OkStatus();
    }
    return InvalidArgument("{}", trouble->message);
  }

  // Joins a running fetch, else starts a new one. The result of an earlier fetch does not count: the registry or the
  // network may have changed.
  absl::StatusOr<std::string> BeginShared(const ContainerEngine& engine, const Images& images) {
    base::Sha256 hash;
    for (const std::string& image : images) hash.Add(image + "\n");
    std::string folder = fmt::format("{}/{}", directory_, hash.Hex().substr(0, 32));
    const ReplicaObservation before = Observe(folder);
    if (IsDown(before)) {
      std::error_code error;
      fs::remove_all(folder, error);
      if (error) return Unavailable("cannot remove folder '{}': {}", folder, error.message());
    }
    if (before.phase == ReplicaObservation::Phase::kNotStarted || IsDown(before)) {
      VERNIER_RETURN_IF_ERROR(Begin(engine, images, folder));
    }
    std::erase(abandoned_, folder);
    return folder;
  }

  // Starts fetching the images for a placed gang, unless it was started before. An engine that has disappeared is not
  // the job's fault.
  absl::StatusOr<WaitingForImages> Fetch(const GangProgram& gang) const {
    WaitingForImages waiting{.program = gang,
                             .folder = fmt::format("{}/{}", gang.placed.directory, kFolder),
                             .trouble = std::nullopt};
    const absl::StatusOr<ContainerEngine> engine = host_->Engine();
    if (!engine.ok()) {
      waiting.trouble = {FailureClass::kInternal, std::string(engine.status().message())};
    } else if (Observe(waiting.folder).phase == ReplicaObservation::Phase::kNotStarted) {
      VERNIER_RETURN_IF_ERROR(Begin(*engine, ImagesOf(gang), waiting.folder));
    }
    return waiting;
  }

  absl::Status Begin(const ContainerEngine& engine,
                     const Images& images,
                     const std::string& folder) const {
    const std::error_code error = base::MakePrivateFolders(folder);
    if (error) return NotWritten("cannot create folder", folder, error.value());
    const std::string script = fmt::format("{}/{}", folder, kFetchScript);
    SupervisedProgram fetching{.argv = {"/bin/sh", script, EngineName(engine.kind), engine.program},
                               .env = {{kReplicaVariable, folder}},
                               .directory = folder,
                               .grace_ms = kFetchGraceMs,
                               .output_bytes = kFetchOutputBytes};
    for (const std::string& image : images) {
      for (std::string word : {image, ImageSource(engine, image), ImageFile(engine, image)}) {
        fetching.argv.push_back(std::move(word));
      }
    }
    if (!ReplaceFile(script, kFetchImages, /*durable=*/false) ||
        !ReplaceFile(fmt::format("{}/{}", folder, kProgramFile),
                     EncodeProgram(fetching),
                     /*durable=*/false)) {
      return NotWritten("cannot write to", folder, errno);
    }
    return SpawnSupervisor(supervisor_, folder, environment_);
  }

  // Checks the fetch, and starts the gang once it is done.
  absl::Status Advance(const AttemptId& id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || found->second.trouble.has_value()) return absl::OkStatus();
    WaitingForImages& waiting = found->second;
    const ReplicaObservation fetching = Observe(waiting.folder);
    if (!IsDown(fetching)) return absl::OkStatus();
    waiting.trouble = Judge(ImagesOf(waiting.program), waiting.folder, fetching);
    if (waiting.trouble.has_value()) return absl::OkStatus();
    // Started before it is forgotten: if that fails for now, it is tried again.
    VERNIER_RETURN_IF_ERROR(launcher_->Start(waiting.program));
    waiting_.erase(found);
    return absl::OkStatus();
  }

  // The gang no longer waits for images. Ends fetches that nobody waits for.
  void Forget(const AttemptId& id) {
    {
      absl::MutexLock lock(&mu_);
      for (auto fetching = fetchings_.begin(); fetching != fetchings_.end();) {
        const bool was_last =
            fetching->second.gangs.erase(id) > 0 && fetching->second.gangs.empty();
        if (was_last) abandoned_.push_back(fetching->second.folder);
        fetching = was_last ? fetchings_.erase(fetching) : std::next(fetching);
      }
    }
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return EndAbandoned();
    abandoned_.push_back(found->second.folder);
    waiting_.erase(found);
    EndAbandoned();
  }

  // Ends abandoned fetches. Repeated until it works: a supervisor that has just started cannot be found yet.
  void EndAbandoned() {
    std::erase_if(abandoned_, [&](const std::string& folder) {
      return TerminateReplica(supervisor_, folder) || IsDown(Observe(folder));
    });
  }

  const std::unique_ptr<Launcher> launcher_;
  const std::shared_ptr<ContainerHost> host_;
  const std::string supervisor_;
  const Environment environment_;
  const std::string directory_;
  mutable absl::Mutex mu_;
  std::map<Images, Fetching> fetchings_ ABSL_GUARDED_BY(mu_);
  std::set<Images> present_;  // Present at some time in this process's life.
  std::map<AttemptId, WaitingForImages> waiting_;
  std::vector<std::string> abandoned_;  // Folders of fetches that must be ended.
};

}  // namespace

std::unique_ptr<Launcher> NewContainerLauncher(std::unique_ptr<Launcher> launcher,
                                               std::shared_ptr<ContainerHost> host,
                                               std::string supervisor,
                                               Environment environment,
                                               std::string directory) {
  return std::make_unique<ContainerLauncher>(std::move(launcher),
                                             std::move(host),
                                             std::move(supervisor),
                                             std::move(environment),
                                             std::move(directory));
}

}  // namespace vernier::launch
