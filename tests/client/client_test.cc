#include "vernier/client.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "src/app/server.h"
#include "src/client/channel_client.h"
#include "src/client/retry.h"
#include "tests/storage/storage_testing.h"
#include "tests/support/status_matchers.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

StudySpec Spec(const std::string& name) {
  StudySpec spec;
  spec.name = name;
  spec.objectives = {{.metric = "accuracy"}};
  spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{}}});
  spec.algorithm = {.name = "random", .options = {}};
  spec.parallel = 4;
  spec.budget.trials = 40;
  return spec;
}

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() : folder_(MakeFolder()) {
    server_ = Start("127.0.0.1:0");
    client_ =
        Client::Connect(server_->addresses().front(), {.name = "w", .timeout = absl::Seconds(30)});
  }
  ~ClientTest() override {
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  static std::string MakeFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "vernier-client-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  std::unique_ptr<app::Server> Start(const std::string& address) {
    auto server = app::Server::Start(
        {.store = folder_ + "/vernier.db", .listen = {address}, .open = true, .run_engine = false});
    EXPECT_THAT(server, IsOk());
    return *std::move(server);
  }

  const std::string folder_;
  std::unique_ptr<app::Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, RunsAStudyToItsBestTrial) {
  ASSERT_OK_AND_ASSIGN(const Study created, client_->CreateStudy(Spec("s")));
  EXPECT_EQ(created.spec, Spec("s"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto trials, client_->SuggestTrials("s"));
    ASSERT_EQ(trials.size(), 1U);
    ASSERT_THAT(client_->Heartbeat("s", trials[0]), IsOk());
    const double x = std::get<double>(trials[0].point.at("x"));
    ASSERT_OK_AND_ASSIGN(
        const auto reported,
        client_->Report("s", trials[0], {{.step = 1, .metrics = {{"accuracy", x}}, .source = ""}}));
    EXPECT_EQ(reported.trial.measurements, 1);
    ASSERT_THAT(client_->Complete("s", trials[0]), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto best,
                       client_->ListTrials("s", {.order_by = "metrics.accuracy desc", .limit = 1}));
  ASSERT_EQ(best.size(), 1U);
  ASSERT_OK_AND_ASSIGN(const Study study, client_->GetStudy("s"));
  EXPECT_EQ(study.best, best[0].number);
  EXPECT_EQ(study.optimal, std::vector<TrialNumber>{best[0].number});
  EXPECT_EQ(study.completed, 5);
}

TEST_F(ClientTest, EndsTheLeaseOfADeadClient) {
  ASSERT_OK_AND_ASSIGN(const Study created, client_->CreateStudy(Spec("s")));
  EXPECT_GT(created.id, StudyId(0));
  ASSERT_OK_AND_ASSIGN(const auto lost, client_->SuggestTrials("s"));
  const std::unique_ptr<Client> other = client_->WithName("v");
  ASSERT_THAT(other->EndLease("s", lost[0]), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto again, other->SuggestTrials("s"));
  EXPECT_EQ(again[0].number, lost[0].number);
  EXPECT_EQ(GetReason(other->EndLease("s", lost[0]).status()), Reason::kLeaseLost);
}

TEST_F(ClientTest, EachNameHoldsTrialsOfItsOwn) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  const std::unique_ptr<Client> other = client_->WithName("v");
  ASSERT_OK_AND_ASSIGN(const auto first, client_->SuggestTrials("s"));
  ASSERT_OK_AND_ASSIGN(const auto second, other->SuggestTrials("s"));
  ASSERT_OK_AND_ASSIGN(const auto again, client_->SuggestTrials("s"));
  EXPECT_EQ(again.front().number, first.front().number);
  EXPECT_NE(second.front().number, first.front().number);
  EXPECT_EQ(second.front().lease->holder, "v");
}

