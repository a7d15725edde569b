#include "algorithms/gaussian_process/search/trust_region.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

// The length is recomputed from all values at each call instead of being stored: it follows from the log alone, so that
// it replays, also where trials finish out of order (docs/adr/0019).
namespace vernier::gp {
namespace {

// Lengths and counts are those of TuRBO (Eriksson et al., 2019) but for the least length. Boxes half and twice as long
// make no difference: a box soon is as long as its successes allow (docs/adr/0019).
constexpr double kFirstLength = 0.8;
constexpr double kMostLength = 1.6;
// Length below which the region starts again. A choice: TuRBO's is 2^-7.
constexpr double kLeastLength = 1.0 / 1024;
constexpr int kSuccessesToDouble = 3;
constexpr int kLeastFailuresToHalve = 4;
// Largest distance of ln side from ln length. A choice: keeps one flat coordinate from shrinking the box in all others.
constexpr double kMostStretch = 2.0;
// Smallest gain that is a success, as a share of the distance between median and best. TuRBO takes a thousandth of the
// best value, which depends on where the metric has its zero.
constexpr double kLeastSuccess = 1e-3;

double UpperMedian(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

double Region::Lower(std::size_t k) const { return std::max(0.0, centre[k] - 0.5 * sides[k]); }
double Region::Upper(std::size_t k) const { return std::min(1.0, centre[k] + 0.5 * sides[k]); }

double Region::SquaredDistance(std::span<const double> u) const {
  double sum = 0;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const double away = (u[k] - centre[k]) / sides[k];
    sum += away * away;
  }
  return sum;
}

double SideLength(std::span<const double> values, std::size_t first, std::size_t coordinates) {
  const int to_halve = std::max(kLeastFailuresToHalve, static_cast<int>(coordinates));
  double best =
      *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
  const double least_gain = kLeastSuccess * (best - UpperMedian(values.first(first)));
  double length = kFirstLength;
  int better = 0;
  int no_better = 0;
  for (const double value : values.subspan(first)) {
    const bool is_better = value > best + least_gain;
    best = std::max(best, value);
    better = is_better ? better + 1 : 0;
    no_better = is_better ? 0 : no_better + 1;
    if (better == kSuccessesToDouble) {
      length = std::min(2 * length, kMostLength);
      better = 0;
    }
    if (no_better == to_halve) {
      length = length < 2 * kLeastLength ? kFirstLength : length / 2;
      no_better = 0;
    }
  }
  return length;
}

Region RegionAbout(Coordinates centre, double length, std::span<const double> log_length_scales) {
  const double mean = std::accumulate(log_length_scales.begin(), log_length_scales.end(), 0.0) /
                      static_cast<double>(log_length_scales.size());
  Region region{.centre = std::move(centre), .sides = {}};
  for (const double log_length_scale : log_length_scales) {
    region.sides.push_back(
        length * std::exp(std::clamp(log_length_scale - mean, -kMostStretch, kMostStretch)));
  }
  return region;
}

}  // namespace vernier::gp
