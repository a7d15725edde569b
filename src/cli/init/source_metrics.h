#pragma once

#include <string>
#include <string_view>
#include <vector>

// Metrics that the Python source of a program reports.
namespace vernier::cli {

struct SourceMetric {
  std::string name;
  // What a study file must say for it to be found: "{after: 'test acc '}"; empty: its name suffices.
  std::string entry;
  std::string caveat;  // A sentence for people; empty: none is needed.
  friend bool operator==(const SourceMetric&, const SourceMetric&) = default;
};

// Metrics that the source prints, shows in a progress bar or writes to event files, best first: those of validation before
// those of training.
std::vector<SourceMetric> MetricsIn(std::string_view source);

// Whether more of the metric is better, by its name: accuracy is, loss is not.
bool IsMaximized(std::string_view metric);

}  // namespace vernier::cli
