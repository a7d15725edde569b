#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/trial.h"

// The file that the package cloudml-hypertune writes: docs/guides/training_jobs.md.
namespace vernier::metrics {

// The measurements of the file's complete lines, in its order. The package rewrites the file in place at each report, so
// that a reader can see any prefix of it: a last line without its newline is left out, as is one that is no report. The
// package's name for an unnamed metric stands for `objective`. `ignored`: gets the reason for the first lines that were
// left out; may be null.
std::vector<Measurement> ParseHypertune(std::string_view contents,
                                        std::string_view objective,
                                        std::vector<std::string>* ignored = nullptr);

// Reads the file as often as it is asked, and gives back what is new: the file holds the last 100 reports only, and a
// report is known by its time, its step and its metrics.
class HypertuneReader {
 public:
  HypertuneReader(std::string path, std::string objective);
  // A file that does not exist (yet) holds nothing.  Unavailable: it cannot be read.
  absl::StatusOr<std::vector<Measurement>> Read();
  // Why lines of the file were left out when it was read last; a few of them.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  std::string path_;
  std::string objective_;
  std::string last_contents_;
  std::vector<std::string> ignored_;
  std::set<std::tuple<absl::Time, std::int64_t, std::string>> seen_;  // Time, step, names.
};

}  // namespace vernier::metrics
