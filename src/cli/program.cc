#include "src/cli/program.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/check.h"
#include "src/cli/commands.h"
#include "src/cli/hint.h"
#include "src/core/nearest.h"

namespace vernier::cli {
namespace {

// The command that was being parsed: "vernier study create".
const CLI::App& DeepestParsed(const CLI::App& root, std::string& path) {
  path = root.get_name();
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  return *command;
}

std::vector<std::string> KnownWords(const CLI::App& command, bool options) {
  std::vector<std::string> words;
  if (!options) {
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
      words.push_back(sub->get_name());
    }
    return words;
  }
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      if (app != &command && option == app->get_help_ptr()) continue;  // The command has its own.
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  }
  return words;
}

// CLI11's messages in our words: one line, lower case, no full stop.
std::string Sentence(const CLI::ParseError& error, const CLI::App& command) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    const std::vector<std::string> rest = app->remaining();
    if (rest.empty()) continue;
    const bool is_option = rest.front().starts_with('-');
    const std::vector<std::string> known = KnownWords(command, is_option);
    return fmt::format("unknown {} '{}'{}",
                       is_option       ? "option"
                       : known.empty() ? "argument"
                                       : "command",
                       rest.front(),
                       known.empty() ? "" : NearestHint(rest.front(), known));
  }
  const std::vector<std::string> known = KnownWords(command, false);
  if (!known.empty()) return "a command is missing" + NearestHint("", known);
  std::string sentence = error.what();
  sentence = sentence.substr(0, sentence.find('\n'));
  const bool is_word =
      sentence.size() > 1 && std::isupper(sentence[0]) && std::islower(sentence[1]);
  if (is_word) sentence[0] = static_cast<char>(std::tolower(sentence[0]));
  return sentence;
}

ExitCode ReportUsage(const CLI::ParseError& error, const CLI::App& root, std::ostream& err) {
  std::string path;
  const CLI::App& command = DeepestParsed(root, path);
  err << fmt::format(
      "vernier: {}\n  `{} --help` shows what it takes\n", Sentence(error, command), path);
  return ExitCode::kUsage;
}

ExitCode ReportError(const absl::Status& status, std::ostream& err) {
  err << fmt::format("vernier: {}\n", std::string(status.message()));
  const std::string hint = HintOf(status);
  if (!hint.empty()) err << fmt::format("  {}\n", hint);
  return ExitCodeOf(status);
}

bool WantsColor(const GlobalFlags& flags, const Terminal& terminal) {
  if (flags.color == "always") return true;
  return flags.color == "auto" && terminal.is_terminal && !terminal.no_color;
}

// Nothing if the command line can be run; else how the program is to end.
std::optional<ExitCode> Parse(CLI::App& root,
                              std::vector<std::string> args,
                              std::ostream& out,
                              std::ostream& err) {
  // CLI11 takes arguments last first, and throws; neither leaves this function.
  std::reverse(args.begin(), args.end());
  try {
    root.parse(std::move(args));
    return std::nullopt;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
  } catch (const CLI::Success& help) {
    root.exit(help, out, err);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(error, root, err);
  }
  return ExitCode::kOk;
}

void AddGlobalOptions(CLI::App& root, GlobalFlags& flags) {
  root.set_version_flag("--version", std::string("vernier 0.1.0"));
  root.add_option(
      "--store", flags.store, "SQLite file of the studies; default: $VERNIER_STORE, or your own");
  root.add_option("--server", flags.server, "gRPC address of a server; default: $VERNIER_SERVER")
      ->envname("VERNIER_SERVER");
  root.add_option("-o,--output", flags.output, "table, json, jsonl, csv or yaml")
      ->check(OneOf({"table", "json", "jsonl", "csv", "yaml"}));
  root.add_flag("--no-headers", flags.no_headers, "No names above columns of tables and CSV");
  root.add_option("--color", flags.color, "auto, always or never; $NO_COLOR is honoured")
      ->check(OneOf({"auto", "always", "never"}));
}

}  // namespace

