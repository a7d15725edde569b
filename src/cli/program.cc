// From arguments to an exit code. A command line passes four steps: ReadCommandLine rewrites one written for gcloud,
// TakeUserArgs removes what follows "--", CLI11 parses the rest and stores an action, and the action runs. Actions run
// after parsing, not in CLI11's callbacks, since callbacks run inside the parser and could only report by exceptions.
// Every error ends in ReportError, so that all have one form: a sentence, then a hint.

#include "src/cli/program.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/usage.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/check.h"
#include "src/cli/commands/commands.h"
#include "src/cli/gcloud_command_line.h"
#include "src/cli/hint.h"
#include "src/cli/terminal/text.h"
#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

// How an error line begins. Scripts written for gcloud match its prefix: "ERROR: (gcloud.ai-platform.jobs.describe) …".
std::string ErrorPrefix(const CommandLine& line) {
  return line.gcloud_command.empty() ? "vernier:" : fmt::format("ERROR: ({})", line.gcloud_command);
}

// Messages name what files and arguments hold. Lines stay lines.
std::string Disarmed(std::string_view text) {
  return fmt::format("{}", fmt::join(PrintableLines(text), "\n"));
}

ExitCode ReportUsage(const CLI::ParseError& error,
                     const CLI::App& root,
                     const CommandLine& line,
                     std::ostream& err) {
  const app::UsageError usage = app::ExplainUsage(error, root);
  err << fmt::format(
      "{} {}\n  {}\n", ErrorPrefix(line), Disarmed(usage.sentence), Disarmed(usage.hint));
  return ExitCode::kUsage;
}

// gcloud has two failure codes: 2 for a wrong command line, 1 for all else.
ExitCode ExitCodeIn(const CommandLine& line, const absl::Status& status) {
  const ExitCode code = ExitCodeOf(status);
  const bool is_own = line.gcloud_command.empty() || code == ExitCode::kInterrupted;
  return is_own || status.code() == absl::StatusCode::kInvalidArgument ? code : ExitCode::kFailed;
}

ExitCode ReportError(const absl::Status& status, const CommandLine& line, std::ostream& err) {
  err << fmt::format("{} {}\n", ErrorPrefix(line), Disarmed(std::string(status.message())));
  const std::string hint = Disarmed(HintOf(status));
  if (!hint.empty()) err << fmt::format("  {}\n", hint);
  return ExitCodeIn(line, status);
}

bool WantsColor(const GlobalFlags& flags, const Terminal& terminal) {
  if (flags.color == "always") return true;
  return flags.color == "auto" && terminal.is_terminal && !terminal.no_color;
}

// The exit code of a command line that ends here (help, version, error); nothing if the command can run.
std::optional<ExitCode> ParseCommandLine(CLI::App& root,
                                         const CommandLine& line,
                                         std::ostream& out,
                                         std::ostream& err) {
  try {  // CLI11 throws, which does not leave this function.
    app::Parse(root, line.args);
    return std::nullopt;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
  } catch (const CLI::Success& help) {
    root.exit(help, out, err);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(error, root, line, err);
  }
  return ExitCode::kOk;
}

void AddGlobalOptions(CLI::App& root, GlobalFlags& flags) {
  root.set_version_flag("--version", std::string("vernier 0.1.0"), "Print the version");
  root.add_option("--store",
                  flags.store,
                  "File that holds the studies (default: $VERNIER_STORE, else "
                  "~/.local/state/vernier/vernier.db)")
      ->check(app::AFile())
      ->option_text("FILE");
  root.add_option("--server",
                  flags.server,
                  "Address of a running server: HOST:PORT or unix:PATH (default, without --store: "
                  "$VERNIER_SERVER; else the process that has the store open)")
      ->envname("VERNIER_SERVER")
      ->option_text("ADDRESS");
  root.add_option("-o,--output",
                  flags.output,
                  "Output format: table, wide (all columns, nothing cut), json, jsonl, csv or yaml "
                  "(default: table)")
      ->check(OneOf({"table", "wide", "json", "jsonl", "csv", "yaml"}))
      ->option_text("FORMAT");
  root.add_flag("--no-headers", flags.no_headers, "Leave out the column names of tables and CSV");
  root.add_option("--color",
                  flags.color,
                  "Colour: auto (on a terminal, unless $NO_COLOR is set), always or never")
      ->check(OneOf({"auto", "always", "never"}))
      ->option_text("WHEN");
}

constexpr char kGcloudTopic[] = "gcloud";
constexpr char kStudyFileTopic[] = "study-file";
constexpr char kStudyFileHelp[] =
    R"(A study file says what to tune and how to run it, in YAML or JSON:

  study: digits
  objective: {maximize: accuracy}
  parameters:
    lr:        {float: [1e-5, 0.1], scale: log}
    width:     {int: [16, 256]}
    batch:     {discrete: [16, 32, 64]}
    optimizer: {categorical: [sgd, adam]}
  budget: {trials: 20, time: 2h}
  parallel: 2
  job:
    command: [python3, train.py, --epochs, "5"]
    env: {OMP_NUM_THREADS: "2"}
    replicas: {chief: {gpus: 1, cpus: 4, memory: 8GiB}}

Other keys: labels, constraints, outcome_constraints, algorithm, warm_start, stopping, convergence, seed, metrics, lease.
All keys with their values: docs/formats/study_file.md, installed in /usr/share/doc/vernier.
`vernier init train.py` drafts a file, `vernier study validate FILE` checks one.
)";

