#include "src/jobs/reproduction.h"

#include <cstdio>
#include <string>

#include "gtest/gtest.h"

namespace vernier::jobs {
namespace {

// What a shell prints when it is given the command.
std::string ShellOutput(const std::string& command) {
  FILE* const shell = popen(("exec 2>&1; " + command).c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const std::size_t got = fread(buffer, 1, sizeof buffer, shell)) output.append(buffer, got);
  output += "exit " + std::to_string(pclose(shell) / 256);
  return output;
}

ReplicaProgram Shell(const std::string& role, const std::string& script) {
  return {.role = role, .argv = {"/bin/sh", "-c", script}, .directory = "/"};
}

TEST(ShellQuote, LeavesPlainTextAndProtectsTheRest) {
  EXPECT_EQ(ShellQuote("--lr=1e-05"), "--lr=1e-05");
  EXPECT_EQ(ShellQuote(""), "''");
  const std::string nasty = "it's $HOME `x` \"y\" \\ *\n;&|{lr}";
  EXPECT_EQ(ShellOutput("printf %s " + ShellQuote(nasty)), nasty + "exit 0");
}

TEST(ShellCommand, RunsOneReplicaWithItsDirectoryVariablesAndArguments) {
  ReplicaProgram chief = Shell("chief", "pwd; echo \"$KIND|$1\"; exit 4");
  chief.argv.insert(chief.argv.end(), {"sh", "a 'b'"});
  chief.env = {{"KIND", "x; y"}};
  chief.directory = "/usr";
  EXPECT_EQ(ShellOutput(ShellCommand({.replicas = {chief}})), "/usr\nx; y|a 'b'\nexit 4");
}

TEST(ShellCommand, KeepsItsHandsOffTheRecordedMetrics) {
  ReplicaProgram chief = Shell("chief", "echo \"<$CLOUD_ML_HP_METRIC_FILE>\"");
  chief.env = {{"CLOUD_ML_HP_METRIC_FILE", "/runs/x"}};
  EXPECT_EQ(ShellOutput(ShellCommand({.replicas = {chief}})), "<>\nexit 0");
}

TEST(ShellCommand, EndsTheOthersWhenThePrimaryEnds) {
  const GangProgram gang{.replicas = {Shell("chief", "echo done; exit 3"),
                                      Shell("ps", "exec sleep 1000"),
                                      Shell("worker", "exec sleep 1000")}};
  EXPECT_EQ(ShellOutput(ShellCommand(gang)), "done\nexit 3");
}

StudySpec Study(const TrainingJob& job) {
  StudySpec spec{.name = "s", .objectives = {{.metric = "loss"}}};
  spec.space = Space::Create({{.name = "name", .domain = CategoricalDomain{{std::string("a")}}},
                              {.name = "fast", .domain = BoolDomain{}}})
                   .value();
  spec.job = job;
  return spec;
}

// What a shell prints that is given the command for this point.
std::string OutputOf(const TrainingJob& job, const std::string& name) {
  const Trial trial{.number = TrialNumber(7), .point = {{"name", name}, {"fast", true}}};
  const auto command = PrimaryCommand(Study(job), trial);
  EXPECT_TRUE(command.ok()) << command.status();
  return command.ok() ? ShellOutput(*command) : "";
}

TEST(PrimaryCommand, SetsVariablesAndGivesArgumentsAsTheTrialDid) {
  const TrainingJob job{.command = {"/bin/sh", "-c", "echo \"$PWD <$NAME> <$MODE> $0\""},
                        .argument_style = ArgumentStyle::kVariable,
                        .arguments = {{"fast", {ArgumentStyle::kFlag, ""}}},
                        .env = {{"MODE", "x y"}},
                        .working_directory = "/usr"};
  EXPECT_EQ(OutputOf(job, "it's $HOME"), "/usr <it's $HOME> <x y> --fast\nexit 0");
}

TEST(PrimaryCommand, MakesTheFileOfParametersAnew) {
  const std::string folder = ::testing::TempDir() + "primary_command";
  ASSERT_EQ(ShellOutput("mkdir -p " + folder), "exit 0");
  const TrainingJob job{.command = {"cat", "{parameters.json}"}, .working_directory = folder};
  EXPECT_EQ(OutputOf(job, "it's \\n"), "{\"fast\":true,\"name\":\"it's \\\\n\"}exit 0");
}

}  // namespace
}  // namespace vernier::jobs
