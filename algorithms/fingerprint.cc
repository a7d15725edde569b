#include <gnu/libc-version.h>

#include <string>

#include "Eigen/Core"
#include "fmt/format.h"
#include "vernier/algorithm_catalogue.h"

namespace vernier {
namespace {

// The instruction set that the library was compiled for. With wider vectors Eigen sums in another order.
std::string InstructionSet() {
#if defined(__x86_64__)
  std::string set = "x86-64";
#elif defined(__aarch64__)
  std::string set = "aarch64";
#else
  std::string set = "other";
#endif
#if defined(__AVX2__)
  set += "+avx2";
#endif
#if defined(__FMA__)
  set += "+fma";
#endif
#if defined(__AVX512F__)
  set += "+avx512f";
#endif
  return set;
}

std::string Compiler() {
#if defined(__clang__)
  return fmt::format("clang-{}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc-{}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "other";
#endif
}

// The C library selects exp, log and pow by the capabilities of the processor at runtime; with fused multiply-add their
// last bit may differ.
std::string MathLibrary() {
  std::string library = fmt::format("glibc-{}", gnu_get_libc_version());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) library += "+fma";
#endif
  return library;
}

}  // namespace

std::string NumericsFingerprint() {
  return fmt::format(
      "{} {} {} eigen-{}.{}.{} {}",
      InstructionSet(),
      Compiler(),
      VERNIER_OPTIMIZATION,  // A compiler may replace pow(x, 2) by x * x, for example.
      EIGEN_WORLD_VERSION,
      EIGEN_MAJOR_VERSION,
      EIGEN_MINOR_VERSION,
      MathLibrary());
}

}  // namespace vernier
