#pragma once

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/service/load.h"
#include "nlohmann/json.hpp"

// What load clients share that measure one thing for each of their subcommands, and print the figures as a line of JSON.
namespace vernier {

using Json = nlohmann::ordered_json;
using std::chrono::steady_clock;

[[noreturn]] inline void Fail(const absl::Status& status) {
  std::cerr << status.ToString() << '\n';
  std::exit(1);
}

template <typename T>
T Get(absl::StatusOr<T> value) {
  if (!value.ok()) Fail(value.status());
  return *std::move(value);
}

inline double MillisecondsSince(steady_clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begun).count();
}

inline Json Summary(const std::vector<double>& milliseconds) {
  return {{"count", milliseconds.size()},
          {"p50_ms", Quantile(milliseconds, 0.5)},
          {"p99_ms", Quantile(milliseconds, 0.99)},
          {"max_ms", Quantile(milliseconds, 1)}};
}

// Runs the subcommand that the command line names; `app` writes its options to `options`.
template <typename Options>
int RunCommand(CLI::App& app,
               int argc,
               char** argv,
               const Options& options,
               const std::map<std::string, Json (*)(const Options&)>& commands) {
  Json (*run)(const Options&) = nullptr;
  for (const auto& [name, function] : commands) {
    app.add_subcommand(name)->fallthrough()->callback([&run, f = function] { run = f; });
  }
  CLI11_PARSE(app, argc, argv);
  std::cout << run(options).dump() << '\n';
  return 0;
}

}  // namespace vernier
