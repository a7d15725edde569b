#include "src/metrics/event_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/core/status.h"

namespace vernier::metrics {
namespace {

// Depth of sub-folders. A choice: writers use two or three levels.
constexpr int kDeepestFolder = 8;

// The folder's time of change in nanoseconds. Nothing: no such folder, or not readable.
std::optional<std::int64_t> TimeOfFolderChange(const std::string& folder) {
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

struct Entry {
  std::string name;
  bool is_folder = false;
  absl::Time changed;
};

std::vector<Entry> ListFolder(const std::string& path) {
  std::vector<Entry> entries;
  // A link could lead out of the trial's folder, or in a circle.
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) {
    if (fd >= 0) close(fd);
    return entries;
  }
  while (const dirent* const entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat status {};
    if (fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(status.st_mode)) entries.push_back({.name = name, .is_folder = true});
    const bool is_events = name.find("tfevents") != std::string::npos;
    if (S_ISREG(status.st_mode) && is_events) {
      entries.push_back({.name = name, .changed = absl::TimeFromTimespec(status.st_mtim)});
    }
  }
  closedir(folder);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

// The tag to look for: the metric's name, unless the study gives a tag.
const std::string& TagOf(const WantedMetric& metric) {
  return metric.source.kind == MetricSourceKind::kTfevents ? metric.source.text : metric.name;
}

// Whether `tag` refers to a scalar with this tag in the sub-folder "run/validation/": by the tag alone, or preceded by
// the last folders.
bool IsMeant(std::string_view tag, std::string_view prefix, std::string_view scalar) {
  if (!tag.ends_with(scalar)) return false;
  const std::string_view folders = tag.substr(0, tag.size() - scalar.size());
  if (folders.empty()) return true;
  if (!prefix.ends_with(folders)) return false;
  return folders.size() == prefix.size() || prefix[prefix.size() - folders.size() - 1] == '/';
}

}  // namespace

EventFolder::EventFolder(std::string folder,
                         std::vector<WantedMetric> wanted,
                         Sightings& sightings,
                         Options options)
    : root_(std::move(folder)),
      wanted_(std::move(wanted)),
      sightings_(sightings),
      options_(std::move(options)) {
  folders_[root_] = {"", Folder()};
}

void EventFolder::Search() {
  std::vector<std::string> paths;
  // Copied, since List adds folders while this walks over them.
  for (const auto& [path, folder] : folders_) paths.push_back(path);
  for (const std::string& path : paths) {
    auto& [prefix, folder] = folders_[path];
    const std::optional<std::int64_t> changed = TimeOfFolderChange(path);
    if (!changed.has_value()) continue;
    // Entries added within one tick of the file system's clock do not change the time again, so the folder is listed a
    // few more times (a choice: calls are further apart than a tick).
    constexpr int kEnoughLooks = 8;
    folder.looks = *changed == folder.changed_ns ? folder.looks + 1 : 0;
    folder.changed_ns = *changed;
    if (folder.looks > kEnoughLooks) continue;
    List(path, prefix, static_cast<int>(std::ranges::count(prefix, '/')));
  }
}

void EventFolder::List(const std::string& path, const std::string& prefix, int depth) {
  for (const Entry& entry : ListFolder(path)) {
    const std::string inner = path + "/" + entry.name;
    if (!entry.is_folder) {
      if (files_.size() >= options_.most_files || files_.contains(inner)) continue;
      // A file that was not changed since cannot have been begun since. Not opening it matters in a folder with years
      // of runs.
      if (entry.changed + options_.skew < options_.begun.from) continue;
      files_[inner] = {.prefix = prefix,
                       .file = std::make_unique<EventFile>(inner, options_.begun)};
    } else if (depth < kDeepestFolder && folders_.size() < options_.most_folders &&
               !folders_.contains(inner)) {
      folders_[inner] = {prefix + entry.name + "/", Folder()};
      List(inner, prefix + entry.name + "/", depth + 1);
    }
  }
}

absl::StatusOr<std::vector<Measurement>> EventFolder::Read() {
  Search();
  // Groups by second, step and sub-folder: the scalars that a callback writes at one moment.
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, Measurement> groups;
  for (auto& [path, each] : files_) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<EventScalar> scalars,
                             each.file->Read(options_.most_bytes));
    for (const EventScalar& scalar : scalars) {
      bool is_wanted = false;
      for (const WantedMetric& metric : wanted_) {
        if (!IsMeant(TagOf(metric), each.prefix, scalar.tag)) continue;
        is_wanted = true;
        Measurement& measurement =
            groups[{absl::ToUnixSeconds(scalar.time), scalar.step, each.prefix}];
        measurement.step = scalar.step;
        measurement.time = std::max(measurement.time, scalar.time);
        measurement.source = kTfeventsSource;
        measurement.metrics[metric.name] = scalar.value;
      }
      // Other tags are remembered as advice, as long as a metric is missing.
      if (!is_wanted && sightings_.is_searching()) {
        sightings_.SawScalar(options_.folder, each.prefix, scalar.tag, scalar.value);
      }
    }
    if (!each.file->damage().empty()) sightings_.SawDamage(each.file->damage());
  }
  std::vector<Measurement> found;
  found.reserve(groups.size());
  for (auto& [key, measurement] : groups) found.push_back(std::move(measurement));
  std::ranges::stable_sort(found, {}, &Measurement::time);
  return found;
}

}  // namespace vernier::metrics
