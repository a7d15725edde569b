// Order of a start, and why:
//
//   OpenStore       takes the lock of the store before SQLite opens it: a second process must fail before it reads
//   MakeServices    takes the lock of the folder of runs and reads the secret of attempts' tokens, which services check
//   StartReporting  listens for reports before the engine starts, so that programs always find an answer
//   StartKeeper     starts the engine, which adopts running attempts
//   StartServing    opens the addresses, and only then writes them into the store's owner file
//
// A shutdown goes the other way: watchers, then calls (streams end by their stop tokens), then the gRPC servers, then
// the engine. Members are destroyed in reverse order of declaration, so that each may use those above it. Replicas are
// not stopped: they belong to their supervisors, and the next server adopts them.

#include "src/app/server.h"

#include <malloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "fmt/format.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "src/app/access.h"
#include "src/app/attempt_logs.h"
#include "src/app/clean_up.h"
#include "src/app/job_directory.h"
#include "src/app/keeper.h"
#include "src/app/listen_address.h"
#include "src/app/paths.h"
#include "src/app/reporting.h"
#include "src/app/store_watch.h"
#include "src/base/access_token.h"
#include "src/base/background_thread.h"
#include "src/base/files.h"
#include "src/base/log.h"
#include "src/base/private_folder.h"
#include "src/core/status.h"
#include "src/service/call_watch.h"
#include "src/service/cluster_service.h"
#include "src/service/report_service.h"
#include "src/service/study_service.h"
#include "src/service/vizier/vizier_service.h"
#include "src/wire/channel.h"
#include "vernier/core/clock.h"
#include "vernier/core/limits.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::app {
namespace {

// The folders with attempts, environments and images: this host's, and those that nodes of clusters share.
std::vector<std::string> RunsFolders(const ServerOptions& options) {
  std::vector<std::string> folders = {RunsDirectory(options.store, options.runs_directory)};
  for (const auto& [name, cluster] : options.clusters) folders.push_back(cluster.shared);
  return folders;
}

// Says which cluster's folder it was.
absl::Status WithCluster(const std::string& folder,
                         const ServerOptions& options,
                         const absl::Status& status) {
  for (const auto& [name, cluster] : options.clusters) {
    if (cluster.shared != folder) continue;
    return absl::Status(
        status.code(),
        fmt::format("clusters.{}.slurm.shared: {}", name, std::string(status.message())));
  }
  return status;
}

// Time that a shutdown gives calls that ignore their stop token, and connections: an idle client does not notice the
// end of the server. A choice: long enough for a call that is being written to disk.
constexpr absl::Duration kShutdownPatience = absl::Seconds(1);
// An engine loop whose step takes this long, or is this late, counts as stuck in health checks. A choice: steps take
// milliseconds, as the engine waits for nothing (docs/adr/0033-long-work-off-the-engine-thread.md).
constexpr absl::Duration kStuck = absl::Seconds(10);
// Pause between returns of free memory to the system: glibc keeps freed memory, and studies leave memory as they finish
// (Invariant 8). A choice.
constexpr absl::Duration kTrimPause = absl::Minutes(1);
// Time from the start to the first clean-up, and between clean-ups. Choices: after the start has settled; an hour is
// the least age of what is removed.
constexpr absl::Duration kFirstCleanUp = absl::Minutes(1);
constexpr absl::Duration kCleanUpPause = absl::Hours(1);

absl::StatusOr<std::unique_ptr<Storage>> OpenStorage(const std::string& store) {
  if (store == kInMemory) return NewMemoryStorage();
  return OpenSqliteStorage({.path = store});
}

// Once per process: gRPC keeps its plugins in a global list.
void EnableHealthAndReflection() {
  [[maybe_unused]] static const bool once = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
}

// Keeps up to 16 threads that wait for calls: ending one and starting another costs more than most calls. One
// completion queue serves them all. The numbers are choices.
void LimitThreads(grpc::ServerBuilder& builder) {
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 16);
}

std::string TokenFile(const ServerOptions& options) {
  return Absolute(options.token_file.empty() ? base::TokenPath() : options.token_file);
}

