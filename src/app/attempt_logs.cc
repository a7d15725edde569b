#include "src/app/attempt_logs.h"

#include <utility>

#include "src/launch/log_reader.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

class AttemptCursor final : public service::LogCursor {
 public:
  AttemptCursor(const std::string& directory, launch::LogFilter filter)
      : reader_(directory, std::move(filter)) {}

  absl::Status SeekTail(std::int64_t lines) override { return reader_.SeekTail(lines); }

  absl::StatusOr<std::vector<service::LogLine>> Read() override {
    VERNIER_ASSIGN_OR_RETURN(auto lines, reader_.Read());
    std::vector<service::LogLine> result;
    result.reserve(lines.size());
    for (launch::LogLine& line : lines) {
      result.push_back({.time = line.time,
                        .role = std::move(line.role),
                        .index = line.index,
                        .is_stderr = line.is_stderr,
                        .text = std::move(line.text)});
    }
    return result;
  }

 private:
  launch::LogReader reader_;
};

class AttemptLogs final : public service::LogSource {
 public:
  std::unique_ptr<service::LogCursor> Open(const Attempt& attempt,
                                           const std::string& role,
                                           std::optional<std::int32_t> index) override {
    return std::make_unique<AttemptCursor>(attempt.directory,
                                           launch::LogFilter{.role = role, .index = index});
  }
};

}  // namespace

std::unique_ptr<service::LogSource> NewAttemptLogs() { return std::make_unique<AttemptLogs>(); }

}  // namespace vernier::app
