// Calls of Vizier's interface that are answered by whoever makes their change durable: over a store on disk, by many at
// once, and after a restart.
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "src/app/server.h"
#include "tests/storage/storage_testing.h"
#include "vernier/v1/study_service.grpc.pb.h"
#include "vizier/vizier_service.grpc.pb.h"

namespace vernier::vizier {
namespace {

using Stub = ::vizier::VizierService::Stub;

class VizierCallsTest : public ::testing::Test {
 protected:
  VizierCallsTest() { Start(); }

  void Start() {
    auto server = app::Server::Start({.store = folder_.PathOf("store"),
                                      .listen = {"127.0.0.1:0"},
                                      .open = true,
                                      .run_engine = false});
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
  google::longrunning::Operation SuggestOperation(const std::string& client) {
    ::vizier::SuggestTrialsRequest request;
    request.set_parent(kStudy);
    request.set_suggestion_count(1);
    request.set_client_id(client);
    return Call(&Stub::SuggestTrials, request);
  }
  ::vizier::Trial Suggest(const std::string& client) {
    ::vizier::SuggestTrialsResponse response;
    EXPECT_TRUE(response.ParseFromString(SuggestOperation(client).response().value()));
    return response.trials_size() == 1 ? response.trials(0) : ::vizier::Trial();
  }
  // Their ids.
  std::vector<std::string> OptimalTrials() {
    ::vizier::ListOptimalTrialsRequest request;
    request.set_parent(kStudy);
    const ::vizier::ListOptimalTrialsResponse listed = Call(&Stub::ListOptimalTrials, request);
    std::vector<std::string> ids;
    for (const auto& trial : listed.optimal_trials()) ids.push_back(trial.id());
    return ids;
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

TEST_F(VizierCallsTest, ATrialCompletedWithoutItsObjectiveHasSucceededButIsNotOptimal) {
  CreateStudy();
  auto request = Completion(Suggest("w").name());
  request.mutable_final_measurement()->mutable_metrics(0)->set_metric_id("los");
  const auto ended = Call(&Stub::CompleteTrial, request);
  EXPECT_EQ(ended.state(), ::vizier::Trial::SUCCEEDED);
  EXPECT_EQ(ended.final_measurement().metrics(0).metric_id(), "los");
  EXPECT_TRUE(OptimalTrials().empty());
  request = Completion(Suggest("w").name());
  request.mutable_final_measurement()->mutable_metrics(0)->set_value(std::nan(""));
  EXPECT_EQ(Call(&Stub::CompleteTrial, request).state(), ::vizier::Trial::SUCCEEDED);
  EXPECT_TRUE(OptimalTrials().empty());
}

TEST_F(VizierCallsTest, AllTrialsThatTieAreOptimal) {
  CreateStudy();
  for (const double loss : {2.0, 1.0, 1.0, 3.0, 1.0}) {
    ::vizier::CreateTrialRequest request = Creation(0.5);
    request.mutable_trial()->set_state(::vizier::Trial::SUCCEEDED);
    Measure(loss, request.mutable_trial()->mutable_final_measurement());
    Call(&Stub::CreateTrial, request);
  }
  EXPECT_EQ(OptimalTrials(), (std::vector<std::string>{"2", "3", "5"}));
}

TEST_F(VizierCallsTest, ATrialMayLackItsParameters) {
  CreateStudy();
  ::vizier::CreateTrialRequest request = Creation(0.5);
  request.mutable_trial()->clear_parameters();
  const ::vizier::Trial made = Call(&Stub::CreateTrial, request);
  EXPECT_EQ(made.state(), ::vizier::Trial::REQUESTED);
  EXPECT_EQ(made.parameters_size(), 0);
  EXPECT_EQ(Suggest("w").name(), made.name());
  EXPECT_EQ(Suggest("v").parameters_size(), 1);
  Restart();
  EXPECT_EQ(Call(&Stub::CompleteTrial, Completion(made.name())).parameters_size(), 0);
  EXPECT_EQ(OptimalTrials(), (std::vector<std::string>{"1"}));
  request.mutable_trial()->set_state(::vizier::Trial::SUCCEEDED);
  const ::vizier::Trial unmeasured = Call(&Stub::CreateTrial, request);
  EXPECT_EQ(unmeasured.state(), ::vizier::Trial::SUCCEEDED);
  EXPECT_FALSE(unmeasured.has_final_measurement());
}

TEST_F(VizierCallsTest, ADefinitionMayNameNothing) {
  ::vizier::CreateStudyRequest request;
  request.set_parent("owners/ann");
  request.mutable_study()->set_display_name("s");
  EXPECT_EQ(Call(&Stub::CreateStudy, request).state(), ::vizier::Study::ACTIVE);
  Restart();
  const ::vizier::Trial trial = Suggest("w");
  EXPECT_EQ(trial.parameters_size(), 0);
  Call(&Stub::CompleteTrial, Completion(trial.name()));
  EXPECT_EQ(OptimalTrials(), (std::vector<std::string>{"1"}));
  EXPECT_EQ(Suggest("w").name(), "");  // Its only point was proposed.
  ::vizier::GetStudyRequest get;
  get.set_name(kStudy);
  EXPECT_EQ(Call(&Stub::GetStudy, get).state(), ::vizier::Study::ACTIVE);
}

TEST_F(VizierCallsTest, ASingleMetricNeedsNoName) {
  ::vizier::CreateStudyRequest request;
  request.set_parent("owners/ann");
  request.mutable_study()->set_display_name("s");
  auto& spec = *request.mutable_study()->mutable_study_spec();
  spec.add_metrics()->set_goal(::vizier::StudySpec::MetricSpec::MINIMIZE);
  auto* parameter = spec.add_parameters();
  parameter->set_parameter_id("x");
  parameter->mutable_double_value_spec()->set_max_value(1);
  EXPECT_EQ(Call(&Stub::CreateStudy, request).study_spec().metrics(0).metric_id(), "");
  for (int i = 0; i < 2; ++i) {
    auto completion = Completion(Suggest("w").name());
    completion.mutable_final_measurement()->mutable_metrics(0)->set_metric_id("");
    completion.mutable_final_measurement()->mutable_metrics(0)->set_value(i);
    const auto ended = Call(&Stub::CompleteTrial, completion);
    ASSERT_EQ(ended.final_measurement().metrics_size(), 1);
    EXPECT_EQ(ended.final_measurement().metrics(0).metric_id(), "");
  }
  EXPECT_EQ(OptimalTrials(), (std::vector<std::string>{"1"}));
}

// As Vizier's client sends the values of add_bool_param.
TEST_F(VizierCallsTest, BooleansMayBeNumbers) {
  ::vizier::CreateStudyRequest request;
  request.set_parent("owners/ann");
  request.mutable_study()->set_display_name("s");
  auto* parameter = request.mutable_study()->mutable_study_spec()->add_parameters();
  parameter->set_parameter_id("x");
  parameter->mutable_categorical_value_spec()->add_values("False");
  parameter->mutable_categorical_value_spec()->add_values("True");
  parameter->set_external_type(::vizier::StudySpec::ParameterSpec::AS_BOOLEAN);
  Call(&Stub::CreateStudy, request);
  for (const bool value : {true, false}) {
    const auto trial = Call(&Stub::CreateTrial, Creation(value ? 1 : 0));
    EXPECT_EQ(trial.parameters(0).value().string_value(), value ? "True" : "False");
  }
  EXPECT_EQ(Refusal(&Stub::CreateTrial, Creation(2)), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(VizierCallsTest, MetadataOfATrialIsNeverTakenForTheStudys) {
  CreateStudy();
  const auto update = [](const std::string& trial) {
    ::vizier::UpdateMetadataRequest request;
    request.set_name(kStudy);
    auto& unit = *request.add_delta();
    unit.set_trial_id(trial);
    unit.mutable_metadatum()->set_key("k");
    unit.mutable_metadatum()->set_value("v");
    return request;
  };
  for (const std::string trial : {"", "0", "01", "-1", "x", "1x"}) {
    EXPECT_EQ(Refusal(&Stub::UpdateMetadata, update(trial)), grpc::StatusCode::INVALID_ARGUMENT)
        << trial;
  }
  EXPECT_NE(Call(&Stub::UpdateMetadata, update("7")).error_details().find("trial 7"),
            std::string::npos);
  Suggest("w");
  EXPECT_EQ(Call(&Stub::UpdateMetadata, update("1")).error_details(), "");
  ::vizier::GetStudyRequest get;
  get.set_name(kStudy);
  EXPECT_EQ(Call(&Stub::GetStudy, get).study_spec().metadata_size(), 0);
}

TEST_F(VizierCallsTest, ATrialFitsAMessageHoweverLongItsCurveIs) {
  CreateStudy();
  const std::string name = Suggest("w").name();
  const auto native = v1::StudyService::NewStub(
      grpc::CreateChannel(server_->addresses().front(), grpc::InsecureChannelCredentials()));
  v1::ReportMeasurementRequest report;
  report.set_name("studies/ann-s/trials/1");
  int step = 0;
  for (int call = 0; call < 8; ++call) {
    report.clear_measurements();
    for (int i = 0; i < 999; ++i) {
      v1::Measurement& measurement = *report.add_measurements();
      measurement.set_step(++step);
      for (char metric = 'a'; metric < 'k'; ++metric) {
        (*measurement.mutable_metrics())[std::string(100, metric)] = step;
      }
    }
    grpc::ClientContext context;
    v1::ReportMeasurementResponse response;
    const grpc::Status status = native->ReportMeasurement(&context, report, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  ::vizier::GetTrialRequest get;
  get.set_name(name);
  const ::vizier::Trial trial = Call(&Stub::GetTrial, get);
  EXPECT_GT(trial.measurements_size(), 1000);
  EXPECT_EQ(trial.measurements(trial.measurements_size() - 1).step_count(), step);
  for (int i = 1; i < trial.measurements_size(); ++i) {
    ASSERT_EQ(trial.measurements(i).step_count() - trial.measurements(i - 1).step_count(), 4);
  }
}

TEST_F(VizierCallsTest, AStudyIsCreatedInTheStateThatIsAskedFor) {
  for (const auto state : {::vizier::Study::INACTIVE, ::vizier::Study::COMPLETED}) {
    ::vizier::CreateStudyRequest request;
    request.set_parent("owners/ann");
    request.mutable_study()->set_display_name(::vizier::Study::State_Name(state));
    request.mutable_study()->set_state(state);
    EXPECT_EQ(Call(&Stub::CreateStudy, request).state(), state);
  }
}

TEST_F(VizierCallsTest, AMeasurementWithoutMetricsIsASignOfLife) {
  CreateStudy();
  ::vizier::AddTrialMeasurementRequest report;
  report.set_trial_name(Suggest("w").name());
  report.mutable_measurement()->set_step_count(3);
  EXPECT_EQ(Call(&Stub::AddTrialMeasurement, report).measurements_size(), 0);
  Call(&Stub::CompleteTrial, Completion(report.trial_name()));
  EXPECT_EQ(Refusal(&Stub::AddTrialMeasurement, report), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(VizierCallsTest, OperationsCountForEachClientAndGoWithTheirStudy) {
  CreateStudy();
  EXPECT_EQ(SuggestOperation("w").name(), "owners/ann/operations/suggestion/s/w/1");
  const google::longrunning::Operation second = SuggestOperation("w");
  EXPECT_EQ(second.name(), "owners/ann/operations/suggestion/s/w/2");
  EXPECT_EQ(SuggestOperation("v").name(), "owners/ann/operations/suggestion/s/v/1");
  google::longrunning::GetOperationRequest get;
  get.set_name(second.name());
  EXPECT_EQ(Call(&Stub::GetOperation, get).SerializeAsString(), second.SerializeAsString());
  // Not by Vizier's own call.
  const auto native = v1::StudyService::NewStub(
      grpc::CreateChannel(server_->addresses().front(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::DeleteStudyRequest gone;
  gone.set_name("studies/ann-s");
  gone.set_force(true);
  google::protobuf::Empty nothing;
  ASSERT_TRUE(native->DeleteStudy(&context, gone, &nothing).ok());
  EXPECT_EQ(Refusal(&Stub::GetOperation, get), grpc::StatusCode::NOT_FOUND);
  CreateStudy();
  EXPECT_EQ(Refusal(&Stub::GetOperation, get), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(SuggestOperation("w").name(), "owners/ann/operations/suggestion/s/w/1");
}

TEST_F(VizierCallsTest, AStudyThatIsNotActiveIsReadAndItsTrialsAreCompleted) {
  for (const auto state : {::vizier::Study::INACTIVE, ::vizier::Study::COMPLETED}) {
    SCOPED_TRACE(::vizier::Study::State_Name(state));
    CreateStudy();
    const std::string trial = Suggest("w").name();
    ::vizier::SetStudyStateRequest set;
    set.set_parent(kStudy);
    set.set_state(state);
    Call(&Stub::SetStudyState, set);
    const auto refused = grpc::StatusCode::FAILED_PRECONDITION;
    EXPECT_EQ(Refusal(&Stub::CreateTrial, Creation(0.5)), refused);
    for (const std::string client : {"w", "v"}) {  // One that holds a trial, and another.
      ::vizier::SuggestTrialsRequest suggest;
      suggest.set_parent(kStudy);
      suggest.set_client_id(client);
      EXPECT_EQ(Refusal(&Stub::SuggestTrials, suggest), refused);
    }
    ::vizier::StopTrialRequest stop;
    ::vizier::DeleteTrialRequest remove;
    ::vizier::CheckTrialEarlyStoppingStateRequest check;
    for (const std::string& name : {trial, std::string(kStudy) + "/trials/99"}) {
      stop.set_name(name);
      remove.set_name(name);
      check.set_trial_name(name);
      EXPECT_EQ(Refusal(&Stub::StopTrial, stop), refused);
      EXPECT_EQ(Refusal(&Stub::DeleteTrial, remove), refused);
      EXPECT_EQ(Refusal(&Stub::CheckTrialEarlyStoppingState, check), refused);
    }
    ::vizier::UpdateMetadataRequest update;
    update.set_name(kStudy);
    EXPECT_EQ(Refusal(&Stub::UpdateMetadata, update), refused);

    ::vizier::GetStudyRequest get;
    get.set_name(kStudy);
    EXPECT_EQ(Call(&Stub::GetStudy, get).state(), state);
    ::vizier::AddTrialMeasurementRequest report;
    report.set_trial_name(trial);
    Measure(1, report.mutable_measurement());
    EXPECT_EQ(Call(&Stub::AddTrialMeasurement, report).measurements_size(), 1);
    EXPECT_EQ(Call(&Stub::CompleteTrial, Completion(trial)).state(), ::vizier::Trial::SUCCEEDED);
    EXPECT_EQ(OptimalTrials(), (std::vector<std::string>{"1"}));
    ::vizier::DeleteStudyRequest gone;
    gone.set_name(kStudy);
    Call(&Stub::DeleteStudy, gone);
  }
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
