#include "src/study/resumption.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "src/core/objectives.h"
#include "src/core/running_time.h"
#include "src/study/rules.h"

namespace vernier::study {
namespace {

// Zero: unknown.
absl::Duration ReportTime(const Trial& trial, absl::Time now) {
  const std::optional<absl::Duration> ran = RunningTime(trial, now);
  if (!ran.has_value() || trial.measurements == 0) return absl::ZeroDuration();
  return *ran / trial.measurements;
}

}  // namespace

ResumptionInputs TakePaused(const StudyFold& fold, const Transient& transient) {
  ResumptionInputs inputs{.rule = *transient.stopper, .paused = {}, .curves = fold.curves()};
  inputs.paused.rule = inputs.rule.get();
  inputs.paused.goal = FirstObjective(fold.header().spec).goal;
  for (const TrialNumber trial : fold.paused()) {
    const Trial& row = fold.Find(trial)->trial;
    inputs.paused.verdicts[trial] = row.stop->numbers;
    if (const absl::Duration each = ReportTime(row, transient.now); each > absl::ZeroDuration()) {
      inputs.paused.report_times[trial] = each;
    }
  }
  return inputs;
}

bool AddResumption(Draft& draft, const Transient& transient, TrialNumber trial) {
  if (!draft.fold().paused().contains(trial)) return false;
  ResumeDecided decided{.trial = trial, .verdict = {}};
  const EventSeq as_of = draft.study().last_event;
  if (const EarlyStopper* const rule = transient.stopper->get(); rule != nullptr) {
    const Verdict verdict = draft.mutable_fold().curves().Judge(*rule, trial);
    if (verdict.stop) return false;
    decided.verdict = RecordOf(*rule, verdict, as_of);
  } else {
    // Without a version, since no rule judged.
    decided.verdict = {.rule = "none",
                       .version = "",
                       .options = "{}",
                       .as_of = as_of,
                       .numbers = {},
                       .explanation = "the study stops no trial any more"};
  }
  draft.Add(std::move(decided));
  AddMove(draft, trial, TrialState::kQueued);
  return true;
}

}  // namespace vernier::study
