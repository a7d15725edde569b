#include "src/app/program_output.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::app {
namespace {

using testing::IsOk;
using testing::StatusIs;

constexpr absl::Duration kPatience = absl::Seconds(20);

TEST(RunForOutput, TellsBothStreamsAndTheStatus) {
  ASSERT_OK_AND_ASSIGN(const ProgramOutput output,
                       RunForOutput({"sh", "-c", "echo out; echo err >&2; exit 3"}, kPatience));
  EXPECT_EQ(output.text, "out\nerr\n");
  EXPECT_EQ(output.status, 3);
  ASSERT_OK_AND_ASSIGN(const ProgramOutput killed,
                       RunForOutput({"sh", "-c", "kill -KILL $$"}, kPatience));
  EXPECT_EQ(killed.status, 128 + 9);
}

TEST(RunForOutput, EndsWhatDoesNotEnd) {
  const TemporaryFolder folder;
  const std::string script = "sleep 1000 & echo $! > " + (folder / "pid") + "; wait";
  EXPECT_THAT(RunForOutput({"sh", "-c", script}, absl::Milliseconds(500)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "'sh' did not end within 500ms"));
  int pid = 0;
  std::ifstream(folder / "pid") >> pid;
  ASSERT_GT(pid, 1);
  bool is_gone = false;
  for (int i = 0; i < 400 && !is_gone; ++i) {
    std::string state;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    is_gone = !(stat >> state >> state >> state) || state == "Z";
    if (!is_gone) usleep(50'000);
  }
  EXPECT_TRUE(is_gone);
}

TEST(RunForOutput, SaysThatThereIsNoProgram) {
  EXPECT_THAT(RunForOutput({"/no/such/program"}, kPatience),
              StatusIs(absl::StatusCode::kNotFound,
                       "cannot run '/no/such/program': No such file or directory"));
}

}  // namespace
}  // namespace vernier::app
