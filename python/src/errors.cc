#include "python/src/errors.h"

#include <string>

#include "nanobind/nanobind.h"
#include "nanobind/stl/string.h"
#include "vernier/core/error.h"

namespace nb = nanobind;

namespace vernier::python {

void Raise(const absl::Status& status) {
  const nb::object error =
      nb::module_::import_("vernier._errors")
          .attr(VERNIER_FROM_STATUS)(absl::StatusCodeToString(status.code()),
                                     std::string(ReasonName(GetReason(status))),
                                     GetField(status).value_or(""),
                                     std::string(status.message()));
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace vernier::python
