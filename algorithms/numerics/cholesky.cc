#include "algorithms/numerics/cholesky.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Cholesky"

// Factor, inverse and square are recursive: a matrix is split into halves until a block is small. Nearly all operations
// are then products of large blocks, which Eigen does at full speed, and triangular parts cost only their share of the
// operations. The order of operations depends on the size alone, so that equal matrices give equal bits.
namespace vernier::numerics {
namespace {

// The range of jitter, relative to the mean of the diagonal. Choices: the first is well above rounding (2e-16 times the
// size of the matrix), with more than the last, the result would belong to a clearly different matrix.
constexpr double kFirstJitter = 1e-10;
constexpr double kLastJitter = 1e-3;
// Below this size plain loops are faster than halving further.
constexpr Eigen::Index kBlock = 32;
// Width of the panels of a triangular system with one right side. A choice: wide enough for efficient products,
// narrow enough that few operations are left to the scalar loops.
constexpr Eigen::Index kPanel = 16;

// Factorises the lower triangle in place: [A .; B C] = [L 0; M N] [L 0; M N]' with M = B L'^-1, N N' = C - M M'. False:
// the matrix is not positive definite.
bool FactorizeInPlace(Eigen::Ref<Eigen::MatrixXd> k) {
  const Eigen::Index n = k.rows();
  if (n <= kBlock) return Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(k).info() == Eigen::Success;
  const Eigen::Index half = n / 2;
  const Eigen::Index rest = n - half;
  auto first = k.topLeftCorner(half, half);
  auto below = k.bottomLeftCorner(rest, half);
  auto last = k.bottomRightCorner(rest, rest);
  if (!FactorizeInPlace(first)) return false;
  first.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(below);
  last.selfadjointView<Eigen::Lower>().rankUpdate(below, -1.0);
  return FactorizeInPlace(last);
}

// Inverts a small triangle in place, from the last column to the first: [a 0; b C]^-1 = [1/a 0; -C^-1 b / a, C^-1].
void InvertSmallInPlace(Eigen::Ref<Eigen::MatrixXd> l) {
  Eigen::Matrix<double, kBlock, 1> b;
  for (Eigen::Index j = l.rows() - 1; j >= 0; --j) {
    const Eigen::Index rest = l.rows() - j - 1;
    auto below = l.col(j).tail(rest);
    l(j, j) = 1.0 / l(j, j);
    b.head(rest) = -l(j, j) * below;
    below.setZero();
    for (Eigen::Index k = 0; k < rest; ++k) {
      below.tail(rest - k) += b[k] * l.col(j + 1 + k).tail(rest - k);
    }
  }
}

// Inverts the triangle in place: [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1, C^-1].
void InvertInPlace(Eigen::Ref<Eigen::MatrixXd> l, Eigen::MatrixXd& scratch) {
  const Eigen::Index n = l.rows();
  if (n <= kBlock) return InvertSmallInPlace(l);
  const Eigen::Index half = n / 2;
  const Eigen::Index rest = n - half;
  InvertInPlace(l.topLeftCorner(half, half), scratch);
  InvertInPlace(l.bottomRightCorner(rest, rest), scratch);
  auto below = l.bottomLeftCorner(rest, half);
  auto product = scratch.topLeftCorner(rest, half);
  product.noalias() = below * l.topLeftCorner(half, half).triangularView<Eigen::Lower>();
  below.noalias() = -(l.bottomRightCorner(rest, rest).triangularView<Eigen::Lower>() * product);
}

// Squares in place: [A 0; B C]' [A 0; B C] = [A'A + B'B, .; C'B, C'C].
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
    if (FactorizeInPlace(factor.lower) && factor.lower.diagonal().allFinite()) {
      factor.lower.triangularView<Eigen::StrictlyUpper>().setZero();
      factor.jitter = jitter;
      return factor;
    }
    jitter = jitter == 0.0 ? kFirstJitter * scale : 10.0 * jitter;
    // The factor covers the rounding of repeated multiplication by ten. False for NaN.
    if (!(jitter <= 1.5 * kLastJitter * scale)) break;
  }
  return std::nullopt;
}

void SolveLower(const Eigen::Ref<const Eigen::MatrixXd>& lower, Eigen::Ref<Eigen::VectorXd> x) {
  const Eigen::Index n = x.size();
  for (Eigen::Index j = 0; j < n; j += kPanel) {
    const Eigen::Index size = std::min(kPanel, n - j);
    const Eigen::Index rest = n - j - size;
    for (Eigen::Index i = j; i < j + size; ++i) {
      for (Eigen::Index k = j; k < i; ++k) x[i] -= lower(i, k) * x[k];
      x[i] *= 1.0 / lower(i, i);
    }
    x.tail(rest).noalias() -= lower.block(j + size, j, rest, size) * x.segment(j, size);
  }
}

void SolveLowerTransposed(const Eigen::Ref<const Eigen::MatrixXd>& lower,
                          Eigen::Ref<Eigen::VectorXd> x) {
  const Eigen::Index n = x.size();
  for (Eigen::Index end = n; end > 0; end -= std::min(kPanel, end)) {
    const Eigen::Index size = std::min(kPanel, end);
    const Eigen::Index j = end - size;
    const Eigen::Index rest = n - end;
    x.segment(j, size).noalias() -= lower.block(end, j, rest, size).transpose() * x.tail(rest);
    for (Eigen::Index i = end - 1; i >= j; --i) {
      for (Eigen::Index k = end - 1; k > i; --k) x[i] -= lower(k, i) * x[k];
      x[i] *= 1.0 / lower(i, i);
    }
  }
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
