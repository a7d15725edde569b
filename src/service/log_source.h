#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/trial.h"

// Where the service takes the output of replicas from.
namespace vernier::service {

struct LogLine {
  absl::Time time;
  std::string role;
  std::int32_t index = 0;
  bool is_stderr = false;
  std::string text;  // Any bytes but a newline.
};

// A place in the output of one attempt, from its beginning on. Not thread-safe.
class LogCursor {
 public:
  virtual ~LogCursor() = default;
  // Skips all but the last `lines` lines of what is there now.
  virtual absl::Status SeekTail(std::int64_t lines) = 0;
  // The next lines; empty: none yet. May return fewer than there are.
  virtual absl::StatusOr<std::vector<LogLine>> Read() = 0;
};

// Thread-safe.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // The output of the replicas of `role`, or of all if that is empty; of the one with `index`, if that is set.
  virtual std::unique_ptr<LogCursor> Open(const Attempt& attempt,
                                          const std::string& role,
                                          std::optional<std::int32_t> index) = 0;
};

}  // namespace vernier::service
