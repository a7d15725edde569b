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

constexpr int kDeepest = 8;

// Nothing: no folder of that name, or one that may not be read.
std::optional<std::int64_t> TimeOfChange(const std::string& folder) {
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

// The metric's own name stands for its tag where the study says nothing else.
const std::string& TagOf(const WantedMetric& metric) {
  return metric.source.kind == MetricSourceKind::kTfevents ? metric.source.text : metric.name;
}

// Whether `tag` means a scalar of this tag in the sub-folder "run/validation/": by itself, or with the last of the folders.
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
  for (const auto& [path, folder] : folders_) paths.push_back(path);
  for (const std::string& path : paths) {
    auto& [prefix, folder] = folders_[path];
    const std::optional<std::int64_t> changed = TimeOfChange(path);
    if (!changed.has_value()) continue;
    // Entries that come within a tick of the file system's clock leave the time as it is.
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
      if (entry.changed + options_.skew < options_.begun.from) continue;
      files_[inner] = {.prefix = prefix,
                       .file = std::make_unique<EventFile>(inner, options_.begun)};
    } else if (depth < kDeepest && folders_.size() < options_.most_folders &&
               !folders_.contains(inner)) {
      folders_[inner] = {prefix + entry.name + "/", Folder()};
      List(inner, prefix + entry.name + "/", depth + 1);
    }
  }
}

absl::StatusOr<std::vector<Measurement>> EventFolder::Read() {
  Search();
  // By sub-folder, step and time to the second: what a callback writes at one moment.
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
