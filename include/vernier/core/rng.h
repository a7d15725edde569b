#pragma once

#include <cstdint>

namespace vernier {

// A stream of random numbers that is the same on every machine, compiler and standard library.
//
//   Rng stream = Rng(seed).Fork(trial_number);
//   const double u = stream.Uniform();
//
// xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64. Not for secrets. A value: a copy continues from
// the same position. Not thread-safe.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  // Returns an independent stream for `key`. The result does not depend on how many numbers were drawn here.
  Rng Fork(std::uint64_t key) const;

  std::uint64_t NextU64();
  // Uniform in [0, 1): a multiple of 2^-53.
  double Uniform();
  // Uniform in {0 … n - 1}, without bias.  REQUIRES: n >= 1.
  std::uint64_t UniformInt(std::uint64_t n);
  // Standard normal, by inversion: one Uniform a call.
  double Normal();

 private:
  std::uint64_t origin_;  // The seed, which Fork mixes with its key.
  std::uint64_t state_[4];
};

}  // namespace vernier
