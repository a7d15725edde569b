#pragma once

#include <map>
#include <string>
#include <vector>

#include "nanobind/nanobind.h"
#include "vernier/core/space.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/optimizer.h"

// Values of the library as plain Python objects, and back. All of it needs the GIL.
namespace vernier::python {

nanobind::object ToObject(const ParameterValue& value);
nanobind::list ToList(const std::vector<ParameterValue>& values);
// The point's values in the order of the space. Values of a discrete parameter of whole numbers are ints, so that
// programs can count with them.
nanobind::dict ToDict(const Point& point, const Space& space);
nanobind::dict ToDict(const std::map<std::string, double>& metrics);
// `values`: bool, int, float or str by name.  Raises TypeError for other types, OverflowError for an int of more than
// 64 bits.
Point ToPoint(const nanobind::dict& values);

// (name, fields as in a study file) of each parameter: ("lr", {"float": [1e-5, 0.1], "scale": "log"}).
nanobind::list ToList(const Space& space);
// The fields of vernier.TrialRecord, in their order.
nanobind::tuple ToRow(const Trial& trial, const StudySpec& spec);
// The fields of vernier._core.StudyRow, in their order.
nanobind::tuple ToRow(const Study& study);
// (step, seconds since the start, metrics) of each measurement.
nanobind::list ToCurve(const std::vector<Measurement>& measurements);
// (mean, deviation, {other metric: (mean, deviation)}) of each point.
nanobind::list ToPredictions(const std::vector<PredictedPoint>& points);

}  // namespace vernier::python
