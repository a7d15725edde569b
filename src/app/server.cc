#include "src/app/server.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "src/app/attempt_logs.h"
#include "src/app/keeper.h"
#include "src/app/listen_address.h"
#include "src/app/paths.h"
#include "src/app/reporting.h"
#include "src/app/store_lock.h"
#include "src/base/background_thread.h"
#include "src/base/log.h"
#include "src/core/status.h"
#include "src/service/call_watch.h"
#include "src/service/cluster_service.h"
#include "src/service/report_service.h"
#include "src/service/study_service.h"
#include "src/service/vizier/vizier_service.h"
#include "vernier/core/clock.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::app {
namespace {

constexpr char kInMemory[] = ":memory:";
constexpr int kMaxMessageBytes = 64 << 20;
// How long a shutdown waits for calls that do not heed their stop token.
constexpr absl::Duration kShutdownPatience = absl::Seconds(5);

absl::StatusOr<std::unique_ptr<Storage>> OpenStorage(const std::string& store) {
  if (store == kInMemory) return NewMemoryStorage();
  return OpenSqliteStorage({.path = store});
}

// Once for the process: gRPC keeps its plugins in a global list.
void EnableHealthAndReflection() {
  [[maybe_unused]] static const bool once = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
}

// Threads that wait for calls stay: to end one and to make another costs more than many a call.
void LimitThreads(grpc::ServerBuilder& builder) {
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 16);
}

class ServerImpl final : public Server {
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
  // Lets the programs of attempts report. Before the engine, so that they find an answer from the start.
  absl::Status StartReporting(const ServerOptions& options);
  absl::Status StartKeeper(const ServerOptions& options);
  absl::Status StartServing(const ServerOptions& options);

  // In the order of construction; each stands on those before it.
  const std::unique_ptr<Clock> clock_ = NewRealClock();
  std::unique_ptr<StoreLock> lock_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Studies> studies_;
  std::unique_ptr<Keeper> keeper_;
  const std::unique_ptr<service::LogSource> logs_ = NewAttemptLogs();
  service::CallWatch calls_;
  service::CallIds call_ids_{clock_->Now()};
  std::unique_ptr<base::BackgroundThread> watcher_;
  std::unique_ptr<service::AttemptTokens> tokens_;  // Null: there is no engine.
  std::unique_ptr<service::StudyServiceImpl> service_;
  std::unique_ptr<service::ReportService> report_service_;
  std::unique_ptr<service::ClusterServiceImpl> cluster_;
  std::unique_ptr<vizier::VizierServiceImpl> vizier_;
  std::unique_ptr<grpc::Server> reports_;
  std::string report_address_;  // Where reports_ listens.
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> addresses_;
};

absl::Status ServerImpl::OpenStore(const ServerOptions& options) {
  if (options.store.empty()) return FieldError("store", "must not be empty");
  if (options.store != kInMemory) {
    VERNIER_RETURN_IF_ERROR(CreateStoreFolder(options.store));
    VERNIER_ASSIGN_OR_RETURN(lock_, StoreLock::Acquire(options.store));
  }
  VERNIER_ASSIGN_OR_RETURN(storage_, OpenStorage(options.store));
  studies_ = Studies::Create(*storage_, *clock_);
  return absl::OkStatus();
}

absl::Status ServerImpl::StartKeeper(const ServerOptions& options) {
  Keeper::Reporting reporting;
  if (reports_ != nullptr) {
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
  const std::string runs = RunsDirectory(options.store, options.runs_directory);
  VERNIER_ASSIGN_OR_RETURN(const std::string socket, PrepareReportSocket(runs));
  report_address_ = "unix:" + socket;
  report_service_ = std::make_unique<service::ReportService>(*service_);
  grpc::ServerBuilder builder;
  builder.RegisterService(report_service_.get());
  LimitThreads(builder);
  builder.AddListeningPort(report_address_, grpc::InsecureServerCredentials());
  reports_ = builder.BuildAndStart();
  // Jobs run all the same, and are read as ever.
  if (reports_ == nullptr) {
    base::Log(base::LogLevel::kWarning, "programs cannot report", {{"socket", socket}});
  } else if (chmod(socket.c_str(), 0600) != 0) {
    return Unavailable("'{}': {}", socket, std::strerror(errno));
  }
  return absl::OkStatus();
}

absl::Status ServerImpl::MakeServices(const ServerOptions& options) {
  if (options.run_engine) {
    VERNIER_ASSIGN_OR_RETURN(std::string secret,
                             LoadTokenSecret(RunsDirectory(options.store, options.runs_directory)));
    tokens_ = std::make_unique<service::AttemptTokens>(std::move(secret));
  }
  service_ = std::make_unique<service::StudyServiceImpl>(service::ServiceParts{
      .studies = *studies_,
      .logs = *logs_,
      .clock = *clock_,
      .calls = calls_,
      .call_ids = call_ids_,
      .changed = [this] { keeper_->Wake(); },
      .wanted = [this](const std::string& study) { keeper_->Want(study); },
      .prepare_job = [this](StudySpec spec) { return keeper_->PrepareJob(std::move(spec)); },
      .packages_directory = RunsDirectory(options.store, options.runs_directory) + "/.packages",
      .version = VERNIER_VERSION,
      .store = options.store,
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
  builder.RegisterService(service_.get());
  builder.RegisterService(cluster_.get());
  builder.RegisterService(vizier_.get());
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // Two servers on one port would share its calls between their stores.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  LimitThreads(builder);
  std::vector<int> ports(options.listen.size(), 0);
  for (std::size_t i = 0; i < options.listen.size(); ++i) {
    builder.AddListeningPort(options.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
  }
  server_ = builder.BuildAndStart();
  for (std::size_t i = 0; i < options.listen.size(); ++i) {
    if (server_ == nullptr || ports[i] == 0) {
      return Unavailable("address '{}' cannot be listened on, another program may have it",
                         options.listen[i]);
    }
    addresses_.push_back(WithPort(options.listen[i], ports[i]));
  }
  if (server_ == nullptr) return Internal("the gRPC server did not start");
  return lock_ == nullptr || addresses_.empty() ? absl::OkStatus()
                                                : lock_->Publish(ReachableAt(addresses_.front()));
}

absl::StatusOr<std::unique_ptr<Server>> ServerImpl::Start(const ServerOptions& options) {
  for (const auto& address : options.listen) {
    VERNIER_RETURN_IF_ERROR(CheckListenAddress(address, options.allow_remote));
  }
  auto server = std::make_unique<ServerImpl>();
  VERNIER_RETURN_IF_ERROR(server->OpenStore(options));
  EnableHealthAndReflection();
  VERNIER_RETURN_IF_ERROR(server->MakeServices(options));
  VERNIER_RETURN_IF_ERROR(server->StartReporting(options));
  VERNIER_RETURN_IF_ERROR(server->StartKeeper(options));
  VERNIER_RETURN_IF_ERROR(server->StartServing(options));
  return server;
}

void ServerImpl::Shutdown() {
  calls_.Shutdown();
  const auto span =
      gpr_time_from_millis(absl::ToInt64Milliseconds(kShutdownPatience), GPR_TIMESPAN);
  const auto deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), span);
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
