#pragma once

#include <string>
#include <vector>

#include "vernier/core/amendment.h"
#include "vernier/core/study.h"

namespace vernier::codec {

// The fields in which two definitions of a study differ, in the words of the study file. Empty if and only if they are
// equal. Values of environment variables are not shown.
std::vector<FieldChange> CompareSpecs(const StudySpec& before, const StudySpec& after);

// "budget.trials 20 → 40"; "job.command" where the values are not shown; "budget.time none → 2h".
std::string DescribeChange(const FieldChange& change);
// The changes of a list, separated by semicolons. Of more than `limit`, the first ones and a count of the others.
std::string DescribeChanges(const std::vector<FieldChange>& changes, std::size_t limit = 8);

}  // namespace vernier::codec
