#include "src/client/channel_client.h"

#include <utility>

#include "grpcpp/support/channel_arguments.h"
#include "src/client/access.h"
#include "src/client/decode.h"
#include "src/client/retry.h"
#include "src/client/stream.h"
#include "src/client/upload.h"
#include "src/wire/channel.h"
#include "src/wire/cluster_proto.h"
#include "src/wire/enum_proto.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"
#include "src/wire/trial_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/v1/cluster_service.grpc.pb.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::client {
namespace {

using Stub = v1::StudyService::Stub;

// Measurements of a long curve, asked for at once: the most that the server gives.
constexpr std::int32_t kCurvePage = 10000;
template <typename Request, typename Response>
using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

// The lease that the trial was handed out with goes with every report on it.
template <typename Request>
Request AboutLeased(std::string_view study, const Trial& leased) {
  Request request;
  request.set_name(wire::TrialResource(study, leased.number));
  if (leased.lease.has_value()) {
    request.set_client_id(leased.lease->holder);
    request.set_lease_token(leased.lease->token);
  }
  return request;
}

template <typename Request>
Request AboutStudy(std::string_view study) {
  Request request;
  request.set_name(wire::StudyResource(study));
  return request;
}

class ChannelClient final : public Client {
 public:
  ChannelClient(ClientOptions options, std::string request_id, Retry retry)
      : options_(std::move(options)),
        request_id_(std::move(request_id)),
        retry_(std::move(retry)),
        stub_(v1::StudyService::NewStub(retry_.channel())),
        cluster_stub_(v1::ClusterService::NewStub(retry_.channel())) {}

  std::unique_ptr<Client> WithName(std::string name) const override {
    ClientOptions options = options_;
    options.name = std::move(name);
    const Retry retry(retry_, options);
    return std::make_unique<ChannelClient>(std::move(options), /*request_id=*/"", retry);
  }

  std::unique_ptr<Client> WithRequestId(std::string request_id) const override {
    return std::make_unique<ChannelClient>(options_, std::move(request_id), retry_);
  }

  absl::StatusOr<Study> CreateStudy(const StudySpec& spec) override {
    return OneStudy(&Stub::CreateStudy, Creation(spec));
  }

  absl::Status ValidateStudy(const StudySpec& spec) override {
    v1::CreateStudyRequest request = Creation(spec);
    request.set_validate_only(true);
    return Call<v1::CreateStudyRequest, v1::Study>(&Stub::CreateStudy, request).status();
  }

  absl::StatusOr<Study> GetStudy(std::string_view study) override {
    return OneStudy(&Stub::GetStudy, AboutStudy<v1::GetStudyRequest>(study));
  }

  // All pages, so that the caller sees a list. The pages are not of one moment: a study that is made meanwhile may be
  // among them or not.
  absl::StatusOr<std::vector<Study>> ListStudies(const ListQuery& query) override {
    return ListAll<Study, v1::ListStudiesResponse>(
        v1::ListStudiesRequest(),
        query,
        &Stub::ListStudies,
        [](const auto& page) -> const auto& { return page.studies(); },
        wire::DecodeStudy);
  }

  absl::StatusOr<Study> AmendStudy(std::string_view study, const Amendment& change) override {
    auto request = WithId(AboutStudy<v1::UpdateStudyRequest>(study));
    EncodeAmendment(change, &request);
    return OneStudy(&Stub::UpdateStudy, request);
  }

  absl::Status DeleteStudy(std::string_view study, bool force) override {
    auto request = WithId(AboutStudy<v1::DeleteStudyRequest>(study));
    request.set_force(force);
    return Call<v1::DeleteStudyRequest, google::protobuf::Empty>(&Stub::DeleteStudy, request)
        .status();
  }

  absl::StatusOr<Study> PauseStudy(std::string_view study) override {
    return OneStudy(&Stub::PauseStudy, WithId(AboutStudy<v1::PauseStudyRequest>(study)));
  }

  absl::StatusOr<Study> ResumeStudy(std::string_view study) override {
    return OneStudy(&Stub::ResumeStudy, WithId(AboutStudy<v1::ResumeStudyRequest>(study)));
  }

  absl::StatusOr<Study> StopStudy(std::string_view study, std::string_view reason) override {
    auto request = WithId(AboutStudy<v1::StopStudyRequest>(study));
    request.set_reason(wire::ValidUtf8(reason));
    return OneStudy(&Stub::StopStudy, request);
  }

  absl::StatusOr<Study> FinishStudy(std::string_view study, std::string_view reason) override {
    auto request = WithId(AboutStudy<v1::FinishStudyRequest>(study));
    request.set_reason(wire::ValidUtf8(reason));
    return OneStudy(&Stub::FinishStudy, request);
  }

