#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/durations.h"
#include "vernier/engine.h"

namespace vernier::service {

// How long the steps of the loop that moves studies took, and how late they began.
struct LoopTimes {
  Durations steps;
  Durations delays;
};

// A disk that the server writes to.
struct DiskUse {
  std::vector<std::string> users;  // "store", "runs"
  std::string path;                // A folder on it.
  std::int64_t free_bytes = 0;     // For this user.
  std::int64_t total_bytes = 0;
};

// No rule reaches what was used within this time, so that nothing is removed while it is made or about to be used.
inline constexpr absl::Duration kLeastUnused = absl::Hours(1);

// What may go.
struct CleanUpRule {
  absl::Duration unused_for = absl::Hours(7 * 24);
  // Environments and images may have so many bytes together: the longest unused go before their time.
  std::optional<std::int64_t> cache_bytes;
  bool remove = false;  // Else it is only listed.
};

struct Leftover {
  enum class Kind { kRuns, kEnvironment, kPackage, kImage };
  Kind kind = Kind::kRuns;
  std::string path;
  std::int64_t bytes = 0;
  absl::Time last_used;  // Of runs: when they were written to last.
  bool removed = false;
  std::string error;  // Why it could not be removed.
};

struct CleanUpReport {
  std::vector<Leftover> leftovers;  // By kind, and then the longest unused first.
  // Why runs and packages, or all, were left alone, one sentence; empty: nothing was.
  std::string kept;
};

// What the service tells of the server that it is a part of, and asks of it. Thread-safe.
class ServerState {
 public:
  virtual ~ServerState() = default;
  // The studies that do not move.
  virtual std::vector<StudyTrouble> Troubles() const = 0;
  // Why no trial is started at present; empty: they are.
  virtual std::string WhyHeld() = 0;
  virtual LoopTimes Loop() const = 0;
  virtual std::vector<DiskUse> Disks() const = 0;
  // Removes, or lists, what nobody needs any more. May take long.  Errors: the store cannot be read.
  virtual absl::StatusOr<CleanUpReport> CleanUp(const CleanUpRule& rule, std::stop_token stop) = 0;
};

}  // namespace vernier::service
