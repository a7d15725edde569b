#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vernier::cli {

// Name and value pairs, one a line, with values aligned in one column unless a name is very long.
class Fields {
 public:
  // An empty name continues the field above.
  void Add(std::string_view name, std::string_view value);

  std::string Text() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace vernier::cli
