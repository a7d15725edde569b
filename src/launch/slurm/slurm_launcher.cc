// Order of things, each step repeatable after a crash of the daemon:
//
//   Place    makes the attempt's folder; Slurm has the queue. The engine records the placement, without hosts and ports.
//   Start    writes gang.json, the program of each replica, `tasks` and the batch script, and orders the submission.
//            JobBook submits once (`job`).
//   Check    reads the replicas' records. What left none once the job is over is gone, and Slurm's state says why. Then the
//            rules of gang_rules.h decide, as on this host; verdict.json is written before anything is stopped.
//   Adopt    reads the same files. A gang whose program files are there is followed; one without them was never started.
//   Release  cancels the job if anything of it is left, and forgets it.
//
// The engine's thread only reads and writes files of the shared folder; the book's thread alone talks to the controller.

#include "src/launch/slurm/slurm_launcher.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "fmt/format.h"
#include "src/base/background_thread.h"
#include "src/base/sha256.h"
#include "src/core/byte_size.h"
#include "src/core/status.h"
#include "src/jobs/layout.h"
#include "src/jobs/reproduction.h"
#include "src/launch/container/command_line.h"
#include "src/launch/gang/attempt_folder.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/gang/gang_rules.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/gang_tasks.h"
#include "src/launch/last_words.h"
#include "src/launch/programs.h"
#include "src/launch/replica_files.h"
#include "src/launch/slurm/job_book.h"
#include "src/launch/slurm/outcome.h"

