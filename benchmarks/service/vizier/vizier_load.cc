// Load for a server of vizier.VizierService, Vernier's or Vizier's own: N threads, each with a connection of its own. Prints one
// JSON object: for each kind of call how many a second the threads would get if they did nothing else, its latencies, and
// the server's CPU time per call of all kinds.
//   create   CreateTrial, again and again
//   cycle    SuggestTrials of a new trial by random search, then CompleteTrial
//   complete CompleteTrial of trials that the thread holds already
//   default  after 100 completed trials, SuggestTrials by the default algorithm, each trial completed
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "benchmarks/service/load.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "nlohmann/json.hpp"
#include "vernier/core/clock.h"
#include "vizier/vizier_service.grpc.pb.h"

namespace vernier {
namespace {

using Stub = ::vizier::VizierService::Stub;

constexpr int kLoaded = 100;

struct Flags {
  std::string address;
  std::string kind = "cycle";
  int threads = 8;
  double seconds = 5;
  int server_pid = 0;
};

// Milliseconds by call, of one thread.
struct Tally {
  std::map<std::string, std::vector<double>> spent;
  std::string error;
};

std::unique_ptr<Stub> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return ::vizier::VizierService::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

class Client {
 public:
  Client(const Flags& flags, const Clock& clock, std::string study, int index)
      : stub_(Connect(flags.address)),
        clock_(clock),
        study_(std::move(study)),
        name_(fmt::format("client-{}", index)) {}

  bool Create(bool completed) {
    ::vizier::CreateTrialRequest request;
    request.set_parent(study_);
    double sum = 0;
    for (const char* parameter : {"a", "b", "c", "d"}) {
      auto* value = request.mutable_trial()->add_parameters();
      value->set_parameter_id(parameter);
      const double x = static_cast<double>((++created_ * 7919) % 10007) / 10007;
      value->mutable_value()->set_number_value(x);
      sum += (x - 0.3) * (x - 0.3);
    }
    if (completed) {
      request.mutable_trial()->set_state(::vizier::Trial::SUCCEEDED);
      SetLoss(sum, request.mutable_trial()->mutable_final_measurement());
    }
    ::vizier::Trial answer;
    return Timed("CreateTrial", [&](grpc::ClientContext* context) {
      return stub_->CreateTrial(context, request, &answer);
    });
  }

  bool SuggestAndComplete() { return Hold(1) && CompleteHeld(); }

  // From now on `count` trials are its own.
  bool Hold(int count) {
    ::vizier::SuggestTrialsRequest ask;
    ask.set_parent(study_);
    ask.set_suggestion_count(count);
    ask.set_client_id(name_);
    google::longrunning::Operation operation;
    const bool asked = Timed("SuggestTrials", [&](grpc::ClientContext* context) {
      return stub_->SuggestTrials(context, ask, &operation);
    });
    ::vizier::SuggestTrialsResponse suggested;
    if (!asked || !suggested.ParseFromString(operation.response().value()) ||
        suggested.trials_size() != count) {
      if (tally_.error.empty()) tally_.error = "no trial: " + operation.ShortDebugString();
      return false;
    }
    held_.assign(suggested.trials().begin(), suggested.trials().end());
    return true;
  }

  bool holds_none() const { return held_.empty(); }
  bool CompleteHeld() {
    ::vizier::CompleteTrialRequest complete;
    complete.set_name(held_.back().name());
    SetLoss(held_.back().parameters(0).value().number_value(),
            complete.mutable_final_measurement());
    held_.pop_back();
    ::vizier::Trial answer;
    return Timed("CompleteTrial", [&](grpc::ClientContext* context) {
      return stub_->CompleteTrial(context, complete, &answer);
    });
  }

  void Forget() { tally_.spent.clear(); }
  Tally Take() && { return std::move(tally_); }

 private:
  static void SetLoss(double loss, ::vizier::Measurement* measurement) {
    auto* metric = measurement->add_metrics();
    metric->set_metric_id("loss");
    metric->set_value(loss);
  }

  template <typename Call>
  bool Timed(const std::string& name, Call call) {
    grpc::ClientContext context;
    const absl::Time start = clock_.Now();
    const grpc::Status status = call(&context);
    tally_.spent[name].push_back(absl::ToDoubleMilliseconds(clock_.Now() - start));
    if (!status.ok()) tally_.error = fmt::format("{}: {}", name, status.error_message());
    return status.ok();
  }

