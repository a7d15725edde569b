#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "src/app/server.h"
#include "src/wire/status_proto.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::service {

// A whole server in memory, on a free port, and a client's stub to it.
class ServerTest : public ::testing::Test {
 protected:
  using Stub = v1::StudyService::Stub;

  explicit ServerTest(AlgorithmCatalogue algorithms = AlgorithmCatalogue::BuiltIn()) {
    app::ServerOptions options = {
        .store = ":memory:", .listen = {"127.0.0.1:0"}, .open = true, .run_engine = false};
    options.algorithms = std::move(algorithms);
    auto server = app::Server::Start(options);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ =
        grpc::CreateChannel(server_->addresses().front(), grpc::InsecureChannelCredentials());
    stub_ = v1::StudyService::NewStub(channel_);
  }

  template <typename Message>
  static Message Text(const std::string& text) {
    Message message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
    return message;
  }

  template <typename Request, typename Response>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

  // One call that must succeed.
  template <typename Request, typename Response>
  Response Call(Method<Request, Response> method, const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = ((*stub_).*method)(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_code() << ": " << status.error_message();
    return response;
  }

  // One call that is refused.
  template <typename Request, typename Response>
  absl::Status Refusal(Method<Request, Response> method, const Request& request) {
    grpc::ClientContext context;
    Response response;
    return wire::DecodeStatus(((*stub_).*method)(&context, request, &response));
  }

  static v1::CreateStudyRequest Creation(const std::string& id) {
    auto request = Text<v1::CreateStudyRequest>(
        "study { spec { objectives { metric: 'accuracy' goal: MAXIMIZE } "
        "parameters { name: 'x' float { lower: 0 upper: 1 } } algorithm { name: 'random' } "
        "parallel: 8 budget { trials: 50 } seed: 3 } }");
    request.set_study_id(id);
    return request;
  }

  v1::Study CreateStudy(const std::string& id) { return Call(&Stub::CreateStudy, Creation(id)); }

  v1::Trial Suggest(const std::string& client) {
    v1::SuggestTrialsRequest request;
    request.set_parent("studies/s");
    request.set_client_id(client);
    const auto response = Call(&Stub::SuggestTrials, request);
    EXPECT_EQ(response.trials_size(), 1);
    return response.trials_size() == 1 ? response.trials(0) : v1::Trial();
  }

  // A request about a trial by the client that holds it.
  template <typename Request>
  static Request About(const v1::Trial& trial) {
    Request request;
    request.set_name(trial.name());
    request.set_client_id(trial.lease().holder());
    request.set_lease_token(trial.lease().token());
    return request;
  }

  // A call of SuggestTrials that nobody waits for.
  struct Asked {
    grpc::ClientContext context;
    v1::SuggestTrialsRequest request;
    v1::SuggestTrialsResponse response;
    grpc::Status status;
    absl::Notification answered;
  };
  std::unique_ptr<Asked> Ask(const std::string& study, const std::string& client) {
    auto asked = std::make_unique<Asked>();
    asked->request.set_parent("studies/" + study);
    asked->request.set_client_id(client);
    stub_->async()->SuggestTrials(&asked->context,
                                  &asked->request,
                                  &asked->response,
                                  [asked = asked.get()](grpc::Status status) {
                                    asked->status = std::move(status);
                                    asked->answered.Notify();
                                  });
    return asked;
  }

  v1::Trial Complete(const v1::Trial& trial, double accuracy) {
    auto request = About<v1::CompleteTrialRequest>(trial);
    (*request.mutable_final_metrics())["accuracy"] = accuracy;
    return Call(&Stub::CompleteTrial, request);
  }

  std::unique_ptr<app::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;  // gRPC shares it with the stub.
  std::unique_ptr<Stub> stub_;
};

}  // namespace vernier::service
