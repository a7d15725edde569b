// Clients that run trials themselves.
#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/service/server_fixture.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

class WorkersTest : public ServerTest {};

TEST_F(WorkersTest, ThatAskAtOnceNeverGetOneTrial) {
  CreateStudy("s");
  constexpr int kWorkers = 8;
  constexpr int kTrials = 5;
  std::vector<std::vector<std::int64_t>> got(kWorkers);
  std::vector<std::jthread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      for (int i = 0; i < kTrials; ++i) {
        const v1::Trial trial = Suggest("worker-" + std::to_string(w));
        got[static_cast<std::size_t>(w)].push_back(trial.number());
        Complete(trial, 0.5);
      }
    });
  }
  workers.clear();
  std::set<std::int64_t> numbers;
  for (const auto& mine : got) numbers.insert(mine.begin(), mine.end());
  EXPECT_EQ(numbers.size(), kWorkers * kTrials);
  EXPECT_EQ(*numbers.rbegin(), kWorkers * kTrials);
}

TEST_F(WorkersTest, GetTheirOwnTrialAgain) {
  CreateStudy("s");
  const v1::Trial first = Suggest("w");
  EXPECT_EQ(first.state(), v1::RUNNING);
  EXPECT_EQ(first.lease().holder(), "w");
  EXPECT_EQ(Suggest("w").number(), first.number());
  EXPECT_NE(Suggest("v").number(), first.number());
}

TEST_F(WorkersTest, WithoutTheLeaseAreRefused) {
  CreateStudy("s");
  const v1::Trial trial = Suggest("w");
  auto request = About<v1::CompleteTrialRequest>(trial);
  (*request.mutable_final_metrics())["accuracy"] = 1;
  request.clear_lease_token();
  EXPECT_THAT(Refusal(&Stub::CompleteTrial, request),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("its lease token is needed")));
  request.set_lease_token(trial.lease().token());
  request.set_client_id("thief");
  const absl::Status status = Refusal(&Stub::CompleteTrial, request);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(GetReason(status), Reason::kLeaseLost);
  auto heartbeat = About<v1::HeartbeatTrialRequest>(trial);
  EXPECT_EQ(Call(&Stub::HeartbeatTrial, heartbeat).number(), trial.number());
  heartbeat.set_lease_token(trial.lease().token() + 1);
  EXPECT_EQ(GetReason(Refusal(&Stub::HeartbeatTrial, heartbeat)), Reason::kLeaseLost);
}

TEST_F(WorkersTest, GetTheTrialOfADeadOneOnce) {
  CreateStudy("s");
  const v1::Trial lost = Suggest("w");
  const auto end = About<v1::EndLeaseRequest>(lost);
  EXPECT_EQ(Call(&Stub::EndLease, end).state(), v1::REQUESTED);
  EXPECT_EQ(GetReason(Refusal(&Stub::EndLease, end)), Reason::kLeaseLost);
  EXPECT_EQ(Suggest("v").number(), lost.number());
  EXPECT_EQ(GetReason(Refusal(&Stub::EndLease, end)), Reason::kLeaseLost);
  v1::EndLeaseRequest nobody = end;
  nobody.clear_client_id();
  EXPECT_EQ(GetField(Refusal(&Stub::EndLease, nobody)), "client_id");
}

TEST_F(WorkersTest, NeedNoTokenWhereTrialsStayWithThem) {
  auto creation = Creation("s");
  CreateStudy("other");
  creation.mutable_study()->mutable_spec()->mutable_lease()->set_never_expires(true);
  Call(&Stub::CreateStudy, creation);
  v1::CompleteTrialRequest request;
  request.set_name(Suggest("w").name());
  request.set_client_id("w");
  (*request.mutable_final_metrics())["accuracy"] = 1;
  EXPECT_EQ(Call(&Stub::CompleteTrial, request).state(), v1::COMPLETED);
}

TEST_F(WorkersTest, ReportAndComplete) {
  CreateStudy("s");
  const v1::Trial trial = Suggest("w");
  auto report = About<v1::ReportMeasurementRequest>(trial);
  (*report.add_measurements()->mutable_metrics())["accuracy"] = 0.25;
  const auto reported = Call(&Stub::ReportMeasurement, report);
  EXPECT_FALSE(reported.should_stop());
  EXPECT_EQ(reported.trial().measurement_count(), 1);
  const auto done = Call(&Stub::CompleteTrial, About<v1::CompleteTrialRequest>(trial));
  EXPECT_EQ(done.state(), v1::COMPLETED);
  EXPECT_EQ(done.final_metrics().at("accuracy"), 0.25);
  v1::ListMeasurementsRequest list;
  list.set_parent(trial.name());
  const auto measurements = Call(&Stub::ListMeasurements, list);
  ASSERT_EQ(measurements.measurements_size(), 1);
  EXPECT_EQ(measurements.measurements(0).source(), "client");
  const absl::Status again = Refusal(&Stub::CompleteTrial, About<v1::CompleteTrialRequest>(trial));
  EXPECT_EQ(GetReason(again), Reason::kTrialFinished) << again;
}

