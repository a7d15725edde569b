// Writes the draft as text, not through the YAML writer, since comments, alignment and the order of keys are half of
// its use. Each option is tuned, offered as a comment, fixed in job.args, or left out (guess.h); every guess that may
// be wrong adds a sentence to `to_check`. Values that only the user knows become FIXME, of which `study validate`
// warns.

#include "src/cli/init/draft.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/init/guess.h"
#include "src/cli/init/source_metrics.h"

namespace vernier::cli {
namespace {

using Kind = ProgramOption::Kind;

constexpr char kFixMe[] = "FIXME";
// A choice: a parameter with its comment stays on one line.
constexpr std::size_t kLongestAbout = 60;
// A choice: enough for a first result; the user knows the cost of a trial.
constexpr int kTrials = 30;

// The line of a parameter.
struct Line {
  std::string name;
  std::string domain;
  std::string about;
};

// The part of a parameter's line that makes the program get its option by its own name; empty if the default,
// --NAME=VALUE, does.
std::string ArgumentKey(const ProgramOption& option, const Guess& guess) {
  if (guess.domain.find("flag:") != std::string::npos ||
      guess.domain.find("arg:") != std::string::npos) {
    return "";
  }
  if (option.kind == Kind::kAssignment) {
    return option.name == guess.parameter
               ? ""
               : fmt::format(", arg: {{assignment: {}}}", YamlText(option.name));
  }
  if (option.kind == Kind::kPositional) return ", arg: positional";
  return option.name == "--" + guess.parameter ? "" : ", arg: " + option.name;
}

std::string DefaultKey(const ProgramOption& option, const Guess& guess) {
  if (!guess.takes_default || !option.fallback.has_value()) return "";
  std::string value = *option.fallback;
  if (guess.domain.starts_with("bool")) {
    value = value == "True" || value == "true" ? "true" : "false";
  } else if (guess.domain.starts_with("categorical")) {
    value = YamlText(value);
  }
  return ", default: " + value;
}

std::string Shortened(std::string about) {
  if (about.size() <= kLongestAbout) return about;
  about.resize(about.rfind(' ', kLongestAbout) == std::string::npos
                   ? kLongestAbout
                   : about.rfind(' ', kLongestAbout));
  // Bytes that are not ASCII go as a whole, so that no character is cut in two.
  while (!about.empty() && static_cast<unsigned char>(about.back()) >= 0x80) about.pop_back();
  return about + " ...";
}

// The words that give the option this value.
std::vector<std::string> Given(const ProgramOption& option, const std::string& value) {
  if (option.kind == Kind::kPositional) return {value};
  // Some programs would take "-b=3" for the value "=3".
  if (option.name.starts_with("-") && option.name.size() == 2) return {option.name, value};
  return {fmt::format("{}={}", option.name, value)};
}

// Whether the user's own command gives this option.
bool IsSettled(const ProgramOption& option, const std::vector<std::string>& command) {
  return std::ranges::any_of(command, [&](const std::string& word) {
    return word == option.name || word.starts_with(option.name + "=") ||
           (!option.negative.empty() && word == option.negative);
  });
}

// Whether words follow the program that are not options: then positional arguments are given already.
bool HasOwnWords(const std::vector<std::string>& command) {
  const auto is_program = [](const std::string& word) { return word.ends_with(".py"); };
  const auto program = std::ranges::find_if(command, is_program);
  // Without a script, the first word is the program.
  const auto rest = program == command.end() ? command.begin() + 1 : program + 1;
  return std::any_of(rest, command.end(), [](const std::string& word) {
    return !word.empty() && word.front() != '-';
  });
}

class Drafter {
 public:
  explicit Drafter(const DraftInput& input) : input_(input) {}

  Draft Make() {
    for (const ProgramOption& option : input_.help.options) Sort(option);
    if (tuned_.empty()) {  // Better to tune numbers of unknown meaning than nothing.
      tuned_ = std::exchange(offered_, {});
      draft_.tuned = std::exchange(draft_.offered, {});
      if (!tuned_.empty()) {
        draft_.to_check.push_back("no name is known as a hyperparameter; every number is tuned");
      }
    }
    draft_.yaml = Text();
    return std::move(draft_);
  }

 private:
  // Whether the option is a group of hydra's configurations: its choice determines which keys exist.
  bool HasKeysBelow(const ProgramOption& group) const {
    return group.kind == Kind::kAssignment &&
           std::ranges::any_of(input_.help.options, [&](const ProgramOption& other) {
             return other.name.starts_with(group.name + ".");
           });
  }

  void Sort(const ProgramOption& option) {
    if (IsSettled(option, input_.command)) return;
    if (HasKeysBelow(option)) {
      draft_.left_out.push_back(option.name);
      draft_.to_check.push_back(
          fmt::format("{} is a group of configurations: to tune it, say with "
                      "`when` which keys go with which",
                      option.name));
      return;
    }
    if (option.kind == Kind::kPositional && HasOwnWords(input_.command)) return;
    const Guess guess = GuessFor(option);
    const bool is_new = names_.insert(guess.parameter).second;
    // Of two options with the same parameter, the second is left out.
    switch (is_new ? guess.kind : Guess::Kind::kLeaveOut) {
      case Guess::Kind::kTune:
        tuned_.push_back(LineOf(option, guess));
        draft_.tuned.push_back(guess.parameter);
        return;
      case Guess::Kind::kOffer:
        // A comment does not give the program what it requires.
        if (option.is_required) break;
        offered_.push_back(LineOf(option, guess));
        draft_.offered.push_back(guess.parameter);
        return;
      case Guess::Kind::kFix:
        Fix(option);
        return;
      case Guess::Kind::kLeaveOut:
        break;
    }
    LeaveOut(option);
  }

