#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "src/launch/slurm/slurm.h"
#include "vernier/core/clock.h"
#include "vernier/core/ids.h"

namespace vernier::launch::slurm {

// What is known of the job of an attempt.
struct JobView {
  std::optional<std::int64_t> id;  // Unset: not submitted yet, as far as is known.
  // Why it was not accepted. OK: it was, or that is not known yet.
  absl::Status refused;
  // Why it is not accepted now, which is no fault of the job: it is submitted again later.
  std::string held;
  // As of the last answer of the controller after it was submitted. Empty: the controller does not know it.
  std::vector<JobRecord> components;
  bool is_seen = false;  // There was such an answer.

  // The controller says that it is over, or has forgotten it.
  bool IsOver() const;
  // When the scheduler plans to start it, while it waits.
  std::optional<absl::Time> ExpectedStart() const;
};

// The jobs of a launcher's attempts: submits, signals and cancels them, and looks what became of them. Calls return at
// once; Work talks to the controller. Thread-safe.
class JobBook {
 public:
  // `changed`: called, without a lock, of an attempt whose view has changed, and once in each look of those that run.
  // `is_spent`: whether the job with the comment is of an attempt that has long ended. A controller that comes back with an
  // older state has such jobs again; they are cancelled. Called without a lock; null: no job is.
  JobBook(std::unique_ptr<Slurm> slurm,
          const Clock& clock,
          absl::Duration interval,
          std::function<void(const AttemptId&)> changed,
          std::function<bool(const std::string& comment)> is_spent = nullptr);

  // Submits the job, or finds it if an earlier process has. `folder`: of the attempt, where it is recorded. `may_be_there`: an
  // earlier process may have.
  void Submit(const AttemptId& id, BatchJob job, std::string folder, bool may_be_there);
  void Stop(const AttemptId& id);
  void Cancel(const AttemptId& id);
  // Its replicas have ended, so that the job is about to go by itself. It is cancelled only if it does not.
  void Retire(const AttemptId& id);
  // Nothing is done for it any more. A job that is still there is cancelled.
  void Forget(const AttemptId& id);

  // REQUIRES: Submit was called.
  JobView ViewOf(const AttemptId& id) const;
  std::vector<NodeRecord> Nodes() const;
  // Why the controller was not reached at the last try; OK: it was.
  absl::Status Trouble() const;
  absl::Status Test(const BatchJob& job) { return slurm_->Test(job); }

  // Does what is due, and returns when to call again. From one thread.
  absl::Duration Work();

 private:
  struct Entry {
    BatchJob job;
    std::string folder;
    JobView view;
    std::int64_t round = 0;  // In which the job's id became known.
    bool is_to_submit = true;
    // The controller may have the job already: look for it before it is submitted.
    bool may_be_there = false;
    absl::Time not_before = absl::InfinitePast();  // When it may be submitted.
    bool is_to_stop = false;
    bool is_to_cancel = false;
    std::optional<absl::Time> retired;
    bool is_forgotten = false;

    // Its replicas have ended, and its job has not gone yet.
    bool IsLeaving() const;
    // There is something that the controller is to be told, or that the book is to drop.
    bool HasOrder() const;
    // Only an answer of the controller says whether it must be submitted.
    bool IsInDoubt() const { return is_to_submit && may_be_there; }
  };
  // What one entry needs, copied so that the controller is asked without the lock.
  struct Order {
    AttemptId id;
    Entry entry;
  };

  std::vector<Order> TakeOrders();
  void Carry(Order& order, const absl::StatusOr<std::vector<JobRecord>>& jobs);
  void SubmitOne(Order& order, const absl::StatusOr<std::vector<JobRecord>>& jobs);
  // Asks the controller for its jobs, and says when it is asked again.
  absl::StatusOr<std::vector<JobRecord>> AskForJobs();
  // Cancels jobs of attempts that have long ended, which nobody follows any more.
  void CancelSpent(const std::vector<JobRecord>& jobs);
  // Takes an answer that was given before this round's orders were carried out.
  void Look(const std::vector<JobRecord>& jobs);

  const std::unique_ptr<Slurm> slurm_;
  const Clock& clock_;
  const absl::Duration interval_;
  const std::function<void(const AttemptId&)> changed_;
  const std::function<bool(const std::string& comment)> is_spent_;
  std::int64_t round_ = 0;                        // Of Work alone.
  absl::Time next_look_ = absl::InfinitePast();   // Of Work alone.
  absl::Time last_busy_ = absl::InfinitePast();   // Of Work alone: when something was followed.
  absl::Time next_nodes_ = absl::InfinitePast();  // Of Work alone.
  mutable absl::Mutex mu_;
  std::map<AttemptId, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::vector<NodeRecord> nodes_ ABSL_GUARDED_BY(mu_);
  absl::Status trouble_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vernier::launch::slurm
