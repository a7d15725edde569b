#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

namespace vernier::launch {

// TCP ports for replicas to listen on. Not thread-safe.
//
// A reserved port stays bound by this process until its replica starts, and is not given again until it is freed.
class PortBook {
 public:
  // `first`: gives ports from this one upwards, skipping those in use; unset: from anywhere in the range above.
  explicit PortBook(std::optional<std::int32_t> first = std::nullopt);
  ~PortBook();
  PortBook(const PortBook&) = delete;
  PortBook& operator=(const PortBook&) = delete;

  // Reserves `count` ports.  ResourceExhausted: fewer are free; none is taken then.
  absl::StatusOr<std::vector<std::int32_t>> Reserve(std::size_t count);
  // Takes a port that an earlier process reserved, and binds it if possible.
  void Adopt(std::int32_t port);
  // The same for a replica that was started: not bound, since the replica may be about to bind it, after a restart
  // again.
  void AdoptStarted(std::int32_t port);
  // Closes the socket, so that the replica can bind the port. The port stays reserved.
  void Unbind(std::int32_t port);
  void Free(std::int32_t port);

 private:
  std::int32_t Next();

  std::int32_t first_;
  std::int32_t last_;
  std::int32_t next_;
  std::map<std::int32_t, int> taken_;  // The socket that is bound to it; -1: unbound.
};

}  // namespace vernier::launch
