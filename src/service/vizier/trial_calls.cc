#include <optional>
#include <stop_token>
#include <utility>

#include "fmt/format.h"
#include "src/core/objectives.h"
#include "src/service/vizier/definition.h"
#include "src/service/vizier/reply.h"
#include "src/service/vizier/trials.h"
#include "src/service/vizier/vizier_service.h"
#include "src/wire/time_proto.h"
#include "vernier/core/limits.h"

namespace vernier::vizier {
namespace {

constexpr char kSuggestionsType[] = "type.googleapis.com/vizier.SuggestTrialsResponse";

// Who works on the trial, as far as the request says nothing of it.
Caller CallerOf(const Trial& trial) {
  // One that is too long was stored before there was a bound.
  const bool is_fit = !trial.client.empty() && trial.client.size() <= limits::kClientId;
  return {.actor = is_fit ? trial.client : "vizier", .request_id = ""};
}

// Vizier's calls do not bear the client that makes them: it is the one that has the trial.
// It proves nothing. In studies of Vizier clients that is no loss: leases never expire, so no trial changes hands.
std::optional<LeaseToken> LeaseOf(const Trial& trial) {
  if (!trial.lease) return std::nullopt;
  return LeaseToken{.holder = trial.lease->holder, .token = trial.lease->token};
}

absl::Status CheckHeld(const Trial& trial) {
  if (trial.state == TrialState::kRunning || trial.state == TrialState::kStopping) {
    return absl::OkStatus();
  }
  return WithReason(
      FailedPrecondition(
          "trial {} is {}: nobody works on it", trial.number.value(), TrialStateName(trial.state)),
      IsFinished(trial.state) ? Reason::kTrialFinished : Reason::kIllegalTransition);
}

absl::StatusOr<StudyName> StudyOf(const absl::StatusOr<TrialName>& trial) {
  VERNIER_RETURN_IF_ERROR(trial.status());
  return trial->study;
}

// A trial that ended without a result.
bool IsVain(const Trial& trial) {
  return IsFinished(trial.state) && trial.state != TrialState::kCompleted;
}

}  // namespace

absl::StatusOr<VizierServiceImpl::Found> VizierServiceImpl::FindTrial(std::string_view field,
                                                                      const std::string& resource) {
  VERNIER_ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(field, resource));
  VERNIER_ASSIGN_OR_RETURN(Known study, FindKnown(name.study));
  VERNIER_ASSIGN_OR_RETURN(Trial trial, parts_.studies.GetTrial({study.id, name.number}));
  return Found{.study = std::move(study), .trial = std::move(trial)};
}

absl::StatusOr<VizierServiceImpl::Found> VizierServiceImpl::FindTrialToChange(
    std::string_view field, const std::string& resource) {
  VERNIER_ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(field, resource));
  VERNIER_ASSIGN_OR_RETURN(const Known known, FindKnown(name.study));
  // The state is needed, which FindKnown does not look at.
  VERNIER_ASSIGN_OR_RETURN(const Study study, parts_.studies.GetStudy(known.id));
  VERNIER_RETURN_IF_ERROR(CheckChangeable(study));
  return FindTrial(field, resource);
}

absl::Status VizierServiceImpl::EncodeTrial(const Known& study,
                                            const Trial& trial,
                                            ::vizier::Trial* out) const {
  std::vector<Measurement> measurements;
  // Nothing is read from the store for a trial without a curve.
  if (trial.measurements > 0) {
    VERNIER_ASSIGN_OR_RETURN(measurements,
                             parts_.studies.ListMeasurements({study.id, trial.number}));
  }
  study.codec->Encode(trial, measurements, out);
  return absl::OkStatus();
}

void VizierServiceImpl::AnswerTrial(const Known& study,
                                    const absl::StatusOr<Trial>& trial,
                                    ::vizier::Trial* response,
                                    const Answer& answer) {
  if (!trial.ok()) return answer(trial.status());
  if (trial->measurements == 0) return answer(EncodeTrial(study, *trial, response));
  // This may be the thread that writes for all studies, which must not read from the store.
  side_threads_.Run(
      [this, study, trial, response, answer] { answer(EncodeTrial(study, *trial, response)); });
}

