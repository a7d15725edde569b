#include "algorithms/sampling/taken_points.h"

#include <algorithm>

#include "src/core/status.h"

namespace vernier::sampling {
namespace {

// A scan compares points, which mostly differ in their first value; an index formats the key of every trial, so that it
// pays only for who asks often.
constexpr int kScansBeforeIndex = 8;

absl::Status CheckTrial(const Space& space, TrialNumber trial, const Point& point) {
  absl::Status status = space.Check(point);
  if (status.ok()) return status;
  return InvalidArgument(
      "trial {} lies outside the space: {}", trial.value(), std::string(status.message()));
}

}  // namespace

TakenPoints::TakenPoints(const Space& space,
                         std::span<const Observation> finished,
                         std::span<const PendingPoint> pending)
    : space_(space), finished_(finished), pending_(pending) {}

bool TakenPoints::Contains(const Point& point) const {
  if (!index_ && scans_ < kScansBeforeIndex) {
    ++scans_;
    return Scan(point);
  }
  return Index().contains(space_.Key(point));
}

void TakenPoints::Insert(const Point& point) {
  inserted_.push_back(point);
  if (index_) index_->insert(space_.Key(point));
}

std::size_t TakenPoints::size_bound() const {
  return finished_.size() + pending_.size() + inserted_.size();
}

std::size_t TakenPoints::size() const { return Index().size(); }

std::vector<Point> TakenPoints::Recent(std::size_t limit) const {
  std::vector<Point> newest_first;
  const auto take = [&](const Point& point) {
    if (newest_first.size() < limit) newest_first.push_back(point);
  };
  const auto take_all = [&](const auto& trials) {
    for (std::size_t i = trials.size(); i > 0 && newest_first.size() < limit; --i) {
      take(trials[i - 1].point);
    }
  };
  for (std::size_t i = inserted_.size(); i > 0; --i) take(inserted_[i - 1]);
  take_all(pending_);
  take_all(finished_);
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

bool TakenPoints::Scan(const Point& point) const {
  const auto same = [&point](const auto& trial) { return trial.point == point; };
  return std::any_of(finished_.begin(), finished_.end(), same) ||
         std::any_of(pending_.begin(), pending_.end(), same) ||
         std::find(inserted_.begin(), inserted_.end(), point) != inserted_.end();
}

const std::unordered_set<std::string>& TakenPoints::Index() const {
  if (!index_) {
    index_.emplace();
    index_->reserve(size_bound());
    for (const Observation& trial : finished_) index_->insert(space_.Key(trial.point));
    for (const PendingPoint& trial : pending_) index_->insert(space_.Key(trial.point));
    for (const Point& point : inserted_) index_->insert(space_.Key(point));
  }
  return *index_;
}

absl::Status CheckTrials(const Space& space,
                         std::span<const Observation> finished,
                         std::span<const PendingPoint> pending) {
  for (const Observation& trial : finished) {
    VERNIER_RETURN_IF_ERROR(CheckTrial(space, trial.trial, trial.point));
  }
  for (const PendingPoint& trial : pending) {
    VERNIER_RETURN_IF_ERROR(CheckTrial(space, trial.trial, trial.point));
  }
  return absl::OkStatus();
}

}  // namespace vernier::sampling