void BuildCommandLine(CLI::App& root, GlobalFlags& flags, Action& chosen) {
  root.name("vernier");
  root.description("Tunes hyperparameters: studies, their trials, and the programs that try them.");
  root.footer(std::string(ExitCodeHelp()));
  root.require_subcommand(1);
  root.fallthrough();  // Inherited: global options may stand after the command.
  AddGlobalOptions(root, flags);
  AddRun(root, chosen);
  AddCheck(root, chosen);
  AddStudyCommands(root, chosen);
  AddTrialCommands(root, chosen);
  AddPlot(root, chosen);
  AddAskTell(root, chosen);
  AddReport(root, chosen);
  AddJobCommands(root, chosen);
  AddLocalCommands(root, chosen);
  AddServerCommands(root, chosen);
  AddMetricsCommands(root, chosen);
  AddNodeCommands(root, chosen);
  AddQueueCommands(root, chosen);
  AddDoctor(root, chosen);
  AddCompletion(root, chosen);
}

void AddStudyCommands(CLI::App& root, Action& chosen) {
  CLI::App* study = root.add_subcommand("study", "Studies: create, look, steer, export");
  study->require_subcommand(1);
  for (auto* add : {&AddStudyCreate,
                    &AddStudyValidate,
                    &AddStudyList,
                    &AddStudyShow,
                    &AddStudyBest,
                    &AddStudyWatch,
                    &AddStudyWait,
                    &AddStudyPause,
                    &AddStudyResume,
                    &AddStudyStop,
                    &AddStudyFinish,
                    &AddStudyAmend,
                    &AddStudyDelete,
                    &AddStudyPredict,
                    &AddStudyExport,
                    &AddStudyReplay}) {
    add(*study, chosen);
  }
}

void AddTrialCommands(CLI::App& root, Action& chosen) {
  CLI::App* trial = root.add_subcommand("trial", "Trials of a study: look, explain, steer");
  trial->require_subcommand(1);
  for (auto* add : {&AddTrialList,
                    &AddTrialShow,
                    &AddTrialLogs,
                    &AddTrialMetrics,
                    &AddTrialWhy,
                    &AddTrialStop,
                    &AddTrialDelete,
                    &AddTrialAdd,
                    &AddTrialRepeat}) {
    add(*trial, chosen);
  }
}

namespace {

// Takes off what stands after "--" of a command that passes it on to a training program.
std::vector<std::string> TakeUserArgs(std::vector<std::string>& args) {
  const auto end = std::ranges::find(args, "--");
  const std::vector<std::string> submit = {"submit", "training"};
  const std::vector<std::string> train = {"local", "train"};
  const bool passes_on = std::search(args.begin(), end, submit.begin(), submit.end()) != end ||
                         std::search(args.begin(), end, train.begin(), train.end()) != end;
  if (end == args.end() || !passes_on) return {};
  std::vector<std::string> user_args(end + 1, args.end());
  args.erase(end, args.end());
  return user_args;
}

}  // namespace

ExitCode RunProgram(std::vector<std::string> args,
                    const Terminal& terminal,
                    const Clock& clock,
                    std::ostream& out,
                    std::ostream& err) {
  CLI::App root;
  GlobalFlags flags;
  Action chosen;
  BuildCommandLine(root, flags, chosen);
  flags.user_args = TakeUserArgs(args);
  if (const auto end = Parse(root, std::move(args), out, err)) return *end;
  Console console = {.out = out,
                     .err = err,
                     .is_terminal = terminal.is_terminal,
                     .width = terminal.width,
                     .height = terminal.height,
                     .color = WantsColor(flags, terminal),
                     .unicode = terminal.unicode};
  Context context(console, flags, clock);
  const absl::StatusOr<ExitCode> code = chosen(context);
  return code.ok() ? *code : ReportError(code.status(), err);
}

}  // namespace vernier::cli
