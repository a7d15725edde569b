#pragma once

#include <optional>
#include <string>

namespace vernier::jobs {

// The file or folder that a Python package is, absolute; relative ones are below the folder. What is named like an archive
// is one, there or not. Nothing: it is a name or a URL for pip.
std::optional<std::string> PathOfPackage(const std::string& package, const std::string& directory);

}  // namespace vernier::jobs
