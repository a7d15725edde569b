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

// The points that an optimiser must not propose again: finished and pending ones, those proposed in the same call, and
// those of earlier studies.
//
// Cheap to construct: the first few lookups scan the trials, and only further ones build an index. Not thread-safe, not
// even for const calls: each call of Suggest makes one of its own.
class TakenPoints {
 public:
  // Copies space and view, which is cheap. `earlier` must outlive it.  REQUIRES: pending points are legal
  // (CheckPending).
  TakenPoints(const Space& space,
              TrialLog::View finished,
              std::span<const PendingPoint> pending,
              const EarlierPoints& earlier);

  // Whether the point is one of this study or of an earlier one.  REQUIRES, here and below: the point is legal.
  bool Contains(const Point& point) const { return IsEarlier(point) || IsOwn(point); }
  bool IsEarlier(const Point& point) const;
  bool IsOwn(const Point& point) const;
  void Insert(const Point& point);

  // An upper bound of size(), in constant time: it counts repeated points.
  std::size_t size_bound() const;
  // Number of different points. Builds the index.
  std::size_t size() const;
  // The `limit` most recent points, newest last. The constraints hold at them.
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
  // The index of this study's points.
  const RowSet& Index() const;

  Space space_;
  TrialLog::View finished_;
  const EarlierPoints& earlier_;
  // Pending points, then inserted ones. A deque: the index refers to its elements, which must not move.
  std::deque<std::vector<Cell>> others_;
  mutable int scans_ = 0;
  mutable std::optional<RowSet> index_;
};

// Checks that the point of every pending trial is legal.  InvalidArgument: names the trial and the reason.
absl::Status CheckPending(const Space& space, std::span<const PendingPoint> pending);

}  // namespace vernier::sampling
