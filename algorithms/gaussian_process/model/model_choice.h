#pragma once

#include "Eigen/Core"

namespace vernier::gp {

// Weighted accuracy of the predicted ranking: the share of pairs of trials with different values that the predictions
// order as the values do. A pair weighs 1 / rank of its better trial, since a search depends on the order of the good
// trials. In [0, 1]; 0.5 is chance, and also the result without any such pair.
//
// Depends on the order of the predictions only, so that it compares models of differently warped values.
// `predicted`, `values`: n, larger is better.
double OrderingSkill(const Eigen::VectorXd& predicted, const Eigen::VectorXd& values);

}  // namespace vernier::gp
