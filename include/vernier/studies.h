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
class EngineMoves;  // The engine's; not for others.
}

// What takes time: see Studies::RecentTimes.
struct StudyDurations {
  Durations suggestions;
  Durations commits;
};

// The rules of studies and trials over a Storage: the state machines of ARCHITECTURE.md, budgets, leases, suggestions,
// early stopping, replay. Every change is one commit of events. Whoever needs a part of it only takes that part.
//
// Thread-safe; starts no thread. All changes of a store must go through one Studies object at a time. Suggestions are
// computed outside every lock, one at a time for each study.
class Studies : public StudyReader, public StudyAdmin, public Trials, public StudyLog {
 public:
  // Neither is owned: `storage` and `clock` must outlive the result. `algorithms`: what studies may name.
  static std::unique_ptr<Studies> Create(
      Storage& storage,
      const Clock& clock,
      AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn());

  // What time and counts decide: expired leases, spent time budgets, studies that are done or have failed too often.
  // Call it now and then; every change it makes is an event. Returns the studies that are not finished, in the order of
  // their ids. A study that cannot be changed holds up no other: it is an error only if none can.
  virtual absl::StatusOr<std::vector<StudyId>> Tick() = 0;
  // How long suggestions took to compute, and changes to become durable. Waits for nobody.
  virtual StudyDurations RecentTimes() const = 0;

  // Whether the study is in memory, so that calls about its trials read nothing from the store first.
  virtual bool IsAtHand(StudyId id) const = 0;
  // Whether it is in memory and its last suggestion took less than a millisecond, by an algorithm without a model, so that
  // the next one may be computed by a thread that should not be held.
  virtual bool SuggestsAtOnce(StudyId id) const = 0;

  virtual study::EngineMoves& engine_moves() = 0;
};

}  // namespace vernier
