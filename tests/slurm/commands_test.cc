// The commands by programs that stand for Slurm's, which note their arguments and answer as told.
#include "src/launch/slurm/commands.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::slurm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-slurm-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CommandsTest() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  // A program of that name that prints its arguments, a line each, to `args`, and then does what the script says.
  void Fake(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\" >> " << folder_
                        << "/args; done\n"
                        << script << "\n";
    chmod(path.c_str(), 0700);
  }
  std::vector<std::string> Arguments() const {
    std::ifstream file(folder_ + "/args");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return absl::StrSplit(text, '\n', absl::SkipEmpty());
  }
  std::unique_ptr<Slurm> Commands() const {
    return NewSlurmCommands({.folder = folder_, .patience = absl::Seconds(5)});
  }

  std::string folder_;
};

const BatchJob kJob = {
    .name = "a b;$(x)'\"",
    .comment = "vernier /s/it's",
    .script = "/s/job.sh",
    .output = "/s/slurm.log",
    .directory = "/s",
    .components = {{.tasks = 1, .cpus = 1.5, .memory_bytes = std::int64_t{3} << 30},
                   {.tasks = 2, .cpus = 1, .gpus = 2, .gpu_type = "v100"}},
    .time_limit = absl::Seconds(61),
    .site = {.partition = "gpu"}};

TEST_F(CommandsTest, AJobIsGivenAsArguments) {
  Fake("sbatch", "echo '42;cluster'");
  EXPECT_THAT(Commands()->Submit(kJob), IsOk());
  EXPECT_EQ(Commands()->Submit(kJob).value(), 42);
  const std::vector<std::string> arguments = Arguments();
  EXPECT_THAT(arguments, Contains("--job-name=a b;$(x)'\""));
  EXPECT_THAT(arguments, Contains("--comment=vernier /s/it's"));
  EXPECT_THAT(arguments, Contains("--no-requeue"));
  EXPECT_THAT(arguments, Contains("--cpus-per-task=2"));
  EXPECT_THAT(arguments, Contains("--mem-per-cpu=1536M"));
  EXPECT_THAT(arguments, Contains("--gpus-per-task=v100:2"));
  EXPECT_THAT(arguments, Contains("--time=2"));
  EXPECT_THAT(arguments, Contains(":"));
  EXPECT_THAT(arguments, Contains("/s/job.sh"));
}

struct RefusalRow {
  const char* name;
  const char* script;
  absl::StatusCode code;
  const char* says;
};

class RefusalTest : public CommandsTest, public ::testing::WithParamInterface<RefusalRow> {};

TEST_P(RefusalTest, IsToldApart) {
  Fake("sbatch", GetParam().script);
  const absl::Status status = Commands()->Submit(kJob).status();
  EXPECT_THAT(status, StatusIs(GetParam().code));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    RefusalTest,
    ::testing::Values(
        RefusalRow{"UnknownPartition",
                   "echo 'sbatch: error: invalid partition specified: nix' >&2; echo 'sbatch: "
                   "error: Batch job "
                   "submission failed: Invalid partition name specified' >&2; exit 1",
                   absl::StatusCode::kInvalidArgument,
                   "invalid partition specified: nix; Invalid partition name specified"},
        RefusalRow{"NoSuchDevices",
                   "echo 'sbatch: error: Batch job submission failed: Requested node configuration "
                   "is not available' "
                   ">&2; exit 1",
                   absl::StatusCode::kInvalidArgument,
                   "sbatch: Requested node configuration is not available"},
        RefusalRow{"ControllerIsDown",
                   "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm "
                   "controller (connect "
                   "failure)' >&2; exit 1",
                   absl::StatusCode::kUnavailable,
                   "Unable to contact slurm controller"},
        RefusalRow{"AnswerIsLate",
                   "echo 'sbatch: error: Batch job submission failed: Socket timed out on "
                   "send/recv operation' >&2; "
                   "exit 1",
                   absl::StatusCode::kUnavailable,
                   "Socket timed out"},
        RefusalRow{"NoReason", "exit 1", absl::StatusCode::kInvalidArgument, "it failed"},
        RefusalRow{"NoId", "echo hello", absl::StatusCode::kFailedPrecondition, "answered 'hello'"},
        RefusalRow{"Nothing", "exit 0", absl::StatusCode::kFailedPrecondition, "answered ''"}),
    [](const auto& row) { return row.param.name; });

TEST_F(CommandsTest, ACommandThatHangsIsGivenUp) {
  Fake("squeue", "sleep 60");
  const auto slurm = NewSlurmCommands({.folder = folder_, .patience = absl::Milliseconds(200)});
  EXPECT_THAT(slurm->Jobs().status(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(CommandsTest, AMissingCommandIsNamed) {
  const absl::Status status = Commands()->Jobs().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("squeue cannot be run: No such file"));
}

TEST_F(CommandsTest, WarningsAreNoPartOfAnAnswer) {
  Fake("squeue",
       "echo 'squeue: error: mpi/pmix_v4: can not load PMIx library' >&2; echo '{\"jobs\": []}'");
  EXPECT_THAT(Commands()->Jobs(), IsOk());
}

TEST_F(CommandsTest, AJobThatIsGoneNeedsNoCancelling) {
  Fake("scancel",
       "echo 'scancel: error: Kill job error on job id 9: Invalid job id specified' >&2; exit 1");
  EXPECT_THAT(Commands()->Cancel(9), IsOk());
  EXPECT_THAT(Commands()->Stop(9, Listener::kStep), IsOk());
  EXPECT_THAT(Commands()->Stop(9, Listener::kScript), IsOk());
  EXPECT_THAT(Arguments(), ElementsAre("9", "--signal=URG", "9", "--batch", "--signal=URG", "9"));
}

TEST_F(CommandsTest, NodesComeFromSinfoWhereScontrolKnowsNoJson) {
  Fake("scontrol", "echo 'scontrol: unrecognized option --json' >&2; exit 1");
  Fake("sinfo", "echo '{\"nodes\": [{\"name\": \"n1\"}]}'");
  const auto nodes = Commands()->Nodes();
  ASSERT_THAT(nodes, IsOk());
  EXPECT_EQ(nodes->size(), 1U);
}

}  // namespace
}  // namespace vernier::launch::slurm
