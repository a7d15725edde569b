#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/local/gang_rules.h"

// What a launcher must know of a gang after a restart and no supervisor knows, in the attempt's folder:
//
//   gang.json      time limit, grace, how failures are read; written before anything is started
//   verdict.json   how the gang ends; written once, before it is carried out
namespace vernier::launch {

struct GangRecord {
  std::optional<absl::Duration> time_limit;
  absl::Duration grace;
  bool lenient = false;  // RestartPolicy::reading.
  friend bool operator==(const GangRecord&, const GangRecord&) = default;
};

// What came of a path that could not be written. ResourceExhausted where there was no room for it: to be tried again.
// `what`: for instance "cannot write"; `error`: an errno.
absl::Status NotWritten(const char* what, const std::string& path, int error);

// NotWritten; Unavailable: the file cannot be read, the message says why. Of Read: nothing if there is no such file, or
// it is damaged.
absl::Status WriteGangRecord(const std::string& directory, const GangRecord& record);
absl::StatusOr<std::optional<GangRecord>> ReadGangRecord(const std::string& directory);

// Makes room for a verdict that is written when the disk is full.
absl::Status ReserveVerdict(const std::string& directory);
absl::Status WriteVerdict(const std::string& directory, const Verdict& verdict);
absl::StatusOr<std::optional<Verdict>> ReadVerdict(const std::string& directory);

}  // namespace vernier::launch
