// A gang passes through these steps, each of which can be repeated after a crash:
//
//   Place   reserves room in the book, ports and a fresh folder; only the folder is durable. The engine records the
//           placement in its log before it calls Start (Invariant 6).
//   Start   writes gang.json, reserves space for verdict.json, then starts a supervisor for each replica. A start that
//           was interrupted half-way is completed: replicas with a start marker are skipped.
//   Check   observes the replicas' files, decides (gang_rules.h), writes the verdict, then carries it out. A verdict is
//           on disk before anything is stopped, so a successor reads the same verdict and goes on.
//   Adopt   in a new process: reads the records, takes room and ports in the book, finds orphans. Then Check as usual.
//   Release gives room, ports and groups back once nothing runs.
//
// What this process observed lives in Gang::replicas and is never taken back: if records vanish while programs run, the
// last observation stands and the replica becomes an orphan (KeepKnown).
//
// `mu_` guards only the book, which Nodes and Queue read from other threads; it is never held during I/O.

#include "src/launch/local/process_launcher.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "fmt/format.h"
#include "src/base/log.h"
#include "src/core/status.h"
#include "src/jobs/replica_exit.h"
#include "src/launch/container/command_line.h"
#include "src/launch/gang/attempt_folder.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/gang/gang_rules.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/last_words.h"
#include "src/launch/local/capacity_book.h"
#include "src/launch/local/control_group_host.h"
#include "src/launch/local/gpu_inventory.h"
#include "src/launch/local/gpu_watch.h"
#include "src/launch/local/host_inventory.h"
#include "src/launch/local/port_book.h"
#include "src/launch/programs.h"
#include "src/launch/replica_files.h"
#include "vernier/core/error.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using Phase = ReplicaObservation::Phase;

// All replicas run on this host.
constexpr char kHost[] = "127.0.0.1";
// Pause between repeated SIGTERMs to a supervisor. A choice: one that was not yet listening or was suspended gets
// another.
constexpr absl::Duration kTellInterval = absl::Seconds(1);
// Time beyond the grace period after which a supervisor that has not ended its replica is killed. A choice: longer than
// the end of a container may take, which is asked for its end and removed twice (src/launch/supervisor/container.cc).
constexpr absl::Duration kOverdue = absl::Seconds(30);

// The grace period of a gang whose record is missing: written without fsync, it can be lost in a power failure. The
// default of `limits.grace` in a job.
constexpr absl::Duration kUsualGrace = absl::Seconds(10);

// An attempt that holds room on this host.
struct Gang {
  std::vector<ReplicaRequest> request;  // Fitted to the host.
  PlacedGang placed;
  GangTraits traits;
  absl::Duration grace = kUsualGrace;
  bool started = false;   // Start was called, by this process or an earlier one.
  bool is_timed = false;  // The book has the start time of the primary.
  std::optional<GangEnd> gang_end;
  std::vector<ReplicaObservation> replicas;  // The latest observations.
  // When they were made, or when this process started the gang.
  absl::Time looked = absl::InfinitePast();
  std::vector<std::optional<absl::Time>> told;  // When CarryOut last acted on each replica.
};

std::vector<GuardedFolder> GuardedBy(const ProcessLauncherOptions& options) {
  std::vector<GuardedFolder> folders = {{"the runs", options.runs_directory}};
  if (!options.store_directory.empty()) {
    folders.push_back({"the store", options.store_directory});
  }
  return folders;
}

std::string HostName() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

// The order in which replicas get ports: the primary, then parameter servers, workers and all others. With a fixed
// first port (`local train --start-port`) each address is then predictable, and the same as under gcloud's `local
// train`.
std::vector<std::size_t> PortOrder(const GangRequest& request) {
  std::vector<std::size_t> order(request.replicas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const std::string& role = request.replicas[i].role;
    return i == 0 ? 0 : role == "ps" ? 1 : role == "worker" ? 2 : 3;
  });
  return order;
}

Share ShareOf(const Resources& resources) {
  return {.cpu_millis = static_cast<std::int64_t>(std::ceil(resources.cpus * 1000)),
          .memory_bytes = resources.memory_bytes};
}

