// vernier._core: the library as plain functions and tuples. What users see is made of it in python/vernier. Each call
// gives the GIL away while the library computes or writes.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nanobind/nanobind.h"
#include "nanobind/stl/map.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/unique_ptr.h"
#include "nanobind/stl/vector.h"
#include "python/src/errors.h"
#include "python/src/store.h"
#include "python/src/values.h"
#include "vernier/core/error.h"
#include "vernier/study_file.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

using Metrics = std::map<std::string, double>;

// The answer of `call`, computed without the GIL.
template <typename Call>
auto Unlocked(const Call& call) {
  const nb::gil_scoped_release release;
  return call();
}

// A trial of a client, and the client's right to it.
struct Leased {
  std::int64_t study = 0;
  std::int64_t number = 0;
  std::string holder;
  std::int64_t token = 0;
  double ttl = 0;  // Seconds from a renewal to the end of the right; may be infinite.

  TrialId id() const { return {StudyId(study), TrialNumber(number)}; }
  LeaseToken lease() const { return {.holder = holder, .token = token}; }
  Caller caller() const { return {.actor = holder, .request_id = ""}; }
};

TrialId IdOf(std::int64_t study, std::int64_t number) {
  return {StudyId(study), TrialNumber(number)};
}

Caller By(const std::string& actor) { return {.actor = actor, .request_id = ""}; }

std::shared_ptr<const StudySpec> SpecOf(Store& store, std::int64_t study) {
  return ValueOrRaise(store.studies().GetDefinition(StudyId(study)));
}

nb::tuple RowOrRaise(Store& store, std::int64_t study, const absl::StatusOr<Trial>& trial) {
  if (!trial.ok()) Raise(trial.status());
  return ToRow(*trial, SpecOf(store, study)->space);
}

nb::list LeasedOrRaise(Store& store,
                       std::int64_t study,
                       const absl::StatusOr<std::vector<Trial>>& trials) {
  if (!trials.ok()) Raise(trials.status());
  const std::shared_ptr<const StudySpec> spec = SpecOf(store, study);
  nb::list list;
  for (const Trial& trial : *trials) {
    list.append(nb::make_tuple(Leased{.study = study,
                                      .number = trial.number.value(),
                                      .holder = trial.lease ? trial.lease->holder : "",
                                      .token = trial.lease ? trial.lease->token : 0,
                                      .ttl = absl::ToDoubleSeconds(spec->lease.ttl)},
                               ToDict(trial.point, spec->space),
                               trial.suggestion.origin));
  }
  return list;
}

// --- studies ---
std::int64_t CreateStudy(Store& store, const std::string& definition, const std::string& actor) {
  const auto study = Unlocked([&]() -> absl::StatusOr<Study> {
    VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, ParseStudyFile(definition));
    return store.studies().CreateStudy(spec, By(actor));
  });
  return ValueOrRaise(study).id.value();
}

// Gives the study the whole new definition, of which only some parts may differ from its own.
void RedefineStudy(Store& store,
                   std::int64_t id,
                   const std::string& definition,
                   const std::string& actor) {
  OkOrRaise(Unlocked([&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(StudySpec spec, ParseStudyFile(definition));
    const Amendment change = {.definition = std::move(spec), .keep_amended = true};
    return store.studies().Amend(StudyId(id), change, By(actor)).status();
  }));
}

nb::list StudyNames(Store& store) {
  nb::list names;
  const auto studies = Unlocked([&] { return store.studies().ListStudies(); });
  for (const Study& study : ValueOrRaise(studies)) names.append(study.spec.name);
  return names;
}

std::string Definition(Store& store, std::int64_t id) {
  return ValueOrRaise(Unlocked([&]() -> absl::StatusOr<std::string> {
    VERNIER_ASSIGN_OR_RETURN(const auto spec, store.studies().GetDefinition(StudyId(id)));
    return FormatStudyFile(*spec);
  }));
}

nb::tuple Replay(Store& store, std::int64_t id) {
  const ReplayReport report =
      ValueOrRaise(Unlocked([&] { return store.studies().Replay(StudyId(id)); }));
  nb::list problems;
  for (const ReplayReport::Line& line : report.problems) {
    problems.append(nb::make_tuple(
        line.trial.value(), line.result == ReplayReport::Line::Result::kDiverged, line.detail));
  }
  return nb::make_tuple(report.suggestions, report.stops, report.verified, problems);
}

// --- trials ---
nb::list Suggest(Store& store, std::int64_t id, std::size_t count, const std::string& holder) {
  const auto trials =
      Unlocked([&] { return store.studies().Suggest(StudyId(id), count, holder, By(holder), {}); });
  return LeasedOrRaise(store, id, trials);
}

// The trials that clients have.
nb::list ListLeased(Store& store, std::int64_t id) {
  std::vector<Trial> leased;
  OkOrRaise(Unlocked([&] {
    TrialScan scan;
    scan.states = {TrialState::kRunning, TrialState::kStopping};
    return store.studies().ScanTrials(StudyId(id), scan, [&](Trial trial) {
      if (trial.lease.has_value()) leased.push_back(std::move(trial));
      return true;
    });
  }));
  return LeasedOrRaise(store, id, leased);
}

nb::list ListTrials(Store& store, std::int64_t id) {
  nb::list rows;
  const auto trials = Unlocked([&] { return store.studies().ListTrials(StudyId(id)); });
  const std::shared_ptr<const StudySpec> spec = SpecOf(store, id);
  for (const Trial& trial : ValueOrRaise(trials)) rows.append(ToRow(trial, spec->space));
  return rows;
}

