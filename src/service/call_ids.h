#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "fmt/format.h"

namespace vernier::service {

// Ids for calls that bear none: by them an error that a client sees is found in the log. Thread-safe.
class CallIds {
 public:
  // `started`: tells the ids of one server from those of the one before it.
  explicit CallIds(absl::Time started) : started_(started) {}
  std::string Next() { return fmt::format("{:x}-{}", absl::ToUnixSeconds(started_), ++calls_); }

 private:
  const absl::Time started_;
  std::atomic<std::int64_t> calls_ = 0;
};

}  // namespace vernier::service
