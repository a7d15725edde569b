#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "Eigen/Core"

namespace vernier::gp {

// Neighbourhood of a local optimum: the trials that lead to its best one by steps to the nearest better trial, each
// within BasinRadius (nearest-better clustering; Preuss, Niching the CMA-ES via nearest-better clustering, GECCO 2010).
struct Basin {
  std::size_t best;                 // Index of its best trial.
  std::vector<std::size_t> trials;  // Indices of all of its trials, ascending.
};

// Radius of a basin in the space of features (FeatureMap), which has so many groups of columns.
double BasinRadius(int groups);

// Divides trials into basins, best first. Of equal values the earlier is better.
// `rows`: features of the trials, n x columns; `values`: larger is better.  REQUIRES: as many values as rows.
std::vector<Basin> FindBasins(const Eigen::MatrixXd& rows,
                              std::span<const double> values,
                              double radius);

// Basin to search instead of the best one: if that is spent, the best one that is not. Nullopt: the best one is not
// spent, or all are. A basin is spent when its latest trials brought it no gain that matters: ten and one for each group
// of them, and a ten-thousandth of the distance between the best trial and the median of the first ten.
std::optional<Basin> BasinDue(const Eigen::MatrixXd& rows,
                              std::span<const double> values,
                              int groups);

}  // namespace vernier::gp
