#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vernier::study {

// 128 bits that stand for a text, in sets of a million of them. Among a million texts two share one
// with a probability of 10^-26. Another version may compute them differently, so data that is
// stored with one must be dispensable, as snapshots are.
using Fingerprint = std::array<std::uint64_t, 2>;

// Makes the fingerprint of a sequence of texts and numbers.
class Fingerprinter {
 public:
  void Add(std::uint64_t number) {
    state_[0] = Mix(state_[0] ^ number);
    state_[1] = Mix(state_[1] + number * kOdd);
  }
  // The length comes first, so that sequences that join to the same text differ.
  void Add(std::string_view text) {
    Add(std::uint64_t{text.size()});
    std::uint64_t word = 0;
    int bytes = 0;
    for (const char c : text) {
      word = word << 8 | static_cast<unsigned char>(c);
      if (++bytes < 8) continue;
      Add(word);
      word = 0;
      bytes = 0;
    }
    if (bytes > 0) Add(word);
  }
  Fingerprint Get() const { return state_; }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;

  // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection in which each bit depends on all.
  static std::uint64_t Mix(std::uint64_t x) {
    x += kOdd;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

  Fingerprint state_ = {0x243f6a8885a308d3, 0x13198a2e03707344};
};

inline Fingerprint FingerprintOf(std::string_view text) {
  Fingerprinter fingerprinter;
  fingerprinter.Add(text);
  return fingerprinter.Get();
}

}  // namespace vernier::study
