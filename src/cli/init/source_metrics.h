#pragma once

#include <string>
#include <string_view>
#include <vector>

// A metric that the Python source of a program reports.
namespace vernier::cli {

struct SourceMetric {
  std::string name;
  // The entry that a study file needs to find it: "{after: 'test acc '}"; empty: the name suffices.
  std::string entry;
  std::string caveat;  // A sentence on what the user must take care of; empty: none.
  friend bool operator==(const SourceMetric&, const SourceMetric&) = default;
};

// Metrics that the source prints, shows in a progress bar or writes to event files, best first: validation before
// training.
std::vector<SourceMetric> MetricsIn(std::string_view source);

// Whether larger is better, by the metric's name: accuracy is maximized, loss is not.
bool IsMaximized(std::string_view metric);

}  // namespace vernier::cli
