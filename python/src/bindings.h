#pragma once

#include "nanobind/nanobind.h"
#include "python/src/backend.h"
#include "python/src/gil.h"

namespace vernier::python {

// The answer of `call`, computed without the GIL.
template <typename Call>
auto Unlocked(const Call& call) {
  const WithoutGil released;
  return call();
}

// Adds the classes Leased and Backend, with the calls of every backend (python/vernier/_core.pyi). Call it once in a module.
nanobind::class_<Backend> DefineBackend(nanobind::module_& module);

}  // namespace vernier::python
