#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/local/host_capacity.h"
#include "src/launch/local/queue_plan.h"
#include "src/launch/local/room.h"
#include "vernier/core/clock.h"
#include "vernier/core/ids.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

namespace vernier::launch {

// Device ids for each replica of a gang, in its order.
using GpuAssignment = std::vector<std::vector<std::string>>;

// Records which attempts hold which resources of one host, and which wait. A gang gets all that it asks for or nothing,
// in order of priority, then age; queue_plan.h describes which gangs may pass others. Why:
// docs/adr/0021-gangs-wait-in-one-queue.md.
//
// The plan for the whole queue is made on demand and cached until something changes, so that polling for every waiting
// gang is cheap. Not thread-safe.
class CapacityBook {
 public:
  // The clock must outlive the book.
  CapacityBook(HostCapacity capacity, const Clock& clock, Fitting fitting = Fitting::kStrict);

  // The gang's replicas, scaled to the host if `fitting` says so: the limits that they must keep.
  std::vector<ReplicaRequest> Fitted(const GangRequest& gang) const;
  // The room that is reserved for them; may be less than Fitted.
  std::vector<ReplicaRequest> Booked(const GangRequest& gang) const;

  // InvalidArgument: asks for more than the empty host has ("needs 4 cpus, this host has 2"); names a setting that
  // helps.
  absl::Status CheckFits(const std::vector<ReplicaRequest>& replicas) const;

  // Reserves room and devices for the gang, if it may start now. Otherwise it waits in the queue from then on.
  // ResourceExhausted (kInsufficientCapacity): it has to wait; the message says why ("needs 16 T4, 8 free", "behind 3
  // gangs of higher priority or age; …").  InvalidArgument: as CheckFits.
  // REQUIRES: the attempt holds nothing yet.
  absl::StatusOr<GpuAssignment> Place(const GangRequest& gang);

  // Puts the gang into the queue even if there is room for it.  InvalidArgument: as CheckFits.
  absl::Status Wait(const GangRequest& gang) { return Enter(gang).status(); }

  // Books resources that a running attempt holds already, even beyond the host's capacity.
  void Take(const GangRequest& gang, const Placement& placement);

  // Sets when the attempt started: its time limit counts from then.
  void MarkStarted(const AttemptId& id, absl::Time started);

  // Frees the room of an attempt, or removes it from the queue.
  void Release(const AttemptId& id);

  // The waiting gangs in order.
  std::vector<QueuedGang> Queue();
  // Capacity and free resources of the host. The caller sets the name.
  Node Status() const;

 private:
  struct Holding {
    Claim claim;
    std::optional<absl::Duration> time_limit;
    std::optional<absl::Time> end;  // When its time limit ends it.
  };
  // Permission to start, valid until the plan is made anew.
  struct Grant {
    Claim claim;
    absl::Time from;
  };
  struct Waiting {
    GangRequest request;
    PlannedGang planned;
    std::optional<Grant> grant;
    std::string reason;  // Why there is no grant, in words of version `worded`.
    std::uint64_t worded = 0;
  };

  static bool IsBefore(const Waiting* a, const Waiting* b);

  // Returns the gang's entry, which is made if it does not wait yet.  InvalidArgument: as CheckFits.
  absl::StatusOr<Waiting*> Enter(const GangRequest& gang);
  void Withdraw(const AttemptId& id);
  void Remove(const Waiting& gang);

  void UpdatePlan();
  void MakePlan();
  void Consider(Waiting& gang);
  // Whether the newcomer comes after everything that the plan has decided, so that the plan can be extended.
  bool CanAppend(const Waiting& newcomer) const;
  std::vector<Ending> Endings() const;
  Room Free() const;

  GpuAssignment Hold(const Waiting& gang);
  const std::string& ReasonOf(Waiting& gang);
  GpuAssignment IdsOf(const Claim& claim) const;
  Claim ClaimOf(const GangRequest& gang, const Placement& placement) const;

  const HostCapacity capacity_;
  const Clock& clock_;
  const Fitting fitting_;
  std::map<AttemptId, Holding> holdings_;
  std::map<AttemptId, std::unique_ptr<Waiting>> waiting_;
  std::vector<Waiting*> queue_;  // All waiting gangs, in order.

  std::optional<QueuePlan> plan_;   // Nothing: must be made.
  const Waiting* head_ = nullptr;   // The plan's head.
  std::vector<Waiting*> granted_;   // Gangs that the plan lets start, in order.
  std::optional<Promise> promise_;  // Promise to promised_to_, by this plan or an earlier one.
  AttemptId promised_to_;
  std::uint64_t changes_ = 1;  // Version of the cached reasons.
};

}  // namespace vernier::launch
