#pragma once

#include <string>
#include <string_view>

namespace vernier::base {

// The SHA-256 of a sequence of texts, which differs for different sequences: each goes in behind its length.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  // As a text of its own: "ab" and "c" give another hash than "a" and "bc".
  void Add(std::string_view text);
  // The next bytes of one text, however it is cut: what `sha256sum` gives for a file.
  void AddBytes(std::string_view bytes);
  // 64 hexadecimal digits. Ends the sequence: nothing can be added after it.
  std::string Hex();

 private:
  void* context_;  // OpenSSL's EVP_MD_CTX.
};

}  // namespace vernier::base
