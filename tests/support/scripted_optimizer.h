#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vernier/optimizer.h"

namespace vernier::testing {

// The arguments of one call of Suggest.
struct AskedFor {
  std::vector<Observation> finished;
  std::vector<PendingPoint> pending;
  std::string state;
  std::size_t count = 0;
};

// An optimiser that calls a function of the test. The function may block, to keep a computation in progress.
class ScriptedOptimizer final : public Optimizer {
 public:
  using Script = std::function<absl::StatusOr<Suggestions>(const AskedFor&, Rng, std::stop_token)>;
  ScriptedOptimizer(std::string version, Script script, bool has_model = true)
      : version_(std::move(version)), script_(std::move(script)), has_model_(has_model) {}

  std::string_view name() const override { return "scripted"; }
  std::string_view version() const override { return version_; }
  bool has_model() const override { return has_model_; }
  std::string options() const override { return "{}"; }
  absl::StatusOr<Suggestions> Suggest(const TrialLog::View& finished,
                                      std::span<const PendingPoint> pending,
                                      std::string_view state,
                                      Rng stream,
                                      std::size_t count,
                                      std::stop_token stop) const override {
    AskedFor asked{.finished = {},
                   .pending = {pending.begin(), pending.end()},
                   .state = std::string(state),
                   .count = count};
    for (std::size_t i = 0; i < finished.size(); ++i) asked.finished.push_back(finished[i]);
    return script_(asked, stream, std::move(stop));
  }

 private:
  const std::string version_;
  const Script script_;
  const bool has_model_;
};

}  // namespace vernier::testing