namespace vernier::launch::slurm {
namespace {

namespace fs = std::filesystem;
using Phase = ReplicaObservation::Phase;

// Time after the grace period and Slurm's KillWait (30 s by default) after which the whole job is cancelled. A choice.
constexpr absl::Duration kOverdue = absl::Seconds(40);
// How often the files of a gang that runs are looked at, at most. A choice: a file system with a thousand replicas answers
// some thousand looks a second.
constexpr absl::Duration kLookInterval = absl::Milliseconds(250);
// How often a gang is told again to stop: a signal is lost on a task that is just being started. A choice.
constexpr absl::Duration kTellInterval = absl::Seconds(5);
// How long after a gang's end its job is cancelled if nobody follows it. A choice: well above usual grace periods, since
// another server may be stopping it.
constexpr absl::Duration kSpentAfter = absl::Seconds(60);
// The comment of a job, before the attempt's folder.
constexpr char kComment[] = "vernier ";
// The grace period of a gang whose record was lost.
constexpr absl::Duration kUsualGrace = absl::Seconds(10);
constexpr char kScriptFile[] = "/job.sh";
constexpr char kTestScript[] = "/.vernier/test.sh";

// Neighbours of one role share a component.
std::vector<std::pair<std::string, Component>> ComponentsByRole(
    const std::vector<ReplicaRequest>& replicas,
    const std::map<std::string, std::string>& gpu_types) {
  std::vector<std::pair<std::string, Component>> components;
  for (const ReplicaRequest& replica : replicas) {
    if (!components.empty() && components.back().first == replica.role) {
      ++components.back().second.tasks;
      continue;
    }
    const Resources& wanted = replica.resources;
    std::string type = wanted.gpu_type;
    if (const auto known = gpu_types.find(type); known != gpu_types.end()) {
      type = known->second;
    } else {
      std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
    }
    components.emplace_back(replica.role,
                            Component{.cpus = wanted.cpus,
                                      .memory_bytes = wanted.memory_bytes,
                                      .gpus = wanted.gpus,
                                      .gpu_type = std::move(type)});
  }
  return components;
}

std::string TaskCommand(const std::string& supervisor, const std::string& folder) {
  return fmt::format("{} --task {}", jobs::ShellQuote(supervisor), jobs::ShellQuote(folder));
}

// Whether the gang is one task, which the batch script becomes. A step costs about as much of the nodes' time as the job.
bool IsAlone(const std::vector<ReplicaRequest>& replicas) { return replicas.size() == 1; }

// Runs all replicas as one step, so that a task's rank tells its replica. The devices of a task must be bound by name:
// Slurm 22.05 gives tasks that share a node no device if the type of --gpus-per-task is named.
std::string StepCommand(const std::vector<std::pair<std::string, Component>>& components,
                        const std::string& supervisor,
                        const std::string& folder) {
  std::string step = "srun ";
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Component& component = components[i].second;
    if (i > 0) step += " : \\\n    ";
    // --wait=0, --kill-on-bad-exit=0: the end of one replica is no reason to end the others; the rules of the gang decide.
    step += "--mpi=none --cpu-bind=none --kill-on-bad-exit=0 --wait=0";
    if (components.size() > 1) step += fmt::format(" --het-group={}", i);
    step += fmt::format(" --ntasks={}", component.tasks);
    if (component.gpus > 0) step += fmt::format(" --gpu-bind=per_task:{}", component.gpus);
    step += " " + TaskCommand(supervisor, folder);
  }
  return step;
}

// Runs a step, and hands kStopSignal on to its tasks: slurmrestd tells the script alone, and srun ignores the signal.
// Nothing but the end of srun ends the script: `wait` that the signal interrupts returns 128 and its number.
std::string WaitForStep(const std::string& step) {
  return fmt::format(
      "trap 'scancel --signal={} \"$SLURM_JOB_ID\"' {}\n"
      "{} &\n"
      "while :; do\n"
      "  wait $!\n"
      "  status=$?\n"
      "  [ $status -eq {} ] || exit $status\n"
      "done\n",
      kStopSignal,
      kStopSignal,
      step,
      128 + SIGURG);
}

std::string BatchScript(const std::string& commands) {
  return fmt::format(
      "#!/bin/sh\n"
      "# The replicas of one attempt. Written by Vernier.\n"
      "PATH=${{PATH:-/usr/local/bin:/usr/bin:/bin}}\n"
      "export PATH\n"
      "{}",
      commands);
}

// One attempt that was placed or adopted.
struct Gang {
  std::vector<ReplicaRequest> request;
  PlacedGang placed;
  std::string study;
  absl::Time queued;
  std::int32_t priority = 0;
  GangTraits traits;
  absl::Duration grace = kUsualGrace;
  bool started = false;
  // Placed by an earlier process, which may have submitted it, whatever is left of its files.
  bool adopted = false;
  std::optional<GangEnd> gang_end;
  std::vector<ReplicaObservation> replicas;
  absl::Time looked = absl::InfinitePast();
  std::optional<absl::Time> over;  // When Slurm was first seen to have ended the job.
  std::optional<absl::Time> told;  // When the gang was last told to stop.
};

// The replica's records alone: whether its supervisor lives cannot be seen from here.
ReplicaObservation ObserveRecords(const std::string& folder) {
  ReplicaObservation seen = Observe(folder);
  if (seen.phase != Phase::kGone) return seen;
  // No lock is seen across hosts: what was started and has no record of its end runs, as far as the files tell.
  std::error_code error;
  seen.phase = fs::exists(folder + "/" + kRunningFile, error) ? Phase::kRunning : Phase::kStarting;
  if (seen.phase == Phase::kRunning) seen.started = StartedAt(folder).value_or(absl::Time());
  return seen;
}

class SlurmLauncher final : public Launcher {
 public:
  SlurmLauncher(SlurmLauncherOptions options, std::unique_ptr<Slurm> slurm, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        book_(
            std::move(slurm),
            clock,
            options_.poll_interval,
            [this](const AttemptId& id) { Tell(id); },
            [this](const std::string& comment) { return IsSpent(comment); }),
        loop_(std::make_unique<base::BackgroundLoop>([this] { return book_.Work(); })) {}
  ~SlurmLauncher() override { loop_.reset(); }
  SlurmLauncher(const SlurmLauncher&) = delete;
  SlurmLauncher& operator=(const SlurmLauncher&) = delete;

  absl::Status CheckFits(const GangRequest& gang) const override {
    BatchJob job = JobOf(gang.replicas, gang.time_limit);
    job.name = "vernier-test";
    job.script = options_.shared + kTestScript;
    job.directory = options_.shared;
    job.output = "/dev/null";
    absl::Status tested = book_.Test(job);
    // Nothing is known now: the job may be submitted, and waits until the controller answers.
    return absl::IsUnavailable(tested) ? absl::OkStatus() : tested;
  }

  absl::StatusOr<PlacedGang> Place(const GangRequest& request) override {
    if (request.replicas.empty()) return InvalidArgument("a gang needs at least one replica");
    if (gangs_.contains(request.id)) {
      return FailedPrecondition("{} is placed", AttemptName(request.id));
    }
    PlacedGang placed;
    for (const ReplicaRequest& replica : request.replicas) {
      const auto gpus = static_cast<std::size_t>(replica.resources.gpus);
      placed.placement.push_back({.role = replica.role,
                                  .index = replica.index,
                                  .host = {},
                                  .port = 0,
                                  .gpus = std::vector<std::string>(gpus, kUnknownGpu)});
    }
    VERNIER_ASSIGN_OR_RETURN(placed.directory, NewAttemptFolder(options_.shared, request));
    gangs_.emplace(request.id, NewGang(request, placed));
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
    gang->grace = program.grace;
    gang->traits.time_limit = program.time_limit;
    gang->traits.lenient = program.restarts.reading == FailureReading::kLenient;
    const std::string& folder = gang->placed.directory;
    for (std::size_t i = 0; i < program.replicas.size(); ++i) {
      VERNIER_RETURN_IF_ERROR(WriteReplica(program, i, ReplicaFolder(gang->placed, i)));
    }
    if (!IsAlone(gang->request)) {
      VERNIER_RETURN_IF_ERROR(MakeFolder(folder + "/" + kAddressesFolder));
    }
    const auto components = ComponentsByRole(gang->request, options_.gpu_types);
    const std::string script = BatchScript(
        IsAlone(gang->request) ? "exec " + TaskCommand(options_.supervisor, folder) + "\n"
                               : WaitForStep(StepCommand(components, options_.supervisor, folder)));
    if (!ReplaceFile(folder + "/" + kTasksFile, EncodeTasks(TasksOf(*gang)), /*durable=*/false) ||
        !ReplaceFile(folder + kScriptFile, script, /*durable=*/false)) {
      return NotWritten("cannot write to", folder, errno);
    }
    // Last: who finds this record finds the others, unless a power failure lost some (IsComplete).
    VERNIER_RETURN_IF_ERROR(WriteGangRecord(folder,
                                            {.time_limit = program.time_limit,
                                             .grace = program.grace,
                                             .lenient = gang->traits.lenient}));
    gang->started = true;
    gang->looked = clock_.Now();
    Submit(program.id, *gang);
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
      gang.adopted = true;
      VERNIER_ASSIGN_OR_RETURN(const std::optional<GangRecord> record,
                               ReadGangRecord(placed.directory));
      gang.started = record.has_value() && IsComplete(gang);
      if (record.has_value()) {
        gang.grace = record->grace;
        gang.traits.time_limit = record->time_limit;
        gang.traits.lenient = record->lenient;
      }
      VERNIER_ASSIGN_OR_RETURN(gang.gang_end, ReadGangEnd(placed.directory));
      const auto [at, is_new] = gangs_.emplace(request.id, std::move(gang));
      if (at->second.started) Submit(request.id, at->second);
    }
    VERNIER_ASSIGN_OR_RETURN(const Gang* gang, Find(request.id));
    if (!gang->started && !gang->gang_end.has_value()) {
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
    if (clock_.Now() - gang->looked >= LookInterval(id, *gang)) {
      VERNIER_RETURN_IF_ERROR(Follow(id, *gang));
    }
    return Describe(gang->traits, gang->replicas, gang->gang_end);
  }

  absl::Status Stop(const AttemptId& id) override {
    VERNIER_ASSIGN_OR_RETURN(Gang * gang, Find(id));
    if (gang->started) VERNIER_RETURN_IF_ERROR(Follow(id, *gang));  // It may have ended by itself.
    if (gang->gang_end.has_value()) return absl::OkStatus();
    for (std::size_t i = 0; i < gang->request.size(); ++i) {
      VERNIER_RETURN_IF_ERROR(MakeFolder(ReplicaFolder(gang->placed, i)));
    }
    VERNIER_RETURN_IF_ERROR(
        Resolve(*gang, {.state = AttemptState::kStopped, .time = clock_.Now()}));
    return Follow(id, *gang);
  }

  absl::Status Release(const AttemptId& id) override {
    const auto at = gangs_.find(id);
    if (at == gangs_.end()) return absl::OkStatus();
    Gang& gang = at->second;
    if (gang.started) {
      for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
        if (IsDown(gang.replicas[i]) || Fence(ReplicaFolder(gang.placed, i))) continue;
        return FailedPrecondition("{} still runs", AttemptName(id));
      }
    } else {
      rmdir(gang.placed.directory.c_str());  // Only if it is empty.
    }
    book_.Forget(id);
    loop_->Wake();
    gangs_.erase(at);
    absl::MutexLock lock(&mu_);
    waiting_.erase(id);
    return absl::OkStatus();
  }

