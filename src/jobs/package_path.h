#pragma once

#include <optional>
#include <string>

namespace vernier::jobs {

// The absolute path of a Python package that is a file or folder; relative paths are below `directory`. A name like an
// archive's is a path even if the file is missing. Nothing: a name or a URL for pip.
std::optional<std::string> PathOfPackage(const std::string& package, const std::string& directory);

}  // namespace vernier::jobs
