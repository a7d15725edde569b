#pragma once

#include <memory>
#include <vector>

#include "src/core/curve_book.h"
#include "src/core/resumable.h"
#include "src/study/draft.h"
#include "src/study/live_study.h"
#include "vernier/early_stopper.h"

// To judge all paused trials takes a while, so that it is done without the study's lock, on a copy of the curves. Only the
// verdicts on those that are resumed are given again under the lock, as of the event before: replay computes them again.
namespace vernier::study {

// What ChooseResumable needs, apart from the study.
struct ResumptionInputs {
  std::shared_ptr<const EarlyStopper> rule;  // Of `paused`.
  PausedTrials paused;
  CurveBook curves;
};

// REQUIRES: transient.stopper is OK.
ResumptionInputs TakePaused(const StudyFold& fold, const Transient& transient);

// Moves the trial to QUEUED if the rule still lets it go on. Returns whether it does.
bool AddResumption(Draft& draft, const Transient& transient, TrialNumber trial);

}  // namespace vernier::study
