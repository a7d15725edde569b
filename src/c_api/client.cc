#include "vernier/client.h"

#include <cmath>
#include <cstdint>
#include <map>

#include "src/c_api/handles.h"
#include "vernier/study_file.h"

struct vn_client {
  std::unique_ptr<vernier::Client> client;
};

namespace vernier::c_api {
namespace {

// A trial that a client may work on, and its study. Both are borrowed from the list that the caller passes.
struct Leased {
  const std::string* study = nullptr;
  const Trial* trial = nullptr;
};
absl::StatusOr<Leased> FindLeased(const vn_trials* trials, std::size_t index) {
  VERNIER_RETURN_IF_ERROR(CheckGiven(trials, "trials"));
  if (index >= trials->trials.size()) {
    return NotFound("there is no trial at index {} of {}", index, trials->trials.size());
  }
  // Trials of an ask-tell loop have no study on a server.
  if (trials->study.empty()) return FieldError("trials", "are of no server");
  return Leased{.study = &trials->study, .trial = &trials->trials[index]};
}

absl::StatusOr<std::map<std::string, double>> ReadMetrics(const char* const* metrics,
                                                          const double* values,
                                                          std::size_t count) {
  std::map<std::string, double> read;
  // Without metrics the arrays may be NULL.
  if (count == 0) return read;
  VERNIER_RETURN_IF_ERROR(CheckGiven(metrics, "metrics"));
  VERNIER_RETURN_IF_ERROR(CheckGiven(values, "values"));
  for (std::size_t i = 0; i < count; ++i) {
    VERNIER_RETURN_IF_ERROR(CheckGiven(metrics[i], "metrics"));
    // Of a metric that is given twice, the last value counts.
    read[metrics[i]] = values[i];
  }
  return read;
}

// Texts that may be left out are NULL or empty, alike.
const char* Text(const char* text) { return text == nullptr ? "" : text; }

// Calls work(client, leased) about one of the trials.
template <typename Work>
vn_code RunAbout(
    vn_client* client, const vn_trials* trials, std::size_t index, vn_error** error, Work work) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(client, "client"));
    VERNIER_ASSIGN_OR_RETURN(const Leased leased, FindLeased(trials, index));
    return work(*client->client, leased);
  });
}

// Calls work(client) about the study.
template <typename Work>
vn_code RunOn(vn_client* client, const char* study, vn_error** error, Work work) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(client, "client"));
    VERNIER_RETURN_IF_ERROR(CheckGiven(study, "study"));
    return work(*client->client);
  });
}

}  // namespace
}  // namespace vernier::c_api

using vernier::Client;
using vernier::c_api::CheckGiven;
using vernier::c_api::Leased;
using vernier::c_api::NewTrials;
using vernier::c_api::ReadMetrics;
using vernier::c_api::Run;
using vernier::c_api::RunAbout;
using vernier::c_api::RunOn;
using vernier::c_api::Text;

vn_code vn_client_new(const char* address, const char* name, vn_client** result, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(address, "address"));
    VERNIER_RETURN_IF_ERROR(CheckGiven(name, "name"));
    VERNIER_RETURN_IF_ERROR(CheckGiven(result, "result"));
    // Leases go by the name: clients without one would hold each other's trials.
    if (*name == '\0') return vernier::FieldError("name", "must not be empty");
    // Does not wait for a server. That there is none is told by the first call.
    *result = new vn_client{.client = Client::Connect(address, {.name = name})};
    return absl::OkStatus();
  });
}

vn_code vn_client_create_study(vn_client* client, const char* study_file, vn_error** error) {
  return Run(error, [&]() -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(client, "client"));
    VERNIER_RETURN_IF_ERROR(CheckGiven(study_file, "study_file"));
    // Here a study needs the name that the file gives it.
    VERNIER_ASSIGN_OR_RETURN(const vernier::StudySpec spec, vernier::ParseStudyFile(study_file));
    return client->client->CreateStudy(spec).status();
  });
}

vn_code vn_client_study_state(vn_client* client,
                              const char* study,
                              const char** state,
                              vn_error** error) {
  return RunOn(client, study, error, [&](Client& server) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(state, "state"));
    VERNIER_ASSIGN_OR_RETURN(const vernier::Study found, server.GetStudy(study));
    // A literal, so that the caller need not free it, and it outlives the client.
    *state = vernier::StudyStateName(found.state).data();
    return absl::OkStatus();
  });
}

