#include "python/src/space.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/errors.h"
#include "python/src/values.h"
#include "vernier/core/error.h"
#include "vernier/core/unit_cube.h"
#include "vernier/study_file.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

template <typename Range>
nb::tuple RangeArguments(const Range& range) {
  return nb::make_tuple(range.lower,
                        range.upper,
                        range.scale == Scale::kLog,
                        range.scale == Scale::kReverseLog,
                        range.step,
                        range.points);
}

struct ToArguments {
  nb::tuple operator()(const FloatDomain& domain) const {
    return nb::make_tuple("Float", RangeArguments(domain));
  }
  nb::tuple operator()(const IntDomain& domain) const {
    return nb::make_tuple("Int", RangeArguments(domain));
  }
  nb::tuple operator()(const DiscreteDomain& domain) const {
    return nb::make_tuple("Discrete", nb::make_tuple(domain.values));
  }
  nb::tuple operator()(const CategoricalDomain& domain) const {
    return nb::make_tuple("Categorical", nb::make_tuple(ToList(domain.values)));
  }
  nb::tuple operator()(const BoolDomain& /*domain*/) const {
    return nb::make_tuple("Bool", nb::make_tuple());
  }
};

// (name, kind, its arguments, conditions, default) of each parameter.
nb::list Parameters(const SpaceObject& self) {
  nb::list rows;
  for (const Parameter& parameter : self.space.parameters()) {
    nb::dict when;
    for (const Condition& condition : parameter.when) {
      when[condition.parent.c_str()] = ToList(condition.values);
    }
    const nb::tuple domain = std::visit(ToArguments(), parameter.domain);
    const nb::object standard =
        parameter.default_value ? ToObject(*parameter.default_value) : nb::none();
    rows.append(nb::make_tuple(parameter.name, domain[0], domain[1], when, standard));
  }
  return rows;
}

// The point with numbers of the kinds of their parameters, checked.
Point CheckedPoint(const SpaceObject& self, const nb::dict& values) {
  Point point = self.space.InKind(ToPoint(values));
  OkOrRaise(self.space.Check(point));
  return point;
}

nb::dict Decode(const SpaceObject& self, const std::vector<double>& coordinates) {
  const std::size_t wanted = self.space.parameters().size();
  if (coordinates.size() != wanted) {
    Raise(FieldError("coordinates",
                     "must be " + std::to_string(wanted) +
                         " numbers, one for each parameter, got " +
                         std::to_string(coordinates.size())));
  }
  return ToDict(DecodePoint(self.space, coordinates), self.space);
}

}  // namespace

void DefineSpace(nb::module_& module) {
  nb::class_<SpaceObject>(module, "Space")
      .def_static("parse",
                  [](const std::string& definition) {
                    return SpaceObject{ValueOrRaise(ParseStudyFile(definition)).space};
                  })
      .def("parameters", &Parameters)
      .def("constraints", [](const SpaceObject& self) { return self.space.constraints(); })
      .def("checked",
           [](const SpaceObject& self, const nb::dict& values) {
             return ToDict(CheckedPoint(self, values), self.space);
           })
      .def("decode", &Decode)
      .def("encode",
           [](const SpaceObject& self, const nb::dict& values) {
             return EncodePoint(self.space, CheckedPoint(self, values));
           })
      .def("embed",
           [](const SpaceObject& self, const nb::dict& values) {
             return EmbedPoint(self.space, CheckedPoint(self, values));
           })
      .def("satisfies",
           [](const SpaceObject& self, const nb::dict& values) {
             return self.space.Satisfies(self.space.InKind(ToPoint(values)));
           })
      .def("key",
           [](const SpaceObject& self, const nb::dict& values) {
             return self.space.Key(CheckedPoint(self, values));
           })
      .def("cardinality", [](const SpaceObject& self) { return self.space.Cardinality(); });
}

}  // namespace vernier::python