grpc::Status VizierServiceImpl::SuggestTrials(grpc::ServerContext* context,
                                              const ::vizier::SuggestTrialsRequest* request,
                                              google::longrunning::Operation* response) {
  return Reply("vizier.SuggestTrials", [&]() -> absl::Status {
    // The call may have waited long for a thread; nothing is suggested to a client that has left.
    if (context->IsCancelled()) return parts_.calls.Stopped();
    const service::CallWatch::Watched call(parts_.calls,
                                           [context] { return context->IsCancelled(); });
    VERNIER_ASSIGN_OR_RETURN(const Known study, FindKnown("parent", request->parent()));
    const std::int32_t count = request->suggestion_count();
    if (count < 0 || count > limits::kSuggestions) {
      return FieldError("suggestion_count",
                        fmt::format("must be from 1 to {}, got {}", limits::kSuggestions, count));
    }
    ::vizier::SuggestTrialsResponse suggestions;
    wire::EncodeTime(parts_.clock.Now(), suggestions.mutable_start_time());
    const absl::StatusOr<std::vector<Trial>> trials =
        parts_.studies.Suggest(study.id,
                               static_cast<std::size_t>(count == 0 ? 1 : count),
                               request->client_id(),
                               {.actor = request->client_id(), .request_id = ""},
                               call.token());
    // A space or a budget that has nothing left is no error to a Vizier client.
    const bool is_spent =
        absl::IsOutOfRange(trials.status()) || absl::IsResourceExhausted(trials.status());
    if (absl::IsCancelled(trials.status())) return parts_.calls.Stopped();
    if (!trials.ok() && !is_spent) return trials.status();
    if (trials.ok()) {
      for (const Trial& trial : *trials) {
        VERNIER_RETURN_IF_ERROR(EncodeTrial(study, trial, suggestions.add_trials()));
      }
    }
    // A study that was paused or ended meanwhile is an error even if trials were given.
    VERNIER_ASSIGN_OR_RETURN(const Study now, parts_.studies.GetStudy(study.id));
    VERNIER_RETURN_IF_ERROR(CheckChangeable(now));
    suggestions.set_study_state(EncodeState(now.state));
    wire::EncodeTime(parts_.clock.Now(), suggestions.mutable_end_time());
    // Always finished: clients that poll operations never have to.
    response->set_done(true);
    response->mutable_response()->set_type_url(kSuggestionsType);
    response->mutable_response()->set_value(suggestions.SerializeAsString());
    // Kept for clients that ask for the operation again all the same.
    operations_.Add(study.id, study.codec->study(), request->client_id(), *response);
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::GetOperation(
    grpc::ServerContext*,
    const google::longrunning::GetOperationRequest* request,
    google::longrunning::Operation* response) {
  return Reply("vizier.GetOperation", [&]() -> absl::Status {
    std::optional<Operations::StoredOperation> kept = operations_.Find(request->name());
    // Its study may have been deleted through another interface.
    if (kept.has_value()) {
      const absl::StatusOr<StudyId> study = parts_.studies.FindStudyId(StoredName(kept->name));
      if (study.ok() && *study == kept->study) {
        *response = std::move(kept->operation);
        return absl::OkStatus();
      }
      operations_.Forget(kept->study);
    }
    return NotFound(
        "there is no operation '{}': suggestions are answered at once, and the last {} are kept",
        request->name(),
        kOperations);
  });
}

grpc::ServerUnaryReactor* VizierServiceImpl::CreateTrial(
    grpc::CallbackServerContext* context,
    const ::vizier::CreateTrialRequest* request,
    ::vizier::Trial* response) {
  const auto create = [this, request, response](const Known& study,
                                                const Answer& answer) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(TrialAddition addition, study.codec->Decode(request->trial()));
    // Vizier's measurements have no time of their own.
    for (Measurement& measurement : addition.measurements) measurement.time = parts_.clock.Now();
    const auto added = [this, study, response, answer](const absl::StatusOr<Trial>& trial) {
      // It is for clients otherwise.
      if (trial.ok() && study.codec->spec().job.has_value()) parts_.changed();
      AnswerTrial(study, trial, response, answer);
    };
    parts_.studies.AddTrial(
        study.id, std::move(addition), {.actor = "vizier", .request_id = ""}, added);
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "vizier.CreateTrial", ParseStudyName("parent", request->parent()), create);
}

grpc::Status VizierServiceImpl::GetTrial(grpc::ServerContext*,
                                         const ::vizier::GetTrialRequest* request,
                                         ::vizier::Trial* response) {
  return Reply("vizier.GetTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("name", request->name()));
    return EncodeTrial(found.study, found.trial, response);
  });
}

grpc::Status VizierServiceImpl::ListTrials(grpc::ServerContext*,
                                           const ::vizier::ListTrialsRequest* request,
                                           ::vizier::ListTrialsResponse* response) {
  return Reply("vizier.ListTrials", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Known study, FindKnown("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials, parts_.studies.ListTrials(study.id));
    return AddPage(
        *request,
        trials,
        response->mutable_trials(),
        response->mutable_next_page_token(),
        [](const Trial& trial) { return trial.number.value(); },
        [&](const Trial& trial, ::vizier::Trial* row) { return EncodeTrial(study, trial, row); });
  });
}

grpc::Status VizierServiceImpl::AddTrialMeasurement(
    grpc::ServerContext*,
    const ::vizier::AddTrialMeasurementRequest* request,
    ::vizier::Trial* response) {
  return Reply("vizier.AddTrialMeasurement", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("trial_name", request->trial_name()));
    // To report on a trial that has ended in vain is no error to a Vizier client, and changes nothing.
    if (IsVain(found.trial)) return EncodeTrial(found.study, found.trial, response);
    // Such a trial is run by the server.
    if (found.study.codec->spec().job.has_value() && !found.trial.lease) {
      return absl::PermissionDeniedError(
          fmt::format("trial {} is run by the server: only its own programs report on it",
                      found.trial.number.value()));
    }
    // In a study of another interface, Report judges an empty measurement.
    if (request->measurement().metrics().empty() && found.study.codec->is_own()) {
      VERNIER_RETURN_IF_ERROR(CheckHeld(found.trial));
      return EncodeTrial(found.study, found.trial, response);  // A sign of life.
    }
    Measurement measurement = DecodeMeasurement(request->measurement());
    measurement.time = parts_.clock.Now();
    VERNIER_ASSIGN_OR_RETURN(
        const Studies::Reported reported,
        parts_.studies.Report(
            found.id(), {std::move(measurement)}, LeaseOf(found.trial), CallerOf(found.trial)));
    return EncodeTrial(found.study, reported.trial, response);
  });
}

