#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/security/server_credentials.h"

// Controls access to a server: a unix socket is for its owner, other addresses need a token.
namespace vernier::app {

// Credentials for addresses that any program can connect to: a call without the metadata `authorization: Bearer TOKEN`
// gets UNAUTHENTICATED, for every service. Nothing is encrypted. `file`: the path of the token, for messages.
std::shared_ptr<grpc::ServerCredentials> RequireToken(std::string token, const std::string& file);

// Tries to connect to the socket. 0: a program accepts calls; else an errno: EACCES, it belongs to another user;
// ENOENT, it does not exist.
int TryToConnect(const std::string& path);

// Makes room for a socket: removes one on which no program accepts calls.
// Unavailable: a program does, or the folder cannot be written.  NotFound: there is no such folder.  InvalidArgument: a
// FieldError at "listen": the path is not a socket.
absl::Status ClearSocket(const std::string& path);

// While it exists, this process creates files for its user only. The umask belongs to the whole process, so use it only
// while a socket is bound and no other thread creates files.
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
