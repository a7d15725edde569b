#include "src/metrics/metric_reader.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "src/core/check.h"
#include "src/core/objectives.h"
#include "src/metrics/hypertune_file.h"
#include "src/metrics/log_pattern.h"
#include "vernier/core/error.h"

namespace vernier::metrics {
namespace {

absl::StatusOr<std::vector<LogPattern>> CompilePatterns(const StudySpec& spec) {
  std::vector<LogPattern> patterns;
  for (const auto& [name, source] : spec.metrics) {
    if (source.kind != MetricSourceKind::kRegex) continue;
    VERNIER_ASSIGN_OR_RETURN(LogPattern pattern, LogPattern::Compile(name, source.text));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

// The primary's reports and its output, as one.
class CombinedReader final : public MetricReader {
 public:
  CombinedReader(HypertuneReader reports, LogPatternReader output)
      : reports_(std::move(reports)), output_(std::move(output)) {}

  absl::StatusOr<std::vector<Measurement>> Read() override {
    VERNIER_ASSIGN_OR_RETURN(std::vector<Measurement> measurements, reports_.Read());
    VERNIER_ASSIGN_OR_RETURN(std::vector<Measurement> printed, output_.Read());
    std::ranges::move(printed, std::back_inserter(measurements));
    std::ranges::stable_sort(measurements, {}, &Measurement::time);
    return measurements;
  }

  std::vector<std::string> UnmatchedLines() const override { return output_.UnmatchedLines(); }

 private:
  HypertuneReader reports_;
  LogPatternReader output_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricReader>> NewMetricReader(const StudySpec& spec,
                                                              const Trial& trial,
                                                              const GangProgram& gang) {
  VERNIER_CHECK(!gang.replicas.empty(), "a gang of a valid study");
  VERNIER_ASSIGN_OR_RETURN(std::vector<LogPattern> patterns, CompilePatterns(spec));
  const ReplicaProgram& primary = gang.replicas.front();
  return std::unique_ptr<MetricReader>(std::make_unique<CombinedReader>(
      HypertuneReader(primary.metric_file, FirstObjective(spec).metric),
      LogPatternReader(primary.log_file, std::move(patterns), trial.last)));
}

absl::Status ValidateMetricSources(const StudySpec& spec) { return CompilePatterns(spec).status(); }

}  // namespace vernier::metrics
