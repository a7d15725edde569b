#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "vernier/core/space.h"
#include "vernier/optimizer.h"

namespace vernier::sampling {

// The points that an optimiser must not propose again: finished, pending, and those it proposed in the same call.
//
// Cheap to make: the first few questions are answered by a scan over the trials, and only who keeps asking pays for an
// index of them. Not thread-safe, not even for const calls: one call of Suggest makes one of its own.
class TakenPoints {
 public:
  // Copies the space (cheap) and refers to the trials, which must outlive it. The trials are taken to be legal points of
  // the space; CheckTrials says whether they are.
  TakenPoints(const Space& space,
              std::span<const Observation> finished,
              std::span<const PendingPoint> pending);

  bool Contains(const Point& point) const;
  void Insert(const Point& point);

  // An upper bound of the number of different points that are taken. The trials may repeat one another.
  std::size_t size_bound() const;
  // The number of different points that are taken. Builds the index.
  std::size_t size() const;
  // A few of the most recent points, newest last: places where the constraints are known to hold.
  std::vector<Point> Recent(std::size_t limit) const;

 private:
  bool Scan(const Point& point) const;
  const std::unordered_set<std::string>& Index() const;

  Space space_;
  std::span<const Observation> finished_;
  std::span<const PendingPoint> pending_;
  std::vector<Point> inserted_;
  mutable int scans_ = 0;
  // Keys of the points (Space::Key).
  mutable std::optional<std::unordered_set<std::string>> index_;
};

// OK if every trial is a legal point of the space.
// InvalidArgument: names the trial and what is wrong with it. Costs one Space::Check a trial.
absl::Status CheckTrials(const Space& space,
                         std::span<const Observation> finished,
                         std::span<const PendingPoint> pending);

}  // namespace vernier::sampling
