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

// Converts a prediction to the user's units. The mean is mapped through the inverse warp; the deviation is half the
// distance between the images of mean + deviation and mean - deviation.
PredictedValue InUserUnits(const Prediction& prediction, const TargetScale& scale, Goal goal);

// Predictions of all metrics at points with these features, one for each row.
std::vector<PredictedPoint> PredictAt(const Problem& problem,
                                      const Surrogate& surrogate,
                                      const Eigen::MatrixXd& rows);

// Suggestion of a point by the model with its explanation: predictions, expected improvement (of a single objective),
// importance of each parameter, and notes on what the model left out, which earlier studies it used, and how likely the
// point is to keep the constraints.  `row`: features of the point; `value`: its acquisition value.
Suggestion Explained(const Problem& problem,
                     const FeatureMap& features,
                     const Surrogate& surrogate,
                     Point point,
                     const Eigen::RowVectorXd& row,
                     double value);

// Sentence that says why the search went to a branch.
std::string WhyBranch(const Space& space, const Branch& branch);

}  // namespace vernier::gp
