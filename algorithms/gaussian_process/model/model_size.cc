#include "algorithms/gaussian_process/model/model_size.h"

#include <algorithm>

#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/targets.h"

namespace vernier::gp {
namespace {

// Multiplications, of which a slow core does one in half a nanosecond to one nanosecond: a suggestion takes about five
// seconds, ten at worst.
constexpr double kMostWork = 1e10;
constexpr double kMostBytes = 512.0 * 1024 * 1024;
// Models of fewer trials are worth nothing.
constexpr std::size_t kLeast = 50;
// A cold fit searches from each standard start, under each warp.
constexpr double kEvaluations = 3.0 * kColdEvaluations * static_cast<double>(kWarps.size());
// Candidates of a search, each times two: a difference and its square.
constexpr double kCandidateWork = 1024;
// Matrices of n x n numbers that a model holds while it is made.
constexpr double kMatrices = 3;

// Of the likelihood and its gradient: a third of n^3 for the factor, and a pair's share of each length scale.
double FitWork(const ModelShape& shape, double n) {
  return static_cast<double>(shape.models) * kEvaluations * n * n *
         (n / 3 + 2 * static_cast<double>(shape.groups));
}

// Of the factor, the distances of all pairs, and those of the candidates to all points.
double LookWork(const ModelShape& shape, double n) {
  const auto columns = static_cast<double>(shape.columns);
  return static_cast<double>(shape.models) *
         (n * n * (n / 3 + columns) + kCandidateWork * n * columns);
}

double Bytes(const ModelShape& shape, double n) {
  return static_cast<double>(shape.models) * kMatrices * sizeof(double) * n * n;
}

// The largest number up to `most` that is `cheap`; 0 if none is.
template <typename Cheap>
std::size_t LargestCheap(std::size_t most, const Cheap& cheap) {
  std::size_t low = 0;
  std::size_t high = most;
  while (low < high) {
    const std::size_t middle = high - (high - low) / 2;
    if (cheap(static_cast<double>(middle))) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

std::optional<ModelSize> Affordable(const ModelShape& shape, const ModelSize& most) {
  ModelSize size;
  size.fitted = LargestCheap(most.fitted, [&](double n) { return FitWork(shape, n) <= kMostWork; });
  size.points = LargestCheap(most.points, [&](double n) {
    return LookWork(shape, n) <= kMostWork && Bytes(shape, n) <= kMostBytes;
  });
  const bool is_enough =
      size.fitted >= std::min(kLeast, most.fitted) && size.points >= std::min(kLeast, most.points);
  if (!is_enough) return std::nullopt;
  return size;
}

}  // namespace vernier::gp
