#pragma once

#include <memory>
#include <string>

#include "grpcpp/channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace vernier::wire {

// Keeps what gRPC shares in a process until the process ends. Otherwise the last of its servers and channels to go waits, for up to
// ten seconds, until gRPC no longer looks after data that did not go into a socket at once (run_poller in its tcp_posix.cc).
void KeepGrpc();

// A channel to a gRPC target: "unix:/run/vernier.sock", "127.0.0.1:7117". Nothing is encrypted. Each call carries the token,
// if there is one, as metadata `authorization: Bearer TOKEN`; not one with spaces, line ends or letters outside ASCII.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& target,
                                           const std::string& token,
                                           const grpc::ChannelArguments& arguments = {});

}  // namespace vernier::wire
