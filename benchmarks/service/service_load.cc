// Load for a Vernier server: N clients, each with a connection and a thread of its own, that ask for a trial, complete it, and
// ask again. They call by nghttp2, so that as much of the host as can be is the server's. Prints one JSON object: trials per
// second, latencies of both calls, the server's CPU time per call.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "benchmarks/service/load.h"
#include "benchmarks/service/unary_client.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "vernier/core/clock.h"
#include "vernier/v1/study_service.pb.h"

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
  absl::Status status;
};

std::string PathOf(std::string_view call) {
  return fmt::format("/vernier.v1.StudyService/{}", call);
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

absl::Status RunTrial(UnaryClient& connection,
                      const Clock& clock,
                      const v1::SuggestTrialsRequest& ask,
                      Tally* tally) {
  static const std::string kSuggest = PathOf("SuggestTrials");
  static const std::string kComplete = PathOf("CompleteTrial");
  v1::SuggestTrialsResponse asked;
  const absl::Time start = clock.Now();
  absl::Status status = connection.CallNow(kSuggest, ask, asked);
  if (!status.ok()) return status;
  const absl::Time middle = clock.Now();
  const v1::Trial& trial = asked.trials(0);
  v1::CompleteTrialRequest complete;
  complete.set_name(trial.name());
  complete.set_client_id(ask.client_id());
  complete.set_lease_token(trial.lease().token());
  (*complete.mutable_final_metrics())["loss"] = trial.parameters().at("a").number();
  v1::Trial completed;
  status = connection.CallNow(kComplete, complete, completed);
  tally->suggest_ms.push_back(absl::ToDoubleMilliseconds(middle - start));
  tally->complete_ms.push_back(absl::ToDoubleMilliseconds(clock.Now() - middle));
  return status;
}

absl::Status RunClient(
    const Flags& flags, const Clock& clock, const std::string& study, int index, Tally* tally) {
  const absl::StatusOr<std::unique_ptr<UnaryClient>> connection =
      UnaryClient::Connect(flags.address);
  if (!connection.ok()) return connection.status();
  v1::SuggestTrialsRequest ask;
  ask.set_parent(study);
  ask.set_client_id(fmt::format("client-{}", index));
  const absl::Time end = clock.Now() + absl::Seconds(flags.seconds);
  while (clock.Now() < end) {
    absl::Status status = RunTrial(**connection, clock, ask, tally);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Study> CreateStudy(const Flags& flags, const Clock& clock) {
  const absl::StatusOr<std::unique_ptr<UnaryClient>> connection =
      UnaryClient::Connect(flags.address);
  if (!connection.ok()) return connection.status();
  const std::string id = fmt::format("load-{}-{}", flags.clients, absl::ToUnixMillis(clock.Now()));
  v1::Study study;
  const absl::Status created =
      (*connection)->CallNow(PathOf("CreateStudy"), MakeStudy(id, flags.clients), study);
  if (!created.ok()) return created;
  return study;
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

int Fail(const absl::Status& status) {
  fmt::print(stderr, "service_load: {}\n", status.ToString());
  return 1;
}

int Run(const Flags& flags) {
  const auto clock = NewRealClock();
  const absl::StatusOr<v1::Study> study = CreateStudy(flags, *clock);
  if (!study.ok()) return Fail(study.status());
  std::vector<Tally> tallies(static_cast<std::size_t>(flags.clients));
  const double cpu_before = CpuSeconds(flags.server_pid);
  const absl::Time start = clock->Now();
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < flags.clients; ++i) {
      clients.emplace_back([&, i] {
        Tally& tally = tallies[static_cast<std::size_t>(i)];
        tally.status = RunClient(flags, *clock, study->name(), i, &tally);
      });
    }
  }
  const double seconds = absl::ToDoubleSeconds(clock->Now() - start);
  const double cpu = CpuSeconds(flags.server_pid) - cpu_before;
  Tally all;
  for (const Tally& tally : tallies) {
    if (!tally.status.ok()) return Fail(tally.status);
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
