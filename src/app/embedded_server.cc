// Implements include/vernier/server.h with the server of this folder; that interface has fewer options.
#include <utility>

#include "src/app/server.h"
#include "src/core/status.h"
#include "vernier/server.h"

namespace vernier {
namespace {

class EmbeddedServer final : public Server {
 public:
  explicit EmbeddedServer(std::unique_ptr<app::Server> server) : server_(std::move(server)) {}
  std::vector<std::string> addresses() const override { return server_->addresses(); }
  void Shutdown() override { server_->Shutdown(); }

 private:
  const std::unique_ptr<app::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  app::ServerOptions all;
  all.store = std::move(options.store);
  all.listen = std::move(options.listen);
  all.token_file = std::move(options.token_file);
  all.open = options.open;
  all.algorithms = std::move(options.algorithms);
  all.run_engine = options.run_engine;
  all.launcher = std::move(options.launcher);
  all.metrics = std::move(options.metrics);
  all.runs_directory = std::move(options.runs_directory);
  all.inherit_env = std::move(options.inherit_env);
  all.cpus = options.cpus;
  all.memory_bytes = options.memory_bytes;
  all.gpus = std::move(options.gpus);
  all.detect_gpus = options.detect_gpus;
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<app::Server> server, app::Server::Start(all));
  return std::make_unique<EmbeddedServer>(std::move(server));
}

}  // namespace vernier
