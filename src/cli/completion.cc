// Completion scripts are generated: a table of all commands is read from the parser and written out as a `case`
// statement in each shell's language, around a fixed function that finds the current command. Only names of studies
// need a call of vernier when Tab is pressed. tests/cli/completion_in_shell_test.py presses Tab in real shells.

#include "src/cli/completion.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "src/cli/commands/commands.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

// Adds the command's option names, and separately those that take a value.
void AddOptions(const CLI::App& command, CompletionEntry& entry) {
  const auto add = [&entry](const CLI::Option& option, const std::string& word) {
    auto& words = entry.options;
    if (std::find(words.begin(), words.end(), word) != words.end()) return;
    words.push_back(word);
    if (option.get_items_expected_max() > 0) entry.valued_options.push_back(word);
  };
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) add(*option, "-" + name);
    for (const std::string& name : option->get_lnames()) add(*option, "--" + name);
  }
}

// By the argument's name in help: AddStudyOption calls it STUDY everywhere.
bool TakesStudy(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() && option->get_name(true) == "STUDY") return true;
  }
  return false;
}

void Collect(const CLI::App& root,
             const CLI::App& command,
             const std::string& path,
             std::vector<CompletionEntry>& entries) {
  CompletionEntry entry = {.path = path, .takes_study = TakesStudy(command)};
  AddOptions(command, entry);
  AddOptions(root, entry);
  const auto subcommands = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : subcommands) entry.subcommands.push_back(sub->get_name());
  entries.push_back(std::move(entry));
  for (const CLI::App* sub : subcommands) {
    Collect(root, *sub, path.empty() ? sub->get_name() : path + "/" + sub->get_name(), entries);
  }
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// "study study/create …": all command paths as one list of words.
std::string Paths(const std::vector<CompletionEntry>& entries) {
  std::vector<std::string> paths;
  for (const CompletionEntry& entry : entries) {
    if (!entry.path.empty()) paths.push_back(entry.path);
  }
  return Joined(paths);
}

// All options that take a value, over all commands. One list suffices, since no option takes a value in one command and
// none in another.
std::string ValuedOptions(const std::vector<CompletionEntry>& entries) {
  std::set<std::string> words;
  for (const CompletionEntry& entry : entries) {
    words.insert(entry.valued_options.begin(), entry.valued_options.end());
  }
  return Joined({words.begin(), words.end()});
}

std::string BashCases(const std::vector<CompletionEntry>& entries) {
  std::string text;
  for (const CompletionEntry& entry : entries) {
    text += fmt::format("    '{}')\n      flags=\"{}\"", entry.path, Joined(entry.options));
    if (!entry.subcommands.empty()) {
      text += fmt::format(" offered=\"{}\"", Joined(entry.subcommands));
    }
    text += entry.takes_study ? " study=yes ;;\n" : " ;;\n";
  }
  return text;
}

// The function for bash, which zsh runs through bashcompinit. It walks the words before the cursor to find the command
// and the number of its arguments. Bash splits "--option=value" into three words, so "=" is skipped. The names `path`,
// `words` and `options` are avoided: in zsh they are special variables.
std::string BashFunction(const std::vector<CompletionEntry>& entries) {
  return fmt::format(
      R"(_vernier_words() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} at="" before="" flags="" offered="" study="" word
  local -i arguments=0
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
    [[ $word != = ]] || continue
    if [[ -n $before && " {0} " == *" $before "* ]]; then
      before=""
      continue
    fi
    before=$word
    [[ $word != -* ]] || continue
    if [[ $arguments -eq 0 && " {1} " == *" ${{at:+$at/}}$word "* ]]; then
      at="${{at:+$at/}}$word"
    else
      arguments+=1
    fi
  done
  COMPREPLY=()
  [[ -z $before || " {0} " != *" $before "* ]] || return 0
  case "$at" in
{2}  esac
  if [[ $cur == -* ]]; then
    offered=$flags
  elif [[ -n $study && $arguments -eq 0 ]]; then
    offered=$(vernier study list -o csv --no-headers 2>/dev/null | cut -d, -f1)
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$cur"))
}}
)",
      ValuedOptions(entries),
      Paths(entries),
      BashCases(entries));
}

std::string BashScript(const std::vector<CompletionEntry>& entries) {
  return "# bash completion for vernier: source <(vernier completion bash)\n" +
         BashFunction(entries) + "complete -o default -F _vernier_words vernier\n";
}

// Works both ways: sourced, or as a file _vernier in $fpath. In $fpath zsh runs the file as the completion function
// itself the first time, so that it must complete, too: hence the call at its end.
std::string ZshScript(const std::vector<CompletionEntry>& entries) {
  return "#compdef vernier\n"
         "# zsh completion for vernier: source <(vernier completion zsh)\n"
         "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         BashFunction(entries) +
         "complete -o default -F _vernier_words vernier\n"
         "if [[ $funcstack[1] == _vernier ]]; then\n"
         "  _bash_complete -o default -F _vernier_words\n"
         "fi\n";
}

std::string FishCases(const std::vector<CompletionEntry>& entries) {
  std::string text;
  for (const CompletionEntry& entry : entries) {
    text += fmt::format("    case '{}'\n      set flags {}\n", entry.path, Joined(entry.options));
    if (!entry.subcommands.empty()) {
      text += fmt::format("      set offered {}\n", Joined(entry.subcommands));
    }
    if (entry.takes_study) text += "      set study yes\n";
  }
  return text;
}

// fish has no equivalent of bashcompinit, and completes nothing else once -f is given; files are offered by
// __fish_complete_path.
std::string FishScript(const std::vector<CompletionEntry>& entries) {
  return fmt::format(
      R"(# fish completion for vernier: vernier completion fish | source
function __vernier_words
  set -l current (commandline -ct)
  set -l at
  set -l before
  set -l arguments 0
  set -l flags
  set -l offered
  set -l study
  set -l valued {0}
  for word in (commandline -opc)[2..]
    if contains -- "$before" $valued
      set before
      continue
    end
    set before $word
    string match -q -- '-*' $word; and continue
    set -l longer (string join -- / $at $word)
    if test $arguments -eq 0; and contains -- $longer {1}
      set at $longer
    else
      set arguments (math $arguments + 1)
    end
  end
  if contains -- "$before" $valued
    __fish_complete_path $current
    return
  end
  switch "$at"
{2}  end
  if string match -q -- '-*' $current
    printf '%s\n' $flags
  else if set -q offered[1]
    printf '%s\n' $offered
  else if set -q study[1]; and test $arguments -eq 0
    vernier study list -o csv --no-headers 2>/dev/null | string replace -r ',.*' ''
  else
    __fish_complete_path $current
  end
end
complete -c vernier -f -a '(__vernier_words)'
)",
      ValuedOptions(entries),
      Paths(entries),
      FishCases(entries));
}

}  // namespace

std::vector<CompletionEntry> CompletionTable(const CLI::App& root) {
  std::vector<CompletionEntry> entries;
  Collect(root, root, "", entries);
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
  CLI::App* command = root.add_subcommand(
      "completion", "Print a shell completion script: source <(vernier completion bash)");
  const auto shell = std::make_shared<std::string>();  // CLI11 writes it, the action reads it.
  command->add_option("SHELL", *shell, "Shell: bash, zsh or fish")->required();
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
