#include "src/jobs/job_name.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "src/core/study_name.h"
#include "vernier/core/limits.h"

namespace vernier::jobs {
namespace {

// Unambiguous, since job ids have no dashes in a project (the last "--" separates).
constexpr std::string_view kSeparator = "--";
constexpr std::string_view kPrefix = "p__";  // Cannot be an escape, since '_' is not hexadecimal.
constexpr char kEscape = '_';

bool IsLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }
bool IsPlain(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-'; }

std::string Escaped(std::string_view project) {
  // A study's name must begin with a letter.
  std::string escaped(IsLetter(project.front()) ? "" : kPrefix);
  for (const char c : project) {
    if (IsPlain(c)) {
      escaped += c;
    } else {
      escaped += fmt::format("{}{:02x}", kEscape, static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

// Reverses Escaped; nothing if the text has an invalid escape.
std::optional<std::string> Unescaped(std::string_view text) {
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  std::string project;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kEscape) {
      project += text[i];
      continue;
    }
    int code = 0;
    const std::string digits(text.substr(i + 1, 2));
    if (digits.size() != 2 || !absl::SimpleHexAtoi(digits, &code)) return std::nullopt;
    project += static_cast<char>(code);
    i += 2;
  }
  return project;
}

}  // namespace

absl::StatusOr<std::string> StudyNameOf(const JobName& name) {
  if (name.project.empty()) return name.job;
  const bool is_id = !name.job.empty() && std::ranges::all_of(name.job, [](char c) {
    return IsPlain(c) ? c != '-' : c == '_';
  });
  if (!is_id) {
    return InvalidArgument(
        "JOB: in a project, an id must be letters, digits and underscores, got '{}'", name.job);
  }
  std::string study = fmt::format("{}{}{}", Escaped(name.project), kSeparator, name.job);
  if (IsStudyName(study)) return study;
  return InvalidArgument(
      "JOB: project and id must have at most {} characters together, got '{}' and '{}'",
      limits::kStudyName - kSeparator.size(),
      name.project,
      name.job);
}

JobName JobNameOf(std::string_view study) {
  const std::size_t at = study.rfind(kSeparator);
  JobName whole = {.project = "", .job = std::string(study)};
  if (at == std::string_view::npos || at == 0 || at + kSeparator.size() == study.size()) {
    return whole;
  }
  const std::optional<std::string> project = Unescaped(study.substr(0, at));
  if (!project || project->empty()) return whole;
  // Accept only what StudyNameOf makes: a study may have "--" in a name of its own.
  const JobName name = {.project = *project, .job = std::string(study.substr(at + 2))};
  const absl::StatusOr<std::string> again = StudyNameOf(name);
  return again.ok() && *again == study ? name : whole;
}

}  // namespace vernier::jobs
