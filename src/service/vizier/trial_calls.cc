#include <optional>
#include <stop_token>
#include <utility>

#include "src/service/vizier/definition.h"
#include "src/service/vizier/reply.h"
#include "src/service/vizier/trials.h"
#include "src/service/vizier/vizier_service.h"
#include "src/wire/time_proto.h"

namespace vernier::vizier {
namespace {

constexpr std::int32_t kMostSuggestions = 1000;
constexpr char kSuggestionsType[] = "type.googleapis.com/vizier.SuggestTrialsResponse";

// Who works on the trial, as far as the request says nothing of it.
Caller CallerOf(const Trial& trial) {
  return {.actor = trial.lease ? trial.lease->holder : "vizier", .request_id = ""};
}

// Vizier's calls do not bear the client that makes them: it is the one that has the trial.
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

bool IsVain(const Trial& trial) {
  return IsFinished(trial.state) && trial.state != TrialState::kCompleted;
}

}  // namespace

absl::StatusOr<VizierServiceImpl::Found> VizierServiceImpl::FindTrial(
    std::string_view field, const std::string& resource) const {
  VERNIER_ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(field, resource));
  VERNIER_ASSIGN_OR_RETURN(Study study, FindStudy(field, ResourceName(name.study)));
  VERNIER_ASSIGN_OR_RETURN(Trial trial, parts_.studies.GetTrial({study.id, name.number}));
  return Found{.study = std::move(study), .trial = std::move(trial)};
}

absl::Status VizierServiceImpl::EncodeTrial(const Study& study,
                                            const Trial& trial,
                                            ::vizier::Trial* out) const {
  return EncodeTrial(TrialEncoder(study.spec), {study.id, trial.number}, trial, out);
}

absl::Status VizierServiceImpl::EncodeTrial(const TrialEncoder& encoder,
                                            TrialId id,
                                            const Trial& trial,
                                            ::vizier::Trial* out) const {
  std::vector<Measurement> measurements;
  if (trial.measurements > 0) {
    VERNIER_ASSIGN_OR_RETURN(measurements, parts_.studies.ListMeasurements(id));
  }
  encoder.Encode(trial, measurements, out);
  return absl::OkStatus();
}

grpc::Status VizierServiceImpl::SuggestTrials(grpc::ServerContext* context,
                                              const ::vizier::SuggestTrialsRequest* request,
                                              google::longrunning::Operation* response) {
  return Reply(context, "vizier.SuggestTrials", [&]() -> absl::Status {
    const service::CallWatch::Watched call(parts_.calls,
                                           [context] { return context->IsCancelled(); });
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("parent", request->parent()));
    const std::int32_t count = request->suggestion_count();
    if (count < 0 || count > kMostSuggestions) {
      return FieldError("suggestion_count",
                        fmt::format("must be from 1 to {}, got {}", kMostSuggestions, count));
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
    if (!trials.ok() && !is_spent) return trials.status();
    if (trials.ok()) {
      const TrialEncoder encoder(study.spec);
      for (const Trial& trial : *trials) {
        VERNIER_RETURN_IF_ERROR(
            EncodeTrial(encoder, {study.id, trial.number}, trial, suggestions.add_trials()));
      }
    }
    VERNIER_ASSIGN_OR_RETURN(const Study now, parts_.studies.GetStudy(study.id));
    ::vizier::Study encoded;
    EncodeStudy(now, &encoded);
    suggestions.set_study_state(encoded.state());
    wire::EncodeTime(parts_.clock.Now(), suggestions.mutable_end_time());
    const StudyName name = NameOf(study.spec);
    response->set_name(fmt::format("owners/{}/operations/suggestion/{}/{}/{}",
                                   name.owner,
                                   name.study,
                                   request->client_id(),
                                   now.last_event.value()));
    response->set_done(true);
    response->mutable_response()->set_type_url(kSuggestionsType);
    response->mutable_response()->set_value(suggestions.SerializeAsString());
    const absl::MutexLock lock(&mu_);
    operations_.push_back(*response);
    if (operations_.size() > kOperations) operations_.pop_front();
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::GetOperation(
    grpc::ServerContext* context,
    const google::longrunning::GetOperationRequest* request,
    google::longrunning::Operation* response) {
  return Reply(context, "vizier.GetOperation", [&]() -> absl::Status {
    const absl::MutexLock lock(&mu_);
    for (const google::longrunning::Operation& operation : operations_) {
      if (operation.name() != request->name()) continue;
      *response = operation;
      return absl::OkStatus();
    }
    return NotFound(
        "there is no operation '{}': suggestions are answered at once, and the last {} are kept",
        request->name(),
        kOperations);
  });
}

grpc::Status VizierServiceImpl::CreateTrial(grpc::ServerContext* context,
                                            const ::vizier::CreateTrialRequest* request,
                                            ::vizier::Trial* response) {
  return Reply(context, "vizier.CreateTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(TrialAddition addition, DecodeAddition(study.spec, request->trial()));
    for (Measurement& measurement : addition.measurements) measurement.time = parts_.clock.Now();
    VERNIER_ASSIGN_OR_RETURN(
        const Trial trial,
        parts_.studies.AddTrial(study.id, addition, {.actor = "vizier", .request_id = ""}));
    parts_.changed();
    return EncodeTrial(study, trial, response);
  });
}

grpc::Status VizierServiceImpl::GetTrial(grpc::ServerContext* context,
                                         const ::vizier::GetTrialRequest* request,
                                         ::vizier::Trial* response) {
  return Reply(context, "vizier.GetTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("name", request->name()));
    return EncodeTrial(found.study, found.trial, response);
  });
}

grpc::Status VizierServiceImpl::ListTrials(grpc::ServerContext* context,
                                           const ::vizier::ListTrialsRequest* request,
                                           ::vizier::ListTrialsResponse* response) {
  return Reply(context, "vizier.ListTrials", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<Trial> trials, parts_.studies.ListTrials(study.id));
    const TrialEncoder encoder(study.spec);
    return AddPage(*request,
                   static_cast<std::int64_t>(trials.size()),
                   response->mutable_trials(),
                   response->mutable_next_page_token(),
                   [&](std::int64_t i, ::vizier::Trial* row) {
                     const Trial& trial = trials[static_cast<std::size_t>(i)];
                     return EncodeTrial(encoder, {study.id, trial.number}, trial, row);
                   });
  });
}

