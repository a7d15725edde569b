#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/launch/log_line.h"
#include "vernier/core/trial.h"

// Where the service takes the output of replicas from.
namespace vernier::service {

using launch::LogFilter;
using launch::LogLine;

// A place in what matches of the output of one attempt, from its beginning on. Not thread-safe.
class LogCursor {
 public:
  virtual ~LogCursor() = default;
  // Skips all but the last `lines` lines of what is there now.
  virtual absl::Status SeekTail(std::int64_t lines) = 0;
  // The next lines, in the order of their times. May return fewer than there are, and none.
  virtual absl::StatusOr<std::vector<LogLine>> Read() = 0;
  // Whether the last Read came to the end of what there was.
  virtual bool at_end() const = 0;
};

// Thread-safe.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // NotFound: the attempt has ended, and its output was removed since.
  virtual absl::StatusOr<std::unique_ptr<LogCursor>> Open(const Attempt& attempt,
                                                          const LogFilter& filter) = 0;
};

}  // namespace vernier::service
