#include "algorithms/grid/permutation.h"

#include <bit>

#include "src/core/check.h"
#include "vernier/core/rng.h"

namespace vernier::grid {
namespace {

// Four rounds with a good round function make a Feistel network a strong pseudorandom permutation (Luby and Rackoff,
// 1988). A choice of twice as many, because the halves of small grids have only a few bits.
constexpr int kRounds = 8;

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed)
    : size_(size), seed_(seed), half_bits_((std::bit_width(size - 1) + 1) / 2) {
  VERNIER_CHECK(size >= 1 && size <= std::uint64_t{1} << 62,
                "a permutation of too few or too many");
}

std::uint64_t Permutation::At(std::uint64_t i) const {
  // Ends: the cycle of i under Encrypt leads back to i, which is inside.
  do {
    i = Encrypt(i);
  } while (i >= size_);
  return i;
}

std::uint64_t Permutation::Encrypt(std::uint64_t block) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = block >> half_bits_;
  std::uint64_t right = block & mask;
  for (int round = 0; round < kRounds; ++round) {
    // The round is in the key, so that each round has a function of its own. It takes three bits for eight rounds.
    const std::uint64_t key = right << 3 | static_cast<std::uint64_t>(round);
    const std::uint64_t mixed = left ^ (Rng(seed_).Fork(key).NextU64() & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

}  // namespace vernier::grid