grpc::Status VizierServiceImpl::AddTrialMeasurement(
    grpc::ServerContext* context,
    const ::vizier::AddTrialMeasurementRequest* request,
    ::vizier::Trial* response) {
  return Reply(context, "vizier.AddTrialMeasurement", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("trial_name", request->trial_name()));
    // To report on a trial that has ended in vain is no error to a Vizier client, and changes nothing.
    if (IsVain(found.trial)) return EncodeTrial(found.study, found.trial, response);
    Measurement measurement = DecodeMeasurement(request->measurement());
    measurement.time = parts_.clock.Now();
    VERNIER_ASSIGN_OR_RETURN(
        const Studies::Reported reported,
        parts_.studies.Report(
            found.id(), {std::move(measurement)}, LeaseOf(found.trial), CallerOf(found.trial)));
    return EncodeTrial(found.study, reported.trial, response);
  });
}

grpc::Status VizierServiceImpl::CompleteTrial(grpc::ServerContext* context,
                                              const ::vizier::CompleteTrialRequest* request,
                                              ::vizier::Trial* response) {
  return Reply(context, "vizier.CompleteTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("name", request->name()));
    const Measurement last = DecodeMeasurement(request->final_measurement());
    if (request->trial_infeasible()) {
      VERNIER_ASSIGN_OR_RETURN(const Trial trial,
                               parts_.studies.MarkInfeasible(found.id(),
                                                             request->infeasible_reason(),
                                                             LeaseOf(found.trial),
                                                             CallerOf(found.trial)));
      return EncodeTrial(found.study, trial, response);
    }
    if (last.metrics.empty() && found.trial.measurements == 0) {
      VERNIER_RETURN_IF_ERROR(CheckHeld(found.trial));
      return FieldError("final_measurement", "is needed: the trial has no measurement yet");
    }
    VERNIER_ASSIGN_OR_RETURN(
        const Trial trial,
        parts_.studies.Complete(found.id(), last, LeaseOf(found.trial), CallerOf(found.trial)));
    return EncodeTrial(found.study, trial, response);
  });
}

grpc::Status VizierServiceImpl::DeleteTrial(grpc::ServerContext* context,
                                            const ::vizier::DeleteTrialRequest* request,
                                            google::protobuf::Empty*) {
  return Reply(context, "vizier.DeleteTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("name", request->name()));
    return parts_.studies.DeleteTrial(found.id(), {.actor = "vizier", .request_id = ""});
  });
}

grpc::Status VizierServiceImpl::CheckTrialEarlyStoppingState(
    grpc::ServerContext* context,
    const ::vizier::CheckTrialEarlyStoppingStateRequest* request,
    ::vizier::CheckTrialEarlyStoppingStateResponse* response) {
  return Reply(context, "vizier.CheckTrialEarlyStoppingState", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Found found, FindTrial("trial_name", request->trial_name()));
    VERNIER_RETURN_IF_ERROR(CheckHeld(found.trial));
    VERNIER_ASSIGN_OR_RETURN(const Studies::Reported judged,
                             parts_.studies.Judge(found.id(), CallerOf(found.trial)));
    response->set_should_stop(judged.stop);
    return absl::OkStatus();
  });
}

grpc::Status VizierServiceImpl::StopTrial(grpc::ServerContext* context,
                                          const ::vizier::StopTrialRequest* request,
                                          ::vizier::Trial* response) {
  return Reply(context, "vizier.StopTrial", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(Found found, FindTrial("name", request->name()));
    const TrialState state = found.trial.state;
    if (state != TrialState::kStopping && state != TrialState::kCompleted) {
      VERNIER_RETURN_IF_ERROR(CheckHeld(found.trial));
      VERNIER_ASSIGN_OR_RETURN(found.trial,
                               parts_.studies.StopTrial(found.id(), "", CallerOf(found.trial)));
      parts_.changed();
    }
    return EncodeTrial(found.study, found.trial, response);
  });
}

grpc::Status VizierServiceImpl::ListOptimalTrials(grpc::ServerContext* context,
                                                  const ::vizier::ListOptimalTrialsRequest* request,
                                                  ::vizier::ListOptimalTrialsResponse* response) {
  return Reply(context, "vizier.ListOptimalTrials", [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Study study, FindStudy("parent", request->parent()));
    const TrialEncoder encoder(study.spec);
    return AddPage(*request,
                   static_cast<std::int64_t>(study.optimal.size()),
                   response->mutable_optimal_trials(),
                   response->mutable_next_page_token(),
                   [&](std::int64_t i, ::vizier::Trial* row) -> absl::Status {
                     const TrialId id{study.id, study.optimal[static_cast<std::size_t>(i)]};
                     VERNIER_ASSIGN_OR_RETURN(const Trial trial, parts_.studies.GetTrial(id));
                     return EncodeTrial(encoder, id, trial, row);
                   });
  });
}

}  // namespace vernier::vizier
