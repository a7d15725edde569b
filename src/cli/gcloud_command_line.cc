// Scripts of gcloud run unedited, although CLI11 reads less than gcloud's own parser: gcloud accepts flags between the
// words of a command, files of flags, negated flags, and booleans with or without a value. This file rewrites all of
// that into plain flags before CLI11 sees it. `vernier jobs …` takes the same path, so that both spellings behave
// alike.

#include "src/cli/gcloud_command_line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/gcloud/transform.h"
#include "src/cli/gcloud_flags.h"
#include "src/cli/study_source.h"
#include "src/codec/document.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

constexpr char kFlagsFile[] = "--flags-file";
// Joins list elements from a file of flags: ASCII's unit separator.
constexpr char kSeparator = '\x1f';
constexpr std::size_t kMaxFlagsFiles = 20;  // A choice: bounds files that read each other.

bool IsOneOf(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool IsGroup(std::string_view word) {
  constexpr std::array<std::string_view, 2> kGroups = {"ai-platform", "ml-engine"};
  return IsOneOf(kGroups, word);
}

// Flags whose value is the next word, so that this word is not taken for one of the command.
bool TakesNext(const std::string& flag) {
  constexpr std::array<std::string_view, 5> kOwn = {
      "--store", "--server", "-o", "--output", "--color"};
  return IsOneOf(kOwn, flag) || IsOneOf(ValueFlags(), flag);
}

// Number of words that name the command, without gcloud's own: 3 for "jobs submit training", 2 for "jobs list".
std::size_t WordsOf(const Words& words) {
  const bool submits = words.size() >= 2 && words[0] == "jobs" && words[1] == "submit";
  return submits ? 3 : 2;
}

absl::Status NotOffered(const Words& words) {
  return InvalidArgument(
      "'gcloud {}' is not offered; offered are ai-platform jobs submit training, describe, list, "
      "cancel, update and stream-logs, and ai-platform local train",
      absl::StrJoin(words, " "));
}

// A command line cut into the words of its command, the flags among them, and the rest.
struct Cut {
  bool is_gcloud = false;  // It begins with a word of gcloud: gcloud, ai-platform, ml-engine.
  Words words;             // "jobs", "submit", "training".
  Words path;              // All words of the command except "gcloud".
  Words flags;
  Words rest;
};

Cut CutUp(const Words& args) {
  Cut cut;
  std::size_t at = 0;
  for (; at < args.size() && args[at] != "--"; ++at) {
    const std::string& arg = args[at];
    if (arg.starts_with('-') && arg.size() > 1) {
      cut.flags.push_back(arg);
      if (TakesNext(arg) && at + 1 < args.size()) cut.flags.push_back(args[++at]);
      continue;
    }
    if (cut.words.size() >= WordsOf(cut.words)) break;
    const bool is_first = cut.path.empty() && cut.words.empty();
    const bool is_track = arg == "alpha" || arg == "beta";
    if (is_first && !cut.is_gcloud && arg == "gcloud") {
      cut.is_gcloud = true;
      continue;
    }
    const bool is_prefix = cut.words.empty() && (IsGroup(arg) || (cut.is_gcloud && is_track));
    // Any other command of this program: nothing to rewrite.
    if (is_first && !cut.is_gcloud && !is_prefix && arg != "jobs" && arg != "local") return cut;
    cut.is_gcloud = cut.is_gcloud || is_prefix;
    cut.path.push_back(arg);
    if (!is_prefix) cut.words.push_back(arg);
    // Words of a command that is not offered are collected too: the error quotes them.
  }
  cut.rest.assign(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  return cut;
}

bool IsOffered(const Cut& cut) {
  constexpr std::array<std::string_view, 6> kJobs = {
      "submit", "describe", "list", "cancel", "update", "stream-logs"};
  const Words& words = cut.words;
  if (words.empty() || !std::ranges::any_of(cut.path, &IsGroup)) return false;
  if (words[0] == "local") return words.size() < 2 || words[1] == "train";
  if (words[0] != "jobs") return false;
  if (words.size() >= 2 && !IsOneOf(kJobs, words[1])) return false;
  return words.size() < 3 || words[2] == "training";
}

// A flag's value as one word. Lists and mappings are joined with kSeparator in gcloud's own syntax for such values,
// "^:^a:b", since their elements may contain commas.
std::string WordOf(const Json& value) {
  Words parts;
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) {
      parts.push_back(key + "=" + gcloud::TextOf(part));
    }
  } else if (value.is_array()) {
    for (const Json& part : value) parts.push_back(gcloud::TextOf(part));
  } else if (value.is_boolean()) {
    return value.get<bool>() ? "true" : "false";
  } else {
    return value.is_number_float() ? value.dump() : gcloud::TextOf(value);
  }
  return fmt::format("^{0}^{1}", kSeparator, absl::StrJoin(parts, std::string(1, kSeparator)));
}

