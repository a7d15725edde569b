#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/gang/gang_rules.h"

// The records of a gang that a launcher needs after a restart, besides those of its supervisors, in the attempt's
// folder:
//
//   gang.json      time limit, grace, reading of exit statuses; written before anything is started
//   verdict.json   how the gang ends; written once, before it is carried out
namespace vernier::launch {

struct GangRecord {
  std::optional<absl::Duration> time_limit;
  absl::Duration grace;
  bool lenient = false;  // RestartPolicy::reading.
  friend bool operator==(const GangRecord&, const GangRecord&) = default;
};

// The error for a path that could not be written: ResourceExhausted, to be tried again, if the disk is full, else
// Unavailable. `what`: for instance "cannot write"; `error`: an errno.
absl::Status NotWritten(const char* what, const std::string& path, int error);

// Write: errors as NotWritten. Read: nothing if the file is missing or damaged; Unavailable if it cannot be read.
absl::Status WriteGangRecord(const std::string& directory, const GangRecord& record);
absl::StatusOr<std::optional<GangRecord>> ReadGangRecord(const std::string& directory);

// Reserves disk space for the verdict, so that it can be written when the disk is full.
absl::Status ReserveGangEnd(const std::string& directory);
absl::Status WriteGangEnd(const std::string& directory, const GangEnd& gang_end);
absl::StatusOr<std::optional<GangEnd>> ReadGangEnd(const std::string& directory);

}  // namespace vernier::launch
