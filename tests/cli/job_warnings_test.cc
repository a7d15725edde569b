#include "src/cli/job_warnings.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

StudySpec AnySpec() {
  StudySpec spec;
  spec.name = "s";
  spec.objectives = {{"accuracy", Goal::kMaximize}};
  spec.job = TrainingJob{};
  spec.job->command = {"sh", "-c", "true"};
  return spec;
}

struct WarningCase {
  std::string name;
  std::function<void(TrainingJob&)> change;
  std::string warning;  // "": none.
};
class JobWarningTest : public ::testing::TestWithParam<WarningCase> {};

TEST_P(JobWarningTest, NamesTheFieldAndWhatToWrite) {
  StudySpec spec = AnySpec();
  GetParam().change(*spec.job);
  const std::vector<std::string> warnings = JobWarningsOf(spec, /*runs_here=*/false);
  if (GetParam().warning.empty()) {
    EXPECT_THAT(warnings, IsEmpty());
  } else {
    EXPECT_THAT(warnings, ElementsAre(GetParam().warning));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    JobWarningTest,
    ::testing::ValuesIn(std::vector<WarningCase>{
        {"Secret",
         [](TrainingJob& job) { job.env["WANDB_API_KEY"] = "0123456789abcdef"; },
         "job.env.WANDB_API_KEY: looks like a secret, and is stored and exported as it stands "
         "here; "
         "write `{from_file: PATH}` or `{secret: NAME}` in its place"},
        {"NoSecretButAPath",
         [](TrainingJob& job) { job.env["HF_TOKEN"] = "/run/secrets/token"; },
         ""},
        {"NoSecretButAWord", [](TrainingJob& job) { job.env["PAD_TOKEN"] = "pad"; }, ""},
        {"NoSecretButAParameter",
         [](TrainingJob& job) { job.env["SORT_TOKEN"] = "{learning_rate}"; },
         ""},
        {"And",
         [](TrainingJob& job) {
           job.command = {"python3", "e.py", "&&", "echo", "done"};
         },
         "job.command: '&&' is passed to the program, since no shell runs the command; write "
         "`command: [sh, -c, '…']` if a shell is wanted"},
        {"RedirectionInArgumentsOfARole",
         [](TrainingJob& job) {
           job.replicas[Role::kPrimary].args = {">", "log"};
         },
         "job.replicas.chief.args: '>' is passed to the program, since no shell runs the command; "
         "write `command: [sh, -c, '…']` if a shell is wanted"},
        {"SyntaxInsideAWord",
         [](TrainingJob& job) {
           job.command = {"sh", "-c", "a && b > c"};
         },
         ""},
        {"VariableBeforeTheProgram",
         [](TrainingJob& job) {
           job.command = {"OMP_NUM_THREADS=2", "python3", "e.py"};
         },
         "job.command: 'OMP_NUM_THREADS=2' is taken for the program, since no shell runs the "
         "command; write `env: {OMP_NUM_THREADS: \"2\"}` and the command without it"},
        {"AssignmentsAsArguments",
         [](TrainingJob& job) {
           job.args = {"model.lr=1", "lr=1"};
         },
         ""},
        {"OpenValue",
         [](TrainingJob& job) { job.args = {"--epochs=FIXME"}; },
         "job.args: '--epochs=FIXME': write the value in place of FIXME"},
        {"OpenValueOfTheOptionBefore",
         [](TrainingJob& job) {
           job.args = {"--data", "FIXME"};
         },
         "job.args: '--data FIXME': write the value in place of FIXME"},
        {"OpenVariable",
         [](TrainingJob& job) { job.env["DATA"] = "FIXME"; },
         "job.env.DATA: 'FIXME': write the value in place of FIXME"},
        {"Devices",
         [](TrainingJob& job) { job.env["CUDA_VISIBLE_DEVICES"] = "0"; },
         "job.env.CUDA_VISIBLE_DEVICES: has no effect, since Vernier sets this variable itself; "
         "ask for devices with `replicas: {chief: {gpus: 1}}`; `vernier run --gpu ID` chooses "
         "those that trials may use"},
        {"NoDevices", [](TrainingJob& job) { job.env["CUDA_VISIBLE_DEVICES"] = ""; }, ""},
        {"OrderOfDevicesWithoutAny",
         [](TrainingJob& job) { job.env["CUDA_DEVICE_ORDER"] = "FASTEST_FIRST"; },
         ""},
        {"SecretDevices",
         [](TrainingJob& job) { job.secrets["WORLD_SIZE"] = {.name = "size"}; },
         "job.env.WORLD_SIZE: has no effect, since Vernier sets this variable itself; "
         "`replicas: {worker: 2}` sets the number of processes"},
        {"Rank",
         [](TrainingJob& job) { job.replicas[Role::kPrimary].env["WORLD_SIZE"] = "4"; },
         "job.replicas.chief.env.WORLD_SIZE: has no effect, since Vernier sets this variable "
         "itself; `replicas: {worker: 2}` sets the number of processes"},
        {"Token",
         [](TrainingJob& job) { job.env["VERNIER_TOKEN"] = "x"; },
         "job.env.VERNIER_TOKEN: has no effect, since Vernier sets this variable itself; give a "
         "variable of your own another name"},
        {"PausableWithoutARule",
         [](TrainingJob& job) { job.pausable = true; },
         "job.pausable: true, but no rule pauses a trial (stopping: none)"},
        {"OwnVariable", [](TrainingJob& job) { job.env["PYTHONUNBUFFERED"] = "0"; }, ""}}),
    [](const auto& test) { return test.param.name; });

TEST(JobWarnings, PausableTrialsNeedPlacesForTheirCheckpoints) {
  StudySpec spec = AnySpec();
  spec.stopping = {.name = "automatic", .options = {}};
  spec.job->pausable = true;
  EXPECT_THAT(JobWarningsOf(spec, /*runs_here=*/false),
              ElementsAre(StartsWith("job.pausable: true, but the trials have no folder")));
  spec.job->job_directory = "runs";
  EXPECT_THAT(JobWarningsOf(spec, /*runs_here=*/false), IsEmpty());
}

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    std::string path = (fs::temp_directory_path() / "vernier-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
    std::ofstream(folder_ / "train.py") << "";
  }
  ~ProgramTest() override { fs::remove_all(folder_); }

  std::vector<std::string> Warnings(std::vector<std::string> command) const {
    StudySpec spec = AnySpec();
    spec.job->command = std::move(command);
    spec.job->working_directory = folder_.string();
    return JobWarningsOf(spec, /*runs_here=*/true);
  }

  fs::path folder_;
};

