#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "vernier/core/study.h"

namespace vernier {

// A change of a study's definition (StudyAdmin::Amend). Unset parts stay as they are.
//
//   Amendment change;
//   change.trials = 40;                             // Raises the budget to 40 trials.
//   change.time = std::optional<absl::Duration>();  // Removes the time budget.
struct Amendment {
  // The budget. An inner nullopt removes the bound.
  std::optional<std::optional<std::int64_t>> trials;
  std::optional<std::optional<std::int64_t>> failed_trials;
  std::optional<std::optional<absl::Duration>> time;
  std::optional<std::optional<double>> gpu_hours;
  std::optional<std::int32_t> parallel;
  std::optional<Choice> stopping;
  std::optional<std::optional<Convergence>> convergence;
  std::optional<std::map<std::string, MetricSource>> metrics;  // Replaces all sources.
  std::optional<LeasePolicy> lease;
  std::optional<TrainingJob> job;  // Applies from the next attempt on. Only for studies with a job.
  // Labels by key: the new value, or nullopt to remove the label. Labels may change even after the study has ended.
  std::map<std::string, std::optional<std::string>> labels;
  bool clear_labels = false;  // Removes all labels that are not in `labels`.
  // The cause of the failures so far has been fixed: they no longer count against the study.
  bool fixed = false;
  // A whole new definition; the parts above are applied to it. These parts must be equal to the current ones: name,
  // objectives, space, outcome constraints, algorithm, warm start, seed, and whether there is a job.
  std::optional<StudySpec> definition;
  // With `definition`: keeps parts that were amended one by one since the last whole definition, unless this definition
  // differs there from the last one.
  bool keep_amended = false;
  friend bool operator==(const Amendment&, const Amendment&) = default;
};

// A field that differs between two versions of a definition. `from` and `to` are the values as in the study file: empty
// if the field is not set; both empty if they are too long to show or may be secret.
struct FieldChange {
  std::string field;  // "budget.trials", "job.command"
  std::string from;
  std::string to;
  friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

}  // namespace vernier
