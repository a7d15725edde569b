#include "algorithms/gaussian_process/main_effect.h"

#include <algorithm>
#include <cmath>

namespace vernier::gp {

namespace {

constexpr double kLargest = 60.0;  // e^(sqrt(5) / kMainReach 60) < 1e120

}  // namespace

bool MainEffect::Holds(const Eigen::VectorXd& coordinates) {
  return coordinates.size() == 0 || coordinates.cwiseAbs().maxCoeff() < kLargest;
}

bool MainEffect::Holds(double coordinate) { return std::abs(coordinate) < kLargest; }

MainEffect::MainEffect(const Eigen::VectorXd& coordinates)
    : t_(std::sqrt(5.0) / kMainReach * coordinates), rising_(t_.exp()), falling_((-t_).exp()) {}

// One pass over the points: `visit(i, a, decay)` with the distance a and weight e^-a of each of the last `rows` points.
// Loops rather than array expressions, which would take three passes.
template <typename Visit>
inline void MainEffect::ForEach(
    Eigen::Index rows, double t, double rising, double falling, const Visit& visit) const {
  const Eigen::Index first = t_.size() - rows;
  const double* const ts = t_.data() + first;
  const double* const rise = rising_.data() + first;
  const double* const fall = falling_.data() + first;
  for (Eigen::Index i = 0; i < rows; ++i) {
    visit(i, std::abs(ts[i] - t), std::min(rise[i] * falling, fall[i] * rising));
  }
}

void MainEffect::AddCorrelation(Eigen::Index rows,
                                const MainEffect& other,
                                Eigen::Index j,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum) const {
  double* const out = sum.data();
  ForEach(rows,
          other.t_[j],
          weight * other.rising_[j],
          weight * other.falling_[j],
          [out](Eigen::Index i, double a, double decay) {
            out[i] += (1.0 + a * (1.0 + a * (1.0 / 3.0))) * decay;
          });
}

void MainEffect::AddCorrelation(Eigen::Index rows,
                                const MainEffect& other,
                                Eigen::Index j,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum,
                                Eigen::Ref<Eigen::ArrayXd> slope) const {
  double* const out = sum.data();
  double* const out_slope = slope.data();
  ForEach(rows,
          other.t_[j],
          weight * other.rising_[j],
          weight * other.falling_[j],
          [out, out_slope](Eigen::Index i, double a, double decay) {
            out[i] += (1.0 + a * (1.0 + a * (1.0 / 3.0))) * decay;
            out_slope[i] = (1.0 / 3.0) * a * a * (1.0 + a) * decay;
          });
}

void MainEffect::AddCorrelation(double coordinate,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum,
                                Eigen::Ref<Eigen::ArrayXd> slope) const {
  const double t = std::sqrt(5.0) / kMainReach * coordinate;
  double* const out = sum.data();
  double* const out_slope = slope.data();
  ForEach(t_.size(),
          t,
          weight * std::exp(t),
          weight * std::exp(-t),
          [out, out_slope](Eigen::Index i, double a, double decay) {
            out[i] += (1.0 + a * (1.0 + a * (1.0 / 3.0))) * decay;
            out_slope[i] = (5.0 / 3.0) * (1.0 + a) * decay;
          });
}

}  // namespace vernier::gp
