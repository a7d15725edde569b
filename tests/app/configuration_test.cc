#include "src/app/configuration.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/app/paths.h"
#include "src/core/status.h"
#include "src/launch/environment.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/extreme_values.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pair;
using testing::StatusIs;
using ::testing::ValuesIn;
using ::vernier::testing::kGiB;

const char kWhole[] = R"(
store: /var/lib/vernier/studies.db
listen: [127.0.0.1:7117, "unix:/run/vernier.sock"]
allow_remote: true
runs: /var/lib/vernier/runs
supervisor: /usr/lib/vernier/supervisor
log_level: warning
host: {cpus: 15.5, memory: 60GiB, gpus: [T4:0:16GiB, 1], fitting: scaled,
       cgroup: /vernier.slice, disk_reserve: 2GiB}
regions:
  us-central1: {zones: {us-central1-a: {backend: local}, us-central1-b: {}}}
machines:
  machines: {lab-large: {cpus: 24, memory_gb: 90}}
runtimes:
  2.11: {python: opt/tf-2.11/bin/python, wheels: /opt/wheels}
  default: {}
containers: {engine: podman, arguments: [--ulimit, "nofile=1024:1024"]}
clean_up: {unused_for: 30d, cache_size: 50GiB}
)";

TEST(Configuration, IsReadWhole) {
  ASSERT_OK_AND_ASSIGN(const Configuration read, ParseConfiguration(kWhole));
  EXPECT_EQ(read.store, "/var/lib/vernier/studies.db");
  EXPECT_THAT(read.listen, ElementsAre("127.0.0.1:7117", "unix:/run/vernier.sock"));
  EXPECT_EQ(read.allow_remote, true);
  EXPECT_EQ(read.runs, "/var/lib/vernier/runs");
  EXPECT_EQ(read.supervisor, "/usr/lib/vernier/supervisor");
  EXPECT_EQ(read.log_level, base::LogLevel::kWarning);
  EXPECT_EQ(read.host,
            (HostConfiguration{.cpus = 15.5,
                               .memory_bytes = 60 * kGiB,
                               .gpus = {{"T4:0:16GiB", "1"}},
                               .fitting = launch::Fitting::kScaled,
                               .disk_reserve = 2 * kGiB,
                               .control_group = "/vernier.slice"}));
  ASSERT_TRUE(read.regions.contains("us-central1"));
  EXPECT_EQ(read.regions.at("us-central1").zones.size(), 2U);
  ASSERT_TRUE(read.machines.has_value());
  EXPECT_EQ(read.machines->machines.at("lab-large").cpus, 24);
  EXPECT_EQ(read.machines->machines.at("n1-standard-4").cpus, 4);
  EXPECT_THAT(read.runtimes,
              ElementsAre(Pair("2.11",
                               launch::PythonRuntime{.python = "opt/tf-2.11/bin/python",
                                                     .wheels = "/opt/wheels"}),
                          Pair("default", launch::PythonRuntime{})));
  EXPECT_EQ(read.containers,
            (ContainersConfiguration{.engine = "podman",
                                     .arguments = {{"--ulimit", "nofile=1024:1024"}}}));
  EXPECT_EQ(read.clean_up,
            (CleanUpConfiguration{.unused_for = absl::Hours(30 * 24), .cache_bytes = 50 * kGiB}));
}

TEST(Configuration, MayBeJsonAndOneAddress) {
  ASSERT_OK_AND_ASSIGN(const Configuration read,
                       ParseConfiguration(R"({"store": "a.db", "listen": "127.0.0.1:0"})"));
  EXPECT_EQ(read.store, "a.db");
  EXPECT_THAT(read.listen, ElementsAre("127.0.0.1:0"));
}