  bool Watch(const std::function<void(const AttemptId& id)>& changed) override {
    absl::MutexLock lock(&mu_);
    changed_ = changed;
    return true;
  }

  std::string WhyHeld() override {
    const absl::Status trouble = book_.Trouble();
    return trouble.ok() ? std::string() : std::string(trouble.message());
  }

  std::vector<Node> Nodes() override {
    std::vector<Node> nodes;
    for (const NodeRecord& record : book_.Nodes()) {
      Node node{.name = record.name,
                .cpus = static_cast<double>(record.cpus),
                .free_cpus = record.is_usable ? static_cast<double>(record.free_cpus) : 0,
                .memory_bytes = record.memory_bytes,
                .free_memory_bytes = record.is_usable ? record.free_memory_bytes : 0,
                .devices = {}};
      for (const auto& [type, gpus] : record.gpus) {
        node.devices.push_back({.type = type,
                                .count = gpus.count,
                                .free = record.is_usable ? gpus.count - gpus.used : 0});
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  std::vector<QueuedGang> Queue() override {
    std::vector<QueuedGang> queue;
    absl::MutexLock lock(&mu_);
    for (const auto& [id, gang] : waiting_) {
      const JobView view = book_.ViewOf(id);
      if (!IsPending(view)) continue;  // It has begun since it was checked last.
      QueuedGang& entry = queue.emplace_back(gang);
      entry.start_by = view.ExpectedStart();
      if (!view.held.empty()) {
        entry.reason = view.held;
      } else if (!view.id.has_value()) {
        const std::string why = std::string(book_.Trouble().message());
        entry.reason = why.empty() ? "it is being submitted to Slurm" : why;
      } else if (!view.components.empty()) {
        entry.reason = ExplainWait(view.components.front().reason);
      }
    }
    std::ranges::sort(queue, {}, [](const QueuedGang& gang) {
      return std::tuple(-gang.priority, gang.queued, gang.id);
    });
    return queue;
  }

 private:
  // Whether the job is of an attempt in this shared folder that ended so long ago that nothing of it can be left to stop.
  bool IsSpent(const std::string& comment) const {
    if (!comment.starts_with(kComment + options_.shared + "/")) return false;
    const auto gang_end = ReadGangEnd(comment.substr(std::strlen(kComment)));
    return gang_end.ok() && gang_end->has_value() && clock_.Now() - (*gang_end)->time > kSpentAfter;
  }

  void Tell(const AttemptId& id) {
    absl::MutexLock lock(&mu_);
    if (changed_) changed_(id);
  }

  absl::StatusOr<Gang*> Find(const AttemptId& id) {
    const auto gang = gangs_.find(id);
    if (gang == gangs_.end()) {
      return NotFound("{} is neither placed nor adopted here", AttemptName(id));
    }
    return &gang->second;
  }

  BatchJob JobOf(const std::vector<ReplicaRequest>& replicas,
                 std::optional<absl::Duration> time_limit) const {
    BatchJob job{.time_limit = time_limit, .site = options_.site};
    for (auto& [role, component] : ComponentsByRole(replicas, options_.gpu_types)) {
      job.components.push_back(std::move(component));
    }
    return job;
  }

  void Submit(const AttemptId& id, const Gang& gang) {
    std::optional<absl::Duration> limit = gang.traits.time_limit;
    // Our own limit ends the gang first; Slurm's is there in case nobody looks any more.
    if (limit.has_value()) *limit += gang.grace + kOverdue;
    BatchJob job = JobOf(gang.request, limit);
    job.name = fmt::format("{}-{}", gang.study, id.trial.number.value());
    job.comment = kComment + gang.placed.directory;
    job.script = gang.placed.directory + kScriptFile;
    job.output = gang.placed.directory + "/slurm.log";
    job.directory = gang.placed.directory;
    job.listener = IsAlone(gang.request) ? Listener::kScript : Listener::kStep;
    book_.Submit(id, std::move(job), gang.placed.directory, /*may_be_there=*/gang.adopted);
    loop_->Wake();
  }

  Gang NewGang(const GangRequest& request, const PlacedGang& placed) const {
    Gang gang{.request = request.replicas,
              .placed = placed,
              .study = request.study,
              .queued = request.queued,
              .priority = request.priority,
              .traits = {.patience = options_.failed_replica_patience,
                         .settling = options_.failed_primary_settling,
                         .spread = options_.failure_spread},
              .replicas = std::vector<ReplicaObservation>(request.replicas.size())};
    for (const ReplicaPlacement& replica : placed.placement) {
      gang.traits.replicas.push_back({replica.role, replica.index});
    }
    return gang;
  }

  // Whether all files that Start writes before the gang's record are there: a power failure may have lost some.
  static bool IsComplete(const Gang& gang) {
    const std::string& folder = gang.placed.directory;
    const auto tasks = DecodeTasks(ReadWholeFile(folder + "/" + kTasksFile).value_or(""));
    bool is_complete = tasks.has_value() && tasks->size() == gang.request.size() &&
                       !ReadWholeFile(folder + kScriptFile).value_or("").empty();
    for (std::size_t i = 0; i < gang.request.size(); ++i) {
      const std::string program = ReplicaFolder(gang.placed, i) + "/" + kProgramFile;
      is_complete = is_complete && DecodeProgram(ReadWholeFile(program).value_or("")).has_value();
    }
    return is_complete;
  }

  static std::vector<GangTask> TasksOf(const Gang& gang) {
    std::vector<GangTask> tasks;
    for (std::size_t i = 0; i < gang.request.size(); ++i) {
      const ReplicaRequest& replica = gang.request[i];
      const ReplicaPlacement stand_in = jobs::StandIn(gang.placed.placement[i], i);
      tasks.push_back({.folder = ReplicaFolder(gang.placed, i),
                       .name = fmt::format("{} {}", replica.role, replica.index),
                       .host = stand_in.host,
                       .port = std::to_string(stand_in.port),
                       .gpus = replica.resources.gpus});
    }
    return tasks;
  }

  // The program without what holds on the daemon's host alone.
  static ReplicaProgram ForNode(ReplicaProgram program) {
    program.env.erase("CUDA_VISIBLE_DEVICES");  // Slurm says which.
    // The socket for reports is a file of the daemon's host, which no node reaches; `vernier report` writes a file.
    const std::string socket = program.env["VERNIER_ADDRESS"];
    program.env.erase("VERNIER_ADDRESS");
    program.env.erase("VERNIER_TOKEN");
    constexpr std::string_view kUnixAddress = "unix:";
    if (program.container.has_value() && socket.starts_with(kUnixAddress)) {
      std::erase(program.container->mounts,
                 fs::path(socket.substr(kUnixAddress.size())).parent_path().string());
    }
    return program;
  }

  // What the supervisor runs on the node: the program, or the client of the engine that runs its image.
  absl::StatusOr<SupervisedProgram> Supervised(const ReplicaProgram& program,
                                               const GangProgram& gang,
                                               std::size_t i,
                                               const std::string& folder) const {
    SupervisedProgram supervised;
    for (const std::string& variable : options_.environment) {
      const std::size_t at = variable.find('=');
      const std::string name = variable.substr(0, at);
      // Slurm's own, of a daemon that is itself a job, would tell the program of another job.
      if (name.starts_with("SLURM_") || name == "CUDA_VISIBLE_DEVICES") continue;
      supervised.env.emplace_back(name, variable.substr(at + 1));
    }
    std::error_code error;
    if (!program.container.has_value()) {
      supervised.argv = program.argv;
      supervised.env.insert(supervised.env.end(), program.env.begin(), program.env.end());
      supervised.directory = fs::absolute(program.directory, error).string();
      VERNIER_ASSIGN_OR_RETURN(supervised.secrets,
                               SecretFiles(program, options_.secrets_directory));
      return supervised;
    }
    if (options_.containers == nullptr) {
      return InvalidArgument("image '{}': nothing here runs images", program.container->image);
    }
    VERNIER_ASSIGN_OR_RETURN(const ContainerEngine engine, options_.containers->Engine());
    for (const std::string& mount : program.container->mounts) {
      VERNIER_RETURN_IF_ERROR(MakeFolder(mount));
    }
    // Which devices it gets is known on the node only; that it gets some is an option of the engine's client.
    const auto gpus = static_cast<std::size_t>(gangs_.at(gang.id).request[i].resources.gpus);
    const ContainerSite site{.folder = folder, .gpus = std::vector<std::string>(gpus), .share = {}};
    SupervisedProgram client = ContainerProgram(engine, program, site, {});
    client.env.insert(client.env.begin(), supervised.env.begin(), supervised.env.end());
    client.directory = folder;
    VERNIER_ASSIGN_OR_RETURN(client.secrets, SecretFiles(program, options_.secrets_directory));
    for (auto& [name, file] : client.secrets) name = ClientVariable(engine, name);
    return client;
  }

  absl::Status WriteReplica(const GangProgram& gang,
                            std::size_t i,
                            const std::string& folder) const {
    VERNIER_RETURN_IF_ERROR(MakeFolder(folder));
    std::error_code error;
    if (fs::exists(folder + "/" + kStartedFile, error)) return absl::OkStatus();
    const ReplicaProgram program = ForNode(gang.replicas[i]);
    VERNIER_ASSIGN_OR_RETURN(SupervisedProgram supervised, Supervised(program, gang, i, folder));
    VERNIER_RETURN_IF_ERROR(PrepareReplica(gang, program, folder, supervised));
    return WriteProgram(folder, supervised);
  }

  absl::Status Follow(const AttemptId& id, Gang& gang) {
    const absl::Time now = clock_.Now();
    const JobView view = book_.ViewOf(id);
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      if (IsDown(gang.replicas[i])) continue;
      ReplicaObservation seen = ObserveRecords(ReplicaFolder(gang.placed, i));
      // Records do not vanish while the job is there: a cache that is behind says so.
      if (seen.phase == Phase::kNotStarted && gang.replicas[i].phase != Phase::kNotStarted) {
        seen = gang.replicas[i];
      }
      ReadWords(ReplicaFolder(gang.placed, i), gang.replicas[i], seen);
      BoundTimes(gang.replicas[i], gang.looked, now, seen);
      gang.replicas[i] = std::move(seen);
    }
    gang.looked = now;
    NoteWaiting(id, gang, view);
    NoteJobEnd(gang, view, now);
    if (!gang.gang_end.has_value()) {
      std::optional<GangEnd> gang_end = WhyNotRun(view, now);
      if (!gang_end.has_value()) gang_end = Decide(gang.traits, gang.replicas, now);
      if (!gang_end.has_value()) return absl::OkStatus();
      if (gang_end->state == AttemptState::kLost) Explain(view, *gang_end);
      VERNIER_RETURN_IF_ERROR(Resolve(gang, *gang_end));
    }
    CarryOut(id, gang, now);
    return absl::OkStatus();
  }

  // How often the gang's files are looked at. One that waits in Slurm's queue has nothing new before Slurm says so, except
  // that the news takes as long as a look at the controller.
  absl::Duration LookInterval(const AttemptId& id, const Gang& gang) const {
    const bool waits = !gang.gang_end.has_value() && IsPending(book_.ViewOf(id));
    return waits ? options_.poll_interval : std::min(options_.poll_interval, kLookInterval);
  }

  // Whether the job waits, as far as is known: one that is not submitted yet does.
  static bool IsPending(const JobView& view) {
    if (view.components.empty()) return !view.IsOver();
    return view.components.front().state == JobState::kPending;
  }

  void NoteWaiting(const AttemptId& id, const Gang& gang, const JobView& view) {
    // A record of a replica is newer than what Slurm said last.
    const bool has_begun = std::ranges::any_of(gang.replicas, [](const ReplicaObservation& seen) {
      return seen.phase != Phase::kNotStarted;
    });
    const bool is_pending =
        gang.started && !gang.gang_end.has_value() && !has_begun && IsPending(view);
    absl::MutexLock lock(&mu_);
    if (!is_pending) {
      waiting_.erase(id);
    } else if (!waiting_.contains(id)) {
      waiting_[id] = {.id = id,
                      .study = gang.study,
                      .priority = gang.priority,
                      .queued = gang.queued,
                      .needs = NeedsText(gang.request),
                      .reason = {},
                      .start_by = std::nullopt};
    }
  }

  static std::string NeedsText(const std::vector<ReplicaRequest>& replicas) {
    double cpus = 0;
    std::int64_t memory = 0;
    std::int64_t gpus = 0;
    for (const ReplicaRequest& replica : replicas) {
      cpus += replica.resources.cpus;
      memory += replica.resources.memory_bytes;
      gpus += replica.resources.gpus;
    }
    std::string text = fmt::format("{} task{}", replicas.size(), replicas.size() == 1 ? "" : "s");
    if (cpus > 0) text += fmt::format(", {} cpus", cpus);
    if (memory > 0) text += fmt::format(", {} of memory", FormatByteSize(memory));
    if (gpus > 0) text += fmt::format(", {} gpu{}", gpus, gpus == 1 ? "" : "s");
    return text;
  }

  // Once the job is over, and its records have had time to become visible, replicas without one are gone.
  void NoteJobEnd(Gang& gang, const JobView& view, absl::Time now) const {
    if (!view.IsOver()) return gang.over.reset();
    if (!gang.over.has_value()) gang.over = now;
    if (now - *gang.over < options_.lag) return;
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      ReplicaObservation& replica = gang.replicas[i];
      if (IsDown(replica)) continue;
      if (replica.phase == Phase::kNotStarted && !Fence(ReplicaFolder(gang.placed, i))) continue;
      replica.phase = Phase::kGone;
    }
  }

  // Why Slurm does not run the gang, and never will.
  static std::optional<GangEnd> WhyNotRun(const JobView& view, absl::Time now) {
    if (!view.refused.ok()) {
      return GangEnd{.state = AttemptState::kFailed,
                     .failure = FailureClass::kUserError,
                     .message = std::string(view.refused.message()),
                     .time = now};
    }
    for (const JobRecord& job : view.components) {
      std::optional<std::string> never = WhyNever(job);
      if (!never.has_value()) continue;
      return GangEnd{.state = AttemptState::kFailed,
                     .failure = FailureClass::kUserError,
                     .message = *std::move(never),
                     .time = now};
    }
    return std::nullopt;
  }

  static void Explain(const JobView& view, GangEnd& gang_end) {
    Outcome outcome = ExplainEnd(view.components);
    if (outcome.failure != FailureClass::kNodeLost) gang_end.state = AttemptState::kFailed;
    gang_end.failure = outcome.failure;
    gang_end.transient = outcome.transient;
    gang_end.message = std::move(outcome.message);
  }

  static void ReadWords(const std::string& folder,
                        const ReplicaObservation& before,
                        ReplicaObservation& seen) {
    if (seen.phase != Phase::kEnded || before.phase == Phase::kEnded) return;
    seen.words = ReadLastWords(folder, seen.started, absl::InfiniteFuture());
  }

  static absl::Status Resolve(Gang& gang, const GangEnd& gang_end) {
    VERNIER_RETURN_IF_ERROR(WriteGangEnd(gang.placed.directory, gang_end));
    gang.gang_end = gang_end;
    return absl::OkStatus();
  }

  void CarryOut(const AttemptId& id, Gang& gang, absl::Time now) {
    bool runs = false;
    for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
      ReplicaObservation& replica = gang.replicas[i];
      if (replica.phase == Phase::kNotStarted && Fence(ReplicaFolder(gang.placed, i))) {
        replica.phase = Phase::kGone;
      }
      runs = runs || !IsDown(replica);
    }
    if (!runs) {
      const bool all_ended = std::ranges::all_of(gang.replicas, [](const ReplicaObservation& seen) {
        return seen.phase == Phase::kEnded;
      });
      if (all_ended) return book_.Retire(id);
      book_.Cancel(id);
      loop_->Wake();
      return;
    }
    if (gang.told.has_value() && now - *gang.told < kTellInterval) return;
    gang.told = now;
    if (now - gang.gang_end->time > gang.grace + kOverdue) {
      book_.Cancel(id);
    } else {
      book_.Stop(id);
    }
    loop_->Wake();
  }