// The credentials that calls to the address need: none on a unix socket, whose file permissions decide.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsFor(
    const std::string& address, const ServerOptions& options) {
  // A socket file is for its owner. An abstract socket has no file, so it needs a token.
  if (SocketPathOf(address).has_value() || options.open) return grpc::InsecureServerCredentials();
  const std::string file = TokenFile(options);
  VERNIER_ASSIGN_OR_RETURN(std::string token, base::LoadOrMakeToken(file));
  return RequireToken(std::move(token), file);
}

// The address of a socket as clients in other folders must write it.
std::string FromAnywhere(const std::string& address) {
  std::error_code error;
  const auto path = std::filesystem::absolute(*SocketPathOf(address), error);
  return error ? address : "unix:" + path.string();
}

absl::Status PrepareSocket(const std::string& path, const std::string& store) {
  // Only for the default path is the folder ours to make and protect.
  if (path == DefaultSocket(store)) VERNIER_RETURN_IF_ERROR(PrepareDefaultSocket(store));
  return ClearSocket(path);
}

// The disks of the store and of the runs; one entry if they share a disk.
std::vector<service::DiskUse> DisksOf(const ServerOptions& options) {
  std::vector<service::DiskUse> disks;
  const auto add = [&](const std::string& user, const std::string& folder) {
    if (folder.empty()) return;
    const std::string path = NearestExisting(folder).string();
    struct stat status {};
    const auto space = launch::ProbeDisk(path);
    if (!space.has_value() || stat(path.c_str(), &status) != 0) return;
    for (service::DiskUse& known : disks) {
      struct stat other {};
      if (stat(known.path.c_str(), &other) != 0 || other.st_dev != status.st_dev) continue;
      return known.users.push_back(user);
    }
    disks.push_back({.users = {user},
                     .path = path,
                     .free_bytes = space->free_bytes,
                     .total_bytes = space->total_bytes});
  };
  add("store", StoreDirectory(options.store));
  add("runs", RunsDirectory(options.store, options.runs_directory));
  return disks;
}

void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class ServerImpl final : public Server, private service::ServerState {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  ~ServerImpl() override { Shutdown(); }

  std::vector<std::string> addresses() const override { return addresses_; }

  std::shared_ptr<grpc::Channel> InProcessChannel() override {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    return server_->InProcessChannel(arguments);
  }

  void Shutdown() override;

 private:
  absl::Status OpenStore(const ServerOptions& options);
  absl::Status MakeServices(const ServerOptions& options);
  // Starts listening for reports from programs of attempts.
  absl::Status StartReporting(const ServerOptions& options);
  absl::Status LockRuns(const std::string& runs);
  absl::Status ListenForReports();
  absl::Status StartKeeper(const ServerOptions& options);
  absl::Status StartServing(const ServerOptions& options);
  // Writes into the store's owner file how to reach this server.
  absl::Status Publish(const ServerOptions& options);
  void WatchStore(const ServerOptions& options);
  // Reports the state of the engine and of the disks to health checks, and checks the sockets.
  void WatchHealth();
  void StartTrimmer();
  // Handles removed sockets: the one for reports is made again; for others, which cannot be, the log says so.
  void LookAfterSockets();
  void CleanUpAtTimes(const service::CleanUpRule& rule, const std::stop_token& stop);

  std::vector<StudyTrouble> Troubles() const override { return keeper_->Troubles(); }
  std::string WhyHeld() override { return keeper_->WhyHeld(); }
  service::LoopTimes Loop() const override { return keeper_->Times(); }
  std::vector<service::DiskUse> Disks() const override { return DisksOf(options_); }
  absl::StatusOr<service::CleanUpReport> CleanUp(const service::CleanUpRule& rule,
                                                 std::stop_token stop) override;

  ServerOptions options_;
  // In the order of construction: each uses those before it.
  const std::unique_ptr<Clock> clock_ = NewRealClock();
  std::unique_ptr<StoreLock> lock_;
  std::optional<base::FileLock> runs_lock_;  // Set if there is an engine.
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Studies> studies_;
  std::unique_ptr<Keeper> keeper_;
  const std::unique_ptr<service::LogSource> logs_ = NewAttemptLogs();
  service::CallWatch calls_;
  service::CallIds call_ids_{clock_->Now()};
  std::unique_ptr<base::BackgroundThread> watcher_;
  std::unique_ptr<service::AttemptTokens> tokens_;  // Null without an engine.
  std::unique_ptr<service::StudyServiceImpl> service_;
  std::unique_ptr<service::ReportService> report_service_;
  std::unique_ptr<service::ClusterServiceImpl> cluster_;
  std::unique_ptr<vizier::VizierServiceImpl> vizier_;
  std::unique_ptr<grpc::Server> reports_;
  std::string report_address_;  // Address of reports_. Never changes once set.
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> addresses_;
  std::unique_ptr<StoreWatch> store_watch_;  // Null: the store is in memory.
  std::set<std::string> gone_;               // Sockets reported as gone; used by the loop only.
  std::unique_ptr<base::BackgroundLoop> health_watch_;
  std::unique_ptr<base::BackgroundLoop> trimmer_;
  absl::Mutex cleaning_;  // One clean-up at a time.
  std::unique_ptr<base::BackgroundThread> cleaner_;
};