TEST(Configuration, BecomesOptionsWithDefaults) {
  ASSERT_OK_AND_ASSIGN(const ServerOptions plain, ServerOptionsOf({}));
  EXPECT_THAT(plain.listen, ElementsAre("unix:" + DefaultSocket(plain.store)));
  EXPECT_FALSE(plain.open);
  EXPECT_EQ(plain.inherit_env, launch::UsualVariables());
  EXPECT_TRUE(plain.detect_gpus);
  EXPECT_EQ(plain.fitting, launch::Fitting::kStrict);
  EXPECT_FALSE(plain.store.empty());
  EXPECT_FALSE(plain.machines.has_value());
  EXPECT_THAT(plain.regions, IsEmpty());

  ASSERT_OK_AND_ASSIGN(const Configuration read, ParseConfiguration(kWhole));
  ASSERT_OK_AND_ASSIGN(const ServerOptions full, ServerOptionsOf(read));
  EXPECT_EQ(full.memory_bytes, 60 * kGiB);
  EXPECT_THAT(full.gpus, ElementsAre("T4:0:16GiB", "1"));
  EXPECT_FALSE(full.detect_gpus);
  EXPECT_EQ(full.fitting, launch::Fitting::kScaled);
  EXPECT_EQ(full.disk_reserve, 2 * kGiB);
  EXPECT_EQ(full.machines, read.machines);
  EXPECT_THAT(full.regions, ElementsAre(Pair("us-central1", "local")));
  EXPECT_EQ(full.runtimes.at("2.11").python,
            std::filesystem::absolute("opt/tf-2.11/bin/python").string());
  EXPECT_EQ(full.runtimes.at("2.11").wheels, "/opt/wheels");
  EXPECT_EQ(full.runtimes.at("default").python, "python3");
  EXPECT_TRUE(full.containers.is_enabled);
  EXPECT_EQ(full.containers.kind, launch::EngineKind::kPodman);
  EXPECT_THAT(full.containers.arguments, ElementsAre("--ulimit", "nofile=1024:1024"));
}

