#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vernier/core/event.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

namespace vernier {

struct ReplayReport {
  struct Line {
    EventSeq event;
    TrialNumber trial;
    enum class Result { kVerified, kDiverged, kUnverifiable } result;
    std::string detail;  // What differs, or why it cannot be verified.
  };
  std::int64_t suggestions = 0;
  std::int64_t stops = 0;
  std::int64_t verified = 0;
  std::vector<Line> problems;  // Diverged and unverifiable ones.
  bool diverged() const;
};

// The logs of studies: all that ever happened, as numbered events.
// Thread-safe. Errors of every call: NotFound (kStudyNotFound); DataLoss (kDataLoss): the study is damaged in the store.
class StudyLog {
 public:
  virtual ~StudyLog() = default;

  // Durable events after `after`, oldest first, at most `limit`.
  virtual absl::StatusOr<std::vector<Event>> ReadEvents(StudyId id,
                                                        EventSeq after,
                                                        std::size_t limit) const = 0;
  // Blocks until the study has a durable event after `after`, `timeout` passes or `stop` fires. True if it has one.
  virtual bool WaitForEvents(StudyId id,
                             EventSeq after,
                             absl::Duration timeout,
                             std::stop_token stop) const = 0;
  // Ends when it is destroyed, once a call that is under way has returned.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  // Calls `changed` whenever a study has new durable events, or was deleted: from any thread, at times more often than
  // needed. It must return at once, and call nothing here.  The subscription must end before this object does.
  virtual std::unique_ptr<Subscription> Subscribe(std::function<void(StudyId)> changed) const = 0;
  // Recomputes every suggestion and every stop verdict from the log and compares.
  virtual absl::StatusOr<ReplayReport> Replay(StudyId id) const = 0;
};

}  // namespace vernier
