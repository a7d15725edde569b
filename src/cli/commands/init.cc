// `vernier init` drafts a study file from a program's --help, and from its Python source where the help is silent. The
// program is run with --help only; one that ignores it may start to train, so it is ended after kHelpPatience.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/program_output.h"
#include "src/base/open_file.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/init/draft.h"
#include "src/cli/init/source_metrics.h"
#include "src/cli/init/source_text.h"
#include "src/cli/init/words.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/jobs/reproduction.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

// A choice: importing TensorFlow or PyTorch takes a few seconds.
constexpr absl::Duration kHelpPatience = absl::Seconds(10);
// Bytes of a source file that are read.
constexpr std::int64_t kMostSource = std::int64_t{1} << 20;

struct InitArgs {
  std::vector<std::string> program;
  std::string file;
  std::string name;
};

bool IsPython(const std::string& word) { return word.ends_with(".py"); }

std::string Shown(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) quoted.push_back(jobs::ShellQuote(word));
  return fmt::format("{}", fmt::join(quoted, " "));
}

// The command that the user means: a Python file is run by python3, a program of this folder without PATH.
absl::StatusOr<std::vector<std::string>> CommandOf(const InitArgs& args,
                                                   const std::vector<std::string>& user_args) {
  if (args.program.empty() == user_args.empty()) {
    return InvalidArgument(
        "give one program, as in `vernier init train.py` or `vernier init -- python3 train.py`");
  }
  std::vector<std::string> command = args.program.empty() ? user_args : args.program;
  std::error_code error;
  const std::string& first = command.front();
  if (IsPython(first)) {
    if (!fs::exists(first, error)) return NotFound("there is no file '{}'", first);
    command.insert(command.begin(), "python3");
  } else if (first.find('/') == std::string::npos && access(first.c_str(), X_OK) == 0 &&
             fs::is_regular_file(first, error)) {
    command.front() = "./" + first;
  }
  return command;
}

std::string LastLine(std::string_view text) {
  text = Stripped(text);
  const std::size_t start = text.find_last_of('\n');
  return std::string(Stripped(start == std::string_view::npos ? text : text.substr(start + 1)));
}

// The interpreter of a virtual environment beside the program or in this folder; empty: none.
std::string VirtualInterpreter(const std::string& program) {
  std::error_code error;
  for (const fs::path& folder : {fs::path(program).parent_path(), fs::path()}) {
    for (const char* const name : {".venv", "venv"}) {
      std::string python = (folder / name / "bin" / "python").string();
      if (fs::exists(python, error)) return python;
    }
  }
  return "";
}

// Advice if the interpreter lacks a module.
std::string AboutMissingModule(std::vector<std::string> command) {
  const auto program = std::ranges::find_if(command, IsPython);
  const std::string found = VirtualInterpreter(program == command.end() ? std::string() : *program);
  const bool is_other = !found.empty() && command.front() != found;
  command.front() = is_other ? found : ".venv/bin/python";
  return fmt::format("{}: `vernier init -- {}`",
                     is_other ? "there is a virtual environment"
                              : "name the interpreter that has it, such as that of a virtual "
                                "environment",
                     Shown(command));
}

// The program's answer to --help. The variables make it wide, so that entries are not wrapped, without colours and
// without a pager.
absl::StatusOr<HelpText> AskForHelp(const std::vector<std::string>& command) {
  std::vector<std::string> argv = {"env", "COLUMNS=200", "NO_COLOR=1", "TERM=dumb", "PAGER=cat"};
  argv.insert(argv.end(), command.begin(), command.end());
  argv.emplace_back("--help");
  const std::string shown = Shown(command) + " --help";
  const absl::StatusOr<app::ProgramOutput> output = app::RunForOutput(argv, kHelpPatience);
  if (absl::IsDeadlineExceeded(output.status())) {
    return WithHint(DeadlineExceeded("`{}` did not end within {}, and was ended",
                                     shown,
                                     absl::FormatDuration(kHelpPatience)),
                    "a program that does not know --help may have begun to train; write its study "
                    "file by hand: docs/formats/study_file.md");
  }
  VERNIER_RETURN_IF_ERROR(output.status());
  // env(1) ends with 127 if it does not find the program.
  if (output->status == 127) return NotFound("there is no program '{}'", command.front());
  HelpText help = ParseHelp(output->text);
  if (!help.options.empty() || !help.commands.empty()) return help;
  if (output->status != 0) {
    const absl::Status failed = FailedPrecondition(
        "`{}` failed with status {}: {}", shown, output->status, LastLine(output->text));
    const bool lacks_module = LastLine(output->text).starts_with("ModuleNotFoundError");
    return lacks_module ? WithHint(failed, AboutMissingModule(command)) : failed;
  }
  return FailedPrecondition("`{}` names no option: {}",
                            shown,
                            output->text.empty() ? "it printed nothing" : LastLine(output->text));
}

// Python files of the command: those it names, and the module of `-m package.module` below this folder.
std::vector<std::string> SourcesOf(const std::vector<std::string>& command) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (IsPython(command[i])) files.push_back(command[i]);
    if (command[i] == "-m" && i + 1 < command.size()) {
      std::string path = command[i + 1];
      std::ranges::replace(path, '.', '/');
      files.push_back(path + ".py");
    }
  }
  return files;
}

std::string ReadSource(const std::string& path) {
  const base::OpenFile file(path);
  if (file.error() != 0 || !file.kind().empty()) return "";
  return file.ReadAt(0, kMostSource).value_or("");
}

// The text as a valid study name; empty: it has no letter to begin with.
std::string StudyName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (name.empty() && std::isalpha(byte) == 0) continue;
    name += std::isalnum(byte) != 0 || c == '_' || c == '-' ? c : '_';
  }
  return name.substr(0, 100);
}

