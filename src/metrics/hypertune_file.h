#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/trial.h"

// Reads the file of the package cloudml-hypertune: docs/guides/training_jobs.md.
namespace vernier::metrics {

// Parses the measurements of the complete lines, in order. The package rewrites the file in place at each report, so
// that a reader may see any prefix of it: a last line without newline is left out, as is a line that is no report. The
// package's name for an unnamed metric is replaced by `objective`. `ignored`: receives the reasons for the first lines
// that were left out; may be null.
std::vector<Measurement> ParseHypertune(std::string_view contents,
                                        std::string_view objective,
                                        std::vector<std::string>* ignored = nullptr);

// The line of a measurement with its step, time and metrics, with its newline. Other fields are left out.
std::string HypertuneLine(const Measurement& measurement);

// Reads the file repeatedly, and returns new reports. The file holds only the last 100 reports; a report is identified
// by its time, step and metrics.
class HypertuneReader {
 public:
  HypertuneReader(std::string path, std::string objective);
  // Reads new reports. A missing file has none.  Unavailable: the file cannot be read.
  absl::StatusOr<std::vector<Measurement>> Read();
  // Why lines were left out at the last read; a few of them.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  std::string path_;
  std::string objective_;
  std::string last_contents_;
  std::vector<std::string> ignored_;
  std::set<std::tuple<absl::Time, std::int64_t, std::string>> seen_;  // Time, step, names.
};

}  // namespace vernier::metrics
