#pragma once

#include <memory>

#include "grpcpp/channel.h"
#include "vernier/client.h"

namespace vernier::client {

// A client over a channel that exists already, for instance one that goes through no socket.
std::unique_ptr<Client> NewChannelClient(std::shared_ptr<grpc::Channel> channel,
                                         ClientOptions options = {});

}  // namespace vernier::client
