#pragma once

#include <string>
#include <string_view>

#include "vernier/core/space.h"

namespace vernier::study {

// The text with every number in it made "#": what two messages about the same thing have in common.
std::string WithoutNumbers(std::string_view text);

// How a trial failed, to be compared with another: the begin of its message, up to the end of the sentence about the replica
// to blame. Left out are which replica that was, numbers, addresses, hashes, temporary files, and the values of the trial's
// parameters.
std::string EndOf(std::string_view message, const Point& point);

}  // namespace vernier::study
