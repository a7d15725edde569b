// argparse shows neither types nor, without a special formatter, defaults in its help. The source does, if it is one of
// the files that the command names. Only options that the help lists are completed.

#include "src/cli/init/source_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "re2/re2.h"
#include "src/cli/init/python_text.h"
#include "src/cli/init/words.h"

namespace vernier::cli {
namespace {

using Kind = ProgramOption::Kind;
using Type = ProgramOption::Type;

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
      return {};  // Computed at run time.
    }
  }
  return values;
}

// Literal defaults: "64", "1e-3", "True", texts. Computed values and None give none.
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

// Calls of argparse's add_argument and click's option: names are positional arguments, everything else is named.
void ReadNamedOptions(std::string_view source, HelpText& help) {
  static const RE2& call = *new RE2(R"((?:\badd_argument|\bclick\.option|\boption)\s*\()");
  re2::StringPiece rest(source.data(), source.size());
  while (RE2::FindAndConsume(&rest, call)) {
    const Call found = ReadCall(source, static_cast<std::size_t>(rest.data() - source.data()));
    for (const std::string& name : found.plain) {
      const std::string text = LiteralOf(name).value_or("");
      // click gives both forms in one text: "--bias/--no-bias".
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

}  // namespace

void AddFromSource(std::string_view source, HelpText& help) {
  ReadNamedOptions(source, help);
  ReadAbslFlags(source, help);
  // bool("False") is True in Python.
  for (ProgramOption& option : help.options) {
    if (option.type == Type::kBool && help.library == "argparse" && option.kind == Kind::kValue) {
      option.obstacle =
          "has type=bool, which takes every text for true; a "
          "flag would be tuned";
    }
  }
}

}  // namespace vernier::cli
