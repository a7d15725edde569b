#include "src/cli/init/source_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "re2/re2.h"
#include "src/cli/init/words.h"

namespace vernier::cli {
namespace {

using Kind = ProgramOption::Kind;
using Type = ProgramOption::Type;

// Where the text literal that begins at `at` ends: behind its closing quotes,
// or at the end of the source.
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

// The arguments of a call, cut at its commas; `at` is behind its opening
// bracket. Comments are left out.
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

// The text of a literal; nothing if it is something else.
std::optional<std::string> LiteralOf(std::string_view expression) {
  std::string text;
  if (RE2::FullMatch(expression, R"re([rRbBuU]?'([^'\\]*)'|[rRbBuU]?"([^"\\]*)")re")) {
    const std::size_t open = expression.find_first_of("'\"");
    return std::string(expression.substr(open + 1, expression.size() - open - 2));
  }
  return std::nullopt;
}

struct Call {
  std::vector<std::string> plain;
  std::map<std::string, std::string> named;
};

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

Type TypeOf(std::string_view expression) {
  if (RE2::PartialMatch(expression, R"(^(int|click\.INT|click\.IntRange)\b)")) return Type::kInt;
  if (RE2::PartialMatch(expression, R"(^(float|click\.FLOAT|click\.FloatRange)\b)")) {
    return Type::kFloat;
  }
  if (expression == "str" || Has(expression, "Path")) return Type::kText;
  if (expression == "bool") return Type::kBool;
  return Type::kUnknown;
}

std::vector<std::string> ListIn(std::string_view expression) {
  std::vector<std::string> values;
  const std::size_t open = expression.find_first_of("[(");
  if (open == std::string_view::npos) return values;
  for (const std::string& element : ArgumentsAt(expression, open + 1)) {
    if (auto text = LiteralOf(element)) {
      values.push_back(*std::move(text));
    } else if (RE2::FullMatch(element, R"([-+]?[0-9][0-9.eE_+-]*)")) {
      values.push_back(element);
    } else if (!element.empty()) {
      return {};  // It is computed.
    }
  }
  return values;
}

// "64", "1e-3", "True" and texts; what is computed or None is no default.
std::optional<std::string> DefaultIn(std::string_view expression) {
  if (auto text = LiteralOf(expression)) return text;
  if (RE2::FullMatch(expression, R"([-+]?[0-9][0-9.eE_+-]*|\.[0-9]+|True|False)")) {
    std::string plain(expression);
    std::erase(plain, '_');
    return plain;
  }
  return std::nullopt;
}

void Fill(const Call& call, ProgramOption& option) {
  const auto find = [&](const char* name) -> const std::string* {
    const auto at = call.named.find(name);
    return at == call.named.end() ? nullptr : &at->second;
  };
  const std::string* const type = find("type");
  if (type != nullptr && option.type == Type::kUnknown) option.type = TypeOf(*type);
  if (const std::string* const nargs = find("nargs"); nargs != nullptr && *nargs != "'?'") {
    option.obstacle = "takes several values";
  }
  if (const std::string* const choices = find("choices");
      choices != nullptr && option.choices.empty()) {
    option.choices = ListIn(*choices);
  }
  if (type != nullptr && Has(*type, "Choice") && option.choices.empty()) {
    option.choices = ListIn(type->substr(type->find('(') + 1));
  }
  if (const std::string* const value = find("default"); value != nullptr && !option.fallback) {
    option.fallback = DefaultIn(*value);
  }
  if (const std::string* const about = find("help"); about != nullptr && option.about.empty()) {
    option.about = LiteralOf(*about).value_or("");
  }
}

ProgramOption* FindOption(HelpText& help, std::string_view name) {
  const auto found = std::ranges::find(help.options, name, &ProgramOption::name);
  return found == help.options.end() ? nullptr : &*found;
}

// Calls of argparse's add_argument and click's option: names first, then what
// is said by name.
void ReadNamedOptions(std::string_view source, HelpText& help) {
  static const RE2& call = *new RE2(R"((?:\badd_argument|\bclick\.option|\boption)\s*\()");
  re2::StringPiece rest(source.data(), source.size());
  while (RE2::FindAndConsume(&rest, call)) {
    const Call found = ReadCall(source, static_cast<std::size_t>(rest.data() - source.data()));
    for (const std::string& name : found.plain) {
      const std::string text = LiteralOf(name).value_or("");
      // click names both ways at once: "--bias/--no-bias".
      if (ProgramOption* const option = FindOption(help, text.substr(0, text.find('/')))) {
        Fill(found, *option);
        break;
      }
    }
  }
}

// absl: flags.DEFINE_float("lr", 1e-3, "Learning rate.").
void ReadAbslFlags(std::string_view source, HelpText& help) {
  static const RE2& call = *new RE2(R"(\bDEFINE_(\w+)\s*\()");
  re2::StringPiece rest(source.data(), source.size());
  std::string kind;
  while (RE2::FindAndConsume(&rest, call, &kind)) {
    const Call found = ReadCall(source, static_cast<std::size_t>(rest.data() - source.data()));
    if (found.plain.size() < 2) continue;
    ProgramOption* const option = FindOption(help, "--" + LiteralOf(found.plain[0]).value_or(""));
    if (option == nullptr) continue;
    if (kind == "integer") option->type = Type::kInt;
    if (kind == "float") option->type = Type::kFloat;
    if (kind == "bool" || kind == "boolean") option->type = Type::kBool;
    if (!option->fallback) option->fallback = DefaultIn(found.plain[1]);
    if (kind == "enum" && option->choices.empty() && found.plain.size() > 2) {
      option->choices = ListIn(found.plain[2]);
    }
  }
}

// The smaller, the likelier it is what the program is tuned for; nothing: no
// metric.
std::optional<int> RankOf(const std::string& name) {
  static const RE2& metric = *new RE2(
      R"((?:.*_)?(acc|accuracy|top1|auc|auroc|f1|f1_score|score|bleu|rouge|map|iou|dice|r2|)"
      R"(return|reward|loss|error|err|rmse|mse|mae|nll|perplexity|ppl)(?:_\d+)?)");
  std::string kind;
  if (!RE2::FullMatch(name, metric, &kind)) return std::nullopt;
  if (RE2::PartialMatch(name, "train|running|batch|step|epoch_|avg"))
    return IsMaximized(name) ? 6 : 7;
  const bool is_held_out = RE2::PartialMatch(name, "^(val|valid|validation|dev|eval)(_|$)");
  const bool is_test = RE2::PartialMatch(name, "^test(_|$)");
  const int base = is_held_out ? 0 : is_test ? 2 : 4;
  return base + (IsMaximized(name) ? 0 : 1);
}

}  // namespace

void AddFromSource(std::string_view source, HelpText& help) {
  ReadNamedOptions(source, help);
  ReadAbslFlags(source, help);
  for (ProgramOption& option : help.options) {
    if (option.type == Type::kBool && help.library == "argparse" && option.kind == Kind::kValue) {
      option.obstacle =
          "has type=bool, which takes every text for true; a "
          "flag would be tuned";
    }
  }
}

std::vector<std::string> MetricsIn(std::string_view source) {
  // A text of its own, or a name before `=` or `:`, in a line that prints, logs, reports or writes a summary.
  static const RE2& printing = *new RE2(
      R"(\b(print|log|logger|info|write|report\w*|add_scalar|scalar|dumps?|echo|hypertune|metrics?)\b)");
  static const RE2& name = *new RE2(R"re(['"]([A-Za-z]\w*)['"]\s?[:,]|([A-Za-z]\w*)\s?[=:])re");
  std::map<std::string, int> ranks;
  std::vector<std::string> found;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    std::string_view line = source.substr(0, end);
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    const std::size_t quote = line.find_first_of("'\"");
    if (quote == std::string_view::npos || !RE2::PartialMatch(line, printing)) continue;
    line.remove_prefix(quote);
    re2::StringPiece rest(line.data(), line.size());
    std::string text;
    std::string before;
    while (RE2::FindAndConsume(&rest, name, &text, &before)) {
      const std::string candidate = text.empty() ? before : text;
      const std::optional<int> rank = RankOf(Lower(candidate));
      if (rank.has_value() && ranks.emplace(candidate, *rank).second) found.push_back(candidate);
    }
  }
  std::ranges::stable_sort(found, {}, [&](const std::string& metric) { return ranks.at(metric); });
  return found;
}

bool IsMaximized(std::string_view metric) {
  return !RE2::PartialMatch(Lower(metric),
                            R"((^|_)(loss|error|err|rmse|mse|mae|nll|perplexity|ppl)(_|$))");
}

}  // namespace vernier::cli
