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

// Result of Replay.
struct ReplayReport {
  // One recomputed event.
  struct Line {
    EventSeq event;
    TrialNumber trial;
    enum class Result { kVerified, kDiverged, kUnverifiable } result;
    std::string detail;  // The difference, or why it cannot be verified.
  };
  std::int64_t suggestions = 0;  // Number of suggestions in the log.
  std::int64_t stops = 0;        // Number of stop verdicts in the log.
  std::int64_t verified = 0;     // Number of either that gave the recorded result again.
  std::vector<Line> problems;    // Diverged and unverifiable events.
  // Whether any event diverged.
  bool diverged() const;
};

// The logs of studies: every change, as numbered events. One part of Studies (studies.h).
//
//   EventSeq last;
//   while (log.WaitForEvents(study, last, absl::Seconds(10), stop)) {
//     const absl::StatusOr<std::vector<Event>> events = log.ReadEvents(study, last, 100);
//     if (!events.ok()) return events.status();
//     last = events->back().seq;
//   }
//
// Thread-safe. Errors of every call: NotFound (kStudyNotFound); DataLoss (kDataLoss): the study is damaged in the store.
class StudyLog {
 public:
  virtual ~StudyLog() = default;

  // Returns at most `limit` durable events after `after`, oldest first. Reads the store.
  virtual absl::StatusOr<std::vector<Event>> ReadEvents(StudyId id,
                                                        EventSeq after,
                                                        std::size_t limit) const = 0;
  // Blocks until the study has a durable event after `after`, `timeout` passes or `stop` fires. Returns whether it has
  // one; false at once if there is no such study.
  virtual bool WaitForEvents(StudyId id,
                             EventSeq after,
                             absl::Duration timeout,
                             std::stop_token stop) const = 0;
  // A subscription. The destructor ends it, and blocks until a call in progress has returned.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  // Calls `changed` whenever a study has new durable events or was deleted; from any thread, sometimes needlessly. It
  // must return at once, and must neither call this object nor destroy the subscription, which would deadlock. Destroy
  // the subscription before this object.
  virtual std::unique_ptr<Subscription> Subscribe(std::function<void(StudyId)> changed) const = 0;
  // Recomputes every suggestion and every stop verdict of the log and compares. May take long. Holds no lock meanwhile,
  // and changes nothing.
  virtual absl::StatusOr<ReplayReport> Replay(StudyId id) const = 0;
};

}  // namespace vernier
