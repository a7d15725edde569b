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
#include "vernier/core/study.h"

namespace vernier {

enum class Outcome : std::uint8_t {
  kCompleted,     // `values` are what the point is worth.
  kStoppedEarly,  // `values` are the last that were seen before a rule stopped it.
  kFailed,        // No values; the next try of the same point might succeed.
  kInfeasible,    // No values; the point cannot be evaluated.
};

// A finished trial, as an optimiser sees it.
struct Observation {
  TrialNumber trial;
  Point point;
  Outcome outcome = Outcome::kCompleted;
  // One per objective, in the user's units and sign. May hold NaN or infinities.
  std::vector<double> values = {};
  // One per outcome constraint: how far it is kept, negative if broken, NaN if not known.
  std::vector<double> slacks = {};
  friend bool operator==(const Observation&, const Observation&) = default;
};

// What is known from a study made before: completed trials, with points, objectives and constraints of the problem at hand.
struct EarlierStudy {
  std::string name;
  std::vector<Observation> trials;
  // Further points it tried: of trials that failed, were stopped early, have not ended, or are too many to learn from.
  std::vector<Point> tried = {};
  // Number of its trials, whatever became of them. 0: unknown, at least that of `trials`.
  std::int64_t count = 0;
  // Its space has parameters that the problem lacks. Points of `trials` may then lack a value that they were measured with:
  // only those listed in `tried` count as tried.
  bool is_projected = false;
  friend bool operator==(const EarlierStudy&, const EarlierStudy&) = default;
};

// What is to be optimised.
struct Problem {
  Space space;
  std::vector<Objective> objectives;
  std::vector<std::string> outcome_constraints = {};  // Over metrics, as the user wrote them.
  std::vector<EarlierStudy> earlier =
      {};  // None of their points is proposed again; "gp" learns from them.
};

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
    // Its point: src/core/cells.h.
    std::span<const std::int64_t> cells(std::size_t i) const;
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
  // The same from what a View of such a log gives. Whether the cells make a point of the space is not checked.
  // InvalidArgument: not one cell for each parameter, value for each objective and slack for each outcome constraint.
  absl::Status AppendCells(TrialNumber trial,
                           Outcome outcome,
                           std::span<const std::int64_t> cells,
                           std::span<const double> values,
                           std::span<const double> slacks);
  View Snapshot() const;

 private:
  std::shared_ptr<Store> store_;
};

}  // namespace vernier
