#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vernier::cli {

// Names and their values, one pair a line: the values stand below each other, apart from the longest name.
class Fields {
 public:
  // An empty name goes on with the field above.
  void Add(std::string_view name, std::string_view value);

  std::string Text() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace vernier::cli
