// Calls of Vizier's interface that are answered by whoever makes their change durable: over a store on disk, by many at
// once, and after a restart.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "src/app/server.h"
#include "tests/storage/storage_testing.h"
#include "vizier/vizier_service.grpc.pb.h"

namespace vernier::vizier {
namespace {

using Stub = ::vizier::VizierService::Stub;

class VizierCallsTest : public ::testing::Test {
 protected:
  VizierCallsTest() { Start(); }

  void Start() {
    auto server = app::Server::Start(
        {.store = folder_.PathOf("store"), .listen = {"127.0.0.1:0"}, .run_engine = false});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    stub_ = ::vizier::VizierService::NewStub(
        grpc::CreateChannel(server_->addresses().front(), grpc::InsecureChannelCredentials()));
  }
  void Restart() {
    server_.reset();
    Start();
  }

  template <typename Request, typename Reply>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Reply*);
  template <typename Request, typename Reply>
  grpc::Status Try(Method<Request, Reply> method, const Request& request, Reply* reply) {
    grpc::ClientContext context;
    return ((*stub_).*method)(&context, request, reply);
  }
  template <typename Request, typename Reply>
  Reply Call(Method<Request, Reply> method, const Request& request) {
    Reply reply;
    const grpc::Status status = Try(method, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  template <typename Request, typename Reply>
  grpc::StatusCode Refusal(Method<Request, Reply> method, const Request& request) {
    Reply reply;
    return Try(method, request, &reply).error_code();
  }

  void CreateStudy() {
    ::vizier::CreateStudyRequest request;
    request.set_parent("owners/ann");
    request.mutable_study()->set_display_name("s");
    auto& spec = *request.mutable_study()->mutable_study_spec();
    spec.set_algorithm("RANDOM_SEARCH");
    auto* metric = spec.add_metrics();
    metric->set_metric_id("loss");
    metric->set_goal(::vizier::StudySpec::MetricSpec::MINIMIZE);
    auto* parameter = spec.add_parameters();
    parameter->set_parameter_id("x");
    parameter->mutable_double_value_spec()->set_max_value(1);
    EXPECT_EQ(Call(&Stub::CreateStudy, request).name(), kStudy);
  }
  static ::vizier::CreateTrialRequest Creation(double x, const std::string& study = kStudy) {
    ::vizier::CreateTrialRequest request;
    request.set_parent(study);
    auto* value = request.mutable_trial()->add_parameters();
    value->set_parameter_id("x");
    value->mutable_value()->set_number_value(x);
    return request;
  }
  ::vizier::Trial Suggest(const std::string& client) {
    ::vizier::SuggestTrialsRequest request;
    request.set_parent(kStudy);
    request.set_suggestion_count(1);
    request.set_client_id(client);
    const auto operation = Call(&Stub::SuggestTrials, request);
    ::vizier::SuggestTrialsResponse response;
    EXPECT_TRUE(response.ParseFromString(operation.response().value()));
    return response.trials_size() == 1 ? response.trials(0) : ::vizier::Trial();
  }
  static void Measure(double loss, ::vizier::Measurement* measurement) {
    auto* metric = measurement->add_metrics();
    metric->set_metric_id("loss");
    metric->set_value(loss);
  }
  static ::vizier::CompleteTrialRequest Completion(const std::string& trial) {
    ::vizier::CompleteTrialRequest request;
    request.set_name(trial);
    Measure(0.5, request.mutable_final_measurement());
    return request;
  }

  static constexpr char kStudy[] = "owners/ann/studies/s";
  testing::TempFolder folder_;
  std::unique_ptr<app::Server> server_;
  std::unique_ptr<Stub> stub_;
};

TEST_F(VizierCallsTest, ATrialCompletedWithoutItsObjectiveIsInfeasibleAndKeepsItsMeasurement) {
  CreateStudy();
  auto request = Completion(Suggest("w").name());
  request.mutable_final_measurement()->mutable_metrics(0)->set_metric_id("los");
  const auto ended = Call(&Stub::CompleteTrial, request);
  EXPECT_EQ(ended.state(), ::vizier::Trial::INFEASIBLE);
  EXPECT_EQ(ended.infeasible_reason(), "ended without a value of its objective 'loss'");
  EXPECT_EQ(ended.final_measurement().metrics(0).metric_id(), "los");
}

TEST_F(VizierCallsTest, ByManyAtOnceNothingIsLost) {
  CreateStudy();
  constexpr int kThreads = 8;
  constexpr int kRounds = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kRounds; ++i) {
        EXPECT_EQ(Call(&Stub::CreateTrial, Creation(0.5)).state(), ::vizier::Trial::REQUESTED);
        const ::vizier::Trial trial = Suggest("w" + std::to_string(t));
        EXPECT_EQ(Call(&Stub::CompleteTrial, Completion(trial.name())).state(),
                  ::vizier::Trial::SUCCEEDED);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Restart();
  ::vizier::ListTrialsRequest request;
  request.set_parent(kStudy);
  const ::vizier::ListTrialsResponse listed = Call(&Stub::ListTrials, request);
  int succeeded = 0;
  for (const auto& trial : listed.trials()) {
    succeeded += trial.state() == ::vizier::Trial::SUCCEEDED ? 1 : 0;
  }
  EXPECT_EQ(succeeded, kThreads * kRounds);
}

TEST_F(VizierCallsTest, AStudyThatMustBeLoadedFirstIsNoDifferent) {
  CreateStudy();
  const ::vizier::Trial trial = Suggest("w");
  Restart();
  EXPECT_EQ(Call(&Stub::CompleteTrial, Completion(trial.name())).state(),
            ::vizier::Trial::SUCCEEDED);
  Restart();
  EXPECT_EQ(Call(&Stub::CreateTrial, Creation(0.5)).id(), "2");
}

TEST_F(VizierCallsTest, AnswersHoldTheCurve) {
  CreateStudy();
  const ::vizier::Trial trial = Suggest("w");
  ::vizier::AddTrialMeasurementRequest report;
  report.set_trial_name(trial.name());
  Measure(0.75, report.mutable_measurement());
  report.mutable_measurement()->set_step_count(1);
  Call(&Stub::AddTrialMeasurement, report);
  const ::vizier::Trial completed = Call(&Stub::CompleteTrial, Completion(trial.name()));
  ASSERT_EQ(completed.measurements_size(), 1);
  EXPECT_EQ(completed.measurements(0).metrics(0).value(), 0.75);
  EXPECT_EQ(completed.final_measurement().metrics(0).value(), 0.5);

  ::vizier::CreateTrialRequest tried = Creation(0.25);
  *tried.mutable_trial()->add_measurements() = report.measurement();
  EXPECT_EQ(Call(&Stub::CreateTrial, tried).measurements_size(), 1);
}

TEST_F(VizierCallsTest, ATrialThatCannotBeEvaluated) {
  CreateStudy();
  ::vizier::CompleteTrialRequest request;
  request.set_name(Suggest("w").name());
  request.set_trial_infeasible(true);
  request.set_infeasible_reason("NaN");
  const ::vizier::Trial ended = Call(&Stub::CompleteTrial, request);
  EXPECT_EQ(ended.state(), ::vizier::Trial::INFEASIBLE);
  EXPECT_EQ(ended.infeasible_reason(), "NaN");
}

TEST_F(VizierCallsTest, RefusalsChangeNothing) {
  CreateStudy();
  const ::vizier::Trial trial = Suggest("w");
  EXPECT_EQ(Refusal(&Stub::CreateTrial, Creation(0.5, "nonsense")),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Refusal(&Stub::CreateTrial, Creation(0.5, "owners/ann/studies/none")),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Refusal(&Stub::CreateTrial, Creation(2)), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Refusal(&Stub::CompleteTrial, Completion("owners/ann/studies/s/trials/x")),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Refusal(&Stub::CompleteTrial, Completion("owners/ann/studies/s/trials/9")),
            grpc::StatusCode::NOT_FOUND);
  ::vizier::CompleteTrialRequest unmeasured;
  unmeasured.set_name(trial.name());
  EXPECT_EQ(Refusal(&Stub::CompleteTrial, unmeasured), grpc::StatusCode::INVALID_ARGUMENT);
  Call(&Stub::CompleteTrial, Completion(trial.name()));
  EXPECT_EQ(Refusal(&Stub::CompleteTrial, Completion(trial.name())),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Call(&Stub::CreateTrial, Creation(0.5)).id(), "2");
}

}  // namespace
}  // namespace vernier::vizier
