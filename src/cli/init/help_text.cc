// Help is meant for people, so parsing it is a matter of layout: an entry begins with a dash at a small indentation,
// and its description continues on lines that are indented further. The libraries differ in details, which are marked
// below; hydra prints YAML instead and has a parser of its own. tests/cli/init has an example of each.

#include "src/cli/init/help_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "re2/re2.h"
#include "src/cli/init/words.h"
#include "src/codec/document.h"

namespace vernier::cli {
namespace {

using Kind = ProgramOption::Kind;
using Type = ProgramOption::Type;

// Largest indentation of an option's name. A deeper line that begins with a dash belongs to a description.
constexpr std::size_t kDeepest = 12;
constexpr char kSeveral[] = "takes several values";

// The text without colours and without the boxes that typer and rich-click draw.
std::string Plain(std::string_view text) {
  std::string plain(text);
  RE2::GlobalReplace(&plain, R"(\x1b\[[0-9;?]*[A-Za-z])", "");
  RE2::GlobalReplace(&plain, R"([│┃╭╮╰╯┏┓┗┛])", " ");
  RE2::GlobalReplace(&plain, R"([─━]+)", " ");
  RE2::GlobalReplace(&plain, R"(\r)", "");
  RE2::GlobalReplace(&plain, R"(\t)", "        ");
  return plain;
}

std::size_t IndentOf(std::string_view line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

// An option's heading and its description, which may span lines.
struct Entry {
  std::string heading;  // "-b N, --batch-size N"
  std::string about;
};

// Splits heading and description: "--lr: Learning rate." of absl, "--lr LR  Learning rate." of all others.
void CutHeading(std::string_view line, Entry& entry) {
  std::string name;
  if (RE2::PartialMatch(line, R"(^((?:-\w, ?)?--?(?:\[no\])?[\w.-]+): )", &name)) {
    entry.heading = name;
    entry.about = std::string(line.substr(name.size() + 1));
    return;
  }
  std::size_t end = line.find("  ");
  if (const std::size_t open = line.find(" ("); open < end) end = open;
  entry.heading = std::string(line.substr(0, end));
  if (end == std::string_view::npos) return;
  // typer prints further names and the type in columns of their own.
  re2::StringPiece rest(line.data() + end, line.size() - end);
  std::string column;
  while (RE2::Consume(&rest, R"( {2,}(--?[A-Za-z][\w-]*))", &column)) {
    entry.heading += ", " + column;
  }
  if (entry.heading.find(' ') == std::string::npos || Has(entry.heading, ", ")) {
    if (RE2::Consume(&rest,
                     R"( {2,}(<[^<>]*>|INTEGER|FLOAT|BOOLEAN|TEXT|PATH)(?: RANGE)?(?: |$))",
                     &column)) {
      entry.heading += " " + column;
    }
  }
  entry.about = rest.as_string();
}

bool StartsOption(std::string_view line) {
  return RE2::PartialMatch(line, R"(^--?(\[no\])?[A-Za-z0-9])");
}

// Whether positional arguments follow.
bool IsPositionalSection(std::string_view line) {
  const std::string lower = Lower(Stripped(line));
  return lower == "positional arguments:" || lower == "arguments:" || lower == "arguments";
}

bool IsCommandSection(std::string_view line) {
  const std::string lower = Lower(Stripped(line));
  return lower == "commands:" || lower == "commands" || lower == "subcommands:";
}

struct Sections {
  std::vector<Entry> options;
  std::vector<Entry> positionals;
  std::vector<Entry> commands;
  std::string usage;  // On one line.
};

Sections Cut(const std::vector<std::string_view>& lines) {
  Sections sections;
  std::vector<Entry>* positional = nullptr;
  Entry* entry = nullptr;
  std::size_t indent = 0;
  bool in_usage = false;
  for (const std::string_view line : lines) {
    const std::string_view text = Stripped(line);
    const std::size_t at = IndentOf(line);
    if (Lower(text).starts_with("usage:")) in_usage = true;
    if (text.empty()) {
      in_usage = false;
      continue;
    }
    // Before options are looked for: a line of the usage may begin with one.
    if (in_usage) {
      sections.usage += " " + std::string(text);
      continue;
    }
    // Options may stand in any section, so that this comes before the titles.
    if (StartsOption(text) && at <= kDeepest) {
      entry = &sections.options.emplace_back();
      indent = at;
      CutHeading(text, *entry);
    } else if (IsPositionalSection(line)) {
      positional = &sections.positionals;
      entry = nullptr;
    } else if (IsCommandSection(line)) {
      positional = &sections.commands;
      entry = nullptr;
    } else if (entry != nullptr && at > indent) {
      entry->about += " " + std::string(text);
    } else if (positional != nullptr && at > 0 && at <= kDeepest) {
      entry = &positional->emplace_back();
      indent = at;
      CutHeading(text, *entry);
    } else {
      // Any other line, such as the title of another section, ends this one.
      positional = nullptr;
      entry = nullptr;
    }
  }
  return sections;
}

// Splits at commas and slashes, which separate names, but not inside of brackets, where they separate choices.
std::vector<std::string> SplitHeading(std::string_view heading) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : heading) {
    if (c == '{' || c == '[' || c == '<') ++depth;
    if (c == '}' || c == ']' || c == '>') --depth;
    if (depth == 0 && (c == ',' || c == '/')) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = std::string(Stripped(part));
  return parts;
}

std::vector<std::string> ChoicesOf(std::string_view text) { return SplitAt(text, ",|"); }

Type TypeOfMetavar(std::string_view metavar) {
  const std::string lower = Lower(metavar);
  if (RE2::PartialMatch(lower, R"(^<?(int|integer|uint|usize)\b)")) return Type::kInt;
  if (RE2::PartialMatch(lower, R"(^<?(float|double|number|real)\b)")) return Type::kFloat;
  if (RE2::PartialMatch(lower, R"(^<?(boolean|bool)\b)")) return Type::kBool;
  if (RE2::PartialMatch(lower, R"(^<?(text|str|string|path|file|filename|dir|directory)\b)")) {
    return Type::kText;
  }
  return Type::kUnknown;
}

void ReadMetavar(std::string_view metavar, ProgramOption& option) {
  std::string choices;
  if (RE2::PartialMatch(metavar, R"(\{([^{}]*,[^{}]*)\})", &choices) ||
      RE2::PartialMatch(metavar, R"([\[<]([^\[\]<>]*\|[^\[\]<>]*)[\]>])", &choices)) {
    option.choices = ChoicesOf(choices);
  }
  if (Has(metavar, "...")) option.obstacle = kSeveral;
  if (const Type type = TypeOfMetavar(metavar); type != Type::kUnknown) option.type = type;
}

// Reads one form of an option, "--batch-size N": its name, and the placeholder of its value (metavar).
void ReadPart(const std::string& part, ProgramOption& option, std::string& metavar) {
  std::string name;
  std::string rest;
  if (!RE2::FullMatch(part, R"((--?(?:\[no\])?[\w.-]+)[ =]?(.*))", &name, &rest)) return;
  if (name.starts_with("--[no]")) {  // absl's booleans also take --nesterov=true.
    name = "--" + name.substr(6);
    option.type = Type::kBool;
  }
  if (!rest.empty()) metavar = rest;
  // A long name may have one dash, too: "-lr".
  const bool is_long = name.starts_with("--") || name.size() > 2;
  // A long name is taken rather than a letter, in whichever order the two stand.
  if (option.name.empty() || (is_long && option.name.size() == 2)) {
    option.name = name;
  } else if (is_long && (name.starts_with("--no-") || name.starts_with("--no_"))) {
    option.negative = name;
  }
}

std::string Unquoted(std::string_view text) {
  text = Stripped(text);
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
      text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

void ReadDefault(const std::string& about, ProgramOption& option) {
  std::string text;
  // Marks that libraries write come first. Sentences come last, as they may use the word with another meaning.
  if (RE2::PartialMatch(about, R"((?i)\(default:? ?=? ?([^()]*)\))", &text) ||
      RE2::PartialMatch(about, R"((?i)\[default: ([^\];]*))", &text) ||
      RE2::PartialMatch(about, R"((?i)\bdefaults? (?:is|to|value:?)? ?([^\s;,)]+))", &text) ||
      RE2::PartialMatch(about, R"((?i)\bdefault[:=] ?([^\s;,)\]]+))", &text)) {
    text = Unquoted(text);
    // None is Python's way to say that there is no default.
    if (text != "None" && text != "none" && !text.empty()) option.fallback = text;
  }
}

// Ranges: "[default: 3; 1<=x<=8]" of click, "in the range [1, 8]" of absl.
void ReadRange(const std::string& about, ProgramOption& option) {
  double lower = 0;
  double upper = 0;
  if (RE2::PartialMatch(about, R"(([-+0-9.eE]+)<=?x)", &lower)) option.lower = lower;
  if (RE2::PartialMatch(about, R"(x<=?([-+0-9.eE]+))", &upper)) option.upper = upper;
  if (RE2::PartialMatch(
          about, R"(in the range \[([-+0-9.eE]+), ([-+0-9.eE]+)\])", &lower, &upper)) {
    option.lower = lower;
    option.upper = upper;
  }
}

void ReadType(const std::string& about, ProgramOption& option) {
  // The type that a placeholder states is surer than words of the description.
  if (option.type != Type::kUnknown) return;
  if (RE2::PartialMatch(about, R"(\((?:an?|a positive|a non-negative) integer\b)") ||
      RE2::PartialMatch(about, R"(\ban integer in the range\b|\btype: u?int)")) {
    option.type = Type::kInt;
  } else if (RE2::PartialMatch(about, R"(\((?:an?|a positive|a non-negative) number\b)") ||
             RE2::PartialMatch(about, R"(\ba number in the range\b|\btype: (?:double|float))")) {
    option.type = Type::kFloat;
  }
}

// The description without the parts that were parsed.
std::string Sentence(std::string about) {
  for (const char* const known : {R"((?i)\(default:?[^()]*\)|\[default: [^\]]*\]|\[required\])",
                                  R"((?i),? ?\bdefaults? ?(?:to|is|:) ?[^\s,;]+)",
                                  R"(\((?:an?|a positive|a non-negative) [^()]*\))",
                                  R"(\[[^\]]*x<=?[^\]]*\]|\[[^\]]*<=?x[^\]]*\])",
                                  R"(\[possible values: [^\]]*\])"}) {
    RE2::GlobalReplace(&about, known, "");
  }
  RE2::GlobalReplace(&about, R"(\s+)", " ");
  return std::string(Stripped(about));
}

void ReadAbout(const Entry& entry, ProgramOption& option) {
  std::string about = entry.about;
  RE2::GlobalReplace(&about, R"(\s+)", " ");
  std::string choices;
  if (option.choices.empty() && RE2::PartialMatch(about, R"(^ ?<([^<>]*\|[^<>]*)>)", &choices)) {
    option.choices = ChoicesOf(choices);  // absl's enumerations.
    RE2::Replace(&about, R"(^ ?<[^<>]*>: ?)", "");
  }
  // clap's enumerations.
  if (option.choices.empty() &&
      RE2::PartialMatch(about, R"(\[possible values: ([^\]]*)\])", &choices)) {
    option.choices = ChoicesOf(choices);
  }
  ReadDefault(about, option);
  ReadRange(about, option);
  ReadType(about, option);
  option.is_required = Has(about, "[required]");
  option.about = Sentence(std::move(about));
}

ProgramOption ReadOption(const Entry& entry) {
  ProgramOption option;
  std::string metavar;
  for (const std::string& part : SplitHeading(entry.heading)) ReadPart(part, option, metavar);
  ReadMetavar(metavar, option);
  ReadAbout(entry, option);
  if (!option.negative.empty()) {
    option.kind = Kind::kPair;
    // click names the option that is the default.
    if (option.fallback == option.negative.substr(2)) option.fallback = "False";
    if (option.fallback == option.name.substr(2)) option.fallback = "True";
  } else if (metavar.empty() && option.type == Type::kUnknown && option.choices.empty()) {
    // Nothing says that it takes a value.
    option.kind = Kind::kFlag;
  }
  return option;
}

// absl prints no metavar: its options take values, whose type is in the description.
void CorrectAbsl(ProgramOption& option) {
  if (option.kind == Kind::kFlag) option.kind = Kind::kValue;
  if (option.type == Type::kUnknown) option.type = Type::kText;
}

// Options in the usage line outside of brackets: they are required.
std::set<std::string> RequiredIn(std::string usage) {
  // Brackets may be nested: the innermost are removed until there are none.
  while (RE2::GlobalReplace(&usage, R"(\[[^\[\]]*\])", "") > 0) {
  }
  std::set<std::string> required;
  for (const std::string& word : SplitAt(usage, " ")) {
    if (word.starts_with("-")) required.emplace(word);
  }
  return required;
}

// click lists positional arguments only in the usage: "Usage: train.py [OPTIONS] DATA".
std::vector<ProgramOption> PositionalsInUsage(const std::string& usage) {
  std::vector<ProgramOption> positionals;
  const std::size_t at = usage.find("[OPTIONS]");
  if (at == std::string::npos) return positionals;
  for (const std::string& word : SplitAt(usage.substr(at + 9), " ")) {
    if (!RE2::FullMatch(word, R"([A-Z][A-Z0-9_]*(\.\.\.)?)")) continue;
    positionals.push_back({.name = Lower(word.substr(0, word.find("..."))),
                           .kind = Kind::kPositional,
                           .is_required = true});
  }
  return positionals;
}

// Flattens hydra's configuration to options "group.key". "???" is hydra's mark of a required value.
void Flatten(const nlohmann::ordered_json& json,
             const std::string& prefix,
             std::vector<ProgramOption>& options) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix.empty() ? key : fmt::format("{}.{}", prefix, key);
    if (value.is_object()) {
      Flatten(value, name, options);
      continue;
    }
    ProgramOption option{.name = name, .kind = Kind::kAssignment};
    if (value.is_array()) option.obstacle = kSeveral;
    if (value.is_boolean()) option.type = Type::kBool;
    if (value.is_number_integer()) option.type = Type::kInt;
    if (value.is_number_float()) option.type = Type::kFloat;
    if (value.is_string()) option.type = Type::kText;
    if (value.is_string()) option.fallback = value.get<std::string>();
    if (value.is_boolean() || value.is_number()) option.fallback = value.dump();
    option.is_required = value == "???";
    if (option.is_required) option.fallback.reset();
    options.push_back(std::move(option));
  }
}

// The lines of a section of hydra's help, without its explanations.
std::string SectionOf(const std::vector<std::string_view>& lines, std::string_view title) {
  std::string section;
  bool is_inside = false;
  for (const std::string_view line : lines) {
    if (line.starts_with("==") || line.starts_with("Powered by Hydra")) {
      is_inside = line.starts_with(title);
      continue;
    }
    if (is_inside && !RE2::PartialMatch(line, R"(^(Override anything|Compose your|Use --))")) {
      section += std::string(line) + "\n";
    }
  }
  return section;
}

HelpText ParseHydra(const std::vector<std::string_view>& lines) {
  HelpText help{.library = "hydra", .options = {}, .commands = {}};
  const std::string groups = SectionOf(lines, "== Configuration groups");
  for (const std::string_view line : LinesOf(groups)) {
    std::string group;
    std::string choices;
    if (!RE2::FullMatch(line, R"(([\w/@.-]+): (.+))", &group, &choices)) continue;
    help.options.push_back({.name = group,
                            .kind = Kind::kAssignment,
                            .type = Type::kText,
                            .choices = ChoicesOf(choices)});
  }
  const auto config = codec::ReadDocument(SectionOf(lines, "== Config =="), "help");
  if (config.ok() && config->is_object()) Flatten(*config, "", help.options);
  return help;
}

std::string LibraryOf(const std::string& text) {
  if (Has(text, "== Config ==") || Has(text, "Powered by Hydra")) {
    return "hydra";
  }
  if (RE2::PartialMatch(text, R"((?m)^ +(?:-\w, ?)?--(?:\[no\])?[\w]+: )")) return "absl";
  if (Has(text, "[OPTIONS]")) return "click";
  // With a small letter; others write "Usage:".
  if (Has(text, "usage: ")) return "argparse";
  return "";
}

}  // namespace

