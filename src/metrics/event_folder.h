#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/metrics/event_file.h"
#include "src/metrics/sightings.h"
#include "src/metrics/wanted_metric.h"
#include "vernier/core/trial.h"

namespace vernier::metrics {

// The event files below a folder: those whose names have "tfevents" in them, in sub-folders, too. Links are not followed.
// Files that were not begun in `begun` do not count.
class EventFolder {
 public:
  // `sightings` must outlive it.
  EventFolder(std::string folder,
              std::vector<WantedMetric> wanted,
              Sightings& sightings,
              TimeSpan begun = {});

  // Measurements of the wanted metrics since the last call, by time. A metric is found by its tag, or by its sub-folder and
  // tag ("validation/epoch_loss"). Scalars of one step and time that files hold side by side are one measurement.
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
  const TimeSpan begun_;
  std::map<std::string, std::pair<std::string, Folder>> folders_;  // Prefix and state, by path.
  std::map<std::string, File> files_;                              // By path.
};

}  // namespace vernier::metrics
