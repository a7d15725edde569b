#include "src/app/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "src/base/access_token.h"
#include "src/client/channel_client.h"
#include "src/storage/sqlite/connection.h"
#include "src/wire/channel.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/raw_call.h"
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

ServerOptions Options(const std::string& store) {
  return {.store = store, .open = true, .run_engine = false};
}

bool Soon(const std::function<bool()>& holds) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (!holds()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

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

TEST(Server, OwnsItsStoreUnderEveryName) {
  const TemporaryFolder folder;
  const ServerOptions options = Options(folder / "vernier.db");
  const auto other = [&](const std::string& name) {
    ServerOptions same = Options(folder / name);
    same.patience = absl::ZeroDuration();
    return Server::Start(same);
  };
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  std::filesystem::create_symlink("vernier.db", folder / "symbolic.db");
  std::filesystem::create_hard_link(folder / "vernier.db", folder / "hard.db");
  EXPECT_TRUE(FindStoreOwner(folder / "symbolic.db").has_value());
  const auto symbolic = other("symbolic.db");
  EXPECT_EQ(GetReason(symbolic.status()), Reason::kStoreBusy);
  const auto hard = other("hard.db");
  EXPECT_EQ(GetReason(hard.status()), Reason::kStoreBusy);
  EXPECT_THAT(std::string(hard.status().message()), HasSubstr("under another name"));
}

TEST(Server, RefusesAStoreThatIsNoFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(folder / "directory");
  for (const char* name : {"fifo", "directory"}) {
    const absl::Status refused = Server::Start(Options(folder / name)).status();
    EXPECT_EQ(GetField(refused), "store");
    EXPECT_THAT(std::string(refused.message()), HasSubstr("must be a regular file"));
  }
}

TEST(Server, RefusesCallsAndSaysItIsIllWhileItsStoreIsGone) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.listen = {"127.0.0.1:0"};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  const auto channel =
      grpc::CreateChannel(server->addresses().front(), grpc::InsecureChannelCredentials());
  const auto client = client::NewChannelClient(channel, {.attempts_once_answered = 1});
  ASSERT_THAT(client->CreateStudy(Spec("before")), IsOk());
  const auto is_healthy_soon = [&](bool wanted) {
    return Soon([&] { return testing::IsHealthy(channel) == wanted; });
  };
  EXPECT_TRUE(is_healthy_soon(true));
  std::filesystem::rename(folder / "vernier.db", folder / "elsewhere.db");
  const absl::Status refused = client->CreateStudy(Spec("meanwhile")).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("moved or removed")));
  EXPECT_EQ(GetReason(refused), Reason::kStoreGone);
  EXPECT_TRUE(is_healthy_soon(false));
  std::filesystem::rename(folder / "elsewhere.db", folder / "vernier.db");
  EXPECT_TRUE(is_healthy_soon(true));
  EXPECT_THAT(client->CreateStudy(Spec("after")), IsOk());
  EXPECT_THAT(client->GetStudy("meanwhile"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("")));
}

TEST(Server, SaysHowTheEngineAndTheDisksAre) {
  const TemporaryFolder folder;
  std::atomic<std::int64_t> free = std::int64_t{1} << 40;
  ServerOptions options = Options(folder / "vernier.db");
  options.listen = {"127.0.0.1:0"};
  options.run_engine = true;
  options.detect_gpus = false;
  options.control_group = "none";
  options.supervisor = SUPERVISOR;
  options.disk_probe = [&](const std::string&) {
    return launch::DiskSpace{.free_bytes = free, .total_bytes = std::int64_t{1} << 40};
  };
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  const auto channel =
      grpc::CreateChannel(server->addresses().front(), grpc::InsecureChannelCredentials());
  const auto soon = [&](const std::string& service, bool wanted) {
    return Soon([&] { return testing::IsHealthy(channel, service) == wanted; });
  };
  EXPECT_TRUE(soon("engine", true));
  EXPECT_TRUE(soon("disk", true));
  free = 0;
  EXPECT_TRUE(soon("disk", false));
  EXPECT_TRUE(testing::IsHealthy(channel)) << "it goes on taking calls";
  EXPECT_FALSE(testing::IsHealthy(channel, "nonsense"));
}

