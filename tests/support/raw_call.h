#pragma once

#include <memory>
#include <string>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace vernier::testing {

// Makes a unary call, or reads the first answer of a stream, with serialised messages. For services without generated
// code here, such as health and reflection.
inline grpc::Status RawCall(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method,
                            const std::string& request,
                            std::string* response) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  grpc::Status status;
  const auto stream = stub.PrepareCall(&context, method, &queue);
  int tag = 0;
  void* got = nullptr;
  bool ok = false;
  stream->StartCall(&tag);
  queue.Next(&got, &ok);
  stream->WriteLast(sent, grpc::WriteOptions(), &tag);
  queue.Next(&got, &ok);
  stream->Read(&received, &tag);
  queue.Next(&got, &ok);
  stream->Finish(&status, &tag);
  queue.Next(&got, &ok);
  grpc::Slice dumped;
  if (received.Valid() && received.DumpToSingleSlice(&dumped).ok()) {
    response->assign(reinterpret_cast<const char*>(dumped.begin()), dumped.size());
  }
  return status;
}

// Whether the health service reports SERVING. `service`: "" for the server as a whole; at most 127 characters, since
// the message is encoded by hand.
inline bool IsHealthy(const std::shared_ptr<grpc::Channel>& channel,
                      const std::string& service = "") {
  std::string request;
  if (!service.empty()) {
    request = "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
  }
  std::string response;
  return RawCall(channel, "/grpc.health.v1.Health/Check", request, &response).ok() &&
         response == std::string("\x08\x01", 2);  // status: SERVING
}

}  // namespace vernier::testing
