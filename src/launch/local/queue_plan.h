#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"
#include "src/launch/local/room.h"

// Decides which of the waiting gangs of a host may start now, by EASY backfilling
// (docs/adr/0021-gangs-wait-in-one-queue.md).
//
// Gangs start in the order of the queue until one does not fit: the head. A gang behind it may start if it cannot delay
// the head:
//   1. it ends, by its own time limit, before the head could start according to the time limits of running gangs, or
//   2. it takes only resources that the head cannot use: those left over when the head starts; or, if the start is not
//      known, those free beside the head's need now, and none in a dimension that the head waits for.
// Only the head is protected. Every gang becomes the head in its turn, so none starves.
namespace vernier::launch {

// The latest start of the head, and its resources. Kept from plan to plan, so that it moves later only if a gang
// overruns its time limit or a more urgent gang arrives.
struct Promise {
  absl::Time start;
  Claim claim;
};

// A running gang and when it frees its resources.
struct Ending {
  absl::Time end;
  Claim claim;
};

struct PlannedGang {
  GangNeed need;
  std::optional<absl::Duration> time_limit;
  friend bool operator==(const PlannedGang&, const PlannedGang&) = default;
};

class QueuePlan {
 public:
  // `free`: resources that no running gang has. `endings`: those of gangs with a time limit; one in the past may end
  // any moment.
  QueuePlan(Room free, std::vector<Ending> endings);

  // Returns the resources of the next gang of the queue if it may start now, else nothing: it waits. The first gang
  // that waits is the head; `kept` is the promise of an earlier plan to it, if any.
  // REQUIRES: `now` is no earlier than in the last call.
  std::optional<Claim> Consider(const PlannedGang& gang,
                                const std::optional<Promise>& kept,
                                absl::Time now);

  // Resources free beside running gangs and those that may start.
  const Room& free() const { return free_; }
  bool has_head() const { return spare_.has_value(); }
  // Nothing if there is no head, or its start is unknown.
  const std::optional<Promise>& promise() const { return promise_; }
  // From then on, a gang that may start by rule 1 would end too late.
  absl::Time valid_until() const { return valid_until_; }

 private:
  std::optional<Claim> StartInOrder(const PlannedGang& gang, const std::optional<Promise>& kept);
  void Protect(const GangNeed& head, const std::optional<Promise>& kept);
  std::optional<Claim> Backfill(const PlannedGang& gang);
  std::optional<Claim> FindOnce(const Room& room, const PlannedGang& gang);
  void Start(const PlannedGang& gang, const Claim& claim);
  // The free resources at a time, as far as time limits are known.
  Room RoomAt(absl::Time time) const;

  Room free_;
  std::vector<Ending> endings_;
  absl::Time now_;
  absl::Time valid_until_ = absl::InfiniteFuture();
  std::optional<Promise> promise_;
  // Set once there is a head:
  std::optional<Room> later_;  // Left over after the head has started.
  std::optional<Room> spare_;  // What the head cannot use.
  // Gangs whose devices were not found, by hash; an equal gang is refused at once. All trials of a study ask for the
  // same.
  std::unordered_multimap<std::size_t, PlannedGang> refused_;
};

}  // namespace vernier::launch
