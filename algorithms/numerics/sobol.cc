#include "algorithms/numerics/sobol.h"

#include <array>
#include <bit>
#include <cstddef>

#include "algorithms/numerics/sobol_directions.h"

namespace vernier::numerics {
namespace {

static_assert(kSobolDirections.size() == kSobolDimensions);

using Columns = std::array<std::uint64_t, kSobolBits>;

// Direction numbers v_k = m_k / 2^k, where for k beyond the degree s of the polynomial
//   m_k = 2 a_1 m_{k-1} ^ 4 a_2 m_{k-2} ^ … ^ 2^s m_{k-s} ^ m_{k-s}        (Joe and Kuo, 2008, eq. 2)
// and a_1 … a_s are its coefficients after the leading one.
constexpr Columns DirectionNumbers(const SobolDirection& direction) {
  const int degree = std::bit_width(direction.polynomial) - 1;
  std::array<std::uint64_t, kSobolBits> m{};
  for (int k = 0; k < kSobolBits; ++k) {
    if (degree == 0) {
      m[k] = 1;  // The first dimension: van der Corput's sequence.
    } else if (k < degree) {
      m[k] = direction.m[k];
    } else {
      m[k] = m[k - degree];
      for (int i = 1; i <= degree; ++i) {
        const std::uint64_t a = direction.polynomial >> (degree - i) & 1;
        m[k] ^= a * (m[k - i] << i);
      }
    }
  }
  Columns columns{};
  for (int k = 0; k < kSobolBits; ++k) columns[k] = m[k] << (kSobolBits - 1 - k);
  return columns;
}

constexpr std::array<Columns, kSobolDimensions> AllDirectionNumbers() {
  std::array<Columns, kSobolDimensions> all{};
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = DirectionNumbers(kSobolDirections[d]);
  return all;
}

// Computed by the compiler: 64 * 52 numbers, 26 KiB.
constexpr std::array<Columns, kSobolDimensions> kColumns = AllDirectionNumbers();

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014): every bit of the result depends on every bit of x.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The use of a scrambling. Part of its key, so that different scramblings of one seed use different random bits.
enum class Purpose : std::uint64_t { kCoordinate, kOrder };

std::uint64_t Key(std::uint64_t seed, Purpose purpose, std::uint64_t dimension) {
  return Mix(Mix(Mix(seed) + static_cast<std::uint64_t>(purpose)) + dimension);
}

}  // namespace

std::uint64_t SobolCoordinate(std::uint64_t index, int dimension) {
  const Columns& columns = kColumns[static_cast<std::size_t>(dimension)];
  std::uint64_t coordinate = 0;
  for (std::uint64_t gray = index ^ (index >> 1); gray != 0; gray &= gray - 1) {
    coordinate ^= columns[static_cast<std::size_t>(std::countr_zero(gray))];
  }
  return coordinate;
}

std::uint64_t OwenScramble(std::uint64_t digits, std::uint64_t seed, int depth) {
  // The random bits for the prefix before the digit at `bit`. A leading one distinguishes prefixes of different
  // lengths.
  const auto coins = [digits, seed](int bit) {
    const std::uint64_t prefix = (std::uint64_t{1} << kSobolBits | digits) >> (bit + 1);
    return Mix(Mix(prefix) ^ seed);
  };
  const int rest = kSobolBits - depth;
  std::uint64_t scrambled = digits;
  for (int bit = kSobolBits - 1; bit >= rest; --bit) scrambled ^= (coins(bit) >> 63) << bit;
  return rest > 0 ? scrambled ^ (coins(rest - 1) >> (64 - rest)) : scrambled;
}

void ScrambledSobolPoint(std::uint64_t index,
                         std::uint64_t seed,
                         std::span<double> point,
                         int depth) {
  std::uint64_t place = index;
  for (std::size_t d = 0; d < point.size(); ++d) {
    const auto column = static_cast<int>(d % kSobolDimensions);
    if (d > 0 && column == 0) place = OwenScramble(index, Key(seed, Purpose::kOrder, d));
    const std::uint64_t digits =
        OwenScramble(SobolCoordinate(place, column), Key(seed, Purpose::kCoordinate, d), depth);
    // The middle of the cell: never 0 or 1.
    point[d] = (static_cast<double>(digits) + 0.5) * 0x1p-52;
  }
}

}  // namespace vernier::numerics