  const SlurmLauncherOptions options_;
  const Clock& clock_;
  mutable JobBook book_;
  std::map<AttemptId, Gang> gangs_;
  mutable absl::Mutex mu_;
  std::function<void(const AttemptId& id)> changed_ ABSL_GUARDED_BY(mu_);
  std::map<AttemptId, QueuedGang> waiting_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<base::BackgroundLoop> loop_;  // Last: it uses the others.
};

// The supervisor's copy in the shared folder, named by its content, so that a newer one does not replace it under the
// feet of running gangs.
absl::StatusOr<std::string> ShareSupervisor(const std::string& supervisor,
                                            const std::string& shared) {
  const std::optional<std::string> program =
      ReadWholeFile(supervisor, std::int64_t{256} << 20, OpenFile::Link::kFollow);
  if (!program.has_value()) {
    return NotFound("supervisor '{}' cannot be read: {}", supervisor, std::strerror(errno));
  }
  base::Sha256 hash;
  hash.Add(*program);
  const std::string folder = shared + "/.vernier";
  VERNIER_RETURN_IF_ERROR(MakeFolder(folder));
  std::string copy = fmt::format("{}/supervisor-{}", folder, hash.Hex().substr(0, 16));
  std::error_code error;
  if (!fs::exists(copy, error)) {
    const std::string temporary = fmt::format("{}.{}", copy, getpid());
    if (!ReplaceFile(temporary, *program, /*durable=*/true) ||
        chmod(temporary.c_str(), 0700) != 0 || rename(temporary.c_str(), copy.c_str()) != 0) {
      return NotWritten("cannot write", copy, errno);
    }
  }
  if (!ReplaceFile(shared + kTestScript, "#!/bin/sh\n", /*durable=*/false)) {
    return NotWritten("cannot write to", folder, errno);
  }
  return copy;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Launcher>> NewSlurmLauncher(SlurmLauncherOptions options,
                                                           std::unique_ptr<Slurm> slurm,
                                                           const Clock& clock) {
  if (options.shared.empty()) return InvalidArgument("shared: must not be empty");
  if (!options.shared.starts_with('/')) {
    return InvalidArgument("shared: must be an absolute path, got '{}'", options.shared);
  }
  VERNIER_RETURN_IF_ERROR(MakeFolder(options.shared));
  if (options.supervisor.empty()) {
    VERNIER_ASSIGN_OR_RETURN(options.supervisor, FindSupervisor());
  }
  VERNIER_ASSIGN_OR_RETURN(options.supervisor, ShareSupervisor(options.supervisor, options.shared));
  return std::unique_ptr<Launcher>(
      std::make_unique<SlurmLauncher>(std::move(options), std::move(slurm), clock));
}

}  // namespace vernier::launch::slurm
