#include "vernier/core/rng.h"

#include <bit>

#include "src/core/check.h"
#include "src/core/inverse_normal.h"

namespace vernier {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;
constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;

// The finaliser of splitmix64: a bijection that spreads every bit of its argument.
std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : origin_(seed) {
  std::uint64_t x = seed;
  for (std::uint64_t& word : state_) word = Mix(x += kGoldenGamma);
}

Rng Rng::Fork(std::uint64_t key) const {
  // One-to-one in the key, and not the same in the other order: Fork(a).Fork(b) differs from Fork(b).Fork(a).
  return Rng(Mix((Mix(origin_ + kGoldenGamma) ^ key) + kGoldenGamma));
}

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
  // 2^64 mod n: numbers below it would make small remainders likelier.
  const std::uint64_t surplus = (0 - n) % n;
  std::uint64_t x = NextU64();
  while (x < surplus) x = NextU64();
  return x % n;
}

double Rng::Normal() {
  // Half a cell up, so that neither 0 nor 1 is inverted.
  return InverseNormal((static_cast<double>(NextU64() >> 11) + 0.5) * kTwoToMinus53);
}

}  // namespace vernier