TEST(Server, MakesTheSocketForReportsAgain) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(const auto server,
                       Server::Start({.store = folder / "vernier.db",
                                      .listen = {"127.0.0.1:0"},
                                      .open = true,
                                      .detect_gpus = false,
                                      .control_group = "none",
                                      .supervisor = SUPERVISOR}));
  const std::string reports = folder / "vernier.db.runs/.report";
  const auto answers = [&] {
    const auto channel =
        grpc::CreateChannel("unix:" + reports + "/socket", grpc::InsecureChannelCredentials());
    std::string response;
    return testing::RawCall(channel, "/vernier.v1.StudyService/ReportMeasurement", "", &response)
               .error_code() == grpc::StatusCode::PERMISSION_DENIED;  // It has no token.
  };
  EXPECT_TRUE(Soon(answers));
  std::filesystem::remove_all(reports);
  EXPECT_TRUE(Soon(answers));
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

TEST(Server, NamesTheMissingFolderOfASocket) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "a.db");
  options.listen = {"unix:" + (folder / "none/s")};
  EXPECT_THAT(Server::Start(options),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("there is no folder '" + (folder / "none") + "'")));
}

TEST(Server, RefusesAFileThatIsNoStore) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << std::string(8192, 'x');
  {
    const auto other = sqlite::Connection::Open(folder / "other.db", absl::Seconds(1), "").value();
    ASSERT_THAT(other->Execute("PRAGMA application_id = 7; CREATE TABLE t(a)"), IsOk());
  }
  for (const char* name : {"text", "other.db"}) {
    const std::string path = folder / name;
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    const absl::Status refused = Server::Start(Options(path)).status();
    EXPECT_EQ(GetField(refused), "store");
    EXPECT_THAT(std::string(refused.message()), HasSubstr("must be a file that vernier made"));
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0644U);
    EXPECT_FALSE(std::filesystem::exists(path + ".owner"));
  }
}

// That is for whoever reads it to tell.
TEST(Server, CallsAStoreWhoseFirstPageIsGoneDamaged) {
  const TemporaryFolder folder;
  const std::string path = folder / "vernier.db";
  ASSERT_THAT(Server::Start(Options(path)), IsOk());
  std::ofstream(path) << std::string(8192, 'x');
  EXPECT_THAT(Server::Start(Options(path)), StatusIs(absl::StatusCode::kDataLoss));
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

TEST(Server, AsksForTheTokenOverTcp) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.open = false;
  options.token_file = folder / "made/token";
  options.listen = {"127.0.0.1:0", "unix-abstract:" + (folder / "s"), "unix:" + (folder / "s")};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  ASSERT_OK_AND_ASSIGN(const std::string token, base::ReadToken(options.token_file));
  const std::vector<std::string> addresses = server->addresses();
  for (const std::string& address : {addresses[0], addresses[1]}) {
    for (const std::string& wrong : {std::string(64, 'f'),
                                     token + "0",
                                     token.substr(1),
                                     token + "\n",
                                     std::string("\x01 \xff")}) {
      const auto client = Client::Connect(address, {.token = wrong});
      EXPECT_THAT(client->GetServerStatus(),
                  StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr(options.token_file)))
          << address;
      // Whatever service it is for.
      EXPECT_FALSE(testing::IsHealthy(wire::OpenChannel(address, wrong))) << address;
    }
    EXPECT_THAT(Client::Connect(address, {.token = token})->GetServerStatus(), IsOk()) << address;
    EXPECT_TRUE(testing::IsHealthy(wire::OpenChannel(address, token))) << address;
  }
  EXPECT_THAT(Client::Connect(addresses[2])->GetServerStatus(), IsOk());
  // Those who know the store need not know more: the socket is published before the rest.
  EXPECT_EQ(FindStoreOwner(options.store)->address, addresses[2]);
  EXPECT_EQ(FindStoreOwner(options.store)->token_file, "");
}

TEST(Server, PublishesWhereItsTokenIs) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.open = false;
  options.token_file = folder / "token";
  options.listen = {"127.0.0.1:0"};
  ASSERT_OK_AND_ASSIGN(const auto server, Server::Start(options));
  EXPECT_EQ(FindStoreOwner(options.store)->token_file, options.token_file);
}

TEST(Server, DoesNotListenWithATokenThatOthersKnow) {
  const TemporaryFolder folder;
  ServerOptions options = Options(folder / "vernier.db");
  options.open = false;
  options.token_file = folder / "token";
  options.listen = {"127.0.0.1:0"};
  std::ofstream(options.token_file) << std::string(64, 'a');
  ASSERT_EQ(chmod(options.token_file.c_str(), 0640), 0);
  EXPECT_THAT(Server::Start(options),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("0640")));
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
  spec.job = TrainingJob{.command = {"sh", "-c", "sleep 60"}, .priority = 3};
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
  options.regions = {{"eu", "local"}, {"us", "local"}};
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
