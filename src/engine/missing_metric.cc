#include "src/engine/missing_metric.h"

#include <algorithm>
#include <map>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/objectives.h"
#include "src/metrics/wanted_metric.h"

namespace vernier::engine {
namespace {

// Whether the study is a tuning job, whose file has no key for where metrics are found.
bool IsTuningInput(const StudySpec& spec) {
  return spec.job.has_value() && spec.job->input.has_value() &&
         spec.job->input->hyperparameters.has_value() && spec.metrics.empty();
}

// Metrics that look like the missing ones, each with the entry of the study file that would read it.
std::string SeenInstead(const Study& study, const Trial& trial, const MetricReader& reader) {
  const std::map<std::string, double> reported = trial.last.value_or(Measurement()).metrics;
  std::vector<std::string> sentences;
  for (const MetricSighting& sighting : reader.Sightings()) {
    const bool is_objective =
        std::ranges::count(study.spec.objectives, sighting.metric, &Objective::metric) > 0;
    if (!is_objective || reported.contains(sighting.metric) || sighting.candidates.empty()) {
      continue;
    }
    const MetricSighting::Candidate& likely = sighting.candidates.front();
    if (likely.entry.empty()) {
      sentences.push_back(likely.what);
    } else if (IsTuningInput(study.spec)) {
      sentences.push_back(
          fmt::format("{}: if that is it, name it in hyperparameterMetricTag", likely.what));
    } else {
      sentences.push_back(
          fmt::format("{}: if that is it, write metrics: {{{}}}", likely.what, likely.entry));
    }
  }
  return fmt::format("{}", fmt::join(sentences, "; "));
}

}  // namespace

std::string MissingObjectives(const Study& study, const Trial& trial) {
  return vernier::MissingObjectives(study.spec.objectives,
                                    trial.last.value_or(Measurement()).metrics);
}

bool DependsOnOutput(const StudySpec& spec, const Trial& trial) {
  const Measurement last = trial.last.value_or(Measurement());
  // A last value that came from a file or a report is not affected by lost output.
  return !vernier::MissingObjectives(spec.objectives, last.metrics).empty() ||
         last.source == metrics::kLogSource || last.source == metrics::kJsonSource;
}

std::string NoMetricMessage(const std::string& missing,
                            const Study& study,
                            const Trial& trial,
                            const MetricReader* reader) {
  std::string message = fmt::format("ended without reporting its {}", missing);
  if (reader == nullptr) return message;
  if (const std::string seen = SeenInstead(study, trial, *reader); !seen.empty()) {
    return fmt::format("{}; {}", message, seen);
  }
  const std::vector<std::string> lines = reader->UnmatchedLines();
  if (lines.empty()) return message + "; it printed nothing";
  return fmt::format("{}; its last lines were: {}", message, fmt::join(lines, " | "));
}

}  // namespace vernier::engine
