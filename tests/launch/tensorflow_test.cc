#include <cstdio>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/jobs/layout.h"
#include "src/metrics/metric_reader.h"
#include "tests/launch/local_gang.h"
#include "tests/support/status_matchers.h"

// A real TensorFlow program that forms its cluster from our TF_CONFIG alone and reports with the real package.
namespace vernier::launch {
namespace {

using testing::LocalGangTest;
using ::testing::SizeIs;
using testing::Slurp;
using vernier::testing::IsOk;

// The interpreter that the script prints, installed if it has to be. Empty: it could not be.
std::string TensorFlowPython() {
  FILE* const script = popen(VERNIER_SOURCE "/scripts/lib/tensorflow_venv", "r");
  char path[4096] = "";
  const bool read = script != nullptr && fgets(path, sizeof path, script) != nullptr;
  if (script == nullptr || pclose(script) != 0 || !read) return "";
  const std::string line = path;
  return line.substr(0, line.find('\n'));
}

class TensorFlowTest : public LocalGangTest {};

TEST_F(TensorFlowTest, AChiefAndAWorkerTrainTogether) {
  const std::string python = TensorFlowPython();
  ASSERT_NE(python, "") << "scripts/lib/tensorflow_venv";
  StudySpec spec{
      .name = "digits",
      .objectives = {{.metric = "accuracy"}},
      .space = Space::Create({{.name = "lr", .domain = FloatDomain{.lower = 0.01, .upper = 1}},
                              {.name = "width", .domain = IntDomain{.lower = 2, .upper = 64}}})
                   .value()};
  spec.job =
      TrainingJob{.command = {python, VERNIER_SOURCE "/tests/integration/tensorflow_program.py"},
                  .args = {"--epochs", "3"},
                  .env = {{"OMP_NUM_THREADS", "1"}}};
  spec.job->replicas[Role::kWorker] = {.count = 1, .resources = {.cpus = 0.5}};
  const Trial trial{.number = TrialNumber(1), .point = {{"lr", 0.1}, {"width", std::int64_t{8}}}};

  const auto launcher = NewLauncher({.cpus = 4});
  ASSERT_OK_AND_ASSIGN(const PlacedGang placed,
                       launcher->Place(jobs::MakeGangRequest(Attempt(1), spec)));
  ASSERT_OK_AND_ASSIGN(const GangProgram gang,
                       jobs::MakeGangProgram(Attempt(1), spec, trial, placed, Out("")));
  ASSERT_THAT(launcher->Start(gang), IsOk());
  const GangStatus status = Await(*launcher, 1, absl::Seconds(200));
  const std::string output = Slurp(gang.replicas[0].log_file);
  ASSERT_EQ(status.state, AttemptState::kSucceeded) << status.message << "\n" << output;
  EXPECT_THAT(output, ::testing::HasSubstr("chief 0 of 2 in sync"));
  EXPECT_THAT(Slurp(gang.replicas[1].log_file), ::testing::HasSubstr("worker 0 of 2 in sync"));

  ASSERT_OK_AND_ASSIGN(const auto reader, metrics::NewMetricReader(spec, Trial(), gang));
  ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> measurements, reader->Read());
  ASSERT_THAT(measurements, SizeIs(3));
  EXPECT_EQ(measurements.back().step, 3);
  EXPECT_GT(measurements.back().metrics.at("accuracy"), 0.6);
}

}  // namespace
}  // namespace vernier::launch
