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
// Events that are read at once.
constexpr std::size_t kBatch = 256;

absl::Status ShuttingDown() { return Unavailable("the server is shutting down"); }

// A call that was refused: nothing but its status.
class Refused final : public StudyWatches::Reactor {
 public:
  explicit Refused(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

// One call. At any time it is idle, or somebody works for it: a thread that reads, or gRPC that writes what was read, beside
// whom another thread reads ahead while there is much. News that come meanwhile are noted, and looked at before it is idle
// again.
class StudyWatches::Watch final : public Reactor {
 public:
  Watch(StudyWatches& watches, Wish wish) : watches_(watches), wish_(std::move(wish)) {}

  // Keeps it until gRPC lets go of it.
  void Hold(Shared self) { self_ = std::move(self); }

  // There may be something to send. Sends it from this thread, unless somebody works for the call.
  void Look() {
    {
      absl::MutexLock lock(&mu_);
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
    Finish(watches_.to_wire_(end_));
  }

  void OnWriteDone(bool ok) override {
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
    watches_.Remove(wish_.study, self_);
    const Shared last = std::move(self_);  // Who works for it may have it still.
  }

 private:
  bool is_ending() const {
    absl::MutexLock lock(&mu_);
    return !end_.ok();
  }

  // REQUIRES: is_busy_. Reads until there is something to write, or nothing at all.
  void Work() {
    while (true) {
      {
        absl::MutexLock lock(&mu_);
        has_news_ = false;
      }
      const bool is_ahead = has_read_ahead_;
      const absl::StatusOr<bool> is_over = is_ahead ? TakeAhead() : Read(batch_);
      if (is_ending() || !is_over.ok() || *is_over) return FinishWith(is_over.status());
      if (!batch_.empty()) return Write();
      if (is_ahead) continue;  // It was read before the news.
      absl::MutexLock lock(&mu_);
      if (has_news_ || !end_.ok()) continue;
      is_busy_ = false;
      return;
    }
  }

  // REQUIRES: is_busy_, and a batch.
  void Write() {
    sent_ = 0;
    // The end of the log is not worth a thread.
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
    batch.clear();
    while (batch.empty() && !is_ending()) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<Event> events,
                               watches_.studies_.ReadEvents(wish_.study, wish_.after, kBatch));
      for (const Event& event : events) {
        wish_.after = event.seq;
        if (!wish_.kinds.empty() && !wish_.kinds.contains(EventKind(event.payload))) continue;
        wire::EncodeEvent(event, &batch.emplace_back());
      }
      if (!events.empty()) continue;
      VERNIER_ASSIGN_OR_RETURN(const Study study, watches_.studies_.GetStudy(wish_.study));
      if (wish_.after < study.last_event) continue;
      return !wish_.follow || IsFinished(study.state);
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
  Wish wish_;                          // With the last event that was read. Of whoever reads.
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

StudyWatches::StudyWatches(const Studies& studies, ToWire to_wire)
    : studies_(studies),
      to_wire_(std::move(to_wire)),
      threads_(std::make_unique<base::ThreadPool>(kThreads)),
      subscription_(studies.Subscribe([this](StudyId study) { Wake(study); })) {}

StudyWatches::~StudyWatches() {
  subscription_.reset();
  {
    const absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(
        +[](std::size_t* count) { return *count == 0; }, &count_));
  }
  threads_.reset();
}

StudyWatches::Reactor* StudyWatches::Begin(Wish wish) {
  const StudyId study = wish.study;
  const auto watch = std::make_shared<Watch>(*this, std::move(wish));
  watch->Hold(watch);
  bool is_late = false;
  {
    absl::MutexLock lock(&mu_);
    is_late = is_shut_down_;
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

// Called by whoever makes the change durable, who has no time.
void StudyWatches::Wake(StudyId study) {
  {
    absl::MutexLock lock(&mu_);
    if (!watches_.contains(study) || !woken_.insert(study).second) return;
  }
  threads_->Run([this, study] {
    std::vector<Shared> watches;
    {
      absl::MutexLock lock(&mu_);
      woken_.erase(study);
      const auto found = watches_.find(study);
      if (found != watches_.end()) watches.assign(found->second.begin(), found->second.end());
    }
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
