#include "src/jobs/secret_file.h"

#include <cstdlib>

#include "src/core/status.h"

namespace vernier::jobs {

absl::StatusOr<std::string> PathOfSecret(const SecretSource& secret, const std::string& directory) {
  if (!secret.name.empty() && directory.empty()) {
    return InvalidArgument("secret '{}': there is no folder of secrets here", secret.name);
  }
  if (!secret.name.empty()) return directory + "/" + secret.name;
  // No shell is involved, so "~/" is expanded here.
  if (!secret.from_file.starts_with("~/")) return secret.from_file;
  const char* const home = std::getenv("HOME");
  if (home != nullptr) return home + secret.from_file.substr(1);
  return InvalidArgument("secret file '{}': HOME is not set", secret.from_file);
}

}  // namespace vernier::jobs
