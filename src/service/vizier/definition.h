#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/service/vizier/names.h"
#include "vernier/core/space.h"
#include "vernier/core/study.h"
#include "vizier/study.pb.h"

// Studies between Vizier's words and Vernier's.
namespace vernier::vizier {

// The parameters of a definition as a space has them. Of several parameters that share a name, each in a branch of its own,
// those after the first are told apart by their branch: "rate (model=linear)".
struct Parameters {
  std::vector<Parameter> list;
  std::map<std::string, std::string> ids;  // What those are called in the definition.
};
// InvalidArgument: a FieldError, paths in the definition: "study_spec.parameters[2].categorical_value_spec".
absl::StatusOr<Parameters> DecodeParameters(const ::vizier::StudySpec& definition);

// The study that a client defines so. Every definition comes to a study that clients drive, with leases that never expire
// and a stopping rule that judges when asked.
//
// Algorithms: RANDOM_SEARCH, QUASI_RANDOM_SEARCH, GRID_SEARCH and SHUFFLED_GRID_SEARCH are what they say, a grid taking ten
// values of each double; all others that Vizier has are the Gaussian process. A study without a metric to optimize, or
// without parameters, is searched at random where they need one. InvalidArgument: a FieldError; also for any other name.
absl::StatusOr<StudySpec> DecodeDefinition(const StudyName& name,
                                           const ::vizier::StudySpec& definition);

// The definition that the study's client wrote; nothing if no Vizier client made the study.
std::optional<::vizier::StudySpec> OwnDefinition(const StudySpec& spec);

// The definition: the client's own, with the metadata of by now (and, in the namespace "vernier", what stands in for its
// algorithm), or, of a study that no Vizier client made, what Vizier's
// words can say of it: of a parameter with several conditions the first, of a step the values it gives.
::vizier::StudySpec EncodeDefinition(const Study& study);

::vizier::Study::State EncodeState(StudyState state);
void EncodeStudy(const Study& study, ::vizier::Study* out);

// FailedPrecondition: Vizier's clients see the study as INACTIVE or COMPLETED. They may then only read it, report on its
// trials and complete them.
absl::Status CheckChangeable(const Study& study);

}  // namespace vernier::vizier