TEST_F(WorkersTest, ReadLongCurvesByPagesOrAsAPicture) {
  CreateStudy("s");
  const v1::Trial trial = Suggest("w");
  auto report = About<v1::ReportMeasurementRequest>(trial);
  constexpr int kPoints = 1000;
  for (int step = 1; step <= kPoints; ++step) {
    auto& measurement = *report.add_measurements();
    measurement.set_step(step);
    measurement.mutable_time()->set_seconds(step);
    (*measurement.mutable_metrics())["accuracy"] = step == 321 ? 9 : 1.0 / step;
    if (step % 2 == 0) (*measurement.mutable_metrics())["loss"] = step;
  }
  Call(&Stub::ReportMeasurement, report);
  v1::ListMeasurementsRequest list;
  list.set_parent(trial.name());
  EXPECT_EQ(Call(&Stub::ListMeasurements, list).measurements_size(), kPoints);

  list.set_page_size(300);
  std::vector<std::int64_t> steps;
  do {
    const auto page = Call(&Stub::ListMeasurements, list);
    EXPECT_LE(page.measurements_size(), 300);
    EXPECT_EQ(page.total_size(), kPoints);
    for (const auto& measurement : page.measurements()) steps.push_back(measurement.step());
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty());
  ASSERT_EQ(steps.size(), kPoints);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));

  list.set_page_size(0);
  list.set_max_points(20);
  list.set_metric("accuracy");
  const auto picture = Call(&Stub::ListMeasurements, list);
  EXPECT_LE(picture.measurements_size(), 20);
  EXPECT_EQ(picture.total_size(), kPoints);
  EXPECT_EQ(picture.measurements(0).step(), 1);
  EXPECT_EQ(picture.measurements().rbegin()->step(), kPoints);
  EXPECT_EQ(
      std::ranges::count_if(picture.measurements(), [](const auto& m) { return m.step() == 321; }),
      1);

  list.set_metric("loss");
  EXPECT_EQ(Call(&Stub::ListMeasurements, list).total_size(), kPoints / 2);
  list.set_metric("nothing");
  EXPECT_EQ(Call(&Stub::ListMeasurements, list).total_size(), 0);
}

TEST_F(WorkersTest, CurvesAreRefusedOutOfBounds) {
  CreateStudy("s");
  v1::ListMeasurementsRequest list;
  list.set_parent(Suggest("w").name());
  for (const int points : {-1, 1, 3}) {
    list.set_max_points(points);
    EXPECT_EQ(GetField(Refusal(&Stub::ListMeasurements, list)), "max_points") << points;
  }
  list.set_max_points(0);
  list.set_page_size(-1);
  EXPECT_EQ(GetField(Refusal(&Stub::ListMeasurements, list)), "page_size");
  list.set_page_size(1);
  list.set_page_token("rubbish");
  EXPECT_EQ(GetField(Refusal(&Stub::ListMeasurements, list)), "page_token");
}

TEST_F(WorkersTest, NobodyReportsOnAJobsTrialWithoutItsToken) {
  auto creation = Creation("s");
  creation.mutable_study()->mutable_spec()->mutable_job()->add_command("true");
  Call(&Stub::CreateStudy, creation);
  v1::CreateTrialRequest add;
  add.set_parent("studies/s");
  (*add.mutable_trial()->mutable_parameters())["x"].set_number(0.5);
  v1::ReportMeasurementRequest report;
  report.set_name(Call(&Stub::CreateTrial, add).name());
  (*report.add_measurements()->mutable_metrics())["accuracy"] = 0.25;
  const absl::Status anybody = Refusal(&Stub::ReportMeasurement, report);
  EXPECT_THAT(anybody, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("VERNIER_TOKEN")));
  report.set_attempt_token("1-abc");
  EXPECT_THAT(Refusal(&Stub::ReportMeasurement, report),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("not a token of trial 1")));
}