class ProcessLauncher final : public Launcher {
 public:
  ProcessLauncher(ProcessLauncherOptions options,
                  HostCapacity capacity,
                  ControlGroupHost limits,
                  const Clock& clock)
      : options_(std::move(options)),
        limits_(std::move(limits)),
        clock_(clock),
        disks_(GuardedBy(options_), options_.disk_reserve, options_.disk_probe),
        gpu_watch_(options_.supervisor),
        book_(std::move(capacity), clock, options_.fitting),
        ports_(options_.first_port) {}

  absl::Status CheckFits(const GangRequest& gang) const override {
    absl::MutexLock lock(&mu_);
    return book_.CheckFits(gang.replicas);
  }

  // Nothing has to be fetched, but a disk may be too full. The gang still enters the queue, so that it keeps its place
  // and `queue list` shows the reason.
  absl::Status Prepare(const GangRequest& request) override {
    const std::string held = disks_.Shortage();
    if (held.empty()) return absl::OkStatus();
    absl::MutexLock lock(&mu_);
    VERNIER_RETURN_IF_ERROR(book_.Wait(request));
    return ResourceExhausted("{}", held);
  }

  std::string WhyHeld() override { return disks_.Shortage(); }

  absl::StatusOr<PlacedGang> Place(const GangRequest& request) override {
    if (request.replicas.empty()) return InvalidArgument("a gang needs at least one replica");
    if (gangs_.contains(request.id)) {
      return FailedPrecondition("{} is placed", AttemptName(request.id));
    }
    VERNIER_RETURN_IF_ERROR(Prepare(request));
    VERNIER_ASSIGN_OR_RETURN(const GpuAssignment gpus, Reserve(request));
    absl::StatusOr<PlacedGang> placed = PlaceReserved(request, gpus);
    if (!placed.ok()) {
      FreeRoom(request.id);
      return placed.status();
    }
    gangs_.emplace(request.id, NewGang(request, *placed));
    return placed;
  }

