#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/posterior.h"
#include "algorithms/gaussian_process/model/targets.h"
#include "algorithms/gaussian_process/space/branches.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/features.h"
#include "algorithms/gaussian_process/surrogate.h"
#include "vernier/core/study.h"
#include "vernier/optimizer.h"

namespace vernier::gp {

// A prediction of the model in the user's units. The warp is monotone, so that the deviation is that of its ends' images.
PredictedValue InUserUnits(const Prediction& prediction, const TargetScale& scale, Goal goal);

// What is expected where the features are those of `rows`, one for each.
std::vector<PredictedPoint> PredictAt(const Problem& problem,
                                      const Surrogate& surrogate,
                                      const Eigen::MatrixXd& rows);

// A point that the model proposes, with what it expects of it: the predictions, of a single objective the
// expected improvement, the importance of each parameter, what the model left out, what it took from elsewhere, and how
// likely it is that the constraints are kept.  `row`: the point's features; `value`: the acquisition's.
Suggestion Explained(const Problem& problem,
                     const FeatureMap& features,
                     const Surrogate& surrogate,
                     Point point,
                     const Eigen::RowVectorXd& row,
                     double value);

// Why the search went to a branch.
std::string WhyBranch(const Space& space, const Branch& branch);

}  // namespace vernier::gp
