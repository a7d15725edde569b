#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/limit_checks.h"
#include "src/service/paging.h"
#include "src/service/reply.h"
#include "src/service/study_service.h"
#include "src/wire/added_trial_proto.h"
#include "src/wire/enum_proto.h"
#include "src/wire/names.h"
#include "src/wire/page_token.h"
#include "src/wire/trial_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/limits.h"

namespace vernier::service {
namespace {

// The lease that a request proves, or none. Without one, Studies accepts the request only for a trial that was never
// leased, such as one that the engine runs, or whose leases never expire.
template <typename Request>
std::optional<LeaseToken> LeaseOf(const Request& request) {
  if (request.lease_token() == 0) return std::nullopt;
  return LeaseToken{.holder = request.client_id(), .token = request.lease_token()};
}

absl::StatusOr<std::size_t> DecodeCount(std::int32_t count) {
  if (count < 0 || count > limits::kSuggestions) {
    return FieldError("count",
                      fmt::format("must be between 1 and {}, got {}", limits::kSuggestions, count));
  }
  // 0: the field is not set.
  return count == 0 ? 1 : static_cast<std::size_t>(count);
}

// For a call that must not wait: given this token, Suggest returns only trials that need no computation.
std::stop_token FiredToken() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

// What must stay the same from page to page of a curve: an offset means nothing in another curve, or in the same one
// thinned out differently.
std::string CurveKey(const v1::ListMeasurementsRequest& request) {
  return fmt::format("{}\n{}\n{}", request.parent(), request.metric(), request.max_points());
}

// Checked before the metrics are decoded, so that a hostile request costs little more than its message.
absl::Status CheckMetricCount(std::string_view path, const wire::MetricsProto& metrics) {
  return CheckAtMost(path, static_cast<std::size_t>(metrics.size()), limits::kMetrics);
}

absl::StatusOr<CurveQuery> DecodeCurveQuery(const v1::ListMeasurementsRequest& request) {
  VERNIER_RETURN_IF_ERROR(CheckLength("metric", request.metric(), limits::kMetricName));
  if (request.max_points() < 0) {
    return FieldError("max_points",
                      fmt::format("must not be negative, got {}", request.max_points()));
  }
  if (request.page_size() < 0) {
    return FieldError("page_size",
                      fmt::format("must not be negative, got {}", request.page_size()));
  }
  CurveQuery query{
      .metric = request.metric(),
      .max_points = static_cast<std::size_t>(request.max_points()),
      .limit = static_cast<std::size_t>(std::min(request.page_size(), limits::kCurvePage))};
  if (request.page_token().empty()) return query;
  VERNIER_ASSIGN_OR_RETURN(const wire::PageToken token,
                           wire::DecodePageToken(request.page_token(), CurveKey(request)));
  query.offset = static_cast<std::size_t>(std::max<std::int64_t>(0, token.offset));
  return query;
}

absl::StatusOr<FailureClass> DecodeFailure(v1::FailureClass failure) {
  if (failure == v1::FAILURE_CLASS_UNSPECIFIED) return FailureClass::kUserError;
  const auto decoded = wire::Decode(failure);
  if (decoded.has_value()) return *decoded;
  return FieldError("failure", fmt::format("unknown class {}", static_cast<int>(failure)));
}

absl::StatusOr<std::vector<Measurement>> DecodeMeasurements(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& protos) {
  if (protos.empty()) return FieldError("measurements", "must not be empty");
  VERNIER_RETURN_IF_ERROR(
      CheckAtMost("measurements", static_cast<std::size_t>(protos.size()), limits::kMeasurements));
  std::vector<Measurement> measurements;
  for (const auto& proto : protos) {
    VERNIER_RETURN_IF_ERROR(CheckMetricCount(
        fmt::format("measurements[{}].metrics", measurements.size()), proto.metrics()));
    Measurement measurement = wire::DecodeMeasurement(proto);
    if (measurement.metrics.empty()) {
      return FieldError(fmt::format("measurements[{}].metrics", measurements.size()),
                        "must not be empty");
    }
    // Whatever the message says: only the server knows which way a measurement came.
    measurement.source = "client";
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

}  // namespace

void StudyServiceImpl::EncodeTrial(std::string_view study,
                                   StudyId id,
                                   const Trial& trial,
                                   v1::Trial* out) {
  wire::EncodeTrial(study, trial, out);
  // Only trials that completed have slacks; for others the constraints need not be looked up.
  if (trial.state == TrialState::kCompleted) wire::EncodeSlacks(*outcomes_.Get(id), trial, out);
}

grpc::Status StudyServiceImpl::GetTrial(grpc::ServerContext*,
                                        const v1::GetTrialRequest* request,
                                        v1::Trial* response) {
  return Reply("GetTrial", {}, [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Named named, FindTrial("name", request->name()));
    VERNIER_ASSIGN_OR_RETURN(const Trial trial, parts_.studies.GetTrial(named.id));
    EncodeTrial(named.study, named.id.study, trial, response);
    return absl::OkStatus();
  });
}

grpc::Status StudyServiceImpl::ListTrials(grpc::ServerContext*,
                                          const v1::ListTrialsRequest* request,
                                          v1::ListTrialsResponse* response) {
  return Reply("ListTrials", {}, [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const std::string study,
                             wire::ParseStudyName("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudy("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const PageRequest page, DecodePage(*request, request->parent()));
    std::size_t bytes = 0;
    const auto take = [&](const Trial& trial) {
      // Asked before a row is added, so that a page has one row at least, however large that is.
      if (response->trials_size() == page.size || bytes >= kPageBytes) return false;
      v1::Trial& row = *response->add_trials();
      EncodeTrial(study, id, trial, &row);
      bytes += row.ByteSizeLong();
      return true;
    };
    VERNIER_ASSIGN_OR_RETURN(
        const std::optional<wire::PageToken> next,
        lists_.Read({.study = id, .filter = request->filter(), .order_by = request->order_by()},
                    page.begin,
                    take));
    if (next.has_value()) response->set_next_page_token(wire::EncodePageToken(*next, page.query));
    return absl::OkStatus();
  });
}

grpc::Status StudyServiceImpl::ListMeasurements(grpc::ServerContext*,
                                                const v1::ListMeasurementsRequest* request,
                                                v1::ListMeasurementsResponse* response) {
  return Reply("ListMeasurements", {}, [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Named named, FindTrial("parent", request->parent()));
    VERNIER_ASSIGN_OR_RETURN(const CurveQuery query, DecodeCurveQuery(*request));
    VERNIER_ASSIGN_OR_RETURN(const CurvePart part, parts_.studies.ReadCurve(named.id, query));
    for (const Measurement& measurement : part.measurements) {
      wire::EncodeMeasurement(measurement, response->add_measurements());
    }
    response->set_total_size(static_cast<std::int64_t>(part.total));
    const std::size_t end = query.offset + part.measurements.size();
    // Not after an empty page: a client that follows tokens would ask for ever.
    if (!part.measurements.empty() && end < part.chosen) {
      response->set_next_page_token(wire::EncodePageToken(
          {.last = 0, .offset = static_cast<std::int64_t>(end)}, CurveKey(*request)));
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* StudyServiceImpl::CreateTrial(grpc::CallbackServerContext* context,
                                                        const v1::CreateTrialRequest* request,
                                                        v1::Trial* response) {
  const auto create = [this, context, request, response](const Named& named,
                                                         const Answer& answer) -> absl::Status {
    const StudyId id = named.id.study;
    VERNIER_ASSIGN_OR_RETURN(const auto definition, parts_.studies.GetDefinition(id));
    VERNIER_ASSIGN_OR_RETURN(Point point,
                             wire::DecodePoint("parameters", request->trial().parameters()));
    // Clients whose numbers are all doubles send 3.0 for 3; the space decides which it is.
    TrialAddition addition{.point = wire::FitPoint(definition->space, std::move(point))};
    VERNIER_RETURN_IF_ERROR(CheckMetricCount("final_metrics", request->trial().final_metrics()));
    if (!request->trial().final_metrics().empty()) {
      addition.last.emplace().metrics = wire::DecodeMetrics(request->trial().final_metrics());
    }
    const bool has_job = definition->job.has_value();
    const auto created = [this, has_job, answer](const absl::Status& status) {
      // Only then has the engine something to do: in a study without a job, clients fetch the trial.
      if (status.ok() && has_job) parts_.changed();
      answer(status);
    };
    parts_.studies.AddTrial(id,
                            std::move(addition),
                            CallerOf(*context, {}, request->request_id()),
                            AnswerWith(named, response, created));
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "CreateTrial", request->request_id(), FindParent(request->parent()), create);
}

grpc::ServerUnaryReactor* StudyServiceImpl::AddTrials(grpc::CallbackServerContext* context,
                                                      const v1::AddTrialsRequest* request,
                                                      v1::AddTrialsResponse* response) {
  const auto add = [this, context, request, response](const Named& named,
                                                      const Answer& answer) -> absl::Status {
    VERNIER_RETURN_IF_ERROR(
        CheckAtMost("trials", static_cast<std::size_t>(request->trials_size()), limits::kAsked));
    std::vector<TrialAddition> additions;
    for (const v1::AddedTrial& trial : request->trials()) {
      VERNIER_ASSIGN_OR_RETURN(
          TrialAddition addition,
          wire::DecodeAddedTrial(fmt::format("trials[{}]", additions.size()), trial));
      additions.push_back(std::move(addition));
    }
    const auto added = [this, response, answer](const absl::StatusOr<std::vector<Trial>>& trials) {
      if (!trials.ok()) return answer(trials.status());
      for (const Trial& trial : *trials) response->add_numbers(trial.number.value());
      parts_.changed();
      answer(absl::OkStatus());
    };
    parts_.studies.AddTrials(
        named.id.study, std::move(additions), CallerOf(*context, {}, request->request_id()), added);
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "AddTrials", request->request_id(), FindParent(request->parent()), add);
}

grpc::ServerUnaryReactor* StudyServiceImpl::SuggestTrials(grpc::CallbackServerContext* context,
                                                          const v1::SuggestTrialsRequest* request,
                                                          v1::SuggestTrialsResponse* response) {
  const auto suggest = [this, context, request, response](const Named& study,
                                                          const Answer& answer) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const std::size_t count, DecodeCount(request->count()));
    // The lease is granted to this name.
    if (request->client_id().empty()) return FieldError("client_id", "must not be empty");
    const auto begin = [this, context, request, count, id = study.id.study](std::stop_token stop,
                                                                            Trials::OnTrials told) {
      parts_.studies.Suggest(id,
                             count,
                             request->client_id(),
                             CallerOf(*context, request->client_id(), request->request_id()),
                             std::move(stop),
                             std::move(told));
    };
    const auto tell = [this, study, response, answer](absl::StatusOr<std::vector<Trial>> trials) {
      if (!trials.ok()) return answer(WhyGivenUp(trials.status()));
      for (const Trial& trial : *trials) {
        EncodeTrial(study.study, study.id.study, trial, response->add_trials());
      }
      answer(absl::OkStatus());
    };
    // Quick enough for this thread, and to need no stop token.
    if (parts_.studies.SuggestsAtOnce(study.id.study)) {
      begin({}, tell);
      return absl::OkStatus();
    }
    // First without computing: trials that the client holds already, or that are offered again, need not wait in line
    // behind a computation. ADR 35 has the three cases.
    begin(FiredToken(), [=, this](absl::StatusOr<std::vector<Trial>> trials) {
      if (!absl::IsCancelled(trials.status())) return tell(std::move(trials));
      // The study is the key: its suggestions are computed one at a time, and other studies have lines of their own.
      suggesting_threads_.Run(study.id.study.value(), [=, this] {
        // It may have waited in line for long. A trial that is computed for a client that left would be leased to
        // nobody.
        if (context->IsCancelled()) return answer(parts_.calls.Stopped());
        // Shared, since std::function must be copyable and Watched is not.
        const auto watched = std::make_shared<std::optional<CallWatch::Watched>>();
        watched->emplace(parts_.calls, [context] { return context->IsCancelled(); });
        begin((*watched)->token(), [=](absl::StatusOr<std::vector<Trial>> computed) {
          watched->reset();  // Before the answer, with which the context goes.
          tell(std::move(computed));
        });
      });
    });
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "SuggestTrials", request->request_id(), FindParent(request->parent()), suggest);
}

grpc::Status StudyServiceImpl::PredictPoints(grpc::ServerContext* context,
                                             const v1::PredictPointsRequest* request,
                                             v1::PredictPointsResponse* response) {
  const auto work = [&](const std::stop_token& stop) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const StudyId id, FindStudy("parent", request->parent()));
    if (request->points_size() < 1 || request->points_size() > limits::kPredictedPoints) {
      return FieldError(
          "points",
          fmt::format("must be 1 to {}, got {}", limits::kPredictedPoints, request->points_size()));
    }
    std::vector<Point> points;
    for (int i = 0; i < request->points_size(); ++i) {
      VERNIER_ASSIGN_OR_RETURN(Point point,
                               wire::DecodePoint(fmt::format("points[{}].parameters", i),
                                                 request->points(i).parameters()));
      points.push_back(std::move(point));
    }
    VERNIER_ASSIGN_OR_RETURN(const std::vector<PredictedPoint> predicted,
                             parts_.studies.Predict(id, std::move(points), stop));
    for (const PredictedPoint& point : predicted) {
      v1::PredictPointsResponse::Prediction& prediction = *response->add_predictions();
      prediction.set_mean(point.objective.mean);
      prediction.set_deviation(point.objective.deviation);
      wire::EncodePredicted(point.others, prediction.mutable_others());
    }
    return absl::OkStatus();
  };
  return ReplyLong(context, "PredictPoints", {}, work);
}

grpc::ServerUnaryReactor* StudyServiceImpl::HeartbeatTrial(grpc::CallbackServerContext* context,
                                                           const v1::HeartbeatTrialRequest* request,
                                                           v1::Trial* response) {
  // Has static storage, since ReplyLater keeps a reference.
  static const std::string kNoRequestId;
  const auto renew = [this, request, response](const Named& named,
                                               const Answer& answer) -> absl::Status {
    if (request->client_id().empty()) return FieldError("client_id", "must not be empty");
    parts_.studies.Heartbeat(named.id,
                             {.holder = request->client_id(), .token = request->lease_token()},
                             AnswerWith(named, response, answer));
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "HeartbeatTrial", kNoRequestId, FindTrial("name", request->name()), renew);
}

grpc::Status StudyServiceImpl::EndLease(grpc::ServerContext* context,
                                        const v1::EndLeaseRequest* request,
                                        v1::Trial* response) {
  return Reply("EndLease", {}, [&]() -> absl::Status {
    if (request->client_id().empty()) return FieldError("client_id", "must not be empty");
    VERNIER_ASSIGN_OR_RETURN(const Named named, FindTrial("name", request->name()));
    VERNIER_ASSIGN_OR_RETURN(
        const Trial trial,
        parts_.studies.EndLease(named.id,
                                {.holder = request->client_id(), .token = request->lease_token()},
                                CallerOf(*context, {}, {})));
    EncodeTrial(named.study, named.id.study, trial, response);
    parts_.changed();
    return absl::OkStatus();
  });
}

absl::Status StudyServiceImpl::Report(const TrialId& id,
                                      std::vector<Measurement> measurements,
                                      const v1::ReportMeasurementRequest& request,
                                      const Caller& caller,
                                      Trials::OnReported reported) const {
  if (!request.attempt_token().empty()) {
    VERNIER_ASSIGN_OR_RETURN(const AttemptId attempt, CheckToken(id, request.attempt_token()));
    parts_.studies.ReportFrom(attempt, std::move(measurements), caller, std::move(reported));
    return absl::OkStatus();
  }
  VERNIER_ASSIGN_OR_RETURN(const auto definition, parts_.studies.GetDefinition(id.study));
  // No name and no token: a program of the trial that lost its token, or that somebody started by hand.
  if (definition->job.has_value() && request.client_id().empty()) {
    return absl::PermissionDeniedError(fmt::format(
        "attempt_token: is needed, since trial {} is run by the server; its programs have it "
        "in $VERNIER_TOKEN",
        id.number.value()));
  }
  parts_.studies.Report(id, measurements, LeaseOf(request), caller, std::move(reported));
  return absl::OkStatus();
}

absl::StatusOr<AttemptId> StudyServiceImpl::CheckToken(const TrialId& id,
                                                       const std::string& token) const {
  VERNIER_RETURN_IF_ERROR(CheckLength("attempt_token", token, limits::kAttemptToken));
  const std::optional<AttemptId> attempt =
      parts_.tokens == nullptr ? std::nullopt : parts_.tokens->Verify(id, token);
  if (attempt.has_value()) return *attempt;
  return absl::PermissionDeniedError(
      fmt::format("attempt_token: is not a token of trial {}", id.number.value()));
}

grpc::ServerUnaryReactor* StudyServiceImpl::ReportMeasurement(
    grpc::CallbackServerContext* context,
    const v1::ReportMeasurementRequest* request,
    v1::ReportMeasurementResponse* response) {
  const auto report = [this, context, request, response](const Named& named,
                                                         const Answer& answer) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(auto measurements, DecodeMeasurements(request->measurements()));
    const auto reported =
        [this, response, answer, named](const absl::StatusOr<ReportedTrial>& outcome) {
          if (outcome.ok()) {
            EncodeTrial(named.study, named.id.study, outcome->trial, response->mutable_trial());
            response->set_should_stop(outcome->stop);
          }
          answer(outcome.status());
        };
    return Report(named.id,
                  std::move(measurements),
                  *request,
                  CallerOf(*context, request->client_id(), request->request_id()),
                  reported);
  };
  return ReplyLater(context,
                    "ReportMeasurement",
                    request->request_id(),
                    FindTrial("name", request->name()),
                    report);
}

