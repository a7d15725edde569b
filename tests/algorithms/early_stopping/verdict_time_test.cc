#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "algorithms/early_stopping/end_rule.h"
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

// Milliseconds of this thread for a verdict, the least of a few tries, beside 1,000 curves of 100 points.
double TimeOf(const EarlyStopper& rule) {
  Rng rng(10);
  std::vector<Curve> others;
  for (int i = 0; i < 1000; ++i) {
    others.push_back(MakeCurve(Fall(rng, 100)));
    for (int j = 0; j < 6; ++j) others.back().coordinates.push_back(rng.Uniform());
  }
  std::vector<double> part = Fall(rng, 100);
  part.resize(6);  // All stages are still to come.
  Curve running = Running(part);
  running.coordinates = others.front().coordinates;
  double least = 1e9;
  for (int i = 0; i < 20; ++i) {
    const std::clock_t begin = std::clock();
    rule.Judge(running, others);
    least = std::min(least, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  ::testing::Test::RecordProperty("milliseconds", std::to_string(least));
  return least;
}

// A verdict is due at every report, and may take 5 ms on a quiet core. Tests share theirs: thrice as much.
constexpr double kMostMilliseconds = 15;

TEST(VerdictTime, OfDecayIsShort) {
  EXPECT_LT(TimeOf(*NewDecayRule(Goal::kMinimize, {.name = "decay"}).value()), kMostMilliseconds);
}

TEST(VerdictTime, OfRegressionIsShort) {
  EXPECT_LT(TimeOf(*NewRegressionRule(Goal::kMinimize, {.name = "regression"}).value()),
            kMostMilliseconds);
}

TEST(VerdictTime, OfAutomaticIsShort) {
  EXPECT_LT(TimeOf(*NewAutomaticRule(Goal::kMinimize, {.name = "automatic"}).value()),
            kMostMilliseconds);
}

}  // namespace
}  // namespace vernier
