// Warnings are about definitions that are valid and do something, but probably not what the user meant; a certain
// mistake is an error of the validator instead. Each warning names the field, quotes what is there, and says what to
// write. Checks that look at files run only if the study runs on this host.

#include "src/cli/job_warnings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/app/paths.h"
#include "src/base/files.h"
#include "src/base/open_file.h"
#include "src/core/nearest.h"
#include "src/jobs/environment.h"
#include "src/jobs/package_path.h"
#include "src/jobs/placeholders.h"
#include "src/jobs/replica_command.h"
#include "src/jobs/secret_file.h"
#include "vernier/core/limits.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A list of words in the file, and its field.
struct WordList {
  std::string field;
  const Words* words;
  bool is_command = false;  // The first word is the program.
};

std::string ReplicaField(Role role, const TrainingJob& job) {
  return fmt::format("job.replicas.{}", RoleName(role, job));
}

std::vector<WordList> WordLists(const TrainingJob& job) {
  std::vector<WordList> lines = {{"job.command", &job.command, true}, {"job.args", &job.args}};
  for (const auto& [role, replica] : job.replicas) {
    const std::string field = ReplicaField(role, job);
    lines.push_back({field + ".command", &replica.command, true});
    lines.push_back({field + ".args", &replica.args});
  }
  return lines;
}

// The values of `env`, each with its field.
std::vector<std::pair<std::string, std::string>> VariablesIn(const TrainingJob& job) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [name, value] : job.env) variables.emplace_back("job.env." + name, value);
  for (const auto& [role, replica] : job.replicas) {
    for (const auto& [name, value] : replica.env) {
      variables.emplace_back(fmt::format("{}.env.{}", ReplicaField(role, job), name), value);
    }
  }
  return variables;
}

// Whether the text has no placeholder.
bool IsPlain(std::string_view text) { return text.find('{') == std::string_view::npos; }

// Names in braces that are no placeholder. They are passed unchanged, so a misspelt name is no error.
void AddUnknownNames(const StudySpec& spec, std::vector<std::string>& warnings) {
  // There braces are passed on byte for byte, and mean nothing to Vernier.
  if (!jobs::HasPlaceholders(spec)) return;
  std::vector<std::string> known = {jobs::kTrialNumber, jobs::kJobDirectory, jobs::kParametersFile};
  for (const Parameter& parameter : spec.space.parameters()) known.push_back(parameter.name);
  std::set<std::string> said;
  const auto look = [&](const std::string& field, const std::string& text) {
    for (const std::string& name : jobs::PlaceholderNames(text)) {
      if (jobs::IsPlaceholder(name, spec) || !said.insert(name).second) continue;
      const bool lacks_directory = name == jobs::kJobDirectory;
      warnings.push_back(
          fmt::format("{}: '{{{}}}' is passed as it is: {}",
                      field,
                      name,
                      lacks_directory ? std::string("the job has no `dir`")
                                      : "no parameter has that name" + NearestHint(name, known)));
    }
  };
  for (const WordList& line : WordLists(*spec.job)) {
    for (const std::string& word : *line.words) look(line.field, word);
  }
  for (const auto& [field, value] : VariablesIn(*spec.job)) look(field, value);
}

// A placeholder that makes up a whole word is dropped if its parameter is inactive, but the option before it stays, now
// without a value.
void AddLonelyOptions(const StudySpec& spec, std::vector<std::string>& warnings) {
  std::set<std::string> conditional;
  for (const Parameter& parameter : spec.space.parameters()) {
    if (!parameter.when.empty()) conditional.insert(parameter.name);
  }
  for (const WordList& line : WordLists(*spec.job)) {
    const Words& words = *line.words;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::string& option = words[i - 1];
      const bool is_option =
          option.starts_with('-') && IsPlain(option) && option.find('=') == std::string::npos;
      const bool is_placeholder = word.starts_with('{') && word.ends_with('}');
      if (!is_option || !is_placeholder) continue;
      const std::string name = word.substr(1, word.size() - 2);
      if (!conditional.contains(name)) continue;
      warnings.push_back(fmt::format(
          "{0}: where {1} is inactive, '{2}' is passed without a value; write '{2}={{{1}}}' as one "
          "word",
          line.field,
          name,
          option));
    }
  }
}

// Only whole words: inside a word these characters are common in patterns and URLs.
bool IsShellSyntax(std::string_view word) {
  constexpr std::array<std::string_view, 11> kSyntax = {
      "&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1", "&>"};
  return std::ranges::find(kSyntax, word) != kSyntax.end();
}

