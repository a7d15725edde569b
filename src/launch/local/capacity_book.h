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

// Who holds how much of one host, and who waits for it. Gangs get all they ask for or nothing, by priority, then age;
// queue_plan.h says who may pass whom.
//
// Deciding is lazy: one plan for the whole queue, made when somebody asks and kept until something changes, so that
// asking for every waiting gang over and over is cheap. Not thread-safe.
class CapacityBook {
 public:
  // The clock must outlive the book.
  CapacityBook(HostCapacity capacity, const Clock& clock, Fitting fitting = Fitting::kStrict);

  // The gang's replicas as the host can give them: what they are to keep to.
  std::vector<ReplicaRequest> Fitted(const GangRequest& gang) const;
  // The room that is kept for them.
  std::vector<ReplicaRequest> Booked(const GangRequest& gang) const;

  // InvalidArgument: more than the empty host has ("needs 4 cpus, this host has 2"), and what setting would change that.
  absl::Status CheckFits(const std::vector<ReplicaRequest>& replicas) const;

  // ResourceExhausted (kInsufficientCapacity): not now, and why ("needs 16 T4, 8 free", "behind 3 gangs of higher
  // priority or age; …"). The gang waits in the queue from then on.  InvalidArgument: as CheckFits.
  // REQUIRES: the attempt holds nothing yet.
  absl::StatusOr<GpuAssignment> Place(const GangRequest& gang);

  // The gang waits in the queue from now on, whatever room there is.  InvalidArgument: as CheckFits.
  absl::Status Wait(const GangRequest& gang) { return Enter(gang).status(); }

  // Books what an attempt holds already, even beyond what there is: it runs, whatever we think of it.
  void Take(const GangRequest& gang, const Placement& placement);

  // The attempt runs since then, and its time limit counts from then.
  void MarkStarted(const AttemptId& id, absl::Time started);

  // Of an attempt that holds room, or that waits for it.
  void Release(const AttemptId& id);

  // In the order of the queue.
  std::vector<QueuedGang> Queue();
  // What the host has and what of it is free. The name is the caller's business.
  Node Status() const;

 private:
  struct Holding {
    Claim claim;
    std::optional<absl::Duration> time_limit;
    std::optional<absl::Time> end;  // By its time limit.
  };
  // Leave to start, until the gang asks for it.
  struct Grant {
    Claim claim;
    absl::Time from;
  };
  struct Waiting {
    GangRequest request;
    PlannedGang planned;
    std::optional<Grant> grant;
    std::string reason;  // Why there is none, as of `worded`.
    std::uint64_t worded = 0;
  };

  static bool IsBefore(const Waiting* a, const Waiting* b);

  // The gang's place in the queue, at which it may have been before.  InvalidArgument: as CheckFits.
  absl::StatusOr<Waiting*> Enter(const GangRequest& gang);
  void Withdraw(const AttemptId& id);
  void Remove(const Waiting& gang);

  void UpdatePlan();
  void MakePlan();
  void Consider(Waiting& gang);
  // Whether the plan would be the same had it known the newcomer from the start.
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
  std::vector<Waiting*> queue_;  // All that wait, in order.

  std::optional<QueuePlan> plan_;   // Nothing: to be made.
  const Waiting* head_ = nullptr;   // Of the plan.
  std::vector<Waiting*> granted_;   // By the plan, in the order in which it considered them.
  std::optional<Promise> promise_;  // To promised_to_, by this plan or an earlier one.
  AttemptId promised_to_;
  std::uint64_t changes_ = 1;  // So many times reasons had to be put into words anew.
};

}  // namespace vernier::launch
