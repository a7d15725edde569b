#include "algorithms/gaussian_process/model/growing_factor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/numerics/cholesky.h"

namespace vernier::gp {
namespace {

// Number of doubles in the widest vector register (512 bits).
constexpr Eigen::Index kAlignment = 8;

}  // namespace

std::optional<GrowingFactor> GrowingFactor::Create(const Kernel& kernel,
                                                   double noise,
                                                   const Eigen::MatrixXd& z,
                                                   Eigen::Index anchor,
                                                   const Eigen::VectorXd& own_variances) {
  Eigen::MatrixXd covariance = kernel.Lower(z.topRows(anchor));
  covariance.diagonal().array() += noise;
  if (own_variances.size() > 0) covariance.diagonal() += own_variances.head(anchor);
  const std::optional<numerics::CholeskyFactor> factor = numerics::FactorizeWithJitter(covariance);
  if (!factor) return std::nullopt;
  GrowingFactor growing;
  growing.anchor_ = anchor;
  growing.nugget_ = noise + factor->jitter;
  growing.points_ = z.topRows(anchor);
  if (own_variances.size() > 0) growing.own_variances_ = own_variances.head(anchor);
  growing.Reserve(anchor);
  growing.storage_.topLeftCorner(anchor, anchor) = factor->lower;
  return growing;
}

void GrowingFactor::Append(const Kernel& kernel,
                           const Eigen::MatrixXd& z,
                           Eigen::Index from,
                           const Eigen::VectorXd& own_variances) {
  const Eigen::Index before = size();
  const Eigen::Index after = before + z.rows() - from;
  Reserve(after);
  points_.conservativeResize(after, z.cols());
  points_.bottomRows(after - before) = z.bottomRows(z.rows() - from);
  if (own_variances_.size() > 0 || own_variances.size() > 0) {
    own_variances_.conservativeResizeLike(Eigen::VectorXd::Zero(after));
    if (own_variances.size() > 0) {
      own_variances_.tail(after - before) = own_variances.tail(after - before);
    }
  }
  // L of one more point is [L 0; b' d] with b = L^-1 k and d^2 = k(x, x) + v - b'b. Row by row, also where several
  // points come at once: a block would take its sums in another order and give other bits.
  for (Eigen::Index i = before; i < after; ++i) {
    Eigen::VectorXd border = kernel.Between(points_.topRows(i), points_.row(i)).col(0);
    numerics::SolveLower(storage_.topLeftCorner(i, i), border);
    const double own = own_variances_.size() > 0 ? own_variances_[i] : 0.0;
    const double rest = kernel.variance() + nugget_ + own - border.squaredNorm();
    storage_.row(i).head(i) = border;
    storage_(i, i) = std::sqrt(std::max(rest, kLeastVarianceShare * kernel.variance()));
  }
}

void GrowingFactor::Reserve(Eigen::Index rows) {
  if (rows <= storage_.rows()) return;
  // A sixteenth more than needed: copies stay rare and little memory is wasted.
  const Eigen::Index capacity = (rows + rows / 16 + kAlignment) / kAlignment * kAlignment;
  Eigen::MatrixXd larger = Eigen::MatrixXd::Zero(capacity, capacity);
  larger.topLeftCorner(storage_.rows(), storage_.cols()) = storage_;
  storage_ = std::move(larger);
}

}  // namespace vernier::gp
