#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/output_cursor.h"
#include "src/metrics/line_matcher.h"
#include "src/metrics/sightings.h"
#include "vernier/core/trial.h"

namespace vernier::metrics {

// Turns lines of output, in their order, into measurements.
//
// The step of a value is what its line says, or the epoch of the last line that was a heading ("Epoch 3/10"), or how far
// the line's progress bar is, or else the number of the value: 1, 2, 3 …. Metrics of one step that come within a second are
// one measurement. Of lines that are written over, as progress bars are, one a second counts, and the last one.
//
// Once a metric's bare name was found with a number, the same name behind a word is another metric: "val loss", for "loss".
class LineCollector {
 public:
  LineCollector(LineMatcher matcher, Sightings& sightings);

  // One line without its newline; appends what is complete by it.
  void Take(absl::Time time, std::string_view line, std::vector<Measurement>& found);
  // Nothing more is there for now: appends what was held back.
  void Flush(std::vector<Measurement>& found);
  // Values that are counted go on behind `step`, if they are not beyond it.
  void CountFrom(std::int64_t step);

  // The last lines that held no metric, oldest first.
  std::vector<std::string> UnmatchedLines() const { return {unmatched_.begin(), unmatched_.end()}; }

 private:
  // Where the step of a value comes from.
  enum class StepOrigin { kSaid, kBar, kCounted };
  // Values of one step in one line.
  struct LineValues {
    absl::Time time;
    std::string_view source;
    bool overwritten = false;
    StepOrigin origin = StepOrigin::kSaid;
    std::int64_t step = 0;
    std::map<std::string, double> metrics;
  };
  // What is held back until it is known to be complete.
  struct Held {
    Measurement measurement;
    absl::Time since;
    bool overwritten = false;
    StepOrigin origin = StepOrigin::kSaid;
  };
  void TakeText(absl::Time time,
                std::string_view text,
                bool overwritten,
                std::vector<Measurement>& found);
  // Decides for names behind a word whether they are the metrics.
  void Settle(LineFindings& findings);
  void TakeValues(const LineValues& values, std::vector<Measurement>& found);
  bool Joins(const LineValues& values) const;
  std::int64_t Count(const std::string& metric);
  // What the line says beside the metrics.
  void NoteOthers(std::string_view text, const LineFindings& findings);
  void NoteUnmatched(std::string_view text, bool overwritten, const LineFindings& findings);

  const LineMatcher matcher_;
  Sightings& sightings_;
  std::set<std::string> bare_;  // Metrics whose bare names were found in the output.
  std::optional<std::int64_t> heading_;
  // Values so far, by metric, of those that are counted.
  std::map<std::string, std::int64_t> counts_;
  std::int64_t least_count_ = 0;
  std::optional<Held> held_;
  std::deque<std::string> unmatched_;
};

// Reads a replica's captured output as it grows. Where a part of it is not kept any more, what the study knows of it already
// says how steps are counted behind it.
class OutputReader {
 public:
  // `known`: the last measurement that was recorded of the attempt by an earlier reader. `sightings` must outlive it.
  OutputReader(const std::string& path,
               LineMatcher matcher,
               std::optional<Measurement> known,
               Sightings& sightings);

  // Unavailable: the file cannot be read. One that does not exist (yet) has no lines.
  absl::StatusOr<std::vector<Measurement>> Read();
  std::vector<std::string> UnmatchedLines() const { return collector_.UnmatchedLines(); }

 private:
  void PassGap();

  launch::OutputCursor output_;
  LineCollector collector_;
  std::optional<Measurement> known_;
  absl::Time known_until_ = absl::InfinitePast();  // What was printed up to then is recorded.
};

}  // namespace vernier::metrics
