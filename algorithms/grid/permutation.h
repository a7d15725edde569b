#pragma once

#include <cstdint>

namespace vernier::grid {

// A shuffled order of {0 … size - 1} that is computed, not stored: a Feistel network over the next even power of two,
// walked along its cycle until it is inside (Black and Rogaway, 2002). Different seeds give different orders.
class Permutation {
 public:
  // REQUIRES: 1 <= size <= 2^62.
  Permutation(std::uint64_t size, std::uint64_t seed);
  // REQUIRES: i < size.
  std::uint64_t At(std::uint64_t i) const;

 private:
  std::uint64_t Encrypt(std::uint64_t block) const;

  std::uint64_t size_;
  std::uint64_t seed_;
  int half_bits_;
};

}  // namespace vernier::grid
