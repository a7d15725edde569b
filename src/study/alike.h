#pragma once

#include <string>
#include <string_view>

namespace vernier::study {

// The text with every number in it made "#": what two messages about the same thing have in common.
std::string WithoutNumbers(std::string_view text);

}  // namespace vernier::study
