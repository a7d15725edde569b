// CLI11 does the parsing; this file replaces its help and its errors. An error names what was wrong and what to do: the
// nearest known option or command, or, for an option known from other programs, the equivalent here.

#include "src/app/usage.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/nearest.h"

namespace vernier::app {
namespace {

// Width of a classic terminal.
constexpr std::size_t kWidth = 80;
// Column at which the descriptions of options and commands begin.
constexpr std::size_t kColumn = 26;

std::string Entry(const std::string& name, const std::string& description) {
  std::string head = "  " + name;
  if (description.empty()) return head + "\n";
  if (head.size() + 2 > kColumn) {
    head += "\n" + std::string(kColumn, ' ');
  } else {
    head.resize(kColumn, ' ');
  }
  // Only text on the line of the description counts for wrapping; a long name stands on a line above.
  const std::size_t start = head.find('\n') == std::string::npos ? 0 : head.find('\n') + 1;
  return head.substr(0, start) + WrapHelp(head.substr(start) + description, kColumn) + "\n";
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string common) : common_(std::move(common)) {}

  std::string make_description(const CLI::App* app) const override {
    return WrapHelp(app->get_description(), 0) + "\n\n";
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string line = "Usage: " + name;
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) line += " " + make_option_usage(option);
    }
    // CLI11 makes subcommands without a name of option groups.
    const auto is_named = [](const CLI::App* sub) { return !sub->get_name().empty(); };
    if (!app->get_subcommands(is_named).empty()) line += " COMMAND";
    return WrapHelp(line + " [OPTIONS]", 7) + "\n";
  }

  std::string make_group(std::string group,
                         bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = fmt::format("\n{}:\n", is_positional ? "Arguments" : group);
    for (const CLI::Option* option : options) text += make_option(option, is_positional);
    return text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    // CLI11 joins names by a bare comma: "-o,--output".
    std::string name = make_option_name(option, is_positional);
    for (std::size_t comma = name.find(','); comma != std::string::npos && !is_positional;
         comma = name.find(',', comma + 2)) {
      name.insert(comma + 1, " ");
    }
    const bool takes_value = !is_positional && option->get_type_size() != 0;
    if (takes_value) {
      name += " " + (option->get_option_text().empty() ? option->get_type_name()
                                                       : option->get_option_text());
    }
    return Entry(name, option->get_description());
  }

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode) const override {
    std::string text;
    for (const CLI::App* sub : app->get_subcommands({})) {
      if (!sub->get_name().empty()) text += Entry(sub->get_name(), sub->get_description());
    }
    return text.empty() ? text : "\nCommands:\n" + text;
  }

  std::string make_footer(const CLI::App* app) const override {
    std::string text;
    std::string footer = app->get_footer();
    if (app->get_parent() != nullptr) {
      footer += footer.empty() || common_.empty() ? "" : "\n\n";
      footer += common_;
    }
    while (!footer.empty()) {
      const std::size_t end = std::min(footer.find('\n'), footer.size());
      text += WrapHelp(footer.substr(0, end), 0) + "\n";
      footer.erase(0, end + 1);
    }
    return text;
  }

 private:
  const std::string common_;
};

// The command that was being parsed, and its path: "vernier study create".
const CLI::App& DeepestParsed(const CLI::App& root, std::string& path) {
  path = root.get_name();
  const CLI::App* command = &root;
  // get_subcommands without a filter lists those that were given on the command line.
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  return *command;
}

std::vector<std::string> KnownCommands(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(sub->get_name());
  }
  return words;
}

std::vector<std::string> KnownOptions(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      // The command has its own help flag.
      if (app != &command && option == app->get_help_ptr()) continue;
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  }
  return words;
}

// Options of other programs, and their equivalents here.
struct Foreign {
  std::string_view option;
  // The option that the command must have for the advice to hold; empty: any command.
  std::string_view needs;
  std::string_view advice;
};
constexpr std::array<Foreign, 24> kForeign = {{
    {"--state", "--filter", "--filter 'state = {}'"},
    {"--status", "--filter", "--filter 'state = {}'"},
    {"--label", "--filter", "--filter 'labels.KEY = VALUE'"},
    {"--labels", "--filter", "--filter 'labels.KEY = VALUE'"},
    {"--where", "--filter", "--filter 'state = COMPLETED AND metrics.NAME > 0.5'"},
    {"--query", "--filter", "--filter 'state = COMPLETED AND metrics.NAME > 0.5'"},
    {"--stopped", "--filter", "--filter stopped"},
    {"--failed", "--filter", "--filter 'state = FAILED'"},
    {"--sort-by", "--sort", "--sort COLUMN, or --sort -COLUMN for descending"},
    {"--order-by", "--sort", "--sort COLUMN, or --sort -COLUMN for descending"},
    {"--top", "--limit", "--limit N with --sort"},
    {"--max", "--limit", "--limit N"},
    {"--count", "--limit", "--limit N"},
    {"-n", "--limit", "--limit N"},
    {"-n", "--tail", "--tail N"},
    {"--lines", "--tail", "--tail N"},
    {"--fields", "--columns", "--columns NAME,…"},
    {"--wide", "--output", "-o wide"},
    {"--json", "--output", "-o json"},
    {"--yaml", "--output", "-o yaml"},
    {"--csv", "--output", "-o csv"},
    {"--format", "--output", "-o table, wide, json, jsonl, csv or yaml"},
    {"--db", "--store", "--store FILE"},
    {"--host", "--server", "--server HOST:PORT"},
}};

