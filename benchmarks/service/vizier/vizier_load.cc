// Load for a server of vizier.VizierService, Vernier's or Vizier's own: N callers, each of which makes its next call when the
// last one is answered. They share a connection, as the threads of a Vizier client do, and one thread drives them all, by
// nghttp2, so that as much of the host as can be is the server's. Prints one JSON object: for each kind of call how many a second the
// callers would get if they did nothing else, its latencies, and the server's CPU time per call of all kinds.
//   create   CreateTrial, again and again
//   cycle    SuggestTrials of a new trial by random search, then CompleteTrial
//   complete CompleteTrial of trials that are held already, about in the order of their numbers
//   default  after 100 completed trials, SuggestTrials by the default algorithm, each trial completed
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
#include "vizier/vizier_service.pb.h"

namespace vernier {
namespace {

constexpr int kLoaded = 100;  // Completed trials before the default algorithm is measured.

struct Flags {
  std::string address;
  std::string kind = "cycle";
  int callers = 8;
  int held = 1000;  // By each caller, before completions are measured.
  double seconds = 5;
  int server_pid = 0;
};

// Milliseconds by call, of one caller.
struct Tally {
  std::map<std::string, std::vector<double>> spent;
  std::string error;
};

std::string PathOf(std::string_view call) { return fmt::format("/vizier.VizierService/{}", call); }

class Client {
 public:
  // `connection` and `clock` must outlive it.
  Client(UnaryClient& connection, const Clock& clock, std::string study, int index)
      : connection_(connection),
        clock_(clock),
        study_(std::move(study)),
        name_(fmt::format("client-{}", index)) {}

  // What is not measured: waits for its answer.
  bool Prepare(const Flags& flags) {
    if (flags.kind != "default" && flags.kind != "complete") return true;
    const bool completes = flags.kind == "complete";
    const int count = completes ? flags.held : kLoaded;
    for (int i = 0; i < count; ++i) {
      ::vizier::Trial created;
      if (!CallNow("CreateTrial", NewTrial(/*completed=*/!completes), created)) return false;
    }
    // Of the default algorithm: what is loaded or compiled at the first suggestion.
    google::longrunning::Operation operation;
    if (!CallNow("SuggestTrials", Ask(completes ? count : 1), operation) || !Hold(operation)) {
      return false;
    }
    return completes || CompleteNow();
  }

  std::vector<::vizier::Trial> TakeHeld() { return std::exchange(held_, {}); }
  // The last one is completed first.
  void AddHeld(::vizier::Trial trial) { held_.push_back(std::move(trial)); }

  // Makes the next call, until `end`.
  void Start(const Flags& flags, absl::Time end) {
    next_ = [this, &flags, end] {
      if (clock_.Now() >= end) return;
      if (flags.kind == "create") return Create();
      if (!held_.empty()) return Complete();
      if (flags.kind != "complete") Suggest();
    };
    next_();
  }
  Tally Take() && { return std::move(tally_); }

 private:
  ::vizier::CreateTrialRequest NewTrial(bool completed) {
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
    return request;
  }
  ::vizier::SuggestTrialsRequest Ask(int count) const {
    ::vizier::SuggestTrialsRequest request;
    request.set_parent(study_);
    request.set_suggestion_count(count);
    request.set_client_id(name_);
    return request;
  }
  ::vizier::CompleteTrialRequest End(const ::vizier::Trial& trial) const {
    ::vizier::CompleteTrialRequest request;
    request.set_name(trial.name());
    SetLoss(trial.parameters(0).value().number_value(), request.mutable_final_measurement());
    return request;
  }
  static void SetLoss(double loss, ::vizier::Measurement* measurement) {
    auto* metric = measurement->add_metrics();
    metric->set_metric_id("loss");
    metric->set_value(loss);
  }

  void Create() {
    Send<::vizier::Trial>("CreateTrial", NewTrial(/*completed=*/false), [](const auto&) {});
  }
  void Suggest() {
    Send<google::longrunning::Operation>(
        "SuggestTrials", Ask(1), [this](const auto& operation) { Hold(operation); });
  }
  void Complete() {
    const ::vizier::CompleteTrialRequest request = End(held_.back());
    held_.pop_back();
    Send<::vizier::Trial>("CompleteTrial", request, [](const auto&) {});
  }
  bool CompleteNow() {
    ::vizier::Trial completed;
    const ::vizier::CompleteTrialRequest request = End(held_.back());
    held_.pop_back();
    return CallNow("CompleteTrial", request, completed);
  }

  // From now on the suggested trials are its own.
  bool Hold(const google::longrunning::Operation& operation) {
    ::vizier::SuggestTrialsResponse suggested;
    if (!suggested.ParseFromString(operation.response().value()) || suggested.trials().empty()) {
      tally_.error = "no trial: " + operation.ShortDebugString();
      return false;
    }
    held_.assign(suggested.trials().begin(), suggested.trials().end());
    return true;
  }