  const std::unique_ptr<Stub> stub_;
  const Clock& clock_;
  const std::string study_;
  const std::string name_;
  std::int64_t created_ = 0;
  std::vector<::vizier::Trial> held_;
  Tally tally_;
};

nlohmann::ordered_json Report(const Flags& flags,
                              const std::vector<Tally>& tallies,
                              double seconds,
                              double cpu) {
  std::map<std::string, std::vector<double>> all;
  for (const Tally& tally : tallies) {
    for (const auto& [call, spent] : tally.spent) {
      all[call].insert(all[call].end(), spent.begin(), spent.end());
    }
  }
  std::size_t count = 0;
  nlohmann::ordered_json report = {
      {"kind", flags.kind}, {"threads", flags.threads}, {"seconds", seconds}};
  for (const auto& [call, spent] : all) {
    double sum = 0;
    for (const double milliseconds : spent) sum += milliseconds;
    count += spent.size();
    report[call] = {{"calls", spent.size()},
                    {"per_second", 1e3 * flags.threads * static_cast<double>(spent.size()) / sum},
                    {"p50_ms", Quantile(spent, 0.5)},
                    {"p99_ms", Quantile(spent, 0.99)}};
  }
  report["server_cpu_ms_per_call"] = 1e3 * cpu / static_cast<double>(count);
  return report;
}

absl::StatusOr<std::string> CreateStudy(const Flags& flags, const Clock& clock) {
  ::vizier::CreateStudyRequest request;
  request.set_parent("owners/load");
  request.mutable_study()->set_display_name(
      fmt::format("{}_{}", flags.kind, absl::ToUnixMillis(clock.Now())));
  auto& spec = *request.mutable_study()->mutable_study_spec();
  spec.set_algorithm(flags.kind == "default" ? "DEFAULT" : "RANDOM_SEARCH");
  auto* metric = spec.add_metrics();
  metric->set_metric_id("loss");
  metric->set_goal(::vizier::StudySpec::MetricSpec::MINIMIZE);
  for (const char* name : {"a", "b", "c", "d"}) {
    auto* parameter = spec.add_parameters();
    parameter->set_parameter_id(name);
    parameter->mutable_double_value_spec()->set_max_value(1);
    parameter->set_scale_type(::vizier::StudySpec::ParameterSpec::UNIT_LINEAR_SCALE);
  }
  grpc::ClientContext context;
  ::vizier::Study study;
  const grpc::Status status = Connect(flags.address)->CreateStudy(&context, request, &study);
  if (!status.ok()) return absl::UnavailableError(status.error_message());
  return study.name();
}

// What is not counted: trials to begin with, what is loaded or compiled at the first suggestion.
void Prepare(const Flags& flags, Client& client) {
  if (flags.kind != "default" && flags.kind != "complete") return;
  const bool completes = flags.kind == "complete";
  for (int i = 0; i < kLoaded; ++i) {
    if (!client.Create(/*completed=*/!completes)) return;
  }
  if (completes ? client.Hold(kLoaded) : client.SuggestAndComplete()) client.Forget();
}

void RunClient(const Flags& flags, const Clock& clock, Client& client) {
  const absl::Time end = clock.Now() + absl::Seconds(flags.seconds);
  do {
    if (flags.kind == "complete" && client.holds_none()) return;
    const bool done = flags.kind == "create"     ? client.Create(false)
                      : flags.kind == "complete" ? client.CompleteHeld()
                                                 : client.SuggestAndComplete();
    if (!done) return;
  } while (clock.Now() < end);
}

int Run(const Flags& flags) {
  const auto clock = NewRealClock();
  const absl::StatusOr<std::string> study = CreateStudy(flags, *clock);
  if (!study.ok()) {
    fmt::print(stderr, "vizier_load: {}\n", std::string(study.status().message()));
    return 1;
  }
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < flags.threads; ++i) {
    clients.push_back(std::make_unique<Client>(flags, *clock, *study, i));
  }
  for (const auto& client : clients) Prepare(flags, *client);
  const double cpu_before = CpuSeconds(flags.server_pid);
  const absl::Time start = clock->Now();
  {
    std::vector<std::jthread> threads;
    for (const auto& client : clients) {
      threads.emplace_back([&] { RunClient(flags, *clock, *client); });
    }
  }
  const double seconds = absl::ToDoubleSeconds(clock->Now() - start);
  const double cpu = CpuSeconds(flags.server_pid) - cpu_before;
  std::vector<Tally> tallies;
  for (const auto& client : clients) {
    tallies.push_back(std::move(*client).Take());
    if (tallies.back().error.empty()) continue;
    fmt::print(stderr, "vizier_load: {}\n", tallies.back().error);
    return 1;
  }
  fmt::print("{}\n", Report(flags, tallies, seconds, cpu).dump());
  return 0;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  CLI::App app("Load for a server of Vizier's interface");
  vernier::Flags flags;
  app.add_option("--address", flags.address, "Of the server")->required();
  app.add_option("--kind", flags.kind, "What to call")
      ->check(CLI::IsMember({"create", "cycle", "complete", "default"}));
  app.add_option("--threads", flags.threads, "How many at once")->check(CLI::PositiveNumber);
  app.add_option("--seconds", flags.seconds, "How long")->check(CLI::PositiveNumber);
  app.add_option("--server-pid", flags.server_pid, "Whose CPU time to measure");
  CLI11_PARSE(app, argc, argv);
  return vernier::Run(flags);
}