TEST_F(ClientTest, ChangesWithOneRequestIdTakeEffectOnce) {
  const auto once = [&](std::string id) { return client_->WithRequestId(std::move(id)); };
  ASSERT_OK_AND_ASSIGN(const Study created, once("a")->CreateStudy(Spec("s")));
  ASSERT_OK_AND_ASSIGN(const Study again, once("a")->CreateStudy(Spec("s")));
  EXPECT_EQ(again.id, created.id);
  ASSERT_OK_AND_ASSIGN(const Trial first, once("b")->AddTrial("s", {{"x", 0.25}}));
  ASSERT_OK_AND_ASSIGN(const Trial repeated, once("b")->AddTrial("s", {{"x", 0.25}}));
  EXPECT_EQ(repeated.number, first.number);
  ASSERT_OK_AND_ASSIGN(const Trial other, once("")->AddTrial("s", {{"x", 0.25}}));
  EXPECT_NE(other.number, first.number);
}

TEST_F(ClientTest, PredictsPointsInTheirOrder) {
  StudySpec spec = Spec("s");
  spec.algorithm.name = "gp";
  ASSERT_THAT(client_->CreateStudy(spec), IsOk());
  EXPECT_THAT(client_->PredictPoints("s", {{{"x", 0.5}}}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  for (const double x : {0.1, 0.3, 0.5, 0.7, 0.9, 1.0}) {
    ASSERT_THAT(client_->AddTrial("s", {{"x", x}}, {{{"accuracy", x}}}), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto predicted,
                       client_->PredictPoints("s", {{{"x", 0.2}}, {{"x", 0.8}}}));
  ASSERT_EQ(predicted.size(), 2U);
  EXPECT_NEAR(predicted[0].objective.mean, 0.2, 0.05);
  EXPECT_NEAR(predicted[1].objective.mean, 0.8, 0.05);
  EXPECT_GT(predicted[0].objective.deviation, 0);
  EXPECT_THAT(client_->PredictPoints("s", {{{"x", 7.0}}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ClientTest, GivesErrorsWithReasonAndField) {
  const auto missing = client_->GetStudy("none");
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(GetReason(missing.status()), Reason::kStudyNotFound);
  StudySpec spec = Spec("s");
  spec.parallel = 0;
  spec.budget.trials = -1;
  const absl::Status bad = client_->ValidateStudy(spec);
  EXPECT_THAT(bad, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(GetField(bad).value_or(""), HasSubstr("budget"));
}

TEST_F(ClientTest, ListsAllPages) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(client_->AddTrial("s", {{"x", 0.1 * i}}, {{{"accuracy", 0.1 * i}}}), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto all, client_->ListTrials("s"));
  EXPECT_EQ(all.size(), 5U);
  ASSERT_OK_AND_ASSIGN(const auto three, client_->ListTrials("s", {.limit = 3}));
  EXPECT_EQ(three.size(), 3U);
}

// The server reads 2,000 trials for a page; what is asked for lies behind them, or nowhere.
TEST_F(ClientTest, ListsALongStudyToItsEnd) {
  constexpr std::int64_t kTrials = 4500;
  server_.reset();
  {
    ASSERT_OK_AND_ASSIGN(const auto storage, OpenSqliteStorage({.path = folder_ + "/vernier.db"}));
    ASSERT_OK_AND_ASSIGN(const Study study, storage->CreateStudy(testing::CreatedEvent("long")));
    Commit commit = testing::TrialCommit(study);
    for (std::int64_t number = 2; number <= kTrials; ++number) {
      Trial& trial = commit.trials.emplace_back(commit.trials.front());
      trial.number = TrialNumber(number);
      trial.point = {{"lr", 1.0 / static_cast<double>(number)}};
    }
    ASSERT_THAT(storage->Begin(std::move(commit))->Wait(), IsOk());
  }
  server_ = Start("127.0.0.1:0");
  client_ = Client::Connect(server_->addresses().front());
  const auto numbers = [&](const ListQuery& query) {
    std::vector<std::int64_t> found;
    const std::vector<Trial> trials = client_->ListTrials("long", query).value();
    for (const Trial& trial : trials) found.push_back(trial.number.value());
    return found;
  };
  EXPECT_EQ(numbers({}).size(), static_cast<std::size_t>(kTrials));
  EXPECT_THAT(numbers({.filter = "metrics.accuracy > 2"}), IsEmpty());
  EXPECT_THAT(numbers({.filter = "message = none", .limit = 3}), IsEmpty());
  EXPECT_THAT(numbers({.filter = "parameters.lr = 0.001", .limit = 3}), ElementsAre(1, 1000));
  EXPECT_THAT(numbers({.filter = "number > 4498"}), ElementsAre(4499, 4500));
  EXPECT_THAT(numbers({.filter = "number > 4498", .order_by = "parameters.lr", .limit = 1}),
              ElementsAre(4500));
  EXPECT_THAT(numbers({.order_by = "parameters.lr desc", .limit = 2}), ElementsAre(2, 3));
}

TEST_F(ClientTest, AmendsPausesResumesStopsAndDeletes) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  ASSERT_OK_AND_ASSIGN(const Study amended,
                       client_->AmendStudy("s", {.trials = 60, .parallel = 2}));
  EXPECT_EQ(amended.spec.budget.trials, 60);
  EXPECT_EQ(amended.spec.parallel, 2);
  ASSERT_OK_AND_ASSIGN(const Study paused, client_->PauseStudy("s"));
  EXPECT_EQ(paused.state, StudyState::kPaused);
  ASSERT_OK_AND_ASSIGN(const Study resumed, client_->ResumeStudy("s"));
  EXPECT_EQ(resumed.state, StudyState::kActive);
  ASSERT_OK_AND_ASSIGN(const Study stopped, client_->StopStudy("s", "enough"));
  EXPECT_EQ(stopped.state, StudyState::kCancelled);
  ASSERT_THAT(client_->DeleteStudy("s"), IsOk());
  EXPECT_THAT(client_->GetStudy("s"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ClientTest, ExtendsAStudyThatHasEndedAndChangesItsParts) {
  StudySpec spec = Spec("s");
  spec.budget.trials = 1;
  ASSERT_THAT(client_->CreateStudy(spec), IsOk());
  ASSERT_THAT(client_->AddTrial("s", {{"x", 0.1}}, {{{"accuracy", 0.1}}}), IsOk());
  ASSERT_OK_AND_ASSIGN(const Study ended, client_->GetStudy("s"));
  EXPECT_EQ(ended.state, StudyState::kCompleted);
  const std::optional<absl::Duration> hour = absl::Hours(1);
  const Amendment change{.trials = 9,
                         .time = hour,
                         .stopping = Choice{.name = "median", .options = {}},
                         .lease = LeasePolicy{.ttl = absl::Seconds(5)}};
  ASSERT_OK_AND_ASSIGN(const Study extended, client_->AmendStudy("s", change));
  EXPECT_EQ(extended.state, StudyState::kActive);
  spec.budget = {.trials = 9, .time = hour};
  spec.stopping = *change.stopping;
  spec.lease = *change.lease;
  EXPECT_EQ(extended.spec, spec);
  spec.budget.time.reset();
  ASSERT_OK_AND_ASSIGN(const Study whole, client_->AmendStudy("s", {.definition = spec}));
  EXPECT_EQ(whole.spec, spec);
  spec.seed += 1;
  EXPECT_EQ(GetField(client_->AmendStudy("s", {.definition = spec}).status()), "seed");
}

TEST_F(ClientTest, ForgetsATrialAndFinishes) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  for (const double accuracy : {0.5, 0.9}) {
    ASSERT_THAT(client_->AddTrial("s", {{"x", accuracy}}, {{{"accuracy", accuracy}}}), IsOk());
  }
  ASSERT_THAT(client_->DeleteTrial("s", TrialNumber(2)), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto left, client_->ListTrials("s"));
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].number, TrialNumber(1));
  EXPECT_THAT(client_->GetTrial("s", TrialNumber(2)), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK_AND_ASSIGN(const Study finished, client_->FinishStudy("s", "good enough"));
  EXPECT_EQ(finished.state, StudyState::kCompleted);
  EXPECT_EQ(finished.reason, "good enough");
  EXPECT_EQ(finished.best, TrialNumber(1));
}

// The server goes away and comes back at the same address: calls and streams go on.
TEST_F(ClientTest, OutlivesARestartOfTheServer) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  const std::string address = server_->addresses().front();
  std::vector<std::int64_t> seen;
  absl::Status watched;
  {
    const std::jthread watcher([&] {
      const auto other = Client::Connect(address, {.attempts = 20});
      watched = other->WatchStudy("s", EventSeq(), true, [&](const Event& event) {
        seen.push_back(event.seq.value());
        return true;
      });
    });
    server_.reset();
    std::jthread restart([&] { server_ = Start(address); });
    EXPECT_THAT(client_->SuggestTrials("s"), IsOk());
    restart.join();
    EXPECT_THAT(client_->StopStudy("s", "enough"), IsOk());
    ASSERT_OK_AND_ASSIGN(const auto trials,
                         client_->ListTrials("s", {.filter = "state = STOPPING"}));
    ASSERT_EQ(trials.size(), 1U);
    EXPECT_THAT(client_->Complete("s", trials[0], {{"accuracy", 1}}), IsOk());
  }
  EXPECT_THAT(watched, IsOk());
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], static_cast<std::int64_t>(i) + 1);
  ASSERT_OK_AND_ASSIGN(const Study study, client_->GetStudy("s"));
  EXPECT_EQ(study.last_event.value(), static_cast<std::int64_t>(seen.size()));
}

// By itself gRPC looks at a connection that nobody waits for every five seconds.
TEST_F(ClientTest, FindsAServerThatWasAwaySoonAfterItIsBack) {
  const std::string address = server_->addresses().front();
  const auto patient =
      Client::Connect(address, {.timeout = absl::Seconds(60), .attempts = 1'000'000});
  server_.reset();
  absl::Time back;
  std::jthread restart([&] {
    absl::Notification never;
    never.WaitForNotificationWithTimeout(absl::Milliseconds(700));
    server_ = Start(address);
    back = absl::Now();
  });
  EXPECT_THAT(patient->GetServerStatus(), IsOk());
  restart.join();
  EXPECT_LT(absl::Now() - back, absl::Seconds(3));
}

TEST_F(ClientTest, StopsWatchingWhenToldTo) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  std::stop_source stop;
  EXPECT_THAT(client_->WatchStudy(
                  "s",
                  EventSeq(),
                  true,
                  [&](const Event&) {
                    stop.request_stop();
                    return true;
                  },
                  stop.get_token()),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(client_->WatchStudy("s", EventSeq(), true, [](const Event&) { return false; }),
              IsOk());
}

TEST_F(ClientTest, ReplaysAndAsksTheServerAboutItself) {
  ASSERT_THAT(client_->CreateStudy(Spec("s")), IsOk());
  ASSERT_THAT(client_->SuggestTrials("s", 3), IsOk());
  ASSERT_OK_AND_ASSIGN(const ReplaySummary replay, client_->ReplayStudy("s"));
  EXPECT_EQ(replay.suggestions, 3);
  EXPECT_EQ(replay.verified, 3);
  ASSERT_OK_AND_ASSIGN(const ServerStatus status, client_->GetServerStatus());
  EXPECT_EQ(status.process_id, getpid());
  EXPECT_EQ(status.studies, 1);
}

TEST_F(ClientTest, AsksForTheMachinesAndTheirQueue) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Node> nodes, client_->ListNodes());
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_GT(nodes[0].cpus, 0);
  EXPECT_EQ(nodes[0].free_cpus, nodes[0].cpus);
  ASSERT_OK_AND_ASSIGN(const std::vector<QueuedGang> queue, client_->ListQueue());
  EXPECT_TRUE(queue.empty());
}