TEST_F(ProgramTest, WarnsOfWhatIsNotThere) {
  EXPECT_THAT(Warnings({"no-such-program-7"}),
              ElementsAre("job.command: 'no-such-program-7' is not on PATH here; its trials will "
                          "fail"));
  EXPECT_THAT(Warnings({"./train"}), ElementsAre(StartsWith("job.command: '" + folder_.string())));
  EXPECT_THAT(Warnings({"sh", "trian.py", "--epochs"}),
              ElementsAre("job.command: there is no file '" + (folder_ / "trian.py").string() +
                          "'; its trials will fail"));
}

TEST_F(ProgramTest, SaysNothingOfWhatIsThereOrCannotBeKnown) {
  EXPECT_THAT(Warnings({"sh", "train.py"}), IsEmpty());
  EXPECT_THAT(Warnings({"sh", "-m", "other.py"}), IsEmpty());
  EXPECT_THAT(Warnings({"sh", "train-{x}.py"}), IsEmpty());
  EXPECT_THAT(Warnings({"{x}"}), IsEmpty());
}

TEST_F(ProgramTest, SaysNothingOfWhatAnImageHas) {
  StudySpec spec = AnySpec();
  spec.job->command = {"no-such-program-7"};
  spec.job->image = "trainer:1";
  EXPECT_THAT(JobWarningsOf(spec, /*runs_here=*/true), IsEmpty());
}

TEST_F(ProgramTest, WarnsOfAPackageWhoseModuleIsInTheFolder) {
  StudySpec spec = AnySpec();
  spec.job->command.clear();
  spec.job->python =
      PythonProgram{.module = "train.task", .packages = {"numpy", "dist/train-1.0.tar.gz"}};
  spec.job->working_directory = folder_.string();
  EXPECT_THAT(
      JobWarningsOf(spec, /*runs_here=*/true),
      ElementsAre("job.python.packages: python3 -m runs 'train' as it is in '" + folder_.string() +
                  "', not that of 'dist/train-1.0.tar.gz'; set working_dir to a folder "
                  "without it, or leave the package out"));
  spec.job->python->packages = {"numpy"};
  EXPECT_THAT(JobWarningsOf(spec, /*runs_here=*/true), IsEmpty());
  spec.job->python->packages = {"dist/other-1.0-py3-none-any.whl"};
  spec.job->python->module = "other";
  EXPECT_THAT(JobWarningsOf(spec, /*runs_here=*/true), IsEmpty());
}

TEST_F(ProgramTest, WarnsOfSecretsThatCannotBeReadOrThatAllMayRead) {
  const std::string file = (folder_ / "key").string();
  StudySpec spec = AnySpec();
  spec.job->secrets["KEY"] = {.from_file = file};
  const auto warnings = [&] { return JobWarningsOf(spec, /*runs_here=*/true); };
  EXPECT_THAT(warnings(),
              ElementsAre("job.env.KEY: there is no file '" + file + "'; its trials will fail"));
  std::ofstream(file) << "hush";
  fs::permissions(file, fs::perms(0644));
  EXPECT_THAT(warnings(), IsEmpty());  // The folder is closed to others.
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_THAT(warnings(),
              ElementsAre("job.env.KEY: every user of this host may read '" + file +
                          "'; `chmod 600 " + file + "` forbids it"));
  fs::permissions(file, fs::perms(0640));
  EXPECT_THAT(warnings(), IsEmpty());
  EXPECT_THAT(JobWarningsOf(spec, /*runs_here=*/false), IsEmpty());
  std::ofstream(file) << std::string(3, '\0');
  EXPECT_THAT(warnings(),
              ElementsAre("job.env.KEY: '" + file + "' holds a zero byte; its trials will fail"));
  std::ofstream(file) << std::string(65'537, 'k');
  EXPECT_THAT(warnings(),
              ElementsAre("job.env.KEY: '" + file +
                          "' has 65537 bytes, at most 65536 are read; its trials will fail"));
  spec.job->secrets.clear();
  spec.job->replicas[Role::kPrimary].secrets["KEY"] = {.from_file = folder_.string()};
  EXPECT_THAT(warnings(),
              ElementsAre("job.replicas.chief.env.KEY: '" + folder_.string() +
                          "' is no regular file; its trials will fail"));
}

}  // namespace
}  // namespace vernier::cli