  bool Check(std::string_view call, const absl::Status& status) {
    if (!status.ok()) tally_.error = fmt::format("{}: {}", call, status.ToString());
    return status.ok();
  }

  template <typename Request, typename Reply>
  bool CallNow(std::string_view call, const Request& request, Reply& reply) {
    return Check(call, connection_.CallNow(PathOf(call), request, reply));
  }

  template <typename Reply, typename Request, typename Then>
  void Send(const std::string& call, const Request& request, Then then) {
    const absl::Time start = clock_.Now();
    connection_.Call(
        PathOf(call),
        request,
        [this, call, start, then](const absl::Status& status, std::string_view bytes) {
          tally_.spent[call].push_back(absl::ToDoubleMilliseconds(clock_.Now() - start));
          if (!Check(call, status)) return;
          Reply reply;
          if (!reply.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            tally_.error = call + ": the reply cannot be read";
            return;
          }
          then(reply);
          if (tally_.error.empty()) next_();
        });
  }

  UnaryClient& connection_;
  const Clock& clock_;
  const std::string study_;
  const std::string name_;
  std::int64_t created_ = 0;
  std::vector<::vizier::Trial> held_;
  std::function<void()> next_;
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
      {"kind", flags.kind}, {"callers", flags.callers}, {"seconds", seconds}};
  for (const auto& [call, spent] : all) {
    double sum = 0;
    for (const double milliseconds : spent) sum += milliseconds;
    count += spent.size();
    report[call] = {{"calls", spent.size()},
                    {"per_second", 1e3 * flags.callers * static_cast<double>(spent.size()) / sum},
                    {"p50_ms", Quantile(spent, 0.5)},
                    {"p99_ms", Quantile(spent, 0.99)}};
  }
  report["server_cpu_ms_per_call"] = 1e3 * cpu / static_cast<double>(count);
  return report;
}

absl::StatusOr<std::string> CreateStudy(const Flags& flags,
                                        const Clock& clock,
                                        UnaryClient& connection) {
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
  ::vizier::Study study;
  const absl::Status created = connection.CallNow(PathOf("CreateStudy"), request, study);
  if (!created.ok()) return created;
  return study.name();
}

// Clients end what they began first, so that those at work at the same time are of about the same age.
void DealHeld(const std::vector<std::unique_ptr<Client>>& clients) {
  std::vector<::vizier::Trial> all;
  for (const auto& client : clients) {
    for (::vizier::Trial& trial : client->TakeHeld()) all.push_back(std::move(trial));
  }
  std::ranges::sort(
      all, std::greater(), [](const ::vizier::Trial& trial) { return std::stoll(trial.id()); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    clients[i % clients.size()]->AddHeld(std::move(all[i]));
  }
}

int Fail(std::string_view message) {
  fmt::print(stderr, "vizier_load: {}\n", message);
  return 1;
}

int Fail(const absl::Status& status) { return Fail(status.ToString()); }

int Run(const Flags& flags) {
  const auto clock = NewRealClock();
  const absl::StatusOr<std::unique_ptr<UnaryClient>> connected =
      UnaryClient::Connect(flags.address);
  if (!connected.ok()) return Fail(connected.status());
  UnaryClient& connection = **connected;
  const absl::StatusOr<std::string> study = CreateStudy(flags, *clock, connection);
  if (!study.ok()) return Fail(study.status());
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < flags.callers; ++i) {
    clients.push_back(std::make_unique<Client>(connection, *clock, *study, i));
  }
  for (const auto& client : clients) {
    if (!client->Prepare(flags)) return Fail(std::move(*client).Take().error);
  }
  if (flags.kind == "complete") DealHeld(clients);
  const double cpu_before = CpuSeconds(flags.server_pid);
  const absl::Time start = clock->Now();
  for (const auto& client : clients) client->Start(flags, start + absl::Seconds(flags.seconds));
  const absl::Status run = connection.Run();
  if (!run.ok()) return Fail(run);
  const double seconds = absl::ToDoubleSeconds(clock->Now() - start);
  const double cpu = CpuSeconds(flags.server_pid) - cpu_before;
  std::vector<Tally> tallies;
  for (const auto& client : clients) {
    tallies.push_back(std::move(*client).Take());
    if (!tallies.back().error.empty()) return Fail(tallies.back().error);
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
  app.add_option("--callers", flags.callers, "How many at once")->check(CLI::PositiveNumber);
  app.add_option("--held", flags.held, "Trials of each caller that are completed")
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", flags.seconds, "How long")->check(CLI::PositiveNumber);
  app.add_option("--server-pid", flags.server_pid, "Whose CPU time to measure");
  CLI11_PARSE(app, argc, argv);
  return vernier::Run(flags);
}
