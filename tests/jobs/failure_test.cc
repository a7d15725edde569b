#include "src/jobs/failure.h"

#include <csignal>
#include <string>

#include "gtest/gtest.h"

namespace vernier::jobs {
namespace {

struct ExitCase {
  std::string name;
  ReplicaExit exit;
  FailureClass failure;
  std::string message;
};
class ClassifyTest : public ::testing::TestWithParam<ExitCase> {};

TEST_P(ClassifyTest, TellsWhoseFaultItIs) {
  const Failure failure = Classify("worker", 1, GetParam().exit);
  EXPECT_EQ(FailureClassName(failure.failure), FailureClassName(GetParam().failure));
  EXPECT_EQ(failure.message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Exits,
    ClassifyTest,
    ::testing::Values(
        ExitCase{"Zero", {.exit_code = 0}, FailureClass::kNone, ""},
        ExitCase{"Error",
                 {.exit_code = 1},
                 FailureClass::kUserError,
                 "The replica worker 1 exited with a non-zero status of 1. Termination reason: "
                 "Error."},
        ExitCase{"Highest",
                 {.exit_code = 255},
                 FailureClass::kUserError,
                 "The replica worker 1 exited with a non-zero status of 255. Termination reason: "
                 "Error."},
        ExitCase{"Crash",
                 {.signal = SIGSEGV},
                 FailureClass::kUserError,
                 "The replica worker 1 exited with a non-zero status of 11(SIGSEGV). Termination "
                 "reason: crashed."},
        ExitCase{"AbortInAContainer",
                 {.exit_code = 134},
                 FailureClass::kUserError,
                 "The replica worker 1 exited with a non-zero status of 134(SIGABRT). Termination "
                 "reason: crashed."},
        ExitCase{"Killed",
                 {.signal = SIGKILL},
                 FailureClass::kPreempted,
                 "The replica worker 1 exited with a non-zero status of 9(SIGKILL). Termination "
                 "reason: ended from outside."},
        ExitCase{"TerminatedInAContainer",
                 {.exit_code = 143},
                 FailureClass::kPreempted,
                 "The replica worker 1 exited with a non-zero status of 143(SIGTERM). Termination "
                 "reason: ended from outside."},
        ExitCase{"OutOfMemory",
                 {.signal = SIGKILL, .out_of_memory = true},
                 FailureClass::kOutOfMemory,
                 "The replica worker 1 ran out-of-memory and exited with a non-zero status of "
                 "9(SIGKILL)."},
        ExitCase{"OwnEndAfterAChildRanOutOfMemory",
                 {.exit_code = 1, .out_of_memory = true},
                 FailureClass::kOutOfMemory,
                 "The replica worker 1 ran out-of-memory and exited with a non-zero status of 1."},
        ExitCase{"GoodEndAlthoughAChildRanOutOfMemory",
                 {.exit_code = 0, .out_of_memory = true},
                 FailureClass::kNone,
                 ""},
        ExitCase{"NotStarted",
                 {.error = "cannot run 'pyhton3': No such file or directory"},
                 FailureClass::kUserError,
                 "The replica worker 1 could not be started: cannot run 'pyhton3': No such file or "
                 "directory."}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vernier::jobs
