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

// Turns lines of output into measurements, in order.
//
// The step of a value is the one that its line states, else the epoch of the last heading line ("Epoch 3/10"), else the
// position of the line's progress bar, else the number of the value: 1, 2, 3 …. Once a line of the metric states a part of
// an epoch, its values have their numbers. Metrics of one step that come within a
// second form one measurement. Of lines that overwrite each other, as progress bars do, one per second counts, and the
// last one.
//
// Once a metric's bare name was found with a number, the same name after a word is another metric: "val loss" for
// "loss".
class LineCollector {
 public:
  LineCollector(LineMatcher matcher, Sightings& sightings);

  // Takes a line without its newline; appends the measurements that it completes.
  void Take(absl::Time time, std::string_view line, std::vector<Measurement>& found);
  // Call when no more lines are available: appends the measurement that was held back.
  void Flush(std::vector<Measurement>& found);
  // Counted values continue after `step`, unless they are beyond it already.
  void CountFrom(std::int64_t step);

  // The last lines without a metric, oldest first.
  std::vector<std::string> UnmatchedLines() const { return {unmatched_.begin(), unmatched_.end()}; }

 private:
  // The origin of a value's step.
  enum class StepOrigin { kSaid, kBar, kCounted };
  // The values of one step in one line.
  struct LineValues {
    absl::Time time;
    std::string_view source;
    bool overwritten = false;
    StepOrigin origin = StepOrigin::kSaid;
    std::int64_t step = 0;
    std::map<std::string, double> metrics;
  };
  // A measurement that is held back until it is complete.
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
  // Decides whether names after a word are the metrics.
  void Settle(LineFindings& findings);
  void TakeValues(const LineValues& values, std::vector<Measurement>& found);
  bool Joins(const LineValues& values) const;
  std::int64_t Count(const std::string& metric);
  // The step that the line or a heading states for the metric, if that one's steps are whole.
  std::optional<std::int64_t> Said(const std::string& metric,
                                   const LineFindings::Value& value,
                                   std::string_view text);
  // Records names and numbers of the line that are no metrics.
  void NoteOthers(std::string_view text, const LineFindings& findings);
  void NoteUnmatched(std::string_view text, bool overwritten, const LineFindings& findings);

  const LineMatcher matcher_;
  Sightings& sightings_;
  std::set<std::string> bare_;  // Metrics whose bare names were found.
  std::optional<std::int64_t> heading_;
  // Number of values so far, by metric, for counted steps.
  std::map<std::string, std::int64_t> counts_;
  std::int64_t least_count_ = 0;
  // By metric, the last step that was stated.
  std::map<std::string, std::int64_t> said_;
  // Metrics that were reported at parts of an epoch. All their values are counted from then on: those of whole epochs would
  // take the numbers of others.
  std::set<std::string> fractional_;
  std::optional<Held> held_;
  std::deque<std::string> unmatched_;
};

// Reads a replica's captured output as it grows. After a part that was dropped, counted steps continue from the last
// measurement that the study has.
class OutputReader {
 public:
  // `known`: the last measurement that an earlier reader recorded of the attempt. `sightings` must outlive this object.
  OutputReader(const std::string& path,
               LineMatcher matcher,
               std::optional<Measurement> known,
               Sightings& sightings);

  // Reads new lines. A file that does not exist (yet) has none.  Unavailable: the file cannot be read.
  absl::StatusOr<std::vector<Measurement>> Read();
  std::vector<std::string> UnmatchedLines() const { return collector_.UnmatchedLines(); }

 private:
  void PassGap();

  launch::OutputCursor output_;
  LineCollector collector_;
  std::optional<Measurement> known_;
  absl::Time known_until_ = absl::InfinitePast();  // Output up to this time is recorded.
};

}  // namespace vernier::metrics
