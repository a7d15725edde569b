#pragma once

#include <cstdint>
#include <string>

namespace vernier::base {

// "512 MiB", "4.0 GiB".
std::string FormatBytes(std::int64_t bytes);

}  // namespace vernier::base
