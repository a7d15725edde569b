#include "src/app/attempt_logs.h"

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/app/temporary_folder.h"
#include "tests/support/status_matchers.h"

namespace vernier::app {
namespace {

using testing::IsOk;
using testing::StatusIs;

TEST(AttemptLogs, SayThatWhatAnEndedAttemptPrintedWasRemoved) {
  const TemporaryFolder folder;
  Attempt attempt;
  attempt.number = AttemptNumber(2);
  attempt.state = AttemptState::kSucceeded;
  attempt.directory = folder / "attempt-2";
  const auto logs = NewAttemptLogs();
  EXPECT_THAT(
      logs->Open(attempt, {}),
      StatusIs(absl::StatusCode::kNotFound,
               "the output of attempt 2 is gone: folder '" + attempt.directory + "' was removed"));
  attempt.state = AttemptState::kPlaced;  // Its folder may still come.
  EXPECT_THAT(logs->Open(attempt, {}), IsOk());
  attempt.state = AttemptState::kSucceeded;
  std::filesystem::create_directory(attempt.directory);
  EXPECT_THAT(logs->Open(attempt, {}), IsOk());
}

}  // namespace
}  // namespace vernier::app