// Whether the word is `NAME=value`: as the first word of a command, a shell would put it into the environment.
bool IsAssignment(std::string_view word) {
  const std::size_t end = word.find('=');
  if (end == std::string_view::npos || end == 0) return false;
  const auto is_part = [](char c) {
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return std::ranges::all_of(word.substr(0, end), is_part) && (word[0] < '0' || word[0] > '9');
}

void AddShellSyntax(const TrainingJob& job, std::vector<std::string>& warnings) {
  for (const WordList& line : WordLists(job)) {
    const Words& words = *line.words;
    const auto syntax = std::ranges::find_if(words, IsShellSyntax);
    if (syntax != words.end()) {
      warnings.push_back(
          fmt::format("{}: '{}' is passed to the program, since no shell runs the command; write "
                      "`command: [sh, -c, '…']` if a shell is wanted",
                      line.field,
                      *syntax));
    }
    if (!line.is_command || words.empty() || !IsAssignment(words.front())) continue;
    const std::string& word = words.front();
    const std::size_t end = word.find('=');
    warnings.push_back(
        fmt::format("{}: '{}' is taken for the program, since no shell runs the command; write "
                    "`env: {{{}: \"{}\"}}` and the command without it",
                    line.field,
                    word,
                    word.substr(0, end),
                    word.substr(end + 1)));
  }
}

void AddOpenValues(const TrainingJob& job, std::vector<std::string>& warnings) {
  // What a draft of `vernier init` puts in place of required values.
  constexpr std::string_view kOpen = "FIXME";
  const auto add = [&](const std::string& field, const std::string& text) {
    if (text.find(kOpen) == std::string::npos) return;
    warnings.push_back(fmt::format("{}: '{}': write the value in place of {}", field, text, kOpen));
  };
  for (const WordList& line : WordLists(job)) {
    const Words& words = *line.words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool follows_option = i > 0 && words[i - 1].starts_with('-');
      add(line.field, follows_option ? words[i - 1] + " " + words[i] : words[i]);
    }
  }
  for (const auto& [field, value] : VariablesIn(job)) add(field, value);
}

// The variables that Vernier sets for a replica of the role. Values that are known only at the start are empty.
std::map<std::string, std::string> VariablesOf(const StudySpec& spec, Role role) {
  const TrainingJob& job = *spec.job;
  Placement placement = {{.role = job.primary_name}};
  const bool is_primary = role == Role::kPrimary;
  if (!is_primary) placement.push_back({.role = std::string(RoleName(role, job))});
  if (job.replicas.at(role).resources.gpus > 0) placement.back().gpus = {"0"};
  std::map<std::string, std::string> variables =
      jobs::ServiceVariables(AttemptId{}, spec, Point{}, placement, placement.size() - 1, "");
  // Set outside of src/jobs: access of reporting programs, and their folder.
  for (const char* const name :
       {"VERNIER_ADDRESS", "VERNIER_TRIAL_NAME", "VERNIER_TOKEN", "VERNIER_REPLICA_DIRECTORY"}) {
    variables[name];
  }
  return variables;
}

// What to do instead of setting the variable.
std::string InsteadOf(std::string_view variable, const TrainingJob& job) {
  if (variable == "CUDA_VISIBLE_DEVICES" || variable == "CUDA_DEVICE_ORDER") {
    return fmt::format(
        "ask for devices with `replicas: {{{}: {{gpus: 1}}}}`; `vernier run --gpu ID` chooses "
        "those that trials may use",
        job.primary_name);
  }
  if (variable == "WORLD_SIZE" || variable == "RANK") {
    return "`replicas: {worker: 2}` sets the number of processes";
  }
  return "give a variable of your own another name";
}

void AddOverwrittenVariables(const StudySpec& spec, std::vector<std::string>& warnings) {
  const TrainingJob& job = *spec.job;
  if (job.input.has_value()) return;
  std::set<std::string> said;
  for (const auto& [role, replica] : job.replicas) {
    const std::map<std::string, std::string> set = VariablesOf(spec, role);
    const auto look =
        [&](const std::string& field, const std::string& name, const std::string* value) {
          const auto own = set.find(name);
          if (own == set.end() || (value != nullptr && own->second == *value)) return;
          if (!said.insert(field + name).second) return;
          warnings.push_back(
              fmt::format("{}.{}: has no effect, since Vernier sets this variable itself; {}",
                          field,
                          name,
                          InsteadOf(name, job)));
        };
    const auto look_at_all = [&](const std::string& field, const auto& env, const auto& secrets) {
      for (const auto& [name, value] : env) look(field, name, &value);
      for (const auto& [name, secret] : secrets) look(field, name, nullptr);
    };
    look_at_all("job.env", job.env, job.secrets);
    look_at_all(ReplicaField(role, job) + ".env", replica.env, replica.secrets);
  }
}

