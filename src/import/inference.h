#pragma once

#include <string>
#include <vector>

#include "src/import/source_study.h"

// Definitions that a source does not have, derived from its trials.
namespace vernier::imports {

// Adds each parameter that trials have and the definition lacks: a range or a list of the values that occur. What has the
// same value in every trial is no parameter. Each is noted. Returns the latter, as "lr is 0.1".
std::vector<std::string> InferParameters(SourceStudy& source);

// Adds conditions to parameters that completed trials lack where another parameter tells these trials from those that
// have them: by its values, or, for whole numbers, by a bound. Each is noted, and where none was found, too.
void InferConditions(SourceStudy& source);

}  // namespace vernier::imports
