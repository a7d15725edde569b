// Fills a store with trials, and measures what calls of a server on such a store cost. Prints its figures as one line of JSON.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "benchmarks/service/load_client.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "nlohmann/json.hpp"
#include "src/client/access.h"
#include "src/storage/sqlite/sqlite_storage.h"
#include "src/study/studies_impl.h"
#include "src/study/study_state.h"
#include "src/wire/channel.h"
#include "src/wire/names.h"
#include "vernier/client.h"
#include "vernier/core/rng.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier {
namespace {

constexpr char kMetric[] = "accuracy";
constexpr std::int64_t kMeasurements = 3;  // Of each trial.
constexpr std::int64_t kFailsEvery = 100;  // One trial in so many fails.

struct Options {
  std::string address;
  std::string store;
  std::string study = "scale";
  std::int64_t studies = 1;
  std::int64_t trials = 1000;  // Of each study.
  bool finished = false;
  std::string algorithm = "random";
  bool no_snapshot = false;  // As stores were filled before there were snapshots.
  int calls = 50;
  std::int64_t active = 0;  // Studies active-0, active-1, …
  std::size_t clients = 8;
  int seconds = 20;
  std::string filter;
  std::string order_by;
};

void Check(const absl::Status& status) {
  if (!status.ok()) Fail(status);
}

// --- the store ---

StudySpec SpecOf(const std::string& name, const Options& options) {
  StudySpec spec;
  spec.name = name;
  spec.objectives = {{.metric = kMetric, .goal = Goal::kMaximize}};
  spec.space = *Space::Create(
      {{.name = "lr", .domain = FloatDomain{.lower = 1e-5, .upper = 0.1, .scale = Scale::kLog}},
       {.name = "dropout", .domain = FloatDomain{.lower = 0, .upper = 0.5}},
       {.name = "units", .domain = IntDomain{.lower = 16, .upper = 1024}}});
  spec.algorithm = {.name = options.algorithm, .options = {}};
  spec.parallel = 64;
  spec.seed = 1;
  return spec;
}

// Writes what clients of a study leave behind which suggest, report and complete one trial after another.
class Filler {
 public:
  Filler(Storage& storage, const std::string& name, const Options& options)
      : storage_(storage), options_(options) {
    const Event created{.seq = EventSeq(1),
                        .time = time_,
                        .actor = "filler",
                        .payload = StudyCreated{.spec = SpecOf(name, options)}};
    const Study study = Get(storage_.CreateStudy(created));
    fold_.emplace(Get(study::StudyFold::Start(study.id, created)));
  }

  void Fill(std::int64_t trials) {
    constexpr std::int64_t kTrialsOfCommit = 500;
    for (std::int64_t n = 1; n <= trials; ++n) {
      AddTrial(n);
      if (n % kTrialsOfCommit == 0 || n == trials) Store();
    }
  }

  void Finish() {
    Add(StudyStateChanged{.from = StudyState::kActive,
                          .to = StudyState::kStopping,
                          .reason = "filled",
                          .ending = StudyState::kCompleted});
    Add(StudyStateChanged{
        .from = StudyState::kStopping, .to = StudyState::kCompleted, .reason = "filled"});
    Store();
  }

 private:
  // `request`: of a client, as text of the usual length.
  void Add(EventPayload payload, std::uint64_t request = 0) {
    time_ += absl::Milliseconds(1);
    Event event{.seq = EventSeq(fold_->header().last_event.value() + 1),
                .time = time_,
                .actor = "filler",
                .payload = std::move(payload)};
    if (request != 0) event.request_id = fmt::format("{0:016x}-{0:016x}", request);
    Check(fold_->Apply(event));
    events_.push_back(std::move(event));
  }

  void AddTrial(std::int64_t number) {
    Rng rng = Rng(1).Fork(static_cast<std::uint64_t>(number));
    const TrialNumber trial(number);
    const Point point = {
        {"dropout", rng.Uniform() / 2},
        {"lr", std::pow(10.0, -5 + 4 * rng.Uniform())},
        {"units", static_cast<std::int64_t>(16 + std::floor(1008 * rng.Uniform()))}};
    const std::uint64_t request = rng.NextU64();
    Add(TrialCreated{.trial = trial,
                     .point = point,
                     .suggestion = {.algorithm = options_.algorithm,
                                    .version = "1",
                                    .options = "{}",
                                    .fingerprint = "x86_64 gcc 12.2.0",
                                    .as_of = fold_->header().last_event,
                                    .stream = static_cast<std::uint64_t>(number),
                                    .origin = "random"}},
        request);
    const Lease lease{.holder = "worker-1", .token = 1, .expires = time_ + absl::Seconds(60)};
    Add(LeaseGranted{.trial = trial, .lease = lease}, request);
    Add(
        TrialStateChanged{
            .trial = trial, .from = TrialState::kRequested, .to = TrialState::kRunning},
        request);
    for (std::int64_t step = 1; step <= kMeasurements; ++step) Measure(trial, step, rng);
    End(trial, rng.NextU64());
    trials_.push_back(fold_->Find(trial)->trial);
  }

