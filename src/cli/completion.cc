#include "src/cli/completion.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "src/cli/commands.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

std::vector<std::string> OptionWords(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

bool TakesStudy(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() && option->get_name(true) == "STUDY") return true;
  }
  return false;
}

void Collect(const CLI::App& command,
             const std::string& path,
             const std::vector<std::string>& inherited,
             std::vector<CompletionEntry>& entries) {
  CompletionEntry entry = {
      .path = path, .words = OptionWords(command), .takes_study = TakesStudy(command)};
  for (const std::string& word : inherited) {
    if (std::find(entry.words.begin(), entry.words.end(), word) == entry.words.end()) {
      entry.words.push_back(word);
    }
  }
  const auto subcommands = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : subcommands) entry.words.push_back(sub->get_name());
  entries.push_back(std::move(entry));
  for (const CLI::App* sub : subcommands) {
    Collect(
        *sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), inherited, entries);
  }
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

constexpr std::string_view kStudyNames =
    "$(vernier study list -o csv --no-headers 2>/dev/null | cut -d, -f1)";

// The patterns of a case statement: path, then its words.
std::string Cases(const std::vector<CompletionEntry>& entries) {
  std::string text;
  for (const CompletionEntry& entry : entries) {
    text += fmt::format("    '{}')\n      words=\"{}\"\n", entry.path, Joined(entry.words));
    if (entry.takes_study) {
      text += fmt::format("      [[ $cur == -* ]] || words=\"{}\"\n", kStudyNames);
    }
    text += "      ;;\n";
  }
  return text;
}

// "study study/create …": the commands as words that a shell can look up.
std::string Paths(const std::vector<CompletionEntry>& entries) {
  std::vector<std::string> paths;
  for (const CompletionEntry& entry : entries) {
    if (entry.path.empty()) continue;
    paths.push_back(entry.path);
    std::replace(paths.back().begin(), paths.back().end(), ' ', '/');
  }
  return Joined(paths);
}

std::string BashScript(const std::vector<CompletionEntry>& entries) {
  return fmt::format(
      R"(# bash completion for vernier: source <(vernier completion bash)
_vernier() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} path="" words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in
      -*) ;;
      *) case " {} " in
        *" ${{path:+$path/}}$word "*) path="${{path:+$path/}}$word" ;;
      esac ;;
    esac
  done
  case "${{path//\// }}" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || compopt -o default 2>/dev/null
}}
complete -F _vernier vernier
)",
      Paths(entries),
      Cases(entries));
}

std::string ZshScript(const std::vector<CompletionEntry>& entries) {
  return "#compdef vernier\n# zsh completion for vernier: source <(vernier completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         BashScript(entries);
}

// When fish is to offer the words of a command: all of its own words were seen.
std::string FishCondition(const std::string& path) {
  if (path.empty()) return "__fish_use_subcommand";
  const std::size_t blank = path.find(' ');
  const std::string first = "__fish_seen_subcommand_from " + path.substr(0, blank);
  if (blank == std::string::npos) return first;
  return first + "; and __fish_seen_subcommand_from " + path.substr(blank + 1);
}

std::string FishScript(const std::vector<CompletionEntry>& entries) {
  std::string script =
      "# fish completion for vernier: vernier completion fish | source\n"
      "complete -c vernier -f\n";
  for (const CompletionEntry& entry : entries) {
    script += fmt::format(
        "complete -c vernier -n '{}' -a '{}'\n", FishCondition(entry.path), Joined(entry.words));
  }
  return script;
}

}  // namespace

std::vector<CompletionEntry> CompletionTable(const CLI::App& root) {
  std::vector<CompletionEntry> entries;
  Collect(root, "", OptionWords(root), entries);
  return entries;
}

std::optional<std::string> CompletionScript(std::string_view shell, const CLI::App& root) {
  const std::vector<CompletionEntry> entries = CompletionTable(root);
  if (shell == "bash") return BashScript(entries);
  if (shell == "zsh") return ZshScript(entries);
  if (shell == "fish") return FishScript(entries);
  return std::nullopt;
}

void AddCompletion(CLI::App& root, Action& chosen) {
  CLI::App* command = root.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();  // CLI11 writes to it, the action reads it.
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->callback([shell, &root, &chosen] {
    chosen = [shell, &root](Context& context) -> absl::StatusOr<ExitCode> {
      const auto script = CompletionScript(*shell, root);
      if (!script) {
        return InvalidArgument("SHELL: must be bash, zsh or fish, got '{}'", *shell);
      }
      context.console().out << *script;
      return ExitCode::kOk;
    };
  });
}

}  // namespace vernier::cli
