#pragma once

#include <span>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/space/coordinates.h"

namespace vernier::gp {

// The Euclidean embedding in which the kernel measures distance: one model for every kind of space.
//
// A parameter becomes one or more columns, which share a length scale l: r^2 = sum over parameters of D^2 / l^2, where
//   numbers          D = |u - u'|, on the parameter's scale (listed numbers: where they stand among the others);
//   choices          D = 1 if they differ, else 0: one column for each choice, 1 / sqrt 2 in its own. Beyond 64 choices D^2
//                    is 1 within about 0.125: 64 columns, in which each choice has a pattern of signs of its own, drawn
//                    by its index (random projection after Achlioptas, 2003). So memory and time do not grow with them;
//   conditional      numbers lie on an arc, both ends of which are as far from its centre, where the parameter is
//                    inactive (after the arc kernel of Swersky et al., 2013); inactive choices have no 1 anywhere.
// Being distances in a Euclidean space, all of this keeps the kernel positive definite.
class FeatureMap {
 public:
  explicit FeatureMap(const CoordinateSpace& space);

  int columns() const { return static_cast<int>(group_of_column_.size()); }
  // Length scales: one for each parameter that has more than one value.
  int groups() const { return static_cast<int>(parameter_of_group_.size()); }
  // Whether some parameter has too many choices for a column each.
  bool has_projected() const { return has_projected_; }
  const std::vector<int>& group_of_column() const { return group_of_column_; }
  const std::vector<int>& parameter_of_group() const { return parameter_of_group_; }

  // Writes the features of one configuration, of which active[k] tells whether parameter k is active.
  // REQUIRES: u is rounded; row.size() == columns().
  void Write(std::span<const double> u,
             const std::vector<char>& active,
             Eigen::Ref<Eigen::RowVectorXd> row) const;
  // d value / d u_k for continuous parameters from d value / d features; 0 for all others.
  void PullBack(std::span<const double> u,
                const std::vector<char>& active,
                const Eigen::RowVectorXd& feature_gradient,
                std::span<double> gradient) const;
  // One row for each configuration.  REQUIRES: all are rounded.
  Eigen::MatrixXd Matrix(const std::vector<Coordinates>& configurations) const;

 private:
  struct Embedding {
    int parameter;
    int first_column;
    bool on_arc = false;
    bool is_projected = false;
    // Positions of listed numbers, by index; empty: the coordinate is the position.
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
