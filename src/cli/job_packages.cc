// `--package-path` as gcloud does it: a source archive is built with the setup.py beside the package, or with a
// generated one. The server installs one environment for each set of packages
// (docs/adr/0023-a-python-environment-for-each-set-of-packages.md) and knows packages by their hash, so equal sources
// must give equal bytes: every archive is packed again with a fixed order, owner, mode and time.

#include "src/cli/job_packages.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/client/upload.h"
#include "src/core/status.h"
#include "src/jobs/reproduction.h"
#include "src/submission/code.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using jobs::ShellQuote;

absl::Status RunCommand(const std::string& command, std::string_view what) {
  if (std::system(command.c_str()) == 0) return absl::OkStatus();
  return Internal("{} failed: {}", what, command);
}

// The archive in the folder; a build leaves exactly one.
absl::StatusOr<std::string> ArchiveIn(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".gz") return entry.path().string();
  }
  return Internal("the build left no archive in '{}'", folder);
}

// Packs `root`, a folder below `folder`, so that equal contents give equal bytes.
absl::Status Pack(const std::string& folder, const std::string& root, const std::string& archive) {
  return RunCommand(
      fmt::format("cd {} && tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "
                  "--mode=u+w,go-w,a+rX --exclude=__pycache__ -cf - {} | gzip -n >{}",
                  ShellQuote(folder),
                  ShellQuote(root),
                  ShellQuote(archive)),
      "packing the package");
}

// setup.py stores the time of the build in its archive; packed again, it is without.
absl::Status Repack(const std::string& archive, const std::string& folder) {
  const std::string unpacked = folder + "/unpacked";
  VERNIER_RETURN_IF_ERROR(RunCommand(
      fmt::format("mkdir {0} && tar -xzf {1} -C {0}", ShellQuote(unpacked), ShellQuote(archive)),
      "unpacking the package"));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(unpacked, error)) {
    // A source archive has one folder at its top.
    return Pack(unpacked, entry.path().filename().string(), archive);
  }
  return Internal("the build left an empty archive '{}'", archive);
}

absl::StatusOr<std::string> BuildWithSetup(const fs::path& parent, const std::string& folder) {
  // egg_info writes into the source folder by default; --egg-base keeps the user's folder clean. Output goes to
  // standard error, since standard output belongs to the answer.
  VERNIER_RETURN_IF_ERROR(
      RunCommand(fmt::format("cd {} && python3 setup.py -q egg_info --egg-base {} "
                             "sdist --dist-dir {} >&2",
                             ShellQuote(parent.string()),
                             ShellQuote(folder),
                             ShellQuote(folder)),
                 "building the package with its setup.py"));
  VERNIER_ASSIGN_OR_RETURN(const std::string archive, ArchiveIn(folder));
  VERNIER_RETURN_IF_ERROR(Repack(archive, folder));
  return archive;
}

absl::StatusOr<std::string> BuildWithMadeSetup(const fs::path& package, const std::string& folder) {
  const std::string name = package.filename().string();
  const fs::path root = fs::path(folder) / (name + "-0.0");
  std::error_code error;
  fs::create_directories(root, error);
  if (!error) fs::copy(package, root / name, fs::copy_options::recursive, error);
  if (error) return Unavailable("cannot copy '{}': {}", package.string(), error.message());
  // The package with its subpackages and data.
  std::ofstream(root / "setup.py") << fmt::format(
      "from setuptools import find_packages, setup\n"
      "setup(name='{0}', version='0.0', packages=find_packages(include=['{0}', '{0}.*']), "
      "include_package_data=True)\n",
      name);
  const std::string archive = fmt::format("{}/{}-0.0.tar.gz", folder, name);
  VERNIER_RETURN_IF_ERROR(Pack(folder, name + "-0.0", archive));
  return archive;
}

bool IsUrl(const std::string& package) { return package.find("://") != std::string::npos; }

absl::StatusOr<std::string> Upload(Connection& connection, const std::string& path) {
  absl::StatusOr<std::string> uri = client::UploadFile(connection.stub(), path);
  if (!uri.ok()) return connection.Explain(uri.status());
  return uri;
}

}  // namespace

absl::StatusOr<std::string> BuildPackage(const std::string& package_path,
                                         const std::string& folder_for_it) {
  std::error_code error;
  const fs::path package = fs::canonical(package_path, error);
  if (error || !fs::is_directory(package, error)) {
    return NotFound("--package-path: '{}' is no folder", package_path);
  }
  if (!fs::exists(package / "__init__.py", error)) {
    return InvalidArgument("--package-path: '{}' is no Python package, it has no __init__.py",
                           package_path);
  }
  if (fs::exists(package.parent_path() / "setup.py", error)) {
    return BuildWithSetup(package.parent_path(), folder_for_it);
  }
  return BuildWithMadeSetup(package, folder_for_it);
}

absl::StatusOr<std::vector<std::string>> UploadPackages(Connection& connection,
                                                        const std::vector<std::string>& packages) {
  std::vector<std::string> uris;
  std::set<std::string> names;
  for (const std::string& package : packages) {
    if (!names.insert(fs::path(package).filename().string()).second) {
      return InvalidArgument("package '{}': there is another one with that file name", package);
    }
    if (IsUrl(package)) {
      uris.push_back(package);
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(uris.emplace_back(), Upload(connection, package));
  }
  return uris;
}

absl::StatusOr<std::string> SendCode(Connection& connection, StudySpec& spec) {
  return submission::SendCode([&](const std::string& path) { return Upload(connection, path); },
                              spec);
}

}  // namespace vernier::cli
