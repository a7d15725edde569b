#include "vernier/ask_tell.h"

#include <algorithm>
#include <cstdint>

#include "src/c_api/handles.h"
#include "src/core/objectives.h"
#include "vernier/study_file.h"

// The loop knows numbers only; the definition has the names of the objectives.
struct vn_ask_tell {
  vernier::AskTell loop;
  vernier::StudySpec spec;
};

using vernier::AskTell;
using vernier::StudySpec;
using vernier::Trial;
using vernier::TrialNumber;
using vernier::c_api::CheckGiven;
using vernier::c_api::NewTrials;
using vernier::c_api::Run;

vn_code vn_ask_tell_new(const char* study_file, vn_ask_tell** result, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(study_file, "study_file"));
    // All arguments are checked before anything is done, so that an error never leaves half of a result.
    VERNIER_RETURN_IF_ERROR(CheckGiven(result, "result"));
    // The name is not needed here, but in a study file.
    VERNIER_ASSIGN_OR_RETURN(StudySpec spec, vernier::ParseStudyFile(study_file, "ask-tell"));
    VERNIER_ASSIGN_OR_RETURN(AskTell loop,
                             AskTell::Create({.space = spec.space,
                                              .objectives = spec.objectives,
                                              .outcome_constraints = spec.outcome_constraints},
                                             spec.algorithm,
                                             spec.seed));
    *result = new vn_ask_tell{.loop = std::move(loop), .spec = std::move(spec)};
    return absl::OkStatus();
  });
}

vn_code vn_ask_tell_ask(vn_ask_tell* study, size_t count, vn_trials** result, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(study, "study"));
    VERNIER_RETURN_IF_ERROR(CheckGiven(result, "result"));
    if (count == 0) return vernier::FieldError("count", "must be at least 1, got 0");
    VERNIER_ASSIGN_OR_RETURN(const std::vector<AskTell::Asked> asked, study->loop.Ask(count));
    std::vector<Trial> trials;
    trials.reserve(asked.size());
    for (const AskTell::Asked& one : asked) {
      trials.push_back({.number = one.trial,
                        // As a server would have it for a trial that its client works on.
                        .state = vernier::TrialState::kRunning,
                        .point = one.suggestion.point});
    }
    *result = NewTrials("", std::move(trials)).release();
    return absl::OkStatus();
  });
}

vn_code vn_ask_tell_tell(
    vn_ask_tell* study, int64_t trial, const double* values, size_t count, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(study, "study"));
    // Without values there need not be an array.
    if (count > 0) VERNIER_RETURN_IF_ERROR(CheckGiven(values, "values"));
    const std::vector<double> all(values, values + count);
    // The objectives come first, then the slacks. Too few or too many of either are for Tell to refuse.
    const std::size_t objectives = std::min(count, study->spec.objectives.size());
    const auto slacks = all.begin() + static_cast<std::ptrdiff_t>(objectives);
    return study->loop.Tell(TrialNumber(trial), {all.begin(), slacks}, {slacks, all.end()});
  });
}

vn_code vn_ask_tell_fail(vn_ask_tell* study, int64_t trial, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(study, "study"));
    return study->loop.TellFailed(TrialNumber(trial));
  });
}

vn_code vn_ask_tell_best(vn_ask_tell* study, vn_trials** result, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(study, "study"));
    VERNIER_RETURN_IF_ERROR(CheckGiven(result, "result"));
    std::vector<Trial> trials;
    for (const vernier::Observation& observation : study->loop.Optimal()) {
      Trial trial{.number = observation.trial,
                  .state = vernier::TrialState::kCompleted,
                  .point = observation.point};
      for (std::size_t i = 0; i < observation.values.size(); ++i) {
        // Only trials that were told values are optimal, so there is one value for each objective.
        trial.final_metrics[study->spec.objectives[i].metric] = observation.values[i];
      }
      trials.push_back(std::move(trial));
    }
    // Owned by the caller from here on, as is every list that a call gives.
    *result = NewTrials("", std::move(trials)).release();
    return absl::OkStatus();
  });
}

void vn_ask_tell_free(vn_ask_tell* study) { delete study; }