TEST(Configuration, RegionsAndTheDefaultNameClusters) {
  const std::string clusters = "clusters: {hpc: {slurm: {shared: /s, gpus: {V100: v100}}}}\n";
  const auto options = [&](const std::string& rest) -> absl::StatusOr<ServerOptions> {
    VERNIER_ASSIGN_OR_RETURN(const Configuration read, ParseConfiguration(clusters + rest));
    return ServerOptionsOf(read);
  };
  ASSERT_OK_AND_ASSIGN(const ServerOptions both,
                       options("cluster: hpc\n"
                               "regions: {eu: {zones: {a: {backend: hpc}, b: {backend: hpc}}}, "
                               "us: {zones: {a: {}}}}"));
  EXPECT_EQ(both.cluster, "hpc");
  EXPECT_EQ(both.clusters.at("hpc").shared, "/s");
  EXPECT_THAT(both.regions, ElementsAre(Pair("eu", "hpc"), Pair("us", "local")));
  EXPECT_THAT(options("cluster: hcp"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cluster: unknown cluster 'hcp'; known: local, hpc"));
  EXPECT_THAT(options("regions: {eu: {zones: {a: {backend: gpu}}}}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "regions.eu.zones.a.backend: unknown cluster 'gpu'; known: local, hpc"));
  EXPECT_THAT(options("regions: {eu: {zones: {a: {backend: hpc}, b: {}}}}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "regions.eu.zones.b.backend: must be 'hpc' like that of the region's other "
                       "zones, got 'local'"));
  // What a command takes of a file: everything about where jobs run, nothing about the server.
  ASSERT_OK_AND_ASSIGN(const Configuration read,
                       ParseConfiguration(clusters + "store: elsewhere.db\nhost: {cpus: 3}"));
  ServerOptions here{.store = "here.db"};
  EXPECT_THAT(ApplyHost(read, here), IsOk());
  EXPECT_EQ(here.store, "here.db");
  EXPECT_EQ(here.cpus, 3);
  EXPECT_TRUE(here.clusters.contains("hpc"));
}

TEST(Configuration, RuntimesAreToBeThere) {
  const TemporaryFolder folder;
  const std::string python = folder / "python";
  std::ofstream(python) << "#!/bin/sh\n";
  EXPECT_THAT(CheckRuntimes({{"sh", {.python = "sh", .wheels = folder / ""}}}), IsOk());
  EXPECT_EQ(CheckRuntimes({{"lab", {.python = python}}}).message(),  // It cannot be run.
            "runtimes.lab.python: there is no program '" + python + "'");
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  EXPECT_THAT(CheckRuntimes({{"lab", {.python = python}}}), IsOk());
  EXPECT_EQ(CheckRuntimes({{"lab", {.python = folder / "none"}}}).message(),
            "runtimes.lab.python: there is no program '" + (folder / "none") + "'");
  EXPECT_EQ(CheckRuntimes({{"lab", {.python = "no-such-python"}}}).message(),
            "runtimes.lab.python: there is no program 'no-such-python'");
  EXPECT_EQ(CheckRuntimes({{"lab", {.python = python, .wheels = python}}}).message(),
            "runtimes.lab.wheels: there is no folder '" + python + "'");
}

TEST(Configuration, AnyEngineOrNoneRunsImages) {
  const auto options_of = [](const char* text) {
    return ServerOptionsOf(*ParseConfiguration(text))->containers;
  };
  for (const char* text : {"{}", "containers: {engine: auto}"}) {
    EXPECT_TRUE(options_of(text).is_enabled) << text;
    EXPECT_EQ(options_of(text).kind, std::nullopt) << text;
  }
  EXPECT_FALSE(options_of("containers: {engine: none}").is_enabled);
}

TEST(Configuration, AnEmptyListOfDevicesOffersNone) {
  ASSERT_OK_AND_ASSIGN(const Configuration read, ParseConfiguration("host: {gpus: []}"));
  ASSERT_OK_AND_ASSIGN(const ServerOptions options, ServerOptionsOf(read));
  EXPECT_THAT(options.gpus, IsEmpty());
  EXPECT_FALSE(options.detect_gpus);
}

TEST(Configuration, WhatIsAboveBeatsWhatIsBelow) {
  ASSERT_OK_AND_ASSIGN(const Configuration below, ParseConfiguration(kWhole));
  EXPECT_EQ(Overlay({}, below), below);
  EXPECT_EQ(Overlay(below, {}), below);
  const Configuration above{
      .store = "other.db",
      .host = {.cpus = 2, .gpus = std::vector<std::string>(), .fitting = launch::Fitting::kStrict}};
  const Configuration both = Overlay(above, below);
  EXPECT_EQ(both.store, "other.db");
  EXPECT_EQ(both.host.cpus, 2);
  EXPECT_EQ(both.host.memory_bytes, 60 * kGiB);
  EXPECT_THAT(*both.host.gpus, IsEmpty());
  EXPECT_EQ(both.host.fitting, launch::Fitting::kStrict);
  EXPECT_EQ(both.regions, below.regions);
  EXPECT_EQ(both.machines, below.machines);
  EXPECT_EQ(both.runtimes, below.runtimes);
}

TEST(Configuration, SaysWhoMayCallAndWhatProgramsInherit) {
  ASSERT_OK_AND_ASSIGN(const Configuration read,
                       ParseConfiguration("token_file: t\ninherit_env: [DATA, 'WANDB_*']\n"));
  ASSERT_OK_AND_ASSIGN(const ServerOptions options, ServerOptionsOf(read));
  EXPECT_FALSE(options.open);
  EXPECT_EQ(options.token_file, "t");
  EXPECT_THAT(options.inherit_env, AllOf(Contains("PATH"), Contains("DATA"), Contains("WANDB_*")));
  ASSERT_OK_AND_ASSIGN(const Configuration open, ParseConfiguration("open: true\n"));
  EXPECT_TRUE(ServerOptionsOf(open).value().open);
  EXPECT_EQ(GetField(ServerOptionsOf(Overlay(open, read)).status()), "open")
      << "nobody is asked for it";
  const Configuration above{.open = false, .inherit_env = {{"OTHER"}}};
  EXPECT_EQ(Overlay(above, open).open, false);
  EXPECT_THAT(*Overlay(above, read).inherit_env, ElementsAre("OTHER"));
  EXPECT_EQ(Overlay({}, read).token_file, "t");
}

TEST(Configuration, NamesOfVariablesAreChecked) {
  for (const char* name : {"''", "A=B", "'*A'", "'A*B'"}) {
    const absl::Status refused =
        ParseConfiguration("inherit_env: [" + std::string(name) + "]").status();
    EXPECT_EQ(GetField(refused), "inherit_env") << name;
  }
  EXPECT_THAT(ParseConfiguration("inherit_env: '*'"), IsOk());
  // What a flag says.
  EXPECT_EQ(GetField(ServerOptionsOf({.inherit_env = {{"A=B"}}}).status()), "inherit_env");
}

TEST(Configuration, AnAddressThatOthersReachNeedsLeave) {
  ASSERT_OK_AND_ASSIGN(Configuration read, ParseConfiguration("listen: 0.0.0.0:7117"));
  EXPECT_THAT(ServerOptionsOf(read),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("other hosts can reach")));
  read.allow_remote = true;
  EXPECT_THAT(ServerOptionsOf(read), IsOk());
}

TEST(Configuration, NamesTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "server.yaml";
  EXPECT_THAT(LoadConfiguration(path), StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
  std::ofstream(path) << "host: {cpus: many}\n";
  EXPECT_THAT(LoadConfiguration(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ": host.cpus: must be a number, got \"many\""));
}

struct BadCase {
  std::string name;
  std::string text;
  std::string error;
};
class BadConfigurationTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadConfigurationTest, GetsASentence) {
  EXPECT_THAT(ParseConfiguration(GetParam().text),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadConfigurationTest,
    ValuesIn(std::vector<BadCase>{
        {"Empty", "", "configuration: is empty"},
        {"List", "[1]", "configuration: must be a mapping of keys to values, got [1]"},
        {"Syntax", "a: [", "line 1: a list [ … ] is not closed"},
        {"Twice", "store: a\nstore: b", "line 2: key 'store' is there twice"},
        {"UnknownKey", "stroe: a", "stroe: unknown key; did you mean 'store'?"},
        {"UnknownHostKey", "host: {memroy: 1}", "host.memroy: unknown key; did you mean 'memory'?"},
        {"Store", "store: 7", "store: must be text (write it in quotes), got 7"},
        {"Listen", "listen: here", "listen: must be HOST:PORT or unix:PATH, got 'here'"},
        {"Remote", "allow_remote: maybe", "allow_remote: must be true or false, got \"maybe\""},
        {"Level", "log_level: inof", "log_level: unknown value 'inof'; did you mean 'info'?"},
        {"Cpus", "host: {cpus: 0}", "host.cpus: must be above 0 and at most 1000000, got 0"},
        {"CpusNan",
         "host: {cpus: .nan}",
         "host.cpus: must be above 0 and at most 1000000, got nan"},
        {"Memory",
         "host: {memory: 60Gib}",
         "host.memory: must be a size such as 60GiB or a whole number of bytes, got \"60Gib\""},
        {"NoMemory", "host: {memory: 0}", "host.memory: must be above 0, got 0"},
        {"MemoryWithoutUnit",
         "host: {memory: 64}",
         "host.memory: 64 counts bytes; write a size such as 64GiB"},
        {"Gpus", "host: {gpus: 2}", "host.gpus: must be a list such as [T4:0:16GiB], got 2"},
        {"Gpu",
         "host: {gpus: ['T4:0', 'T4:']}",
         "host.gpus[1]: gpu 'T4:': must be TYPE:ID:MEMORY, TYPE:ID or ID, as in 'T4:0:16GiB'"},
        {"GpuTwice",
         "host: {gpus: ['T4:0', 'A100:0']}",
         "host.gpus[1]: gpu 'A100:0': id 0 is declared twice"},
        {"GpuMemory",
         "host: {gpus: ['T4:0:much']}",
         "host.gpus[0]: gpu 'T4:0:much': must be TYPE:ID:MEMORY, TYPE:ID or ID, as in "
         "'T4:0:16GiB'"},
        {"Fitting",
         "host: {fitting: scale}",
         "host.fitting: unknown value 'scale'; did you mean 'scaled'?"},
        {"DiskReserve",
         "host: {disk_reserve: 15MiB}",
         "host.disk_reserve: must be at least 16777216 bytes, got 15728640"},
        {"Cgroup",
         "host: {cgroup: vernier}",
         "host.cgroup: must be none or a path such as /vernier.slice/jobs, got 'vernier'"},
        {"CgroupUp",
         "host: {cgroup: /a/../b}",
         "host.cgroup: must be none or a path such as /vernier.slice/jobs, got '/a/../b'"},
        {"Regions", "regions: [a]", "regions: must be a mapping of names, got [\"a\"]"},
        {"NoRegion", "regions: {}", "regions: must not be empty"},
        {"RegionName",
         "regions: {'us central': {zones: {a: {}}}}",
         "regions: a name must be of letters, digits, '-', '_' and '.', got 'us central'"},
        {"Machines", "machines: [a]", "machines: must be a mapping of keys to values, got [\"a\"]"},
        {"MachinesKey",
         "machines: {machine: {}}",
         "machines.machine: unknown key; did you mean 'machines'?"},
        {"Machine",
         "machines: {machines: {big: {cpus: 0, memory_gb: 1}}}",
         "machines.machines.big.cpus: must be above 0"},
        {"Tier",
         "machines: {tiers: {BIG: {master: {machine: big}}}}",
         "machines.tiers.BIG.master.machine: there is no machine 'big'"},
        {"CleanUpTooSoon",
         "clean_up: {unused_for: 59m}",
         "clean_up.unused_for: must be at least 1h, got \"59m\""},
        {"EmptyCleanUp", "clean_up: {}", "clean_up: needs unused_for or cache_size"},
        {"CacheSizeOfNothing",
         "clean_up: {cache_size: 0}",
         "clean_up.cache_size: must be above 0, got 0"},
        {"Engine",
         "containers: {engine: rocker}",
         "containers.engine: unknown value 'rocker'; did you mean 'docker'?"},
        {"EngineArguments",
         "containers: {arguments: --rm}",
         "containers.arguments: must be a list, got \"--rm\""},
        {"EmptyEngineArgument",
         "containers: {arguments: ['']}",
         "containers.arguments: a word must not be empty nor hold a zero byte"},
        {"Runtimes", "runtimes: python3", "runtimes: must be a mapping of names, got \"python3\""},
        {"RuntimeKey",
         "runtimes: {a: {pyhton: python3}}",
         "runtimes.a.pyhton: unknown key; did you mean 'python'?"},
        {"RuntimePython",
         "runtimes: {a: {python: 3}}",
         "runtimes.a.python: must be text (write it in quotes), got 3"},
        {"RuntimeNothing", "runtimes: {a: {python: ''}}", "runtimes.a.python: must not be empty"},
        {"NoZones", "regions: {eu: {}}", "regions.eu.zones: is missing"},
        {"NoZone", "regions: {eu: {zones: {}}}", "regions.eu.zones: must not be empty"},
        {"Backend",
         "regions: {eu: {zones: {a: {backend: 7}}}}",
         "regions.eu.zones.a.backend: must be text (write it in quotes), got 7"},
        {"Clusters", "clusters: [hpc]", "clusters: must be a mapping of names, got [\"hpc\"]"},
        {"NoClusters", "clusters: {}", "clusters: must not be empty"},
        {"ClusterKind",
         "clusters: {hpc: {}}",
         "clusters.hpc: needs the kind of cluster that it is: write `slurm: {shared: FOLDER}`"},
        {"ClusterKindUnknown",
         "clusters: {hpc: {slrum: {shared: /s}}}",
         "clusters.hpc.slrum: unknown key; did you mean 'slurm'?"},
        {"ClusterLocal",
         "clusters: {local: {slurm: {shared: /s}}}",
         "clusters.local: is the name of this host; give the cluster another one"},
        {"ClusterName",
         "clusters: {'a b': {slurm: {shared: /s}}}",
         "clusters: a name must be of letters, digits, '-', '_' and '.', got 'a b'"},
        {"NoShared",
         "clusters: {hpc: {slurm: {partition: gpu}}}",
         "clusters.hpc.slurm.shared: is needed: a folder that every node sees"},
        {"RelativeShared",
         "clusters: {hpc: {slurm: {shared: home/me}}}",
         "clusters.hpc.slurm.shared: must be an absolute path, got 'home/me'"},
        {"SlurmKey",
         "clusters: {hpc: {slurm: {shared: /s, partiton: gpu}}}",
         "clusters.hpc.slurm.partiton: unknown key; did you mean 'partition'?"},
        {"SlurmPartition",
         "clusters: {hpc: {slurm: {shared: /s, partition: [a]}}}",
         "clusters.hpc.slurm.partition: must be text, got [\"a\"]"},
        {"SlurmArguments",
         "clusters: {hpc: {slurm: {shared: /s, arguments: --nice}}}",
         "clusters.hpc.slurm.arguments: must be a list, got \"--nice\""},
        {"SlurmArgument",
         "clusters: {hpc: {slurm: {shared: /s, arguments: ['']}}}",
         "clusters.hpc.slurm.arguments[0]: must not be empty nor hold a zero byte"},
        {"SlurmOwnArgument",
         "clusters: {hpc: {slurm: {shared: /s, arguments: [--nice=5, --array=0-9]}}}",
         "clusters.hpc.slurm.arguments[1]: must not be '--array', which Vernier sets for each job"},
        {"SlurmGpus",
         "clusters: {hpc: {slurm: {shared: /s, gpus: [V100]}}}",
         "clusters.hpc.slurm.gpus: must be a mapping of names to text, got [\"V100\"]"},
        {"SlurmGpu",
         "clusters: {hpc: {slurm: {shared: /s, gpus: {V100: 'gpu:v100'}}}}",
         "clusters.hpc.slurm.gpus.V100: must be a type of GPU as gres.conf has it, such as a100, "
         "got 'gpu:v100'"},
        {"RestUrl",
         "clusters: {hpc: {slurm: {shared: /s, rest: {url: 'head:6820'}}}}",
         "clusters.hpc.slurm.rest.url: must be http://HOST:PORT, https://HOST:PORT or unix:/PATH, "
         "got 'head:6820'"},
        {"RestVersion",
         "clusters: {hpc: {slurm: {shared: /s, rest: {url: 'unix:/s', version: '38'}}}}",
         "clusters.hpc.slurm.rest.version: must be a version such as v0.0.38, got '38'"},
        {"RestUrlWithPassword",
         "clusters: {hpc: {slurm: {shared: /s, rest: {url: 'https://ada:secret@head'}}}}",
         "clusters.hpc.slurm.rest.url: must have no user and no password; write `user` and "
         "`token_file`"},
        {"RestWithoutUrl",
         "clusters: {hpc: {slurm: {shared: /s, rest: {token_file: /t}}}}",
         "clusters.hpc.slurm.rest.url: must be http://HOST:PORT, https://HOST:PORT or unix:/PATH, "
         "got ''"},
        {"RestUserOfTwoLines",
         "clusters: {hpc: {slurm: {shared: /s, rest: {url: 'unix:/s', user: \"a\\nb\"}}}}",
         "clusters.hpc.slurm.rest.user: must be one line"},
        {"RestKey",
         "clusters: {hpc: {slurm: {shared: /s, rest: {url: 'unix:/s', tokenfile: /t}}}}",
         "clusters.hpc.slurm.rest.tokenfile: unknown key; did you mean 'token_file'?"},
        {"RestToken",
         "clusters: {hpc: {slurm: {shared: /s, rest: {url: 'unix:/s', token_file: token}}}}",
         "clusters.hpc.slurm.rest.token_file: must be an absolute path, got 'token'"},
        {"RestArguments",
         "clusters: {hpc: {slurm: {shared: /s, arguments: [--nice], rest: {url: 'unix:/s'}}}}",
         "clusters.hpc.slurm.arguments: are sbatch's; slurmrestd (`rest`) takes none"},
        {"SlurmCommands",
         "clusters: {hpc: {slurm: {shared: /s, commands: bin}}}",
         "clusters.hpc.slurm.commands: must be an absolute path, got 'bin'"},
    }),
    [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace vernier::app
