#include "python/src/bindings.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nanobind/stl/map.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/vector.h"
#include "python/src/errors.h"
#include "python/src/values.h"
#include "vernier/core/error.h"
#include "vernier/study_file.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

using Metrics = std::map<std::string, double>;

// A trial of a client, and the client's right to it.
struct Leased {
  std::int64_t study = 0;
  std::int64_t number = 0;
  std::string holder;
  std::int64_t token = 0;
  double ttl = 0;  // Seconds from a renewal to the end of the right; may be infinite.

  TrialId id() const { return {StudyId(study), TrialNumber(number)}; }
  LeaseToken lease() const { return {.holder = holder, .token = token}; }
};

// Of this module or of the other one, whose class is another: a trial that was leased in a file may be told to the server that
// has opened the file since.
Leased ToLeased(const nb::object& leased) {
  return {.study = nb::cast<std::int64_t>(leased.attr("study")),
          .number = nb::cast<std::int64_t>(leased.attr("number")),
          .holder = nb::cast<std::string>(leased.attr("holder")),
          .token = nb::cast<std::int64_t>(leased.attr("token"))};
}

TrialId IdOf(std::int64_t study, std::int64_t number) {
  return {StudyId(study), TrialNumber(number)};
}

std::shared_ptr<const StudySpec> SpecOf(Backend& backend, std::int64_t study) {
  return ValueOrRaise(Unlocked([&] { return backend.GetDefinition(StudyId(study)); }));
}

nb::tuple RowOrRaise(Backend& backend, std::int64_t study, const absl::StatusOr<Trial>& trial) {
  if (!trial.ok()) Raise(trial.status());
  return ToRow(*trial, *SpecOf(backend, study));
}

nb::list LeasedOrRaise(Backend& backend,
                       std::int64_t study,
                       const absl::StatusOr<std::vector<Trial>>& trials) {
  if (!trials.ok()) Raise(trials.status());
  const std::shared_ptr<const StudySpec> spec = SpecOf(backend, study);
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
std::int64_t CreateStudy(Backend& backend,
                         const std::string& definition,
                         const std::string& actor,
                         const std::string& request_id) {
  return ValueOrRaise(Unlocked([&]() -> absl::StatusOr<StudyId> {
           VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, ParseStudyFile(definition));
           return backend.CreateStudy(spec, {.actor = actor, .request_id = request_id});
         }))
      .value();
}

// Gives the study the whole new definition, of which only some parts may differ from its own.
void RedefineStudy(Backend& backend,
                   std::int64_t id,
                   const std::string& definition,
                   const std::string& actor) {
  OkOrRaise(Unlocked([&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(StudySpec spec, ParseStudyFile(definition));
    return backend.Amend(StudyId(id), {.definition = std::move(spec), .keep_amended = true}, actor);
  }));
}

nb::list StudyNames(Backend& backend) {
  nb::list names;
  const auto studies = Unlocked([&] { return backend.ListStudies(); });
  for (const Study& study : ValueOrRaise(studies)) names.append(study.spec.name);
  return names;
}

std::string Definition(Backend& backend, std::int64_t id) {
  return ValueOrRaise(Unlocked([&]() -> absl::StatusOr<std::string> {
    VERNIER_ASSIGN_OR_RETURN(const Study study, backend.GetStudy(StudyId(id)));
    return FormatStudyFile(study.spec);
  }));
}

nb::tuple Replay(Backend& backend, std::int64_t id) {
  const ReplayReport report = ValueOrRaise(Unlocked([&] { return backend.Replay(StudyId(id)); }));
  nb::list problems;
  for (const ReplayReport::Line& line : report.problems) {
    problems.append(nb::make_tuple(
        line.trial.value(), line.result == ReplayReport::Line::Result::kDiverged, line.detail));
  }
  return nb::make_tuple(report.suggestions, report.stops, report.verified, problems);
}

// --- trials ---
nb::list ListTrials(Backend& backend, std::int64_t id) {
  nb::list rows;
  const auto trials = ValueOrRaise(Unlocked([&] { return backend.ListTrials(StudyId(id)); }));
  const std::shared_ptr<const StudySpec> spec = SpecOf(backend, id);
  for (const Trial& trial : trials) rows.append(ToRow(trial, *spec));
  return rows;
}

nb::tuple Report(Backend& backend,
                 const nb::object& held,
                 std::int64_t step,
                 const Metrics& metrics) {
  const Leased leased = ToLeased(held);
  const auto reported = ValueOrRaise(Unlocked([&] {
    return backend.Report(leased.id(), {.step = step, .metrics = metrics}, leased.lease());
  }));
  const auto& stop = reported.trial.stop;
  return nb::make_tuple(reported.stop, stop.has_value() ? stop->explanation : "");
}

nb::tuple End(Backend& backend, const nb::object& held, const TrialEnd& end) {
  const Leased leased = ToLeased(held);
  return RowOrRaise(backend, leased.study, Unlocked([&] {
                      return backend.End(leased.id(), end, leased.lease());
                    }));
}

nb::tuple Complete(Backend& backend,
                   const nb::object& held,
                   const Metrics& metrics,
                   std::int64_t step) {
  return End(backend, held, {.last = {.step = step, .metrics = metrics}, .message = ""});
}

nb::tuple Fail(Backend& backend, const nb::object& held, bool lost, const std::string& message) {
  return End(backend,
             held,
             {.kind = TrialEnd::Kind::kFailed,
              .last = {},
              .failure = lost ? FailureClass::kLost : FailureClass::kUserError,
              .message = message});
}

