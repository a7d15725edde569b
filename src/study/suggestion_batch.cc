#include "src/study/suggestion_batch.h"

#include <exception>
#include <new>
#include <utility>

#include "src/core/status.h"
#include "src/core/suggestion_check.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/rng.h"

namespace vernier::study {
namespace {

SuggestionRecord Record(const BatchInputs& inputs, std::int32_t index, Suggestion suggestion) {
  SuggestionRecord record;
  record.algorithm = inputs.optimizer->name();
  record.version = inputs.optimizer->version();
  record.options = inputs.optimizer->options();
  record.fingerprint = NumericsFingerprint();
  record.as_of = inputs.as_of;
  record.state_from = inputs.state_from;
  record.stream = inputs.stream;
  record.batch_size = static_cast<std::int32_t>(inputs.count);
  record.batch_index = index;
  record.pending.reserve(inputs.pending.size());
  for (const PendingPoint& pending : inputs.pending) record.pending.push_back(pending.trial);
  record.origin = std::move(suggestion.origin);
  record.acquisition = suggestion.acquisition;
  record.predicted_mean = suggestion.predicted_mean;
  record.predicted_deviation = suggestion.predicted_deviation;
  record.predicted_others = std::move(suggestion.predicted_others);
  record.expected_improvement = suggestion.expected_improvement;
  record.importance = std::move(suggestion.importance);
  record.note = std::move(suggestion.note);
  return record;
}

// Records that the study continues with another version of its algorithm.
void NameVersion(Draft& draft, const Optimizer& optimizer) {
  const std::string* known = draft.fold().VersionInUse(optimizer.name());
  if (known == nullptr || *known == optimizer.version()) return;
  draft.Add(AlgorithmChanged{.name = std::string(optimizer.name()),
                             .from_version = *known,
                             .to_version = std::string(optimizer.version())});
}

}  // namespace

BatchInputs TakeInputs(const StudyFold& fold, const Transient& transient, std::size_t count) {
  BatchInputs inputs;
  inputs.optimizer = *transient.optimizer;
  // A pointer and a length: the log of observations only grows (docs/adr/0015).
  inputs.finished = fold.finished().Snapshot();
  inputs.pending.reserve(fold.unfinished().size());
  for (const TrialNumber trial : fold.unfinished()) {
    const TrialEntry& row = *fold.Find(trial);
    // Points that lack values are not shown to algorithms; of paused trials they have an observation.
    if (!row.is_partial && row.trial.state != TrialState::kPaused)
      inputs.pending.push_back({.trial = trial, .point = row.trial.point});
  }
  inputs.state = fold.optimizer_state();
  inputs.state_from = fold.optimizer_state_from();
  inputs.as_of = fold.header().last_event;
  inputs.first = fold.next_trial();
  inputs.stream = fold.StreamOf(inputs.first);
  inputs.seed = fold.header().spec.seed;
  inputs.count = count;
  return inputs;
}

absl::StatusOr<Suggestions> Compute(const BatchInputs& inputs, std::stop_token stop) {
  const Rng stream = Rng(inputs.seed).Fork(inputs.stream);
  // An algorithm that throws must not end the process: other studies go on.
  try {
    return inputs.optimizer->Suggest(
        inputs.finished, inputs.pending, inputs.state, stream, inputs.count, std::move(stop));
  } catch (const std::bad_alloc&) {
    return Internal("algorithm '{}' needs more memory than there is", inputs.optimizer->name());
  } catch (const std::exception& error) {
    return Internal("algorithm '{}' failed: {}", inputs.optimizer->name(), error.what());
  }
}

bool IsStillTrue(const StudyFold& fold, const BatchInputs& inputs) {
  // Both are reserved by the slot, so that this fails only if a batch was computed without it, or
  // if the fold was made again after a refused commit (docs/adr/0002).
  return fold.next_trial() == inputs.first && fold.optimizer_state_from() == inputs.state_from;
}

absl::Status CheckPoints(const StudyFold& fold,
                         const BatchInputs& inputs,
                         const Suggestions& suggestions) {
  const std::string_view name = inputs.optimizer->name();
  VERNIER_RETURN_IF_ERROR(
      CheckSuggestions(name, fold.header().spec.space, inputs.count, suggestions));
  for (const Suggestion& suggestion : suggestions.points) {
    // In a finite space a repeated point is a fault of the algorithm, and is found here. In others
    // no point is looked up.
    if (const auto earlier = fold.FindPoint(suggestion.point); earlier.has_value()) {
      return Internal(
          "algorithm '{}' proposed the point of trial {} again", name, earlier->value());
    }
  }
  return absl::OkStatus();
}

std::vector<TrialNumber> AddBatch(Draft& draft,
                                  const BatchInputs& inputs,
                                  Suggestions suggestions) {
  NameVersion(draft, *inputs.optimizer);
  std::vector<TrialNumber> trials;
  const std::size_t count = suggestions.points.size();
  for (std::size_t i = 0; i < count; ++i) {
    const TrialNumber number(inputs.first.value() + static_cast<std::int64_t>(i));
    Suggestion& suggestion = suggestions.points[i];
    Point point = suggestion.point;
    draft.Add(TrialCreated{
        .trial = number,
        .point = std::move(point),
        .suggestion = Record(inputs, static_cast<std::int32_t>(i), std::move(suggestion)),
        // The state belongs to the batch as a whole; the last event of it carries it.
        .optimizer_state = i + 1 == count ? std::move(suggestions.state) : std::string()});
    trials.push_back(number);
  }
  return trials;
}

}  // namespace vernier::study
