// OpenSSL's EVP interface, since its SHA256_* functions are deprecated as of version 3.

#include "src/base/sha256.h"

#include <cstdint>

#include "fmt/format.h"
#include "openssl/evp.h"
#include "src/core/check.h"

namespace vernier::base {
namespace {

EVP_MD_CTX* ContextOf(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  VERNIER_CHECK(
      context_ != nullptr && EVP_DigestInit_ex(ContextOf(context_), EVP_sha256(), nullptr) == 1,
      "SHA-256 is there");
}

Sha256::~Sha256() { EVP_MD_CTX_free(ContextOf(context_)); }

void Sha256::Add(std::string_view text) {
  // In this host's byte order: hashes of sequences name files of one host only. AddBytes alone is portable.
  const std::uint64_t size = text.size();
  EVP_DigestUpdate(ContextOf(context_), &size, sizeof size);
  AddBytes(text);
}

void Sha256::AddBytes(std::string_view bytes) {
  EVP_DigestUpdate(ContextOf(context_), bytes.data(), bytes.size());
}

std::string Sha256::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(ContextOf(context_), digest, &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace vernier::base
