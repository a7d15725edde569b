// Calls about the server itself.
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "src/wire/time_proto.h"
#include "tests/service/server_fixture.h"
#include "tests/support/algorithms.h"
#include "tests/support/scripted_optimizer.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

class ServerCallsTest : public ServerTest {
 protected:
  v1::ServerInfo Info() { return Call(&Stub::GetServerInfo, v1::GetServerInfoRequest()); }
};

TEST_F(ServerCallsTest, TellsHowLongThingsTook) {
  EXPECT_EQ(Info().suggestions().count(), 0);
  CreateStudy("s");
  Complete(Suggest("w"), 0.5);
  const v1::ServerInfo info = Info();
  EXPECT_EQ(info.suggestions().count(), 1);
  EXPECT_EQ(info.commits().count(), 2) << "one hands the trial out, one ends it";
  EXPECT_GT(wire::DecodeDuration(info.commits().longest()), absl::ZeroDuration());
  EXPECT_GE(wire::DecodeDuration(info.commits().longest()),
            wire::DecodeDuration(info.commits().mean()));
  EXPECT_GE(info.steps().count(), 1) << "of leases and time budgets";
}

TEST_F(ServerCallsTest, TellsWhatTheDisksHave) {
  const v1::ServerInfo info = Info();
  ASSERT_EQ(info.disks_size(), 1) << "a store in memory has none";
  EXPECT_THAT(info.disks(0).users(), ::testing::ElementsAre("runs"));
  EXPECT_GT(info.disks(0).total_bytes(), info.disks(0).free_bytes());
  EXPECT_GT(info.disks(0).free_bytes(), 0);
}

TEST_F(ServerCallsTest, CleansUpWhereThereIsNothing) {
  const v1::CleanUpResponse response = Call(&Stub::CleanUp, v1::CleanUpRequest());
  EXPECT_EQ(response.leftovers_size(), 0);
  EXPECT_EQ(response.kept(), "");
}

TEST_F(ServerCallsTest, RefusesRulesOfLessThanAnHourAndOfNegativeSizes) {
  const absl::Status soon =
      Refusal(&Stub::CleanUp, Text<v1::CleanUpRequest>("unused_for { seconds: 3599 }"));
  EXPECT_THAT(
      soon, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least an hour, got 3599")));
  EXPECT_EQ(GetField(soon), "unused_for");
  const absl::Status negative =
      Refusal(&Stub::CleanUp, Text<v1::CleanUpRequest>("cache_bytes: -1"));
  EXPECT_EQ(GetField(negative), "cache_bytes");
}

// Suggestions take until they are told to stop.
class ShutDownTest : public ServerTest {
 protected:
  ShutDownTest() : ShutDownTest(std::make_shared<absl::Notification>()) {}

  const std::shared_ptr<absl::Notification> computing_;  // Shared with the optimiser.

 private:
  explicit ShutDownTest(const std::shared_ptr<absl::Notification>& computing)
      : ServerTest(testing::WithOptimizer(AlgorithmCatalogue::BuiltIn(),
                                          [computing](const Problem&, const Choice&) {
                                            return std::make_unique<testing::ScriptedOptimizer>(
                                                "1",
                                                [computing](auto&&, auto&&, std::stop_token stop) {
                                                  return Wait(*computing, stop);
                                                });
                                          })),
        computing_(computing) {}

  static absl::StatusOr<Suggestions> Wait(absl::Notification& computing,
                                          const std::stop_token& stop) {
    computing.Notify();
    absl::Notification stopped;
    const std::stop_callback wake(stop, [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    return absl::CancelledError("told to stop");
  }
};

// So that a client tries again where the next server is.
TEST_F(ShutDownTest, CallsThatAreGivenUpAreUnavailable) {
  CreateStudy("s");
  // One whose suggestion is computed, and those that wait in line.
  std::vector<std::unique_ptr<Asked>> clients;
  for (const char* client : {"w1", "w2", "w3"}) clients.push_back(Ask("s", client));
  computing_->WaitForNotification();
  Call(&Stub::GetServerInfo, v1::GetServerInfoRequest());  // On the same connection: all have come.
  server_->Shutdown();
  for (const auto& client : clients) {
    client->answered.WaitForNotification();
    EXPECT_THAT(wire::DecodeStatus(client->status),
                StatusIs(absl::StatusCode::kUnavailable, "the server is shutting down"));
  }
}

}  // namespace
}  // namespace vernier::service
