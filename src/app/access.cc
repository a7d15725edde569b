#include "src/app/access.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "grpc/slice.h"
#include "src/base/keyed_hash.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

constexpr std::string_view kKey = "authorization";
constexpr std::string_view kScheme = "Bearer ";

struct Rule {
  std::string token;
  std::string missing;  // What a call without any is told.
  std::string wrong;
};

std::string_view View(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// What follows the scheme, whose letters may be small; empty: it is another one.
std::string_view TokenIn(std::string_view value) {
  if (value.size() < kScheme.size()) return "";
  const auto is_same = [](char a, char b) {
    return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
           absl::ascii_tolower(static_cast<unsigned char>(b));
  };
  if (!std::equal(kScheme.begin(), kScheme.end(), value.begin(), is_same)) return "";
  return value.substr(kScheme.size());
}

void Judge(void* state,
           grpc_auth_context*,
           const grpc_metadata* metadata,
           std::size_t count,
           grpc_process_auth_metadata_done_cb done,
           void* call) {
  const auto& rule = *static_cast<const Rule*>(state);
  bool is_wrong = false;
  for (const grpc_metadata& entry : std::span(metadata, count)) {
    if (View(entry.key) != kKey) continue;
    if (base::IsSameSecret(TokenIn(View(entry.value)), rule.token)) {
      // Taken out of the metadata, so that no service sees it.
      return done(call, &entry, 1, nullptr, 0, GRPC_STATUS_OK, nullptr);
    }
    is_wrong = true;
  }
  const std::string& refusal = is_wrong ? rule.wrong : rule.missing;
  done(call, nullptr, 0, nullptr, 0, GRPC_STATUS_UNAUTHENTICATED, refusal.c_str());
}

// gRPC's own insecure credentials take no processor of metadata; those of its core, which it builds upon, do.
class TokenCredentials final : public grpc::ServerCredentials {
 public:
  explicit TokenCredentials(Rule rule) : rule_(std::move(rule)) {}
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_insecure_server_credentials_create();
    const auto destroy = [](void* state) { delete static_cast<Rule*>(state); };
    grpc_server_credentials_set_auth_metadata_processor(credentials,
                                                        {Judge, destroy, new Rule(rule_)});
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
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const int result = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
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
  if (lstat(path.c_str(), &status) != 0) return absl::OkStatus();
  if (!S_ISSOCK(status.st_mode)) {
    return FieldError("listen", fmt::format("'{}' is there and is no socket", path));
  }
  const int error = TryToConnect(path);
  if (error == 0) return Unavailable("another program takes calls at 'unix:{}'", path);
  if (error == ECONNREFUSED && unlink(path.c_str()) == 0) return absl::OkStatus();
  return Unavailable("socket '{}' cannot be taken over: {}", path, std::strerror(error));
}

PrivateUmask::PrivateUmask() : before_(umask(0177)) {}
PrivateUmask::~PrivateUmask() { umask(before_); }

}  // namespace vernier::app
