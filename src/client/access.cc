#include "src/client/access.h"

#include <cstdlib>
#include <string_view>

#include "fmt/format.h"
#include "src/base/access_token.h"

namespace vernier::client {
namespace {

// Only then is the user's own token shown without being asked to: servers of this host are run by its users, while a
// server elsewhere could collect tokens.
bool IsOfThisHost(std::string_view target) {
  // 127.example.org is elsewhere.
  const bool is_loopback = target.starts_with("127.") &&
                           target.find_first_not_of("0123456789.:") == std::string_view::npos;
  return is_loopback || target.starts_with("localhost:") || target.starts_with("[::1]:") ||
         target.starts_with("unix-abstract:");
}

}  // namespace

absl::StatusOr<std::string> FindToken(const std::string& target) {
  const char* const named = std::getenv("VERNIER_TOKEN_FILE");
  const bool is_named = named != nullptr && *named != '\0';
  // A Unix socket needs no token: its file's permissions say who may connect.
  if (target.starts_with("unix:") || (!is_named && !IsOfThisHost(target))) return std::string();
  absl::StatusOr<std::string> token = base::ReadToken(base::TokenPath());
  // The user's own token is a default, and most servers ask for none. A named file that is missing is an error.
  if (!is_named && absl::IsNotFound(token.status())) return std::string();
  if (is_named && !token.ok()) {
    return absl::Status(
        token.status().code(),
        fmt::format("$VERNIER_TOKEN_FILE: {}", std::string(token.status().message())));
  }
  return token;
}

}  // namespace vernier::client
