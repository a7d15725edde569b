#include "algorithms/gaussian_process/main_effect.h"

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

void MainEffect::AddCorrelation(Eigen::Index rows,
                                const MainEffect& other,
                                Eigen::Index j,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum) const {
  const auto a = Distances(rows, other, j);
  sum += weight * (1.0 + a * (1.0 + a * (1.0 / 3.0))) * Decays(rows, other, j);
}

void MainEffect::AddCorrelation(Eigen::Index rows,
                                const MainEffect& other,
                                Eigen::Index j,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum,
                                Eigen::Ref<Eigen::ArrayXd> slope) const {
  const auto a = Distances(rows, other, j);
  slope = weight * Decays(rows, other, j);
  sum += (1.0 + a * (1.0 + a * (1.0 / 3.0))) * slope;
  slope *= (1.0 / 3.0) * a.square() * (1.0 + a);
}

void MainEffect::AddCorrelation(double coordinate,
                                double weight,
                                Eigen::Ref<Eigen::ArrayXd> sum,
                                Eigen::Ref<Eigen::ArrayXd> slope) const {
  const double t = std::sqrt(5.0) / kMainReach * coordinate;
  const auto a = (t_ - t).abs();
  slope = (weight * std::exp(-t) * rising_).min(weight * std::exp(t) * falling_);
  sum += (1.0 + a * (1.0 + a * (1.0 / 3.0))) * slope;
  slope *= (5.0 / 3.0) * (1.0 + a);
}

}  // namespace vernier::gp
