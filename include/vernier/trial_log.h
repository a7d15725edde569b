#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/ids.h"
#include "vernier/core/space.h"
#include "vernier/problem.h"

namespace vernier {

// The finished trials of a problem, in the order in which they ended. Grows only; a trial takes 8 bytes for each parameter,
// objective and constraint, and 9 more.
//
// A snapshot costs nothing and shares the trials. One writer at a time; snapshots may be read from any thread while the
// writer appends.
class TrialLog {
  struct Store;

 public:
  // The trials that were there when it was made.
  class View {
   public:
    // None.
    View() = default;

    std::size_t size() const { return size_; }
    TrialNumber trial(std::size_t i) const;
    Outcome outcome(std::size_t i) const;
    Point point(std::size_t i) const;
    // One per objective; NaN where there is none.
    std::span<const double> values(std::size_t i) const;
    // One per outcome constraint; NaN where it is not known.
    std::span<const double> slacks(std::size_t i) const;
    // Without values if it failed.
    Observation operator[](std::size_t i) const;

    // The first `count` trials.
    View Prefix(std::size_t count) const;
    // Whether `earlier` is of the same log and no longer: its trials are the first ones of this.
    bool Continues(const View& earlier) const;

   private:
    friend class TrialLog;
    friend struct TrialLogCells;
    std::span<const std::int64_t> cells(std::size_t i) const;
    View(std::shared_ptr<const Store> store, std::size_t size);
    std::shared_ptr<const Store> store_;  // Shared with the log and with other views.
    std::size_t size_ = 0;
  };

  explicit TrialLog(const Problem& problem);
  // A log of just these. Errors: as Append.
  static absl::StatusOr<View> Of(const Problem& problem, const std::vector<Observation>& trials);
  TrialLog(TrialLog&&) noexcept = default;
  TrialLog& operator=(TrialLog&&) noexcept = default;

  std::size_t size() const;
  // InvalidArgument: the point is outside the space, or there are neither no values (slacks) nor one for each objective
  // (outcome constraint).
  absl::Status Append(const Observation& trial);
  View Snapshot() const;

 private:
  friend struct TrialLogCells;  // src/core/trial_log_cells.h.
  absl::Status AppendCells(TrialNumber trial,
                           Outcome outcome,
                           std::span<const std::int64_t> cells,
                           std::span<const double> values,
                           std::span<const double> slacks);
  std::shared_ptr<Store> store_;
};

}  // namespace vernier
