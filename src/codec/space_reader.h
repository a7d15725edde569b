#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "src/codec/mapping.h"
#include "vernier/core/space.h"

namespace vernier::codec {

// The `parameters` of a study file, in their order. Values of conditions and defaults have the type that their domain
// holds where the text allows it (16 of a discrete parameter is a double); the rest is for Space::Create to judge.
// How a program is given them is for src/codec/argument_form.h to read.
absl::StatusOr<std::vector<Parameter>> ReadParameters(const Json& json,
                                                      const std::string& path,
                                                      UnknownKeys unknown_keys);
Json ParametersToJson(const std::vector<Parameter>& parameters);

}  // namespace vernier::codec