  void Measure(TrialNumber trial, std::int64_t step, Rng& rng) {
    const double luck = rng.Uniform();
    const double value =
        1 - 1 / (1 + static_cast<double>(step)) * (1 + luck) / 2 - 0.1 * std::abs(luck - 0.5);
    Add(MeasurementReported{.trial = trial,
                            .measurement = {.step = step,
                                            .elapsed = absl::Seconds(step),
                                            .time = time_,
                                            .metrics = {{kMetric, value}, {"loss", 1 - value}},
                                            .source = "client"}},
        rng.NextU64());
  }

  void End(TrialNumber trial, std::uint64_t request) {
    const Measurement& last = *fold_->Find(trial)->trial.last;
    TrialStateChanged change{
        .trial = trial, .from = TrialState::kRunning, .to = TrialState::kCompleted};
    if (trial.value() % kFailsEvery == 0) {
      change.to = TrialState::kFailed;
      change.failure = FailureClass::kUserError;
      change.message = "the data was gone";
    } else {
      change.final_metrics = last.metrics;
      change.final_step = last.step;
      change.final_elapsed = last.elapsed;
    }
    Add(std::move(change), request);
  }

  void Store() {
    if (events_.empty()) return;
    Commit commit{.study = fold_->header().id,
                  .expected = EventSeq(events_.front().seq.value() - 1),
                  .events = std::exchange(events_, {}),
                  .header = fold_->header(),
                  .trials = std::exchange(trials_, {})};
    if (!options_.no_snapshot) {
      commit.snapshot = fold_->TakeSnapshot(study::StudiesImpl::kSnapshotInterval);
    }
    Check(storage_.Begin(std::move(commit))->Wait());
    fold_->Shed(fold_->header().last_event);
  }