// Appends the flags of a file, and of the files that it names. `open` holds the files being read, to find cycles.
absl::Status ReadFlagsFile(const std::string& path, Words& open, Words& args) {
  if (std::ranges::find(open, path) != open.end()) {
    return InvalidArgument("{}: '{}' is read from itself", kFlagsFile, path);
  }
  if (open.size() >= kMaxFlagsFiles) {
    return InvalidArgument("{}: more than {} files are read from each other, got '{}'",
                           kFlagsFile,
                           kMaxFlagsFiles,
                           path);
  }
  const absl::StatusOr<std::string> text = ReadInput(path, "file of flags");
  if (!text.ok()) {
    return InvalidArgument("{}: {}", kFlagsFile, std::string(text.status().message()));
  }
  VERNIER_ASSIGN_OR_RETURN(const Json document, codec::ReadDocument(*text, path));
  open.push_back(path);
  // gcloud allows several mappings in a list: only so can one flag be given twice.
  const Json groups = document.is_array() ? document : Json::array({document});
  for (const Json& group : groups) {
    if (!group.is_object() || group.empty()) {
      return InvalidArgument(
          "{}: '{}' must be a mapping of flags, or a list of such mappings", kFlagsFile, path);
    }
    for (const auto& [flag, value] : group.items()) {
      if (!flag.starts_with('-') || flag == "-" || flag == "--") {
        return InvalidArgument("{}: '{}' must name flags with their dashes, as --region, got '{}'",
                               kFlagsFile,
                               path,
                               flag);
      }
      if (flag == kFlagsFile) {
        const Json files = value.is_array() ? value : Json::array({value});
        for (const Json& file : files) {
          VERNIER_RETURN_IF_ERROR(ReadFlagsFile(gcloud::TextOf(file), open, args));
        }
        continue;
      }
      args.push_back(value.is_null() ? flag : flag + "=" + WordOf(value));
    }
  }
  open.pop_back();
  return absl::OkStatus();
}

bool IsTruth(const std::string& word) {
  constexpr std::array<const char*, 6> kTruths = {"true", "false", "yes", "no", "1", "0"};
  return std::ranges::any_of(
      kTruths, [&](const char* truth) { return absl::EqualsIgnoreCase(word, truth); });
}

// Flags that gcloud documents with a value of true or false. CLI11 takes a flag's value only in the same word.
bool TakesTruth(const std::string& flag) {
  constexpr std::array<std::string_view, 3> kFlags = {
      "--use-chief-in-tf-config", "--log-http", "--user-output-enabled"};
  return IsOneOf(kFlags, flag);
}

// The words up to "--" as CLI11 takes them.
absl::StatusOr<Words> Rewritten(const Words& args) {
  Words rewritten;
  const auto end = std::ranges::find(args, "--");
  for (auto arg = args.begin(); arg != end; ++arg) {
    Words open;
    const std::string as_value = std::string(kFlagsFile) + "=";
    if (*arg == kFlagsFile && arg + 1 == end) {
      return InvalidArgument("{}: needs a value", kFlagsFile);
    }
    if (*arg == kFlagsFile) {
      VERNIER_RETURN_IF_ERROR(ReadFlagsFile(*++arg, open, rewritten));
    } else if (arg->starts_with(as_value)) {
      VERNIER_RETURN_IF_ERROR(ReadFlagsFile(arg->substr(as_value.size()), open, rewritten));
    } else if (arg->starts_with("--no-") && IsOneOf(BooleanFlags(), "--" + arg->substr(5))) {
      rewritten.push_back("--" + arg->substr(5) + "=false");
    } else if (TakesTruth(*arg) && arg + 1 != end && IsTruth(*(arg + 1))) {
      rewritten.push_back(*arg + "=" + *(arg + 1));
      ++arg;
    } else {
      rewritten.push_back(*arg);
    }
  }
  rewritten.insert(rewritten.end(), end, args.end());
  return rewritten;
}

bool Asks(const Cut& cut, std::string_view flag) {
  return std::ranges::find(cut.flags, flag) != cut.flags.end() ||
         std::ranges::find(cut.rest, flag) != cut.rest.end();
}

}  // namespace

absl::StatusOr<CommandLine> ReadCommandLine(Words args) {
  const Cut cut = CutUp(args);
  if (cut.is_gcloud &&
      (cut.path == Words{"version"} || (cut.path.empty() && Asks(cut, "--version")))) {
    return CommandLine{.args = {"--version"}};
  }
  if (cut.is_gcloud && cut.words.empty() && (Asks(cut, "--help") || Asks(cut, "-h"))) {
    return CommandLine{.args = {"help", "gcloud"}};
  }
  // Only after version and help, which gcloud answers without a command.
  if (cut.is_gcloud && !IsOffered(cut)) return NotOffered(cut.path);
  if (cut.words.empty()) return CommandLine{.args = std::move(args)};
  CommandLine line;
  if (cut.is_gcloud) line.gcloud_command = fmt::format("gcloud.{}", absl::StrJoin(cut.path, "."));
  line.args = cut.words;
  line.args.insert(line.args.end(), cut.flags.begin(), cut.flags.end());
  line.args.insert(line.args.end(), cut.rest.begin(), cut.rest.end());
  VERNIER_ASSIGN_OR_RETURN(line.args, Rewritten(line.args));
  return line;
}

std::string GcloudHelp() {
  return R"(Commands of gcloud, with their flags:

  gcloud ai-platform jobs submit training JOB
  gcloud ai-platform jobs describe JOB
  gcloud ai-platform jobs list
  gcloud ai-platform jobs cancel JOB
  gcloud ai-platform jobs update JOB
  gcloud ai-platform jobs stream-logs JOB
  gcloud ai-platform local train

`vernier gcloud ai-platform …`, `vernier ai-platform …` and `vernier jobs …` are the same; ml-engine, alpha and beta are
accepted. For scripts that call gcloud: `ln -s $(command -v vernier) ~/bin/gcloud`. Such a command ends with gcloud's
exit statuses: 0, 1 for an error of the job or the service, 2 for a command line that is wrong.
`vernier jobs list --help` and so on show the flags.
)";
}

}  // namespace vernier::cli
