// The pieces that a suggestion of the Gaussian process is made of, ten dimensions. Those that have a bound report it, in
// seconds: the floating-point operations that no implementation does without, at the rate of Eigen's own product of
// matrices on this core at the same time; and how many times that they take.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/kernel.h"
#include "algorithms/gaussian_process/model/likelihood.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "algorithms/numerics/cholesky.h"
#include "algorithms/numerics/minimize.h"
#include "algorithms/numerics/sobol.h"
#include "benchmark/benchmark.h"
#include "vernier/core/rng.h"

namespace vernier::gp {
namespace {

constexpr Eigen::Index kDimensions = 10;
const std::vector<int> kGroups = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

Eigen::MatrixXd Points(Eigen::Index n, std::uint64_t seed) {
  Rng rng(seed);
  Eigen::MatrixXd points(n, kDimensions);
  for (double& coordinate : points.reshaped()) coordinate = rng.Uniform();
  return points;
}

Eigen::VectorXd Values(const Eigen::MatrixXd& points) {
  return (points.array() - 0.3).square().rowwise().sum() - 1.0;
}

Hyperparameters Typical() {
  return {.log_length_scales = std::vector<double>(kDimensions, 0.0), .log_noise = std::log(1e-4)};
}

Posterior Conditioned(Eigen::Index n) {
  const Eigen::MatrixXd points = Points(n, 1);
  return Posterior::Create(points, Values(points), Typical(), kGroups).value();
}

// Of this program, which has one thread.
double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// One product of two matrices of doubles that fit the cache.
class Product {
  static constexpr Eigen::Index kSize = 384;

 public:
  static constexpr double kOperations = 2.0 * kSize * kSize * kSize;
  double Seconds() {
    const double began = CpuSeconds();
    product_.noalias() = a_ * a_;
    benchmark::DoNotOptimize(product_.data());
    return CpuSeconds() - began;
  }

