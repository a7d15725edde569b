#include "algorithms/numerics/sobol.h"

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/numerics/sobol_directions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::numerics {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::SizeIs;

// From scipy 1.10.1: qmc.Sobol(64, scramble=False), the points with these indices times 2^10 and 2^17.
constexpr std::array<std::uint64_t, 64> kPoint1000 = {
    225,  99,  531,  693, 287, 929, 47,  921, 513, 71,  87,  261,  165, 393, 147, 379,
    737,  353, 1015, 743, 535, 563, 973, 553, 597, 929, 41,  1003, 61,  349, 151, 149,
    303,  607, 821,  789, 869, 851, 315, 491, 935, 261, 983, 719,  861, 95,  893, 941,
    1023, 491, 361,  529, 771, 449, 129, 913, 465, 81,  905, 585,  457, 617, 265, 457};
constexpr std::array<std::uint64_t, 64> kPoint123456 = {
    3473,   23953,  40273,  59023,  22175,  26641, 93825, 60825,  92597, 32645,  65419,
    102391, 72349,  36759,  100053, 86687,  74883, 48713, 115607, 20599, 15479,  79027,
    61141,  65137,  97665,  68741,  112965, 58823, 96131, 42631,  88385, 9923,   34485,
    7729,   1651,   52723,  24727,  61297,  29105, 48625, 104065, 14977, 120897, 47553,
    99777,  88385,  123893, 101861, 93981,  21021, 34109, 83093,  17613, 26589,  126105,
    389,    128423, 4297,   102847, 51791,  63857, 70887, 89729,  124799};

std::vector<std::uint64_t> PointTimes(std::uint64_t index, int bits) {
  std::vector<std::uint64_t> point;
  for (int d = 0; d < kSobolDimensions; ++d) {
    point.push_back(SobolCoordinate(index, d) >> (kSobolBits - bits));
  }
  return point;
}

TEST(Sobol, AgreesWithAnIndependentImplementation) {
  EXPECT_THAT(PointTimes(0, kSobolBits), Each(0));
  EXPECT_THAT(PointTimes(1, 1), Each(1));
  EXPECT_THAT(PointTimes(1000, 10), ElementsAreArray(kPoint1000));
  EXPECT_THAT(PointTimes(123456, 17), ElementsAreArray(kPoint123456));
}

int Degree(std::uint32_t polynomial) { return static_cast<int>(std::bit_width(polynomial)) - 1; }

// Whether x generates all 2^degree - 1 non-zero residues modulo the polynomial.
bool IsPrimitive(std::uint32_t polynomial) {
  const int degree = Degree(polynomial);
  std::uint32_t power = 1;
  std::uint32_t order = 0;
  do {
    power <<= 1;
    if (power >> degree & 1) power ^= polynomial;
    ++order;
  } while (power != 1 && power != 0 && order < (1u << degree));
  return power == 1 && order == (1u << degree) - 1;
}

TEST(SobolDirections, ArePrimitivePolynomialsWithOddInitialNumbers) {
  std::set<std::uint32_t> polynomials;
  for (std::size_t d = 1; d < kSobolDirections.size(); ++d) {
    const SobolDirection& direction = kSobolDirections[d];
    EXPECT_TRUE(IsPrimitive(direction.polynomial)) << "dimension " << d;
    EXPECT_TRUE(polynomials.insert(direction.polynomial).second) << "dimension " << d;
    for (int k = 0; k < Degree(direction.polynomial); ++k) {
      EXPECT_EQ(direction.m[k] % 2, 1u) << "dimension " << d << ", m_" << k + 1;
      EXPECT_LT(direction.m[k], 2u << k) << "dimension " << d << ", m_" << k + 1;
    }
  }
}

// The first 2^8 scrambled points in the unit square of two coordinates, by elementary interval: 2^a columns, 2^(8-a) rows.
std::set<std::pair<int, int>> OccupiedBoxes(std::size_t first, std::size_t second, int a) {
  std::set<std::pair<int, int>> boxes;
  std::vector<double> point(second + 1);
  for (std::uint64_t i = 0; i < 256; ++i) {
    ScrambledSobolPoint(i, 99, point);
    boxes.emplace(static_cast<int>(point[first] * (1 << a)),
                  static_cast<int>(point[second] * (1 << (8 - a))));
  }
  return boxes;
}

TEST(ScrambledSobol, KeepsOnePointInEachElementaryIntervalOfTheFirstPlane) {
  for (int a = 0; a <= 8; ++a) EXPECT_THAT(OccupiedBoxes(0, 1, a), SizeIs(256)) << "2^" << a;
}

TEST(ScrambledSobol, StratifiesEveryCoordinateAlsoBeyondTheTable) {
  const std::vector<std::size_t> coordinates = {0, 5, 63, 64, 65, 127, 128, 150};
  for (const std::size_t d : coordinates) {
    EXPECT_THAT(OccupiedBoxes(0, d, 0), SizeIs(256)) << "coordinate " << d;
  }
}

TEST(ScrambledSobol, PadsWithIndependentCoordinates) {
  // Coordinates 0 and 64 share direction numbers; if they shared the order of the points too, all would lie on few lines.
  EXPECT_GT(OccupiedBoxes(0, 64, 4).size(), 128u);
  EXPECT_LT(OccupiedBoxes(0, 64, 4).size(), 256u);
}

TEST(ScrambledSobol, StaysInsideTheOpenCubeAndDiffersBySeed) {
  std::vector<double> one(70);
  std::vector<double> other(70);
  for (std::uint64_t i = 0; i < 64; ++i) {
    ScrambledSobolPoint(i, 1, one);
    ScrambledSobolPoint(i, 2, other);
    EXPECT_THAT(one, Each(::testing::AllOf(::testing::Gt(0.0), ::testing::Lt(1.0))));
    EXPECT_NE(one, other);
  }
}

TEST(OwenScramble, PermutesAlignedBlocksAsTrees) {
  for (const std::uint64_t seed : {0u, 1u, 77u}) {
    std::set<std::uint64_t> low_digits;
    std::set<std::uint64_t> high_digits;
    for (std::uint64_t x = 0; x < 64; ++x) {
      const std::uint64_t scrambled = OwenScramble(x, seed);
      EXPECT_LT(scrambled, std::uint64_t{1} << kSobolBits);
      low_digits.insert(scrambled & 63);
      high_digits.insert(scrambled >> 6);
    }
    EXPECT_THAT(low_digits, SizeIs(64)) << "seed " << seed;
    EXPECT_THAT(high_digits, SizeIs(1)) << "seed " << seed;
  }
}

TEST(OwenScramble, ToADepthIsAPermutationThatAgreesOnItsFirstDigits) {
  constexpr int kDepth = 10;
  constexpr int kRest = kSobolBits - kDepth;
  std::set<std::uint64_t> seen;
  double sum = 0;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    const std::uint64_t digits = SobolCoordinate(i, 3);
    const std::uint64_t scrambled = OwenScramble(digits, 5, kDepth);
    EXPECT_LT(scrambled, std::uint64_t{1} << kSobolBits);
    EXPECT_EQ(scrambled >> kRest, OwenScramble(digits, 5) >> kRest);
    seen.insert(scrambled);
    constexpr std::uint64_t kLow = (std::uint64_t{1} << kRest) - 1;
    sum += static_cast<double>(scrambled & kLow) / static_cast<double>(kLow);
  }
  EXPECT_THAT(seen, SizeIs(1024));
  // What is left over is uniform: mean 1/2, deviation of the mean 0.009.
  EXPECT_NEAR(sum / 1024, 0.5, 0.04);
  // Digits that share a prefix keep their distance in binary digits.
  EXPECT_EQ(OwenScramble(12, 5, kDepth) ^ OwenScramble(10, 5, kDepth), 12U ^ 10U);
}

}  // namespace
}  // namespace vernier::numerics
