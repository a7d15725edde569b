#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/table.h"

// Trials in words.
namespace vernier::cli {

// All about a trial, in several lines. `source`: where its objective was read; empty without one.
std::string DescribeTrial(const StudyRecord& study,
                          const TrialRecord& trial,
                          std::string_view source,
                          absl::Time now,
                          absl::TimeZone zone);

// Why the trial waits for resources, and its latest start if known.
std::string DescribeWait(const QueuedGang& gang, absl::Time now);

// STEP ELAPSED and one column for each metric.
Table MeasurementTable(const std::vector<v1::Measurement>& measurements);

// Another trial and its distance: 0 for the same point, 1 if everything differs.
struct Neighbour {
  std::int64_t trial = 0;
  double distance = 0;
  std::optional<double> objective;  // As it was known when the trial was proposed.
  bool was_pending = false;         // It had no result at that time.
  bool was_stopped = false;         // Its objective is not that of a full run.
  bool has_failed = false;          // What it reported before failing does not count.
};
// Collects the `count` trials nearest to `trial` among those that existed when it was proposed. Points that lack values
// are near to none.
class Neighbourhood {
 public:
  // Arguments must outlive it.
  Neighbourhood(const StudyRecord& study, const Trial& trial, std::size_t count);
  // Considers another trial. Call it in the order of numbers.
  void Show(const Trial& other);
  // Nearest first; among equally near ones, by number.
  const std::vector<Neighbour>& nearest() const { return nearest_; }

 private:
  const StudyRecord& study_;
  const Trial& trial_;
  const std::size_t count_;
  const bool is_whole_;
  std::vector<Neighbour> nearest_;
};
// Root mean square of the coordinate differences in the unit cube. Categories, booleans, and parameters that only one
// point has, differ by 0 or 1.
double PointDistance(const Space& space, const Point& a, const Point& b);

// Why the trial was proposed, and why it was stopped if it was.
std::string ExplainTrial(const StudyRecord& study,
                         const TrialRecord& trial,
                         const std::vector<Neighbour>& nearest,
                         bool unicode);

}  // namespace vernier::cli
