#include "algorithms/gaussian_process/search/candidates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "algorithms/numerics/sobol.h"
#include "algorithms/sampling/enumeration.h"

namespace vernier::gp {
namespace {

// Number of binary digits that are scrambled. 16 tell 2^16 candidates apart; more would cost random numbers and change
// nothing that a search can see.
constexpr int kScramblingDepth = 16;
// Step sizes of perturbations, in ranges. A choice: from the last digits of a nearly found optimum to a new region.
constexpr double kSmallestStep = 1e-3;
constexpr double kLargestStep = 0.3;
// Number and share of the parameters that a perturbation moves on average; the larger of the two counts. A choice: few
// enough that a good point keeps most of its values.
constexpr double kMovedParameters = 5.0;
constexpr double kMovedShare = 0.3;
// Largest number of choices of one parameter among the neighbours. A choice: bounds a sweep over thousands of choices.
constexpr std::int64_t kMostTriedChoices = 256;
// Largest ordered domain of which all values are neighbours. A choice, as in Optuna's sampler.
constexpr std::int64_t kSmallDomain = 16;

// u + step, reflected at the ends of [0, 1].
double Reflect(double u) {
  u = std::abs(std::fmod(u, 2.0));
  return u > 1.0 ? 2.0 - u : u;
}

void Move(const CoordinateSpace& space, int parameter, double step, Coordinates& u, Rng& rng) {
  double& coordinate = u[static_cast<std::size_t>(parameter)];
  const std::int64_t count = space.count(parameter);
  if (space.kind(parameter) == Kind::kCategorical) {
    const auto other =
        static_cast<std::int64_t>(rng.UniformInt(static_cast<std::uint64_t>(count - 1)));
    const std::int64_t now = space.IndexAt(parameter, coordinate);
    coordinate = space.CellOf(parameter, other < now ? other : other + 1);
    return;
  }
  double change = step * rng.Normal();
  // A smaller step would stay within the cell of the value and be rounded away.
  if (count > 0)
    change = std::copysign(std::max(std::abs(change), 1.0 / static_cast<double>(count)), change);
  coordinate = Reflect(coordinate + change);
}

}  // namespace

std::vector<Coordinates> SpreadCandidates(const CoordinateSpace& space, int count, Rng& rng) {
  const std::uint64_t seed = rng.NextU64();
  std::vector<Coordinates> candidates(static_cast<std::size_t>(count),
                                      Coordinates(static_cast<std::size_t>(space.size())));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    numerics::ScrambledSobolPoint(i, seed, candidates[i], kScramblingDepth);
    space.Round(candidates[i]);
  }
  return candidates;
}

std::vector<Coordinates> NearbyCandidates(const CoordinateSpace& space,
                                          const std::vector<Coordinates>& centres,
                                          int count,
                                          Rng& rng) {
  std::vector<int> movable;
  for (int k = 0; k < space.size(); ++k) {
    if (space.kind(k) != Kind::kConstant) movable.push_back(k);
  }
  std::vector<Coordinates> candidates;
  if (movable.empty()) return candidates;
  const double share =
      std::max(kMovedShare, kMovedParameters / static_cast<double>(movable.size()));
  for (int i = 0; i < count; ++i) {
    Coordinates u = centres[static_cast<std::size_t>(i) % centres.size()];
    const double step = kSmallestStep * std::pow(kLargestStep / kSmallestStep, rng.Uniform());
    const std::size_t always = rng.UniformInt(movable.size());
    for (std::size_t j = 0; j < movable.size(); ++j) {
      if (j == always || rng.Uniform() < share) Move(space, movable[j], step, u, rng);
    }
    space.Round(u);
    candidates.push_back(std::move(u));
  }
  return candidates;
}

std::vector<Coordinates> AllCandidates(const CoordinateSpace& space, int limit) {
  const std::optional<std::int64_t> points = space.space().Cardinality();
  std::vector<Coordinates> candidates;
  if (!points || *points > limit) return candidates;
  const auto enumeration = sampling::Enumeration::OfAllValues(space.space());
  if (!enumeration) return candidates;
  for (std::int64_t i = 0; i < enumeration->count(); ++i) {
    candidates.push_back(space.Encode(enumeration->At(i)));
  }
  return candidates;
}

std::vector<Coordinates> Neighbours(const CoordinateSpace& space, const Coordinates& u) {
  std::vector<char> active;
  space.Activity(u, active);
  std::vector<Coordinates> neighbours;
  for (int k = 0; k < space.size(); ++k) {
    const std::int64_t count = space.count(k);
    if (!active[static_cast<std::size_t>(k)] || count < 2) continue;
    const std::int64_t now = space.IndexAt(k, u[static_cast<std::size_t>(k)]);
    const bool one_by_one = space.kind(k) == Kind::kCategorical || count <= kSmallDomain;
    const auto add = [&](std::int64_t value) {
      if (value < 0 || value >= count || value == now) return;
      neighbours.push_back(u);
      neighbours.back()[static_cast<std::size_t>(k)] = space.CellOf(k, value);
    };
    if (one_by_one) {
      // Of very many choices an evenly spread subsample, which differs from one current choice to the next.
      const std::int64_t stride = (count + kMostTriedChoices - 1) / kMostTriedChoices;
      for (std::int64_t value = now % stride; value < count; value += stride) add(value);
    } else {
      // Distances 1, 4, 16 …: near steps refine, far ones cross a large domain, in few evaluations.
      for (std::int64_t away = 1; away < count; away *= 4) {
        add(now - away);
        add(now + away);
      }
    }
  }
  return neighbours;
}

}  // namespace vernier::gp
