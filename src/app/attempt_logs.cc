#include "src/app/attempt_logs.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "src/core/status.h"
#include "src/launch/log_reader.h"

namespace vernier::app {
namespace {

class AttemptCursor final : public service::LogCursor {
 public:
  explicit AttemptCursor(launch::LogReader reader) : reader_(std::move(reader)) {}

  absl::Status SeekTail(std::int64_t lines) override { return reader_.SeekTail(lines); }
  absl::StatusOr<std::vector<service::LogLine>> Read() override { return reader_.Read(); }
  bool at_end() const override { return reader_.at_end(); }

 private:
  launch::LogReader reader_;
};

bool IsGone(const std::string& folder) {
  // A folder that cannot be looked at is not gone; reading it will say why.
  std::error_code error;
  return std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found;
}

class AttemptLogs final : public service::LogSource {
 public:
  absl::StatusOr<std::unique_ptr<service::LogCursor>> Open(
      const Attempt& attempt, const service::LogFilter& filter) override {
    // While the attempt has not ended, its folder may not have been made yet.
    if (IsEnded(attempt.state) && IsGone(attempt.directory)) {
      return NotFound("the output of attempt {} is gone: folder '{}' was removed",
                      attempt.number.value(),
                      attempt.directory);
    }
    return std::make_unique<AttemptCursor>(launch::LogReader(attempt.directory, filter));
  }
};

}  // namespace

std::unique_ptr<service::LogSource> NewAttemptLogs() { return std::make_unique<AttemptLogs>(); }

}  // namespace vernier::app