  absl::Status Start(const GangProgram& program) override {
    VERNIER_ASSIGN_OR_RETURN(Gang * gang, Find(program.id));
    if (program.replicas.size() != gang->request.size()) {
      return InvalidArgument("{} has {} replicas placed, {} to start",
                             AttemptName(program.id),
                             gang->request.size(),
                             program.replicas.size());
    }
    if (gang->gang_end.has_value()) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(MakeFolders(*gang));
    if (const std::string held = disks_.Shortage(); !held.empty()) {
      return ResourceExhausted("{}", held);
    }
    gang->grace = program.grace;
    gang->traits.time_limit = program.time_limit;
    gang->traits.lenient = program.restarts.reading == FailureReading::kLenient;
    // Recorded before anything starts, so that a successor never finds a running replica without the gang's limits.
    VERNIER_RETURN_IF_ERROR(WriteGangRecord(gang->placed.directory,
                                            {.time_limit = program.time_limit,
                                             .grace = program.grace,
                                             .lenient = gang->traits.lenient}));
    VERNIER_RETURN_IF_ERROR(ReserveGangEnd(gang->placed.directory));
    gang->started = true;
    gang->looked = clock_.Now();
    // From here on the programs must be able to bind their ports.
    for (const ReplicaPlacement& replica : gang->placed.placement) ports_.Unbind(replica.port);
    for (std::size_t i = 0; i < program.replicas.size(); ++i) {
      VERNIER_RETURN_IF_ERROR(StartReplica(
          program, i, ReplicaFolder(gang->placed, i), ShareOf(gang->request[i].resources)));
      // Now the replica counts as begun. If its folder vanishes before the first look, it is missed and not taken as
      // never started.
      if (gang->replicas[i].phase == Phase::kNotStarted) gang->replicas[i].phase = Phase::kStarting;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<GangStatus> Adopt(const GangRequest& request, const PlacedGang& placed) override {
    if (!gangs_.contains(request.id)) {
      if (request.replicas.empty() || request.replicas.size() != placed.placement.size()) {
        return InvalidArgument("{} asks for {} replicas, {} were placed",
                               AttemptName(request.id),
                               request.replicas.size(),
                               placed.placement.size());
      }
      Gang gang = NewGang(request, placed);
      VERNIER_RETURN_IF_ERROR(Recall(gang));
      FindOrphans(gang);
      {
        absl::MutexLock lock(&mu_);
        book_.Take(request, placed.placement);
      }
      AdoptPorts(gang);
      gangs_.emplace(request.id, std::move(gang));
    }
    VERNIER_ASSIGN_OR_RETURN(const Gang* gang, Find(request.id));
    const bool has_begun = std::ranges::any_of(
        gang->replicas,
        [](const ReplicaObservation& replica) { return replica.phase != Phase::kNotStarted; });
    // The gang keeps its room: the engine calls Start for it again.
    if (!gang->gang_end.has_value() && !has_begun && NothingStarted(*gang)) {
      return NotFound("nothing of {} was started", AttemptName(request.id));
    }
    return Check(request.id);
  }

  absl::StatusOr<GangStatus> Check(const AttemptId& id) override {
    VERNIER_ASSIGN_OR_RETURN(Gang * gang, Find(id));
    if (!gang->started && !gang->gang_end.has_value()) {
      GangStatus status = Describe(gang->traits, gang->replicas, std::nullopt);
      status.state = AttemptState::kPlaced;
      return status;
    }
    VERNIER_RETURN_IF_ERROR(Follow(id, *gang));
    return Describe(gang->traits, gang->replicas, gang->gang_end);
  }

  absl::Status Stop(const AttemptId& id) override {
    VERNIER_ASSIGN_OR_RETURN(Gang * gang, Find(id));
    if (gang->started) VERNIER_RETURN_IF_ERROR(Follow(id, *gang));  // It may have ended by itself.
    if (gang->gang_end.has_value()) return absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(MakeFolders(*gang));
    VERNIER_RETURN_IF_ERROR(
        Resolve(*gang, {.state = AttemptState::kStopped, .time = clock_.Now()}));
    return Follow(id, *gang);
  }

  absl::Status Release(const AttemptId& id) override {
    if (!gangs_.contains(id)) {  // It waits in the queue, or is unknown.
      FreeRoom(id);
      return absl::OkStatus();
    }
    VERNIER_ASSIGN_OR_RETURN(Gang * gang, Find(id));
    // Never frees room of programs that run, or that may still start.
    if (gang->started) VERNIER_RETURN_IF_ERROR(FenceUnlessLive(id, *gang));
    FreeRoom(id);
    for (const ReplicaPlacement& replica : gang->placed.placement) ports_.Free(replica.port);
    for (std::size_t i = 0; i < gang->replicas.size(); ++i) {
      RemoveControlGroup(ReplicaFolder(gang->placed, i),
                         ControlGroupsOf(limits_, ReplicaFolder(gang->placed, i)));
      gpu_watch_.Forget(ReplicaFolder(gang->placed, i));
    }
    if (!gang->started) rmdir(gang->placed.directory.c_str());  // Removes it only if it is empty.
    gangs_.erase(id);
    return absl::OkStatus();
  }

  std::vector<Node> Nodes() override {
    absl::MutexLock lock(&mu_);
    Node node = book_.Status();
    node.name = HostName();
    return {std::move(node)};
  }

  std::vector<QueuedGang> Queue() override {
    const std::string held = disks_.Shortage();
    absl::MutexLock lock(&mu_);
    std::vector<QueuedGang> queue = book_.Queue();
    if (held.empty()) return queue;
    for (QueuedGang& gang : queue) {
      gang.reason = held;
      gang.start_by.reset();
    }
    return queue;
  }

 private:
  absl::StatusOr<GpuAssignment> Reserve(const GangRequest& request) {
    absl::MutexLock lock(&mu_);
    return book_.Place(request);
  }

  std::vector<ReplicaRequest> Fitted(const GangRequest& request) const {
    absl::MutexLock lock(&mu_);
    return book_.Fitted(request);
  }

  void FreeRoom(const AttemptId& id) {
    absl::MutexLock lock(&mu_);
    book_.Release(id);
  }

  static absl::Status MakeFolders(const Gang& gang) {
    for (std::size_t i = 0; i < gang.request.size(); ++i) {
      VERNIER_RETURN_IF_ERROR(MakeFolder(ReplicaFolder(gang.placed, i)));
    }
    return absl::OkStatus();
  }

  static bool NothingStarted(const Gang& gang) {
    for (std::size_t i = 0; i < gang.request.size(); ++i) {
      if (Observe(ReplicaFolder(gang.placed, i)).phase != Phase::kNotStarted) return false;
    }
    return true;
  }

  Gang NewGang(const GangRequest& request, const PlacedGang& placed) const {
    Gang gang{.request = Fitted(request),
              .placed = placed,
              .traits = {.primary_alone = options_.unmanaged,
                         .patience = options_.failed_replica_patience,
                         .settling = options_.failed_primary_settling,
                         .spread = options_.failure_spread},
              .replicas = std::vector<ReplicaObservation>(request.replicas.size()),
              .told = std::vector<std::optional<absl::Time>>(request.replicas.size())};
    for (const ReplicaPlacement& replica : placed.placement) {
      gang.traits.replicas.push_back({replica.role, replica.index});
    }
    return gang;
  }

  absl::StatusOr<Gang*> Find(const AttemptId& id) {
    const auto gang = gangs_.find(id);
    if (gang == gangs_.end()) {
      return NotFound("{} is neither placed nor adopted here", AttemptName(id));
    }
    return &gang->second;
  }

  absl::StatusOr<PlacedGang> PlaceReserved(const GangRequest& request, const GpuAssignment& gpus) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::int32_t> ports,
                             ports_.Reserve(request.replicas.size()));
    PlacedGang placed;
    for (std::size_t i = 0; i < request.replicas.size(); ++i) {
      placed.placement.push_back({.role = request.replicas[i].role,
                                  .index = request.replicas[i].index,
                                  .host = kHost,
                                  .port = 0,
                                  .gpus = gpus[i]});
    }
    std::size_t next = 0;
    for (const std::size_t i : PortOrder(request)) placed.placement[i].port = ports[next++];
    absl::StatusOr<std::string> directory = NewAttemptFolder(options_.runs_directory, request);
    if (!directory.ok()) {
      for (const std::int32_t port : ports) ports_.Free(port);
      return directory.status();
    }
    placed.directory = *std::move(directory);
    return placed;
  }

