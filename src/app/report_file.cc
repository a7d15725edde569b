#include "src/app/report_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "src/core/status.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/replica_files.h"
#include "src/metrics/hypertune_file.h"

namespace vernier::app {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<std::int64_t> NextStep(const std::string& path) {
  const std::optional<std::string> contents = launch::ReadWholeFile(path);
  if (!contents.has_value() && errno != ENOENT) {
    return Unavailable("'{}' cannot be read: {}", path, std::strerror(errno));
  }
  std::int64_t last = 0;
  for (const Measurement& before : metrics::ParseHypertune(contents.value_or(""), "")) {
    last = std::max(last, before.step);
  }
  return last + 1;
}

// One write, which other processes of the replica do not tear apart; durable, since the report counts as stored.
absl::Status AppendLine(const std::string& path, const std::string& line) {
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Unavailable("'{}' cannot be written: {}", path, std::strerror(errno));
  const bool is_written =
      write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (is_written) return absl::OkStatus();
  return Unavailable("'{}' cannot be written: {}", path, std::strerror(error));
}

}  // namespace

std::optional<ReportFile> FindReportFile() {
  const std::string folder = Variable("VERNIER_REPLICA_DIRECTORY");
  ReportFile file{.path = Variable("CLOUD_ML_HP_METRIC_FILE"),
                  .attempt = std::filesystem::path(folder).parent_path().string()};
  const bool has_server = !Variable("VERNIER_ADDRESS").empty();
  if (has_server || folder.empty() || file.path.empty()) return std::nullopt;
  return file;
}

absl::StatusOr<std::string> AppendReport(const ReportFile& file, Measurement measurement) {
  if (measurement.step < 0) {
    VERNIER_ASSIGN_OR_RETURN(measurement.step, NextStep(file.path));
  }
  VERNIER_RETURN_IF_ERROR(AppendLine(file.path, metrics::HypertuneLine(measurement)));
  // Written before anything of the gang is stopped.
  VERNIER_ASSIGN_OR_RETURN(const std::optional<launch::GangEnd> gang_end,
                           launch::ReadGangEnd(file.attempt));
  if (!gang_end.has_value()) return "";
  return gang_end->message.empty() ? "the trial is being stopped" : gang_end->message;
}

}  // namespace vernier::app
