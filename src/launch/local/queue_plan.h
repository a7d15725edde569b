#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"
#include "src/launch/local/room.h"

// Which of the waiting gangs of a host may start now: EASY backfilling.
//
// Gangs start in the order of the queue until one does not fit: the head. One behind it may start all the same if that
// cannot delay the head:
//   1. it ends by its own time limit before the head could start according to the time limits of what runs, or
//   2. it takes only what the head cannot use: what is left over when the head starts, or, if nobody knows when that is,
//      what lies beside the head's need now, and nothing of what the head waits for.
// Only the head is protected. The others move up: each is the head once, so none starves.
namespace vernier::launch {

// When the head starts at the latest, and where. Kept from plan to plan, so that it moves later only if a gang overruns
// its time limit or a more urgent one comes.
struct Promise {
  absl::Time start;
  Claim claim;
};

// What runs, and when it gives its room back.
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
  // `free`: beside what runs. `endings`: of what runs under a time limit; one that is over may end any moment.
  QueuePlan(Room free, std::vector<Ending> endings);

  // May the next gang of the queue start now, and with what? Nothing: it waits. The first that waits is the head; `kept`
  // is what an earlier plan promised it, if any.
  // REQUIRES: `now` is no earlier than in the last call.
  std::optional<Claim> Consider(const PlannedGang& gang,
                                const std::optional<Promise>& kept,
                                absl::Time now);

  // What is free beside what runs and what may start.
  const Room& free() const { return free_; }
  bool has_head() const { return spare_.has_value(); }
  // Nothing if there is no head, or its start is not known.
  const std::optional<Promise>& promise() const { return promise_; }
  // From then on a gang that was to start by rule 1 would end too late.
  absl::Time valid_until() const { return valid_until_; }

 private:
  std::optional<Claim> StartInOrder(const PlannedGang& gang, const std::optional<Promise>& kept);
  void Protect(const GangNeed& head, const std::optional<Promise>& kept);
  std::optional<Claim> Backfill(const PlannedGang& gang);
  std::optional<Claim> FindOnce(const Room& room, const PlannedGang& gang);
  void Start(const PlannedGang& gang, const Claim& claim);
  // The room at a time, as far as time limits tell.
  Room RoomAt(absl::Time time) const;

  Room free_;
  std::vector<Ending> endings_;
  absl::Time now_;
  absl::Time valid_until_ = absl::InfiniteFuture();
  std::optional<Promise> promise_;
  // Since there is a head:
  std::optional<Room> later_;  // What is left over when it has started.
  std::optional<Room> spare_;  // What it cannot use.
  // Gangs whose devices were not found, by hash: an equal one is refused too. A study's trials all ask for the same.
  std::unordered_multimap<std::size_t, PlannedGang> refused_;
};

}  // namespace vernier::launch
