#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/study/draft.h"
#include "src/study/live_study.h"
#include "vernier/optimizer.h"

// A batch of suggestions: its inputs, the computation, and its record. Invariants 3 and 4
// (ARCHITECTURE.md), which make replay sound, are kept here; src/study/replay.h computes again from
// the record.
namespace vernier::study {

// All inputs of a batch.
struct BatchInputs {
  std::shared_ptr<const Optimizer> optimizer;  // Shared with the study and other batches.
  TrialLog::View finished;
  std::vector<PendingPoint> pending;
  std::string state;
  EventSeq state_from;
  EventSeq as_of;
  TrialNumber first;         // The number of its first trial.
  std::uint64_t stream = 0;  // The key of that trial's random stream.
  std::uint64_t seed = 0;
  std::size_t count = 1;
};

// REQUIRES: the caller holds the study's slot; transient.optimizer is OK.
BatchInputs TakeInputs(const StudyFold& fold, const Transient& transient, std::size_t count);

// Pure. Errors: as Optimizer::Suggest.
absl::StatusOr<Suggestions> Compute(const BatchInputs& inputs, std::stop_token stop);

// Whether the batch may still be recorded: no trial was created since, and the optimiser's state is the one it started
// from. Trials that ended since do no harm: the batch says up to where it saw the log.
bool IsStillTrue(const StudyFold& fold, const BatchInputs& inputs);

// Internal: the algorithm broke its contract: a point outside the space, or one that was proposed before.
absl::Status CheckPoints(const StudyFold& fold,
                         const BatchInputs& inputs,
                         const Suggestions& suggestions);

// The events of the batch. Returns the new trials.  REQUIRES: IsStillTrue, CheckPoints OK.
std::vector<TrialNumber> AddBatch(Draft& draft, const BatchInputs& inputs, Suggestions suggestions);

}  // namespace vernier::study
