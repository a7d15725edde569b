#include "src/service/vizier/names.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/core/fnv.h"
#include "src/core/study_name.h"
#include "src/core/utf8.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::vizier {
namespace {

// Of each part of a name that needs a fingerprint: enough to recognise it, and both parts fit into a study's name.
constexpr std::size_t kMostReadable = 50;

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool IsPlain(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '_'; }

std::string Readable(std::string_view text) {
  std::string readable(text.substr(0, kMostReadable));
  for (char& c : readable) c = IsPlain(c) ? c : '_';
  return readable;
}

// The values between the words of `form`, which alternate with them: "owners", "studies".
absl::StatusOr<std::vector<std::string>> Parse(std::string_view field,
                                               std::string_view name,
                                               const std::vector<std::string_view>& words,
                                               std::string_view form) {
  // The whole form at once: OWNER and STUDY may hold any text but "/", so that every "/" separates.
  const std::vector<std::string> parts = absl::StrSplit(std::string(name), '/');
  std::vector<std::string> values;
  bool fits = parts.size() == 2 * words.size();
  for (std::size_t i = 0; fits && i < words.size(); ++i) {
    const std::string& value = parts[2 * i + 1];
    fits = parts[2 * i] == words[i] && !value.empty() && value.size() <= limits::kVizierName;
    values.push_back(value);
  }
  if (fits) return values;
  return FieldError(field,
                    fmt::format("must be {}, got '{}'", form, ToValidUtf8(name.substr(0, 200))));
}

// The canonical form only, so that a trial has one name.
std::optional<TrialNumber> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || text.front() == '0' || number < 1) return std::nullopt;
  return TrialNumber(number);
}

}  // namespace

std::string ResourceName(const StudyName& name) {
  return fmt::format("owners/{}/studies/{}", name.owner, name.study);
}

std::string ResourceName(const TrialName& name) {
  return fmt::format("{}/trials/{}", ResourceName(name.study), name.number.value());
}

absl::StatusOr<std::string> ParseOwnerName(std::string_view field, std::string_view name) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> values,
                           Parse(field, name, {"owners"}, "owners/OWNER"));
  return std::move(values.front());
}

absl::StatusOr<StudyName> ParseStudyName(std::string_view field, std::string_view name) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> values,
                           Parse(field, name, {"owners", "studies"}, "owners/OWNER/studies/STUDY"));
  return StudyName{.owner = std::move(values[0]), .study = std::move(values[1])};
}

absl::StatusOr<TrialName> ParseTrialName(std::string_view field, std::string_view name) {
  constexpr std::string_view kForm = "owners/OWNER/studies/STUDY/trials/NUMBER";
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> values,
                           Parse(field, name, {"owners", "studies", "trials"}, kForm));
  const std::optional<TrialNumber> number = ParseNumber(values[2]);
  if (!number) {
    return FieldError(field,
                      fmt::format("must be {} with a number from 1, got '{}'", kForm, values[2]));
  }
  return TrialName{.study = {.owner = std::move(values[0]), .study = std::move(values[1])},
                   .number = *number};
}

std::uint64_t Fingerprint(const StudyName& name) { return Fnv1a(ResourceName(name)); }

std::string StoredName(const StudyName& name) {
  const auto is_plain = [](const std::string& text) { return std::ranges::all_of(text, IsPlain); };
  if (name.owner == kVernierOwner && IsStudyName(name.study)) return name.study;
  // The owner has no "-", so that the first one separates the two.
  if (name.owner != kVernierOwner && IsLetter(name.owner.front()) && is_plain(name.owner) &&
      is_plain(name.study) && name.owner.size() + 1 + name.study.size() <= limits::kStudyName) {
    return fmt::format("{}-{}", name.owner, name.study);
  }
  const std::string readable = fmt::format("{}-{}", Readable(name.owner), Readable(name.study));
  // A study's name begins with a letter.
  return fmt::format(
      "{}{}-{:016x}", IsLetter(readable.front()) ? "" : "study_", readable, Fingerprint(name));
}

StudyName NameOf(const StudySpec& spec) {
  if (spec.foreign.has_value() && spec.foreign->service == kVizier) {
    // It was checked when the study was made. Should it be unreadable, the study is shown under its own name.
    const absl::StatusOr<StudyName> name = ParseStudyName("foreign.name", spec.foreign->name);
    if (name.ok()) return *name;
  }
  return {.owner = std::string(kVernierOwner), .study = spec.name};
}

}  // namespace vernier::vizier