  // Reads what an earlier process recorded of the gang. A gang without gang.json but with a start marker was started
  // too: the record may be lost in a power failure.
  static absl::Status Recall(Gang& gang) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<GangRecord> record,
                             ReadGangRecord(gang.placed.directory));
    gang.started = record.has_value() || !NothingStarted(gang);
    if (record.has_value()) {
      gang.grace = record->grace;
      gang.traits.time_limit = record->time_limit;
      gang.traits.lenient = record->lenient;
    }
    VERNIER_ASSIGN_OR_RETURN(gang.gang_end, ReadGangEnd(gang.placed.directory));
    return absl::OkStatus();
  }

  // Finds replicas that an earlier process started and whose records are gone. A replica that is just being started has
  // its program file already, so it is no orphan.
  void FindOrphans(Gang& gang) const {
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      const std::string folder = ReplicaFolder(gang.placed, i);
      std::error_code error;
      if (!HasNoRecords(folder) || fs::exists(folder + "/" + kProgramFile, error)) continue;
      if (!HasProcesses(options_.supervisor, folder)) continue;
      gang.replicas[i].phase = Phase::kOrphaned;
      gang.started = true;
    }
  }

  // Ports of gangs that were not started are bound again, to keep them free; of started ones only the number is
  // reserved, since their programs listen on them.
  void AdoptPorts(const Gang& gang) {
    const bool waits = NothingStarted(gang);
    for (const ReplicaPlacement& replica : gang.placed.placement) {
      if (waits) {
        ports_.Adopt(replica.port);
      } else {
        ports_.AdoptStarted(replica.port);
      }
    }
  }

  // The command that the supervisor runs: the program itself, or the client of the engine that runs its container.
  absl::StatusOr<SupervisedProgram> Supervised(const ReplicaProgram& program,
                                               const ContainerSite& site) const {
    std::vector<std::string> groups = ControlGroupsOf(limits_, site.folder);
    VERNIER_ASSIGN_OR_RETURN(auto secrets, SecretFiles(program, options_.secrets_directory));
    if (!program.container.has_value()) {
      std::map<std::string, std::string> env = program.env;
      if (options_.unmanaged) {  // Inherit the values of this process.
        for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) env.erase(name);
      }
      return SupervisedProgram{.argv = program.argv,
                               .env = {env.begin(), env.end()},
                               .secrets = std::move(secrets),
                               .share = site.share,
                               .control_groups = std::move(groups)};
    }
    if (options_.containers == nullptr) {
      return InvalidArgument("image '{}': nothing here runs images", program.container->image);
    }
    VERNIER_ASSIGN_OR_RETURN(const ContainerEngine engine, options_.containers->Engine());
    for (const std::string& folder : program.container->mounts) {
      VERNIER_RETURN_IF_ERROR(MakeFolder(folder));
    }
    for (auto& [name, file] : secrets) name = ClientVariable(engine, name);
    SupervisedProgram client = ContainerProgram(engine, program, site, std::move(groups));
    client.secrets = std::move(secrets);
    return client;
  }

  absl::Status StartReplica(const GangProgram& gang,
                            std::size_t i,
                            const std::string& folder,
                            const Share& share) const {
    if (Observe(folder).phase != Phase::kNotStarted) return absl::OkStatus();
    const ReplicaProgram& program = gang.replicas[i];
    const ContainerSite site{
        .folder = folder, .gpus = gang.placed.placement[i].gpus, .share = share};
    VERNIER_ASSIGN_OR_RETURN(SupervisedProgram supervised, Supervised(program, site));
    std::error_code error;
    // An engine's client runs in the replica's folder, so that files that it leaves there belong to the replica.
    const fs::path directory =
        fs::absolute(program.container.has_value() ? folder : program.directory, error);
    if (error) return Unavailable("directory '{}': {}", program.directory, error.message());
    supervised.directory = directory.string();
    VERNIER_RETURN_IF_ERROR(PrepareReplica(gang, program, folder, supervised));
    // Space for the records is reserved before the program starts: a full disk then refuses a start instead of losing
    // an end.
    for (const char* file : {kRunningFile, kExitFile}) {
      const std::string path = folder + "/" + file;
      if (!ReserveFile(path)) return NotWritten("cannot write", path, errno);
    }
    VERNIER_RETURN_IF_ERROR(WriteProgram(folder, supervised));
    return SpawnSupervisor(options_.supervisor, folder, options_.environment);
  }

  // Observes every replica, decides, and carries the verdict out. A replica that is down is not looked at again: its
  // end is final and its files may be removed by the user.
  absl::Status Follow(const AttemptId& id, Gang& gang) {
    const absl::Time time = clock_.Now();
    gpu_watch_.Read(time);
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      if (IsDown(gang.replicas[i])) continue;
      ReplicaObservation now = Observe(ReplicaFolder(gang.placed, i));
      KeepKnown(ReplicaFolder(gang.placed, i), gang.replicas[i], now);
      if (!gang.placed.placement[i].gpus.empty()) WatchGpus(gang, i, now);
      ReadWords(ReplicaFolder(gang.placed, i), gang.replicas[i], now);
      BoundTimes(gang.replicas[i], gang.looked, time, now);
      gang.replicas[i] = std::move(now);
    }
    gang.looked = time;
    Time(id, gang);
    if (!gang.gang_end.has_value()) {
      const std::optional<GangEnd> gang_end = Decide(gang.traits, gang.replicas, clock_.Now());
      if (!gang_end.has_value()) return absl::OkStatus();
      VERNIER_RETURN_IF_ERROR(Resolve(gang, *gang_end));
    }
    CarryOut(gang);
    return absl::OkStatus();
  }

  // Keeps what is known if records vanish while the replica runs: somebody may remove its folder or put another in its
  // place. Without running.json alone a replica still counts as running, so that its time limit goes on.
  static void KeepKnown(const std::string& folder,
                        const ReplicaObservation& before,
                        ReplicaObservation& now) {
    const bool had_begun = before.phase != Phase::kNotStarted;
    if (had_begun && now.phase == Phase::kNotStarted) {
      now = before;
      if (HasNoRecords(folder)) now.phase = Phase::kOrphaned;
    } else if (before.phase == Phase::kRunning && now.phase == Phase::kStarting) {
      now.phase = Phase::kRunning;
      now.started = before.started;
      now.earlier = before.earlier;
    }
  }

  void WatchGpus(const Gang& gang, std::size_t i, ReplicaObservation& now) {
    const std::string folder = ReplicaFolder(gang.placed, i);
    if (now.phase == Phase::kRunning) gpu_watch_.Watch(folder, gang.placed.placement[i].gpus);
    now.gpu = gpu_watch_.UseOf(folder);
    if (IsDown(now)) gpu_watch_.Forget(folder);
  }

  // Tells the book when the primary started: the time limit counts from then, and with it the start promised to waiting
  // gangs.
  void Time(const AttemptId& id, Gang& gang) {
    if (gang.is_timed || gang.replicas.front().phase != Phase::kRunning) return;
    gang.is_timed = true;
    absl::MutexLock lock(&mu_);
    book_.MarkStarted(id, gang.replicas.front().started);
  }

  // Reads the last lines of each run that failed by its own doing, once. A run's lines are found by time: those of all
  // runs are in one stream.
  static void ReadWords(const std::string& folder,
                        const ReplicaObservation& before,
                        ReplicaObservation& now) {
    const auto read = [&](const jobs::ReplicaExit& exit, absl::Time since, absl::Time until) {
      const jobs::ExitKind kind = jobs::KindOf(exit);
      // Only such ends have a cause that the program could print; a killed program has none.
      const bool is_own = kind == jobs::ExitKind::kOwnStatus || kind == jobs::ExitKind::kCrashed;
      return is_own ? std::optional(ReadLastWords(folder, since, until)) : std::nullopt;
    };
    for (std::size_t i = 0; i < now.earlier.size(); ++i) {
      ReplicaObservation::Run& run = now.earlier[i];
      if (i < before.earlier.size()) {
        run.words = before.earlier[i].words;
        continue;
      }
      const bool is_last = i + 1 == now.earlier.size();
      const absl::Time next = is_last ? now.started : now.earlier[i + 1].started;
      run.words = read(run.exit, run.started, next > run.started ? next : absl::InfiniteFuture());
    }
    if (now.phase == Phase::kEnded) {
      now.words = read(now.exit, now.started, absl::InfiniteFuture());
    }
  }

  // Records the verdict, if the folder still exists and may be entered. Otherwise a successor finds the same state and
  // decides again.
  static absl::Status Resolve(Gang& gang, const GangEnd& gang_end) {
    const bool is_gone =
        access(gang.placed.directory.c_str(), W_OK | X_OK) != 0 && IsOutOfReach(errno);
    if (!is_gone) VERNIER_RETURN_IF_ERROR(WriteGangEnd(gang.placed.directory, gang_end));
    gang.gang_end = gang_end;
    return absl::OkStatus();
  }

  // Repeats until every replica is down; each step may be lost (a supervisor not yet listening, a process suspended),
  // so it is taken again after kTellInterval. A replica that never started is barred from starting by its marker.
  void CarryOut(Gang& gang) const {
    const absl::Time now = clock_.Now();
    const bool is_overdue = now - gang.gang_end->time > gang.grace + kOverdue;
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      const std::string folder = ReplicaFolder(gang.placed, i);
      switch (gang.replicas[i].phase) {
        case Phase::kNotStarted:
          // False: a supervisor was first. The next look finds it.
          if (Fence(folder)) gang.replicas[i].phase = Phase::kGone;
          break;
        case Phase::kStarting:
        case Phase::kRunning:
          if (gang.told[i].has_value() && now - *gang.told[i] < kTellInterval) break;
          if (TerminateReplica(options_.supervisor, folder)) gang.told[i] = now;
          if (is_overdue) Kill(folder);
          break;
        case Phase::kOrphaned:
          if (gang.told[i].has_value() && now - *gang.told[i] < kTellInterval) break;
          gang.told[i] = now;
          if (!is_overdue && TerminateReplica(options_.supervisor, folder)) break;
          Kill(folder);
          gang.replicas[i].phase = Phase::kGone;
          break;
        case Phase::kGone:
          // Processes may have outlived their supervisor: if it was killed, only its direct child got the kernel's
          // SIGKILL.
          if (!gang.told[i].has_value()) Kill(folder);
          gang.told[i] = now;
          break;
        case Phase::kEnded:
          break;
      }
    }
  }

  void Kill(const std::string& folder) const {
    KillReplica(options_.supervisor, folder, ControlGroupsOf(limits_, folder));
  }

  // Room must not be given back while a program may run, or start later: a supervisor that was spawned but has not yet
  // created its marker must find one.
  absl::Status FenceUnlessLive(const AttemptId& id, Gang& gang) {
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      const std::string folder = ReplicaFolder(gang.placed, i);
      const ReplicaObservation replica = Observe(folder);
      const bool over = IsDown(gang.replicas[i]) || IsDown(replica) ||
                        (replica.phase == Phase::kNotStarted && Fence(folder));
      if (!over) return FailedPrecondition("{} still runs", AttemptName(id));
    }
    return absl::OkStatus();
  }

  const ProcessLauncherOptions options_;
  const ControlGroupHost limits_;
  const Clock& clock_;
  const DiskGuard disks_;
  GpuWatch gpu_watch_;
  mutable absl::Mutex mu_;
  CapacityBook book_ ABSL_GUARDED_BY(mu_);
  PortBook ports_;
  std::map<AttemptId, Gang> gangs_;
};

