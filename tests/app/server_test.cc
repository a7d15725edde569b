#include "src/app/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/client/channel_client.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

StudySpec Spec(const std::string& name) {
  StudySpec spec;
  spec.name = name;
  spec.objectives = {{.metric = "accuracy"}};
  spec.space = *Space::Create({{.name = "x", .domain = FloatDomain{}}});
  spec.algorithm = {.name = "random", .options = {}};
  spec.budget.trials = 40;
  return spec;
}

ServerOptions Options(const std::string& store) { return {.store = store, .run_engine = false}; }

TEST(Server, KeepsStudiesFromOneLifeToTheNext) {
  const TemporaryFolder folder;
  const std::string store = folder / "vernier.db";
  {
    ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(Options(store)));
    const auto client = client::NewChannelClient(server->InProcessChannel());
    ASSERT_THAT(client->CreateStudy(Spec("s")), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(Options(store)));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  ASSERT_OK_AND_ASSIGN(const Study study, client->GetStudy("s"));
  EXPECT_EQ(study.spec, Spec("s"));
}

TEST(Server, OwnsItsStoreAlone) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.listen = {"127.0.0.1:0"};
  EXPECT_EQ(FindStoreOwner(options.store), std::nullopt);
  {
    ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
    const auto owner = FindStoreOwner(options.store);
    ASSERT_TRUE(owner.has_value());
    EXPECT_EQ(owner->process_id, getpid());
    EXPECT_EQ(owner->address, server->addresses().front());
    const auto second = Server::Start(options);
    EXPECT_THAT(second,
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("in use by process " + std::to_string(getpid()))));
    EXPECT_EQ(GetReason(second.status()), Reason::kStoreBusy);
  }
  EXPECT_EQ(FindStoreOwner(options.store), std::nullopt);
  EXPECT_THAT(Server::Start(options), IsOk());
}

TEST(Server, TakesOverAnOwnerFileWithoutSense) {
  const TemporaryFolder folder;
  std::ofstream(folder / "vernier.db.owner") << "{\"pid\": \"x\", ";
  EXPECT_THAT(Server::Start(Options(folder / "vernier.db")), IsOk());
}

TEST(Server, RefusesBadOptions) {
  const TemporaryFolder folder;
  ServerOptions options = Options("");
  EXPECT_EQ(GetField(Server::Start(options).status()), "store");
  options = Options(folder / "vernier.db");
  options.listen = {"0.0.0.0:0"};
  EXPECT_EQ(GetField(Server::Start(options).status()), "listen");
}

TEST(Server, RefusesAnAddressThatIsTaken) {
  const TemporaryFolder folder;
  ServerOptions first = Options(folder / "a.db");
  first.listen = {"127.0.0.1:0"};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(first));
  ServerOptions second = Options(folder / "b.db");
  second.listen = server->addresses();
  EXPECT_THAT(Server::Start(second),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(second.listen.front())));
}

