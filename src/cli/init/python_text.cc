// Just enough Python to find calls and their arguments in text. No parser, since sources of any version of Python must
// do, also ones with syntax errors; what is computed at run time is not known, and left out.

#include "src/cli/init/python_text.h"

#include <algorithm>

#include "re2/re2.h"
#include "src/cli/init/words.h"

namespace vernier::cli {

std::size_t EndOfLiteral(std::string_view source, std::size_t at) {
  const std::string_view quote = source.substr(at, 3) == std::string(3, source[at])
                                     ? source.substr(at, 3)
                                     : source.substr(at, 1);
  at += quote.size();
  while (at < source.size() && source.substr(at, quote.size()) != quote) {
    at += source[at] == '\\' ? 2 : 1;
  }
  return std::min(source.size(), at + quote.size());
}

std::vector<std::string> ArgumentsAt(std::string_view source, std::size_t at) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  while (at < source.size()) {
    const char c = source[at];
    if (c == '\'' || c == '"') {
      const std::size_t end = EndOfLiteral(source, at);
      arguments.back() += source.substr(at, end - at);
      at = end;
      continue;
    }
    if (c == '#') {
      at = std::min(source.find('\n', at), source.size());
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) break;
    if (depth == 0 && c == ',') {
      arguments.emplace_back();
    } else {
      arguments.back() += c;
    }
    ++at;
  }
  for (std::string& argument : arguments) argument = std::string(Stripped(argument));
  return arguments;
}

std::optional<std::string> LiteralOf(std::string_view expression) {
  std::string text;
  if (RE2::FullMatch(expression, R"re([rRbBuU]?'([^'\\]*)'|[rRbBuU]?"([^"\\]*)")re")) {
    const std::size_t open = expression.find_first_of("'\"");
    return std::string(expression.substr(open + 1, expression.size() - open - 2));
  }
  return std::nullopt;
}

Call ReadCall(std::string_view source, std::size_t at) {
  Call call;
  for (const std::string& argument : ArgumentsAt(source, at)) {
    std::string name;
    std::string value;
    if (RE2::FullMatch(argument, R"((?s)([A-Za-z_]\w*)\s*=\s*([^=].*))", &name, &value)) {
      call.named[name] = value;
    } else if (!argument.empty()) {
      call.plain.push_back(argument);
    }
  }
  return call;
}

}  // namespace vernier::cli
