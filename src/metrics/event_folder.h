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

// Reads the event files below a folder and its sub-folders: files with "tfevents" in their names. Links are not
// followed.
class EventFolder {
 public:
  struct Options {
    TimeSpan begun;  // Only files begun within it count.
    // Files last changed longer than this before are not opened. The margin allows for clocks of file servers that
    // differ.
    absl::Duration skew = absl::Hours(1);
    std::size_t most_files = 1000;
    std::size_t most_folders = 10'000;
    std::int64_t most_bytes = EventFile::kChunk;  // Per file and call.
    // For advice: the folder that an entry must name for this one to be read; empty: none.
    std::string folder;
  };

  // `sightings` must outlive it.
  EventFolder(std::string folder,
              std::vector<WantedMetric> wanted,
              Sightings& sightings,
              Options options);
  EventFolder(std::string folder, std::vector<WantedMetric> wanted, Sightings& sightings)
      : EventFolder(std::move(folder), std::move(wanted), sightings, Options()) {}

  // Returns the new measurements of the wanted metrics, by time. A metric is found by its tag, or by the last of its
  // sub-folders and its tag ("validation/epoch_loss"). Scalars of one step and second in the same sub-folder form one
  // measurement.
  // Unavailable: a file cannot be read.
  absl::StatusOr<std::vector<Measurement>> Read();

 private:
  struct Folder {
    std::int64_t changed_ns = -1;  // Time of change when it was last listed.
    int looks = 0;                 // Number of listings with that time.
  };
  struct File {
    std::string prefix;  // "validation/"
    std::unique_ptr<EventFile> file;
  };
  // Finds new files and folders. A folder is only listed again after its time of change moves.
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
