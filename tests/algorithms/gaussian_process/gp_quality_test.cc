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

class GpQualityByFunction : public ::testing::TestWithParam<QualityCase> {};

TEST_P(GpQualityByFunction, BeatsRandomSearchByTheMargin) {
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
                         GpQualityByFunction,
                         ::testing::Values(QualityCase{"Branin", "branin", 0.3},
                                           QualityCase{"Hartmann6", "hartmann6", 0.4},
                                           QualityCase{"Mixed", "bowl5", 1.0},
                                           QualityCase{"Conditional", "branches", 0.5}),
                         [](const auto& row) { return row.param.name; });

// Hartmann's function has a second-best minimum, 0.119 above the least, in which about half of the searches end first.
TEST(GpQuality, LeavesTheSecondBestMinimum) {
  const quality::Function function = FunctionOf("hartmann6");
  const Problem problem{function.space, {{.metric = "loss", .goal = Goal::kMinimize}}};
  int found = 0;
  int left = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    AskTell study = AskTell::Create(problem, {.name = "gp", .options = {}}, seed).value();
    bool was_there = false;
    for (int i = 1; i <= 200; ++i) {
      const AskTell::Asked asked = study.Ask().value().front();
      ASSERT_TRUE(study.Tell(asked.trial, {function.regret(asked.suggestion.point)}).ok());
      const double best = study.Best()->values.front();
      was_there = was_there || (i >= 60 && best > 0.1);
      if (best < 0.01) break;
    }
    const bool is_found = study.Best()->values.front() < 0.01;
    found += is_found ? 1 : 0;
    left += is_found && was_there ? 1 : 0;
  }
  EXPECT_GE(found, 7);
  EXPECT_GE(left, 2);
}

}  // namespace
}  // namespace vernier
