// The engine is only ever called from the loop's thread, so it needs no locks (ADR 33). Other threads set `wanted_` and
// the due time under `mu_`, and read copies of the troubles. Delays and lengths of steps are recorded here for `server
// status` and for health checks.

#include "src/app/keeper.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/job_directory.h"
#include "src/app/job_files.h"
#include "src/app/paths.h"
#include "src/base/log.h"
#include "src/codec/input_paths.h"
#include "src/jobs/layout.h"
#include "src/jobs/resolution.h"
#include "src/launch/cluster_launcher.h"
#include "src/launch/host_launcher.h"
#include "vernier/core/error.h"
#include "vernier/metric_reader.h"

namespace vernier::app {
namespace {

// Longest pause between steps, hence the longest time that an expired lease may stay. A choice.
constexpr absl::Duration kLongestPause = absl::Seconds(1);

launch::ProcessLauncherOptions LauncherOptions(const ServerOptions& options) {
  return {.runs_directory = RunsDirectory(options.store, options.runs_directory),
          .supervisor = options.supervisor,
          .environment = launch::OwnEnvironment(options.inherit_env),
          .secrets_directory = SecretsDirectory(),
          .cpus = options.cpus,
          .memory_bytes = options.memory_bytes,
          .gpus = options.gpus,
          .detect_gpus = options.detect_gpus,
          .fitting = options.fitting,
          .first_port = options.first_port,
          .unmanaged = options.unmanaged,
          .control_group = options.control_group,
          .disk_reserve = options.disk_reserve,
          .store_directory = StoreDirectory(options.store),
          .disk_probe = options.disk_probe,
          .containers = nullptr};
}

// The working directory of jobs that give none.
std::string WorkingDirectory() {
  std::error_code error;
  const auto current = std::filesystem::current_path(error);
  return error ? EngineOptions().working_directory : current.string();
}

EngineOptions MakeEngineOptions(Keeper::Reporting reporting, MetricReaderFactory metrics) {
  EngineOptions options;
  options.reporting = std::move(reporting);
  options.metrics = metrics != nullptr ? std::move(metrics) : NewMetricReader;
  options.working_directory = WorkingDirectory();
  return options;
}

// Checks that the name is one of those configured; without any, every name is allowed.
absl::Status CheckName(std::string_view kind,
                       const std::string& name,
                       const std::vector<std::string>& known,
                       std::string_view path) {
  // An empty name: the job names none, and gets the server's default.
  if (name.empty() || known.empty() || std::ranges::count(known, name) > 0) {
    return absl::OkStatus();
  }
  return FieldError(path,
                    fmt::format("unknown {} '{}'; known: {}", kind, name, fmt::join(known, ", ")));
}

absl::Status CheckNames(const TrainingJob& job, const ServerOptions& options) {
  std::vector<std::string> runtimes;
  for (const auto& [name, runtime] : options.runtimes) runtimes.push_back(name);
  std::vector<std::string> regions;
  for (const auto& [name, cluster] : options.regions) regions.push_back(name);
  if (job.input.has_value()) {
    VERNIER_RETURN_IF_ERROR(
        CheckName("runtime", job.input->runtime_version, runtimes, "trainingInput.runtimeVersion"));
    return CheckName("region", job.input->region, regions, "trainingInput.region");
  }
  std::vector<std::string> clusters = {launch::kLocalCluster};
  for (const auto& [name, cluster] : options.clusters) clusters.push_back(name);
  // Without clusters, say so rather than list the one name that is known.
  if (clusters.size() == 1 && !job.cluster.empty() && job.cluster != launch::kLocalCluster) {
    return FieldError("cluster",
                      fmt::format("unknown cluster '{}'; name a configuration that has it with "
                                  "--config",
                                  job.cluster));
  }
  VERNIER_RETURN_IF_ERROR(CheckName("cluster", job.cluster, clusters, "cluster"));
  if (job.python.has_value()) {
    VERNIER_RETURN_IF_ERROR(
        CheckName("runtime", job.python->runtime, runtimes, "job.python.runtime"));
  }
  return CheckName("region", job.region, regions, "job.region");
}

// Gives a job that names no cluster that of its region, or else the configuration's, on a server with several clusters. It is
// stored with the study: another configuration later must not move its trials.
absl::Status TakeCluster(const ServerOptions& options, TrainingJob& job) {
  const std::string& name = job.input.has_value() ? job.input->region : job.region;
  const auto region = options.regions.find(name);
  // A region may come without its cluster; the two must agree if both are given.
  if (options.clusters.empty()) return absl::OkStatus();
  if (region == options.regions.end()) {
    if (job.cluster.empty()) job.cluster = options.cluster;
    return absl::OkStatus();
  }
  if (job.cluster.empty()) job.cluster = region->second;
  if (job.cluster == region->second) return absl::OkStatus();
  return FieldError(
      "cluster",
      fmt::format(
          "region '{}' is on cluster '{}', not on '{}'", name, region->second, job.cluster));
}

// The studies that the engine could not move, and those that cannot be read.
std::vector<StudyTrouble> TroublesOf(const Engine* engine,
                                     const StudyReader& studies,
                                     absl::Time now) {
  std::vector<StudyTrouble> troubles;
  // Without an engine nothing is moved, so only damage is a trouble.
  if (engine != nullptr) troubles = engine->troubles();
  for (DamagedStudy& damaged : studies.DamagedStudies()) {
    // Damage explains why the engine could not move the study.
    std::erase_if(troubles, [&](const StudyTrouble& known) { return known.study == damaged.id; });
    troubles.push_back({.study = damaged.id,
                        .name = std::move(damaged.name),
                        .error = std::move(damaged.error),
                        .since = damaged.since,
                        .next_try = now});
  }
  std::ranges::sort(troubles, {}, &StudyTrouble::study);
  return troubles;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Keeper>> Keeper::Start(Studies& studies,
                                                      const Clock& clock,
                                                      const ServerOptions& options,
                                                      Reporting reporting) {
  // Not make_unique: the constructor is private.
  std::unique_ptr<Keeper> keeper(new Keeper(studies, clock, options));
  if (options.run_engine) VERNIER_RETURN_IF_ERROR(keeper->StartEngine(std::move(reporting)));
  // The loop is started under the lock and last: Wake may already be called by tasks of the engine.
  absl::MutexLock lock(&keeper->mu_);
  keeper->loop_ =
      std::make_unique<base::BackgroundLoop>([self = keeper.get()] { return self->Step(); });
  return keeper;
}

Keeper::~Keeper() {
  Stop();
  // Tasks that it abandons still call back, so destroy it while the other members exist.
  engine_.reset();
}

absl::StatusOr<std::unique_ptr<Launcher>> Keeper::NewLauncher() {
  if (options_.launcher != nullptr) return options_.launcher(clock_);
  launch::ContainerHostOptions containers = options_.containers;
  containers.images_directory =
      launch::ImagesDirectory(RunsDirectory(options_.store, options_.runs_directory));
  // Stored by cluster, since PrepareJob asks whether an image could run there.
  containers_[launch::kLocalCluster] =
      std::make_shared<launch::ContainerHost>(std::move(containers));
  VERNIER_ASSIGN_OR_RETURN(
      std::unique_ptr<Launcher> host,
      launch::NewHostLauncher({.processes = LauncherOptions(options_),
                               .containers = containers_[launch::kLocalCluster],
                               .runtimes = options_.runtimes,
                               .executor = &threads_},
                              clock_));
  // Also if this host is the only one: a stored study may name a cluster that the configuration no longer has.
  std::map<std::string, std::unique_ptr<Launcher>> clusters;
  clusters[launch::kLocalCluster] = std::move(host);
  for (const auto& [name, cluster] : options_.clusters) {
    containers_[name] = launch::slurm::ContainersOf(cluster);
    absl::StatusOr<std::unique_ptr<Launcher>> launcher =
        launch::slurm::NewClusterOf(cluster,
                                    {.supervisor = options_.supervisor,
                                     .environment = launch::OwnEnvironment(options_.inherit_env),
                                     .secrets_directory = SecretsDirectory(),
                                     .containers = containers_[name],
                                     .runtimes = options_.runtimes,
                                     .executor = &threads_},
                                    clock_);
    if (!launcher.ok()) {
      return absl::Status(
          launcher.status().code(),
          fmt::format("clusters.{}: {}", name, std::string(launcher.status().message())));
    }
    clusters[name] = *std::move(launcher);
  }
  return launch::NewClusterLauncher(std::move(clusters), options_.cluster);
}

absl::Status Keeper::StartEngine(Reporting reporting) {
  VERNIER_ASSIGN_OR_RETURN(launcher_, NewLauncher());
  EngineOptions engine = MakeEngineOptions(std::move(reporting), options_.metrics);
  engine.executor = &threads_;
  engine.wake = [this] { Wake(); };
  // The foreground run of one study: trials of others start only once a client wants them (ADR 31).
  if (!options_.run_every_study) {
    engine.runs = [this](const std::string& study) {
      absl::MutexLock lock(&mu_);
      return wanted_.contains(study);
    };
  }
  engine_ = Engine::Create(studies_, *launcher_, clock_, std::move(engine));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Node>> Keeper::Nodes() {
  if (launcher_ != nullptr) return launcher_->Nodes();
  VERNIER_ASSIGN_OR_RETURN(Node host, launch::DescribeHost(LauncherOptions(options_), clock_));
  return std::vector<Node>{std::move(host)};
}

std::vector<QueuedGang> Keeper::Queue() {
  return launcher_ == nullptr ? std::vector<QueuedGang>() : launcher_->Queue();
}

std::string Keeper::WhyHeld() {
  return launcher_ == nullptr ? std::string() : launcher_->WhyHeld();
}

absl::StatusOr<StudySpec> Keeper::PrepareJob(StudySpec spec) const {
  // In this order: names that the server does not know, errors of the definition, what this host cannot run. Files come
  // last, since that check makes the job's directory.
  if (options_.metrics == nullptr) VERNIER_RETURN_IF_ERROR(ValidateMetricSources(spec));
  if (!spec.job.has_value()) return spec;
  VERNIER_RETURN_IF_ERROR(CheckNames(*spec.job, options_));
  VERNIER_RETURN_IF_ERROR(TakeCluster(options_, *spec.job));
  // The stored job says what each replica takes, so that a later change of the catalogue does not change the study.
  VERNIER_ASSIGN_OR_RETURN(
      spec.job,
      jobs::Resolve(*std::move(spec.job),
                    options_.machines ? *options_.machines : jobs::StandardCatalogue()));
  VERNIER_RETURN_IF_ERROR(codec::InWordsOfInput(Validate(spec), spec));
  VERNIER_RETURN_IF_ERROR(codec::InWordsOfInput(jobs::ValidateJob(spec), spec));
  if (launcher_ == nullptr) return spec;
  VERNIER_RETURN_IF_ERROR(CheckEngine(*spec.job));
  const absl::Status fits = launcher_->CheckFits(jobs::MakeGangRequest({}, spec));
  if (!fits.ok()) {
    return FieldError(spec.job->input.has_value() ? "trainingInput" : "job.replicas",
                      std::string(fits.message()));
  }
  if (options_.launcher != nullptr) return spec;  // Its files are not on this host.
  VERNIER_RETURN_IF_ERROR(
      codec::InWordsOfInput(CheckJobFiles(WorkingDirectory(), *spec.job), spec));
  VERNIER_RETURN_IF_ERROR(CheckJobDirectory(*spec.job, WorkingDirectory()));
  return spec;
}

absl::Status Keeper::CheckEngine(const TrainingJob& job) const {
  const auto containers = containers_.find(job.cluster.empty() ? options_.cluster : job.cluster);
  if (job.image.empty() || containers == containers_.end()) return absl::OkStatus();
  const absl::Status engine = containers->second->Engine().status();
  if (engine.ok()) return absl::OkStatus();
  return FieldError(job.input.has_value() ? "trainingInput.masterConfig.imageUri" : "job.image",
                    std::string(engine.message()));
}

absl::StatusOr<absl::Duration> Keeper::Move() {
  if (engine_ != nullptr) return engine_->Step();
  VERNIER_RETURN_IF_ERROR(studies_.Tick().status());
  return kLongestPause;
}

service::LoopTimes Keeper::Times() const {
  const absl::Time now = clock_.Now();
  return {.steps = steps_.Of(now), .delays = delays_.Of(now)};
}

absl::Duration Keeper::Lateness() const {
  const absl::Time now = clock_.Now();
  absl::MutexLock lock(&mu_);
  // An infinite time means "nothing due" or "no step running", which makes the difference negative.
  return std::max(now - std::min(due_, begun_), absl::ZeroDuration());
}

absl::Duration Keeper::Step() {
  {
    absl::MutexLock lock(&mu_);
    begun_ = clock_.Now();
    // Cleared before the step: a Wake during it sets the due time of the next one.
    const absl::Time due = std::exchange(due_, absl::InfiniteFuture());
    if (due <= begun_) delays_.Add(begun_, begun_ - due);
  }
  const absl::Duration pause = TakeStep();
  absl::MutexLock lock(&mu_);
  begun_ = absl::InfiniteFuture();
  due_ = std::min(due_, clock_.Now() + pause);
  return pause;
}

absl::Duration Keeper::TakeStep() {
  const Timed timed(steps_, clock_);
  const auto pause = Move();
  const std::string trouble = pause.ok() ? std::string() : pause.status().ToString();
  // Once for each kind of trouble: the loop comes here every second.
  if (!trouble.empty() && trouble != trouble_) {
    base::Log(base::LogLevel::kError, "studies do not move", {{"error", trouble}});
  }
  if (trouble.empty() && !trouble_.empty()) {
    base::Log(base::LogLevel::kInfo, "studies move again", {});
  }
  trouble_ = trouble;
  KeepTroubles();
  return pause.ok() ? std::min(*pause, kLongestPause) : kLongestPause;
}

void Keeper::KeepTroubles() {
  std::vector<StudyTrouble> troubles = TroublesOf(engine_.get(), studies_, clock_.Now());
  std::map<StudyId, std::string> stuck;
  for (const StudyTrouble& trouble : troubles) {
    stuck.emplace(trouble.study, trouble.name);
    // Without an engine, the command that asks shows it.
    if (engine_ == nullptr || stuck_.contains(trouble.study)) continue;
    base::Log(base::LogLevel::kError,
              "a study does not move",
              {{"study", trouble.name}, {"error", trouble.error.ToString()}});
  }
  for (const auto& [id, name] : stuck_) {
    if (stuck.contains(id)) continue;
    base::Log(base::LogLevel::kInfo, "a study moves again", {{"study", name}});
  }
  stuck_ = std::move(stuck);
  // Only the copy is guarded: the rest is of the loop's thread.
  absl::MutexLock lock(&mu_);
  troubles_ = std::move(troubles);
}

std::vector<StudyTrouble> Keeper::Troubles() const {
  absl::MutexLock lock(&mu_);
  return troubles_;
}

void Keeper::Want(const std::string& study) {
  {
    absl::MutexLock lock(&mu_);
    wanted_.insert(study);
  }
  // After the name is in place, so that the step that follows sees it.
  Wake();
}

void Keeper::Wake() {
  absl::MutexLock lock(&mu_);
  due_ = std::min(due_, clock_.Now());
  // Null while the loop is not started, or is stopping.
  if (loop_ != nullptr) loop_->Wake();
}

void Keeper::Stop() {
  std::unique_ptr<base::BackgroundLoop> loop;
  {
    absl::MutexLock lock(&mu_);
    loop = std::move(loop_);
  }
  // Destroying the loop waits for the current step; not under the lock, since a call may wake the loop meanwhile.
  loop.reset();
}

}  // namespace vernier::app