// Jobs run without it, and their metrics are read as usual.
void LogNoReports(const absl::Status& why) {
  base::Log(base::LogLevel::kWarning, "programs cannot report", {{"error", why.ToString()}});
}

// Removes the access of others to the store: it may have been copied here, or made by an older version.
void CloseToOthers(const std::string& store) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string path = store + suffix;
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || (status.st_mode & 077) == 0) continue;
    if (chmod(path.c_str(), status.st_mode & 0700) != 0) {
      base::Log(base::LogLevel::kWarning, "others can read the store", {{"file", path}});
    }
  }
}

absl::Status ServerImpl::OpenStore(const ServerOptions& options) {
  if (options.store.empty()) return FieldError("store", "must not be empty");
  if (options.store != kInMemory) {
    VERNIER_RETURN_IF_ERROR(CreateStoreFolder(options.store));
    VERNIER_ASSIGN_OR_RETURN(lock_, StoreLock::Acquire(options.store, options.patience));
    CloseToOthers(options.store);
  }
  VERNIER_ASSIGN_OR_RETURN(storage_, OpenStorage(options.store));
  studies_ = Studies::Create(*storage_, *clock_, options.algorithms);
  return absl::OkStatus();
}

absl::Status ServerImpl::StartKeeper(const ServerOptions& options) {
  Keeper::Reporting reporting;
  // Also if the socket could not be listened on: it is made again later (LookAfterSockets).
  if (!report_address_.empty()) {
    reporting = [this](const StudySpec& spec, const AttemptId& id) {
      return AccessOf(report_address_, *tokens_, spec, id);
    };
  }
  VERNIER_ASSIGN_OR_RETURN(keeper_,
                           Keeper::Start(*studies_, *clock_, options, std::move(reporting)));
  return absl::OkStatus();
}

absl::Status ServerImpl::StartReporting(const ServerOptions& options) {
  if (!options.run_engine) return absl::OkStatus();
  if (options.store != kInMemory) {
    for (const std::string& folder : RunsFolders(options)) {
      const absl::Status claimed = ClaimRuns(folder, options.store);
      if (!claimed.ok()) return WithCluster(folder, options, claimed);
    }
  }
  report_service_ = std::make_unique<service::ReportService>(*service_);
  // A socket that cannot be listened on is no reason to refuse the start: see LogNoReports.
  absl::Status listening = ListenForReports();
  if (absl::IsUnavailable(listening) && !report_address_.empty()) {
    LogNoReports(listening);
    return absl::OkStatus();
  }
  return listening;
}

// Two servers in one folder of runs would use the same report socket and secret.
absl::Status ServerImpl::LockRuns(const std::string& runs) {
  base::MakePrivateFolders(runs);
  VERNIER_ASSIGN_OR_RETURN(runs_lock_, base::FileLock::Acquire(runs + "/.lock"));
  if (runs_lock_.has_value()) return absl::OkStatus();
  return Unavailable(
      "the server of another store keeps its runs in '{}': choose another folder (--runs)", runs);
}

