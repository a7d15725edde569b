#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/security/server_credentials.h"

// Who may call a server: on a unix socket, the user that it belongs to; elsewhere, who has the token.
namespace vernier::app {

// For addresses that any program may connect to: a call without the metadata `authorization: Bearer TOKEN` gets
// UNAUTHENTICATED, whichever service it is for. Nothing is encrypted. `file`: where the token is, for messages.
std::shared_ptr<grpc::ServerCredentials> RequireToken(std::string token, const std::string& file);

// 0: somebody takes calls at the socket; else an errno: EACCES, it is another user's; ENOENT, it is not there.
int TryToConnect(const std::string& path);

// Makes place for a socket: removes one that nobody takes calls on.
// Unavailable: somebody does.  InvalidArgument: a FieldError at "listen": it is something else.
absl::Status ClearSocket(const std::string& path);

// While it lives, this process creates files for its user only. For the time in which a socket is bound, when no other
// thread creates any.
class PrivateUmask {
 public:
  PrivateUmask();
  ~PrivateUmask();
  PrivateUmask(const PrivateUmask&) = delete;
  PrivateUmask& operator=(const PrivateUmask&) = delete;

 private:
  const mode_t before_;
};

}  // namespace vernier::app
