#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "src/core/status.h"
#include "vernier/storage.h"

namespace vernier::testing {

// A storage over another one whose writes can be made to fail, or their outcome be held back. A failed commit is never
// written. Later commits of the study that were queued for the state after it are refused by the storage below, as
// after a full disk. Thread-safe.
class FaultStorage : public Storage {
 public:
  explicit FaultStorage(Storage& storage) : storage_(storage) {}

  // Makes the next `count` writes fail with this status.
  void FailCommits(int count, absl::Status status) {
    const absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
    passes_ = 0;
    failures_ = count;
  }
  // Lets the next `passes` writes through and fails all later ones, as if the process died there.
  void FailAfter(int passes) {
    const absl::MutexLock lock(&mutex_);
    status_ = absl::UnavailableError("the process died here");
    passes_ = passes;
    failures_ = std::numeric_limits<int>::max();
  }
  // With true: commits are written, but Wait and Then do not report their outcome until Hold(false).
  void Hold(bool held) {
    std::vector<std::function<void()>> listeners;
    {
      const absl::MutexLock lock(&mutex_);
      held_ = held;
      if (!held) listeners.swap(listeners_);
    }
    for (const auto& ask : listeners) ask();
  }
  // Calls `meanwhile` once, between the next ReadRequest's look and its answer. To be set while nothing else uses this.
  void AfterRequestRead(std::function<void()> meanwhile) {
    after_request_read_ = std::move(meanwhile);
  }
  // Blocks until `count` commits have been queued since construction.
  void AwaitCommits(int count) { AwaitAtLeast(commits_, count); }
  // Blocks until `count` callers wait for held commits.
  void AwaitWaiters(int count) { AwaitAtLeast(waiters_, count); }
  int commits() const { return commits_; }
  int refused() const { return refused_; }

  absl::StatusOr<Study> CreateStudy(const Event& created) override {
    VERNIER_RETURN_IF_ERROR(NextWrite());
    return storage_.CreateStudy(created);
  }
  std::unique_ptr<PendingCommit> Begin(Commit commit) override {
    const absl::Status status = NextWrite();
    std::unique_ptr<PendingCommit> pending;
    if (status.ok()) {
      pending = storage_.Begin(std::move(commit));
    } else {
      pending = std::make_unique<Refused>(status);
    }
    const absl::MutexLock lock(&mutex_);
    ++commits_;
    return std::make_unique<Held>(*this, std::move(pending));
  }
  absl::Status DeleteStudy(StudyId id, std::string_view request_id) override {
    VERNIER_RETURN_IF_ERROR(NextWrite());
    return storage_.DeleteStudy(id, request_id);
  }
  absl::StatusOr<std::optional<std::string>> FindDeletion(
      std::string_view request_id) const override {
    return storage_.FindDeletion(request_id);
  }
  absl::StatusOr<Study> GetStudy(StudyId id) const override { return storage_.GetStudy(id); }
  absl::StatusOr<Study> GetStudyByName(std::string_view name) const override {
    return storage_.GetStudyByName(name);
  }
  absl::StatusOr<std::vector<Study>> ListStudies(StudyId after, std::size_t limit) const override {
    return storage_.ListStudies(after, limit);
  }
  absl::StatusOr<std::vector<StudyKey>> ListStudyKeys() const override {
    return storage_.ListStudyKeys();
  }
  absl::StatusOr<Trial> GetTrial(TrialId id) const override { return storage_.GetTrial(id); }
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                TrialNumber after,
                                                std::size_t limit) const override {
    return storage_.ListTrials(study, after, limit);
  }
  absl::Status ScanTrials(StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) const override {
    return storage_.ScanTrials(study, scan, visit);
  }
  absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                EventSeq after,
                                                std::size_t limit) const override {
    return storage_.ReadEvents(study, after, limit);
  }
  absl::StatusOr<std::vector<Measurement>> ReadMeasurements(
      StudyId study, std::span<const EventSeq> events) const override {
    return storage_.ReadMeasurements(study, events);
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const override {
    return storage_.ListMeasurements(trial);
  }
  absl::StatusOr<std::vector<Event>> ReadReports(TrialId trial) const override {
    return storage_.ReadReports(trial);
  }
  absl::StatusOr<std::vector<Event>> ReadRequest(StudyId study,
                                                 std::string_view request_id) const override {
    absl::StatusOr<std::vector<Event>> events = storage_.ReadRequest(study, request_id);
    if (const auto meanwhile = std::exchange(after_request_read_, nullptr)) meanwhile();
    return events;
  }
  absl::StatusOr<std::optional<StudySnapshot>> ReadSnapshot(StudyId study) const override {
    return storage_.ReadSnapshot(study);
  }

 private:
  class Refused final : public PendingCommit {
   public:
    explicit Refused(absl::Status status) : status_(std::move(status)) {}
    absl::Status Wait() override { return status_; }
    void Then(std::function<void(const absl::Status&)> told) override { told(status_); }

   private:
    const absl::Status status_;
  };

  // A commit whose outcome is reported only while nothing is held.
  class Held final : public PendingCommit {
   public:
    Held(FaultStorage& storage, std::unique_ptr<PendingCommit> pending)
        : storage_(storage), pending_(std::move(pending)) {}
    absl::Status Wait() override {
      {
        const absl::MutexLock lock(&storage_.mutex_);
        if (storage_.held_) ++storage_.waiters_;
        storage_.mutex_.Await(absl::Condition(
            +[](bool* held) { return !*held; }, &storage_.held_));
      }
      return pending_->Wait();
    }
    void Then(std::function<void(const absl::Status&)> told) override {
      auto ask = [pending = pending_, told = std::move(told)] { pending->Then(told); };
      {
        const absl::MutexLock lock(&storage_.mutex_);
        if (storage_.held_) return storage_.listeners_.push_back(std::move(ask));
      }
      ask();
    }

   private:
    FaultStorage& storage_;
    // Shared with the listeners that wait until nothing is held.
    const std::shared_ptr<PendingCommit> pending_;
  };

  void AwaitAtLeast(const std::atomic<int>& counter, int count) {
    struct Condition {
      const std::atomic<int>& counter;
      int count;
    } condition{counter, count};
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](Condition* c) { return c->counter >= c->count; }, &condition));
  }

  // The status for the next write; counts passes and failures.
  absl::Status NextWrite() {
    const absl::MutexLock lock(&mutex_);
    if (passes_ > 0) {
      --passes_;
      return absl::OkStatus();
    }
    if (failures_ == 0) return absl::OkStatus();
    --failures_;
    ++refused_;
    return status_;
  }

  Storage& storage_;
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int passes_ ABSL_GUARDED_BY(mutex_) = 0;
  int failures_ ABSL_GUARDED_BY(mutex_) = 0;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> listeners_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> refused_ = 0;
  std::atomic<int> commits_ = 0;
  std::atomic<int> waiters_ = 0;
  mutable std::function<void()> after_request_read_;
};

}  // namespace vernier::testing
