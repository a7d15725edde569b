// Follows gitignore(5), so that an existing .gitignore can be used as it is. Each component is matched with fnmatch(3);
// only `**` needs code of its own, since fnmatch knows no components.

#include "src/submission/ignore_rules.h"

#include <fnmatch.h>

#include <cstddef>
#include <utility>

#include "absl/strings/str_split.h"

namespace vernier::submission {
namespace {

// Trailing spaces are ignored unless escaped with a backslash (gitignore(5)); a carriage return comes from files of
// Windows.
std::string_view WithoutTrailingSpace(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

bool MatchesPart(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

using Parts = std::vector<std::string>;

// Whether pattern[p…] matches path[i…]. Exponential only in the number of `**`, of which patterns have few.
bool MatchesPath(const Parts& pattern, std::size_t p, const Parts& path, std::size_t i) {
  if (p == pattern.size()) return i == path.size();
  if (pattern[p] == "**") {
    const bool is_last = p + 1 == pattern.size();  // "a/**" matches what is in a, but not a itself.
    for (std::size_t next = is_last ? i + 1 : i; next <= path.size(); ++next) {
      if (MatchesPath(pattern, p + 1, path, next)) return true;
    }
    return false;
  }
  return i < path.size() && MatchesPart(pattern[p], path[i]) &&
         MatchesPath(pattern, p + 1, path, i + 1);
}

}  // namespace

IgnoreRules::IgnoreRules(std::string_view text) {
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  for (const std::string& whole : lines) {
    std::string_view line = WithoutTrailingSpace(whole);
    if (line.empty() || line.front() == '#') continue;
    Rule rule;
    if (line.front() == '!') {
      rule.is_negated = true;
      line.remove_prefix(1);
    }
    rule.is_of_folders = line.ends_with('/');
    if (rule.is_of_folders) line.remove_suffix(1);
    rule.is_of_path = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    rule.pattern = std::string(line);
    rules_.push_back(std::move(rule));
  }
}

bool IgnoreRules::Ignores(std::string_view path, bool is_folder) const {
  const std::string name(path.substr(path.rfind('/') + 1));  // The whole path if it has no slash.
  const Parts parts = absl::StrSplit(std::string(path), '/');
  // Backwards, since the last matching rule decides.
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->is_of_folders && !is_folder) continue;
    const bool matches = rule->is_of_path
                             ? MatchesPath(absl::StrSplit(rule->pattern, '/'), 0, parts, 0)
                             : MatchesPart(rule->pattern, name);
    if (matches) return !rule->is_negated;
  }
  return false;
}

}  // namespace vernier::submission