nb::tuple MarkInfeasible(Backend& backend, const nb::object& held, const std::string& message) {
  return End(backend, held, {.kind = TrialEnd::Kind::kInfeasible, .last = {}, .message = message});
}

nb::tuple AddTrial(Backend& backend,
                   std::int64_t id,
                   const nb::dict& point,
                   const std::optional<Metrics>& metrics,
                   const std::string& actor,
                   const std::string& request_id) {
  TrialAddition addition;
  addition.point = ToPoint(point);
  if (metrics.has_value()) addition.last = Measurement{.metrics = *metrics};
  const Caller caller = {.actor = actor, .request_id = request_id};
  return RowOrRaise(
      backend, id, Unlocked([&] { return backend.AddTrial(StudyId(id), addition, caller); }));
}

nb::list Predict(Backend& backend, std::int64_t id, const nb::list& points) {
  std::vector<Point> wanted;
  for (const nb::handle point : points) wanted.push_back(ToPoint(nb::cast<nb::dict>(point)));
  return ToPredictions(
      ValueOrRaise(Unlocked([&] { return backend.Predict(StudyId(id), std::move(wanted)); })));
}

void DefineStudies(nb::class_<Backend>& type) {
  type.def("create_study", &CreateStudy)
      .def("redefine_study", &RedefineStudy)
      .def("find_study",
           [](Backend& backend, const std::string& name) {
             return ValueOrRaise(Unlocked([&] { return backend.FindStudy(name); })).value();
           })
      .def("study",
           [](Backend& backend, std::int64_t id) {
             return ToRow(ValueOrRaise(Unlocked([&] { return backend.GetStudy(StudyId(id)); })));
           })
      .def("study_names", &StudyNames)
      .def("definition", &Definition)
      .def("replay", &Replay)
      .def("pause_study",
           [](Backend& backend, std::int64_t id, const std::string& actor) {
             OkOrRaise(Unlocked([&] { return backend.Pause(StudyId(id), actor); }));
           })
      .def("resume_study",
           [](Backend& backend, std::int64_t id, const std::string& actor) {
             OkOrRaise(Unlocked([&] { return backend.Resume(StudyId(id), actor); }));
           })
      .def("stop_study",
           [](Backend& backend,
              std::int64_t id,
              const std::string& reason,
              const std::string& actor) {
             OkOrRaise(Unlocked([&] { return backend.Stop(StudyId(id), reason, actor); }));
           })
      .def("finish_study",
           [](Backend& backend,
              std::int64_t id,
              const std::string& reason,
              const std::string& actor) {
             OkOrRaise(Unlocked([&] { return backend.Finish(StudyId(id), reason, actor); }));
           })
      .def("delete_study",
           [](Backend& backend, const std::string& name, bool force, const std::string& actor) {
             OkOrRaise(Unlocked([&] { return backend.Delete(name, force, actor); }));
           });
}

void DefineTrials(nb::class_<Backend>& type) {
  type.def("suggest",
           [](Backend& backend, std::int64_t id, std::size_t count, const std::string& holder) {
             return LeasedOrRaise(backend, id, Unlocked([&] {
                                    return backend.Suggest(StudyId(id), count, holder);
                                  }));
           })
      .def("leased",
           [](Backend& backend, std::int64_t id) {
             return LeasedOrRaise(
                 backend, id, Unlocked([&] { return backend.ListLeased(StudyId(id)); }));
           })
      .def("trials", &ListTrials)
      .def("trial",
           [](Backend& backend, std::int64_t study, std::int64_t number) {
             return RowOrRaise(
                 backend, study, Unlocked([&] { return backend.GetTrial(IdOf(study, number)); }));
           })
      .def("curve",
           [](Backend& backend, std::int64_t study, std::int64_t number) {
             return ToCurve(ValueOrRaise(
                 Unlocked([&] { return backend.ListMeasurements(IdOf(study, number)); })));
           })
      .def("report", &Report)
      .def("heartbeat",
           [](Backend& backend, const nb::object& held) {
             const Leased leased = ToLeased(held);
             OkOrRaise(Unlocked([&] { return backend.Heartbeat(leased.id(), leased.lease()); }));
           })
      .def("end_lease",
           [](Backend& backend, const nb::object& held, const std::string& actor) {
             const Leased leased = ToLeased(held);
             OkOrRaise(
                 Unlocked([&] { return backend.EndLease(leased.id(), leased.lease(), actor); }));
           })
      .def("complete", &Complete)
      .def("fail", &Fail)
      .def("mark_infeasible", &MarkInfeasible)
      .def("stop_trial",
           [](Backend& backend,
              std::int64_t study,
              std::int64_t number,
              const std::string& reason,
              const std::string& actor) {
             return RowOrRaise(backend, study, Unlocked([&] {
                                 return backend.StopTrial(IdOf(study, number), reason, actor);
                               }));
           })
      .def("add_trial", &AddTrial)
      .def("predict", &Predict);
}

}  // namespace

nb::class_<Backend> DefineBackend(nb::module_& module) {
  // Threads that an interrupt has left behind hold trials until the end of the process.
  nb::set_leak_warnings(false);
  nb::class_<Leased>(module, "Leased")
      .def_ro("study", &Leased::study)
      .def_ro("number", &Leased::number)
      .def_ro("holder", &Leased::holder)
      .def_ro("token", &Leased::token)
      .def_ro("ttl", &Leased::ttl);
  nb::class_<Backend> backend(module, "Backend");
  DefineStudies(backend);
  DefineTrials(backend);
  return backend;
}

}  // namespace vernier::python