grpc::ServerUnaryReactor* StudyServiceImpl::CompleteTrial(grpc::CallbackServerContext* context,
                                                          const v1::CompleteTrialRequest* request,
                                                          v1::Trial* response) {
  const auto end = [this, context, request, response](const Named& named,
                                                      const Answer& answer) -> absl::Status {
    const TrialEnd outcome{.kind = TrialEnd::Kind::kCompleted,
                           .last = {.metrics = wire::DecodeMetrics(request->final_metrics())}};
    parts_.studies.End(named.id,
                       outcome,
                       LeaseOf(*request),
                       CallerOf(*context, request->client_id(), request->request_id()),
                       AnswerWith(named, response, answer));
    return absl::OkStatus();
  };
  const absl::Status bounded = CheckMetricCount("final_metrics", request->final_metrics());
  const absl::StatusOr<Named> named =
      bounded.ok() ? FindTrial("name", request->name()) : absl::StatusOr<Named>(bounded);
  return ReplyLater(context, "CompleteTrial", request->request_id(), named, end);
}

grpc::ServerUnaryReactor* StudyServiceImpl::FailTrial(grpc::CallbackServerContext* context,
                                                      const v1::FailTrialRequest* request,
                                                      v1::Trial* response) {
  const auto end = [this, context, request, response](const Named& named,
                                                      const Answer& answer) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const FailureClass failure, DecodeFailure(request->failure()));
    const TrialEnd outcome{
        .kind = TrialEnd::Kind::kFailed, .failure = failure, .message = request->message()};
    parts_.studies.End(named.id,
                       outcome,
                       LeaseOf(*request),
                       CallerOf(*context, request->client_id(), request->request_id()),
                       AnswerWith(named, response, answer));
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "FailTrial", request->request_id(), FindTrial("name", request->name()), end);
}

