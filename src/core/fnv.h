#pragma once

#include <cstdint>
#include <string_view>

namespace vernier {

// FNV-1a, 64 bits (Fowler, Noll and Vo): the same everywhere and for ever; it is no secret.
inline std::uint64_t Fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace vernier