std::shared_ptr<grpc::Channel> Nowhere() {
  return grpc::CreateChannel("unix:/nowhere/socket", grpc::InsecureChannelCredentials());
}

TEST(Retry, GivesUpAfterItsAttempts) {
  const client::Retry retry(
      {.timeout = absl::Seconds(20), .attempts = 3, .backoff = absl::Milliseconds(1)}, Nowhere());
  int calls = 0;
  const auto answer = retry.Run<int>([&](grpc::ClientContext*, int*) {
    ++calls;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "away");
  });
  EXPECT_THAT(answer, StatusIs(absl::StatusCode::kUnavailable, "away"));
  EXPECT_EQ(calls, 3);
}

TEST(Retry, GoesOnWhileThereIsTimeOnceTheServerHasAnswered) {
  const ClientOptions options{
      .timeout = absl::Seconds(20), .attempts = 3, .backoff = absl::Milliseconds(1)};
  const client::Retry retry(options, Nowhere());
  int calls = 0;
  const auto away_until = [&](int last) {
    return retry.Run<int>([&](grpc::ClientContext*, int*) {
      return ++calls < last ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "away")
                            : grpc::Status::OK;
    });
  };
  EXPECT_THAT(away_until(7), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(away_until(4), IsOk());
  EXPECT_THAT(away_until(14), IsOk());
  EXPECT_EQ(calls, 14);
}

