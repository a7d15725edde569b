// Reads study files and other inputs. Users name anything: a folder, a device, a pipe that nobody writes to, a video.
// All of these must end in a sentence and not in a hang or in gigabytes of memory.

#include "src/cli/study_source.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "nlohmann/json.hpp"
#include "src/base/open_file.h"
#include "src/cli/hint.h"
#include "src/cli/terminal/figures.h"
#include "src/codec/document.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/jobs/local_paths.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

// The folder of the file, or for "-" the current one; "." if that was removed. Symbolic links are not resolved, so that
// users see the paths they know.
fs::path FolderOfFile(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path == "-" ? "." : path, error);
  if (error) return ".";
  const fs::path normal = absolute.lexically_normal();
  return path == "-" ? normal : normal.parent_path();
}

// Whether the text is output of `study show -o json` or `-o yaml`, a frequent confusion: it has the definition, under
// other names, and the study's progress.
bool IsShownStudy(std::string_view text) {
  const auto document = codec::ReadDocument(text, "study file");
  if (!document.ok() || !document->is_object()) return false;
  return document->contains("spec") && document->contains("trial_count");
}

// Names the file in an error of the file as a whole, or of a line. Other errors name a key, by which it is found.
absl::Status InFile(const std::string& path, const absl::Status& status) {
  constexpr std::string_view kWhole = "study file";
  const std::string field = GetField(status).value_or("");
  if (field != kWhole && !field.starts_with("line ")) return status;
  std::string message(status.message());
  if (field == kWhole) message.erase(0, kWhole.size() + 2);  // And ": ".
  return FieldError(path, message);
}

}  // namespace

absl::StatusOr<std::string> ReadInput(const std::string& path,
                                      std::string_view what,
                                      std::int64_t most_bytes) {
  const base::OpenFile file = path == "-" ? base::OpenFile(STDIN_FILENO) : base::OpenFile(path);
  if (file.error() != 0) return NotFound("{}: no such file, or not readable", path);
  const std::string_view kind = file.kind();
  const bool is_stream = path == "-" || kind == "a pipe" || kind == "a terminal";
  if (!kind.empty() && !is_stream) return InvalidArgument("{}: is {}, not a {}", path, kind, what);
  const std::int64_t size = kind.empty() ? file.Size().value_or(0) : 0;
  if (size > most_bytes) {
    return InvalidArgument(
        "{}: has {}, a {} has at most {}", path, FormatBytes(size), what, FormatBytes(most_bytes));
  }
  std::optional<std::string> text = file.ReadToEnd(most_bytes);
  if (!text.has_value()) {
    if (errno == ETIMEDOUT) return InvalidArgument("{}: is a pipe that nobody writes to", path);
    return InvalidArgument("{}: cannot be read: {}", path, std::strerror(errno));
  }
  if (std::cmp_greater(text->size(), most_bytes)) {
    return InvalidArgument(
        "{}: has more than {}, the most of a {}", path, FormatBytes(most_bytes), what);
  }
  return *std::move(text);
}

absl::StatusOr<StudySpec> LoadStudy(const std::string& path, std::string_view name) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadInput(path, "study file"));
  absl::StatusOr<StudySpec> spec = codec::ParseStudyFile(text, name);
  if (!spec.ok() && IsShownStudy(text)) {
    return WithHint(InvalidArgument("{}: is the answer of `study show`, not a study file", path),
                    "`vernier study show STUDY --file` prints the study file");
  }
  if (!spec.ok()) {
    return WithHint(InFile(path, spec.status()),
                    fmt::format("nothing was stored; fix {} and try again", path));
  }
  ResolvePaths(path, *spec);
  return spec;
}

void ResolvePaths(const std::string& path, StudySpec& spec) {
  if (spec.job) jobs::ResolveLocalPaths(FolderOfFile(path), *spec.job);
}

}  // namespace vernier::cli
