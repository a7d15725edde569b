#include "algorithms/gaussian_process/model/model_size.h"

#include <algorithm>

#include "algorithms/gaussian_process/model/fit.h"
#include "algorithms/gaussian_process/model/targets.h"

// Work is bounded by counting multiplications, never by time, so that a suggestion replays on any machine. The counts
// are of the worst case: a cold fit of every model, with all evaluations used.
namespace vernier::gp {
namespace {

// Largest number of multiplications of a suggestion. A choice: a slow core takes half a nanosecond to one nanosecond
// each, so about five seconds, ten at worst. Without the bound a first fit to 1000 trials of 20 parameters with 100
// constraints took 105 s, with it 8 s (README.md of this folder).
constexpr double kMostWork = 1e10;
// Largest memory of a suggestion's models. A choice: what a server can give to one of several calls.
constexpr double kMostBytes = 512.0 * 1024 * 1024;
// Fewest trials of a useful model. A choice: in so large a space, fewer say too little to be worth their cost.
constexpr std::size_t kLeast = 50;
// Evaluations of a cold fit: one search from each of three standard starts, under each warp.
constexpr double kEvaluations = 3.0 * kColdEvaluations * static_cast<double>(kWarps.size());
// 512 candidates of a search, times two multiplications: a difference and its square.
constexpr double kCandidateWork = 1024;
// Matrices of n x n numbers that a model holds while it is fitted.
constexpr double kMatrices = 3;

// Work of the fits: for each evaluation a third of n^3 for the factor, and the pairs' part of each length scale.
double FitWork(const ModelShape& shape, double n) {
  return static_cast<double>(shape.models) * kEvaluations * n * n *
         (n / 3 + 2 * static_cast<double>(shape.groups));
}

// Work of conditioning and searching: the factor, the distances of all pairs, and those of the candidates to all
// points.
double LookWork(const ModelShape& shape, double n) {
  const auto columns = static_cast<double>(shape.columns);
  return static_cast<double>(shape.models) *
         (n * n * (n / 3 + columns) + kCandidateWork * n * columns);
}

double Bytes(const ModelShape& shape, double n) {
  return static_cast<double>(shape.models) * kMatrices * sizeof(double) * n * n;
}

// The largest number up to `most` that is `cheap`; 0 if none is. By bisection, as work grows with n.
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
  ModelSize size = most;
  size.fitted = LargestCheap(most.fitted, [&](double n) { return FitWork(shape, n) <= kMostWork; });
  size.points = LargestCheap(most.points, [&](double n) {
    return LookWork(shape, n) <= kMostWork && Bytes(shape, n) <= kMostBytes;
  });
  // A user who asks for models smaller than kLeast gets them.
  const bool is_enough =
      size.fitted >= std::min(kLeast, most.fitted) && size.points >= std::min(kLeast, most.points);
  if (!is_enough) return std::nullopt;
  return size;
}

}  // namespace vernier::gp
