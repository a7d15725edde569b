#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "src/cli/resources.h"

namespace vernier::cli {

// Names of all metrics of the trials, objectives first.
std::vector<std::string> MetricNames(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials);

// One flat object for each trial: number, state, metrics.NAME (final, or the last value), parameters.NAME in the user's
// order, times, and how it ended. All objects have all columns.
nlohmann::ordered_json TrialCsvRows(const StudyRecord& study,
                                    const std::vector<TrialRecord>& trials);

// The same rows as CSV, for lists of any length: rows wait in a temporary file, since the set of metrics is known only
// after the last trial.
class TrialCsv {
 public:
  // `study` must outlive it.
  explicit TrialCsv(const StudyRecord& study);

  // Unavailable: the temporary file cannot be written.
  absl::Status Add(const Trial& trial);
  // Writes all rows, preceded by a header if `headers`. Writes nothing without rows.
  absl::Status Write(std::ostream& out, bool headers);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::uint32_t IndexOf(const std::string& metric);
  void Put(const std::string& text);
  void PutBefore(const Trial& trial);
  void PutMetrics(const Trial& trial);
  void PutAfter(const Trial& trial);
  std::vector<std::string> Header(const std::vector<std::string>& metrics) const;
  std::string HeaderLine(const std::vector<std::string>& metrics) const;

  const StudyRecord& study_;
  const std::vector<std::string> parameters_;
  std::unique_ptr<std::FILE, Close> rows_;
  std::map<std::string, std::uint32_t> metrics_;  // Indices in order of first occurrence.
  std::uint64_t count_ = 0;
};

// Writes the trials of the list as CSV, in bounded memory.
absl::Status WriteTrialCsv(Connection& connection,
                           const StudyRecord& study,
                           const Query& query,
                           std::ostream& out,
                           bool headers);

}  // namespace vernier::cli
