#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/clock.h"
#include "vernier/core/durations.h"
#include "vernier/storage.h"
#include "vernier/study_admin.h"
#include "vernier/study_log.h"
#include "vernier/study_reader.h"
#include "vernier/trials.h"

namespace vernier {

namespace study {
class EngineMoves;  // For Engine only.
}

// Durations of recent work: see Studies::RecentTimes.
struct StudyDurations {
  Durations suggestions;  // Time to compute a batch of suggestions.
  Durations commits;      // Time from a change until it is durable.
};

// Studies and trials over a Storage, with their rules: state machines (ARCHITECTURE.md), budgets, leases, suggestions,
// early stopping, replay. Every change is one commit of events. Code that needs only a part takes that base class.
//
//   const auto clock = NewRealClock();
//   const auto storage = OpenSqliteStorage({.path = "studies.db"});
//   const auto studies = Studies::Create(**storage, *clock);
//   const auto study = studies->CreateStudy(*ParseStudyFile(text), {.actor = "me"});
//   const auto trials = studies->Suggest(study->id, 1, "worker-1", {.actor = "worker-1"}, {});
//   // Run trials->front(), then: studies->Report(…), studies->Complete(…).
//
// Thread-safe. Starts no thread. Only one Studies object at a time may change a store. Suggestions are computed outside
// every lock, one at a time for each study.
class Studies : public StudyReader, public StudyAdmin, public Trials, public StudyLog {
 public:
  // Owns neither `storage` nor `clock`; both must outlive the result. `algorithms`: the names that studies may use.
  static std::unique_ptr<Studies> Create(
      Storage& storage,
      const Clock& clock,
      AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn());

  // Applies what depends on time or counts: expired leases, spent time budgets, studies that are done or have failed
  // too often. Every change is an event. Without an Engine, call it about once a second. Reads and writes the store.
  //
  // Returns the studies that are not finished, in the order of their ids. A study that cannot be changed does not hold
  // up the others; the call fails only if none can be changed.
  virtual absl::StatusOr<std::vector<StudyId>> Tick() = 0;
  // Ends the lease of a client that is known to have died, as if it had expired: the trial is offered again, or fails, as
  // StudySpec::lease says.
  // Aborted (kLeaseLost): the lease has ended, or the trial was leased again.  FailedPrecondition (kTrialFinished): the
  // trial has ended.  Other errors: as Trials.
  virtual absl::StatusOr<Trial> EndLease(TrialId id,
                                         const LeaseToken& lease,
                                         const Caller& caller) = 0;
  // Durations of the last five minutes. Does not block.
  virtual StudyDurations RecentTimes() const = 0;

  // Whether the study is in memory, so that calls about its trials need not read the store first.
  virtual bool IsAtHand(StudyId id) const = 0;
  // Whether the next suggestion is likely to be quick enough for a thread that must not be held up: the study is in
  // memory, and its last suggestion took less than a millisecond, by an algorithm without a model.
  virtual bool SuggestsAtOnce(StudyId id) const = 0;

  // For Engine only.
  virtual study::EngineMoves& engine_moves() = 0;
};

}  // namespace vernier
