// Load for a Vernier server: N clients, each with a connection of its own, that ask for a trial, complete it, and ask again.
// Prints one JSON object: trials per second, latencies of both calls, the server's CPU time per call.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/time.h"
#include "benchmarks/service/load.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "nlohmann/json.hpp"
#include "vernier/core/clock.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier {
namespace {

struct Flags {
  std::string address;
  int clients = 1;
  double seconds = 10;
  int server_pid = 0;
};

// What one client saw.
struct Tally {
  std::vector<double> suggest_ms;
  std::vector<double> complete_ms;
  std::string error;
};

std::unique_ptr<v1::StudyService::Stub> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  // Without this, gRPC would put all clients of one process on one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::StudyService::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

// Random search over four parameters.
v1::CreateStudyRequest MakeStudy(const std::string& id, int clients) {
  v1::CreateStudyRequest request;
  request.set_study_id(id);
  v1::StudySpec& spec = *request.mutable_study()->mutable_spec();
  auto* objective = spec.add_objectives();
  objective->set_metric("loss");
  objective->set_goal(v1::MINIMIZE);
  for (const char* name : {"a", "b", "c", "d"}) {
    auto* parameter = spec.add_parameters();
    parameter->set_name(name);
    parameter->mutable_float_()->set_upper(1);
  }
  spec.mutable_algorithm()->set_name("random");
  spec.set_parallel(clients);
  return request;
}

grpc::Status OneTrial(v1::StudyService::Stub& stub,
                      const Clock& clock,
                      const v1::SuggestTrialsRequest& ask,
                      Tally* tally) {
  v1::SuggestTrialsResponse asked;
  grpc::ClientContext ask_context;
  const absl::Time start = clock.Now();
  grpc::Status status = stub.SuggestTrials(&ask_context, ask, &asked);
  if (!status.ok()) return status;
  const absl::Time middle = clock.Now();
  const v1::Trial& trial = asked.trials(0);
  v1::CompleteTrialRequest complete;
  complete.set_name(trial.name());
  complete.set_client_id(ask.client_id());
  complete.set_lease_token(trial.lease().token());
  (*complete.mutable_final_metrics())["loss"] = trial.parameters().at("a").number();
  v1::Trial completed;
  grpc::ClientContext complete_context;
  status = stub.CompleteTrial(&complete_context, complete, &completed);
  tally->suggest_ms.push_back(absl::ToDoubleMilliseconds(middle - start));
  tally->complete_ms.push_back(absl::ToDoubleMilliseconds(clock.Now() - middle));
  return status;
}

void RunClient(
    const Flags& flags, const Clock& clock, const std::string& study, int index, Tally* tally) {
  const auto stub = Connect(flags.address);
  v1::SuggestTrialsRequest ask;
  ask.set_parent(study);
  ask.set_client_id(fmt::format("client-{}", index));
  const absl::Time end = clock.Now() + absl::Seconds(flags.seconds);
  while (clock.Now() < end) {
    const grpc::Status status = OneTrial(*stub, clock, ask, tally);
    if (status.ok()) continue;
    tally->error = status.error_message();
    return;
  }
}

nlohmann::ordered_json Latency(const std::vector<double>& milliseconds) {
  return {{"p50_ms", Quantile(milliseconds, 0.5)}, {"p99_ms", Quantile(milliseconds, 0.99)}};
}

nlohmann::ordered_json Report(const Flags& flags, const Tally& all, double seconds, double cpu) {
  const double trials = static_cast<double>(all.complete_ms.size());
  nlohmann::ordered_json report = {{"clients", flags.clients},
                                   {"trials", all.complete_ms.size()},
                                   {"seconds", seconds},
                                   {"trials_per_second", trials / seconds},
                                   {"suggest", Latency(all.suggest_ms)},
                                   {"complete", Latency(all.complete_ms)}};
  if (flags.server_pid != 0) report["server_cpu_us_per_call"] = 1e6 * cpu / (2 * trials);
  return report;
}

int Run(const Flags& flags) {
  const auto clock = NewRealClock();
  const auto stub = Connect(flags.address);
  grpc::ClientContext context;
  v1::Study study;
  const std::string id = fmt::format("load-{}-{}", flags.clients, absl::ToUnixMillis(clock->Now()));
  const grpc::Status created = stub->CreateStudy(&context, MakeStudy(id, flags.clients), &study);
  if (!created.ok()) {
    fmt::print(stderr, "service_load: {}\n", created.error_message());
    return 1;
  }
  std::vector<Tally> tallies(static_cast<std::size_t>(flags.clients));
  const double cpu_before = CpuSeconds(flags.server_pid);
  const absl::Time start = clock->Now();
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < flags.clients; ++i) {
      clients.emplace_back([&, i] {
        RunClient(flags, *clock, study.name(), i, &tallies[static_cast<std::size_t>(i)]);
      });
    }
  }
  const double seconds = absl::ToDoubleSeconds(clock->Now() - start);
  const double cpu = CpuSeconds(flags.server_pid) - cpu_before;
  Tally all;
  for (const Tally& tally : tallies) {
    if (!tally.error.empty()) {
      fmt::print(stderr, "service_load: {}\n", tally.error);
      return 1;
    }
    all.suggest_ms.insert(all.suggest_ms.end(), tally.suggest_ms.begin(), tally.suggest_ms.end());
    all.complete_ms.insert(
        all.complete_ms.end(), tally.complete_ms.begin(), tally.complete_ms.end());
  }
  fmt::print("{}\n", Report(flags, all, seconds, cpu).dump());
  return 0;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  CLI::App app("Load for a Vernier server");
  vernier::Flags flags;
  app.add_option("--address", flags.address, "Of the server")->required();
  app.add_option("--clients", flags.clients, "How many at once")->check(CLI::PositiveNumber);
  app.add_option("--seconds", flags.seconds, "How long")->check(CLI::PositiveNumber);
  app.add_option("--server-pid", flags.server_pid, "Whose CPU time to measure");
  CLI11_PARSE(app, argc, argv);
  return vernier::Run(flags);
}
