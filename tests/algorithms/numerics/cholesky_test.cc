#include "algorithms/numerics/cholesky.h"

#include <limits>

#include "Eigen/Core"
#include "gtest/gtest.h"
#include "vernier/core/rng.h"

namespace vernier::numerics {
namespace {

Eigen::MatrixXd PositiveDefinite(Eigen::Index n) {
  Rng rng(5);
  Eigen::MatrixXd a(n, n);
  for (double& entry : a.reshaped()) entry = rng.Normal();
  return a * a.transpose() + Eigen::MatrixXd::Identity(n, n);
}

class CholeskySize : public ::testing::TestWithParam<int> {};

TEST_P(CholeskySize, FactorTimesItsTransposeIsTheMatrix) {
  const Eigen::MatrixXd k = PositiveDefinite(GetParam());
  const auto factor = FactorizeWithJitter(k);
  ASSERT_TRUE(factor.has_value());
  EXPECT_EQ(factor->jitter, 0.0);
  EXPECT_LE((factor->lower * factor->lower.transpose() - k).norm(), 1e-13 * k.norm());
}

TEST_P(CholeskySize, InverseTimesFactorIsTheIdentity) {
  const Eigen::Index n = GetParam();
  const auto factor = FactorizeWithJitter(PositiveDefinite(n));
  ASSERT_TRUE(factor.has_value());
  Eigen::MatrixXd inverse;
  InvertLower(factor->lower, inverse);
  EXPECT_LE((inverse * factor->lower - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-10);
  EXPECT_EQ(Eigen::MatrixXd(inverse.triangularView<Eigen::StrictlyUpper>()).norm(), 0.0);
}

TEST_P(CholeskySize, TriangularSystemsAreSolved) {
  const Eigen::Index n = GetParam();
  const auto factor = FactorizeWithJitter(PositiveDefinite(n));
  const Eigen::VectorXd right = Eigen::VectorXd::LinSpaced(n, -1.0, 2.0);
  Eigen::VectorXd x = right;
  SolveLower(factor->lower, x);
  EXPECT_LE((factor->lower * x - right).norm(), 1e-12);
  x = right;
  SolveLowerTransposed(factor->lower, x);
  EXPECT_LE((factor->lower.transpose() * x - right).norm(), 1e-12);
}

TEST_P(CholeskySize, SquareOfTheInverseIsTheInverseOfTheMatrix) {
  const Eigen::Index n = GetParam();
  const Eigen::MatrixXd k = PositiveDefinite(n);
  Eigen::MatrixXd square;
  InvertLower(FactorizeWithJitter(k)->lower, square);
  SquareLower(square);
  const Eigen::MatrixXd inverse = square.selfadjointView<Eigen::Lower>();
  EXPECT_LE((inverse * k - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-10);
}

// Around the sizes of panels and blocks, and where halves are unequal.
INSTANTIATE_TEST_SUITE_P(Sizes,
                         CholeskySize,
                         ::testing::Values(1, 2, 15, 16, 17, 31, 32, 33, 67, 100));

TEST(Cholesky, AddsTheLeastJitterThatASingularMatrixNeeds) {
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(6, 6);  // Six times the same point.
  const auto factor = FactorizeWithJitter(ones);
  ASSERT_TRUE(factor.has_value());
  EXPECT_GT(factor->jitter, 0.0);
  EXPECT_LE(factor->jitter, 1e-8);
}

TEST(Cholesky, GivesUpOnAnIndefiniteMatrix) {
  Eigen::MatrixXd k = Eigen::MatrixXd::Identity(3, 3);
  k(1, 1) = -0.5;
  EXPECT_FALSE(FactorizeWithJitter(k).has_value());
}

TEST(Cholesky, GivesUpOnAMatrixThatIsNotFinite) {
  Eigen::MatrixXd k = Eigen::MatrixXd::Identity(3, 3);
  k(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(FactorizeWithJitter(k).has_value());
}

}  // namespace
}  // namespace vernier::numerics