absl::Status ServerImpl::ListenForReports() {
  const std::string runs = RunsDirectory(options_.store, options_.runs_directory);
  VERNIER_ASSIGN_OR_RETURN(const std::string socket, PrepareReportSocket(runs));
  const std::string address = "unix:" + socket;
  // Written once only: the engine's thread reads it.
  if (report_address_ != address) report_address_ = address;
  grpc::ServerBuilder builder;
  builder.RegisterService(report_service_.get());
  LimitThreads(builder);
  // Insecure: the socket is for its owner only, and each report shows a token.
  builder.AddListeningPort(report_address_, grpc::InsecureServerCredentials());
  {
    const PrivateUmask for_socket;
    reports_ = builder.BuildAndStart();
  }
  if (reports_ == nullptr) return Unavailable("socket '{}' cannot be listened on", socket);
  return absl::OkStatus();
}

absl::Status ServerImpl::MakeServices(const ServerOptions& options) {
  if (options.run_engine) {
    const std::string runs = RunsDirectory(options.store, options.runs_directory);
    VERNIER_RETURN_IF_ERROR(LockRuns(runs));
    VERNIER_ASSIGN_OR_RETURN(std::string secret, LoadTokenSecret(runs));
    tokens_ = std::make_unique<service::AttemptTokens>(std::move(secret));
  }
  service_ = std::make_unique<service::StudyServiceImpl>(service::ServiceParts{
      .studies = *studies_,
      .logs = *logs_,
      .server = *this,
      .clock = *clock_,
      .calls = calls_,
      .call_ids = call_ids_,
      .changed = [this] { keeper_->Wake(); },
      .wanted = [this](const std::string& study) { keeper_->Want(study); },
      .prepare_job = [this](StudySpec spec) { return keeper_->PrepareJob(std::move(spec)); },
      .packages_directory = RunsDirectory(options.store, options.runs_directory) + "/.packages",
      .version = VERNIER_VERSION,
      .store = Absolute(options.store),
      .tokens = tokens_.get()});
  return absl::OkStatus();
}

absl::Status ServerImpl::StartServing(const ServerOptions& options) {
  cluster_ = std::make_unique<service::ClusterServiceImpl>(*keeper_);
  vizier_ = std::make_unique<vizier::VizierServiceImpl>(
      vizier::ServiceParts{.studies = *studies_,
                           .clock = *clock_,
                           .calls = calls_,
                           .call_ids = call_ids_,
                           .changed = [this] { keeper_->Wake(); }});
  watcher_ = std::make_unique<base::BackgroundThread>(
      [this](const std::stop_token& stop) { calls_.Run(stop); });

  grpc::ServerBuilder builder;
  // The report service is not among these: it has a server of its own, whose socket programs see.
  builder.RegisterService(service_.get());
  builder.RegisterService(cluster_.get());
  builder.RegisterService(vizier_.get());
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits::kRequest));
  // Without SO_REUSEPORT, which gRPC sets by default: two servers on one port would share its calls between their
  // stores.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  LimitThreads(builder);
  std::vector<int> ports(options.listen.size(), 0);
  for (std::size_t i = 0; i < options.listen.size(); ++i) {
    const std::string& address = options.listen[i];
    if (const auto socket = SocketPathOf(address); socket.has_value()) {
      VERNIER_RETURN_IF_ERROR(PrepareSocket(*socket, options.store));
    }
    if (options.open && !SocketPathOf(address).has_value()) {
      base::Log(base::LogLevel::kWarning,
                "whoever can connect runs programs as this user: no token is asked for",
                {{"address", address}});
    }
    VERNIER_ASSIGN_OR_RETURN(const auto credentials, CredentialsFor(address, options));
    builder.AddListeningPort(address, credentials, &ports[i]);
  }
  {
    const PrivateUmask for_sockets;
    server_ = builder.BuildAndStart();
  }
  // 0: gRPC could not bind the address.
  if (const auto failed = std::ranges::find(ports, 0); failed != ports.end()) {
    return Unavailable("address '{}' cannot be listened on, another program may have it",
                       options.listen[static_cast<std::size_t>(failed - ports.begin())]);
  }
  if (server_ == nullptr) return Internal("the gRPC server did not start");
  // Only now are ports that were given as 0 known.
  for (std::size_t i = 0; i < options.listen.size(); ++i) {
    addresses_.push_back(WithPort(options.listen[i], ports[i]));
  }
  WatchStore(options);
  WatchHealth();
  StartTrimmer();
  if (options.clean_up.has_value()) {
    cleaner_ = std::make_unique<base::BackgroundThread>(
        [this, rule = *options.clean_up](const std::stop_token& stop) {
          CleanUpAtTimes(rule, stop);
        });
  }
  return Publish(options);
}

