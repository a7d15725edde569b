#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "nghttp2/nghttp2.h"

namespace vernier {

// Unary gRPC calls over one connection of HTTP/2, driven by one thread: for load, where what the client spends is missing
// to the server on the same host. A call takes nghttp2 about a third of the CPU time that gRPC's own client takes.
class UnaryClient {
 public:
  // What the call came to, and the reply's bytes if that is OK.
  using Answered = std::function<void(const absl::Status& status, std::string_view reply)>;

  // `address`: HOST:PORT.  Unavailable.
  static absl::StatusOr<std::unique_ptr<UnaryClient>> Connect(const std::string& address);
  ~UnaryClient();
  UnaryClient(const UnaryClient&) = delete;
  UnaryClient& operator=(const UnaryClient&) = delete;

  // Run sends it and calls `answered`, which may make further calls. `path`: /package.Service/Method.
  void Call(const std::string& path,
            const google::protobuf::MessageLite& request,
            Answered answered);
  // Until every call is answered.  Unavailable: the connection broke.
  absl::Status Run();
  // One call by itself.  REQUIRES: no other is under way.
  absl::Status CallNow(const std::string& path,
                       const google::protobuf::MessageLite& request,
                       google::protobuf::MessageLite& reply);

 private:
  struct Flight {
    std::string request;  // With gRPC's prefix of 5 bytes.
    std::size_t sent = 0;
    std::string reply;  // The same.
    std::string code;   // grpc-status, once it is there.
    std::string message;
    Answered answered;
  };
  UnaryClient(int socket, std::string authority);
  absl::Status Send();
  absl::Status Receive();
  void End(std::int32_t stream);
  static absl::Status StatusOf(const Flight& flight);

  const int socket_;
  const std::string authority_;
  nghttp2_session* session_ = nullptr;
  absl::flat_hash_map<std::int32_t, std::unique_ptr<Flight>> flights_;  // By stream.
  std::vector<std::unique_ptr<Flight>> ended_;  // To be answered once nghttp2 is done with them.
};

}  // namespace vernier
