#include "algorithms/gaussian_process/surrogate_set.h"

#include <numeric>
#include <utility>

#include "algorithms/gaussian_process/training_set.h"
#include "src/core/status.h"

// With more trials than one model takes, a subsample from everywhere is too coarse to refine the best; a model of the
// trials near it, searched in a trust region, gains 0.06 ± 0.03 at three times the limit (docs/adr/0019). With several
// objectives the best is a front, so there is only the surrogate of the whole space.
namespace vernier::gp {
namespace {

// One suggestion in this many searches the whole space. Three of four near the best gain no more, and lose more under
// noise (docs/adr/0019).
constexpr std::uint64_t kCycle = 2;

}  // namespace

absl::StatusOr<const RegionalSurrogate*> SurrogateSet::At(std::uint64_t turn,
                                                          const std::vector<Coordinates>& pending,
                                                          const std::stop_token& stop) {
  const bool are_many = encoded_.values.size() == 1 && encoded_.points.size() > size_.points;
  const bool is_nearby_due = are_many && state_.best && turn % kCycle != 0;
  std::optional<RegionalSurrogate>& model = is_nearby_due ? nearby_ : whole_;
  if (!model) {
    VERNIER_ASSIGN_OR_RETURN(
        model, is_nearby_due ? Nearby(*state_.best, pending, stop) : Whole(pending, stop));
    if (are_many) state_.best = model->surrogate.centres().front();
  }
  return &*model;
}

void SurrogateSet::AddPending(const Eigen::RowVectorXd& features) {
  if (whole_) whole_->surrogate.AddPending(features);
  if (nearby_) nearby_->surrogate.AddPending(features);
}

std::optional<FitCaches> SurrogateSet::caches() const {
  if (!whole_) return std::nullopt;
  return whole_->surrogate.caches();
}

absl::StatusOr<RegionalSurrogate> SurrogateSet::Whole(const std::vector<Coordinates>& pending,
                                                      const std::stop_token& stop) {
  VERNIER_ASSIGN_OR_RETURN(
      Surrogate surrogate,
      Surrogate::Fit(
          features_, priors_, TakeWhole(encoded_, size_), pending, state_.whole, caches_, stop));
  return RegionalSurrogate{.surrogate = std::move(surrogate), .region = std::nullopt};
}

// Fits to the trials around `best`. The region's centre is the best of them by the new model's posterior mean. Factors
// are not cached: the set is chosen anew at each call, so its rows do not continue earlier ones.
absl::StatusOr<RegionalSurrogate> SurrogateSet::Nearby(const Coordinates& best,
                                                       const std::vector<Coordinates>& pending,
                                                       const std::stop_token& stop) {
  const double length = SideLength(
      encoded_.values.front(), size_.points, static_cast<std::size_t>(features_.groups()));
  const Region around = RegionAbout(best, length, LogLengthScales());
  VERNIER_ASSIGN_OR_RETURN(Surrogate surrogate,
                           Surrogate::Fit(features_,
                                          priors_,
                                          TakeNearby(encoded_, around, size_),
                                          pending,
                                          state_.nearby,
                                          {},
                                          stop));
  Region region = RegionAbout(surrogate.centres().front(), length, LogLengthScales());
  return RegionalSurrogate{.surrogate = std::move(surrogate), .region = std::move(region)};
}

// Logarithms of the length scales by coordinate, from the last fit near the best trial. Constant parameters have none
// and get the mean; before the first fit all are equal, so that the region is a cube.
std::vector<double> SurrogateSet::LogLengthScales() const {
  const MetricState& objective = state_.nearby.metrics.front();
  const auto& fitted = objective.by_warp[static_cast<std::size_t>(objective.warp)];
  const std::vector<double> by_group = fitted ? fitted->log_length_scales : std::vector<double>();
  const double mean = by_group.empty() ? 0.0
                                       : std::accumulate(by_group.begin(), by_group.end(), 0.0) /
                                             static_cast<double>(by_group.size());
  std::vector<double> by_coordinate(encoded_.points.front().size(), mean);
  for (std::size_t group = 0; group < by_group.size(); ++group) {
    by_coordinate[static_cast<std::size_t>(features_.parameter_of_group()[group])] =
        by_group[group];
  }
  return by_coordinate;
}

}  // namespace vernier::gp