grpc::ServerUnaryReactor* StudyServiceImpl::MarkTrialInfeasible(
    grpc::CallbackServerContext* context,
    const v1::MarkTrialInfeasibleRequest* request,
    v1::Trial* response) {
  const auto end = [this, context, request, response](const Named& named,
                                                      const Answer& answer) -> absl::Status {
    const TrialEnd outcome{.kind = TrialEnd::Kind::kInfeasible, .message = request->message()};
    parts_.studies.End(named.id,
                       outcome,
                       LeaseOf(*request),
                       CallerOf(*context, request->client_id(), request->request_id()),
                       AnswerWith(named, response, answer));
    return absl::OkStatus();
  };
  return ReplyLater(context,
                    "MarkTrialInfeasible",
                    request->request_id(),
                    FindTrial("name", request->name()),
                    end);
}

grpc::ServerUnaryReactor* StudyServiceImpl::StopTrial(grpc::CallbackServerContext* context,
                                                      const v1::StopTrialRequest* request,
                                                      v1::Trial* response) {
  const auto stop = [this, context, request, response](const Named& named,
                                                       const Answer& answer) -> absl::Status {
    const auto stopped = [this, answer](const absl::Status& status) {
      if (status.ok()) parts_.changed();
      answer(status);
    };
    parts_.studies.StopTrial(named.id,
                             request->reason(),
                             CallerOf(*context, {}, request->request_id()),
                             AnswerWith(named, response, stopped));
    return absl::OkStatus();
  };
  return ReplyLater(
      context, "StopTrial", request->request_id(), FindTrial("name", request->name()), stop);
}

grpc::Status StudyServiceImpl::DeleteTrial(grpc::ServerContext* context,
                                           const v1::DeleteTrialRequest* request,
                                           google::protobuf::Empty* /*response*/) {
  return Reply("DeleteTrial", request->request_id(), [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const Named named, FindTrial("name", request->name()));
    VERNIER_RETURN_IF_ERROR(
        parts_.studies.DeleteTrial(named.id, CallerOf(*context, {}, request->request_id())));
    parts_.changed();
    return absl::OkStatus();
  });
}

}  // namespace vernier::service
