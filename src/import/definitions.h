#pragma once

#include <initializer_list>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/import/source_study.h"

// Definitions of other tools in YAML or JSON, as a study file.
namespace vernier::imports {

// An Experiment of Katib (kubeflow.org), or a List of Kubernetes with one and its Trials.
absl::StatusOr<SourceStudy> FromKatib(const Json& document);
// An experiment's configuration of Determined.
absl::StatusOr<SourceStudy> FromDetermined(const Json& document);
// A sweep of Weights & Biases.
absl::StatusOr<SourceStudy> FromSweep(const Json& document);

// --- shared by them ---
// A list of numbers in ascending order as such, another list as choices.
Json ListedDomain(const Json& values);
// One note for each key of the mapping that is none of `known`; `path` is that of the mapping, empty at the top.
void NoteLeftOut(const Json& mapping,
                 std::string_view path,
                 std::initializer_list<std::string_view> known,
                 SourceStudy& out);
// A number, also where it is written as text: Katib and others quote numbers. Null if it is none.
Json NumberIn(const Json& json);

}  // namespace vernier::imports
