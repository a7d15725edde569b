#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "src/cli/resources.h"
#include "src/cli/terminal/table.h"

// Trials in words.
namespace vernier::cli {

// All about a trial, some lines. `source`: where its objective was read from, empty if it has none.
std::string DescribeTrial(const StudyRecord& study,
                          const TrialRecord& trial,
                          std::string_view source,
                          absl::Time now,
                          absl::TimeZone zone);

// Why the trial waits for room, and how long at most if that is known.
std::string DescribeWait(const QueuedGang& gang, absl::Time now);

// STEP ELAPSED and one column for each metric.
Table MeasurementTable(const std::vector<v1::Measurement>& measurements);

// Another trial, and how far its point is: 0 is the same point, 1 differs in everything.
struct Neighbour {
  std::int64_t trial = 0;
  double distance = 0;
  std::optional<double> objective;  // As it was known when the trial was proposed.
  bool was_pending = false;         // By then.
  bool was_stopped = false;         // The objective is not that of a whole run.
  bool has_failed = false;          // What it reported before that is no objective.
};
// The `count` nearest of the trials shown to it that were there when `trial` was proposed. A point that lacks values is near
// to none.
class Neighbourhood {
 public:
  // Nothing is owned.
  Neighbourhood(const StudyRecord& study, const Trial& trial, std::size_t count);
  // In the order of numbers.
  void Show(const Trial& other);
  // Nearest first; of equally near ones, the one shown first.
  const std::vector<Neighbour>& nearest() const { return nearest_; }

 private:
  const StudyRecord& study_;
  const Trial& trial_;
  const std::size_t count_;
  const bool is_whole_;
  std::vector<Neighbour> nearest_;
};
// The root of the mean squared difference of the coordinates in the unit cube; categories, booleans and parameters that
// only one of the points has differ by 0 or 1.
double PointDistance(const Space& space, const Point& a, const Point& b);

// Why the trial was proposed, and if it was stopped, why.
std::string ExplainTrial(const StudyRecord& study,
                         const TrialRecord& trial,
                         const std::vector<Neighbour>& nearest,
                         bool unicode);

}  // namespace vernier::cli
