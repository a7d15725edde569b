#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "src/study/study_state.h"
#include "vernier/storage.h"
#include "vernier/studies.h"

namespace vernier::study {

// A change of a study that is being decided. Each event is applied to the fold as it is added, so
// that the next rule sees the effect of the one before. A change that is refused must be refused
// before its first event. Not thread-safe.
class Draft {
 public:
  // `now` is moved forward to the time of the study's last event if the clock went back.
  Draft(StudyFold& fold, const Caller& caller, absl::Time now);

  void Add(EventPayload payload);
  // Events added from here on follow from the change by the rules. They do not bear the caller's
  // request id, which marks what the caller asked for.
  void BeginConsequences() { is_consequence_ = true; }
  void EndConsequences() { is_consequence_ = false; }

  const StudyFold& fold() const { return fold_; }
  StudyFold& mutable_fold() {
    return fold_;
  }  // For judging curves, which moves them aside and back.
  const Study& study() const { return fold_.header(); }
  // REQUIRES: the trial exists.
  const TrialEntry& row(TrialNumber trial) const { return *fold_.Find(trial); }
  const Trial& trial(TrialNumber trial) const { return fold_.Find(trial)->trial; }
  absl::Time now() const { return now_; }
  const Caller& caller() const { return caller_; }

  bool empty() const { return events_.empty(); }
  // Not OK: an event did not fit; a bug in a rule.
  const absl::Status& status() const { return status_; }
  // REQUIRES: not empty.
  Commit Build() &&;

 private:
  StudyFold& fold_;
  const Caller& caller_;
  const absl::Time now_;
  const EventSeq before_;
  std::vector<Event> events_;
  std::set<TrialNumber> touched_;
  bool is_consequence_ = false;
  absl::Status status_;
};

}  // namespace vernier::study
