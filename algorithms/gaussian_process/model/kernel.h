#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "Eigen/Core"
#include "algorithms/gaussian_process/model/main_effect.h"

namespace vernier::gp {

// Smallest posterior variance, as a share of the prior variance. Rounding may leave less, even a negative number, of a
// variance that is zero; the floor keeps its logarithm and its inverse finite.
inline constexpr double kLeastVarianceShare = 1e-12;

// Logarithms of the hyperparameters of the kernel and the noise.
struct Hyperparameters {
  std::vector<double> log_length_scales;  // One for each group of columns.
  double log_signal = 0;                  // Variance of the joint part.
  double log_main = 0;                    // Variance of all main effects together.
  double log_noise = 0;                   // Variance of the noise.

  // theta = ln l_1 … ln l_G, ln s2, ln m2, ln v. Gradients have the same order.
  std::vector<double> Pack() const;
  static Hyperparameters Unpack(std::span<const double> theta);
  // Length of theta.
  static std::size_t PackedSize(std::size_t groups) { return groups + 3; }
};

// Covariance function: a joint part over all parameters, and main effects of each parameter by itself,
//   k(x, x') = s2 c(r) + (m2 / G) sum_g c(r_g / kMainReach),    r^2 = sum_g r_g^2,    r_g^2 = |x_g - x'_g|^2 / l_g^2,
// where c is Matern's correlation with nu = 5/2 (Rasmussen and Williams, 2006, eq. 4.17), c(r) = (1 + a + a^2/3) e^-a,
// a = sqrt(5) r, and x_g are the columns of group g of G. Main effects are the first order of an additive kernel
// (Duvenaud, Nickisch and Rasmussen, 2011): all trials teach the effect of a parameter that does not depend on the
// others.
//
// Points are the rows of a matrix whose columns are divided by their length scales (Scaled).
class Kernel {
 public:
  // The columns of a group are neighbours; `group_of_column` ascends.
  Kernel(const Hyperparameters& hyperparameters, const std::vector<int>& group_of_column);

  // k(x, x).
  double variance() const { return signal_ + main_; }
  // 1 / l for each column.
  const Eigen::RowVectorXd& inverse_scales() const { return inverse_scales_; }
  Eigen::MatrixXd Scaled(const Eigen::MatrixXd& features) const;

  // Main effects of points, by group. Unset for groups of several columns, and where MainEffect::Holds is false.
  using Effects = std::vector<std::optional<MainEffect>>;

  // k of all pairs of rows of `z` (n x p): the lower half of n x n; zero above the diagonal.
  Eigen::MatrixXd Lower(const Eigen::MatrixXd& z) const;
  // k of each row of `a` with each row of `b`: a.rows() x b.rows().
  Eigen::MatrixXd Between(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const;
  // The same with precomputed effects.  `effects`: EffectsOf(a).
  Eigen::MatrixXd Between(const Eigen::MatrixXd& a,
                          const Effects& effects,
                          const Eigen::MatrixXd& b) const;
  Effects EffectsOf(const Eigen::MatrixXd& a) const;
  // Covariance k of one point `b` with each row of `a`, and the slopes t (a.rows() x columns) with
  // d k_i / d b_c = t_ic (a_ic - b_c).
  struct Sloped {
    Eigen::VectorXd covariance;
    Eigen::MatrixXd slopes;
  };
  // `effects`: EffectsOf(a).
  Sloped BetweenWithSlopes(const Eigen::MatrixXd& a,
                           const Effects& effects,
                           const Eigen::RowVectorXd& b) const;

 private:
  enum class Pairs { kAll, kLowerHalf };
  struct Group {
    Eigen::Index first;
    Eigen::Index size;
  };
  struct Points {
    const Eigen::MatrixXd& z;
    const Effects& effects;
  };
  // Writes k of the pairs into `out`, column by column. The lower half of a column are its last rows.
  void Fill(const Points& a, const Points& b, Pairs pairs, Eigen::MatrixXd& out) const;
  // a_g^2 = 5 (r_g / kMainReach)^2 of each row of `a` with `b`.
  static Eigen::ArrayXd Squares(const Group& group,
                                const Eigen::Ref<const Eigen::MatrixXd>& a,
                                const Eigen::Ref<const Eigen::RowVectorXd>& b);

  double signal_;
  double main_;
  Eigen::RowVectorXd inverse_scales_;
  std::vector<Group> groups_;
};

// Replaces each a^2 = 5 r^2 by Matern's correlation c(r).
void ToCorrelation(Eigen::Ref<Eigen::ArrayXd> a2);
// The same, and writes the slope h = -2 dc / d(r^2) = (5/3) (1 + a) e^-a, so that d c / d ln l_g = h r_g^2.
void ToCorrelation(Eigen::Ref<Eigen::ArrayXd> a2, Eigen::Ref<Eigen::ArrayXd> slope);

}  // namespace vernier::gp
