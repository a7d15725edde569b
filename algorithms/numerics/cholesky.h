#pragma once

#include <optional>

#include "Eigen/Core"

namespace vernier::numerics {

// The factorisation K + jitter I = L L' of a symmetric matrix that is positive definite up to rounding.
struct CholeskyFactor {
  Eigen::MatrixXd lower;  // L; above the diagonal: zero.
  double jitter = 0;      // What had to be added to the diagonal.
};

// Factorises `k`, of which only the lower half is read. Tries without jitter, then with 1e-10, 1e-9 … 1e-3 of the mean
// diagonal. Nullopt: still not positive definite, or not finite.
std::optional<CholeskyFactor> FactorizeWithJitter(const Eigen::MatrixXd& k);

// Solves L x = b and L' x = b for one right side, which they overwrite: panel by panel, so that nearly all operations are in
// products of matrix and vector, and few wait for a division.  REQUIRES: no zero on the diagonal.
void SolveLower(const Eigen::Ref<const Eigen::MatrixXd>& lower, Eigen::Ref<Eigen::VectorXd> x);
void SolveLowerTransposed(const Eigen::Ref<const Eigen::MatrixXd>& lower,
                          Eigen::Ref<Eigen::VectorXd> x);

// L^-1 of a lower triangular matrix, by halves: n^3/3 operations, nearly all in matrix products. `inverse` is resized;
// above its diagonal: zero.  REQUIRES: no zero on the diagonal.
void InvertLower(const Eigen::MatrixXd& lower, Eigen::MatrixXd& inverse);

// Overwrites the lower half of a lower triangular matrix L by that of L' L, by halves: n^3/3 operations, nearly all in
// matrix products. Of L^-1 that is K^-1 for K = L L'.
void SquareLower(Eigen::MatrixXd& lower);

}  // namespace vernier::numerics
