// One pass over the queue. Two measures keep it at a millisecond for 10,000 waiting gangs
// (benchmarks/results/queue.json): sums are compared before devices are searched (HasSums), and a search that failed is
// not repeated for an equal gang.

#include "src/launch/local/queue_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace vernier::launch {
namespace {

std::size_t HashOf(const PlannedGang& gang) {
  std::size_t hash = std::hash<double>()(gang.need.cpus);
  const auto mix = [&hash](std::int64_t value) {
    // Any large odd multiplier serves; equal hashes are compared in full.
    hash = hash * 1'000'003 + std::hash<std::int64_t>()(value);
  };
  mix(gang.need.memory_bytes);
  mix(gang.time_limit ? absl::ToInt64Nanoseconds(*gang.time_limit) : -1);
  for (const DeviceAsk& ask : gang.need.devices) mix(ask.count + ask.memory_bytes);
  return hash;
}

// The earliest time at which the gang fits as running gangs end. The kept promise wins where it still holds, unless an
// earlier start has become possible: a promise never moves later by itself.
std::optional<Promise> EarliestStart(const GangNeed& gang,
                                     Room room,
                                     const std::vector<Ending>& endings,
                                     const std::optional<Promise>& kept) {
  for (const Ending& ending : endings) {
    if (kept && ending.end > kept->start && room.Has(kept->claim)) return kept;
    room.Give(ending.claim);
    if (auto claim = room.Find(gang)) return Promise{ending.end, *std::move(claim)};
  }
  if (kept && room.Has(kept->claim)) return kept;
  return std::nullopt;
}

}  // namespace

QueuePlan::QueuePlan(Room free, std::vector<Ending> endings)
    : free_(std::move(free)), endings_(std::move(endings)) {
  std::ranges::stable_sort(endings_, {}, &Ending::end);
}

std::optional<Claim> QueuePlan::Consider(const PlannedGang& gang,
                                         const std::optional<Promise>& kept,
                                         absl::Time now) {
  now_ = now;
  return has_head() ? Backfill(gang) : StartInOrder(gang, kept);
}

std::optional<Claim> QueuePlan::StartInOrder(const PlannedGang& gang,
                                             const std::optional<Promise>& kept) {
  std::optional<Claim> claim = free_.Find(gang.need);
  // With shared devices the promised placement may fit though the greedy search (room.cc) misses it.
  if (!claim && kept && free_.Has(kept->claim)) claim = kept->claim;
  if (claim) {
    Start(gang, *claim);
  } else {
    Protect(gang.need, kept);
  }
  return claim;
}

void QueuePlan::Protect(const GangNeed& head, const std::optional<Promise>& kept) {
  promise_ = EarliestStart(head, free_, endings_, kept);
  if (!promise_) {
    spare_ = free_.Spare(head);
    return;
  }
  // An ending in the past belongs to a gang that overruns its limit.
  promise_->start = std::max(promise_->start, now_);
  later_ = RoomAt(promise_->start);
  later_->Take(promise_->claim);
  spare_ = free_.CommonWith(*later_);
}

Room QueuePlan::RoomAt(absl::Time time) const {
  Room room = free_;
  for (const Ending& ending : endings_) {
    if (ending.end <= time) room.Give(ending.claim);
  }
  return room;
}

std::optional<Claim> QueuePlan::Backfill(const PlannedGang& gang) {
  const bool ends_in_time =
      promise_ && gang.time_limit && now_ + *gang.time_limit <= promise_->start;
  std::optional<Claim> claim = FindOnce(ends_in_time ? free_ : *spare_, gang);
  if (!claim) return claim;
  Start(gang, *claim);
  if (ends_in_time) {
    // The grant assumes a start now. If it is taken later than this, the gang would end after the promised start.
    valid_until_ = std::min(valid_until_, promise_->start - *gang.time_limit);
    spare_ = free_.CommonWith(*later_);
  } else {
    if (later_) later_->Take(*claim);
    spare_->Take(*claim);
  }
  return claim;
}

// Rooms only shrink while a plan is made: a search that failed once fails again.
std::optional<Claim> QueuePlan::FindOnce(const Room& room, const PlannedGang& gang) {
  if (!room.HasSums(gang.need)) return std::nullopt;
  if (gang.need.devices.empty()) return room.Find(gang.need);
  const std::size_t hash = HashOf(gang);
  const auto [first, last] = refused_.equal_range(hash);
  const bool is_known =
      std::any_of(first, last, [&](const auto& entry) { return entry.second == gang; });
  if (is_known) return std::nullopt;
  std::optional<Claim> claim = room.Find(gang.need);
  if (!claim) refused_.emplace(hash, gang);
  return claim;
}

void QueuePlan::Start(const PlannedGang& gang, const Claim& claim) {
  free_.Take(claim);
  if (!gang.time_limit || has_head()) return;
  const absl::Time end = now_ + *gang.time_limit;
  const auto place = std::ranges::upper_bound(endings_, end, {}, &Ending::end);
  endings_.insert(place, Ending{.end = end, .claim = claim});
}

}  // namespace vernier::launch
