#pragma once

#include <string>
#include <vector>

#include "nanobind/nanobind.h"
#include "python/src/store.h"

namespace vernier::python {

// Returns the number and the name of the study that it made of a file of another tool, and what is otherwise than in it
// (python/vernier/_core.pyi).
nanobind::tuple ImportStudy(Store& store,
                            const std::string& path,
                            const std::string& name,
                            const std::string& study,
                            const std::string& format,
                            const std::vector<std::string>& objectives,
                            const std::string& space,
                            const std::vector<std::string>& parameters,
                            bool in_memory,
                            const std::string& actor);

}  // namespace vernier::python
