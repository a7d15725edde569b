#include "src/base/keyed_hash.h"

#include "fmt/format.h"
#include "openssl/crypto.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"
#include "src/core/check.h"

namespace vernier::base {
namespace {

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string KeyedHash(std::string_view secret, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const unsigned char* const made = HMAC(EVP_sha256(),
                                         secret.data(),
                                         static_cast<int>(secret.size()),
                                         BytesOf(text),
                                         text.size(),
                                         digest,
                                         &size);
  VERNIER_CHECK(made != nullptr, "SHA-256 is there");
  return fmt::format("{:02x}", fmt::join(digest, digest + size, ""));
}

bool IsSameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace vernier::base