TEST(Server, RefusesAFileThatIsNoStore) {
  const TemporaryFolder folder;
  std::ofstream(folder / "vernier.db") << std::string(8192, 'x');
  EXPECT_THAT(Server::Start(Options(folder / "vernier.db")), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(Server, ListensOnSockets) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.listen = {"unix:" + (folder / "s"), "127.0.0.1:0"};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  for (const std::string& address : server->addresses()) {
    EXPECT_THAT(Client::Connect(address)->GetServerStatus(), IsOk()) << address;
  }
}

// A study of one trial that takes no time.
StudySpec QuickSpec(const std::string& name) {
  StudySpec spec = Spec(name);
  spec.budget.trials = 1;
  spec.job = TrainingJob{.command = {"sh", "-c", "echo accuracy=1"}};
  return spec;
}

Study AwaitEnd(Client& client, const std::string& name) {
  absl::StatusOr<Study> study = client.GetStudy(name);
  for (int i = 0; i < 400 && study.ok() && study->state != StudyState::kCompleted; ++i) {
    usleep(50'000);
    study = client.GetStudy(name);
  }
  EXPECT_THAT(study, IsOk());
  return study.value_or(Study());
}

TEST(Server, RunsOnlyWhatItIsAskedForIfItIsToldSo) {
  const TemporaryFolder folder;
  const std::string store = folder / "vernier.db";
  {
    ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(Options(store)));
    const auto client = client::NewChannelClient(server->InProcessChannel());
    ASSERT_THAT(client->CreateStudy(QuickSpec("forgotten")), IsOk());
    ASSERT_THAT(client->CreateStudy(QuickSpec("resumed")), IsOk());
    ASSERT_THAT(client->PauseStudy("resumed"), IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const auto server,
                       Server::Start({.store = store,
                                      .run_every_study = false,
                                      .detect_gpus = false,
                                      .control_group = "none",
                                      .supervisor = SUPERVISOR}));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  ASSERT_THAT(client->ResumeStudy("resumed"), IsOk());
  EXPECT_EQ(AwaitEnd(*client, "resumed").state, StudyState::kCompleted);
  ASSERT_THAT(client->CreateStudy(QuickSpec("created")), IsOk());
  EXPECT_EQ(AwaitEnd(*client, "created").state, StudyState::kCompleted);
  // The engine has gone round many times meanwhile.
  ASSERT_OK_AND_ASSIGN(const Study forgotten, client->GetStudy("forgotten"));
  EXPECT_EQ(forgotten.state, StudyState::kActive);
  EXPECT_EQ(forgotten.trials, 0);
}

TEST(Server, TellsWhatWaitsForRoomAndWhy) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(const auto server,
                       Server::Start({.store = folder / "vernier.db",
                                      .cpus = 2,
                                      .memory_bytes = std::int64_t{1} << 30,
                                      .detect_gpus = false,
                                      .supervisor = SUPERVISOR}));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  StudySpec spec = Spec("s");
  spec.parallel = 2;
  spec.job = TrainingJob{.command = {"sleep", "60"}, .priority = 3};
  spec.job->replicas[Role::kPrimary].resources.cpus = 1.5;
  ASSERT_THAT(client->CreateStudy(spec), IsOk());
  std::vector<QueuedGang> queue;
  for (int i = 0; i < 400 && queue.empty(); ++i) {
    usleep(50'000);
    ASSERT_OK_AND_ASSIGN(queue, client->ListQueue());
  }
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue[0].study, "s");
  EXPECT_EQ(queue[0].id.trial.number, TrialNumber(2));
  EXPECT_EQ(queue[0].priority, 3);
  EXPECT_EQ(queue[0].reason, "needs 1.5 cpus, 0.5 free");
  ASSERT_OK_AND_ASSIGN(const std::vector<Node> nodes, client->ListNodes());
  EXPECT_EQ(nodes[0].free_cpus, 0.5);
  ASSERT_THAT(client->DeleteStudy("s", /*force=*/true), IsOk());
  for (int i = 0; i < 400 && !queue.empty(); ++i) {
    usleep(50'000);
    ASSERT_OK_AND_ASSIGN(queue, client->ListQueue());
  }
  EXPECT_TRUE(queue.empty());
}

// A study whose job runs a module of Python.
StudySpec PythonSpec(const std::string& name) {
  StudySpec spec = Spec(name);
  spec.job = TrainingJob{.python = PythonProgram{.module = "trainer.task"}};
  spec.job->replicas[Role::kPrimary].resources.cpus = 0.1;
  return spec;
}

TEST(Server, NamesTheFieldOfTheTrainingInputThatIsWrong) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(Options(folder / "vernier.db")));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  HyperparameterSpec tuning{
      .goal = "MAXIMIZE",
      .params = {{.parameter_name = "p", .type = "INTEGER", .min_value = 1, .max_value = 2}},
      .resume_previous_job_id = "never_was"};
  StudySpec spec;
  spec.name = "s";
  spec.job = TrainingJob{.input = TrainingInput{.package_uris = {"trainer.tar.gz"},
                                                .python_module = "trainer.task",
                                                .hyperparameters = tuning}};
  EXPECT_EQ(client->CreateStudy(spec).status().message(),
            "trainingInput.hyperparameters.resumePreviousJobId: there is no study 'never_was'");
  spec.job->input->package_uris = {"-r"};
  EXPECT_EQ(client->CreateStudy(spec).status().message(),
            "trainingInput.packageUris[0]: must be a path, a URL or a package's name, got '-r'");
}

TEST(Server, SaysWhichSettingWouldTakeInAJobTooLargeForItsHost) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(const auto server,
                       Server::Start({.store = folder / "vernier.db",
                                      .cpus = 2,
                                      .memory_bytes = std::int64_t{1} << 40,
                                      .detect_gpus = false,
                                      .control_group = "none",
                                      .supervisor = SUPERVISOR}));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  StudySpec spec = PythonSpec("s");
  spec.objectives.clear();
  spec.space = Space();
  spec.budget.trials = 1;
  spec.algorithm.name = "grid";
  spec.job = TrainingJob{.input = TrainingInput{.scale_tier = "STANDARD_1",
                                                .package_uris = {"trainer.tar.gz"},
                                                .python_module = "trainer.task"}};
  EXPECT_EQ(client->CreateStudy(spec).status().message(),
            "trainingInput: needs 52 cpus, this host has 2; --fitting scaled (host.fitting of the "
            "server's configuration) would make its shares smaller");
}

