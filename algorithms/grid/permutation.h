#pragma once

#include <cstdint>

namespace vernier::grid {

// A pseudorandom permutation of {0 … size - 1} in constant memory: a Feistel network permutes the next power of four,
// and values outside the range are permuted again until one is inside (cycle walking; Black and Rogaway, 2002).
// Different seeds give different permutations.
class Permutation {
 public:
  // REQUIRES: 1 <= size <= 2^62.
  Permutation(std::uint64_t size, std::uint64_t seed);
  // Returns the i-th element, after four steps of the cycle on average at most.  REQUIRES: i < size.
  std::uint64_t At(std::uint64_t i) const;

 private:
  std::uint64_t Encrypt(std::uint64_t block) const;

  std::uint64_t size_;
  std::uint64_t seed_;
  int half_bits_;
};

}  // namespace vernier::grid
