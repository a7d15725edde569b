#pragma once

#include <optional>

#include "Eigen/Core"

namespace vernier::numerics {

// The factorisation K + jitter I = L L' of a symmetric matrix K.
struct CholeskyFactor {
  Eigen::MatrixXd lower;  // L, n x n; zero above the diagonal.
  double jitter = 0;      // The value added to the diagonal.
};

// Factorises the symmetric matrix `k`, n x n, of which only the lower triangle is read. Tries without jitter, then with
// 1e-10, 1e-9 … 1e-3 times the mean of the diagonal, for matrices that are not positive definite because of rounding.
// nullopt: still not positive definite, or not finite.
std::optional<CholeskyFactor> FactorizeWithJitter(const Eigen::MatrixXd& k);

// Solve L x = b and L' x = b in place: x holds b before and the solution after. They go panel by panel, so that nearly
// all operations are products of matrix and vector.  REQUIRES: no zero on the diagonal.
void SolveLower(const Eigen::Ref<const Eigen::MatrixXd>& lower, Eigen::Ref<Eigen::VectorXd> x);
void SolveLowerTransposed(const Eigen::Ref<const Eigen::MatrixXd>& lower,
                          Eigen::Ref<Eigen::VectorXd> x);

// Writes the inverse of a lower triangular matrix to `inverse`, which is resized and is zero above its diagonal. n^3/3
// operations, nearly all in matrix products.  REQUIRES: no zero on the diagonal.
void InvertLower(const Eigen::MatrixXd& lower, Eigen::MatrixXd& inverse);

// Overwrites a lower triangular matrix L by the lower triangle of L' L. n^3/3 operations, nearly all in matrix
// products. Applied to L^-1, it gives K^-1 for K = L L'.
void SquareLower(Eigen::MatrixXd& lower);

}  // namespace vernier::numerics
