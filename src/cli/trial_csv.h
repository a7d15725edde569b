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

// The names of all metrics of the trials, the objectives first.
std::vector<std::string> MetricNames(const StudyRecord& study,
                                     const std::vector<TrialRecord>& trials);

// One flat object for each trial: number, state, metrics.NAME (final, or last seen), parameters.NAME in the user's
// order, times, how it ended. Every object has every column.
nlohmann::ordered_json TrialCsvRows(const StudyRecord& study,
                                    const std::vector<TrialRecord>& trials);

// The same rows as CSV, for lists of any length: they wait in a temporary file, since the columns of metrics are known with the
// last trial only.
class TrialCsv {
 public:
  // `study` must outlive it.
  explicit TrialCsv(const StudyRecord& study);

  // Unavailable: the temporary file cannot be written.
  absl::Status Add(const Trial& trial);
  // All rows, and a header before them if `headers`. Nothing if there are no rows.
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
  std::map<std::string, std::uint32_t> metrics_;  // In the order in which they were met.
  std::uint64_t count_ = 0;
};

// The trials of the list as CSV, without holding them.
absl::Status WriteTrialCsv(Connection& connection,
                           const StudyRecord& study,
                           const Query& query,
                           std::ostream& out,
                           bool headers);

}  // namespace vernier::cli
