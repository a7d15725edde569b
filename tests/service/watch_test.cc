// Streams of events; health and reflection; the end of a server.
#include <memory>
#include <thread>
#include <vector>

#include "tests/service/server_fixture.h"
#include "tests/support/raw_call.h"
#include "tests/support/status_matchers.h"

namespace vernier::service {
namespace {

class WatchTest : public ServerTest {
 protected:
  std::vector<v1::StudyEvent> Events(std::int64_t after) {
    v1::WatchStudyRequest request;
    request.set_name("studies/s");
    request.set_after_event(after);
    grpc::ClientContext context;
    const auto reader = stub_->WatchStudy(&context, request);
    std::vector<v1::StudyEvent> events;
    for (v1::StudyEvent event; reader->Read(&event);) events.push_back(event);
    EXPECT_TRUE(reader->Finish().ok());
    return events;
  }
};

TEST_F(WatchTest, ResumesFromASequenceNumber) {
  CreateStudy("s");
  Complete(Suggest("w"), 0.5);
  const auto all = Events(0);
  ASSERT_GE(all.size(), 4U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].seq(), static_cast<std::int64_t>(i) + 1);
  }
  const auto rest = Events(2);
  ASSERT_EQ(rest.size(), all.size() - 2);
  EXPECT_EQ(rest.front().SerializeAsString(), all[2].SerializeAsString());
  EXPECT_TRUE(Events(all.back().seq()).empty());
}

TEST_F(WatchTest, FollowsUntilTheStudyHasEnded) {
  CreateStudy("s");
  v1::WatchStudyRequest request;
  request.set_name("studies/s");
  request.set_follow(true);
  grpc::ClientContext context;
  const auto reader = stub_->WatchStudy(&context, request);
  v1::StudyEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.kind(), "study_created");
  Complete(Suggest("w"), 0.5);
  Call(&Stub::StopStudy, Text<v1::StopStudyRequest>("name: 'studies/s' reason: 'enough'"));
  std::string last;
  while (reader->Read(&event)) last = event.payload_json();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(last, ::testing::HasSubstr("CANCELLED"));
}

// More than is read at once, also while more are stored.
TEST_F(WatchTest, SendsLongLogsWhole) {
  auto creation = Creation("s");
  creation.mutable_study()->mutable_spec()->mutable_budget()->set_trials(10'000);
  Call(&Stub::CreateStudy, creation);
  const auto add = Text<v1::CreateTrialRequest>(
      "parent: 'studies/s' trial { parameters { key: 'x' value { number: 0.5 } } }");
  constexpr int kTrials = 700;
  for (int i = 0; i < kTrials; ++i) Call(&Stub::CreateTrial, add);
  std::thread writer([&] {
    for (int i = 0; i < kTrials; ++i) Call(&Stub::CreateTrial, add);
    Call(&Stub::StopStudy, Text<v1::StopStudyRequest>("name: 'studies/s'"));
  });
  for (const char* follow : {"", " follow: true", " kinds: 'trial_created' follow: true", ""}) {
    grpc::ClientContext context;
    const auto reader = stub_->WatchStudy(
        &context, Text<v1::WatchStudyRequest>(std::string("name: 'studies/s'") + follow));
    std::int64_t last = 0;
    int trials = 0;
    const bool has_kinds = std::string(follow).find("kinds") != std::string::npos;
    for (v1::StudyEvent event; reader->Read(&event); last = event.seq()) {
      if (has_kinds) {
        EXPECT_GT(event.seq(), last);
      } else {
        EXPECT_EQ(event.seq(), last + 1);
      }
      trials += event.kind() == "trial_created" ? 1 : 0;
    }
    EXPECT_TRUE(reader->Finish().ok());
    EXPECT_GE(trials, follow[0] == '\0' ? kTrials : 2 * kTrials) << follow;
  }
  writer.join();
}

TEST_F(WatchTest, EndsWithItsDeadline) {
  CreateStudy("s");
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(50, GPR_TIMESPAN));
  const auto reader =
      stub_->WatchStudy(&context, Text<v1::WatchStudyRequest>("name: 'studies/s' follow: true"));
  for (v1::StudyEvent event; reader->Read(&event);) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(WatchTest, EndsWithTheServerAndSaysSo) {
  CreateStudy("s");
  grpc::ClientContext context;
  const auto reader =
      stub_->WatchStudy(&context, Text<v1::WatchStudyRequest>("name: 'studies/s' follow: true"));
  v1::StudyEvent event;
  ASSERT_TRUE(reader->Read(&event));
  server_->Shutdown();
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(WatchTest, RefusesASequenceNumberBelowZero) {
  CreateStudy("s");
  grpc::ClientContext context;
  const auto reader =
      stub_->WatchStudy(&context, Text<v1::WatchStudyRequest>("name: 'studies/s' after_event: -1"));
  v1::StudyEvent event;
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(WatchTest, HealthIsServing) { EXPECT_TRUE(testing::IsHealthy(channel_)); }

TEST_F(WatchTest, ReflectionListsTheService) {
  std::string response;
  const std::string list_services("\x3a\x01*", 3);
  EXPECT_TRUE(testing::RawCall(channel_,
                               "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                               list_services,
                               &response)
                  .ok());
  EXPECT_THAT(response, ::testing::HasSubstr("vernier.v1.StudyService"));
}

}  // namespace
}  // namespace vernier::service