vn_code vn_client_stop_study(vn_client* client,
                             const char* study,
                             const char* reason,
                             vn_error** error) {
  return RunOn(client, study, error, [&](Client& server) {
    return server.StopStudy(study, Text(reason)).status();
  });
}

vn_code vn_client_delete_study(vn_client* client, const char* study, int force, vn_error** error) {
  return RunOn(
      client, study, error, [&](Client& server) { return server.DeleteStudy(study, force != 0); });
}

vn_code vn_client_list_trials(vn_client* client,
                              const char* study,
                              const char* filter,
                              const char* order_by,
                              int64_t limit,
                              vn_trials** result,
                              vn_error** error) {
  return RunOn(client, study, error, [&](Client& server) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(result, "result"));
    // A negative limit would ask for all, which is what 0 is for.
    if (limit < 0) return vernier::FieldError("limit", "must not be negative");
    VERNIER_ASSIGN_OR_RETURN(
        std::vector<vernier::Trial> trials,
        server.ListTrials(study,
                          {.filter = Text(filter), .order_by = Text(order_by), .limit = limit}));
    *result = NewTrials(study, std::move(trials)).release();
    return absl::OkStatus();
  });
}

vn_code vn_client_suggest(
    vn_client* client, const char* study, int32_t count, vn_trials** result, vn_error** error) {
  return RunOn(client, study, error, [&](Client& server) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(CheckGiven(result, "result"));
    if (count < 1) return vernier::FieldError("count", "must be at least 1");
    VERNIER_ASSIGN_OR_RETURN(std::vector<vernier::Trial> trials,
                             server.SuggestTrials(study, count));
    *result = NewTrials(study, std::move(trials)).release();
    return absl::OkStatus();
  });
}

vn_code vn_client_report(vn_client* client,
                         const vn_trials* trials,
                         size_t index,
                         int64_t step,
                         const char* const* metrics,
                         const double* values,
                         size_t count,
                         int* should_stop,
                         vn_error** error) {
  return RunAbout(
      client, trials, index, error, [&](Client& server, const Leased& leased) -> absl::Status {
        VERNIER_ASSIGN_OR_RETURN(auto read, ReadMetrics(metrics, values, count));
        VERNIER_ASSIGN_OR_RETURN(
            const Client::Reported reported,
            server.Report(
                *leased.study, *leased.trial, {{.step = step, .metrics = std::move(read)}}));
        // May be NULL: not every program can stop early.
        if (should_stop != nullptr) *should_stop = reported.should_stop ? 1 : 0;
        return absl::OkStatus();
      });
}

vn_code vn_client_heartbeat(vn_client* client,
                            const vn_trials* trials,
                            size_t index,
                            vn_error** error) {
  return RunAbout(client, trials, index, error, [&](Client& server, const Leased& leased) {
    return server.Heartbeat(*leased.study, *leased.trial).status();
  });
}

vn_code vn_client_complete(vn_client* client,
                           const vn_trials* trials,
                           size_t index,
                           const char* const* metrics,
                           const double* values,
                           size_t count,
                           vn_error** error) {
  return RunAbout(
      client, trials, index, error, [&](Client& server, const Leased& leased) -> absl::Status {
        VERNIER_ASSIGN_OR_RETURN(const auto read, ReadMetrics(metrics, values, count));
        return server.Complete(*leased.study, *leased.trial, read).status();
      });
}

vn_code vn_client_fail(vn_client* client,
                       const vn_trials* trials,
                       size_t index,
                       const char* message,
                       vn_error** error) {
  return RunAbout(client, trials, index, error, [&](Client& server, const Leased& leased) {
    return server
        // Programs that use this interface have no other class to give: they failed by themselves.
        .Fail(*leased.study, *leased.trial, vernier::FailureClass::kUserError, Text(message))
        .status();
  });
}

vn_code vn_client_mark_infeasible(vn_client* client,
                                  const vn_trials* trials,
                                  size_t index,
                                  const char* message,
                                  vn_error** error) {
  return RunAbout(client, trials, index, error, [&](Client& server, const Leased& leased) {
    return server.MarkInfeasible(*leased.study, *leased.trial, Text(message)).status();
  });
}

void vn_client_free(vn_client* client) { delete client; }