  absl::StatusOr<Trial> GetTrial(std::string_view study, TrialNumber trial) override {
    v1::GetTrialRequest request;
    request.set_name(wire::TrialResource(study, trial));
    return OneTrial(&Stub::GetTrial, request);
  }

  absl::StatusOr<std::vector<Trial>> ListTrials(std::string_view study,
                                                const ListQuery& query) override {
    v1::ListTrialsRequest request;
    request.set_parent(wire::StudyResource(study));
    return ListAll<Trial, v1::ListTrialsResponse>(
        request,
        query,
        &Stub::ListTrials,
        [](const auto& page) -> const auto& { return page.trials(); },
        wire::DecodeTrial);
  }

  absl::StatusOr<std::vector<Measurement>> ListMeasurements(std::string_view study,
                                                            TrialNumber trial) override {
    v1::ListMeasurementsRequest request;
    request.set_parent(wire::TrialResource(study, trial));
    request.set_page_size(kCurvePage);
    std::vector<Measurement> measurements;
    do {
      VERNIER_ASSIGN_OR_RETURN(const auto page, Call(&Stub::ListMeasurements, request));
      for (const auto& proto : page.measurements()) {
        // In the order in which they were stored, page by page.
        measurements.push_back(wire::DecodeMeasurement(proto));
      }
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return measurements;
  }

  absl::StatusOr<std::vector<Measurement>> SampleMeasurements(std::string_view study,
                                                              TrialNumber trial,
                                                              std::string_view metric,
                                                              std::int32_t max_points) override {
    v1::ListMeasurementsRequest request;
    request.set_parent(wire::TrialResource(study, trial));
    request.set_metric(std::string(metric));
    request.set_max_points(max_points);
    // One call: the number of points bounds the answer.
    VERNIER_ASSIGN_OR_RETURN(const auto response, Call(&Stub::ListMeasurements, request));
    std::vector<Measurement> measurements;
    for (const auto& proto : response.measurements()) {
      measurements.push_back(wire::DecodeMeasurement(proto));
    }
    return measurements;
  }

  absl::StatusOr<Trial> AddTrial(
      std::string_view study,
      const Point& point,
      const std::optional<std::map<std::string, double>>& final_metrics) override {
    v1::CreateTrialRequest request;
    request.set_parent(wire::StudyResource(study));
    wire::EncodePoint(point, request.mutable_trial()->mutable_parameters());
    if (final_metrics.has_value()) {
      wire::EncodeMetrics(*final_metrics, request.mutable_trial()->mutable_final_metrics());
    }
    return OneTrial(&Stub::CreateTrial, WithId(std::move(request)));
  }

  absl::StatusOr<Trial> StopTrial(std::string_view study,
                                  TrialNumber trial,
                                  std::string_view reason) override {
    v1::StopTrialRequest request;
    request.set_name(wire::TrialResource(study, trial));
    request.set_reason(wire::ValidUtf8(reason));
    return OneTrial(&Stub::StopTrial, WithId(std::move(request)));
  }

  absl::Status DeleteTrial(std::string_view study, TrialNumber trial) override {
    v1::DeleteTrialRequest request;
    request.set_name(wire::TrialResource(study, trial));
    return Call<v1::DeleteTrialRequest, google::protobuf::Empty>(&Stub::DeleteTrial,
                                                                 WithId(std::move(request)))
        .status();
  }

  absl::StatusOr<std::vector<PredictedPoint>> PredictPoints(
      std::string_view study, const std::vector<Point>& points) override {
    v1::PredictPointsRequest request;
    request.set_parent(wire::StudyResource(study));
    for (const Point& point : points) {
      wire::EncodePoint(point, request.add_points()->mutable_parameters());
    }
    VERNIER_ASSIGN_OR_RETURN(const auto response, Call(&Stub::PredictPoints, request));
    std::vector<PredictedPoint> predicted;
    for (const auto& proto : response.predictions()) predicted.push_back(DecodePrediction(proto));
    return predicted;
  }

  absl::StatusOr<std::vector<Trial>> SuggestTrials(std::string_view study,
                                                   std::int32_t count) override {
    v1::SuggestTrialsRequest request;
    request.set_parent(wire::StudyResource(study));
    request.set_count(count);
    // A client that asks again, after its process died, gets the trials of this name that it still holds.
    request.set_client_id(options_.name);
    VERNIER_ASSIGN_OR_RETURN(const auto response,
                             Call(&Stub::SuggestTrials, WithId(std::move(request))));
    return DecodeAll<Trial>(response.trials(), wire::DecodeTrial);
  }

  // Without an id: renewing a lease twice does the same as once.
  absl::StatusOr<Trial> Heartbeat(std::string_view study, const Trial& leased) override {
    return OneTrial(&Stub::HeartbeatTrial, AboutLeased<v1::HeartbeatTrialRequest>(study, leased));
  }

  absl::StatusOr<Trial> EndLease(std::string_view study, const Trial& leased) override {
    return OneTrial(&Stub::EndLease, AboutLeased<v1::EndLeaseRequest>(study, leased));
  }

  absl::StatusOr<Reported> Report(std::string_view study,
                                  const Trial& leased,
                                  const std::vector<Measurement>& measurements) override {
    auto request = WithId(AboutLeased<v1::ReportMeasurementRequest>(study, leased));
    for (const auto& measurement : measurements) {
      EncodeReport(measurement, request.add_measurements());
    }
    VERNIER_ASSIGN_OR_RETURN(const auto response, Call(&Stub::ReportMeasurement, request));
    VERNIER_ASSIGN_OR_RETURN(Trial trial, wire::DecodeTrial(response.trial()));
    return Reported{.trial = std::move(trial), .should_stop = response.should_stop()};
  }

  absl::StatusOr<Reported> ReportFromJob(std::string_view study,
                                         TrialNumber trial,
                                         std::string_view token,
                                         const std::vector<Measurement>& measurements) override {
    v1::ReportMeasurementRequest request;
    request.set_name(wire::TrialResource(study, trial));
    // The token says which attempt reports, so that neither a lease nor a client's name is needed.
    request.set_attempt_token(std::string(token));
    for (const auto& measurement : measurements) {
      EncodeReport(measurement, request.add_measurements());
    }
    VERNIER_ASSIGN_OR_RETURN(const auto response,
                             Call(&Stub::ReportMeasurement, WithId(std::move(request))));
    VERNIER_ASSIGN_OR_RETURN(Trial now, wire::DecodeTrial(response.trial()));
    return Reported{.trial = std::move(now), .should_stop = response.should_stop()};
  }

  absl::StatusOr<Trial> Complete(std::string_view study,
                                 const Trial& leased,
                                 const std::map<std::string, double>& final_metrics) override {
    auto request = WithId(AboutLeased<v1::CompleteTrialRequest>(study, leased));
    wire::EncodeMetrics(final_metrics, request.mutable_final_metrics());
    return OneTrial(&Stub::CompleteTrial, request);
  }

  absl::StatusOr<Trial> Fail(std::string_view study,
                             const Trial& leased,
                             FailureClass failure,
                             std::string_view message) override {
    auto request = WithId(AboutLeased<v1::FailTrialRequest>(study, leased));
    request.set_failure(wire::Encode(failure));
    request.set_message(wire::ValidUtf8(message));
    return OneTrial(&Stub::FailTrial, request);
  }

  absl::StatusOr<Trial> MarkInfeasible(std::string_view study,
                                       const Trial& leased,
                                       std::string_view message) override {
    auto request = WithId(AboutLeased<v1::MarkTrialInfeasibleRequest>(study, leased));
    request.set_message(wire::ValidUtf8(message));
    return OneTrial(&Stub::MarkTrialInfeasible, request);
  }

  absl::Status WatchStudy(std::string_view study,
                          EventSeq after,
                          bool follow,
                          const std::function<bool(const Event&)>& sink,
                          std::stop_token stop) override {
    return StreamEvents(*stub_, retry_, study, after, follow, sink, stop);
  }

  absl::Status StreamTrialLogs(std::string_view study,
                               TrialNumber trial,
                               const TrialLogQuery& query,
                               const std::function<bool(const TrialLogLine&)>& sink,
                               std::stop_token stop) override {
    return StreamLogs(*stub_, retry_, wire::TrialResource(study, trial), query, sink, stop);
  }

  // Tried once: a file that is sent in vain is sent again by the user, who sees how long it takes.
  absl::StatusOr<std::string> UploadPackage(const std::string& path) override {
    return UploadFile(*stub_, path);
  }

  absl::StatusOr<std::vector<Node>> ListNodes() override {
    VERNIER_ASSIGN_OR_RETURN(
        const auto response,
        retry_.Run<v1::ListNodesResponse>([&](grpc::ClientContext* context, auto* answer) {
          return cluster_stub_->ListNodes(context, v1::ListNodesRequest(), answer);
        }));
    return DecodeAll<Node>(response.nodes(), wire::DecodeNode);
  }

  absl::StatusOr<std::vector<QueuedGang>> ListQueue() override {
    VERNIER_ASSIGN_OR_RETURN(
        const auto response,
        retry_.Run<v1::ListQueueResponse>([&](grpc::ClientContext* context, auto* answer) {
          return cluster_stub_->ListQueue(context, v1::ListQueueRequest(), answer);
        }));
    return DecodeAll<QueuedGang>(response.trials(), wire::DecodeQueuedGang);
  }

  absl::StatusOr<ReplaySummary> ReplayStudy(std::string_view study) override {
    VERNIER_ASSIGN_OR_RETURN(const auto response,
                             Call(&Stub::ReplayStudy, AboutStudy<v1::ReplayStudyRequest>(study)));
    return DecodeReplay(response);
  }

  absl::StatusOr<ServerStatus> GetServerStatus() override {
    VERNIER_ASSIGN_OR_RETURN(const auto response,
                             Call(&Stub::GetServerInfo, v1::GetServerInfoRequest()));
    return DecodeServerInfo(response);
  }

 private:
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(Method<Request, Response> method, const Request& request) {
    // The request is the same each time, its id included, so that a repeated change takes effect once.
    return retry_.Run<Response>([&](grpc::ClientContext* context, Response* response) {
      return ((*stub_).*method)(context, request, response);
    });
  }

  // Once for each call of the interface, and not for each try.
  template <typename Request>
  Request WithId(Request request) const {
    request.set_request_id(request_id_.empty() ? NewRequestId() : request_id_);
    return request;
  }

  template <typename Request>
  absl::StatusOr<Study> OneStudy(Method<Request, v1::Study> method, const Request& request) {
    VERNIER_ASSIGN_OR_RETURN(const v1::Study study, Call(method, request));
    return wire::DecodeStudy(study);
  }

  template <typename Request>
  absl::StatusOr<Trial> OneTrial(Method<Request, v1::Trial> method, const Request& request) {
    VERNIER_ASSIGN_OR_RETURN(const v1::Trial trial, Call(method, request));
    return wire::DecodeTrial(trial);
  }

  // All pages of a list, or as many as the query's limit needs.
  template <typename Row, typename Response, typename Request, typename Rows, typename Decode>
  absl::StatusOr<std::vector<Row>> ListAll(Request request,
                                           const ListQuery& query,
                                           Method<Request, Response> method,
                                           Rows rows,
                                           Decode decode) {
    std::vector<Row> all;
    request.set_filter(query.filter);
    request.set_order_by(query.order_by);
    do {
      // Not more than are wanted, so that a short list is one short page.
      request.set_page_size(PageSize(query.limit, all.size()));
      VERNIER_ASSIGN_OR_RETURN(const Response page, Call(method, request));
      // A page may be empty with more behind it: only the token says whether there is more.
      VERNIER_RETURN_IF_ERROR(AppendDecoded(rows(page), decode, &all));
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty() && !IsFull(query.limit, all.size()));
    return all;
  }

  v1::CreateStudyRequest Creation(const StudySpec& spec) const {
    v1::CreateStudyRequest request;
    request.set_study_id(spec.name);
    wire::EncodeSpec(spec, request.mutable_study()->mutable_spec());
    return WithId(std::move(request));
  }

  const ClientOptions options_;
  const std::string request_id_;  // Empty: each change gets one.
  const Retry retry_;
  const std::unique_ptr<Stub> stub_;
  const std::unique_ptr<v1::ClusterService::Stub> cluster_stub_;
};

}  // namespace

std::unique_ptr<Client> NewChannelClient(std::shared_ptr<grpc::Channel> channel,
                                         ClientOptions options) {
  const Retry retry(options, std::move(channel));
  return std::make_unique<ChannelClient>(std::move(options), /*request_id=*/"", retry);
}

}  // namespace vernier::client

namespace vernier {

std::unique_ptr<Client> Client::Connect(const std::string& address, ClientOptions options) {
  grpc::ChannelArguments arguments;
  // A server that restarts is back within a second: look for it more often than gRPC would by itself.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // How long a server that is busy may take to accept; one that is not there refuses at once.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 400);
  // Lists and curves may exceed the 4 MiB that gRPC takes by default. The server bounds its pages.
  arguments.SetMaxReceiveMessageSize(-1);
  // Where it cannot be read or sent, the server says what is missing.
  const std::string token =
      options.token.empty() ? client::FindToken(address).value_or("") : options.token;
  return client::NewChannelClient(wire::OpenChannel(address, token, arguments), std::move(options));
}

}  // namespace vernier
