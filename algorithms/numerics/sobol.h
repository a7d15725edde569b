#pragma once

#include <cstdint>
#include <span>

namespace vernier::numerics {

// Sobol's low-discrepancy sequence in base 2, and Owen's scrambling of it.
//
//   std::vector<double> u(dimensions);
//   for (std::uint64_t i = 0; i < 100; ++i) ScrambledSobolPoint(i, seed, u);  // Fills u with the i-th point.
//
// Coordinates are fixed-point numbers of kSobolBits binary digits, the first digit in the highest bit; x / 2^52 is the
// coordinate in [0, 1). 52 digits, so that the middle of a cell, half a digit more, is exact in a double.
inline constexpr int kSobolBits = 52;
// Number of dimensions with direction numbers of their own (sobol_directions.h has their source).
inline constexpr int kSobolDimensions = 64;

// Returns the coordinate of the index-th point in one dimension, in Gray code order (Antonov and Saleev, 1979). Index 0
// is the origin.  REQUIRES: index < 2^52, 0 <= dimension < kSobolDimensions.
std::uint64_t SobolCoordinate(std::uint64_t index, int dimension);

// Nested uniform scrambling (Owen, 1995): each digit is flipped by a random bit of its own for each prefix of digits
// before it. The number of points in every elementary interval stays the same, so that a (t, m, s)-net stays one, and
// each point becomes uniform. A permutation of {0 … 2^52 - 1} for each seed, which maps aligned blocks of 2^k numbers
// to aligned blocks.
//
// `depth`: number of digits with a random bit for each prefix. The later digits are flipped by bits that depend on the
// first `depth` digits alone. No two of the first 2^depth points of the sequence share these, so that for them the
// distribution is the same, and the computation is faster.
// REQUIRES: digits < 2^52, 1 <= depth <= kSobolBits.
std::uint64_t OwenScramble(std::uint64_t digits, std::uint64_t seed, int depth = kSobolBits);

// Fills `point` with the index-th point of the sequence scrambled by `seed`. Every coordinate is in (0, 1).
//
// Any number of dimensions: beyond kSobolDimensions the table is used again, in blocks of that size, with the order of
// points scrambled for each block (padding; Kollig and Keller, 2002; Burley, 2020). So each coordinate is stratified
// and each block is a scrambled Sobol sequence, but coordinates of different blocks are only independent. `depth`: as
// in OwenScramble.  REQUIRES: index < 2^52.
void ScrambledSobolPoint(std::uint64_t index,
                         std::uint64_t seed,
                         std::span<double> point,
                         int depth = kSobolBits);

}  // namespace vernier::numerics
