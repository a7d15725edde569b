#pragma once

#include <cstdint>

namespace vernier {

// A stream of random numbers that is the same on every machine, compiler and standard library.
//
// xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64. A value type: copying copies the position.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  // A stream of its own for `key`, independent of how much of this one was used: Rng(seed).Fork(trial number).
  Rng Fork(std::uint64_t key) const;

  std::uint64_t NextU64();
  // Uniform in [0, 1), 53 bits.
  double Uniform();
  // Uniform in {0 … n - 1}, without bias.  REQUIRES: n >= 1.
  std::uint64_t UniformInt(std::uint64_t n);
  // Standard normal, by inversion: one Uniform a call.
  double Normal();

 private:
  std::uint64_t origin_;  // What Fork mixes with its key.
  std::uint64_t state_[4];
};

}  // namespace vernier
