// vernier._remote: studies of a server. What users see is made of it in python/vernier. Apart from vernier._core, so that
// programs that need no server do not load gRPC.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "nanobind/nanobind.h"
#include "nanobind/stl/map.h"
#include "nanobind/stl/optional.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/unique_ptr.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/server.h"
#include "src/client/access.h"
#include "src/jobs/local_paths.h"
#include "src/submission/code.h"
#include "vernier/client.h"
#include "vernier/core/error.h"
#include "vernier/study_file.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// (whether there is one, the item); (false, None): the stream has ended.
nb::object Take(Stream& stream, double timeout) {
  const Stream::Next next =
      ValueOrRaise(Unlocked([&] { return stream.Take(absl::Seconds(timeout)); }));
  switch (next.state) {
    case Stream::State::kItem:
      return nb::make_tuple(true, next.item);
    case Stream::State::kEnd:
      return nb::make_tuple(false, nb::none());
    default:
      return nb::make_tuple(true, nb::none());
  }
}

std::unique_ptr<Stream> Logs(Server& server,
                             std::int64_t study,
                             std::int64_t trial,
                             bool follow,
                             std::int64_t attempt,
                             const std::string& role,
                             std::optional<std::int32_t> index,
                             std::int64_t tail) {
  return server.Logs({StudyId(study), TrialNumber(trial)},
                     {.follow = follow,
                      .attempt = AttemptNumber(static_cast<std::int32_t>(attempt)),
                      .role = role,
                      .index = index,
                      .tail = tail});
}

nb::tuple Status(Server& server) {
  const ServerStatus status = ValueOrRaise(Unlocked([&] { return server.GetStatus(); }));
  return nb::make_tuple(status.version,
                        status.store,
                        status.process_id,
                        absl::ToDoubleSeconds(status.started - absl::UnixEpoch()),
                        status.studies,
                        status.running_trials,
                        status.resident_bytes);
}

// The definition of a study file, with its paths relative to `folder`. Sends the job's code.
absl::StatusOr<StudySpec> Read(Server& server,
                               const std::string& definition,
                               const std::string& name,
                               const std::string& folder) {
  VERNIER_ASSIGN_OR_RETURN(StudySpec spec, ParseStudyFile(definition, name));
  if (!spec.job.has_value()) return spec;
  jobs::ResolveLocalPaths(folder, *spec.job);
  const auto upload = [&](const std::string& path) { return server.UploadPackage(path); };
  VERNIER_RETURN_IF_ERROR(submission::SendCode(upload, spec).status());
  return spec;
}

std::int64_t Submit(Server& server,
                    const std::string& definition,
                    const std::string& name,
                    const std::string& folder,
                    const std::string& actor) {
  return ValueOrRaise(Unlocked([&]() -> absl::StatusOr<StudyId> {
           VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, Read(server, definition, name, folder));
           return server.CreateStudy(spec, {.actor = actor, .request_id = ""});
         }))
      .value();
}

void Resubmit(Server& server,
              std::int64_t id,
              const std::string& definition,
              const std::string& folder,
              const std::string& actor) {
  OkOrRaise(Unlocked([&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(StudySpec spec, Read(server, definition, "", folder));
    return server.Amend(StudyId(id), {.definition = std::move(spec), .keep_amended = true}, actor);
  }));
}

void Validate(Server& server,
              const std::string& definition,
              const std::string& name,
              const std::string& folder) {
  OkOrRaise(Unlocked([&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const StudySpec spec, Read(server, definition, name, folder));
    return server.ValidateStudy(spec);
  }));
}

// The reports of a program that a server runs.
class Reporter {
 public:
  Reporter(const std::string& address,
           std::string study,
           std::int64_t trial,
           std::string token,
           double timeout)
      : client_(Client::Connect(address,
                                {.timeout = absl::Seconds(timeout), .attempts = kManyAttempts})),
        study_(std::move(study)),
        trial_(trial),
        token_(std::move(token)) {}

  // Whether the program should end.
  absl::StatusOr<bool> Report(std::int64_t step, const std::map<std::string, double>& metrics) {
    VERNIER_ASSIGN_OR_RETURN(
        const Client::Reported reported,
        client_->ReportFromJob(study_, trial_, token_, {{.step = step, .metrics = metrics}}));
    return reported.should_stop;
  }

 private:
  // The time is the bound.
  static constexpr int kManyAttempts = 1'000'000;

  const std::unique_ptr<Client> client_;
  const std::string study_;
  const TrialNumber trial_;
  const std::string token_;
};

void Define(nb::module_& module) {
  nb::class_<Reporter>(module, "Reporter")
      .def(nb::init<const std::string&, std::string, std::int64_t, std::string, double>())
      .def("report",
           [](Reporter& reporter, std::int64_t step, const std::map<std::string, double>& metrics) {
             return ValueOrRaise(Unlocked([&] { return reporter.Report(step, metrics); }));
           });
  nb::class_<Stream>(module, "Stream").def("take", &Take).def("close", [](Stream& stream) {
    Unlocked([&] { stream.Close(); });
  });
  nb::class_<Server>(module, "Server", DefineBackend(module))
      .def("__init__",
           [](Server* server,
              const std::string& address,
              const std::string& token,
              double timeout,
              std::pair<int, int> attempts,
              const std::string& actor) {
             const std::string shown =
                 token.empty() ? ValueOrRaise(client::FindToken(address)) : token;
             new (server) Server(address, shown, absl::Seconds(timeout), attempts, actor);
           })
      .def("abandon", &Server::Abandon)
      // Leases of a server end by themselves.
      .def("tick", [](Server&) {})
      .def("status", &Status)
      .def("submit", &Submit)
      .def("resubmit", &Resubmit)
      .def("validate", &Validate)
      .def("watch",
           [](Server& server, std::int64_t study, std::int64_t after, bool follow) {
             return server.Watch(StudyId(study), EventSeq(after), follow);
           })
      .def("logs",
           &Logs,
           nb::arg(),
           nb::arg(),
           nb::arg(),
           nb::arg(),
           nb::arg(),
           nb::arg().none(),
           nb::arg());
}

}  // namespace
}  // namespace vernier::python

NB_MODULE(_remote, module) { vernier::python::Define(module); }
