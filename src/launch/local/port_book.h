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
// A port that was handed out stays bound until the replica that is to have it starts, and is not handed out again until
// it is freed. Ports come from below the range from which the kernel serves outgoing connections, so that none of those
// takes one in the moment between.
class PortBook {
 public:
  // `first`: hand out ports from this one on, those in use left out; unset: from the range above, anywhere.
  explicit PortBook(std::optional<std::int32_t> first = std::nullopt);
  ~PortBook();
  PortBook(const PortBook&) = delete;
  PortBook& operator=(const PortBook&) = delete;

  // ResourceExhausted: fewer than `count` ports of the range are free; none is taken then.
  absl::StatusOr<std::vector<std::int32_t>> Reserve(std::size_t count);
  // Takes a port that an earlier process handed out, as far as it is still to be had.
  void Adopt(std::int32_t port);
  // The same of a replica that was started: the number only, for it may be about to bind the port, again.
  void AdoptStarted(std::int32_t port);
  // Lets the replica bind it; it stays taken here.
  void Unbind(std::int32_t port);
  void Free(std::int32_t port);

 private:
  std::int32_t Next();

  std::int32_t first_;
  std::int32_t last_;
  std::int32_t next_;
  std::map<std::int32_t, int> taken_;  // The socket that holds it bound; -1 once it is let go.
};

}  // namespace vernier::launch
