#include "src/storage/sqlite/group_writer.h"

#include <algorithm>
#include <utility>

#include "src/core/damage.h"
#include "vernier/core/error.h"

namespace vernier::sqlite {
namespace {

// Errors of the file, after which nothing of the transaction can be trusted. Refusals are not among them.
bool IsFatal(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status) ||
         absl::IsDataLoss(status);
}

// A part of a transaction that can be undone by itself.
class Savepoint {
 public:
  explicit Savepoint(Connection& connection) : connection_(connection) {}
  absl::Status Begin() { return Statement(connection_, "SAVEPOINT one_write").Run(); }
  absl::Status Keep() { return Statement(connection_, "RELEASE one_write").Run(); }
  // ROLLBACK TO undoes the changes and leaves the savepoint open, so it is released as well.
  absl::Status Undo() {
    VERNIER_RETURN_IF_ERROR(Statement(connection_, "ROLLBACK TO one_write").Run());
    return Keep();
  }

 private:
  Connection& connection_;
};

}  // namespace

// `write` and `before` are the leader's, and so is `status` until the ticket is decided; the rest is guarded by the
// writer's mutex.
class GroupWriter::Ticket {
 public:
  explicit Ticket(std::unique_ptr<Write> change) : write(std::move(change)) {}

  std::unique_ptr<Write> write;
  std::shared_ptr<Batch> batch;    // That it is written with, which has it until it is decided.
  std::shared_ptr<Ticket> before;  // Of the same study, not told when this came in line.
  absl::Status status;
  bool is_damaged = false;  // It cannot be written: pages that it needs are damaged.
  std::vector<std::function<void(const absl::Status&)>> listeners;
  bool decided = false;
  bool told = false;
};

GroupWriter::GroupWriter(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}