// Advice for an unknown option: "use --filter 'state = FAILED'" for "--state FAILED"; empty: none.
std::string AdviceOn(const std::vector<std::string>& rest, const std::vector<std::string>& known) {
  const std::string option = rest.front().substr(0, rest.front().find('='));
  for (const Foreign& foreign : kForeign) {
    if (foreign.option != option) continue;
    // Several entries may have the same option (-n): the first whose equivalent this command has.
    if (std::find(known.begin(), known.end(), foreign.needs) == known.end()) continue;
    std::string value = "FAILED";
    if (option.size() < rest.front().size()) {
      value = rest.front().substr(option.size() + 1);
    } else if (rest.size() > 1 && !rest[1].starts_with('-')) {
      value = rest[1];
    }
    // States are upper case in filters.
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) {
      return static_cast<char>(std::toupper(c));
    });
    std::string advice(foreign.advice);
    const std::size_t hole = advice.find("{}");
    if (hole != std::string::npos) advice.replace(hole, 2, value);
    return "use " + advice;
  }
  return "";
}

// Rewrites CLI11's message as one line, in lower case, without a full stop.
std::string Translate(std::string sentence) {
  // CLI11's texts are matched here; one that is not known is shown as it is.
  constexpr std::string_view kConversion = "Could not convert: ";
  sentence = sentence.substr(0, sentence.find('\n'));
  if (sentence.starts_with(kConversion)) {
    const std::size_t equals = sentence.find(" = ");
    return fmt::format("{}: must be a number, got '{}'",
                       sentence.substr(kConversion.size(), equals - kConversion.size()),
                       equals == std::string::npos ? "" : sentence.substr(equals + 3));
  }
  if (sentence.ends_with(" missing")) {  // "--limit: 1 required INT missing".
    return sentence.substr(0, sentence.find(':')) + ": needs a value";
  }
  if (sentence.find(": At Most 1 required") != std::string::npos) {
    return sentence.substr(0, sentence.find(':')) + ": must be given once";
  }
  const bool is_word =
      sentence.size() > 1 && std::isupper(sentence[0]) != 0 && std::islower(sentence[1]) != 0;
  if (is_word) sentence[0] = static_cast<char>(std::tolower(sentence[0]));
  return sentence;
}

void Explain(const CLI::ParseError& error, const CLI::App& command, UsageError& usage) {
  // What was not understood may be left with the command or with one of those above it.
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    const std::vector<std::string> rest = app->remaining();
    if (rest.empty()) continue;
    if (rest.front().starts_with('-')) {
      const std::vector<std::string> known = KnownOptions(command);
      usage.hint = AdviceOn(rest, known);
      usage.sentence = fmt::format("unknown option '{}'{}",
                                   rest.front(),
                                   usage.hint.empty() ? NearestHint(rest.front(), known) : "");
      return;
    }
    const std::vector<std::string> known = KnownCommands(command);
    usage.sentence = fmt::format("unknown {} '{}'{}",
                                 known.empty() ? "argument" : "command",
                                 rest.front(),
                                 known.empty() ? "" : NearestHint(rest.front(), known));
    return;
  }
  // Nothing is left over: an argument is missing or wrong, or the command is missing.
  const std::vector<std::string> known = KnownCommands(command);
  const bool is_value_wrong = error.get_name() == "ValidationError";
  usage.sentence = known.empty() || is_value_wrong
                       ? Translate(error.what())
                       : "a command is missing" + NearestHint("", known);
}

}  // namespace

std::string WrapHelp(std::string_view text, std::size_t indent) {
  std::string wrapped;
  std::size_t room = kWidth;
  while (text.size() > room) {
    std::size_t blank = text.substr(0, room + 1).rfind(' ');
    // Do not break at blanks before the first word, nor within a word that is too long.
    const std::size_t word = text.find_first_not_of(' ');
    if (blank == std::string_view::npos || blank < word) blank = text.find(' ', word);
    if (blank == std::string_view::npos) break;
    wrapped += text.substr(0, blank);
    wrapped += '\n' + std::string(indent, ' ');
    text.remove_prefix(blank + 1);
    room = kWidth - indent;
  }
  return wrapped + std::string(text);
}

std::shared_ptr<CLI::FormatterBase> NewHelpFormatter(std::string common) {
  return std::make_shared<HelpFormatter>(std::move(common));
}

void Parse(CLI::App& root, const std::vector<std::string>& args) {
  for (const std::string& arg : args) {
    if (arg == "--") break;  // The rest is a program of the user.
    if (arg.starts_with("--") && arg.find('=') == arg.size() - 1) {
      throw CLI::ValidationError(arg.substr(0, arg.size() - 1), "needs a value after '='");
    }
  }
  // CLI11 takes a vector of arguments in reverse order.
  root.parse(std::vector<std::string>(args.rbegin(), args.rend()));
}

UsageError ExplainUsage(const CLI::ParseError& error, const CLI::App& root) {
  UsageError usage;
  const CLI::App& command = DeepestParsed(root, usage.command);
  Explain(error, command, usage);
  if (usage.hint.empty()) {
    usage.hint = fmt::format("`{} --help` shows its arguments and options", usage.command);
  }
  return usage;
}

CLI::Validator AboveZero() {
  return CLI::Validator(
      [](const std::string& text) {
        double number = 0;
        const char* end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, number);
        if (result.ec == std::errc() && result.ptr == end && number > 0) return std::string();
        return fmt::format("must be a number above 0, got '{}'", text);
      },
      "");
}

CLI::Validator OneOf(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return fmt::format("must be one of {}, got '{}'", fmt::join(words, ", "), text);
      },
      "");
}

CLI::Validator AFile() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? std::string("must name a file, got ''") : std::string();
      },
      "");
}

}  // namespace vernier::app