  Storage& storage_;
  const Options& options_;
  absl::Time time_ = absl::FromUnixSeconds(1767225600);  // The beginning of 2026.
  std::optional<study::StudyFold> fold_;
  std::vector<Event> events_;
  std::vector<Trial> trials_;
};

Json Fill(const Options& options) {
  const auto store = Get(sqlite::Open({.path = options.store}, {.synchronous = false}));
  const auto begun = steady_clock::now();
  for (std::int64_t i = 0; i < options.studies; ++i) {
    const bool is_one = options.studies == 1;
    Filler filler(*store, is_one ? options.study : fmt::format("{}-{}", options.study, i), options);
    filler.Fill(options.trials);
    if (options.finished) filler.Finish();
  }
  const double seconds = MillisecondsSince(begun) / 1000;
  return {{"trials", options.studies * options.trials}, {"seconds", seconds}};
}

// --- calls ---

std::shared_ptr<grpc::Channel> Channel(const Options& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return wire::OpenChannel(options.address, Get(client::FindToken(options.address)), arguments);
}

// All pages of a list, one after the other, or as many with trials as there are calls. Pages without any count as calls.
Json Walk(const Options& options) {
  const auto stub = v1::StudyService::NewStub(Channel(options));
  v1::ListTrialsRequest request;
  request.set_parent(wire::StudyResource(options.study));
  request.set_filter(options.filter);
  request.set_order_by(options.order_by);
  request.set_page_size(1000);
  std::vector<double> pages;
  std::int64_t rows = 0;
  std::size_t largest = 0;
  int with_rows = 0;
  double until_first_row = 0;
  const auto begun = steady_clock::now();
  do {
    grpc::ClientContext context;
    v1::ListTrialsResponse page;
    const auto sent = steady_clock::now();
    const grpc::Status status = stub->ListTrials(&context, request, &page);
    if (!status.ok()) Fail(absl::InternalError(status.error_message()));
    pages.push_back(MillisecondsSince(sent));
    rows += page.trials_size();
    if (page.trials_size() > 0 && with_rows++ == 0) until_first_row = MillisecondsSince(begun);
    largest = std::max(largest, page.ByteSizeLong());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && (options.calls == 0 || with_rows < options.calls));
  const double seconds = MillisecondsSince(begun) / 1000;
  return {{"rows", rows},
          {"rows_per_second", static_cast<double>(rows) / seconds},
          {"first_ms", pages.front()},
          {"until_first_row_ms", until_first_row},
          {"calls_with_rows", with_rows},
          {"largest_page_bytes", largest},
          {"pages", Summary(pages)}};
}

Json Best(const Options& options) {
  const auto client = Client::Connect(options.address);
  std::vector<double> calls;
  for (int i = 0; i < options.calls; ++i) {
    const auto sent = steady_clock::now();
    const Study study = Get(client->GetStudy(options.study));
    Get(client->GetTrial(options.study, *study.best));
    calls.push_back(MillisecondsSince(sent));
  }
  return Summary(calls);
}

// The first call that needs the study's fold, after a start.
Json Suggest(const Options& options) {
  const auto client =
      Client::Connect(options.address, {.name = "scale", .timeout = absl::Minutes(5)});
  std::vector<double> suggestions;
  std::vector<double> completions;
  for (int i = 0; i < options.calls; ++i) {
    auto sent = steady_clock::now();
    const Trial trial = Get(client->SuggestTrials(options.study)).front();
    suggestions.push_back(MillisecondsSince(sent));
    sent = steady_clock::now();
    Get(client->Complete(options.study, trial, {{kMetric, 0.5}}));
    completions.push_back(MillisecondsSince(sent));
  }
  const double first = suggestions.front();
  suggestions.erase(suggestions.begin());
  return {
      {"first_ms", first}, {"suggest", Summary(suggestions)}, {"complete", Summary(completions)}};
}

// Looks once at each of the studies, as somebody does who walks through what has ended.
Json Touch(const Options& options) {
  const auto client = Client::Connect(options.address);
  std::vector<double> calls;
  for (std::int64_t i = 0; i < options.studies; ++i) {
    const std::string name = fmt::format("{}-{}", options.study, i);
    const auto sent = steady_clock::now();
    const Study study = Get(client->GetStudy(name));
    Get(client->ListTrials(name, {.limit = 10}));
    Get(client->GetTrial(name, *study.best));
    calls.push_back(MillisecondsSince(sent));
  }
  return Summary(calls);
}

// What one client of a server with many studies does, again and again: a trial of some active study, a look at it, and a page
// of the trials of any other. Durations by call.
void RunClient(const Options& options,
               std::uint64_t number,
               steady_clock::time_point end,
               std::map<std::string, std::vector<double>>& calls) {
  const auto client = Client::Connect(options.address, {.name = fmt::format("client-{}", number)});
  Rng rng = Rng(2).Fork(number);
  const auto pick = [&](const std::string& name, std::int64_t count) {
    return fmt::format("{}-{}", name, rng.UniformInt(static_cast<std::uint64_t>(count)));
  };
  const auto timed = [&](const char* call, auto run) {
    const auto sent = steady_clock::now();
    auto answer = Get(run());
    calls[call].push_back(MillisecondsSince(sent));
    return answer;
  };
  while (steady_clock::now() < end) {
    const std::string active = pick("active", options.active);
    const std::string done = pick(options.study, options.studies);
    const Trial trial = timed("suggest", [&] { return client->SuggestTrials(active); }).front();
    timed("complete", [&] { return client->Complete(active, trial, {{kMetric, 0.5}}); });
    timed("get study", [&] { return client->GetStudy(active); });
    timed("list trials", [&] { return client->ListTrials(done, {.limit = 100}); });
  }
}

Json Mix(const Options& options) {
  std::vector<std::map<std::string, std::vector<double>>> of_clients(options.clients);
  const auto end = steady_clock::now() + std::chrono::seconds(options.seconds);
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < of_clients.size(); ++i) {
    clients.emplace_back([&, i] { RunClient(options, i, end, of_clients[i]); });
  }
  for (std::thread& client : clients) client.join();
  std::map<std::string, std::vector<double>> all;
  for (const auto& calls : of_clients) {
    for (const auto& [call, durations] : calls) {
      all[call].insert(all[call].end(), durations.begin(), durations.end());
    }
  }
  Json figures = {{"clients", options.clients}, {"seconds", options.seconds}};
  for (const auto& [call, durations] : all) figures[call] = Summary(durations);
  return figures;
}

int Main(int argc, char** argv) {
  CLI::App app("Fills a store, and measures calls of a Vernier server on it");
  Options options;
  app.require_subcommand(1);
  app.add_option("--address", options.address);
  app.add_option("--store", options.store);
  app.add_option("--study", options.study);
  app.add_option("--studies", options.studies);
  app.add_option("--trials", options.trials);
  app.add_flag("--finished", options.finished);
  app.add_option("--algorithm", options.algorithm);
  app.add_flag("--no-snapshot", options.no_snapshot);
  app.add_option("--calls", options.calls);
  app.add_option("--active", options.active);
  app.add_option("--clients", options.clients);
  app.add_option("--seconds", options.seconds);
  app.add_option("--filter", options.filter);
  app.add_option("--order-by", options.order_by);
  return RunCommand<Options>(app,
                             argc,
                             argv,
                             options,
                             {{"fill", &Fill},
                              {"walk", &Walk},
                              {"best", &Best},
                              {"suggest", &Suggest},
                              {"touch", &Touch},
                              {"mix", &Mix}});
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) { return vernier::Main(argc, argv); }