// The devices that jobs may use. If the driver hangs, the host runs jobs without devices.
std::vector<GpuDevice> UsableGpus(const std::string& supervisor) {
  absl::StatusOr<std::vector<GpuDevice>> gpus = DetectGpus(supervisor);
  if (gpus.ok()) return *std::move(gpus);
  base::Log(base::LogLevel::kWarning,
            "no GPU is offered to training jobs",
            {{"error", std::string(gpus.status().message())}});
  return {};
}

// REQUIRES: the supervisor is known.
absl::StatusOr<HostCapacity> Capacity(const ProcessLauncherOptions& options) {
  HostCapacity capacity = DetectHost();
  capacity.cpus = options.cpus.value_or(capacity.cpus);
  capacity.memory_bytes = options.memory_bytes.value_or(capacity.memory_bytes);
  if (!(capacity.cpus > 0)) return InvalidArgument("cpus: must be above 0, got {}", capacity.cpus);
  if (capacity.memory_bytes < 0) {
    return InvalidArgument("memory_bytes: must be 0 or more, got {}", capacity.memory_bytes);
  }
  VERNIER_ASSIGN_OR_RETURN(capacity.gpus, ParseDeclaredGpus(options.gpus));
  if (options.gpus.empty() && options.detect_gpus) capacity.gpus = UsableGpus(options.supervisor);
  return capacity;
}

}  // namespace

