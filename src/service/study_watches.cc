#include "src/service/study_watches.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "src/core/status.h"
#include "src/wire/event_proto.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

// Threads that read and encode events.
constexpr int kThreads = 4;
// Events that are read at once. Each call holds up to two batches in memory: one that is written, one read ahead.
constexpr std::size_t kBatch = 256;

absl::Status ShuttingDown() { return Unavailable("the server is shutting down"); }

// A call that was refused: nothing but its status.
class Refused final : public StudyWatches::Reactor {
 public:
  explicit Refused(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

// One call. At any time it is idle, or one party works for it: a thread of the pool that reads, or gRPC that writes the
// batch. While gRPC writes a full batch, a thread of the pool reads the next one.
// News that arrive meanwhile are noted in has_news_, and looked at before the call becomes idle again.
class StudyWatches::Watch final : public Reactor {
 public:
  Watch(StudyWatches& watches, Subscription subscription)
      : watches_(watches), request_(std::move(subscription)) {}

  // Keeps it until gRPC lets go of it.
  void Hold(Shared self) { self_ = std::move(self); }

  // There may be something to send. Sends it from this thread, unless somebody works for the call.
  void Look() {
    {
      absl::MutexLock lock(&mu_);
      // Set even if somebody works for the call: Work looks at it, under the same lock, before it leaves the call idle.
      has_news_ = true;
      if (is_busy_ || is_finished_) return;
      is_busy_ = true;
    }
    Work();
  }

  // Ends the call, at once if nobody works for it.
  void End(absl::Status status) {
    {
      absl::MutexLock lock(&mu_);
      if (end_.ok()) end_ = std::move(status);
      if (is_busy_ || is_finished_) return;
      is_finished_ = true;
    }
    // No call into gRPC is made under mu_: it may call back. Nobody changes end_ any more.
    Finish(watches_.to_wire_(end_));
  }

  void OnWriteDone(bool ok) override {
    // The stream is broken. A thread that reads ahead finds that its batch's predecessor was never written, and stops.
    if (!ok) return FinishWith(Cancelled("nobody waits for the answer"));
    ++sent_;
    if (sent_ < batch_.size() && !is_ending()) return StartWrite(&batch_[sent_]);
    {
      absl::MutexLock lock(&mu_);
      if (is_reading_ahead_) {
        is_all_written_ = true;  // Whoever reads goes on.
        return;
      }
    }
    // What follows is read elsewhere: this thread is gRPC's.
    watches_.threads_->Run([self = self_] { self->Work(); });
  }

  void OnCancel() override { End(Cancelled("nobody waits for the answer")); }

  void OnDone() override {
    watches_.Remove(request_.study, self_);
    const Shared last = std::move(self_);  // Who works for it may have it still.
  }

 private:
  // Whether the call is to end early. Looked at between batches and between writes, so that a long log does not delay
  // it.
  bool is_ending() const {
    absl::MutexLock lock(&mu_);
    return !end_.ok();
  }

  // REQUIRES: is_busy_. Reads until there is something to write, or nothing at all. When it returns, gRPC writes, or
  // the call is idle or finished.
  void Work() {
    while (true) {
      {
        absl::MutexLock lock(&mu_);
        // Before the read: a change that the read misses sets it again.
        has_news_ = false;
      }
      const bool is_ahead = has_read_ahead_;
      const absl::StatusOr<bool> is_over = is_ahead ? TakeAhead() : Read(batch_);
      if (is_ending() || !is_over.ok() || *is_over) return FinishWith(is_over.status());
      if (!batch_.empty()) return Write();
      if (is_ahead) continue;  // It was read before the news.
      // The last look and becoming idle are one step under the lock: Look either sees that nobody works, or is seen
      // here.
      absl::MutexLock lock(&mu_);
      if (has_news_ || !end_.ok()) continue;
      is_busy_ = false;
      return;
    }
  }

  // REQUIRES: is_busy_, and a batch.
  void Write() {
    sent_ = 0;
    // The end of the log is not worth a thread. The flags are set before the write starts, since OnWriteDone may run
    // before StartWrite returns.
    if (batch_.size() == kBatch) {
      absl::MutexLock lock(&mu_);
      is_reading_ahead_ = true;
      is_all_written_ = false;
      watches_.threads_->Run([self = self_] { self->ReadAhead(); });
    }
    StartWrite(&batch_.front());
  }

  // While the batch is written.
  void ReadAhead() {
    ahead_is_over_ = Read(ahead_);
    {
      absl::MutexLock lock(&mu_);
      has_read_ahead_ = true;
      is_reading_ahead_ = false;
      // gRPC still writes the batch before this one; OnWriteDone will have Work take this one.
      if (!is_all_written_) return;
    }
    Work();
  }

  absl::StatusOr<bool> TakeAhead() {
    has_read_ahead_ = false;
    std::swap(batch_, ahead_);
    return std::exchange(ahead_is_over_, false);
  }

  // Fills the batch. True: there is nothing more to come, ever.
  absl::StatusOr<bool> Read(std::vector<v1::StudyEvent>& batch) {
    // A filter by kind may let nothing of a batch through, so go on until an event is wanted. That may take long, so
    // look whether the call is to end, too.
    batch.clear();
    while (batch.empty() && !is_ending()) {
      // First, since it costs less than a look at the log: most looks find nothing. It waits for changes that are on their
      // way to the disk, whose events are then sent together.
      const absl::StatusOr<Study> study = watches_.studies_.GetStudy(request_.study);
      if (study.ok() && request_.after >= study->last_event) {
        return !request_.follow || IsFinished(study->state);
      }
      VERNIER_ASSIGN_OR_RETURN(
          const std::vector<Event> events,
          watches_.studies_.ReadEvents(request_.study, request_.after, kBatch));
      // Events of a study that cannot be folded are sent all the same.
      if (events.empty()) VERNIER_RETURN_IF_ERROR(study.status());
      for (const Event& event : events) {
        // Also for an event that is left out, so that it is not read twice.
        request_.after = event.seq;
        if (!request_.kinds.empty() && !request_.kinds.contains(EventKind(event.payload))) continue;
        wire::EncodeEvent(event, &batch.emplace_back());
      }
    }
    return false;
  }

  // REQUIRES: is_busy_. With what ended the call, or else `status`.
  void FinishWith(const absl::Status& status) {
    absl::Status end;
    {
      absl::MutexLock lock(&mu_);
      is_finished_ = true;
      end = end_.ok() ? status : end_;
    }
    Finish(end.ok() ? grpc::Status::OK : watches_.to_wire_(end));
  }

  StudyWatches& watches_;
  Subscription request_;               // With the last event that was read. Of whoever reads.
  std::vector<v1::StudyEvent> batch_;  // What is being written. Of whoever works.
  std::size_t sent_ = 0;
  // What comes after it. Of whoever reads ahead, and then of whoever works.
  std::vector<v1::StudyEvent> ahead_;
  absl::StatusOr<bool> ahead_is_over_ = false;
  bool has_read_ahead_ = false;
  Shared self_;
  mutable absl::Mutex mu_;
  bool is_busy_ ABSL_GUARDED_BY(mu_) = false;
  bool has_news_ ABSL_GUARDED_BY(mu_) = false;
  bool is_reading_ahead_ ABSL_GUARDED_BY(mu_) = false;
  bool is_all_written_ ABSL_GUARDED_BY(mu_) = false;  // Of the batch, while somebody reads ahead.
  bool is_finished_ ABSL_GUARDED_BY(mu_) = false;     // gRPC was told.
  absl::Status end_ ABSL_GUARDED_BY(mu_);             // Why it is to end before its time.
};

// Subscribes last: from then on Wake may be called, and it needs threads_.
StudyWatches::StudyWatches(const Studies& studies, ToWire to_wire)
    : studies_(studies),
      to_wire_(std::move(to_wire)),
      threads_(std::make_unique<base::ThreadPool>(kThreads)),
      subscription_(studies.Subscribe([this](StudyId study) { Wake(study); })) {}

StudyWatches::~StudyWatches() {
  // In this order: first no more news come, then gRPC lets go of every call, and then the threads have nothing to do.
  subscription_.reset();
  {
    const absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(
        +[](std::size_t* count) { return *count == 0; }, &count_));
  }
  threads_.reset();
}

StudyWatches::Reactor* StudyWatches::Begin(Subscription subscription) {
  const StudyId study = subscription.study;
  const auto watch = std::make_shared<Watch>(*this, std::move(subscription));
  // The watch owns itself until OnDone: gRPC has a bare pointer only.
  watch->Hold(watch);
  bool is_late = false;
  {
    absl::MutexLock lock(&mu_);
    is_late = is_shut_down_;
    // Also a call that comes too late, since OnDone removes it.
    watches_[study].insert(watch);
    ++count_;
  }
  if (is_late) {
    watch->End(ShuttingDown());
  } else {
    threads_->Run([watch] { watch->Look(); });
  }
  return watch.get();
}

StudyWatches::Reactor* StudyWatches::Refuse(const absl::Status& status) {
  return new Refused(to_wire_(status));  // Deletes itself, as gRPC has it.
}

void StudyWatches::Shutdown() {
  // Copied, and ended outside the lock, since ending a call may bring it to Remove.
  std::vector<Shared> all;
  {
    absl::MutexLock lock(&mu_);
    is_shut_down_ = true;
    for (const auto& [study, watches] : watches_) {
      all.insert(all.end(), watches.begin(), watches.end());
    }
  }
  for (const Shared& watch : all) watch->End(ShuttingDown());
}

// Called by whoever makes the change durable, who must not be held up: it only has somebody look. Many changes in quick
// succession cost one look.
void StudyWatches::Wake(StudyId study) {
  {
    absl::MutexLock lock(&mu_);
    // Nobody watches the study, or a look is due that will see this change, too.
    if (!watches_.contains(study) || !woken_.insert(study).second) return;
  }
  threads_->Run([this, study] {
    std::vector<Shared> watches;
    {
      absl::MutexLock lock(&mu_);
      // Before the look: a change that comes during it needs another.
      woken_.erase(study);
      const auto found = watches_.find(study);
      if (found != watches_.end()) watches.assign(found->second.begin(), found->second.end());
    }
    // One that was removed meanwhile is finished, so that Look does nothing.
    for (const Shared& watch : watches) watch->Look();
  });
}

void StudyWatches::Remove(StudyId study, const Shared& watch) {
  absl::MutexLock lock(&mu_);
  const auto found = watches_.find(study);
  found->second.erase(watch);
  if (found->second.empty()) watches_.erase(found);
  --count_;
}

}  // namespace vernier::service
