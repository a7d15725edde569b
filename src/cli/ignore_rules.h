#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vernier::cli {

// Which files of a folder are left out, in the words of .gitignore (gitignore(5)): one pattern a line; `#` begins a comment;
// `!` takes back in what an earlier line left out; a pattern with `/` at its beginning or in it is of the whole path, one
// without of a name at any depth; `/` at the end is of folders only; `*` and `?` do not cross `/`, `**` does. The last line
// that matches decides. What is in a folder that is left out is left out.
class IgnoreRules {
 public:
  // Lines that mean nothing are skipped.
  explicit IgnoreRules(std::string_view text);

  // Whether the file or folder, by its path below the one that the rules are of, is left out by itself.
  bool Ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;  // Without its slashes at the beginning and at the end.
    bool is_negated = false;
    bool is_of_folders = false;
    bool is_of_path = false;  // Else of the last name of the path.
  };
  std::vector<Rule> rules_;
};

}  // namespace vernier::cli