nb::tuple Report(Store& store, const Leased& leased, std::int64_t step, const Metrics& metrics) {
  const auto reported = ValueOrRaise(Unlocked([&] {
    return store.studies().Report(
        leased.id(), {{.step = step, .metrics = metrics}}, leased.lease(), leased.caller());
  }));
  const auto& stop = reported.trial.stop;
  return nb::make_tuple(reported.stop, stop.has_value() ? stop->explanation : "");
}

nb::tuple Complete(Store& store, const Leased& leased, const Metrics& metrics, std::int64_t step) {
  return RowOrRaise(
      store, leased.study, Unlocked([&] {
        return store.studies().Complete(
            leased.id(), {.step = step, .metrics = metrics}, leased.lease(), leased.caller());
      }));
}

nb::tuple Fail(Store& store, const Leased& leased, bool lost, const std::string& message) {
  return RowOrRaise(store, leased.study, Unlocked([&] {
                      return store.studies().Fail(
                          leased.id(),
                          lost ? FailureClass::kLost : FailureClass::kUserError,
                          message,
                          leased.lease(),
                          leased.caller());
                    }));
}

nb::tuple MarkInfeasible(Store& store, const Leased& leased, const std::string& message) {
  return RowOrRaise(store, leased.study, Unlocked([&] {
                      return store.studies().MarkInfeasible(
                          leased.id(), message, {}, leased.lease(), leased.caller());
                    }));
}

nb::tuple AddTrial(Store& store,
                   std::int64_t id,
                   const nb::dict& point,
                   const std::optional<Metrics>& metrics,
                   const std::string& actor) {
  TrialAddition addition;
  addition.point = ToPoint(point);
  if (metrics.has_value()) addition.last = Measurement{.metrics = *metrics};
  return RowOrRaise(store, id, Unlocked([&] {
                      return store.studies().AddTrial(StudyId(id), addition, By(actor));
                    }));
}

nb::list Predict(Store& store, std::int64_t id, const nb::list& points) {
  std::vector<Point> wanted;
  for (const nb::handle point : points) wanted.push_back(ToPoint(nb::cast<nb::dict>(point)));
  return ToPredictions(ValueOrRaise(Unlocked(
      [&] { return store.studies().Predict(StudyId(id), std::move(wanted), std::stop_token()); })));
}

void DefineStudies(nb::class_<Store>& type) {
  type.def("create_study", &CreateStudy)
      .def("redefine_study", &RedefineStudy)
      .def("find_study",
           [](Store& store, const std::string& name) {
             return ValueOrRaise(Unlocked([&] { return store.studies().FindStudyId(name); }))
                 .value();
           })
      .def("study",
           [](Store& store, std::int64_t id) {
             return ToRow(
                 ValueOrRaise(Unlocked([&] { return store.studies().GetStudy(StudyId(id)); })));
           })
      .def("study_names", &StudyNames)
      .def("definition", &Definition)
      .def("replay", &Replay)
      .def("finish_study",
           [](Store& store, std::int64_t id, const std::string& reason, const std::string& actor) {
             OkOrRaise(Unlocked(
                 [&] { return store.studies().Finish(StudyId(id), reason, By(actor)).status(); }));
           })
      .def("delete_study",
           [](Store& store, const std::string& name, bool force, const std::string& actor) {
             OkOrRaise(Unlocked([&] { return store.studies().Delete(name, force, By(actor)); }));
           })
      .def("tick", [](Store& store) {
        OkOrRaise(Unlocked([&] { return store.studies().Tick().status(); }));
      });
}

void DefineTrials(nb::class_<Store>& type) {
  type.def("suggest", &Suggest)
      .def("leased", &ListLeased)
      .def("trials", &ListTrials)
      .def("trial",
           [](Store& store, std::int64_t study, std::int64_t number) {
             return RowOrRaise(store, study, Unlocked([&] {
                                 return store.studies().GetTrial(IdOf(study, number));
                               }));
           })
      .def("curve",
           [](Store& store, std::int64_t study, std::int64_t number) {
             return ToCurve(ValueOrRaise(
                 Unlocked([&] { return store.studies().ListMeasurements(IdOf(study, number)); })));
           })
      .def("report", &Report)
      .def("heartbeat",
           [](Store& store, const Leased& leased) {
             OkOrRaise(Unlocked(
                 [&] { return store.studies().Heartbeat(leased.id(), leased.lease()).status(); }));
           })
      .def("complete", &Complete)
      .def("fail", &Fail)
      .def("mark_infeasible", &MarkInfeasible)
      .def("stop_trial",
           [](Store& store,
              std::int64_t study,
              std::int64_t number,
              const std::string& reason,
              const std::string& actor) {
             return RowOrRaise(store, study, Unlocked([&] {
                                 return store.studies().StopTrial(
                                     IdOf(study, number), reason, By(actor));
                               }));
           })
      .def("add_trial", &AddTrial)
      .def("predict", &Predict);
}

}  // namespace
}  // namespace vernier::python

NB_MODULE(_core, module) {
  using vernier::python::Leased;
  using vernier::python::Store;

  // Threads that an interrupt has left behind hold trials until the end of the process.
  nb::set_leak_warnings(false);
  nb::class_<Leased>(module, "Leased")
      .def_ro("study", &Leased::study)
      .def_ro("number", &Leased::number)
      .def_ro("holder", &Leased::holder)
      .def_ro("ttl", &Leased::ttl);
  nb::class_<Store> store(module, "Store");
  store.def_static("open", [](const std::string& path) {
    return vernier::python::ValueOrRaise(
        vernier::python::Unlocked([&] { return Store::Open(path); }));
  });
  store.def("abandon", &Store::Abandon);
  vernier::python::DefineStudies(store);
  vernier::python::DefineTrials(store);
  module.attr("version") = VERNIER_VERSION;
}
