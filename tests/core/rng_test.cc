#include "vernier/core/rng.h"

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/inverse_normal.h"

namespace vernier {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Made with a Python implementation of splitmix64 and xoshiro256** written from their papers; its splitmix64 gives the
// published sequence of seed 1234567.
struct KnownStream {
  std::uint64_t seed;
  std::array<std::uint64_t, 4> numbers;
};
constexpr KnownStream kKnown[] = {
    {0, {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
    {1, {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7}},
    {42, {0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1}},
    {~0ULL, {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f}},
};

std::vector<std::uint64_t> Take(Rng rng, int count) {
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(rng.NextU64());
  return numbers;
}

TEST(Rng, GivesTheReferenceStreams) {
  for (const KnownStream& known : kKnown) {
    EXPECT_THAT(Take(Rng(known.seed), 4), ElementsAreArray(known.numbers)) << known.seed;
  }
}

TEST(Rng, GivesTheReferenceForkUniformsAndNormals) {
  EXPECT_THAT(Take(Rng(7).Fork(3), 2), ElementsAre(0x80568daaa2ae92db, 0x3bd7dfdf1447d9e7));
  Rng uniform(42);
  EXPECT_EQ(uniform.Uniform(), 0.08386297105988216);
  EXPECT_EQ(uniform.Uniform(), 0.3789802506626686);
  EXPECT_EQ(uniform.Uniform(), 0.6800434110281394);
  Rng normal(42);
  EXPECT_THAT(normal.Normal(), DoubleNear(-1.3795477253060318, 1e-15));
  EXPECT_THAT(normal.Normal(), DoubleNear(-0.30816011350378936, 1e-15));
  EXPECT_THAT(normal.Normal(), DoubleNear(0.4678201943365253, 1e-15));
}

TEST(Rng, CopyKeepsItsOwnPosition) {
  Rng rng(5);
  rng.NextU64();
  Rng copy = rng;
  const std::uint64_t next = rng.NextU64();
  rng.NextU64();
  EXPECT_EQ(copy.NextU64(), next);
}

TEST(Rng, ForkDoesNotDependOnHowMuchWasUsed) {
  Rng used(11);
  for (int i = 0; i < 100; ++i) used.NextU64();
  EXPECT_EQ(Take(used.Fork(8), 4), Take(Rng(11).Fork(8), 4));
}

TEST(Rng, ForksDifferByKeyOrderAndFromTheirOrigin) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t key = 0; key < 10000; ++key) firsts.insert(Rng(3).Fork(key).NextU64());
  EXPECT_EQ(firsts.size(), 10000u);
  EXPECT_EQ(firsts.count(Rng(3).NextU64()), 0u);
  EXPECT_NE(Take(Rng(3).Fork(1).Fork(2), 1), Take(Rng(3).Fork(2).Fork(1), 1));
}

TEST(Rng, ForksOfNeighbouringKeysAreUncorrelated) {
  constexpr int kPairs = 20000;
  double sum = 0;
  for (std::uint64_t key = 0; key < kPairs; ++key) {
    sum += (Rng(9).Fork(key).Uniform() - 0.5) * (Rng(9).Fork(key + 1).Uniform() - 0.5) * 12;
  }
  // The mean of products has deviation 1/sqrt(pairs); four of them.
  EXPECT_LT(std::abs(sum / kPairs), 4 / std::sqrt(kPairs));
}

// Pearson's statistic of `draws` draws in `cells` cells; below mean + 5 deviations unless the cells are unequal.
template <typename Draw>
void ExpectUniform(int cells, int draws, Draw draw) {
  std::vector<int> seen(static_cast<std::size_t>(cells), 0);
  for (int i = 0; i < draws; ++i) ++seen.at(static_cast<std::size_t>(draw()));
  const double expected = static_cast<double>(draws) / cells;
  double statistic = 0;
  for (const int count : seen) statistic += (count - expected) * (count - expected) / expected;
  EXPECT_LE(statistic, cells - 1 + 5 * std::sqrt(2.0 * (cells - 1)));
}

TEST(Rng, UniformFillsItsCellsEvenly) {
  Rng rng(17);
  ExpectUniform(64, 64000, [&rng] { return static_cast<int>(rng.Uniform() * 64); });
}

TEST(Rng, UniformIntFillsItsCellsEvenlyAndStaysBelow) {
  Rng rng(18);
  for (const int n : {1, 2, 3, 7, 100}) {
    ExpectUniform(n, 1000 * n, [&rng, n] {
      return static_cast<int>(rng.UniformInt(static_cast<std::uint64_t>(n)));
    });
  }
}

TEST(Rng, UniformIntHasNoBiasWhereTheRemainderWouldHave) {
  // Of n = 3 * 2^62, plain remainders would fall in the first third half of the time.
  constexpr std::uint64_t kN = 3ULL << 62;
  Rng rng(19);
  ExpectUniform(3, 30000, [&rng] { return static_cast<int>(rng.UniformInt(kN) >> 62); });
}

TEST(RngDeathTest, UniformIntOverNothingIsABug) {
  Rng rng(1);
  EXPECT_DEATH(rng.UniformInt(0), "UniformInt over nothing");
}

TEST(Rng, NormalHasTheMomentsOfANormal) {
  constexpr int kDraws = 40000;
  Rng rng(20);
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.Normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

// From Python's statistics.NormalDist().inv_cdf.
struct Quantile {
  double p, x;
};
constexpr Quantile kQuantiles[] = {
    {1e-300, -37.0470962993612},
    {1e-20, -9.262340089798405},
    {1e-09, -5.9978070150076865},
    {0.001, -3.090232306167813},
    {0.02425, -1.9729610513118845},
    {0.075, -1.4395314709384557},
    {0.3, -0.5244005127080407},
    {0.5, 0.0},
    {0.61, 0.27931903444745404},
    {0.925, 1.439531470938456},
    {0.975, 1.9599639845400536},
    {0.999999, 4.753424308817089},
};

TEST(InverseNormal, AgreesWithTheReferenceToFourteenDigits) {
  for (const Quantile& known : kQuantiles) {
    EXPECT_NEAR(InverseNormal(known.p), known.x, 1e-14 * (1 + std::abs(known.x))) << known.p;
  }
}

TEST(InverseNormal, UndoesTheDistributionFunction) {
  Rng rng(21);
  for (int i = 0; i < 1000; ++i) {
    const double p = rng.Uniform() * 0.5 + 1e-12;
    EXPECT_NEAR(std::erfc(-InverseNormal(p) / std::sqrt(2.0)) / 2, p, 1e-14);
    EXPECT_EQ(InverseNormal(1 - p) < 0, 1 - p < 0.5);
  }
}

}  // namespace
}  // namespace vernier
