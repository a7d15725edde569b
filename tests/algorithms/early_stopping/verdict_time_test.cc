#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "algorithms/early_stopping/decay_rule.h"
#include "gtest/gtest.h"
#include "tests/algorithms/early_stopping/curves.h"
#include "vernier/core/rng.h"

namespace vernier {
namespace {

using ::vernier::testing::MakeCurve;
using ::vernier::testing::Running;

std::vector<double> Fall(Rng& rng, int length) {
  const double end = 0.1 + 0.6 * rng.Uniform();
  const double rate = 0.04 + 0.16 * rng.Uniform();
  std::vector<double> values;
  for (int step = 1; step <= length; ++step) {
    values.push_back(end + 0.5 * std::exp(-step / (rate * length)) + 0.003 * rng.Normal());
  }
  return values;
}

// Milliseconds of this thread, the least of a few tries. A verdict is due at every report.
TEST(DecayRule, TakesLessThanFiveMillisecondsAtAThousandCurves) {
  Rng rng(10);
  std::vector<Curve> others;
  for (int i = 0; i < 1000; ++i) others.push_back(MakeCurve(Fall(rng, 100)));
  std::vector<double> part = Fall(rng, 100);
  part.resize(50);
  const auto rule = NewDecayRule(Goal::kMinimize, {.name = "decay", .options = {}}).value();
  double least = 1e9;
  for (int i = 0; i < 20; ++i) {
    const std::clock_t begin = std::clock();
    rule->Judge(Running(part), others);
    least = std::min(least, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  EXPECT_LT(least, 5);
  ::testing::Test::RecordProperty("milliseconds", std::to_string(least));
}

}  // namespace
}  // namespace vernier