GroupWriter::~GroupWriter() {
  std::thread thread;
  {
    const absl::MutexLock lock(&mu_);
    // The thread ends first, so that nobody else leads from here on.
    ending_ = true;
    thread_turn_.Signal();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
  const absl::MutexLock lock(&mu_);
  // In a loop, since a listener may put another change in line.
  while (!line_->tickets.empty()) Lead();
  // SQLite leaves the log alone of a file that was moved: what it holds belongs there all the same.
  connection_->CheckInPlace().IgnoreError();
  if (keeps_log_.load()) connection_->KeepLogOnClose();
}

std::shared_ptr<GroupWriter::Ticket> GroupWriter::Enqueue(std::unique_ptr<Write> write) {
  const StudyId study = write->study();
  auto ticket = std::make_shared<Ticket>(std::move(write));
  const absl::MutexLock lock(&mu_);
  // The change learns of the one before it in its study, so that it can be refused if that one fails.
  if (study != StudyId()) {
    std::shared_ptr<Ticket>& last = last_[study];
    ticket->before = std::exchange(last, ticket);
    if (ticket->before != nullptr && ticket->before->told) ticket->before = nullptr;
  }
  ticket->batch = line_;
  line_->tickets.push_back(ticket);
  return ticket;
}

absl::Status GroupWriter::Wait(Ticket& ticket) {
  // Here, and not by the leader, for whom all the others wait.
  ticket.write->Prepare();
  const absl::MutexLock lock(&mu_);
  while (!ticket.decided) {
    if (leading_) {
      // Signalled when the change was decided, or when its batch needs one of its waiters to lead.
      ticket.batch->turn.Wait(&mu_);
    } else {
      Lead();
    }
  }
  MarkTold(ticket);
  return ticket.status;
}

void GroupWriter::Then(Ticket& ticket, std::function<void(const absl::Status&)> told) {
  ticket.write->Prepare();
  {
    const absl::MutexLock lock(&mu_);
    if (!ticket.decided) {
      ticket.listeners.push_back(std::move(told));
      // Whoever set this has started the thread, and woken it unless the current leader will.
      if (std::exchange(ticket.batch->is_wanted, true)) return;
      // At the end, whoever ends the writer leads: a listener that is told then may commit once more.
      if (!thread_.joinable() && !ending_) thread_ = std::thread([this] { RunThread(); });
      // A leader signals the thread itself once it is done.
      if (!leading_) thread_turn_.Signal();
      return;
    }
    MarkTold(ticket);
  }
  // Without the lock: `told` may put the next change in line.
  told(ticket.status);
}

void GroupWriter::RunThread() {
  const absl::MutexLock lock(&mu_);
  while (!ending_) {
    if (leading_ || !line_->is_wanted) {
      thread_turn_.Wait(&mu_);
    } else {
      Lead();
    }
  }
}

// From now on a failure of this change no longer refuses those that are put in line: who makes them knows of it.
void GroupWriter::MarkTold(Ticket& ticket) {
  ticket.told = true;
  const auto last = last_.find(ticket.write->study());
  if (last != last_.end() && last->second.get() == &ticket) last_.erase(last);
}

GroupWriter::Statistics GroupWriter::statistics() const {
  const absl::MutexLock lock(&mu_);
  return statistics_;
}

void GroupWriter::Lead() {
  leading_ = true;
  // What is put in line during the write forms the next batch. So a batch grows with the time that a sync takes.
  const std::shared_ptr<Batch> batch = std::exchange(line_, std::make_shared<Batch>());
  mu_.Unlock();
  WriteBatch(*batch);
  mu_.Lock();
  // Taken out of the batch, since tickets and batch own each other.
  const std::vector<std::shared_ptr<Ticket>> tickets = std::move(batch->tickets);
  for (const std::shared_ptr<Ticket>& ticket : tickets) {
    ticket->decided = true;
    // No longer needed. If it stayed, each ticket would keep alive all those before it.
    ticket->before = nullptr;
    // Before the calls below, which may already put the next change of the study in line.
    if (!ticket->listeners.empty()) MarkTold(*ticket);
  }
  statistics_.writes += static_cast<std::int64_t>(tickets.size());
  statistics_.transactions += 1;
  leading_ = false;
  batch->turn.SignalAll();
  // One waiter of the next batch leads it. Later arrivals check the condition themselves.
  line_->turn.Signal();
  if (line_->is_wanted) thread_turn_.Signal();
  if (!batch->is_wanted) return;
  mu_.Unlock();
  // Without the lock: a decided ticket gets no more listeners (Then).
  for (const std::shared_ptr<Ticket>& ticket : tickets) {
    for (const auto& told : std::exchange(ticket->listeners, {})) told(ticket->status);
  }
  mu_.Lock();
}

void GroupWriter::WriteBatch(const Batch& batch) {
  std::ptrdiff_t damaged = 0;
  absl::Status written = WriteInTransaction(batch);
  while (absl::IsDataLoss(written)) {  // Once more, without the changes that met the damage.
    const std::ptrdiff_t found =
        std::ranges::count_if(batch.tickets, [](const auto& ticket) { return ticket->is_damaged; });
    // No further change is to blame: what is damaged belongs to all of them.
    if (found == damaged) break;
    damaged = found;
    written = WriteInTransaction(batch);
  }
  if (written.ok()) return;
  for (const std::shared_ptr<Ticket>& ticket : batch.tickets) {
    // A change that was refused by itself keeps its own reason.
    if (ticket->status.ok()) ticket->status = written;
  }
}

absl::Status GroupWriter::WriteInTransaction(const Batch& batch) {
  VERNIER_RETURN_IF_ERROR(connection_->CheckInPlace());
  VERNIER_ASSIGN_OR_RETURN(Transaction transaction,
                           Transaction::Begin(*connection_, Transaction::Kind::kWrite));
  for (const std::shared_ptr<Ticket>& ticket : batch.tickets) {
    if (ticket->is_damaged) continue;
    // An earlier try of the batch may have left a verdict; each try decides anew.
    ticket->status = absl::OkStatus();
    VERNIER_RETURN_IF_ERROR(WriteOne(*ticket));
  }
  VERNIER_RETURN_IF_ERROR(transaction.Commit());
  return connection_->CheckInPlace();  // What went into a file without a name is not kept.
}

absl::Status GroupWriter::WriteOne(Ticket& ticket) {
  const bool earlier_failed = ticket.before != nullptr && !ticket.before->status.ok();
  Savepoint savepoint(*connection_);
  VERNIER_RETURN_IF_ERROR(savepoint.Begin());
  absl::Status applied = ticket.write->Apply(*connection_, earlier_failed);
  if (applied.ok()) return savepoint.Keep();
  if (absl::IsDataLoss(applied)) {
    ticket.is_damaged = true;
    ticket.status = DamageOf(ticket.write->study_name(), applied);
  }
  // SQLite ends the whole transaction by itself after some errors; no part of it is left to undo.
  if (IsFatal(applied) || !connection_->in_transaction()) return applied;
  ticket.status = std::move(applied);
  return savepoint.Undo();
}

}  // namespace vernier::sqlite
