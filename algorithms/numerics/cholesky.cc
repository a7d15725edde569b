#include "algorithms/numerics/cholesky.h"

#include <cmath>

#include "Eigen/Cholesky"

namespace vernier::numerics {
namespace {

constexpr double kFirstJitter = 1e-10;
constexpr double kLastJitter = 1e-3;
// Below this size a triangular solve is faster than halving further.
constexpr Eigen::Index kBlock = 32;

// Inverts the triangle in place: [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1, C^-1].
void InvertInPlace(Eigen::Ref<Eigen::MatrixXd> l, Eigen::MatrixXd& scratch) {
  const Eigen::Index n = l.rows();
  if (n <= kBlock) {
    scratch.topLeftCorner(n, n).setIdentity();
    l.triangularView<Eigen::Lower>().solveInPlace(scratch.topLeftCorner(n, n));
    l = scratch.topLeftCorner(n, n);
    return;
  }
  const Eigen::Index half = n / 2;
  const Eigen::Index rest = n - half;
  InvertInPlace(l.topLeftCorner(half, half), scratch);
  InvertInPlace(l.bottomRightCorner(rest, rest), scratch);
  auto below = l.bottomLeftCorner(rest, half);
  auto product = scratch.topLeftCorner(rest, half);
  product.noalias() = below * l.topLeftCorner(half, half).triangularView<Eigen::Lower>();
  below.noalias() = -(l.bottomRightCorner(rest, rest).triangularView<Eigen::Lower>() * product);
}

// [A 0; B C]' [A 0; B C] = [A'A + B'B, .; C'B, C'C].
void SquareInPlace(Eigen::Ref<Eigen::MatrixXd> l, Eigen::MatrixXd& scratch) {
  const Eigen::Index n = l.rows();
  if (n <= kBlock) {
    auto square = scratch.topLeftCorner(n, n);
    square = l.triangularView<Eigen::Lower>();
    l.triangularView<Eigen::Lower>() = square.transpose() * square;
    return;
  }
  const Eigen::Index half = n / 2;
  const Eigen::Index rest = n - half;
  auto below = l.bottomLeftCorner(rest, half);
  auto first = l.topLeftCorner(half, half);
  SquareInPlace(first, scratch);
  first.selfadjointView<Eigen::Lower>().rankUpdate(below.transpose());
  auto product = scratch.topLeftCorner(rest, half);
  product.noalias() =
      l.bottomRightCorner(rest, rest).transpose().triangularView<Eigen::Upper>() * below;
  below = product;
  SquareInPlace(l.bottomRightCorner(rest, rest), scratch);
}

}  // namespace

std::optional<CholeskyFactor> FactorizeWithJitter(const Eigen::MatrixXd& k) {
  CholeskyFactor factor;
  const double scale = k.rows() == 0 ? 1.0 : k.diagonal().mean();
  double jitter = 0.0;
  while (std::isfinite(scale)) {
    factor.lower = k;
    factor.lower.diagonal().array() += jitter;
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> in_place(factor.lower);
    if (in_place.info() == Eigen::Success && factor.lower.diagonal().allFinite()) {
      factor.lower.triangularView<Eigen::StrictlyUpper>().setZero();
      factor.jitter = jitter;
      return factor;
    }
    jitter = jitter == 0.0 ? kFirstJitter * scale : 10.0 * jitter;
    if (!(jitter <= 1.5 * kLastJitter * scale)) break;
  }
  return std::nullopt;
}

void InvertLower(const Eigen::MatrixXd& lower, Eigen::MatrixXd& inverse) {
  inverse = lower.triangularView<Eigen::Lower>();
  Eigen::MatrixXd scratch(lower.rows(), lower.rows());
  InvertInPlace(inverse, scratch);
}

void SquareLower(Eigen::MatrixXd& lower) {
  Eigen::MatrixXd scratch(lower.rows(), lower.rows());
  SquareInPlace(lower, scratch);
}

}  // namespace vernier::numerics
