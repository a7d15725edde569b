#pragma once

#include <optional>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"

namespace vernier::gp {

// The Cholesky factor L of the covariance K + v I of points in the order in which they came.
//
// That of the first points, up to an anchor, is computed at once (n^3 / 3 operations), the rows of later points are
// appended one by one (n^2 each). So a factor that is extended has the same bits as one that is computed anew with the
// same anchor: who remembers and who was restarted predict the same.
class GrowingFactor {
 public:
  // Of the first `anchor` rows of `z`, which are scaled by `kernel`.  Nullopt: the covariance matrix cannot be factorised,
  // even with jitter.  REQUIRES: 1 <= anchor <= z.rows().
  static std::optional<GrowingFactor> Create(const Kernel& kernel,
                                             double noise,
                                             const Eigen::MatrixXd& z,
                                             Eigen::Index anchor);

  // Appends the points from row `from` of `z` on.
  void Append(const Kernel& kernel, const Eigen::MatrixXd& z, Eigen::Index from);

  // Data and appended points, scaled.
  const Eigen::MatrixXd& points() const { return points_; }
  Eigen::Index size() const { return points_.rows(); }
  Eigen::Index anchor() const { return anchor_; }
  // What is on the diagonal besides the kernel: the noise, and what had to be added to it.
  double nugget() const { return nugget_; }
  // L; above the diagonal: zero.
  auto lower() const { return storage_.topLeftCorner(size(), size()); }

 private:
  GrowingFactor() = default;
  void Reserve(Eigen::Index rows);

  Eigen::MatrixXd points_;
  // Larger than L, its columns a multiple of kAlignment apart, so that sums are taken in the same order whatever its size.
  Eigen::MatrixXd storage_;
  Eigen::Index anchor_ = 0;
  double nugget_ = 0;
};

}  // namespace vernier::gp
