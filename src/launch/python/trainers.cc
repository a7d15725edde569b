#include "src/launch/python/trainers.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "src/base/private_folder.h"
#include "src/base/sha256.h"
#include "src/core/built_in_trainers.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;

// Hash of the package; 16 hexadecimal digits are ample for the versions on one host.
std::string Version() {
  base::Sha256 hash;
  for (const TrainerSource& source : TrainerSources()) {
    hash.Add(source.name);
    hash.Add(source.text);
  }
  return hash.Hex().substr(0, 16);
}

}  // namespace

absl::StatusOr<std::string> PlaceTrainers(const std::string& directory) {
  const std::string folder = fmt::format("{}/trainers-{}", directory, Version());
  const fs::path package = fs::path(folder) / kBuiltInPackage.substr(0, kBuiltInPackage.find('.'));
  std::error_code error = base::MakePrivateFolders(package);
  if (error) return NotWritten("cannot create folder", package.string(), error.value());
  for (const TrainerSource& source : TrainerSources()) {
    const fs::path file = package / source.name;
    if (fs::exists(file, error)) continue;
    if (!ReplaceFile(file.string(), source.text, /*durable=*/false)) {
      return NotWritten("cannot write to", package.string(), errno);
    }
  }
  return folder;
}

}  // namespace vernier::launch