grpc::ServerUnaryReactor* VizierServiceImpl::CompleteTrial(
    grpc::CallbackServerContext* context,
    const ::vizier::CompleteTrialRequest* request,
    ::vizier::Trial* response) {
  const absl::StatusOr<TrialName> name = ParseTrialName("name", request->name());
  const auto complete = [this, name, request, response](const Known& study,
                                                        const Answer& answer) -> absl::Status {
    const TrialId id{study.id, name->number};
    VERNIER_ASSIGN_OR_RETURN(const Trial trial, parts_.studies.GetTrial(id));
    const Measurement last = DecodeMeasurement(request->final_measurement());
    const auto ended = [this, study, response, answer](const absl::StatusOr<Trial>& outcome) {
      AnswerTrial(study, outcome, response, answer);
    };
    const auto end = [&](const TrialEnd& how) {
      parts_.studies.End(id, how, LeaseOf(trial), CallerOf(trial), ended);
      return absl::OkStatus();
    };
    if (request->trial_infeasible()) {
      return end({.kind = TrialEnd::Kind::kInfeasible,
                  .last = last,
                  .message = request->infeasible_reason()});
    }
    // Neither this measurement nor an earlier one: there is nothing to complete with.
    if (last.metrics.empty() && trial.measurements == 0) {
      VERNIER_RETURN_IF_ERROR(CheckHeld(trial));
      return FieldError("final_measurement", "is needed: the trial has no measurement yet");
    }
    if (study.codec->is_own()) {
      return end({.kind = TrialEnd::Kind::kCompletedAsIs, .last = last});
    }
    // In studies of other interfaces, completed trials have every objective: without one the trial becomes infeasible, and
    // keeps its measurement.
    const std::string missing = MissingObjectives(study.codec->spec().objectives, last.metrics);
    if (!last.metrics.empty() && !missing.empty()) {
      const std::string reason = fmt::format("ended without a value of its {}", missing);
      return end({.kind = TrialEnd::Kind::kInfeasible, .last = last, .message = reason});
    }
    return end({.kind = TrialEnd::Kind::kCompleted, .last = last});
  };
  return ReplyLater(context, "vizier.CompleteTrial", StudyOf(name), complete);
}

