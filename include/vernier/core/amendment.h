#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "vernier/core/study.h"

namespace vernier {

// What is to change of a study's definition after its creation. What is unset stays as it is.
struct Amendment {
  std::optional<std::optional<std::int64_t>> trials;  // A set nullopt takes the bound away.
  std::optional<std::optional<std::int64_t>> failed_trials;
  std::optional<std::optional<absl::Duration>> time;
  std::optional<std::optional<double>> gpu_hours;
  std::optional<std::int32_t> parallel;
  std::optional<Choice> stopping;
  std::optional<std::optional<Convergence>> convergence;
  std::optional<std::map<std::string, MetricSource>> metrics;  // All of them.
  std::optional<LeasePolicy> lease;
  std::optional<TrainingJob> job;  // From the next attempt on. Only of a study that has one.
  // Labels by key: the new value, or nullopt to take it away. These may change also when the study has ended.
  std::map<std::string, std::optional<std::string>> labels;
  bool clear_labels = false;  // All others are taken away.
  // The cause of the failures so far is fixed: they no longer count against the study.
  bool fixed = false;
  // The whole definition as it is to be, before what is named above is applied. Parts that cannot change must be as they
  // are: name, objectives, space, outcome constraints, algorithm, warm start, seed, and whether there is a job.
  std::optional<StudySpec> definition;
  // With `definition`: a part that was amended since the study was last given a whole definition stays as it is, unless
  // this definition differs there from that one.
  bool keep_amended = false;
  friend bool operator==(const Amendment&, const Amendment&) = default;
};

// One field of a definition that differs between two versions of it. `from` and `to` are the values in the words of the
// study file; empty if the field is not set, and both empty if they are too long for a sentence or may be secret.
struct FieldChange {
  std::string field;  // "budget.trials", "job.command"
  std::string from;
  std::string to;
  friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

}  // namespace vernier