TEST(Retry, AnErrorOfTheServerIsAnAnswer) {
  const client::Retry retry({.timeout = absl::Seconds(20),
                             .attempts = 1,
                             .attempts_once_answered = 4,
                             .backoff = absl::Milliseconds(1)},
                            Nowhere());
  EXPECT_THAT(retry.Run<int>([](grpc::ClientContext*, int*) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no");
  }),
              StatusIs(absl::StatusCode::kNotFound));
  int calls = 0;
  EXPECT_FALSE(retry
                   .Run<int>([&](grpc::ClientContext*, int*) {
                     ++calls;
                     return grpc::Status(grpc::StatusCode::UNAVAILABLE, "away");
                   })
                   .ok());
  EXPECT_EQ(calls, 4);
}

TEST(Retry, KnowsWhatTheServerAnsweredToTheClientThatItIsDerivedFrom) {
  const ClientOptions options{.timeout = absl::Seconds(20),
                              .attempts = 1,
                              .attempts_once_answered = 4,
                              .backoff = absl::Milliseconds(1)};
  const client::Retry retry(options, Nowhere());
  const client::Retry derived(retry, options);
  EXPECT_THAT(derived.Run<int>([](grpc::ClientContext*, int*) { return grpc::Status::OK; }),
              IsOk());
  int calls = 0;
  EXPECT_THAT(retry.Run<int>([&](grpc::ClientContext*, int*) {
    ++calls;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "away");
  }),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(calls, 4);
}

TEST(Retry, TriesNoOtherErrorAgain) {
  const client::Retry retry({.backoff = absl::Milliseconds(1)}, Nowhere());
  int calls = 0;
  const auto answer = retry.Run<int>([&](grpc::ClientContext*, int*) {
    ++calls;
    return grpc::Status(grpc::StatusCode::ABORTED, "no");
  });
  EXPECT_THAT(answer, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(calls, 1);
}

TEST(Retry, EndsBeforeItsTimeIsOver) {
  const client::Retry retry({.timeout = absl::Milliseconds(50), .backoff = absl::Seconds(60)},
                            Nowhere());
  int calls = 0;
  EXPECT_FALSE(retry
                   .Run<int>([&](grpc::ClientContext*, int*) {
                     ++calls;
                     return grpc::Status(grpc::StatusCode::UNAVAILABLE, "away");
                   })
                   .ok());
  EXPECT_EQ(calls, 1);
}

TEST(Retry, MakesRequestIdsThatDiffer) {
  EXPECT_NE(client::NewRequestId(), client::NewRequestId());
}

}  // namespace
}  // namespace vernier