grpc::Status VizierServiceImpl::DeleteTrial(grpc::ServerContext*,
                                            const ::vizier::DeleteTrialRequest* request,
                                            google::protobuf::Empty*) {
  return Reply("vizier.DeleteTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrialToChange("name", request->name()));
    return parts_.studies.DeleteTrial(found.id(), {.actor = "vizier", .request_id = ""});
  });
}

grpc::Status VizierServiceImpl::CheckTrialEarlyStoppingState(
    grpc::ServerContext*,
    const ::vizier::CheckTrialEarlyStoppingStateRequest* request,
    ::vizier::CheckTrialEarlyStoppingStateResponse* response) {
  return Reply("vizier.CheckTrialEarlyStoppingState", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found,
                             FindTrialToChange("trial_name", request->trial_name()));
    VERNIER_RETURN_IF_ERROR(CheckHeld(found.trial));
    // In studies of Vizier clients this judges the curve now (judged_when_asked); in others it tells what was decided.
    VERNIER_ASSIGN_OR_RETURN(const Studies::Reported judged,
                             parts_.studies.Judge(found.id(), CallerOf(found.trial)));
    response->set_should_stop(judged.stop);
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::StopTrial(grpc::ServerContext*,
                                          const ::vizier::StopTrialRequest* request,
                                          ::vizier::Trial* response) {
  return Reply("vizier.StopTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(Found found, FindTrialToChange("name", request->name()));
    const TrialState state = found.trial.state;
    // Stopping a trial that stops already, or is complete, is no error to a Vizier client.
    if (state != TrialState::kStopping && state != TrialState::kCompleted) {
      VERNIER_RETURN_IF_ERROR(CheckHeld(found.trial));
      VERNIER_ASSIGN_OR_RETURN(found.trial,
                               parts_.studies.StopTrial(found.id(), "", CallerOf(found.trial)));
      parts_.changed();
    }
    return EncodeTrial(found.study, found.trial, response);
  });
}

absl::StatusOr<std::vector<TrialNumber>> VizierServiceImpl::ListOptimal(StudyId id) const {
  VERNIER_ASSIGN_OR_RETURN(const Study study, parts_.studies.GetStudy(id));
  // With several objectives the study keeps its optimal trials; with one it keeps the best one only.
  if (study.spec.objectives.size() > 1) return study.optimal;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials, parts_.studies.ListTrials(id));
  return TiedWithBest(study, trials);
}

grpc::Status VizierServiceImpl::ListOptimalTrials(grpc::ServerContext*,
                                                  const ::vizier::ListOptimalTrialsRequest* request,
                                                  ::vizier::ListOptimalTrialsResponse* response) {
  return Reply("vizier.ListOptimalTrials", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Known study, FindKnown("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TrialNumber> optimal, ListOptimal(study.id));
    return AddPage(
        *request,
        optimal,
        response->mutable_optimal_trials(),
        response->mutable_next_page_token(),
        [](TrialNumber number) { return number.value(); },
        [&](TrialNumber number, ::vizier::Trial* row) -> absl::Status {
          VERNIER_ASSIGN_OR_RETURN(const Trial trial, parts_.studies.GetTrial({study.id, number}));
          return EncodeTrial(study, trial, row);
        });
  });
}

}  // namespace vernier::vizier
