#pragma once

#include <string>
#include <string_view>

namespace vernier::base {

// The SHA-256 of a sequence of texts. Each is hashed with its length, so that different sequences have different
// hashes.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  // Adds a text: "ab", "c" hash differently from "a", "bc".
  void Add(std::string_view text);
  // Adds bytes without a length: in pieces of any size, the hash is that of `sha256sum` for a file.
  void AddBytes(std::string_view bytes);
  // Returns 64 hexadecimal digits, and ends the sequence: nothing can be added afterwards.
  std::string Hex();

 private:
  void* context_;  // OpenSSL's EVP_MD_CTX.
};

}  // namespace vernier::base
