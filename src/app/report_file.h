#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "vernier/core/trial.h"

// Reports of programs on nodes of a cluster, which cannot reach the server: they go through a file of the replica, which
// the server reads.
namespace vernier::app {

// The file and the attempt's folder, which nodes and server share.
struct ReportFile {
  std::string path;
  std::string attempt;
};

// From the variables that Vernier sets for programs. Nothing: this program reports to a server, or is not Vernier's.
std::optional<ReportFile> FindReportFile();

// Appends the measurement. A negative step stands for the one after the file's last, 1 at first. Returns why the program
// should stop; empty: it may go on.
// Unavailable: the file cannot be read or written.
absl::StatusOr<std::string> AppendReport(const ReportFile& file, Measurement measurement);

}  // namespace vernier::app
