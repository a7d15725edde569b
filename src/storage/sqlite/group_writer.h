#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "src/storage/sqlite/connection.h"
#include "vernier/core/ids.h"

namespace vernier::sqlite {

// One change of the store, all of it or nothing.
class Write {
 public:
  virtual ~Write() = default;
  // What of it needs no connection. May be called by several at once, and again; Apply does it if nobody did.
  virtual void Prepare() {}
  // Makes the change, inside a savepoint of somebody else's transaction. `earlier_failed`: a change of the same study
  // was refused, and whoever put this one in line may not have known.
  virtual absl::Status Apply(Connection& connection, bool earlier_failed) = 0;
  // The study that it changes; 0 if that is a new one.
  virtual StudyId study() const = 0;
  // Its name, as far as it is known.
  virtual std::string_view study_name() const = 0;
};

// Makes changes durable, many with one sync: a leader takes all that is in line, writes it in one transaction and tells
// the others. That is one of the callers that wait; or, for changes that nobody waits for but somebody wants to be told
// of, a thread of the writer's own, which is started for the first of these.
//
// Thread-safe. Changes are applied in the order of Enqueue. What is still in line is written on destruction.
class GroupWriter {
 public:
  struct Statistics {
    std::int64_t writes = 0;        // Taken from the line.
    std::int64_t transactions = 0;  // In which they were written, or tried.
  };

  // A change in line, and then what became of it.
  class Ticket;

  explicit GroupWriter(std::unique_ptr<Connection> connection);
  ~GroupWriter();

  // Never blocks on the disk.
  std::shared_ptr<Ticket> Enqueue(std::unique_ptr<Write> write) ABSL_LOCKS_EXCLUDED(mu_);
  // Blocks until the change is durable or refused. May be called again.
  absl::Status Wait(Ticket& ticket) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns at once: `told` gets what Wait would return (PendingCommit::Then).
  void Then(Ticket& ticket, std::function<void(const absl::Status&)> told) ABSL_LOCKS_EXCLUDED(mu_);
  Statistics statistics() const ABSL_LOCKS_EXCLUDED(mu_);
  // As Connection::KeepLogOnClose.
  void KeepLogOnClose() { keeps_log_.store(true); }

 private:
  // Changes that are written together.
  struct Batch {
    std::vector<std::shared_ptr<Ticket>> tickets;
    absl::CondVar turn;      // It was decided, or one of its waiters has to lead.
    bool is_wanted = false;  // Somebody is to be told of it who does not wait.
  };

  // Writes what is in line, and tells. The lock is given up meanwhile.
  void Lead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Leads where nobody waits, until the end.
  void RunThread() ABSL_LOCKS_EXCLUDED(mu_);
  // Whoever asks has learned what became of the change.
  void MarkTold(Ticket& ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Only the leader is in these. Decides every ticket of the batch.
  void WriteBatch(const Batch& batch);
  // An error is the whole batch's; what is refused by itself is noted in its ticket.
  absl::Status WriteInTransaction(const Batch& batch);
  absl::Status WriteOne(Ticket& ticket);

  mutable absl::Mutex mu_;
  // Shared with those who wait.
  std::shared_ptr<Batch> line_ ABSL_GUARDED_BY(mu_) = std::make_shared<Batch>();
  bool leading_ ABSL_GUARDED_BY(mu_) = false;
  std::map<StudyId, std::shared_ptr<Ticket>> last_
      ABSL_GUARDED_BY(mu_);  // Of each study, if not told.
  Statistics statistics_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Connection> connection_;  // The leader's.
  std::atomic<bool> keeps_log_ = false;
  absl::CondVar thread_turn_;  // The writer's own thread has to lead, or to end.
  std::thread thread_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vernier::sqlite