absl::Status ServerImpl::Publish(const ServerOptions& options) {
  if (lock_ == nullptr || addresses_.empty()) return absl::OkStatus();
  const auto socket = std::ranges::find_if(
      addresses_, [](const std::string& address) { return SocketPathOf(address).has_value(); });
  StoreOwner owner{.runs_every_study = options.run_every_study};
  if (socket != addresses_.end()) {
    // A socket is preferred: it needs no token.
    owner.address = FromAnywhere(*socket);
  } else {
    owner.address = ReachableAt(addresses_.front());
    if (!options.open) owner.token_file = TokenFile(options);
  }
  return lock_->Publish(owner);
}

void ServerImpl::WatchHealth() {
  grpc::HealthCheckServiceInterface* const health = server_->GetHealthCheckService();
  if (health == nullptr) return;
  health_watch_ = std::make_unique<base::BackgroundLoop>([this, health] {
    LookAfterSockets();
    health->SetServingStatus("engine", keeper_->Lateness() < kStuck);
    health->SetServingStatus("disk", keeper_->WhyHeld().empty());
    return absl::Seconds(1);
  });
}

void ServerImpl::StartTrimmer() {
  trimmer_ = std::make_unique<base::BackgroundLoop>([] {
    ReturnFreeMemory();
    return kTrimPause;
  });
}

void ServerImpl::LookAfterSockets() {
  const auto is_there = [](const std::string& address) {
    const auto path = SocketPathOf(address);
    std::error_code error;
    return !path.has_value() || std::filesystem::is_socket(*path, error);
  };
  for (const std::string& address : addresses_) {
    if (is_there(address)) {
      // So that a socket that comes back and goes again is reported again.
      gone_.erase(address);
    } else if (gone_.insert(address).second) {
      base::Log(base::LogLevel::kError,
                "the socket was removed: nobody can call this server until it is started again",
                {{"address", address}});
    }
  }
  if (report_address_.empty() || is_there(report_address_)) return;
  if (reports_ != nullptr) {
    base::Log(base::LogLevel::kWarning,
              "the socket for reports was removed, and is made again",
              {{"address", report_address_}});
    // The deadline has passed: programs that are reporting lose the call, and try again.
    reports_->Shutdown(gpr_now(GPR_CLOCK_MONOTONIC));
    reports_->Wait();
    reports_.reset();  // Also removes its socket.
  }
  const absl::Status listening = ListenForReports();
  if (listening.ok()) {
    gone_.erase(report_address_);
  } else if (gone_.insert(report_address_).second) {
    LogNoReports(listening);
  }
}

// Logs removals and failures, not what was only listed.
void LogRemoval(const service::Leftover& leftover) {
  if (leftover.removed) {
    base::Log(
        base::LogLevel::kInfo, "removed what nobody needs any more", {{"path", leftover.path}});
  } else if (!leftover.error.empty()) {
    base::Log(base::LogLevel::kWarning,
              "cannot be removed",
              {{"path", leftover.path}, {"error", leftover.error}});
  }
}

