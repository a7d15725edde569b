#pragma once

#include <memory>
#include <string>

#include "grpcpp/channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace vernier::wire {

// A channel to a gRPC target: "unix:/run/vernier.sock", "127.0.0.1:7117". Nothing is encrypted. Each call carries the token,
// if there is one, as metadata `authorization: Bearer TOKEN`.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& target,
                                           const std::string& token,
                                           const grpc::ChannelArguments& arguments = {});

}  // namespace vernier::wire
