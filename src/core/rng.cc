#include "vernier/core/rng.h"

#include <bit>

#include "src/core/check.h"
#include "src/core/inverse_normal.h"

namespace vernier {
namespace {

// The increment of splitmix64: 2^64 divided by the golden ratio, made odd (Steele, Lea and Flood, 2014).
constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;
constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014, variant 13 of Stafford): a bijection in which every bit of
// the argument affects every bit of the result.
std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

// Seeding by splitmix64 is what the authors of xoshiro256** recommend: the state is never all zero, and similar seeds
// give unrelated states.
Rng::Rng(std::uint64_t seed) : origin_(seed) {
  std::uint64_t x = seed;
  for (std::uint64_t& word : state_) word = Mix(x += kGoldenGamma);
}

Rng Rng::Fork(std::uint64_t key) const {
  // A bijection of the key, so that streams of different keys differ. Mixing between the two makes Fork(a).Fork(b)
  // differ from Fork(b).Fork(a).
  return Rng(Mix((Mix(origin_ + kGoldenGamma) ^ key) + kGoldenGamma));
}

// xoshiro256** 1.0 (Blackman and Vigna, 2018). The multipliers, shifts and rotations are theirs.
std::uint64_t Rng::NextU64() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(NextU64() >> 11) * kTwoToMinus53; }

std::uint64_t Rng::UniformInt(std::uint64_t n) {
  VERNIER_CHECK(n >= 1, "UniformInt over nothing");
  // Rejects the lowest 2^64 mod n numbers: with them, small remainders would be more likely.
  const std::uint64_t surplus = (0 - n) % n;
  std::uint64_t x = NextU64();
  while (x < surplus) x = NextU64();
  return x % n;
}

double Rng::Normal() {
  // The middle of a cell of width 2^-53, so that the argument is neither 0 nor 1.
  return InverseNormal((static_cast<double>(NextU64() >> 11) + 0.5) * kTwoToMinus53);
}

}  // namespace vernier
