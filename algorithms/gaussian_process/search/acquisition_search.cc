#include "algorithms/gaussian_process/search/acquisition_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "algorithms/gaussian_process/search/candidates.h"
#include "algorithms/numerics/minimize.h"

// Candidates, then local searches from the best of them. The local search is our own projected L-BFGS: it takes an
// infinite value as «step back», which is how constraints and the borders of what is admitted reach it (docs/adr/0010).
// Effort is not what limits the result: a quarter of the candidates, or one local search instead of two to four, costs
// nothing beyond noise (docs/adr/0028), so the counts below are choices for speed.
//
// Counts, never time, bound the work, and all random numbers come from one stream, so that a search replays.
namespace vernier::gp {
namespace {

// Preference for high values in the choice of starts, per standard deviation of the values. A choice, as in BoTorch.
constexpr double kStartSharpness = 2.0;
// Smallest gain that counts as an improvement. A choice: above rounding, so that searches end.
constexpr double kLeastGain = 1e-9;
// Largest number of turns of continuous and finite search. A choice: bounds the work of a start.
constexpr int kMaxRounds = 3;
// Number of candidates scored at a time. A choice: their covariances with all trials stay in the processor's cache.
constexpr std::size_t kBlock = 64;
// Number of coordinates of a candidate that leave the region's centre, on average: the 20 of TuRBO, but at least 0.3 of
// them, a choice. Choices of categorical parameters move with that share.
constexpr double kMovedInRegion = 20.0;
constexpr double kLeastShareMovedInRegion = 0.3;

bool Better(const Scored& a, const Scored& b) { return a.value > b.value; }

// Active continuous coordinates of a configuration, and their length scales l. The search runs over u / l, in which a
// unit step changes the model equally in all directions.
struct FreeCoordinates {
  std::vector<std::size_t> parameters;
  std::vector<double> scales;
};

FreeCoordinates FreeAt(const CoordinateSpace& space,
                       const FeatureMap& features,
                       const std::vector<double>& log_length_scales,
                       const std::vector<char>& active) {
  FreeCoordinates free;
  for (std::size_t group = 0; group < features.parameter_of_group().size(); ++group) {
    const int k = features.parameter_of_group()[group];
    if (space.kind(k) != Kind::kContinuous || !active[static_cast<std::size_t>(k)]) continue;
    free.parameters.push_back(static_cast<std::size_t>(k));
    free.scales.push_back(std::exp(log_length_scales[group]));
  }
  return free;
}

}  // namespace

SearchEffort SearchEffort::For(int points, int models) {
  // Scoring costs n^2 for each candidate, a local evaluation 2 n^2. Budgets and bounds are choices: all candidates are
  // scored up to some 170 points, and fewer beyond.
  constexpr double kScoringWork = 1.5e7;
  constexpr double kLocalWork = 4e6;
  const double n2 = std::max(1.0, static_cast<double>(points) * points * models);
  SearchEffort effort;
  effort.scored = std::clamp(static_cast<int>(kScoringWork / n2), 32, 512);
  const int evaluations = std::clamp(static_cast<int>(kLocalWork / n2), 24, 160);
  effort.starts = evaluations >= 120 ? 4 : evaluations >= 60 ? 3 : 2;
  effort.local_evaluations = evaluations / effort.starts;
  effort.sweeps = points <= 300 ? 4 : 2;
  return effort;
}

AcquisitionSearch::AcquisitionSearch(const CoordinateSpace& space,
                                     const FeatureMap& features,
                                     const Acquisition& acquisition,
                                     const BorderPrior& prior,
                                     const std::function<bool(const Coordinates&)>& admits,
                                     const SearchEffort& effort,
                                     const Region* region)
    : space_(space),
      features_(features),
      acquisition_(acquisition),
      prior_(prior),
      admits_(admits),
      effort_(effort),
      region_(region) {}

std::vector<Scored> AcquisitionSearch::Run(const std::vector<Coordinates>& centres,
                                           Rng& rng,
                                           const std::stop_token& stop) const {
  return RunFrom(Candidates(centres, rng), rng, stop);
}

std::vector<Scored> AcquisitionSearch::RunFrom(std::vector<Coordinates> candidates,
                                               Rng& rng,
                                               const std::stop_token& stop) const {
  std::vector<Scored> scored = Score(std::move(candidates));
  std::vector<Scored> starts = ChooseStarts(scored, rng);
  for (Scored& start : starts) {
    if (stop.stop_requested()) return {};
    Improve(start, stop);
  }
  scored.insert(
      scored.end(), std::make_move_iterator(starts.begin()), std::make_move_iterator(starts.end()));
  std::stable_sort(scored.begin(), scored.end(), Better);
  return scored;
}

// Maps a point of the unit cube into the region. With many coordinates, and for categorical parameters, some keep the
// value of the centre: in high dimension a point that differs in all coordinates is far from everything known.
void AcquisitionSearch::MoveIntoRegion(Coordinates& u, Rng& rng) const {
  const double moved =
      std::clamp(kMovedInRegion / static_cast<double>(u.size()), kLeastShareMovedInRegion, 1.0);
  for (std::size_t k = 0; k < u.size(); ++k) {
    const bool is_choice = space_.kind(static_cast<int>(k)) == Kind::kCategorical;
    const bool stays = rng.Uniform() >= (is_choice ? kLeastShareMovedInRegion : moved);
    if (stays) {
      u[k] = region_->centre[k];
    } else if (!is_choice) {
      u[k] = std::lerp(region_->Lower(k), region_->Upper(k), u[k]);
    }
  }
  space_.Round(u);
}

void AcquisitionSearch::CutToRegion(Coordinates& u) const {
  for (std::size_t k = 0; k < u.size(); ++k) {
    if (space_.kind(static_cast<int>(k)) == Kind::kCategorical) continue;
    u[k] = std::clamp(u[k], region_->Lower(k), region_->Upper(k));
  }
  space_.Round(u);
}

std::vector<Coordinates> AcquisitionSearch::Candidates(const std::vector<Coordinates>& centres,
                                                       Rng& rng) const {
  // A third near the best points: there the next small improvement is; the others find new regions. A choice.
  std::vector<Coordinates> candidates = AllCandidates(space_, kMostEnumerated);
  if (candidates.empty()) {
    const int nearby = centres.empty() ? 0 : effort_.candidates / 3;
    candidates = SpreadCandidates(space_, effort_.candidates - nearby, rng);
    if (region_ != nullptr) {
      for (Coordinates& u : candidates) MoveIntoRegion(u, rng);
    }
    if (nearby > 0) {
      std::vector<Coordinates> near = NearbyCandidates(space_, centres, nearby, rng);
      if (region_ != nullptr) {
        for (Coordinates& u : near) CutToRegion(u);
      }
      candidates.insert(candidates.end(), near.begin(), near.end());
    }
  }
  std::erase_if(candidates, [this](const Coordinates& u) { return !admits_(u); });
  return candidates;
}

// Values of the candidates, or, if scoring all is too expensive, of a subsample: half are the most promising by upper
// bounds, half the first of the others, which are spread over the space. Screening by means alone would never explore.
std::vector<Scored> AcquisitionSearch::Score(std::vector<Coordinates> candidates) const {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto limit = static_cast<std::size_t>(effort_.scored);
  if (order.size() > limit) {
    const std::vector<double> optimistic =
        acquisition_.OptimisticValues(features_.Matrix(candidates));
    const auto half = static_cast<std::ptrdiff_t>(limit / 2);
    std::partial_sort(order.begin(), order.begin() + half, order.end(), [&](auto a, auto b) {
      return optimistic[a] != optimistic[b] ? optimistic[a] > optimistic[b] : a < b;
    });
    std::sort(order.begin() + half, order.end());
    order.resize(limit);
  }
  std::vector<Scored> scored;
  scored.reserve(order.size());
  for (std::size_t first = 0; first < order.size(); first += kBlock) {
    std::vector<Coordinates> block;
    for (std::size_t i = first; i < std::min(first + kBlock, order.size()); ++i) {
      block.push_back(std::move(candidates[order[i]]));
    }
    const std::vector<double> values = Values(block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      scored.push_back({std::move(block[i]), values[i]});
    }
  }
  return scored;
}

std::vector<double> AcquisitionSearch::Values(
    const std::vector<Coordinates>& configurations) const {
  std::vector<double> values = acquisition_.Values(features_.Matrix(configurations));
  std::vector<char> active;
  for (std::size_t i = 0; i < values.size(); ++i) {
    space_.Activity(configurations[i], active);
    values[i] += prior_.LogDensity(configurations[i], active);
  }
  return values;
}

// Starts of the local searches: the best candidate, and others drawn without replacement with weights exp(sharpness x
// standardised value). Adding Gumbel noise to the exponents and taking the largest draws just so.
std::vector<Scored> AcquisitionSearch::ChooseStarts(const std::vector<Scored>& scored,
                                                    Rng& rng) const {
  if (scored.empty()) return {};
  double mean = 0;
  double squares = 0;
  for (const Scored& s : scored) mean += s.value / static_cast<double>(scored.size());
  for (const Scored& s : scored) squares += std::pow(s.value - mean, 2);
  const double deviation = std::sqrt(squares / static_cast<double>(scored.size()));
  std::vector<double> keys(scored.size());
  std::size_t best = 0;
  for (std::size_t i = 0; i < scored.size(); ++i) {
    const double exponent =
        deviation > 0 ? kStartSharpness * (scored[i].value - mean) / deviation : 0;
    keys[i] = exponent - std::log(-std::log(std::max(rng.Uniform(), 1e-300)));
    if (scored[i].value > scored[best].value) best = i;
  }
  keys[best] = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> order(scored.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(order.size(), static_cast<std::size_t>(effort_.starts));
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(count),
                    order.end(),
                    [&keys](std::size_t a, std::size_t b) {
                      return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
                    });
  std::vector<Scored> starts;
  for (std::size_t i = 0; i < count; ++i) starts.push_back(scored[order[i]]);
  return starts;
}

void AcquisitionSearch::Improve(Scored& at, const std::stop_token& stop) const {
  for (int round = 0; round < kMaxRounds && !stop.stop_requested(); ++round) {
    const bool moved = ImproveContinuous(at, stop);
    if (!ImproveFinite(at) || !moved) break;
  }
}

bool AcquisitionSearch::ImproveContinuous(Scored& at, const std::stop_token& stop) const {
  std::vector<char> active;
  space_.Activity(at.u, active);
  const FreeCoordinates free = FreeAt(space_, features_, acquisition_.LogLengthScales(), active);
  const std::size_t size = free.parameters.size();
  if (size == 0) return true;
  Coordinates u = at.u;
  numerics::Box box{.lower = std::vector<double>(size, 0.0), .upper = std::vector<double>(size)};
  std::vector<double> start(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t k = free.parameters[i];
    if (region_ != nullptr) box.lower[i] = region_->Lower(k) / free.scales[i];
    box.upper[i] = (region_ != nullptr ? region_->Upper(k) : 1.0) / free.scales[i];
    start[i] = u[k] / free.scales[i];
  }
  const auto move_to = [&](std::span<const double> x) {
    for (std::size_t i = 0; i < size; ++i) {
      u[free.parameters[i]] = std::clamp(x[i] * free.scales[i], 0.0, 1.0);
    }
  };
  Eigen::RowVectorXd row(features_.columns());
  Eigen::RowVectorXd by_feature;
  Coordinates by_coordinate(u.size());
  const auto negative = [&](std::span<const double> x, std::span<double> gradient) {
    move_to(x);
    // The search steps back from an infinite value: a border is a yes or no, not a slope.
    if (!admits_(u)) return std::numeric_limits<double>::infinity();
    features_.Write(u, active, row);
    const double value =
        acquisition_.ValueAndGradient(row, by_feature) + prior_.LogDensity(u, active);
    features_.PullBack(u, active, by_feature, by_coordinate);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t k = free.parameters[i];
      gradient[i] = -(by_coordinate[k] + prior_.Slope(u[k])) * free.scales[i];
    }
    return -value;
  };
  const numerics::Minimum found = numerics::MinimizeLbfgs(
      negative, start, box, {.max_evaluations = effort_.local_evaluations, .stop = stop});
  if (!(-found.value > at.value + kLeastGain)) return false;
  move_to(found.x);
  at = {std::move(u), -found.value};
  return true;
}

// Steepest ascent over the points one parameter away.
bool AcquisitionSearch::ImproveFinite(Scored& at) const {
  bool moved = false;
  for (int sweep = 0; sweep < effort_.sweeps; ++sweep) {
    std::vector<Coordinates> neighbours = Neighbours(space_, at.u);
    std::erase_if(neighbours, [this](const Coordinates& u) { return !admits_(u); });
    if (neighbours.empty()) return moved;
    const std::vector<double> values = Values(neighbours);
    const auto best =
        static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    if (!(values[best] > at.value + kLeastGain)) return moved;
    at = {std::move(neighbours[best]), values[best]};
    moved = true;
  }
  return moved;
}

}  // namespace vernier::gp
