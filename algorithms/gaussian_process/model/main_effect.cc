#include "algorithms/gaussian_process/model/main_effect.h"

#include <algorithm>
#include <cmath>

// The loops here run over all pairs of trials at every evaluation of a fit. They take no exponential, are written so
// that the compiler can vectorise them, and keep nothing by pair: recomputing costs less than fetching from memory
// (docs/adr/0012).
namespace vernier::gp {

namespace {

// Largest coordinate in length scales. A choice: e^(sqrt(5) / kMainReach 60) < 1e120, so that products of two
// exponentials stay within the range of double.
constexpr double kLargest = 60.0;

}  // namespace

bool MainEffect::Holds(const Eigen::VectorXd& coordinates) {
  return coordinates.size() == 0 || coordinates.cwiseAbs().maxCoeff() < kLargest;
}

bool MainEffect::Holds(double coordinate) { return std::abs(coordinate) < kLargest; }

MainEffect::MainEffect(const Eigen::VectorXd& coordinates)
    : t_(std::sqrt(5.0) / kMainReach * coordinates),
      rising_(t_.exp()),
      falling_(rising_.inverse()) {}

// Calls visit(i, a, decay) with the distance a and the decay e^-a of each of the last `rows` points, in one pass. Array
// expressions would take three.
template <typename Visit>
inline void MainEffect::ForEach(
    Eigen::Index rows, double t, double rising, double falling, const Visit& visit) const {
  const Eigen::Index first = t_.size() - rows;
  const double* const ts = t_.data() + first;
  const double* const rise = rising_.data() + first;
  const double* const fall = falling_.data() + first;
#pragma omp simd
  for (Eigen::Index i = 0; i < rows; ++i) {
    visit(i, std::abs(ts[i] - t), std::min(rise[i] * falling, fall[i] * rising));
  }
}

void MainEffect::AddCorrelation(Eigen::Index rows,
                                const MainEffect& other,
                                Eigen::Index j,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum,
                                Eigen::Ref<Eigen::ArrayXd> squares) const {
  double* const out = sum.data();
  double* const out_squares = squares.data();
  ForEach(rows,
          other.t_[j],
          weight * other.rising_[j],
          weight * other.falling_[j],
          [out, out_squares](Eigen::Index i, double a, double decay) {
            const double square = a * a;
            out[i] += (1.0 + a + square * (1.0 / 3.0)) * decay;
            out_squares[i] += square;
          });
}

void MainEffect::AddCorrelation(double coordinate,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum,
                                Eigen::Ref<Eigen::ArrayXd> squares,
                                Eigen::Ref<Eigen::ArrayXd> slope) const {
  const double t = std::sqrt(5.0) / kMainReach * coordinate;
  double* const out = sum.data();
  double* const out_squares = squares.data();
  double* const out_slope = slope.data();
  ForEach(t_.size(),
          t,
          weight * std::exp(t),
          weight * std::exp(-t),
          [out, out_squares, out_slope](Eigen::Index i, double a, double decay) {
            const double square = a * a;
            out[i] += (1.0 + a + square * (1.0 / 3.0)) * decay;
            out_squares[i] += square;
            out_slope[i] = (5.0 / 3.0) * (1.0 + a) * decay;
          });
}

MainEffect::Sums MainEffect::WeightedSums(
    Eigen::Index j,
    const Eigen::Ref<const Eigen::ArrayXd>& of_squares,
    const Eigen::Ref<const Eigen::ArrayXd>& of_derivatives) const {
  const double* const square_weights = of_squares.data();
  const double* const derivative_weights = of_derivatives.data();
  const Eigen::Index rows = of_squares.size();
  const double* const ts = t_.data() + t_.size() - rows;
  const double* const rise = rising_.data() + t_.size() - rows;
  const double* const fall = falling_.data() + t_.size() - rows;
  const double t = t_[j];
  const double rising = rising_[j];
  const double falling = falling_[j];
  double squares = 0;
  double derivatives = 0;
#pragma omp simd reduction(+ : squares, derivatives)
  for (Eigen::Index i = 0; i < rows; ++i) {
    const double a = std::abs(ts[i] - t);
    const double decay = std::min(rise[i] * falling, fall[i] * rising);
    const double square = a * a;
    squares += square * square_weights[i];
    derivatives += square * (1.0 + a) * decay * derivative_weights[i];
  }
  return {.squares = squares, .derivatives = derivatives / 3.0};
}

}  // namespace vernier::gp
