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
        ExitCase{"HostFailed",
                 {.exit_code = 125, .error = "Error: no daemon", .host_failed = true},
                 FailureClass::kInternal,
                 "The replica worker 1 could not be started: Error: no daemon."},
        ExitCase{"OwnEndWithLostOutput",
                 {.exit_code = 1, .lost_output = "the disk was full"},
                 FailureClass::kInternal,
                 "The replica worker 1 exited with a non-zero status of 1, and some of its output "
                 "was lost: the disk was full."},
        ExitCase{"GoodEndWithLostOutput",
                 {.exit_code = 0, .lost_output = "the disk was full"},
                 FailureClass::kNone,
                 ""},
        ExitCase{"NotStarted",
                 {.error = "cannot run 'pyhton3': No such file or directory"},
                 FailureClass::kUserError,
                 "The replica worker 1 could not be started: cannot run 'pyhton3': No such file or "
                 "directory."}),
    [](const auto& test) { return test.param.name; });

struct RemedyCase {
  std::string name;
  ReplicaExit exit;
  ExitKind kind;
  Remedy strict;
  Remedy lenient;
};
class RemedyTest : public ::testing::TestWithParam<RemedyCase> {};

TEST_P(RemedyTest, FollowsFromTheEndAndTheReading) {
  const ExitKind kind = KindOf(GetParam().exit);
  EXPECT_EQ(kind, GetParam().kind);
  EXPECT_EQ(RemedyOf(kind, /*lenient=*/false), GetParam().strict);
  EXPECT_EQ(RemedyOf(kind, /*lenient=*/true), GetParam().lenient);
}

using enum ExitKind;
using enum Remedy;

INSTANTIATE_TEST_SUITE_P(
    Exits,
    RemedyTest,
    ::testing::Values(
        RemedyCase{"Zero", {.exit_code = 0}, kSuccess, kNone, kNone},
        RemedyCase{"One", {.exit_code = 1}, kOwnStatus, kNone, kRestartReplica},
        RemedyCase{"HighestOfItsOwn", {.exit_code = 127}, kOwnStatus, kNone, kRestartReplica},
        RemedyCase{"NoSignalAbove", {.exit_code = 255}, kOwnStatus, kNone, kRestartReplica},
        RemedyCase{"Arithmetic", {.signal = SIGFPE}, kOwnStatus, kNone, kRestartReplica},
        RemedyCase{"Abort", {.signal = SIGABRT}, kCrashed, kRerunJob, kRestartReplica},
        RemedyCase{"AbortInAContainer", {.exit_code = 134}, kCrashed, kRerunJob, kRestartReplica},
        RemedyCase{"Crash", {.signal = SIGSEGV}, kCrashed, kRerunJob, kRestartReplica},
        RemedyCase{"CrashInAContainer", {.exit_code = 139}, kCrashed, kRerunJob, kRestartReplica},
        RemedyCase{"Killed", {.signal = SIGKILL}, kFromOutside, kRestartReplica, kRestartReplica},
        RemedyCase{"KilledInAContainer",
                   {.exit_code = 137},
                   kFromOutside,
                   kRestartReplica,
                   kRestartReplica},
        RemedyCase{"Told", {.signal = SIGTERM}, kFromOutside, kRestartReplica, kRestartReplica},
        RemedyCase{
            "ToldInAContainer", {.exit_code = 143}, kFromOutside, kRestartReplica, kRestartReplica},
        RemedyCase{
            "Interrupted", {.signal = SIGINT}, kFromOutside, kRestartReplica, kRestartReplica},
        RemedyCase{"InterruptedInAContainer",
                   {.exit_code = 130},
                   kFromOutside,
                   kRestartReplica,
                   kRestartReplica},
        RemedyCase{"HungUp", {.exit_code = 129}, kFromOutside, kRestartReplica, kRestartReplica},
        RemedyCase{
            "OutOfMemory", {.signal = SIGKILL, .out_of_memory = true}, kOutOfMemory, kNone, kNone},
        RemedyCase{"OutOfMemoryInAContainer",
                   {.exit_code = 137, .out_of_memory = true},
                   kOutOfMemory,
                   kNone,
                   kNone},
        RemedyCase{"OwnStatusForWantOfMemory",
                   {.exit_code = 1, .out_of_memory = true},
                   kOutOfMemory,
                   kNone,
                   kNone},
        RemedyCase{"GoodEndAlthoughAChildWasKilled",
                   {.exit_code = 0, .out_of_memory = true},
                   kSuccess,
                   kNone,
                   kNone},
        RemedyCase{"NotStarted", {.error = "no such program"}, kNotStarted, kNone, kNone},
        RemedyCase{"OwnStatusWithLostOutput",
                   {.exit_code = 1, .lost_output = "the disk was full"},
                   kHostFailed,
                   kRerunJob,
                   kRerunJob},
        RemedyCase{"HostFailed",
                   {.exit_code = 125, .error = "engine is down", .host_failed = true},
                   kHostFailed,
                   kRerunJob,
                   kRerunJob}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vernier::jobs
