#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "vernier/launcher.h"

namespace vernier::service {

// Where the service takes machines and the queue for them from. Thread-safe.
class ClusterSource {
 public:
  virtual ~ClusterSource() = default;
  virtual absl::StatusOr<std::vector<Node>> Nodes() = 0;
  // In the order of the queue.
  virtual std::vector<QueuedGang> Queue() = 0;
};

}  // namespace vernier::service
