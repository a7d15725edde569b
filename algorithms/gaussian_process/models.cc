#include "algorithms/gaussian_process/models.h"

#include <numeric>
#include <utility>

#include "algorithms/gaussian_process/training_set.h"
#include "src/core/status.h"

namespace vernier::gp {
namespace {

// One of so many looks everywhere.
constexpr std::uint64_t kCycle = 2;

}  // namespace

absl::StatusOr<const Model*> Models::At(std::uint64_t turn,
                                        const std::vector<Coordinates>& pending,
                                        const std::stop_token& stop) {
  const bool are_many = history_.values.size() == 1 && history_.points.size() > size_.points;
  const bool is_nearby_due = are_many && state_.best && turn % kCycle != 0;
  std::optional<Model>& model = is_nearby_due ? nearby_ : whole_;
  if (!model) {
    VERNIER_ASSIGN_OR_RETURN(
        model, is_nearby_due ? Nearby(*state_.best, pending, stop) : Whole(pending, stop));
    if (are_many) state_.best = model->surrogate.centres().front();
  }
  return &*model;
}

void Models::Believe(const Eigen::RowVectorXd& features) {
  if (whole_) whole_->surrogate.Believe(features);
  if (nearby_) nearby_->surrogate.Believe(features);
}

std::optional<Memory> Models::remembered() const {
  if (!whole_) return std::nullopt;
  return whole_->surrogate.remembered();
}

absl::StatusOr<Model> Models::Whole(const std::vector<Coordinates>& pending,
                                    const std::stop_token& stop) {
  VERNIER_ASSIGN_OR_RETURN(
      Surrogate surrogate,
      Surrogate::Fit(
          features_, beliefs_, TakeWhole(history_, size_), pending, state_.whole, known_, stop));
  return Model{.surrogate = std::move(surrogate), .region = std::nullopt};
}

// Learns from the trials around the best one; the region is about the one of them that is then believed to be the best.
absl::StatusOr<Model> Models::Nearby(const Coordinates& best,
                                     const std::vector<Coordinates>& pending,
                                     const std::stop_token& stop) {
  const double length = SideLength(
      history_.values.front(), size_.points, static_cast<std::size_t>(features_.groups()));
  const Region around = RegionAbout(best, length, LogLengthScales());
  VERNIER_ASSIGN_OR_RETURN(Surrogate surrogate,
                           Surrogate::Fit(features_,
                                          beliefs_,
                                          TakeNearby(history_, around, size_),
                                          pending,
                                          state_.nearby,
                                          {},
                                          stop));
  Region region = RegionAbout(surrogate.centres().front(), length, LogLengthScales());
  return Model{.surrogate = std::move(surrogate), .region = std::move(region)};
}

// By coordinate, of the last fit near the best trial; their mean where there is none, all alike before the first.
std::vector<double> Models::LogLengthScales() const {
  const MetricState& objective = state_.nearby.metrics.front();
  const auto& fitted = objective.by_warp[static_cast<std::size_t>(objective.warp)];
  const std::vector<double> by_group = fitted ? fitted->log_length_scales : std::vector<double>();
  const double mean = by_group.empty() ? 0.0
                                       : std::accumulate(by_group.begin(), by_group.end(), 0.0) /
                                             static_cast<double>(by_group.size());
  std::vector<double> by_coordinate(history_.points.front().size(), mean);
  for (std::size_t group = 0; group < by_group.size(); ++group) {
    by_coordinate[static_cast<std::size_t>(features_.parameter_of_group()[group])] =
        by_group[group];
  }
  return by_coordinate;
}

}  // namespace vernier::gp
