#pragma once

#include <string>

namespace vernier::launch {

// The last lines that the program in the folder printed, which as a rule say why it failed, with " | " between them.
std::string OutputTail(const std::string& folder, int lines = 3);

}  // namespace vernier::launch
