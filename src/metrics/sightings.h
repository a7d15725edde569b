#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/metrics/wanted_metric.h"
#include "vernier/metric_reader.h"

namespace vernier::metrics {

// Remembers what an attempt wrote beside the wanted metrics, to tell what may have been meant. Bounded; not thread-safe.
class Sightings {
 public:
  // `shares_folders`: trials run at once, and cannot have event files in one folder.
  explicit Sightings(std::vector<WantedMetric> wanted, bool shares_folders = false);

  // A value of a metric was taken from the source. Those that nobody wanted are ignored.
  void Found(const std::string& metric, std::string_view source);
  // Whether some wanted metric was not found yet: what else there is matters only then.
  bool is_searching() const { return found_.size() < wanted_.size(); }
  // Another name with a number. `key`: what leads to it in that source (text up to the number, path, tag).
  void SawOther(std::string_view source, std::string_view name, std::string_view key, double value);
  // A scalar of event files in the sub-folder `prefix` ("run_1/validation/"). `folder`: what an entry must name for it to be
  // read; empty: nothing.
  void SawScalar(std::string_view folder,
                 std::string_view prefix,
                 std::string_view tag,
                 double value);
  // A longer name that ends with the metric's, and was not taken for it: "val loss" for "loss".
  void PassedOver(const std::string& metric,
                  std::string_view name,
                  std::string_view key,
                  double value);
  // The metric's name with something behind it that is no number.
  void SawUnparsed(const std::string& metric, std::string_view line);
  // Something in a file that could not be used, in one sentence.
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
    std::string folder;  // As SawScalar has them.
    std::string prefix;
    std::int64_t times = 0;
    double last = 0;
  };
  Other* FindOrAdd(const std::string& id, Other other);
  // Of another name: for scalars, their tags with as many sub-folders as it takes to tell them apart.
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
  std::map<std::string, std::string> unparsed_;                      // The last line, by metric.
  std::vector<std::string> damage_;
};

}  // namespace vernier::metrics