// Whether the name is too common to identify a study.
bool SaysNothing(std::string_view stem) {
  constexpr std::string_view kUsual[] = {"train", "trainer", "main", "run", "task", "model"};
  return std::ranges::count(kUsual, stem) > 0;
}

// The program's folder, skipping folders that projects commonly use for programs.
std::string FolderName(const std::string& program) {
  std::error_code error;
  fs::path folder = fs::absolute(program, error).lexically_normal().parent_path();
  constexpr std::string_view kUsual[] = {"src", "scripts", "code", "bin"};
  while (std::ranges::count(kUsual, folder.filename().string()) > 0) folder = folder.parent_path();
  return error ? "" : folder.filename().string();
}

// "mnist" of `python3 mnist.py`, and "census" of `python3 train.py` in a folder of that name.
std::string NameOf(const std::vector<std::string>& command) {
  const std::vector<std::string> sources = SourcesOf(command);
  const std::string& program = sources.empty() ? command.front() : sources.back();
  const std::string stem = fs::path(program).stem().string();
  const bool is_file = !sources.empty() || program.find('/') != std::string::npos;
  if (is_file && SaysNothing(stem)) {
    if (std::string name = StudyName(FolderName(program)); !name.empty()) return name;
  }
  const std::string name = StudyName(stem);
  return name.empty() ? "study" : name;
}

// The working directory of trials, if it differs from the file's folder.
std::string WorkingDirectory(const std::string& file) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (file.empty() || error) return "";
  const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  return error || fs::equivalent(folder, here, error) ? "" : here.string();
}

absl::Status WriteNew(const std::string& path, const std::string& text) {
  // "x" fails if the file exists, also if it appeared this moment.
  std::FILE* const file = std::fopen(path.c_str(), "wx");
  if (file == nullptr && errno == EEXIST) {
    return WithHint(AlreadyExists("{}: is there already, and is not overwritten", path),
                    "name another file with -o, or remove this one");
  }
  if (file == nullptr)
    return InvalidArgument("{}: cannot be written: {}", path, std::strerror(errno));
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && is_written) return absl::OkStatus();
  return Unavailable("{}: cannot be written: {}", path, std::strerror(errno));
}

void Tell(std::ostream& err, std::string_view what, const std::vector<std::string>& things) {
  if (!things.empty()) err << fmt::format("{:<10}{}\n", what, fmt::join(things, ", "));
}

absl::StatusOr<ExitCode> Init(Context& context, const InitArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> command,
                           CommandOf(args, context.flags().user_args));
  std::error_code error;
  // Refused before the program is run.
  if (!args.file.empty() && fs::exists(args.file, error)) return WriteNew(args.file, "");
  DraftInput input{.study = args.name.empty() ? NameOf(command) : args.name,
                   .command = command,
                   .working_directory = WorkingDirectory(args.file),
                   .help = {},
                   .metrics = {}};
  VERNIER_ASSIGN_OR_RETURN(input.help, AskForHelp(command));
  for (const std::string& file : SourcesOf(command)) {
    const std::string source = ReadSource(file);
    AddFromSource(source, input.help);
    for (SourceMetric& metric : MetricsIn(source)) input.metrics.push_back(std::move(metric));
  }
  const Draft draft = MakeDraft(input);
  if (draft.tuned.empty() && !input.help.commands.empty()) {
    return InvalidArgument(
        "`{0}` needs a command: give one of {1}, as in `vernier init -- {0} {2}`",
        Shown(command),
        fmt::join(input.help.commands, ", "),
        input.help.commands.front());
  }
  if (draft.tuned.empty()) {
    if (draft.left_out.empty()) {
      return FailedPrecondition("`{} --help` names no options that could be parameters",
                                Shown(command));
    }
    return FailedPrecondition("no option of `{} --help` looks like a hyperparameter, among {}",
                              Shown(command),
                              fmt::join(draft.left_out, ", "));
  }
  // The draft must pass `study validate`.
  if (const absl::Status sound = codec::ParseStudyFile(draft.yaml).status(); !sound.ok()) {
    return InvalidArgument("no sound study file can be drafted: {}", std::string(sound.message()));
  }
  if (args.file.empty()) {
    context.console().out << draft.yaml;
  } else {
    VERNIER_RETURN_IF_ERROR(WriteNew(args.file, draft.yaml));
  }
  std::ostream& err = context.console().err;
  err << fmt::format("guessed from `{} --help`{}\n",
                     Shown(command),
                     input.help.library.empty() ? "" : fmt::format(" ({})", input.help.library));
  Tell(err, "tuned", draft.tuned);
  Tell(err, "offered", draft.offered);
  Tell(err, "fixed", draft.fixed);
  Tell(err, "left out", draft.left_out);
  for (const std::string& sentence : draft.to_check) Tell(err, "check", {sentence});
  const std::string file = args.file.empty() ? "STUDY.yaml" : jobs::ShellQuote(args.file);
  err << fmt::format("{:<10}vernier study validate {}, then vernier run {}\n", "next", file, file);
  return ExitCode::kOk;
}

}  // namespace

void AddInit(CLI::App& root, Action& chosen) {
  auto [command, args] = AddCommand<InitArgs>(
      root, "init", "Draft a study file from the --help of a training program", &Init, chosen);
  command->add_option("PROGRAM",
                      args->program,
                      "Python file or program; write it after -- if it has options of its own");
  command->add_option("-o", args->file, "File to write; default: standard output");
  command->add_option(
      "--name", args->name, "Name of the study; default: the name of the program or of its folder");
}

}  // namespace vernier::cli
