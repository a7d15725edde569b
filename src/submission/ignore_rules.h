#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vernier::submission {

// Files of a folder that are left out, by patterns in the syntax of gitignore(5): one pattern a line; `#` begins a
// comment; `!` includes again what an earlier line left out; a pattern with `/` at its start or inside matches the
// whole path, one without matches a name at any depth; a `/` at the end matches folders only; `*` and `?` do not match
// `/`, `**` does. The last matching line decides. Everything in an ignored folder is ignored.
class IgnoreRules {
 public:
  // Blank lines and comments are skipped.
  explicit IgnoreRules(std::string_view text);

  // Whether the file or folder itself is ignored, given its path relative to the rules' folder. Parents are for the
  // caller to check.
  bool Ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;  // Without leading and trailing slash.
    bool is_negated = false;
    bool is_of_folders = false;
    bool is_of_path = false;  // Otherwise it matches the last component.
  };
  std::vector<Rule> rules_;
};

}  // namespace vernier::submission
