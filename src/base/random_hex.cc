#include "src/base/random_hex.h"

#include <sys/random.h>

#include <cerrno>
#include <vector>

#include "fmt/format.h"
#include "src/core/check.h"

namespace vernier::base {

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
  return fmt::format("{:02x}", fmt::join(random, ""));
}

}  // namespace vernier::base