HelpText ParseHelp(std::string_view text) {
  const std::string plain = Plain(text);
  const std::vector<std::string_view> lines = LinesOf(plain);
  const std::string library = LibraryOf(plain);
  if (library == "hydra") return ParseHydra(lines);
  const Sections sections = Cut(lines);
  HelpText help{.library = library, .options = {}, .commands = {}};
  const std::set<std::string> required = RequiredIn(sections.usage);
  for (const Entry& entry : sections.positionals) {
    ProgramOption option{.name = entry.heading, .kind = Kind::kPositional, .is_required = true};
    ReadMetavar(entry.heading, option);
    ReadAbout(entry, option);
    option.is_required = !Has(sections.usage, "[" + entry.heading + "]");
    if (option.choices.size() > 1 && Has(sections.usage, "...")) {
      help.commands = option.choices;  // argparse's sub-parsers.
      continue;
    }
    // Some libraries print a column of types: "*  data  TEXT".
    RE2::Replace(&option.name, R"(^\*? *([\w.-]+).*$)", R"(\1)");
    help.options.push_back(std::move(option));
  }
  if (sections.positionals.empty()) help.options = PositionalsInUsage(sections.usage);
  for (const Entry& entry : sections.commands) help.commands.push_back(entry.heading);
  std::set<std::string> seen;
  for (const Entry& entry : sections.options) {
    ProgramOption option = ReadOption(entry);
    if (option.name.empty() || !seen.insert(option.name).second) continue;
    if (library == "absl") CorrectAbsl(option);
    if (required.contains(option.name)) option.is_required = true;
    help.options.push_back(std::move(option));
  }
  return help;
}

}  // namespace vernier::cli
