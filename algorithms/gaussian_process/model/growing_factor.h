#pragma once

#include <optional>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/kernel.h"

namespace vernier::gp {

// Cholesky factor L of the covariance K + v I + D of points, in the order of their arrival (docs/adr/0013). D is diagonal:
// the variances that points have of their own, being less certain than others.
//
// The factor of the first points, up to an anchor, is computed at once (n^3 / 3 operations). Rows of later points are
// appended one by one (n^2 each). A factor that was extended from a cached one therefore has the same bits as one
// computed anew with the same anchor: predictions do not depend on whether the process was restarted.
class GrowingFactor {
 public:
  // Factor of the first `anchor` rows of `z`, which are scaled by `kernel`. Nullopt: the covariance matrix cannot be
  // factorised, even with jitter.  `noise`: variance. `own_variances`: of the rows of `z`, or empty: 0.
  // REQUIRES: 1 <= anchor <= z.rows().
  static std::optional<GrowingFactor> Create(const Kernel& kernel,
                                             double noise,
                                             const Eigen::MatrixXd& z,
                                             Eigen::Index anchor,
                                             const Eigen::VectorXd& own_variances = {});

  // Appends the points from row `from` of `z` on.
  void Append(const Kernel& kernel,
              const Eigen::MatrixXd& z,
              Eigen::Index from,
              const Eigen::VectorXd& own_variances = {});

  // All points, scaled by the kernel: size() x columns.
  const Eigen::MatrixXd& points() const { return points_; }
  Eigen::Index size() const { return points_.rows(); }
  Eigen::Index anchor() const { return anchor_; }
  // Variance on the diagonal besides the kernel's and the points' own: the noise and the jitter.
  double nugget() const { return nugget_; }
  // Empty: no point has one.
  const Eigen::VectorXd& own_variances() const { return own_variances_; }
  // L: size() x size(); zero above the diagonal.
  auto lower() const { return storage_.topLeftCorner(size(), size()); }

 private:
  GrowingFactor() = default;
  void Reserve(Eigen::Index rows);

  Eigen::MatrixXd points_;
  // Holds L in its top left corner. Columns are a multiple of kAlignment apart: vectors then begin at the same place
  // whatever the capacity, and sums are taken in the same order.
  Eigen::MatrixXd storage_;
  Eigen::Index anchor_ = 0;
  double nugget_ = 0;
  Eigen::VectorXd own_variances_;
};

}  // namespace vernier::gp
