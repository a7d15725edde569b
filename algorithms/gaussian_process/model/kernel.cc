#include "algorithms/gaussian_process/model/kernel.h"

#include <cmath>
#include <cstddef>

#include "algorithms/gaussian_process/model/main_effect.h"

// Evaluates k(x, x') = s2 c(r) + (m2 / G) sum_g c(r_g / kMainReach) (kernel.h). Matern 5/2 (Rasmussen and Williams,
// 2006, eq. 4.17) rather than the squared exponential, which loses 0.016 ± 0.010 at 60 trials; main effects gain 0.031
// ± 0.013 (docs/adr/0028). Both parts come from the same distances, so one pass over the groups computes both.
namespace vernier::gp {
std::vector<double> Hyperparameters::Pack() const {
  std::vector<double> theta = log_length_scales;
  theta.insert(theta.end(), {log_signal, log_main, log_noise});
  return theta;
}

Hyperparameters Hyperparameters::Unpack(std::span<const double> theta) {
  const std::size_t groups = theta.size() - PackedSize(0);
  return {.log_length_scales = {theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(groups)},
          .log_signal = theta[groups],
          .log_main = theta[groups + 1],
          .log_noise = theta[groups + 2]};
}

void ToCorrelation(Eigen::Ref<Eigen::ArrayXd> a2) {
  a2 = a2.sqrt();
  const auto& a = a2;
  a2 = (1.0 + a * (1.0 + a * (1.0 / 3.0))) * (-a).exp();
}

void ToCorrelation(Eigen::Ref<Eigen::ArrayXd> a2, Eigen::Ref<Eigen::ArrayXd> slope) {
  a2 = a2.sqrt();
  slope = (-a2).exp();
  // A loop rather than array expressions, which would take two passes and a third array.
  double* const correlations = a2.data();
  double* const slopes = slope.data();
#pragma omp simd
  for (Eigen::Index i = 0; i < a2.size(); ++i) {
    const double a = correlations[i];
    const double decay = slopes[i];
    correlations[i] = (1.0 + a * (1.0 + a * (1.0 / 3.0))) * decay;
    slopes[i] = (5.0 / 3.0) * (1.0 + a) * decay;
  }
}

Kernel::Kernel(const Hyperparameters& hyperparameters, const std::vector<int>& group_of_column)
    : signal_(std::exp(hyperparameters.log_signal)),
      main_(std::exp(hyperparameters.log_main)),
      inverse_scales_(static_cast<Eigen::Index>(group_of_column.size())) {
  for (Eigen::Index column = 0; column < inverse_scales_.size(); ++column) {
    const auto group = static_cast<std::size_t>(group_of_column[static_cast<std::size_t>(column)]);
    inverse_scales_[column] = std::exp(-hyperparameters.log_length_scales[group]);
    if (group == groups_.size()) groups_.push_back({.first = column, .size = 0});
    ++groups_[group].size;
  }
  // A space of constants has no main effects: its variance is the joint part's alone.
  if (groups_.empty()) main_ = 0;
}

Eigen::MatrixXd Kernel::Scaled(const Eigen::MatrixXd& features) const {
  return features * inverse_scales_.asDiagonal();
}

Eigen::MatrixXd Kernel::Lower(const Eigen::MatrixXd& z) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(z.rows(), z.rows());
  const Effects effects = EffectsOf(z);
  Fill({z, effects}, {z, effects}, Pairs::kLowerHalf, out);
  return out;
}

Eigen::MatrixXd Kernel::Between(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const {
  return Between(a, EffectsOf(a), b);
}

Eigen::MatrixXd Kernel::Between(const Eigen::MatrixXd& a,
                                const Effects& effects,
                                const Eigen::MatrixXd& b) const {
  Eigen::MatrixXd out(a.rows(), b.rows());
  Fill({a, effects}, {b, EffectsOf(b)}, Pairs::kAll, out);
  return out;
}

// Sums up, for each column, the main effects of the groups and their squared distances; the joint part is a function of
// the sum of the latter. A group with an effect takes no exponentials (MainEffect), the others one for each pair.
void Kernel::Fill(const Points& a, const Points& b, Pairs pairs, Eigen::MatrixXd& out) const {
  const double share = main_ / static_cast<double>(groups_.size());
  const Eigen::Index all = a.z.rows();
  Eigen::ArrayXd joint(all);
  for (Eigen::Index j = 0; j < b.z.rows(); ++j) {
    const Eigen::Index rows = pairs == Pairs::kAll ? all : all - j;
    auto sum = out.col(j).tail(rows).array();
    auto squares = joint.head(rows);
    sum.setZero();
    squares.setZero();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (a.effects[g] && b.effects[g]) {
        a.effects[g]->AddCorrelation(rows, *b.effects[g], j, share, sum, squares);
        continue;
      }
      Eigen::ArrayXd square = Squares(groups_[g], a.z.bottomRows(rows), b.z.row(j));
      squares += square;
      ToCorrelation(square);
      sum += share * square;
    }
    // From the shorter length scales of the main effects back to those of the joint part.
    squares *= kMainReach * kMainReach;
    ToCorrelation(squares);
    sum += signal_ * squares;
  }
}

Eigen::ArrayXd Kernel::Squares(const Group& group,
                               const Eigen::Ref<const Eigen::MatrixXd>& a,
                               const Eigen::Ref<const Eigen::RowVectorXd>& b) {
  return 5.0 / (kMainReach * kMainReach) *
         (a.middleCols(group.first, group.size).rowwise() - b.segment(group.first, group.size))
             .rowwise()
             .squaredNorm()
             .array();
}

Kernel::Effects Kernel::EffectsOf(const Eigen::MatrixXd& a) const {
  Effects effects(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (group.size == 1 && MainEffect::Holds(a.col(group.first))) {
      effects[g].emplace(a.col(group.first));
    }
  }
  return effects;
}

Kernel::Sloped Kernel::BetweenWithSlopes(const Eigen::MatrixXd& a,
                                         const Effects& effects,
                                         const Eigen::RowVectorXd& b) const {
  Sloped out{.covariance = Eigen::VectorXd::Zero(a.rows()),
             .slopes = Eigen::MatrixXd(a.rows(), a.cols())};
  const double share = main_ / static_cast<double>(groups_.size());
  // Slopes of main effects are by (r_g / kMainReach)^2; the chain rule to r_g^2 gives this factor.
  constexpr double kInverse = 1.0 / (kMainReach * kMainReach);
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(a.rows());
  Eigen::ArrayXd slope(a.rows());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    if (effects[g] && MainEffect::Holds(b[group.first])) {
      effects[g]->AddCorrelation(b[group.first],
                                 share,
                                 out.covariance.array(),
                                 squares,
                                 out.slopes.col(group.first).array());
      continue;
    }
    Eigen::ArrayXd square = Squares(group, a, b);
    squares += square;
    ToCorrelation(square, slope);
    out.covariance.array() += share * square;
    out.slopes.middleCols(group.first, group.size).colwise() = (share * slope).matrix();
  }
  squares *= kMainReach * kMainReach;
  ToCorrelation(squares, slope);
  out.covariance.array() += signal_ * squares;
  slope *= signal_;
  for (auto column : out.slopes.colwise()) column = kInverse * column + slope.matrix();
  return out;
}

}  // namespace vernier::gp
