#include "src/wire/names.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "fmt/format.h"
#include "src/core/study_name.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

constexpr std::string_view kStudies = "studies/";
constexpr std::string_view kTrials = "/trials/";
constexpr std::string_view kNodes = "nodes/";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The canonical form only, so that a trial has one name: no sign, no leading zero.
std::optional<TrialNumber> ParseNumber(std::string_view text) {
  if (text.empty() || !IsDigit(text.front()) || text.front() == '0') return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return TrialNumber(number);
}

// As much of a bad value as a message can bear. It may be of any length, and is shown to people.
std::string Shown(std::string_view text) {
  constexpr std::size_t kShown = 160;
  return std::string(text.substr(0, kShown)) + (text.size() > kShown ? "…" : "");
}

}  // namespace

std::string StudyResource(std::string_view study) { return fmt::format("{}{}", kStudies, study); }

std::string TrialResource(std::string_view study, TrialNumber number) {
  return fmt::format("{}{}{}{}", kStudies, study, kTrials, number.value());
}

std::string NodeResource(std::string_view node) { return fmt::format("{}{}", kNodes, node); }

absl::StatusOr<std::string> ParseStudyName(std::string_view field, std::string_view name) {
  const bool prefixed = name.substr(0, kStudies.size()) == kStudies;
  if (prefixed && IsStudyName(name.substr(kStudies.size()))) {
    return std::string(name.substr(kStudies.size()));
  }
  return FieldError(field, fmt::format("must be studies/STUDY, got '{}'", Shown(name)));
}

absl::StatusOr<TrialName> ParseTrialName(std::string_view field, std::string_view name) {
  // The last: a study may be called "trials", and a number holds no "/".
  const std::size_t trials = name.rfind(kTrials);
  if (trials != std::string_view::npos) {
    const auto study = ParseStudyName(field, name.substr(0, trials));
    const auto number = ParseNumber(name.substr(trials + kTrials.size()));
    if (study.ok() && number.has_value()) return TrialName{.study = *study, .number = *number};
  }
  return FieldError(field,
                    fmt::format("must be studies/STUDY/trials/NUMBER, got '{}'", Shown(name)));
}

// Nodes have the names that their hosts have, so they may hold anything but "/".
absl::StatusOr<std::string> ParseNodeName(std::string_view field, std::string_view name) {
  const bool prefixed = name.substr(0, kNodes.size()) == kNodes;
  const std::string_view node = prefixed ? name.substr(kNodes.size()) : "";
  if (!node.empty() && node.find('/') == std::string_view::npos) return std::string(node);
  return FieldError(field, fmt::format("must be nodes/NODE, got '{}'", Shown(name)));
}

}  // namespace vernier::wire