absl::StatusOr<Node> DescribeHost(const ProcessLauncherOptions& options, const Clock& clock) {
  ProcessLauncherOptions found = options;
  // Without the supervisor program nothing runs here, but nvidia-smi may still list devices.
  if (found.supervisor.empty()) found.supervisor = FindSupervisor().value_or("vernier-supervisor");
  VERNIER_ASSIGN_OR_RETURN(HostCapacity capacity, Capacity(found));
  Node node = CapacityBook(std::move(capacity), clock, options.fitting).Status();
  node.name = HostName();
  return node;
}

absl::StatusOr<std::unique_ptr<Launcher>> NewProcessLauncher(ProcessLauncherOptions options,
                                                             const Clock& clock) {
  if (options.runs_directory.empty()) return InvalidArgument("runs_directory: must not be empty");
  if (options.supervisor.empty()) {
    VERNIER_ASSIGN_OR_RETURN(options.supervisor, FindSupervisor());
  } else if (!IsProgram(options.supervisor)) {
    return NotFound("supervisor '{}' is no program", options.supervisor);
  }
  VERNIER_ASSIGN_OR_RETURN(HostCapacity capacity, Capacity(options));
  std::error_code error;
  options.runs_directory = fs::absolute(options.runs_directory, error).string();
  VERNIER_RETURN_IF_ERROR(MakeFolder(options.runs_directory));
  // May move this process into a leaf of its control group, so it comes after all checks that can fail.
  ControlGroupHost limits = PrepareControlGroups({.group = options.control_group});
  base::Log(base::LogLevel::kInfo, "limits of replicas", {{"enforced", DescribeLimits(limits)}});
  return std::unique_ptr<Launcher>(std::make_unique<ProcessLauncher>(
      std::move(options), std::move(capacity), std::move(limits), clock));
}

}  // namespace vernier::launch