TEST_F(WorkersTest, SeeWhichTrialsAreOptimalAndHowFarConstraintsAreKept) {
  auto creation = Creation("s");
  auto& spec = *creation.mutable_study()->mutable_spec();
  auto& latency = *spec.add_objectives();
  latency.set_metric("latency_ms");
  latency.set_goal(v1::MINIMIZE);
  spec.add_outcome_constraints("memory_mb <= 100");
  Call(&Stub::CreateStudy, creation);
  const auto complete = [&](double accuracy, double latency_ms, double memory_mb) {
    auto request = About<v1::CompleteTrialRequest>(Suggest("w"));
    auto& metrics = *request.mutable_final_metrics();
    metrics["accuracy"] = accuracy;
    metrics["latency_ms"] = latency_ms;
    metrics["memory_mb"] = memory_mb;
    return Call(&Stub::CompleteTrial, request);
  };
  complete(0.9, 30, 80);
  const v1::Trial broken = complete(0.95, 20, 103);
  complete(0.8, 10, 100);
  ASSERT_EQ(broken.outcome_slacks_size(), 1);
  EXPECT_EQ(broken.outcome_slacks(0).constraint(), "memory_mb <= 100");
  EXPECT_EQ(broken.outcome_slacks(0).slack(), -3);
  const auto trials = Call(&Stub::ListTrials, Text<v1::ListTrialsRequest>("parent: 'studies/s'"));
  ASSERT_EQ(trials.trials_size(), 3);
  EXPECT_EQ(trials.trials(0).outcome_slacks(0).slack(), 20);
  const auto study = Call(&Stub::GetStudy, Text<v1::GetStudyRequest>("name: 'studies/s'"));
  EXPECT_EQ(study.best_trial(), 1);
  ASSERT_EQ(study.optimal_trials_size(), 2);
  EXPECT_EQ(study.optimal_trials(0), "studies/s/trials/1");
  EXPECT_EQ(study.optimal_trials(1), "studies/s/trials/3");
}

TEST_F(WorkersTest, SeeTheConstraintsOfTheStudyThatHasTheNameNow) {
  for (const std::string constraint : {"accuracy <= 1", "accuracy <= 3"}) {
    auto creation = Creation("s");
    creation.mutable_study()->mutable_spec()->add_outcome_constraints(constraint);
    Call(&Stub::CreateStudy, creation);
    const v1::Trial trial = Complete(Suggest("w"), 0.5);
    ASSERT_EQ(trial.outcome_slacks_size(), 1);
    EXPECT_EQ(trial.outcome_slacks(0).constraint(), constraint);
    Call(&Stub::DeleteStudy, Text<v1::DeleteStudyRequest>("name: 'studies/s' force: true"));
  }
}

TEST_F(WorkersTest, BadRequestsNameTheField) {
  CreateStudy("s");
  const v1::Trial trial = Suggest("w");
  const auto field = [](const absl::Status& status) { return GetField(status).value_or("none"); };
  EXPECT_EQ(
      field(Refusal(&Stub::SuggestTrials, Text<v1::SuggestTrialsRequest>("parent: 'studies/s'"))),
      "client_id");
  EXPECT_EQ(field(Refusal(
                &Stub::SuggestTrials,
                Text<v1::SuggestTrialsRequest>("parent: 'studies/s' client_id: 'w' count: -1"))),
            "count");
  auto report = About<v1::ReportMeasurementRequest>(trial);
  EXPECT_EQ(field(Refusal(&Stub::ReportMeasurement, report)), "measurements");
  report.add_measurements();
  EXPECT_EQ(field(Refusal(&Stub::ReportMeasurement, report)), "measurements[0].metrics");
  auto fail = About<v1::FailTrialRequest>(trial);
  fail.set_failure(static_cast<v1::FailureClass>(77));
  EXPECT_EQ(field(Refusal(&Stub::FailTrial, fail)), "failure");
  auto add = Text<v1::CreateTrialRequest>(
      "parent: 'studies/s' trial { parameters { key: 'x' value { number: 7 } } }");
  EXPECT_THAT(Refusal(&Stub::CreateTrial, add), StatusIs(absl::StatusCode::kInvalidArgument));
  add = Text<v1::CreateTrialRequest>(
      "parent: 'studies/s' trial { parameters { key: 'x' value {} } }");
  EXPECT_EQ(field(Refusal(&Stub::CreateTrial, add)), "parameters.x");
}

TEST_F(WorkersTest, AreNamedInTheLog) {
  CreateStudy("s");
  Complete(Suggest("worker-7"), 0.5);
  grpc::ClientContext context;
  const auto reader =
      stub_->WatchStudy(&context, Text<v1::WatchStudyRequest>("name: 'studies/s' after_event: 1"));
  v1::StudyEvent event;
  int events = 0;
  for (; reader->Read(&event); ++events) EXPECT_EQ(event.actor(), "worker-7") << event.kind();
  EXPECT_GT(events, 2);
}

TEST_F(WorkersTest, AreToldWhatTheModelExpects) {
  v1::CreateStudyRequest creation = Creation("s");
  creation.mutable_study()->mutable_spec()->mutable_algorithm()->set_name("gp");
  Call(&Stub::CreateStudy, creation);
  v1::PredictPointsRequest request;
  request.set_parent("studies/s");
  EXPECT_EQ(GetField(Refusal(&Stub::PredictPoints, request)), "points");
  (*request.add_points()->mutable_parameters())["x"].set_number(0.5);
  EXPECT_THAT(Refusal(&Stub::PredictPoints, request),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  for (int i = 0; i < 3; ++i) Complete(Suggest("w"), 0.25);
  const v1::PredictPointsResponse response = Call(&Stub::PredictPoints, request);
  ASSERT_EQ(response.predictions_size(), 1);
  EXPECT_NEAR(response.predictions(0).mean(), 0.25, 1e-6);
}

}  // namespace
}  // namespace vernier::service
