// The pieces that a suggestion of the Gaussian process is made of, ten dimensions.

#include <cmath>
#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/kernel.h"
#include "algorithms/gaussian_process/likelihood.h"
#include "algorithms/gaussian_process/posterior.h"
#include "algorithms/numerics/cholesky.h"
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

void LikelihoodAndGradient(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Eigen::VectorXd values = Values(points);
  NegativeLogPosterior objective(points, kGroups, values, Prior());
  const std::vector<double> theta = Typical().Pack();
  std::vector<double> gradient(theta.size());
  for (auto _ : state) benchmark::DoNotOptimize(objective(theta, gradient));
}
BENCHMARK(LikelihoodAndGradient)->Arg(10)->Arg(100)->Arg(300)->Unit(benchmark::kMicrosecond);

void Covariance(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Kernel kernel(Typical(), kGroups);
  for (auto _ : state) benchmark::DoNotOptimize(kernel.Lower(points));
}
BENCHMARK(Covariance)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void Condition(benchmark::State& state) {
  const Eigen::MatrixXd points = Points(state.range(0), 1);
  const Eigen::VectorXd values = Values(points);
  for (auto _ : state) {
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
  for (auto _ : state) {
    numerics::InvertLower(factor->lower, inverse);
    benchmark::DoNotOptimize(inverse.data());
  }
}
BENCHMARK(InverseOfFactor)->Arg(100)->Arg(300)->Unit(benchmark::kMicrosecond);

void PredictBlock(benchmark::State& state) {
  const Posterior posterior = Conditioned(state.range(0));
  const Eigen::MatrixXd candidates = Points(64, 2);
  for (auto _ : state) benchmark::DoNotOptimize(posterior.Predict(candidates));
}
BENCHMARK(PredictBlock)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void PredictWithGradient(benchmark::State& state) {
  const Posterior posterior = Conditioned(state.range(0));
  const Eigen::RowVectorXd candidate = Points(1, 2).row(0);
  for (auto _ : state) benchmark::DoNotOptimize(posterior.PredictWithGradient(candidate));
}
BENCHMARK(PredictWithGradient)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void SobolPoint(benchmark::State& state) {
  std::vector<double> point(kDimensions);
  std::uint64_t index = 0;
  for (auto _ : state) {
    numerics::ScrambledSobolPoint(index++ % 1024, 7, point);
    benchmark::DoNotOptimize(point.data());
  }
}
BENCHMARK(SobolPoint)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vernier::gp
