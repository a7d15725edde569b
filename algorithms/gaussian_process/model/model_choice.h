#pragma once

#include "Eigen/Core"

namespace vernier::gp {

// How rightly predictions order trials: the share of the pairs of trials with different values that they order as the
// values do, a pair weighing 1 / rank of the better of its trials, as the order among good trials is what a search lives
// by. In [0, 1]; 0.5 is chance, and 0.5 without any such pair.
//
// Depends on the order of the predictions only, so that models of differently warped values can be compared by it.
double OrderingSkill(const Eigen::VectorXd& predicted, const Eigen::VectorXd& values);

}  // namespace vernier::gp
