#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/core/trial.h"

namespace re2 {
class RE2;
}

// Metrics that a program prints, found by regular expressions (RE2).
namespace vernier::metrics {

// Finds one metric in lines. The value is the first group that is not named `step`. The step is the group named `step`,
// or else the number of the match: 1, 2, 3 ….
class LogPattern {
 public:
  // InvalidArgument: a FieldError "metrics.NAME.regex": it does not compile, or has no group for the value.
  static absl::StatusOr<LogPattern> Compile(const std::string& metric, const std::string& regex);
  ~LogPattern();
  LogPattern(LogPattern&& other) noexcept;

  struct Match {
    std::int64_t step = 0;
    double value = 0;
  };
  // Nothing if the line does not match, or if what matches is no number.
  std::optional<Match> Find(std::string_view line);

  const std::string& metric() const { return metric_; }

 private:
  LogPattern(std::string metric, std::unique_ptr<re2::RE2> regex, int value_group, int step_group);

  std::string metric_;
  std::unique_ptr<re2::RE2> regex_;
  int value_group_;
  int step_group_;  // 0: none.
  std::int64_t matches_ = 0;
};

// Reads a replica's captured output (src/base/output_line.h) as it grows.
class LogPatternReader {
 public:
  LogPatternReader(std::string path, std::vector<LogPattern> patterns);

  // Unavailable: the file cannot be read. One that does not exist (yet) has no lines.
  absl::StatusOr<std::vector<Measurement>> Read();
  // The texts of the last lines that held no metric, oldest first.
  std::vector<std::string> UnmatchedLines() const;

 private:
  void ReadLine(std::string_view line, std::vector<Measurement>& found);

  std::string path_;
  std::vector<LogPattern> patterns_;
  std::int64_t offset_ = 0;  // Of the first line that was not read yet.
  std::deque<std::string> unmatched_;
};

}  // namespace vernier::metrics
