#include "src/core/objectives.h"

#include <limits>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace vernier {

const Objective& FirstObjective(const StudySpec& spec) {
  // Never destroyed: the order of destruction at exit would be undefined.
  static const Objective* const none = new Objective();
  return spec.objectives.empty() ? *none : spec.objectives.front();
}

bool HasConverged(const Study& study) {
  return study.converged.has_value() && study.best.has_value();
}

std::string DescribeObjectives(const std::vector<Objective>& objectives) {
  // A foreign study, or a job that runs once, may have no objective.
  if (objectives.empty()) return "none";
  std::vector<std::string> texts;
  texts.reserve(objectives.size());
  for (const Objective& objective : objectives) {
    texts.push_back((objective.goal == Goal::kMaximize ? "maximize " : "minimize ") +
                    objective.metric);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string MissingObjectives(const std::vector<Objective>& objectives,
                              const std::map<std::string, double>& metrics) {
  std::vector<std::string> missing;
  for (const Objective& objective : objectives) {
    if (!metrics.contains(objective.metric)) missing.push_back("'" + objective.metric + "'");
  }
  if (missing.empty()) return "";
  return fmt::format(
      "{} {}", missing.size() == 1 ? "objective" : "objectives", fmt::join(missing, ", "));
}

std::vector<double> ValuesOf(const std::vector<Objective>& objectives,
                             const std::map<std::string, double>& metrics) {
  std::vector<double> values;
  values.reserve(objectives.size());
  for (const Objective& objective : objectives) {
    const auto value = metrics.find(objective.metric);
    const bool is_there = value != metrics.end();
    // NaN stands for a missing value in logs and rankings (TrialLog::View::values).
    values.push_back(is_there ? value->second : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

}  // namespace vernier
