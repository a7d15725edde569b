#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "algorithms/sampling/earlier_points.h"
#include "src/core/cells.h"
#include "vernier/core/space.h"
#include "vernier/optimizer.h"

namespace vernier::sampling {

// The points that an optimiser must not propose again: finished, pending, those it proposed in the same call, and those of
// earlier studies.
//
// Cheap to make: the first few questions are answered by a scan over the trials, and only who keeps asking pays for an
// index of them. Not thread-safe, not even for const calls: one call of Suggest makes one of its own.
class TakenPoints {
 public:
  // Copies the space and the view (cheap). `earlier` must outlive it. REQUIRES: pending points are legal (CheckPending).
  TakenPoints(const Space& space,
              TrialLog::View finished,
              std::span<const PendingPoint> pending,
              const EarlierPoints& earlier);

  // REQUIRES: the point is legal. True of a point of earlier studies, or of this one.
  bool Contains(const Point& point) const { return IsEarlier(point) || IsOwn(point); }
  bool IsEarlier(const Point& point) const;
  bool IsOwn(const Point& point) const;
  void Insert(const Point& point);

  // An upper bound of the number of different points that are taken. The trials may repeat one another.
  std::size_t size_bound() const;
  // The number of different points that are taken. Builds the index.
  std::size_t size() const;
  // A few of the most recent points, newest last: places where the constraints are known to hold.
  std::vector<Point> Recent(std::size_t limit) const;

 private:
  using Row = std::span<const Cell>;
  struct HashRow {
    std::size_t operator()(Row row) const;
  };
  struct EqualRows {
    bool operator()(Row a, Row b) const;
  };
  using RowSet = std::unordered_set<Row, HashRow, EqualRows>;

  bool Scan(Row row) const;
  // Of this study's points.
  const RowSet& Index() const;

  Space space_;
  TrialLog::View finished_;
  const EarlierPoints& earlier_;
  std::deque<std::vector<Cell>> others_;  // Pending ones, then those inserted.
  mutable int scans_ = 0;
  mutable std::optional<RowSet> index_;
};

// OK if every pending trial is a legal point of the space.  InvalidArgument: names the trial and what is wrong with it.
absl::Status CheckPending(const Space& space, std::span<const PendingPoint> pending);

}  // namespace vernier::sampling
