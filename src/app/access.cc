// Tokens are checked in gRPC's core, before any service sees a call, so that no service can forget to.

#include "src/app/access.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "grpc/slice.h"
#include "src/app/job_directory.h"
#include "src/base/keyed_hash.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

constexpr std::string_view kKey = "authorization";
constexpr std::string_view kScheme = "Bearer ";

// gRPC only says that it cannot listen.
absl::Status CheckSocketFolder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  if (!std::filesystem::exists(folder, error) && !error) {
    return NotFound(
        "listen: there is no folder '{}' for the socket '{}'; create it, or name "
        "another address",
        folder.string(),
        path);
  }
  const absl::Status writable = CheckWritable(folder.string());
  if (writable.ok()) return absl::OkStatus();
  return Unavailable("socket '{}' cannot be made: {}", path, std::string(writable.message()));
}

struct Rule {
  std::string token;
  std::string missing;  // Answer to a call without a token.
  std::string wrong;
};

// Views the slice's bytes; they belong to the call.
std::string_view View(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// The token after the scheme, which is case-insensitive (RFC 9110, 11.1); empty: another scheme.
std::string_view TokenIn(std::string_view value) {
  if (value.size() < kScheme.size()) return "";
  const auto is_same = [](char a, char b) {
    return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
           absl::ascii_tolower(static_cast<unsigned char>(b));
  };
  if (!std::equal(kScheme.begin(), kScheme.end(), value.begin(), is_same)) return "";
  return value.substr(kScheme.size());
}

// Called by gRPC on its own threads. Must call `done` once, and keeps nothing of the call.
void Judge(void* state,
           grpc_auth_context*,
           const grpc_metadata* metadata,
           std::size_t count,
           grpc_process_auth_metadata_done_cb done,
           void* call) {
  const auto& rule = *static_cast<const Rule*>(state);
  bool is_wrong = false;
  // A client may send the key several times; one right token is enough.
  for (const grpc_metadata& entry : std::span(metadata, count)) {
    if (View(entry.key) != kKey) continue;
    // Takes the same time for every wrong token of the right length.
    if (base::IsSameSecret(TokenIn(View(entry.value)), rule.token)) {
      // The entry is consumed, so that no service sees the token.
      return done(call, &entry, 1, nullptr, 0, GRPC_STATUS_OK, nullptr);
    }
    is_wrong = true;
  }
  const std::string& refusal = is_wrong ? rule.wrong : rule.missing;
  done(call, nullptr, 0, nullptr, 0, GRPC_STATUS_UNAUTHENTICATED, refusal.c_str());
}

// grpc::InsecureServerCredentials accepts no metadata processor; the credentials of gRPC's core, on which they are
// built, do.
class TokenCredentials final : public grpc::ServerCredentials {
 public:
  explicit TokenCredentials(Rule rule) : rule_(std::move(rule)) {}
  // Nothing to do: the only processor is the one set below. gRPC requires the method.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_insecure_server_credentials_create();
    const auto destroy = [](void* state) { delete static_cast<Rule*>(state); };
    // The credentials own the copy of the rule, and delete it with themselves.
    grpc_server_credentials_set_auth_metadata_processor(credentials,
                                                        {Judge, destroy, new Rule(rule_)});
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): see above.
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const Rule rule_;
};

}  // namespace

int TryToConnect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // A longer path would be cut off, and lead to another socket.
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  // Not blocking: a server whose queue is full would hold up the start.
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const int result = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  // connect(2) succeeds once the connection is in the listener's queue, before it is accepted.
  const int error = result == 0 || errno == EAGAIN ? 0 : errno;  // EAGAIN: its queue is full.
  close(fd);
  return error;
}

std::shared_ptr<grpc::ServerCredentials> RequireToken(std::string token, const std::string& file) {
  return std::make_shared<TokenCredentials>(
      Rule{.token = std::move(token),
           .missing = fmt::format("calls to this address need the token in '{}' of the server's "
                                  "user, as metadata `authorization: Bearer TOKEN`",
                                  file),
           .wrong = fmt::format("the token of this call is not the one that '{}' had when the "
                                "server started",
                                file)});
}

absl::Status ClearSocket(const std::string& path) {
  struct stat status = {};
  // lstat: a link is not followed, so that nothing behind it is removed.
  if (lstat(path.c_str(), &status) != 0) return CheckSocketFolder(path);
  if (!S_ISSOCK(status.st_mode)) {
    return FieldError("listen", fmt::format("'{}' is there and is no socket", path));
  }
  const int error = TryToConnect(path);
  if (error == 0) return Unavailable("another program takes calls at 'unix:{}'", path);
  // Nobody listens: a socket outlives its process as a file.
  if (error == ECONNREFUSED && unlink(path.c_str()) == 0) return absl::OkStatus();
  return Unavailable("socket '{}' cannot be taken over: {}", path, std::strerror(error));
}

// Read and write for the owner only; execute has no meaning for a socket.
PrivateUmask::PrivateUmask() : before_(umask(0177)) {}
PrivateUmask::~PrivateUmask() { umask(before_); }

}  // namespace vernier::app
