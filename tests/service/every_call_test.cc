// What holds for every call alike: unknown things, malformed names, deadlines.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/service/server_fixture.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

using Stub = v1::StudyService::Stub;

struct CallCase {
  std::string name;
  // Makes the call about this study or trial.
  std::function<grpc::Status(Stub&, grpc::ClientContext*, const std::string&)> call;
  std::string unknown;         // A well-formed name of nothing.
  std::string field = "name";  // Of the request, that holds the name.
  Reason reason = Reason::kStudyNotFound;
};

template <typename Request, typename Response>
auto Unary(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
           const std::string& text = "") {
  return [=](Stub& stub, grpc::ClientContext* context, const std::string& name) {
    Request request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request));
    const auto* field = Request::descriptor()->FindFieldByName("name");
    if (field == nullptr) field = Request::descriptor()->FindFieldByName("parent");
    Request::GetReflection()->SetString(&request, field, name);
    Response response;
    return (stub.*method)(context, request, &response);
  };
}

template <typename Reader>
grpc::Status Drain(Reader reader, auto message) {
  while (reader->Read(&message)) {
  }
  return reader->Finish();
}

grpc::Status Watch(Stub& stub, grpc::ClientContext* context, const std::string& name) {
  v1::WatchStudyRequest request;
  request.set_name(name);
  return Drain(stub.WatchStudy(context, request), v1::StudyEvent());
}

grpc::Status Logs(Stub& stub, grpc::ClientContext* context, const std::string& name) {
  v1::StreamTrialLogsRequest request;
  request.set_name(name);
  return Drain(stub.StreamTrialLogs(context, request), v1::LogLine());
}

std::vector<CallCase> Calls() {
  const std::string study = "studies/none";
  const std::string trial = "studies/s/trials/99";
  const Reason no_trial = Reason::kTrialNotFound;
  const std::string budget = "study { spec { parallel: 2 } }";
  const std::string values = "measurements { metrics { key: 'a' value: 1 } }";
  return {
      {"GetStudy", Unary(&Stub::GetStudy), study},
      {"UpdateStudy", Unary(&Stub::UpdateStudy, budget), study},
      {"DeleteStudy", Unary(&Stub::DeleteStudy), study},
      {"PauseStudy", Unary(&Stub::PauseStudy), study},
      {"ResumeStudy", Unary(&Stub::ResumeStudy), study},
      {"StopStudy", Unary(&Stub::StopStudy), study},
      {"FinishStudy", Unary(&Stub::FinishStudy), study},
      {"ReplayStudy", Unary(&Stub::ReplayStudy), study},
      {"WatchStudy", Watch, study},
      {"ListTrials", Unary(&Stub::ListTrials), study, "parent"},
      {"CreateTrial", Unary(&Stub::CreateTrial), study, "parent"},
      {"AddTrials", Unary(&Stub::AddTrials, "trials {}"), study, "parent"},
      {"SuggestTrials", Unary(&Stub::SuggestTrials, "client_id: 'w'"), study, "parent"},
      {"PredictPoints", Unary(&Stub::PredictPoints, "points {}"), study, "parent"},
      {"GetTrial", Unary(&Stub::GetTrial), trial, "name", no_trial},
      {"ListMeasurements", Unary(&Stub::ListMeasurements), trial, "parent", no_trial},
      {"HeartbeatTrial", Unary(&Stub::HeartbeatTrial, "client_id: 'w'"), trial, "name", no_trial},
      {"EndLease", Unary(&Stub::EndLease, "client_id: 'w'"), trial, "name", no_trial},
      {"ReportMeasurement", Unary(&Stub::ReportMeasurement, values), trial, "name", no_trial},
      {"CompleteTrial", Unary(&Stub::CompleteTrial), trial, "name", no_trial},
      {"FailTrial", Unary(&Stub::FailTrial), trial, "name", no_trial},
      {"MarkTrialInfeasible", Unary(&Stub::MarkTrialInfeasible), trial, "name", no_trial},
      {"StopTrial", Unary(&Stub::StopTrial), trial, "name", no_trial},
      {"DeleteTrial", Unary(&Stub::DeleteTrial), trial, "name", no_trial},
      {"StreamTrialLogs", Logs, trial, "name", no_trial},
  };
}

class EveryCallTest : public ServerTest, public ::testing::WithParamInterface<CallCase> {
 protected:
  EveryCallTest() { CreateStudy("s"); }
};

TEST_P(EveryCallTest, AboutNothingIsNotFound) {
  grpc::ClientContext context;
  const absl::Status status =
      wire::DecodeStatus(GetParam().call(*stub_, &context, GetParam().unknown));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_EQ(GetReason(status), GetParam().reason) << status;
}

TEST_P(EveryCallTest, WithAMalformedNameNamesTheField) {
  grpc::ClientContext context;
  const absl::Status status = wire::DecodeStatus(GetParam().call(*stub_, &context, "nonsense"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(GetField(status), GetParam().field) << status;
}

TEST_P(EveryCallTest, PastItsDeadlineIsDeadlineExceeded) {
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(-1, GPR_TIMESPAN));
  const grpc::Status status = GetParam().call(*stub_, &context, "studies/s");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
}

INSTANTIATE_TEST_SUITE_P(Table, EveryCallTest, ::testing::ValuesIn(Calls()), [](const auto& row) {
  return row.param.name;
});

// Every method of the service is in the table, or has no name to be wrong about.
TEST(EveryCall, IsInTheTable) {
  const auto* service = v1::StudyService::service_full_name();
  const auto* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(service);
  ASSERT_NE(descriptor, nullptr);
  for (int i = 0; i < descriptor->method_count(); ++i) {
    const std::string& method = descriptor->method(i)->name();
    if (method == "CreateStudy" || method == "ListStudies" || method == "GetServerInfo" ||
        method == "UploadPackage" || method == "CleanUp") {
      continue;
    }
    const auto calls = Calls();
    EXPECT_TRUE(std::any_of(calls.begin(), calls.end(), [&](const CallCase& c) {
      return c.name == method;
    })) << method;
  }
}

}  // namespace
}  // namespace vernier::service