// Help for the command or topic that `words` name.
absl::StatusOr<std::string> HelpOn(const CLI::App& root, const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{kStudyFileTopic}) return std::string(kStudyFileHelp);
  if (words == std::vector<std::string>{kGcloudTopic}) return GcloudHelp();
  const CLI::App* command = &root;
  std::string before;  // The words in front of the command's own.
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* found = nullptr;
    // The filter makes CLI11 return all subcommands, not only parsed ones.
    for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(sub->get_name());
      if (sub->get_name() == word) found = sub;
    }
    before += (before.empty() ? "" : " ") + command->get_name();
    if (found == nullptr) {
      return InvalidArgument("'{}' has no command '{}'{}",
                             before,
                             word,
                             known.empty() ? "" : NearestHint(word, known));
    }
    command = found;
  }
  return command->help(before);
}

void AddHelp(CLI::App& root, Action& chosen) {
  CLI::App* help = root.add_subcommand(
      "help",
      "Explain a command, the study file, or the commands of gcloud: `vernier help trial list`, "
      "`vernier help study-file`, `vernier help gcloud`");
  help->fallthrough(false);  // Otherwise CLI11 would take "trial" for the command of that name.
  const auto words = std::make_shared<std::vector<std::string>>();  // CLI11 writes to it.
  help->add_option("COMMAND", *words, "The command, e.g. trial list; or study-file, or gcloud")
      ->expected(0, 8);
  help->callback([words, &root, &chosen] {
    chosen = [words, &root](Context& context) -> absl::StatusOr<ExitCode> {
      VERNIER_ASSIGN_OR_RETURN(const std::string text, HelpOn(root, *words));
      context.console().out << text;
      return ExitCode::kOk;
    };
  });
}

}  // namespace

void BuildCommandLine(CLI::App& root, GlobalFlags& flags, Action& chosen) {
  root.name("vernier");
  root.description(
      "Tune hyperparameters: search for the best parameters of a training program, and run the "
      "program for each candidate.");
  root.formatter(app::NewHelpFormatter(
      "Options of every command: -o, --store, --server, --no-headers, --color; see `vernier "
      "--help`."));
  root.set_help_flag("-h,--help", "Print this help");
  root.footer(std::string(ExitCodeHelp()));
  root.require_subcommand(1);
  root.fallthrough();  // Subcommands inherit it: global options may follow the command.
  AddGlobalOptions(root, flags);
  AddRun(root, chosen);
  AddInit(root, chosen);
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
  AddHelp(root, chosen);
  AddCompletion(root, chosen);
}

void AddStudyCommands(CLI::App& root, Action& chosen) {
  CLI::App* study = root.add_subcommand("study", "Create, inspect and control studies");
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
                    &AddStudyImport,
                    &AddStudyExport,
                    &AddStudyReplay,
                    &AddStudyReport,
                    &AddStudyStoppingReport}) {
    add(*study, chosen);
  }
}

void AddTrialCommands(CLI::App& root, Action& chosen) {
  CLI::App* trial =
      root.add_subcommand("trial", "Inspect, explain and control the trials of a study");
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

// Removes and returns the words after "--", for commands that pass them to a training program. CLI11 would bind them to
// positional arguments of the command. In other commands "--" keeps its usual meaning.
std::vector<std::string> TakeUserArgs(std::vector<std::string>& args) {
  const auto end = std::ranges::find(args, "--");
  const std::vector<std::string> submit = {"submit", "training"};
  const std::vector<std::string> train = {"local", "train"};
  const bool passes_on = std::find(args.begin(), end, "init") != end ||
                         std::search(args.begin(), end, submit.begin(), submit.end()) != end ||
                         std::search(args.begin(), end, train.begin(), train.end()) != end;
  if (end == args.end() || !passes_on) return {};
  std::vector<std::string> user_args(end + 1, args.end());
  args.erase(end, args.end());
  return user_args;
}

// A store that is named on the command line goes before the server that the environment names.
absl::Status ChooseStoreOrServer(const std::vector<std::string>& args, GlobalFlags& flags) {
  if (flags.store.empty() || flags.server.empty()) return absl::OkStatus();
  const bool is_named = std::ranges::any_of(args, [](const std::string& word) {
    return word == "--server" || word.starts_with("--server=");
  });
  if (is_named) {
    return absl::InvalidArgumentError(
        "--server: a server has its own store; leave out --store, or --server");
  }
  flags.server.clear();
  return absl::OkStatus();
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
  absl::StatusOr<CommandLine> line = ReadCommandLine(std::move(args));
  if (!line.ok()) return ReportError(line.status(), {}, err);
  flags.user_args = TakeUserArgs(line->args);
  if (const auto end = ParseCommandLine(root, *line, out, err)) return *end;
  const absl::Status choice = ChooseStoreOrServer(line->args, flags);
  if (!choice.ok()) return ReportError(choice, *line, err);
  Console console = {.out = out,
                     .err = err,
                     .is_terminal = terminal.is_terminal,
                     .width = terminal.width,
                     .height = terminal.height,
                     .color = WantsColor(flags, terminal),
                     .unicode = terminal.unicode};
  Context context(console, flags, clock);
  const absl::StatusOr<ExitCode> code = chosen(context);
  if (!code.ok()) return ReportError(code.status(), *line, err);
  // A full disk shows at the latest here, where what is left is written. Another failure says more.
  if (out.flush() || *code != ExitCode::kOk) return *code;
  err << "vernier: standard output could not be written in full\n";
  return ExitCode::kFailed;
}

}  // namespace vernier::cli
