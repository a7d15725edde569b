#pragma once

#include <string>

namespace vernier::launch {

// The last lines of the program in the folder, which usually say why it failed, joined by " | ".
std::string OutputTail(const std::string& folder, int lines = 3);

}  // namespace vernier::launch
