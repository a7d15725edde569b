#pragma once

#include <cstdint>
#include <string_view>

namespace vernier {

// The 64-bit FNV-1a hash (Fowler, Noll and Vo). Stable across versions and machines, so that it may be stored. Not for
// secrets: collisions are easy to construct.
inline std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace vernier
