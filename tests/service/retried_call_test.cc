// Repeating a call with its request_id returns the first answer and changes nothing.
#include "google/protobuf/util/message_differencer.h"
#include "tests/service/server_fixture.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

using google::protobuf::util::MessageDifferencer;

class RetriedCallTest : public ServerTest {
 protected:
  std::int64_t LastEvent() {
    return Call(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'")).last_event();
  }

  template <typename Request, typename Response>
  void ExpectOneEffect(Method<Request, Response> method, Request request) {
    request.set_request_id("request-1");
    const Response first = Call(method, request);
    const std::int64_t events = LastEvent();
    const Response second = Call(method, request);
    EXPECT_TRUE(MessageDifferencer::Equals(first, second)) << first.ShortDebugString() << "\nthen\n"
                                                           << second.ShortDebugString();
    EXPECT_EQ(LastEvent(), events);
  }
};

TEST_F(RetriedCallTest, CreatesOneStudy) {
  ExpectOneEffect(&Stub::CreateStudy, Creation("s"));
  const auto all = Call(&Stub::ListStudies, v1::ListStudiesRequest());
  EXPECT_EQ(all.studies_size(), 1);
}

TEST_F(RetriedCallTest, ChangesAStudyOnce) {
  CreateStudy("s");
  ExpectOneEffect(&Stub::UpdateStudy,
                  Text<v1::UpdateStudyRequest>("name: 'studies/s' study { spec { parallel: 3 } }"));
}

TEST_F(RetriedCallTest, PausesOnce) {
  CreateStudy("s");
  ExpectOneEffect(&Stub::PauseStudy, Text<v1::PauseStudyRequest>("name: 'studies/s'"));
}

TEST_F(RetriedCallTest, ResumesOnce) {
  CreateStudy("s");
  Call(&Stub::PauseStudy, Text<v1::PauseStudyRequest>("name: 'studies/s'"));
  ExpectOneEffect(&Stub::ResumeStudy, Text<v1::ResumeStudyRequest>("name: 'studies/s'"));
}

TEST_F(RetriedCallTest, StopsOnce) {
  CreateStudy("s");
  Suggest("w");
  ExpectOneEffect(&Stub::StopStudy,
                  Text<v1::StopStudyRequest>("name: 'studies/s' reason: 'enough'"));
}

TEST_F(RetriedCallTest, FinishesOnce) {
  CreateStudy("s");
  Suggest("w");
  ExpectOneEffect(&Stub::FinishStudy,
                  Text<v1::FinishStudyRequest>("name: 'studies/s' reason: 'good enough'"));
}

TEST_F(RetriedCallTest, DeletesOneStudy) {
  CreateStudy("s");
  const auto request = Text<v1::DeleteStudyRequest>("name: 'studies/s' request_id: 'request-1'");
  Call(&Stub::DeleteStudy, request);
  const v1::Study anew = CreateStudy("s");
  Call(&Stub::DeleteStudy, request);
  const auto read = Call(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'"));
  EXPECT_TRUE(MessageDifferencer::Equals(read, anew)) << read.ShortDebugString();
}

TEST_F(RetriedCallTest, SuggestsTheSameTrials) {
  CreateStudy("s");
  ExpectOneEffect(&Stub::SuggestTrials,
                  Text<v1::SuggestTrialsRequest>("parent: 'studies/s' count: 2 client_id: 'w'"));
}

TEST_F(RetriedCallTest, AddsOneTrial) {
  CreateStudy("s");
  ExpectOneEffect(&Stub::CreateTrial,
                  Text<v1::CreateTrialRequest>("parent: 'studies/s' trial { parameters { "
                                               "key: 'x' value { number: 0.5 } } }"));
}

TEST_F(RetriedCallTest, AddsTrialsOnce) {
  CreateStudy("s");
  ExpectOneEffect(
      &Stub::AddTrials,
      Text<v1::AddTrialsRequest>(
          "parent: 'studies/s' "
          "trials { parameters { key: 'x' value { number: 0.5 } } "
          "  completed { metrics { key: 'accuracy' value: 0.7 } } } "
          "trials { parameters { key: 'x' value { number: 0.25 } } failed { message: 'oom' } }"));
}

TEST_F(RetriedCallTest, ReportsOnce) {
  CreateStudy("s");
  auto request = About<v1::ReportMeasurementRequest>(Suggest("w"));
  (*request.add_measurements()->mutable_metrics())["accuracy"] = 0.5;
  ExpectOneEffect(&Stub::ReportMeasurement, request);
}

TEST_F(RetriedCallTest, CompletesOnce) {
  CreateStudy("s");
  auto request = About<v1::CompleteTrialRequest>(Suggest("w"));
  (*request.mutable_final_metrics())["accuracy"] = 0.5;
  ExpectOneEffect(&Stub::CompleteTrial, request);
}

TEST_F(RetriedCallTest, FailsOnce) {
  CreateStudy("s");
  ExpectOneEffect(&Stub::FailTrial, About<v1::FailTrialRequest>(Suggest("w")));
}

TEST_F(RetriedCallTest, MarksInfeasibleOnce) {
  CreateStudy("s");
  ExpectOneEffect(&Stub::MarkTrialInfeasible, About<v1::MarkTrialInfeasibleRequest>(Suggest("w")));
}

TEST_F(RetriedCallTest, StopsATrialOnce) {
  CreateStudy("s");
  v1::StopTrialRequest request;
  request.set_name(Suggest("w").name());
  ExpectOneEffect(&Stub::StopTrial, request);
}

TEST_F(RetriedCallTest, DeletesATrialOnce) {
  CreateStudy("s");
  v1::DeleteTrialRequest request;
  request.set_name(Suggest("w").name());
  ExpectOneEffect(&Stub::DeleteTrial, request);
}

TEST_F(RetriedCallTest, DeletesATrialThatWasToldToStopOnce) {
  CreateStudy("s");
  v1::StopTrialRequest stop;
  stop.set_name(Suggest("w").name());
  Call(&Stub::StopTrial, stop);
  v1::DeleteTrialRequest request;
  request.set_name(stop.name());
  ExpectOneEffect(&Stub::DeleteTrial, request);
}

TEST_F(RetriedCallTest, RefusesAnIdThatAnotherCallUsed) {
  CreateStudy("s");
  Call(&Stub::PauseStudy, Text<v1::PauseStudyRequest>("name: 'studies/s' request_id: 'r'"));
  const absl::Status status = Refusal(
      &Stub::ResumeStudy, Text<v1::ResumeStudyRequest>("name: 'studies/s' request_id: 'r'"));
  EXPECT_THAT(status, testing::StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(GetReason(status), Reason::kRequestReused);
  Call(&Stub::StopStudy, Text<v1::StopStudyRequest>("name: 'studies/s' request_id: 'q'"));
  EXPECT_EQ(GetReason(Refusal(&Stub::FinishStudy,
                              Text<v1::FinishStudyRequest>("name: 'studies/s' request_id: 'q'"))),
            Reason::kRequestReused);
}

}  // namespace
}  // namespace vernier::service
