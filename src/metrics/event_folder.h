#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/metrics/event_file.h"
#include "src/metrics/sightings.h"
#include "src/metrics/wanted_metric.h"
#include "vernier/core/trial.h"

namespace vernier::metrics {

// The event files below a folder: those whose names have "tfevents" in them, in sub-folders, too. Links are not followed.
class EventFolder {
 public:
  struct Options {
    TimeSpan begun;  // Other files do not count.
    // Files that were last written to so long before are not opened: clocks of file servers may differ.
    absl::Duration skew = absl::Hours(1);
    std::size_t most_files = 1000;
    std::size_t most_folders = 10'000;
    std::int64_t most_bytes = EventFile::kChunk;  // Of a file, at a time.
    // For advice: what an entry must say so that this folder is read; empty: nothing.
    std::string folder;
  };

  // `sightings` must outlive it.
  EventFolder(std::string folder,
              std::vector<WantedMetric> wanted,
              Sightings& sightings,
              Options options);
  EventFolder(std::string folder, std::vector<WantedMetric> wanted, Sightings& sightings)
      : EventFolder(std::move(folder), std::move(wanted), sightings, Options()) {}

  // Measurements of the wanted metrics since the last call, by time. A metric is found by its tag, or by the last of its
  // sub-folders and its tag ("validation/epoch_loss"). Scalars of one step and time that files hold side by side are one measurement.
  // Unavailable: a file cannot be read.
  absl::StatusOr<std::vector<Measurement>> Read();

 private:
  struct Folder {
    std::int64_t changed_ns = -1;  // Its time of change when its entries were listed.
    int looks = 0;                 // How often it was listed since, with that time.
  };
  struct File {
    std::string prefix;  // "validation/"
    std::unique_ptr<EventFile> file;
  };
  // Learns of new files and folders. A folder is listed again only after its time of change.
  void Search();
  void List(const std::string& path, const std::string& prefix, int depth);

  const std::string root_;
  const std::vector<WantedMetric> wanted_;
  Sightings& sightings_;
  const Options options_;
  std::map<std::string, std::pair<std::string, Folder>> folders_;  // Prefix and state, by path.
  std::map<std::string, File> files_;                              // By path.
};

}  // namespace vernier::metrics
