#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "vernier/storage.h"

namespace vernier::testing {

// A storage whose writes fail when told to, over another that works. What fails was never written; what was put in line
// behind it is refused by the storage below, as it would be by a full disk.
class FaultStorage final : public Storage {
 public:
  explicit FaultStorage(Storage& storage) : storage_(storage) {}

  // The next `count` commits are refused with this status.
  void FailCommits(int count, absl::Status status) {
    status_ = std::move(status);
    failures_ = count;
  }
  // The next `passes` writes go through, and none after them: the process that makes them dies there.
  void FailAfter(int passes) {
    passes_ = passes;
    FailCommits(std::numeric_limits<int>::max(), absl::UnavailableError("the process died here"));
  }
  int commits() const { return commits_; }
  int refused() const { return refused_; }

  absl::StatusOr<Study> CreateStudy(const Event& created) override {
    if (TakeFailure()) return status_;
    return storage_.CreateStudy(created);
  }
  std::unique_ptr<PendingCommit> Begin(Commit commit) override {
    ++commits_;
    if (TakeFailure()) return std::make_unique<Refused>(status_);
    return storage_.Begin(std::move(commit));
  }
  absl::Status DeleteStudy(StudyId id, std::string_view request_id) override {
    return TakeFailure() ? status_ : storage_.DeleteStudy(id, request_id);
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
  absl::StatusOr<Trial> GetTrial(TrialId id) const override { return storage_.GetTrial(id); }
  absl::StatusOr<std::vector<Trial>> ListTrials(StudyId study,
                                                TrialNumber after,
                                                std::size_t limit) const override {
    return storage_.ListTrials(study, after, limit);
  }
  absl::StatusOr<std::vector<Event>> ReadEvents(StudyId study,
                                                EventSeq after,
                                                std::size_t limit) const override {
    return storage_.ReadEvents(study, after, limit);
  }
  absl::StatusOr<std::vector<Measurement>> ListMeasurements(TrialId trial) const override {
    return storage_.ListMeasurements(trial);
  }

 private:
  class Refused final : public PendingCommit {
   public:
    explicit Refused(absl::Status status) : status_(std::move(status)) {}
    absl::Status Wait() override { return status_; }

   private:
    const absl::Status status_;
  };

  bool TakeFailure() { return !TakeOne(passes_) && TakeOne(failures_) && ++refused_ > 0; }

  static bool TakeOne(std::atomic<int>& count) {
    int left = count;
    while (left > 0) {
      if (count.compare_exchange_weak(left, left - 1)) return true;
    }
    return false;
  }

  Storage& storage_;
  absl::Status status_ = absl::UnavailableError("disk error");
  std::atomic<int> passes_ = 0;
  std::atomic<int> failures_ = 0;
  std::atomic<int> refused_ = 0;
  std::atomic<int> commits_ = 0;
};

}  // namespace vernier::testing