  Line LineOf(const ProgramOption& option, const Guess& guess) const {
    return {.name = guess.parameter,
            .domain = guess.domain + DefaultKey(option, guess) + ArgumentKey(option, guess),
            .about = Shortened(option.about)};
  }

  void AddArguments(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      arguments_.push_back(YamlText(word));
    }
  }

  void Fix(const ProgramOption& option) {
    if (!option.fallback.has_value() && !option.is_required) {
      draft_.left_out.push_back(option.name);
      draft_.to_check.push_back(
          fmt::format("{} says how long a trial takes: set it in job.args", option.name));
      return;
    }
    const std::vector<std::string> words = Given(option, option.fallback.value_or(kFixMe));
    AddArguments(words);
    draft_.fixed.push_back(fmt::format("{}", fmt::join(words, " ")));
    if (!option.fallback.has_value()) AskFor(option);
  }

  void LeaveOut(const ProgramOption& option) {
    const bool is_help =
        option.name == "--help" || option.name == "-h" || option.name == "--version";
    if (is_help) return;
    if (!option.is_required) {
      draft_.left_out.push_back(option.name);
      if (!option.obstacle.empty()) {
        draft_.to_check.push_back(fmt::format("{} {}", option.name, option.obstacle));
      }
      return;
    }
    AddArguments(Given(option, kFixMe));
    draft_.fixed.push_back(option.name);
    AskFor(option);
  }

  void AskFor(const ProgramOption& option) {
    draft_.to_check.push_back(
        fmt::format("{} is required: write its value in place of {}", option.name, kFixMe));
  }

  std::string Objective() {
    if (input_.metrics.empty()) {
      draft_.to_check.push_back(
          "objective: no metric was found in the "
          "program; name the one that it prints, as in "
          "val_loss=0.31");
      return "objective: {minimize: loss}  # a guess: nothing was found in the program";
    }
    const SourceMetric& metric = input_.metrics.front();
    const char* const goal = IsMaximized(metric.name) ? "maximize" : "minimize";
    draft_.to_check.push_back(fmt::format("objective: {} {}, which the program seems to {}",
                                          goal,
                                          metric.name,
                                          metric.entry.starts_with("{tfevents")
                                              ? "write to event files"
                                          : metric.caveat.empty() ? "print"
                                                                  : "log"));
    if (!metric.caveat.empty()) draft_.to_check.push_back(metric.caveat);
    const std::string name = YamlText(metric.name);
    const std::string entry =
        metric.entry.empty() ? "" : fmt::format("\nmetrics: {{{}: {}}}", name, metric.entry);
    return fmt::format("objective: {{{}: {}}}{}", goal, name, entry);
  }

  std::string Parameters() const {
    std::size_t width = 0;
    for (const auto* lines : {&tuned_, &offered_}) {
      for (const Line& line : *lines) width = std::max(width, YamlText(line.name).size());
    }
    std::string text = "parameters:\n";
    const auto add = [&](const char* start, const Line& line) {
      text += fmt::format("{}{:<{}} {{{}}}{}\n",
                          start,
                          YamlText(line.name) + ":",
                          width + 1,
                          line.domain,
                          line.about.empty() ? "" : "  # " + line.about);
    };
    for (const Line& line : tuned_) add("  ", line);
    if (!offered_.empty())
      text += "  # Other numbers that it takes; take the # away to tune one.\n";
    for (const Line& line : offered_) add("  # ", line);
    return text;
  }

  std::string Job() const {
    std::vector<std::string> command;
    for (const std::string& word : input_.command) command.push_back(YamlText(word));
    std::string text = fmt::format("job:\n  command: [{}]\n", fmt::join(command, ", "));
    if (!arguments_.empty()) {
      text += fmt::format("  args: [{}]  # the same in every trial\n", fmt::join(arguments_, ", "));
    }
    if (input_.help.library == "hydra") text += "  arguments: assignment  # lr=0.1\n";
    if (!input_.working_directory.empty()) {
      text += fmt::format("  working_dir: {}\n", YamlText(input_.working_directory));
    }
    return text;
  }

  std::string Text() {
    return fmt::format(
        "# Drafted by `vernier init`: check the objective and the ranges.\n"
        "study: {}\n{}\n{}budget: {{trials: {}}}\n{}",
        input_.study,
        Objective(),
        Parameters(),
        kTrials,
        Job());
  }

  const DraftInput& input_;
  Draft draft_;
  std::set<std::string> names_;
  std::vector<Line> tuned_;
  std::vector<Line> offered_;
  std::vector<std::string> arguments_;
};

}  // namespace

Draft MakeDraft(const DraftInput& input) { return Drafter(input).Make(); }

}  // namespace vernier::cli
