#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/space.h"
#include "vernier/problem.h"

namespace vernier {

// The finished trials of a problem, in the order in which they ended. It only grows. An optimiser reads it as a View:
//
//   for (std::size_t i = 0; i < finished.size(); ++i) {
//     if (finished.outcome(i) == Outcome::kCompleted) Learn(finished.point(i), finished.values(i));
//   }
//
// A view is cheap and shares the trials with the log. One thread at a time may append; views may be read from any
// thread meanwhile. A trial takes 8 bytes for each parameter, objective and outcome constraint, and 25 more; space is
// allocated in chunks of up to twice the need.
class TrialLog {
  struct Store;

 public:
  // The trials in the log at the time of Snapshot. Immutable; stays valid after the log is destroyed. REQUIRES for all
  // functions with an index: i < size().
  class View {
   public:
    // A view without trials.
    View() = default;

    std::size_t size() const { return size_; }
    TrialNumber trial(std::size_t i) const;
    Outcome outcome(std::size_t i) const;
    Point point(std::size_t i) const;
    // One for each objective; NaN if the trial has no value. Valid as long as any view of the log.
    std::span<const double> values(std::size_t i) const;
    // One for each outcome constraint; NaN if unknown. Valid as long as any view of the log.
    std::span<const double> slacks(std::size_t i) const;
    // nullopt unless the trial was stopped early.
    std::optional<ExpectedEnd> expected_end(std::size_t i) const;
    // A copy of the trial. Has no values if the trial failed or is infeasible.
    Observation operator[](std::size_t i) const;

    // A view of the first `count` trials; of all if there are fewer.
    View Prefix(std::size_t count) const;
    // Whether `earlier` is a view of the same log with at most as many trials. Its trials are then the first ones here.
    bool Continues(const View& earlier) const;

   private:
    friend class TrialLog;
    friend struct TrialLogCells;
    std::span<const std::int64_t> cells(std::size_t i) const;
    View(std::shared_ptr<const Store> store, std::size_t size);
    std::shared_ptr<const Store> store_;  // Shared with the log and with other views.
    std::size_t size_ = 0;
  };

  // An empty log. Copies what it needs of `problem`.
  explicit TrialLog(const Problem& problem);
  // Returns a view of a log of these trials. Errors: as Append.
  static absl::StatusOr<View> Of(const Problem& problem, const std::vector<Observation>& trials);
  TrialLog(TrialLog&&) noexcept = default;
  TrialLog& operator=(TrialLog&&) noexcept = default;

  std::size_t size() const;
  // Appends a trial with no values or one for each objective, and no slacks or one for each outcome constraint.
  // InvalidArgument: the point is outside the space, or the number of values or slacks is another; nothing is appended.
  absl::Status Append(const Observation& trial);
  View Snapshot() const;

 private:
  friend struct TrialLogCells;  // src/core/trial_log_cells.h.
  absl::Status AppendCells(TrialNumber trial,
                           Outcome outcome,
                           std::span<const std::int64_t> cells,
                           std::span<const double> values,
                           std::span<const double> slacks,
                           const std::optional<ExpectedEnd>& expected_end);
  std::shared_ptr<Store> store_;
};

}  // namespace vernier
