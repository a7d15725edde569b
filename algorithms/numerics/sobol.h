#pragma once

#include <cstdint>
#include <span>

namespace vernier::numerics {

// Sobol's low-discrepancy sequence in base 2, and Owen's scrambling of it.
//
// Coordinates are fixed-point numbers of kSobolBits binary digits, the first digit in the highest bit; x / 2^52 is the
// coordinate in [0, 1).
inline constexpr int kSobolBits = 52;
// Dimensions with direction numbers of their own (sobol_directions.h says whose).
inline constexpr int kSobolDimensions = 64;

// The coordinate of the index-th point in one dimension, in Gray code order (Antonov and Saleev, 1979): index 0 is the
// origin.  REQUIRES: index < 2^52, 0 <= dimension < kSobolDimensions.
std::uint64_t SobolCoordinate(std::uint64_t index, int dimension);

// Nested uniform scrambling (Owen, 1995): each digit is flipped or not by a coin of its own for each prefix of digits
// before it. Keeps every elementary interval's share of points, so that a (t, m, s)-net stays one, and makes each point
// uniform. A permutation of {0 … 2^52 - 1} for each seed; aligned blocks of 2^k numbers move to aligned blocks.
// Only the first `depth` digits have coins for each prefix; those after them are flipped by draws that depend on the first
// `depth`. No two of the first 2^depth points of Sobol's sequence share those, so that for them it is the same thing, sooner.
// REQUIRES: digits < 2^52, 1 <= depth <= kSobolBits.
std::uint64_t OwenScramble(std::uint64_t digits, std::uint64_t seed, int depth = kSobolBits);

// Fills `point` with the index-th point of the sequence scrambled by `seed`, every coordinate inside (0, 1).
//
// Any number of dimensions: those beyond kSobolDimensions use the table again, a block at a time, with the order of the
// points scrambled anew for each block (padding; Kollig and Keller, 2002; Burley, 2020). So any coordinate is stratified
// and any block is a scrambled Sobol sequence, but coordinates of different blocks are merely independent.
// `depth`: as OwenScramble's.  REQUIRES: index < 2^52.
void ScrambledSobolPoint(std::uint64_t index,
                         std::uint64_t seed,
                         std::span<double> point,
                         int depth = kSobolBits);

}  // namespace vernier::numerics
