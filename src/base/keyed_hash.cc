#include "src/base/keyed_hash.h"

#include <sys/random.h>

#include <cerrno>
#include <vector>

#include "fmt/format.h"
#include "openssl/crypto.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"
#include "src/core/check.h"

namespace vernier::base {
namespace {

std::string Hex(const unsigned char* bytes, std::size_t size) {
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

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
  return Hex(digest, size);
}

bool IsSameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string RandomHex(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  std::size_t have = 0;
  while (have < bytes) {
    // Without flags it blocks until the kernel's generator is seeded, early at boot, and never fails for another reason
    // than a signal.
    const ssize_t got = getrandom(random.data() + have, bytes - have, 0);
    VERNIER_CHECK(got > 0 || errno == EINTR, "the kernel has no random bits");
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return Hex(random.data(), bytes);
}

}  // namespace vernier::base