 private:
  Eigen::MatrixXd a_ = Eigen::MatrixXd::Random(kSize, kSize);
  Eigen::MatrixXd product_ = Eigen::MatrixXd(kSize, kSize);
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Runs `work`, which cannot be done in fewer `operations`. How fast this core is changes from one moment to the next where
// others share it, so that stretches of the work and products take turns, and each stretch is compared with the products
// just before and after it; the median counts.
void RunAgainstBound(benchmark::State& state,
                     double operations,
                     const std::function<void()>& work) {
  for ([[maybe_unused]] auto _ : state) work();
  constexpr int kStretches = 25;
  constexpr int kLeastStretches = 3;  // Of work that takes long.
  constexpr double kMostSeconds = 2;
  Product product;
  work();
  double before = product.Seconds();
  const double first_began = CpuSeconds();
  work();
  const double once = std::max(CpuSeconds() - first_began, 1e-6);
  const int repetitions = std::max(1, static_cast<int>(before / once));
  std::vector<double> bounds;
  std::vector<double> times;
  double spent = 0;
  for (int i = 0; i < kStretches && (i < kLeastStretches || spent < kMostSeconds); ++i) {
    const double began = CpuSeconds();
    for (int k = 0; k < repetitions; ++k) work();
    const double seconds = (CpuSeconds() - began) / repetitions;
    spent += seconds * repetitions;
    const double after = product.Seconds();
    bounds.push_back(operations / Product::kOperations * 0.5 * (before + after));
    times.push_back(seconds / bounds.back());
    before = after;
  }
  state.counters["bound"] = Median(bounds);
  state.counters["times_bound"] = Median(times);
}

// Of one value and gradient of the likelihood: n^3 for the factor, its inverse and the inverse of the covariance; for each
// of d dimensions of each of n^2 / 2 pairs 17: the difference and its square 2, their sum 1, the main effect 8 (its
// exponential is a product of what belongs to each point), its derivative 2, the sums for the two gradients 4.
double LikelihoodOperations(double n) { return n * n * n + 8.5 * n * n * kDimensions; }

void LikelihoodAndGradient(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Eigen::VectorXd values = Values(points);
  NegativeLogPosterior objective(points, kGroups, values, Prior());
  const std::vector<double> theta = Typical().Pack();
  std::vector<double> gradient(theta.size());
  RunAgainstBound(state, LikelihoodOperations(static_cast<double>(state.range(0))), [&] {
    benchmark::DoNotOptimize(objective(theta, gradient));
  });
}
BENCHMARK(LikelihoodAndGradient)
    ->Arg(10)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Unit(benchmark::kMicrosecond);

// The search that a fit from an earlier optimum is, with as many evaluations as it makes.
void Fit(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Eigen::VectorXd values = Values(points);
  NegativeLogPosterior objective(points, kGroups, values, Prior());
  const std::vector<double> start = Typical().Pack();
  const numerics::Box box{.lower = std::vector<double>(start.size(), std::log(1e-4)),
                          .upper = std::vector<double>(start.size(), std::log(20.0))};
  const auto search = [&] {
    return numerics::MinimizeNlopt(numerics::NloptAlgorithm::kLbfgs,
                                   [&](auto theta, auto slope) { return objective(theta, slope); },
                                   start,
                                   box,
                                   {.max_evaluations = kWarmEvaluations});
  };
  const int evaluations = search().evaluations;
  const double operations = LikelihoodOperations(static_cast<double>(state.range(0)));
  RunAgainstBound(
      state, evaluations * operations, [&] { benchmark::DoNotOptimize(search().value); });
  state.counters["evaluations"] = evaluations;
}
BENCHMARK(Fit)->Arg(100)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond);

void Covariance(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Kernel kernel(Typical(), kGroups);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(kernel.Lower(points));
}
BENCHMARK(Covariance)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void Condition(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Eigen::VectorXd values = Values(points);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(Posterior::Create(points, values, Typical(), kGroups));
  }
}
BENCHMARK(Condition)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void InverseOfFactor(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  Eigen::MatrixXd covariance = Kernel(Typical(), kGroups).Lower(points);
  covariance.diagonal().array() += 1e-4;
  const auto factor = numerics::FactorizeWithJitter(covariance);
  Eigen::MatrixXd inverse;
  for ([[maybe_unused]] auto _ : state) {
    numerics::InvertLower(factor->lower, inverse);
    benchmark::DoNotOptimize(inverse.data());
  }
}
BENCHMARK(InverseOfFactor)->Arg(100)->Arg(300)->Unit(benchmark::kMicrosecond);

// Of m candidates: n^2 m for the variances; n m d times the difference, its square and their sum 3, and the main effect 8.
void PredictBlock(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  const Posterior posterior = Conditioned(state.range(0));
  const Eigen::MatrixXd candidates = Points(64, 2);
  const double operations =
      (n * n + (3 + 8) * n * kDimensions) * static_cast<double>(candidates.rows());
  RunAgainstBound(
      state, operations, [&] { benchmark::DoNotOptimize(posterior.Predict(candidates)); });
}
BENCHMARK(PredictBlock)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

// Of one point: 2 n^2 for the two triangles; n d times the difference, its square and their sum 3, the main effect 8, its
// slope and the sum of both slopes 3, the two gradients 5.
void PredictWithGradient(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  const Posterior posterior = Conditioned(state.range(0));
  const Eigen::RowVectorXd candidate = Points(1, 2).row(0);
  RunAgainstBound(state, 2 * n * n + (3 + 8 + 3 + 5) * n * kDimensions, [&] {
    benchmark::DoNotOptimize(posterior.PredictWithGradient(candidate));
  });
}
BENCHMARK(PredictWithGradient)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void SobolPoint(benchmark::State& state) {
  std::vector<double> point(kDimensions);
  std::uint64_t index = 0;
  for ([[maybe_unused]] auto _ : state) {
    numerics::ScrambledSobolPoint(index++ % 1024, 7, point);
    benchmark::DoNotOptimize(point.data());
  }
}
BENCHMARK(SobolPoint)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vernier::gp
