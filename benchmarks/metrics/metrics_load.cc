// Clients that report measurements at a rate, follow them, and read long curves. Prints its figures as one line of JSON.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/CLI.hpp"
#include "benchmarks/service/load_client.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "vernier/client.h"

namespace vernier {
namespace {

constexpr char kMetric[] = "accuracy";

struct Options {
  std::string address;
  std::string study;
  int trials = 50;
  double rate = 1000;  // Measurements a second, of all trials.
  double seconds = 20;
  std::int64_t points = 20000;  // Of each trial.
  int batch = 500;
  int max_points = 200;
};

StudySpec SpecOf(const Options& options) {
  StudySpec spec;
  spec.name = options.study;
  spec.objectives = {{.metric = kMetric, .goal = Goal::kMaximize}};
  spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{.lower = 0, .upper = 1}}});
  spec.algorithm = {.name = "random", .options = {}};
  spec.parallel = options.trials;
  spec.seed = 1;
  return spec;
}

// A curve that a model might have, with a little noise.
double ValueAt(std::int64_t step, int trial) {
  const auto x = static_cast<double>(step);
  return 1 - 1 / (1 + x / (100.0 + trial)) + 0.01 * std::sin(x * 12.9898 + trial);
}

// Each trial has a client of its own, as trials have. Latency: from the call to its answer, when it is durable.
Json Report(const Options& options) {
  const auto creator = Client::Connect(options.address);
  Get(creator->CreateStudy(SpecOf(options)));
  std::mutex mutex;
  std::vector<double> latencies;
  std::int64_t late = 0;
  const auto begun = steady_clock::now() + std::chrono::milliseconds(500);
  std::vector<std::jthread> threads;
  for (int i = 0; i < options.trials; ++i) {
    threads.emplace_back([&, i] {
      const auto client = Client::Connect(options.address, {.name = fmt::format("worker-{}", i)});
      const Trial trial = Get(client->SuggestTrials(options.study)).front();
      std::vector<double> own;
      std::int64_t own_late = 0;
      const auto period = std::chrono::duration<double>(options.trials / options.rate);
      const auto steps = static_cast<std::int64_t>(options.seconds * options.rate / options.trials);
      for (std::int64_t step = 1; step <= steps; ++step) {
        // Trials do not report in step.
        const auto due =
            begun +
            std::chrono::duration_cast<steady_clock::duration>(
                period * (static_cast<double>(step) + static_cast<double>(i) / options.trials));
        own_late += steady_clock::now() > due ? 1 : 0;
        std::this_thread::sleep_until(due);
        const Measurement measurement{.step = step,
                                      .time = absl::FromChrono(std::chrono::system_clock::now()),
                                      .metrics = {{kMetric, ValueAt(step, i)}}};
        const auto sent = steady_clock::now();
        Get(client->Report(options.study, trial, {measurement}));
        own.push_back(MillisecondsSince(sent));
      }
      const std::lock_guard lock(mutex);
      latencies.insert(latencies.end(), own.begin(), own.end());
      late += own_late;
    });
  }
  threads.clear();
  const double took = MillisecondsSince(begun) / 1000;
  Json json = Summary(latencies);
  json["per_second"] = static_cast<double>(latencies.size()) / took;
  json["begun_late"] = late;  // Because the one before it was not answered yet.
  return json;
}

// Latency: from the time at which the program printed a line, or made a report, to the moment in which somebody who follows
// the study is told, for which it must be durable.
Json Watch(const Options& options) {
  const auto client = Client::Connect(options.address);
  std::map<std::string, std::vector<double>> latencies;
  std::vector<double> times;
  const absl::Status status =
      client->WatchStudy(options.study, EventSeq(0), /*follow=*/true, [&](const Event& event) {
        const auto* const report = std::get_if<MeasurementReported>(&event.payload);
        if (report == nullptr) return true;
        const absl::Time now = absl::FromChrono(std::chrono::system_clock::now());
        latencies[report->measurement.source].push_back(
            absl::ToDoubleMilliseconds(now - report->measurement.time));
        times.push_back(absl::ToDoubleSeconds(report->measurement.time - absl::UnixEpoch()));
        return true;
      });
  if (!status.ok()) Fail(status);
  Json json;
  for (const auto& [source, values] : latencies) json[source] = Summary(values);
  if (times.size() > 1) {
    const auto [first, last] = std::ranges::minmax(times);
    json["per_second"] = static_cast<double>(times.size()) / (last - first);
  }
  return json;
}

// Long curves, as fast as they are taken.
Json Fill(const Options& options) {
  const auto creator = Client::Connect(options.address);
  Get(creator->CreateStudy(SpecOf(options)));
  const auto begun = steady_clock::now();
  std::vector<std::jthread> threads;
  constexpr int kThreads = 4;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < options.trials; i += kThreads) {
        const auto client = Client::Connect(options.address, {.name = fmt::format("filler-{}", i)});
        const Trial trial = Get(client->SuggestTrials(options.study)).front();
        absl::Time time = absl::FromChrono(std::chrono::system_clock::now());
        for (std::int64_t step = 1; step <= options.points;) {
          std::vector<Measurement> batch;
          for (int k = 0; k < options.batch && step <= options.points; ++k, ++step) {
            time += absl::Milliseconds(1);
            batch.push_back({.step = step, .time = time, .metrics = {{kMetric, ValueAt(step, i)}}});
          }
          Get(client->Report(options.study, trial, batch));
        }
      }
    });
  }
  threads.clear();
  const double seconds = MillisecondsSince(begun) / 1000;
  const double count = static_cast<double>(options.points) * options.trials;
  return {{"points", count}, {"seconds", seconds}, {"per_second", count / seconds}};
}

// A picture of every curve of the study; then the whole of the first.
Json Read(const Options& options) {
  const auto client = Client::Connect(options.address, {.timeout = absl::Minutes(5)});
  auto begun = steady_clock::now();
  const Study study = Get(client->GetStudy(options.study));
  const double opened = MillisecondsSince(begun);
  std::vector<double> pictures;
  begun = steady_clock::now();
  std::size_t points = 0;
  for (std::int64_t number = 1; number <= study.trials; ++number) {
    const auto one = steady_clock::now();
    points += Get(client->SampleMeasurements(
                      options.study, TrialNumber(number), kMetric, options.max_points))
                  .size();
    pictures.push_back(MillisecondsSince(one));
  }
  const double all = MillisecondsSince(begun);
  begun = steady_clock::now();
  const std::size_t whole = Get(client->ListMeasurements(options.study, TrialNumber(1))).size();
  return {
      {"first_answer_ms", opened},
      {"pictures", {{"of_each_curve", Summary(pictures)}, {"of_all_ms", all}, {"points", points}}},
      {"whole_curve", {{"points", whole}, {"ms", MillisecondsSince(begun)}}}};
}

int Main(int argc, char** argv) {
  CLI::App app("Reports measurements to a Vernier server, follows them, or reads them");
  Options options;
  app.require_subcommand(1);
  app.add_option("--address", options.address)->required();
  app.add_option("--study", options.study)->required();
  app.add_option("--trials", options.trials);
  app.add_option("--rate", options.rate);
  app.add_option("--seconds", options.seconds);
  app.add_option("--points", options.points);
  app.add_option("--batch", options.batch);
  app.add_option("--max-points", options.max_points);
  return RunCommand<Options>(
      app,
      argc,
      argv,
      options,
      {{"report", &Report}, {"watch", &Watch}, {"fill", &Fill}, {"read", &Read}});
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) { return vernier::Main(argc, argv); }
