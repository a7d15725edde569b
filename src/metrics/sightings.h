#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/metrics/wanted_metric.h"
#include "vernier/metric_reader.h"

namespace vernier::metrics {

// Remembers other names and values that an attempt wrote, to suggest which of them was meant by a metric that was not
// found. Bounded. Not thread-safe.
class Sightings {
 public:
  // `shares_folders`: trials run at once, so that an advised folder must be one for each trial.
  explicit Sightings(std::vector<WantedMetric> wanted, bool shares_folders = false);

  // Counts a value that was taken from the source. Metrics that are not wanted are ignored.
  void Found(const std::string& metric, std::string_view source);
  // Whether a wanted metric is still missing; other names matter only then.
  bool is_searching() const { return found_.size() < wanted_.size(); }
  // Records another name with a number. `key`: locates it in that source (text before the number, path, tag).
  void SawOther(std::string_view source, std::string_view name, std::string_view key, double value);
  // Records a scalar of event files in the sub-folder `prefix` ("run_1/validation/"). `folder`: the folder that an
  // entry must name for it to be read; empty: none.
  void SawScalar(std::string_view folder,
                 std::string_view prefix,
                 std::string_view tag,
                 double value);
  // Records a longer name that ends with the metric's, and was not taken for it: "val loss" for "loss".
  void PassedOver(const std::string& metric,
                  std::string_view name,
                  std::string_view key,
                  double value);
  // Records a line with the metric's name but no number after it.
  void SawUnparsed(const std::string& metric, std::string_view line);
  // Records a sentence about unusable data in a file.
  void SawDamage(std::string sentence);

  std::vector<MetricSighting> Describe() const;

 private:
  struct Count {
    std::int64_t values = 0;
    std::string source;
  };
  struct Other {
    std::string source;
    std::string name;
    std::string key;
    std::string folder;  // As in SawScalar.
    std::string prefix;
    std::int64_t times = 0;
    double last = 0;
  };
  Other* FindOrAdd(const std::string& id, Other other);
  // The name to show: for scalars, the tag with as many sub-folders as are needed to distinguish it.
  std::string NameOf(const Other& other) const;
  std::string What(const Other& other) const;
  std::string Entry(const std::string& metric, const Other& other) const;
  std::string OtherNames() const;
  std::vector<MetricSighting::Candidate> Candidates(const WantedMetric& metric) const;
  std::vector<MetricSighting::Candidate> OthersThan(const std::string& metric) const;

  const std::vector<WantedMetric> wanted_;
  const bool shares_folders_;
  std::map<std::string, Count> found_;
  std::map<std::string, Other> others_;                              // By source and name.
  std::map<std::string, std::map<std::string, Other>> passed_over_;  // By metric and name.
  std::map<std::string, std::string> unparsed_;                      // Last such line, by metric.
  std::vector<std::string> damage_;
};

}  // namespace vernier::metrics
