#include "algorithms/numerics/minimize.h"

#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::numerics {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

double Rosenbrock(std::span<const double> x, std::span<double> gradient) {
  const double a = 1.0 - x[0];
  const double b = x[1] - x[0] * x[0];
  gradient[0] = -2.0 * a - 400.0 * x[0] * b;
  gradient[1] = 200.0 * b;
  return a * a + 100.0 * b * b;
}

// Lowest at (3, -1, 3, -1, …).
double Bowl(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double weight = 1.0 + static_cast<double>(i);
    const double away = x[i] - (i % 2 == 0 ? 3.0 : -1.0);
    value += weight * away * away;
    gradient[i] = 2.0 * weight * away;
  }
  return value;
}

struct Search {
  std::string name;
  std::function<Minimum(SmoothFunction, std::span<const double>, const Box&, const StopRule&)> run;
};

Search Native(std::string name, NloptAlgorithm algorithm) {
  return {std::move(name), [algorithm](auto f, auto start, const auto& box, const auto& rule) {
            return MinimizeNlopt(algorithm, f, start, box, rule);
          }};
}

class MinimizeTest : public ::testing::TestWithParam<Search> {};

TEST_P(MinimizeTest, FindsTheEndOfACurvedValley) {
  const std::vector<double> start = {-1.2, 1.0};
  const Minimum found = GetParam().run(Rosenbrock,
                                       start,
                                       {.lower = {-5, -5}, .upper = {5, 5}},
                                       {.max_evaluations = 2000, .value_tolerance = 1e-14});
  EXPECT_THAT(found.x, ElementsAre(DoubleNear(1.0, 0.05), DoubleNear(1.0, 0.05)));
  EXPECT_LT(found.value, 1e-3);
}

TEST_P(MinimizeTest, StopsAtTheBoundsThatHoldItBack) {
  const std::vector<double> start = {0.5, 0.5, 0.5};
  const Minimum found = GetParam().run(
      Bowl, start, {.lower = {0, 0, 0}, .upper = {1, 1, 5}}, {.max_evaluations = 200});
  EXPECT_THAT(found.x, ElementsAre(DoubleNear(1, 1e-6), DoubleNear(0, 1e-6), DoubleNear(3, 1e-2)));
}

TEST_P(MinimizeTest, EvaluatesNothingMoreOnceItIsToStop) {
  std::stop_source source;
  int evaluations = 0;
  const auto f = [&](std::span<const double> x, std::span<double> gradient) {
    if (++evaluations == 3) source.request_stop();
    return Rosenbrock(x, gradient);
  };
  const std::vector<double> start = {-1.2, 1.0};
  const Minimum found = GetParam().run(f,
                                       start,
                                       {.lower = {-5, -5}, .upper = {5, 5}},
                                       {.max_evaluations = 1000, .stop = source.get_token()});
  EXPECT_EQ(evaluations, 3);
  EXPECT_TRUE(std::isfinite(found.value));
}

TEST_P(MinimizeTest, KeepsToItsBudgetAndIsNeverWorseThanTheStart) {
  const std::vector<double> start = {-1.2, 1.0};
  std::vector<double> gradient(2);
  for (const int budget : {1, 2, 5}) {
    const Minimum found = GetParam().run(
        Rosenbrock, start, {.lower = {-5, -5}, .upper = {5, 5}}, {.max_evaluations = budget});
    EXPECT_LE(found.evaluations, budget);
    EXPECT_LE(found.value, Rosenbrock(start, gradient));
    EXPECT_EQ(found.value, Rosenbrock(found.x, gradient));
  }
}

TEST_P(MinimizeTest, StepsBackFromWhereTheFunctionIsNotDefined) {
  const auto walled = [](std::span<const double> x, std::span<double> gradient) {
    if (x[0] > 2.0) return std::numeric_limits<double>::quiet_NaN();
    return Bowl(x, gradient);
  };
  const std::vector<double> start = {0.0};
  const Minimum found =
      GetParam().run(walled, start, {.lower = {-10}, .upper = {10}}, {.max_evaluations = 100});
  EXPECT_LE(found.x[0], 2.0);
  EXPECT_LT(found.value, 9.0);  // Better than the start, where it is 9.
}

TEST_P(MinimizeTest, ReturnsAStartOutsideTheBoxMovedInside) {
  const std::vector<double> start = {100.0, -100.0};
  const Minimum found =
      GetParam().run(Bowl, start, {.lower = {0, 0}, .upper = {1, 1}}, {.max_evaluations = 1});
  EXPECT_THAT(found.x, ElementsAre(1.0, 0.0));
}

TEST_P(MinimizeTest, HasNothingToDoWithoutVariables) {
  const auto constant = [](std::span<const double>, std::span<double>) { return 7.0; };
  const Minimum found = GetParam().run(constant, {}, {}, {});
  EXPECT_TRUE(found.x.empty());
}

INSTANTIATE_TEST_SUITE_P(Searches,
                         MinimizeTest,
                         ::testing::Values(Search{"Lbfgs", MinimizeLbfgs},
                                           Native("NloptSlsqp", NloptAlgorithm::kSlsqp),
                                           Native("NloptLbfgs", NloptAlgorithm::kLbfgs),
                                           Native("NloptMma", NloptAlgorithm::kMma)),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace vernier::numerics