TEST(Server, TakesMachinesOfItsConfiguration) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.machines = jobs::StandardCatalogue();
  options.machines->machines["lab-large"] = {.cpus = 24, .memory_bytes = 7};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  StudySpec spec = PythonSpec("s");
  spec.job->replicas[Role::kPrimary] = {.machine_type = "lab-large"};
  ASSERT_OK_AND_ASSIGN(const Study study, client->CreateStudy(spec));
  EXPECT_EQ(study.spec.job->replicas.at(Role::kPrimary).resources,
            (Resources{.cpus = 24, .memory_bytes = 7}));
}

struct NameCase {
  std::string name;
  std::optional<TrainingInput> input;
  std::string runtime;
  std::string region;
  std::string error;  // "": none.
};
class NamesOfAJobTest : public ::testing::TestWithParam<NameCase> {};

TEST_P(NamesOfAJobTest, AreThoseOfTheConfiguration) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.runtimes = {{"2.10", {}}, {"2.11", {}}};
  options.regions = {"eu", "us"};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  StudySpec spec = PythonSpec("s");
  spec.job->python->runtime = GetParam().runtime;
  spec.job->region = GetParam().region;
  if (GetParam().input) spec.job = TrainingJob{.input = GetParam().input};
  EXPECT_EQ(client->CreateStudy(spec).status().message(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    NamesOfAJobTest,
    ::testing::Values(
        NameCase{.name = "None"},
        NameCase{.name = "Known", .runtime = "2.11", .region = "eu"},
        NameCase{.name = "Runtime",
                 .runtime = "2.12",
                 .error = "job.python.runtime: unknown runtime '2.12'; known: 2.10, 2.11"},
        NameCase{.name = "Region",
                 .region = "asia",
                 .error = "job.region: unknown region 'asia'; known: eu, us"},
        NameCase{
            .name = "InputRuntime",
            .input = TrainingInput{.region = "eu", .runtime_version = "1.15"},
            .error = "trainingInput.runtimeVersion: unknown runtime '1.15'; known: 2.10, 2.11"},
        NameCase{.name = "InputRegion",
                 .input = TrainingInput{.region = "asia", .runtime_version = "2.11"},
                 .error = "trainingInput.region: unknown region 'asia'; known: eu, us"}),
    [](const auto& named) { return named.param.name; });

TEST(Server, RunsTheInterpreterOfTheRuntime) {
  const TemporaryFolder folder;
  const std::string python = folder / "python";
  const std::string said = folder / "said";
  std::ofstream(python) << "#!/bin/sh\necho $1 $2 > " << said << "\n";
  ASSERT_EQ(chmod(python.c_str(), 0700), 0);
  ASSERT_OK_AND_ASSIGN(const auto server,
                       Server::Start({.store = folder / "vernier.db",
                                      .cpus = 1,
                                      .detect_gpus = false,
                                      .control_group = "none",
                                      .supervisor = SUPERVISOR,
                                      .runtimes = {{"lab", {.python = python}}}}));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  StudySpec spec = PythonSpec("s");
  spec.job->python->runtime = "lab";
  spec.budget.trials = 1;
  ASSERT_THAT(client->CreateStudy(spec), IsOk());
  std::string line;
  for (int i = 0; i < 400 && line.empty(); ++i) {
    usleep(50'000);
    std::ifstream file(said);
    std::getline(file, line);
  }
  EXPECT_EQ(line, "-m trainer.task");
}

TEST(Server, ShutsDownTwiceAndExpiresLeasesUntilThen) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(Options(folder / "vernier.db")));
  const auto client = client::NewChannelClient(server->InProcessChannel());
  StudySpec spec = Spec("s");
  spec.lease = {.ttl = absl::Seconds(1), .on_expiry = LeaseExpiry::kFail};
  ASSERT_THAT(client->CreateStudy(spec), IsOk());
  ASSERT_THAT(client->SuggestTrials("s"), IsOk());
  std::string failure;
  ASSERT_THAT(client->WatchStudy("s",
                                 EventSeq(),
                                 true,
                                 [&](const Event& event) {
                                   if (!std::holds_alternative<LeaseExpired>(event.payload))
                                     return true;
                                   failure = EventKind(event.payload);
                                   return false;
                                 }),
              IsOk());
  EXPECT_EQ(failure, "lease_expired");
  server->Shutdown();
  server->Shutdown();
}

}  // namespace
}  // namespace vernier::app
