#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/acquisition/box_decomposition.h"
#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/model/mean_function.h"
#include "algorithms/gaussian_process/model/metric_surrogate.h"
#include "algorithms/gaussian_process/model/posterior.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/training_set.h"

namespace vernier::gp {

// By metric, objectives before outcome constraints; null where nothing is cached.
using FitCaches = std::vector<std::shared_ptr<const FitCache>>;

// Surrogate of all metrics: a model of each objective, of the slack of each outcome constraint, and of where trials
// fail.
//
// The failure model is a Gaussian process on labels: -2 for trials that failed, 0 for trials that worked, and 0 as its
// prior mean (docs/adr/0027). If failures have a border, the label falls across it, and the search stays on this side
// of it whatever lies beyond. If failures come by chance, the label is about the same everywhere, and a point is as
// good as any if its label is no worse than that of most trials that worked.
class Surrogate {
 public:
  // Fits the models to the set, starting from the hyperparameters in `state`, and stores the new ones there. Pending
  // points count as measured at their posterior means. `priors`: by metric, or empty. `caches`: of an earlier call, or
  // empty.
  // REQUIRES: set.points is not empty.  Internal: a model cannot be computed.  Cancelled: `stop` fired.
  static absl::StatusOr<Surrogate> Fit(const FeatureMap& features,
                                       const PriorMeans& priors,
                                       TrainingSet set,
                                       const std::vector<Coordinates>& pending,
                                       ModelState& state,
                                       const FitCaches& caches,
                                       const std::stop_token& stop);

  // Conditions all models on one more pending point; its posterior mean becomes a possible incumbent.
  void AddPending(const Eigen::RowVectorXd& features);

  // Acquisition function of the surrogate. Refers to the surrogate.
  Acquisition MakeAcquisition() const;
  // The same for one objective with another incumbent: the best of the tried points for which `counts` is true, or the
  // worst of all points if there is none.  REQUIRES: objectives().size() == 1.
  Acquisition MakeAcquisitionOver(const std::function<bool(const Coordinates&)>& counts) const;
  // Region of objective space that counts as an improvement, on the warped scale. Incumbents are tried and pending
  // points whose estimates keep the outcome constraints.
  //   One objective: better than the best incumbent's estimate (MetricSurrogate::estimates).
  //   Several: not dominated by the front of the incumbents, above a reference point. At every other trial that is the worst
  //   of all trials, which finds the ends of the front; else a point a little below the front, which fills it (docs/adr/0014).
  // While there is no incumbent, everything better than the worst trial. A constraint without a known slack is ignored.
  BoxDecomposition Improvement() const;

  // Expected improvement of a single objective with all constraints kept, in the user's units: integrated over the
  // prediction through the inverse warp. Nullopt: several objectives, no incumbent, or only a few values, all the same.
  std::optional<double> ExpectedImprovement(const Eigen::RowVectorXd& features) const;

  const std::vector<MetricSurrogate>& objectives() const { return objectives_; }
  // Requirement that the trial works; nullopt if there is no failure model.
  std::optional<Requirement> Success() const;
  // Models of the slacks, by outcome constraint; nullopt if no slack is known.
  const std::vector<std::optional<MetricSurrogate>>& constraints() const { return constraints_; }
  // Requirement that each outcome constraint is kept; nullopt if no slack is known.
  std::vector<std::optional<Requirement>> Requirements() const;
  // A few of the best tried points, best first; with several objectives, points spread over the front.
  const std::vector<Coordinates>& centres() const { return centres_; }
  // Note of the training set; mostly empty.
  const std::string& note() const { return note_; }
  // Caches for the next call.
  FitCaches caches() const;

 private:
  Surrogate() = default;
  Acquisition MakeAcquisition(BoxDecomposition improvement) const;
  // Estimated amount by which each of `count` tried points breaks the constraints, summed over them on their warped
  // scales; 0: it keeps them. `seen`: for each constraint's model, the tried point of each of its rows.
  Eigen::VectorXd Shortfall(std::size_t count,
                            const std::vector<std::vector<std::size_t>>& seen) const;
  // Stores the tried points; sets feasible_, feasible_tried_, worst_ and centres_.
  void SetTriedPoints(std::vector<Coordinates> points, const Eigen::VectorXd& shortfall);

  std::vector<MetricSurrogate> objectives_;
  std::vector<std::optional<MetricSurrogate>> constraints_;
  std::optional<Posterior> success_;
  double worked_ = 0;  // Least label of a trial that works.
  bool is_border_firm_ = false;
  // Estimates at points that keep the constraints: tried ones, then pending ones.
  std::vector<ObjectiveVector> feasible_;
  // Indices into tried_ of the first elements of feasible_.
  std::vector<std::size_t> feasible_tried_;
  std::vector<Coordinates> tried_;
  ObjectiveVector worst_;  // Worst estimate of each objective at a tried point.
  std::vector<Coordinates> centres_;
  std::string note_;
};

// Whether hyperparameters that were last fitted at `fitted_at` trials are fitted again at `now` trials: at every new
// trial while there are few, later whenever their number has grown by a twentieth.
bool IsRefitDue(std::int64_t fitted_at, std::int64_t now);
// The same for the model near the best trial: after every 20th trial.
bool IsNearbyRefitDue(std::int64_t fitted_at, std::int64_t now);
// Additional standard starts of the `fits`-th fit, so that it is not trapped in one mode of the posterior
// (docs/adr/0018). From 15 trials on, every fourth fit of each warp has one of them, in rotation; the warps alternate.
StandardStartByWarp StandardStartsDue(std::int64_t fits, std::int64_t trials);

}  // namespace vernier::gp
