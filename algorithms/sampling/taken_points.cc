#include "algorithms/sampling/taken_points.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/core/status.h"
#include "src/core/trial_log_cells.h"

namespace vernier::sampling {
namespace {

// Number of scans before an index is built. A scan compares rows, most of which differ in their first cell; building an
// index hashes all of every row. A choice: most suggestions need few lookups.
constexpr int kScansBeforeIndex = 8;

}  // namespace

TakenPoints::TakenPoints(const Space& space,
                         TrialLog::View finished,
                         std::span<const PendingPoint> pending,
                         const EarlierPoints& earlier)
    : space_(space), finished_(std::move(finished)), earlier_(earlier) {
  for (const PendingPoint& trial : pending) others_.push_back(CellsOf(space_, trial.point));
}

std::size_t TakenPoints::HashRow::operator()(Row row) const {
  // FNV-1a over whole cells, with a shift, since a multiplication alone never moves high bits down.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const Cell cell : row) {
    hash = (hash ^ static_cast<std::uint64_t>(cell)) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

bool TakenPoints::EqualRows::operator()(Row a, Row b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool TakenPoints::IsEarlier(const Point& point) const {
  return !earlier_.empty() && earlier_.Contains(CellsOf(space_, point));
}

bool TakenPoints::IsOwn(const Point& point) const {
  const std::vector<Cell> cells = CellsOf(space_, point);
  if (!index_ && scans_ < kScansBeforeIndex) {
    ++scans_;
    return Scan(cells);
  }
  return Index().contains(Row(cells));
}

void TakenPoints::Insert(const Point& point) {
  others_.push_back(CellsOf(space_, point));
  if (index_) index_->insert(others_.back());
}

std::size_t TakenPoints::size_bound() const {
  return finished_.size() + others_.size() + earlier_.rows().size();
}

std::size_t TakenPoints::size() const {
  const RowSet& own = Index();
  const auto is_new = [this](Row row) { return !earlier_.Contains(row); };
  return earlier_.rows().size() +
         static_cast<std::size_t>(std::count_if(own.begin(), own.end(), is_new));
}

std::vector<Point> TakenPoints::Recent(std::size_t limit) const {
  std::vector<Point> newest_first;
  for (std::size_t i = others_.size(); i > 0 && newest_first.size() < limit; --i) {
    newest_first.push_back(ReadCells(space_, others_[i - 1]));
  }
  for (std::size_t i = finished_.size(); i > 0 && newest_first.size() < limit; --i) {
    newest_first.push_back(finished_.point(i - 1));
  }
  for (std::size_t i = 0; i < earlier_.rows().size() && newest_first.size() < limit; ++i) {
    newest_first.push_back(ReadCells(space_, earlier_.rows()[i]));
  }
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

bool TakenPoints::Scan(Row row) const {
  constexpr EqualRows kEqual;
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    if (kEqual(TrialLogCells::Of(finished_, i), row)) return true;
  }
  return std::any_of(
      others_.begin(), others_.end(), [row](const auto& other) { return EqualRows()(other, row); });
}

const TakenPoints::RowSet& TakenPoints::Index() const {
  if (!index_) {
    index_.emplace();
    index_->reserve(finished_.size() + others_.size());
    for (std::size_t i = 0; i < finished_.size(); ++i)
      index_->insert(TrialLogCells::Of(finished_, i));
    for (const std::vector<Cell>& other : others_) index_->insert(other);
  }
  return *index_;
}

absl::Status CheckPending(const Space& space, std::span<const PendingPoint> pending) {
  for (const PendingPoint& trial : pending) {
    const absl::Status status = space.Check(trial.point);
    if (status.ok()) continue;
    return InvalidArgument(
        "trial {} lies outside the space: {}", trial.trial.value(), std::string(status.message()));
  }
  return absl::OkStatus();
}

}  // namespace vernier::sampling
