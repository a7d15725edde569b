#include <atomic>
#include <functional>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/app/server.h"
#include "src/client/channel_client.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/v1/cluster_service.grpc.pb.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::app {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::vernier::testing::kGiB;

constexpr char kSentence[] = "has 100 MiB free in";

template <typename Stub, typename Method, typename Request, typename Response>
void Call(Stub& stub, Method method, const Request& request, Response& response) {
  grpc::ClientContext context;
  EXPECT_TRUE((stub.*method)(&context, request, &response).ok());
}

// Whether it comes to hold in time.
bool HoldsSoon(const std::function<bool()>& condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

StudySpec EchoSpec() {
  StudySpec spec;
  spec.name = "echo";
  spec.objectives = {{.metric = "accuracy"}};
  spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{}}});
  spec.algorithm = {.name = "random", .options = {}};
  spec.budget.trials = 2;
  spec.job.emplace();
  spec.job->command = {"sh", "-c", "echo accuracy=0.5"};
  return spec;
}

TEST(DiskReserve, TrialsWaitInTheQueueAndGoOnByThemselves) {
  const TemporaryFolder folder;
  std::atomic<std::int64_t> free = 100 << 20;
  ServerOptions options = {.store = folder / "store.db"};
  options.supervisor = SUPERVISOR;
  options.detect_gpus = false;
  options.control_group = "none";
  options.disk_probe = [&](const std::string&) {
    return launch::DiskSpace{.free_bytes = free, .total_bytes = 100 * kGiB};
  };
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  const auto channel = server->InProcessChannel();
  const auto studies = v1::StudyService::NewStub(channel);
  const auto cluster = v1::ClusterService::NewStub(channel);
  const auto client = client::NewChannelClient(channel);
  ASSERT_THAT(client->CreateStudy(EchoSpec()), IsOk());

  v1::ListQueueResponse queue;
  EXPECT_TRUE(HoldsSoon([&] {
    Call(*cluster, &v1::ClusterService::Stub::ListQueue, v1::ListQueueRequest(), queue);
    return queue.trials_size() > 0;
  }));
  for (const auto& trial : queue.trials()) EXPECT_THAT(trial.reason(), HasSubstr(kSentence));
  v1::GetStudyRequest request;
  request.set_name("studies/echo");
  v1::Study study;
  Call(*studies, &v1::StudyService::Stub::GetStudy, request, study);
  EXPECT_THAT(study.held(), HasSubstr(kSentence));
  v1::ServerInfo info;
  Call(*studies, &v1::StudyService::Stub::GetServerInfo, v1::GetServerInfoRequest(), info);
  EXPECT_THAT(info.held(), HasSubstr("new trials wait until it has 256 MiB"));
  EXPECT_EQ(client->GetStudy("echo")->completed, 0);

  free = kGiB;
  EXPECT_TRUE(HoldsSoon([&] { return client->GetStudy("echo")->completed == 2; }));
  Call(*studies, &v1::StudyService::Stub::GetServerInfo, v1::GetServerInfoRequest(), info);
  EXPECT_EQ(info.held(), "");
}

}  // namespace
}  // namespace vernier::app