// By the end of the variable's name and a value that is plain text of some length. Short values are switches, and
// values with slashes, tildes or blanks are paths or sentences.
bool LooksLikeASecret(std::string_view field, std::string_view value) {
  constexpr std::array<std::string_view, 8> kEnds = {"API_KEY",
                                                     "ACCESS_KEY",
                                                     "SECRET_KEY",
                                                     "PRIVATE_KEY",
                                                     "TOKEN",
                                                     "SECRET",
                                                     "PASSWORD",
                                                     "PASSWD"};
  // A choice: keys and tokens of common services are longer.
  constexpr std::size_t kLeast = 12;
  if (value.size() < kLeast || !IsPlain(value)) return false;
  if (value.find_first_of("/~ ") != std::string_view::npos) return false;
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return field.ends_with(end); });
}

void AddReadableSecrets(const TrainingJob& job, std::vector<std::string>& warnings) {
  for (const auto& [field, value] : VariablesIn(job)) {
    if (!LooksLikeASecret(field, value)) continue;
    warnings.push_back(
        fmt::format("{}: looks like a secret, and is stored and exported as it stands here; write "
                    "`{{from_file: PATH}}` or `{{secret: NAME}}` in its place",
                    field));
  }
}

bool IsProgramOnPath(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path path = fs::path(rest.substr(0, end)) / name;
    if (access(path.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// The program or script that does not exist; empty: none, as far as can be told. A job with its own PATH, or whose
// program is a placeholder, cannot be judged.
std::string MissingPart(const std::vector<std::string>& command,
                        const std::string& directory,
                        bool has_own_path) {
  if (command.empty() || !IsPlain(command.front())) return "";
  const std::string& program = command.front();
  if (IsAssignment(program)) return "";  // AddShellSyntax has warned of it.
  std::error_code error;
  if (program.find('/') != std::string::npos) {
    const fs::path path = fs::path(directory) / program;
    if (access(path.c_str(), X_OK) != 0) {
      return fmt::format("'{}' is no program on this host", path.string());
    }
  } else if (!has_own_path && !IsProgramOnPath(program)) {
    return fmt::format("'{}' is not on PATH here", program);
  }
  // `python3 train.py …`: the first script among the words before any option. Words behind options may be their values.
  constexpr std::string_view kScript = ".py";
  for (std::size_t i = 1; i < command.size() && !command[i].starts_with('-'); ++i) {
    const fs::path path = fs::path(directory) / command[i];
    const bool is_script = command[i].ends_with(kScript) && IsPlain(command[i]);
    if (is_script && !fs::exists(path, error)) {
      return fmt::format("there is no file '{}'", path.string());
    }
    if (is_script) break;
  }
  return "";
}

// `python3 -m` puts the working directory first on the path, so a folder of the same name there hides the installed
// package (docs/adr/0032-a-folder-for-each-replica.md).
void AddShadowedPackages(const TrainingJob& job, std::vector<std::string>& warnings) {
  if (!job.python.has_value() || job.python->packages.empty() || RunsInOwnFolder(job)) return;
  const std::string top = job.python->module.substr(0, job.python->module.find('.'));
  const auto is_file = [&](const std::string& name) {
    return name.find("://") == name.npos &&
           jobs::PathOfPackage(name, job.working_directory).has_value();
  };
  const auto package = std::ranges::find_if(job.python->packages, is_file);
  if (package == job.python->packages.end()) return;
  for (const auto& [role, replica] : job.replicas) {
    std::error_code error;
    const fs::path folder = jobs::Below(job.working_directory, replica.directory);
    if (!fs::exists(folder / top, error) && !fs::exists(folder / (top + ".py"), error)) continue;
    warnings.push_back(fmt::format(
        "job.python.packages: python3 -m runs '{}' as it is in '{}', not that of '{}'; set "
        "working_dir to a folder without it, or leave the package out",
        top,
        folder.string(),
        *package));
    return;
  }
}

// Whether every user of this host may read the file: its own mode, and search permission in all folders above it.
bool IsReadableByAll(const fs::path& file) {
  std::error_code error;
  const auto permits = [&error](const fs::path& path, fs::perms right) {
    return (fs::status(path, error).permissions() & right) != fs::perms::none;
  };
  fs::path path = fs::canonical(file, error);
  if (error || !permits(path, fs::perms::others_read)) return false;
  while (path.has_relative_path()) {
    path = path.parent_path();
    if (!permits(path, fs::perms::others_exec)) return false;
  }
  return true;
}

// What is wrong with the file of a secret; empty: nothing. It is read as at the start of a trial, so that the same
// errors show now.
std::string TroubleOfSecret(const SecretSource& secret) {
  constexpr const char* kFails = "; its trials will fail";
  const absl::StatusOr<std::string> path = jobs::PathOfSecret(secret, app::SecretsDirectory());
  if (!path.ok()) return std::string(path.status().message()) + kFails;
  const base::OpenFile file(*path);
  if (file.error() == ENOENT) return fmt::format("there is no file '{}'{}", *path, kFails);
  if (file.error() != 0) {
    return fmt::format("'{}' cannot be read: {}{}", *path, std::strerror(file.error()), kFails);
  }
  if (!file.kind().empty()) return fmt::format("'{}' is no regular file{}", *path, kFails);
  const absl::StatusOr<std::string> text =
      base::ReadFile(*path, static_cast<std::int64_t>(limits::kSecret));
  if (!text.ok()) return std::string(text.status().message()) + kFails;
  // A variable of the environment ends at a zero byte.
  if (text->find('\0') != std::string::npos) {
    return fmt::format("'{}' holds a zero byte{}", *path, kFails);
  }
  if (text->find_first_not_of("\r\n") == std::string::npos) {
    return fmt::format("'{}' is empty: the variable will be, too", *path);
  }
  if (!IsReadableByAll(*path)) return "";
  return fmt::format("every user of this host may read '{0}'; `chmod 600 {0}` forbids it", *path);
}

void AddSecretFiles(const TrainingJob& job, std::vector<std::string>& warnings) {
  const auto look = [&](const std::string& field,
                        const std::map<std::string, SecretSource>& secrets) {
    for (const auto& [name, secret] : secrets) {
      const std::string trouble = TroubleOfSecret(secret);
      if (!trouble.empty()) warnings.push_back(fmt::format("{}.{}: {}", field, name, trouble));
    }
  };
  look("job.env", job.secrets);
  for (const auto& [role, replica] : job.replicas) {
    look(ReplicaField(role, job) + ".env", replica.secrets);
  }
}

void AddMissingPrograms(const TrainingJob& job, std::vector<std::string>& warnings) {
  if (RunsImages(job) || job.input.has_value()) return;
  // Already uploaded: the files are on the server.
  if (job.code.has_value() && job.code->folder.empty()) return;
  const std::string base = job.code.has_value()
                               ? jobs::Below(job.code->folder, job.working_directory)
                               : job.working_directory;
  std::set<std::string> said;
  const auto add = [&](std::string_view field,
                       const std::vector<std::string>& command,
                       const std::string& directory,
                       bool has_own_path) {
    const std::string missing = MissingPart(command, directory, has_own_path);
    if (!missing.empty() && said.insert(missing).second) {
      warnings.push_back(fmt::format("{}: {}; its trials will fail", field, missing));
    }
  };
  const bool has_path = job.env.contains("PATH");
  for (const auto& [role, replica] : job.replicas) {
    const bool is_own = !replica.command.empty();
    add(is_own ? ReplicaField(role, job) + ".command" : "job.command",
        is_own ? replica.command : job.command,
        jobs::Below(base, replica.directory),
        has_path || replica.env.contains("PATH"));
  }
}

// A program finds its checkpoint in its own folder.
void AddPausing(const StudySpec& spec, std::vector<std::string>& warnings) {
  if (!spec.job->pausable) return;
  if (spec.stopping.name == "none") {
    warnings.push_back("job.pausable: true, but no rule pauses a trial (stopping: none)");
  } else if (spec.job->job_directory.empty() && !spec.job->input.has_value()) {
    warnings.push_back(
        "job.pausable: true, but the trials have no folder of their own (job.dir); each must find "
        "its own checkpoint, for instance by $VERNIER_TRIAL");
  }
}

}  // namespace

std::vector<std::string> JobWarningsOf(const StudySpec& spec, bool runs_here) {
  std::vector<std::string> warnings;
  AddUnknownNames(spec, warnings);
  AddLonelyOptions(spec, warnings);
  AddShellSyntax(*spec.job, warnings);
  AddOpenValues(*spec.job, warnings);
  AddOverwrittenVariables(spec, warnings);
  AddReadableSecrets(*spec.job, warnings);
  AddPausing(spec, warnings);
  if (!runs_here) return warnings;
  AddShadowedPackages(*spec.job, warnings);
  AddMissingPrograms(*spec.job, warnings);
  AddSecretFiles(*spec.job, warnings);
  return warnings;
}

}  // namespace vernier::cli
