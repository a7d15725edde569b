// That the model is worth its time: on functions of different kinds, over seeds paired with random search.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/quality/functions.h"
#include "gtest/gtest.h"
#include "src/core/check.h"
#include "vernier/ask_tell.h"

namespace vernier {
namespace {

constexpr int kTrials = 25;

struct QualityCase {
  std::string name;
  std::string function;  // Of the benchmark's.
  // By how many powers of ten the regret must be smaller than that of random search.
  double margin;
};

quality::Function FunctionOf(const std::string& name) {
  const std::vector<quality::Function> all = quality::Functions();
  const auto has_name = [&name](const quality::Function& function) {
    return function.name == name;
  };
  const auto found = std::find_if(all.begin(), all.end(), has_name);
  VERNIER_CHECK(found != all.end(), "the benchmark has the function");
  return *found;
}

double LogRegret(const quality::Function& function,
                 const std::string& algorithm,
                 std::uint64_t seed) {
  const Problem problem{function.space, {{.metric = "loss", .goal = Goal::kMinimize}}};
  AskTell study = AskTell::Create(problem, {.name = algorithm, .options = {}}, seed).value();
  for (int i = 0; i < kTrials; ++i) {
    const AskTell::Asked asked = study.Ask().value().front();
    EXPECT_TRUE(study.Tell(asked.trial, {function.regret(asked.suggestion.point)}).ok());
  }
  return std::log10(std::max(study.Best()->values.front(), 1e-6));
}

class GpQuality : public ::testing::TestWithParam<QualityCase> {};

TEST_P(GpQuality, BeatsRandomSearchByTheMargin) {
  constexpr int kSeeds = 20;
  const quality::Function function = FunctionOf(GetParam().function);
  double sum = 0;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const double gain = LogRegret(function, "random", seed) - LogRegret(function, "gp", seed);
    sum += gain;
    squares += gain * gain;
  }
  const double mean = sum / kSeeds;
  const double error = std::sqrt((squares / kSeeds - mean * mean) / (kSeeds - 1));
  constexpr double kStudent99 = 2.54;  // One-sided, 19 degrees of freedom.
  EXPECT_GT(mean - kStudent99 * error, GetParam().margin)
      << "mean gain " << mean << " decades, standard error " << error;
  RecordProperty("mean_gain", std::to_string(mean));
}

INSTANTIATE_TEST_SUITE_P(Functions,
                         GpQuality,
                         ::testing::Values(QualityCase{"Branin", "branin", 0.3},
                                           QualityCase{"Hartmann6", "hartmann6", 0.4},
                                           QualityCase{"Mixed", "bowl5", 1.0},
                                           QualityCase{"Conditional", "branches", 0.5}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace vernier
