#pragma once

#include <span>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// Euclidean embedding in which the kernel measures distance: one model for every kind of space (docs/adr/0011).
//
// A parameter becomes one or more columns, which share a length scale l: r^2 = sum over parameters of D^2 / l^2, where
//   numbers          D = |u - u'|, on the parameter's scale (listed numbers: their position in the list's range);
//   choices          D = 1 if they differ, else 0: one column for each choice, 1 / sqrt 2 in its own. Beyond 64 choices D^2
//                    is 1 within about 0.125: each choice has a pattern of signs in 64 columns, drawn by its index (random
//                    projection after Achlioptas, 2003). Memory and time then do not grow with the number of choices;
//   conditional      numbers lie on an arc; its centre, equally far from all of them, stands for «inactive» (after the arc
//                    kernel of Swersky et al., 2013). Inactive choices are zero in all columns.
// Distances in a Euclidean space keep the kernel positive definite whatever the length scales.
class FeatureMap {
 public:
  explicit FeatureMap(const CoordinateSpace& space);

  int columns() const { return static_cast<int>(group_of_column_.size()); }
  // Number of length scales: one for each parameter that has more than one value.
  int groups() const { return static_cast<int>(parameter_of_group_.size()); }
  // Whether some parameter has too many choices to give each a column.
  bool has_projected() const { return has_projected_; }
  const std::vector<int>& group_of_column() const { return group_of_column_; }
  const std::vector<int>& parameter_of_group() const { return parameter_of_group_; }

  // Writes the features of one configuration. `active`: as CoordinateSpace::Activity sets it.
  // REQUIRES: u is rounded; row.size() == columns().
  void Write(std::span<const double> u,
             const std::vector<char>& active,
             Eigen::Ref<Eigen::RowVectorXd> row) const;
  // Chain rule from features to coordinates: writes d value / d u_k of the active continuous parameters, 0 of all
  // others.
  void PullBack(std::span<const double> u,
                const std::vector<char>& active,
                const Eigen::RowVectorXd& feature_gradient,
                std::span<double> gradient) const;
  // Features of configurations, one row each: n x columns().  REQUIRES: all are rounded.
  Eigen::MatrixXd Matrix(const std::vector<Coordinates>& configurations) const;

 private:
  struct Embedding {
    int parameter;
    int first_column;
    bool on_arc = false;
    bool is_projected = false;
    // Positions in [0, 1] of listed numbers, by index. Empty: the coordinate is the position.
    std::vector<double> positions;
  };
  double PositionOf(const Embedding& embedding, double u) const;

  const CoordinateSpace& space_;  // Not owned; outlives the map.
  std::vector<Embedding> embeddings_;
  std::vector<int> group_of_column_;
  std::vector<int> parameter_of_group_;
  bool has_projected_ = false;
};

}  // namespace vernier::gp
