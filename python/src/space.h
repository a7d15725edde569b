#pragma once

#include "nanobind/nanobind.h"
#include "vernier/core/space.h"

namespace vernier::python {

// A search space as Python sees it: vernier._core.Space.
struct SpaceObject {
  Space space;
};

void DefineSpace(nanobind::module_& module);

}  // namespace vernier::python
