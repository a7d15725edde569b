#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/output_cursor.h"
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

  // Steps that are counted go on behind `step`, if they are not beyond it.
  void CountFrom(std::int64_t step) { matches_ = std::max(matches_, step); }

  const std::string& metric() const { return metric_; }

 private:
  LogPattern(std::string metric, std::unique_ptr<re2::RE2> regex, int value_group, int step_group);

  std::string metric_;
  std::unique_ptr<re2::RE2> regex_;
  int value_group_;
  int step_group_;  // 0: none.
  std::int64_t matches_ = 0;
};

// Reads a replica's captured output as it grows. Where a part of it is not kept any more, what the study knows of it already
// says how steps are counted behind it.
class LogPatternReader {
 public:
  // `known`: the last measurement that was recorded of the attempt by an earlier reader.
  LogPatternReader(const std::string& path,
                   std::vector<LogPattern> patterns,
                   std::optional<Measurement> known);

  // Unavailable: the file cannot be read. One that does not exist (yet) has no lines.
  absl::StatusOr<std::vector<Measurement>> Read();
  // The texts of the last lines that held no metric, oldest first.
  std::vector<std::string> UnmatchedLines() const;

 private:
  void ReadLine(std::string_view line, std::vector<Measurement>& found);
  void PassGap();

  launch::OutputCursor output_;
  std::vector<LogPattern> patterns_;
  std::optional<Measurement> known_;
  absl::Time known_until_ = absl::InfinitePast();  // What was printed up to then is recorded.
  std::deque<std::string> unmatched_;
};

}  // namespace vernier::metrics
