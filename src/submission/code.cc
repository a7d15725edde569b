// `code` of a job: a folder becomes an archive that the server stores under its hash
// (docs/adr/0032-a-folder-for-each-replica.md). Equal files must give equal bytes, or `study create --update`
// would see a change where there is none. So paths are sorted, and owner, mode and time of files are set to fixed
// values. The list of files is made here and handed to tar, which knows neither the ignore rules nor the bound.

#include "src/submission/code.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/base/byte_size.h"
#include "src/base/files.h"
#include "src/base/open_file.h"
#include "src/base/temporary_folder.h"
#include "src/core/status.h"
#include "src/jobs/reproduction.h"
#include "src/submission/ignore_rules.h"
#include "vernier/core/error.h"

namespace vernier::submission {
namespace {

namespace fs = std::filesystem;
using base::FormatBytes;
using jobs::ShellQuote;

constexpr std::array kIgnoreFiles = {".vernierignore", ".gitignore"};
// Always left out, unless the user's own file includes it again with `!`. Version control, caches, and the journal
// files of SQLite.
constexpr char kNeverCode[] =
    ".git/\n.hg/\n.svn/\n__pycache__/\n*.pyc\n.ipynb_checkpoints/\n.mypy_cache/\n.pytest_cache/\n"
    "*.db-wal\n*.db-shm\n";
// Largest entries that an error names: enough to see what to exclude.
constexpr std::size_t kLargestNamed = 3;
// Largest ignore file, in bytes. A choice: one that is larger is another kind of file.
constexpr std::int64_t kMostRules = std::int64_t{1} << 20;

absl::Status Refused(std::string_view reason) { return FieldError("job.code", reason); }

absl::StatusOr<std::string> ReadIgnoreFile(const fs::path& folder) {
  for (const char* name : kIgnoreFiles) {
    absl::StatusOr<std::string> rules = base::ReadFile(folder / name, kMostRules);
    if (rules.ok()) return rules;
    if (!absl::IsNotFound(rules.status())) return Refused(std::string(rules.status().message()));
  }
  return std::string();
}

struct Contents {
  std::vector<std::string> paths;  // Below the folder, sorted.
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::map<std::string, std::int64_t> tops;  // Bytes by the first component of the path.
};

// Stores of Vernier and their folders of runs, whatever their names: a study in its own project folder would otherwise
// pack its own results, and change with each run.
bool IsOfStore(const fs::path& path) {
  std::error_code error;
  if (path.extension() == ".runs") {
    return fs::is_regular_file(fs::path(path).replace_extension(), error);
  }
  return fs::is_directory(path.string() + ".runs", error);
}

absl::Status Add(const fs::directory_entry& entry, const std::string& path, Contents& contents) {
  std::error_code error;
  if (entry.is_regular_file(error) && !entry.is_symlink(error)) {
    // Now, with the name of the file; tar would fail in the middle of the archive.
    if (base::OpenFile(entry.path()).error() != 0) {
      return Refused(fmt::format("'{}' cannot be read; name it in .vernierignore to leave it out",
                                 entry.path().string()));
    }
    const auto size = static_cast<std::int64_t>(entry.file_size(error));
    ++contents.files;
    contents.bytes += size;
    contents.tops[path.substr(0, path.find('/'))] += size;
  }
  contents.paths.push_back(path);
  return absl::OkStatus();
}

absl::StatusOr<Contents> ListCode(const fs::path& folder) {
  VERNIER_ASSIGN_OR_RETURN(const std::string own_rules, ReadIgnoreFile(folder));
  const IgnoreRules rules(kNeverCode + own_rules);
  Contents contents;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().lexically_relative(folder).string();
    std::error_code ignored;
    const bool is_link = entry->is_symlink(ignored);
    const bool is_folder = !is_link && entry->is_directory(ignored);
    const bool is_packed = is_link || is_folder || entry->is_regular_file(ignored);
    if (!is_packed || rules.Ignores(path, is_folder) || IsOfStore(entry->path())) {
      if (is_folder) entry.disable_recursion_pending();
      continue;
    }
    VERNIER_RETURN_IF_ERROR(Add(*entry, path, contents));
  }
  if (error)
    return Refused(fmt::format("'{}' cannot be read: {}", folder.string(), error.message()));
  std::ranges::sort(contents.paths);
  return contents;
}

// "data (812 MiB), runs (3.1 MiB)"
std::string DescribeLargest(const Contents& contents) {
  std::vector<std::pair<std::int64_t, std::string>> tops;
  for (const auto& [path, bytes] : contents.tops) tops.emplace_back(bytes, path);
  std::ranges::sort(tops, std::greater<>());
  tops.resize(std::min(tops.size(), kLargestNamed));
  std::vector<std::string> texts;
  texts.reserve(tops.size());
  for (const auto& [bytes, path] : tops) {
    texts.push_back(fmt::format("{} ({})", path, FormatBytes(bytes)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

absl::Status CheckContents(const std::string& folder,
                           const Contents& contents,
                           std::int64_t largest) {
  if (contents.files == 0) return Refused(fmt::format("'{}' has no files", folder));
  if (contents.bytes <= largest) return absl::OkStatus();
  return Refused(fmt::format(
      "'{}' has {}, at most {} are taken; leave data out with a file .vernierignore; largest: {}",
      folder,
      FormatBytes(contents.bytes),
      FormatBytes(largest),
      DescribeLargest(contents)));
}

// Packs the files with fixed owners, modes and time: those of this host must not change the archive. The time is
// 2000-01-01, since ZIP cannot store times before 1980 and wheels are ZIP files. Names are passed with NUL between
// them, as they may contain line ends. gzip -n omits name and time from the header.
absl::Status Archive(const fs::path& folder,
                     const Contents& contents,
                     const std::string& into,
                     const std::string& archive) {
  const std::string list = into + "/code.list";
  std::ofstream paths(list, std::ios::binary);
  for (const std::string& path : contents.paths) paths << "./" << path << '\0';
  if (!paths.flush()) return Unavailable("cannot write '{}'", list);
  const std::string command = fmt::format(
      "tar -C {} --null --no-recursion --verbatim-files-from -T {} --mtime=@946684800 --owner=0 "
      "--group=0 --numeric-owner --mode=u+rw,go-w,a+rX -cf - | gzip -n >{}",
      ShellQuote(folder.string()),
      ShellQuote(list),
      ShellQuote(archive));
  if (std::system(command.c_str()) == 0) return absl::OkStatus();
  return Internal("packing the code failed: {}", command);
}

}  // namespace

absl::StatusOr<PackedCode> PackCode(const std::string& folder,
                                    const std::string& into,
                                    std::int64_t largest) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error || !fs::is_directory(root, error)) {
    return Refused(fmt::format("'{}' is no folder", folder));
  }
  VERNIER_ASSIGN_OR_RETURN(const Contents contents, ListCode(root));
  VERNIER_RETURN_IF_ERROR(CheckContents(root.string(), contents, largest));
  PackedCode packed{
      .archive = into + "/code.tar.gz", .files = contents.files, .bytes = contents.bytes};
  VERNIER_RETURN_IF_ERROR(Archive(root, contents, into, packed.archive));
  return packed;
}

absl::StatusOr<std::string> SendCode(const Upload& upload, StudySpec& spec) {
  if (!spec.job.has_value() || !spec.job->code.has_value() || spec.job->code->folder.empty()) {
    return std::string();
  }
  CodeSnapshot& code = *spec.job->code;
  VERNIER_ASSIGN_OR_RETURN(const base::TemporaryFolder folder, base::TemporaryFolder::Create());
  VERNIER_ASSIGN_OR_RETURN(const PackedCode packed, PackCode(code.folder, folder.path()));
  // The archive travels as packages do; the server hashes it and fills in sha256.
  VERNIER_ASSIGN_OR_RETURN(std::string uri, upload(packed.archive));
  std::string text = fmt::format("code: {} file{}, {} of {}",
                                 packed.files,
                                 packed.files == 1 ? "" : "s",
                                 FormatBytes(packed.bytes),
                                 code.folder);
  code = {.archive = std::move(uri), .sha256 = {}, .folder = {}};
  return text;
}

}  // namespace vernier::submission
