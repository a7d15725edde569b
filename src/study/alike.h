#pragma once

#include <string>
#include <string_view>

#include "vernier/core/space.h"

namespace vernier::study {

// The text with every number replaced by "#", so that messages about the same thing compare equal.
std::string WithoutNumbers(std::string_view text);

// How a trial failed, in a form to compare with others: the beginning of its message, up to the end
// of the sentence about the replica to blame, without that replica's name, numbers, addresses,
// hashes, temporary files and the values of the trial's parameters.
std::string EndOf(std::string_view message, const Point& point);

}  // namespace vernier::study
