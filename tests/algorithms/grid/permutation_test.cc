#include "algorithms/grid/permutation.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::grid {
namespace {

std::vector<std::uint64_t> Order(std::uint64_t size, std::uint64_t seed) {
  const Permutation permutation(size, seed);
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < size; ++i) order.push_back(permutation.At(i));
  return order;
}

TEST(Permutation, VisitsEachNumberOnceWhateverTheSize) {
  for (const std::uint64_t size : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 63u, 64u, 65u, 1000u}) {
    const std::vector<std::uint64_t> order = Order(size, 5);
    const std::set<std::uint64_t> visited(order.begin(), order.end());
    EXPECT_EQ(visited.size(), size);
    EXPECT_EQ(*visited.rbegin(), size - 1);
  }
}

TEST(Permutation, ReachesEveryOrderOfThree) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) orders.insert(Order(3, seed));
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Permutation, SpreadsItsFirstNumbersOverTheWholeRange) {
  const Permutation permutation(1'000'000, 3);
  std::vector<int> tenths(10);
  for (std::uint64_t i = 0; i < 1000; ++i) ++tenths[permutation.At(i) / 100'000];
  // Within five standard deviations of their expectation.
  for (const int count : tenths) EXPECT_NEAR(count, 100, 48);
}

TEST(Permutation, StaysInsideTheLargestRange) {
  const std::uint64_t size = std::uint64_t{1} << 62;
  const Permutation permutation(size, 3);
  EXPECT_LT(permutation.At(0), size);
  EXPECT_LT(permutation.At(size - 1), size);
  EXPECT_NE(permutation.At(0), permutation.At(size - 1));
}

}  // namespace
}  // namespace vernier::grid