absl::StatusOr<service::CleanUpReport> ServerImpl::CleanUp(const service::CleanUpRule& rule,
                                                           std::stop_token stop) {
  // Held for long, but only by clean-ups: one waits for the other.
  absl::MutexLock lock(&cleaning_);
  VERNIER_ASSIGN_OR_RETURN(const std::set<std::string> deleted, DeletedStudies(options_.store));
  service::CleanUpReport all;
  for (const std::string& folder : RunsFolders(options_)) {
    const RunsFolder runs{.directory = folder, .store = options_.store, .deleted = deleted};
    VERNIER_ASSIGN_OR_RETURN(service::CleanUpReport report,
                             app::CleanUp(*studies_, *clock_, runs, rule, stop));
    for (service::Leftover& leftover : report.leftovers) {
      LogRemoval(leftover);
      all.leftovers.push_back(std::move(leftover));
    }
    if (report.kept.empty()) continue;
    if (!all.kept.empty()) all.kept += "; ";
    all.kept += report.kept;
  }
  // Each folder was sorted by itself.
  std::ranges::stable_sort(all.leftovers, {}, [](const service::Leftover& leftover) {
    return std::pair(leftover.kind, leftover.last_used);
  });
  return all;
}

void ServerImpl::CleanUpAtTimes(const service::CleanUpRule& rule, const std::stop_token& stop) {
  absl::Notification stopped;
  const std::stop_callback notify(stop, [&] { stopped.Notify(); });
  absl::Duration pause = kFirstCleanUp;
  while (!stopped.WaitForNotificationWithTimeout(pause)) {
    const absl::StatusOr<service::CleanUpReport> report = CleanUp(rule, stop);
    pause = kCleanUpPause;
    if (!report.ok()) {
      base::Log(base::LogLevel::kWarning,
                "what nobody needs any more could not be removed",
                {{"error", report.status().ToString()}});
    }
  }
}

// The store itself refuses writes; this tells clients that only read, and operators, that the store is gone.
void ServerImpl::WatchStore(const ServerOptions& options) {
  if (lock_ == nullptr) return;
  store_watch_ = std::make_unique<StoreWatch>(
      options.store, *lock_, [health = server_->GetHealthCheckService()](const std::string& why) {
        if (health != nullptr) health->SetServingStatus(why.empty());
        if (why.empty()) {
          base::Log(base::LogLevel::kInfo, "the store is back", {});
        } else {
          base::Log(base::LogLevel::kError, "the store is gone", {{"why", why}});
        }
      });
}

absl::StatusOr<std::unique_ptr<Server>> ServerImpl::Start(const ServerOptions& options) {
  // Before anything is opened: a wrong address must not make a store.
  for (const auto& address : options.listen) {
    VERNIER_RETURN_IF_ERROR(CheckListenAddress(address, options.allow_remote));
  }
  // Otherwise the last gRPC object of the process to go may wait for seconds (src/wire/channel.h).
  wire::KeepGrpc();
  auto server = std::make_unique<ServerImpl>();
  server->options_ = options;
  VERNIER_RETURN_IF_ERROR(server->OpenStore(options));
  // Before any ServerBuilder is made, also the one for reports.
  EnableHealthAndReflection();
  VERNIER_RETURN_IF_ERROR(server->MakeServices(options));
  VERNIER_RETURN_IF_ERROR(server->StartReporting(options));
  VERNIER_RETURN_IF_ERROR(server->StartKeeper(options));
  VERNIER_RETURN_IF_ERROR(server->StartServing(options));
  return server;
}

void ServerImpl::Shutdown() {
  // First the loops that use the members below.
  store_watch_.reset();
  health_watch_.reset();
  trimmer_.reset();
  cleaner_.reset();
  // Streams and long calls wait for their stop tokens, which only this fires; gRPC's Shutdown would wait for them.
  calls_.Shutdown();
  if (service_ != nullptr) service_->EndWatches();
  const auto span =
      gpr_time_from_millis(absl::ToInt64Milliseconds(kShutdownPatience), GPR_TIMESPAN);
  const auto deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), span);
  // One deadline for both servers, so that the whole shutdown takes no longer than one.
  for (grpc::Server* const server : {server_.get(), reports_.get()}) {
    if (server != nullptr) server->Shutdown(deadline);
  }
  watcher_.reset();
  if (keeper_ != nullptr) keeper_->Stop();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  return ServerImpl::Start(options);
}

}  // namespace vernier::app
