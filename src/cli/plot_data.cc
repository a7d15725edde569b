// From calls to the plain values that figures are made of. Curves take a call for each trial, so they are loaded only
// for figures that show them.

#include "src/cli/plot_data.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/status.h"
#include "src/wire/names.h"

namespace vernier::cli {
namespace {

std::vector<std::string> MetricsOf(const StudySpec& spec) {
  std::vector<std::string> metrics;
  for (const Objective& objective : spec.objectives) metrics.push_back(objective.metric);
  return metrics;
}

// The first objective that is not `other`.
std::string FirstBut(const StudySpec& spec, const std::string& other) {
  const auto found = std::find_if(spec.objectives.begin(),
                                  spec.objectives.end(),
                                  [&other](const Objective& each) { return each.metric != other; });
  return found->metric;
}

}  // namespace

absl::StatusOr<plot::StudyData> LoadStudyData(Connection& connection,
                                              const StudyRecord& study,
                                              absl::Time now) {
  plot::StudyData data = {
      .spec = study.study.spec, .trials = {}, .created = study.study.created, .now = now};
  const auto take = [&](TrialRecord record) {
    // Both are asked before the record is moved from.
    const bool breaks_constraint = study.BreaksConstraint(record.trial);
    const bool is_optimal = study.IsOptimal(record.trial.number);
    const plot::Fate fate = plot::FateOf(record.trial, breaks_constraint);
    data.trials.push_back({.trial = std::move(record.trial), .fate = fate, .optimal = is_optimal});
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(ForEachTrial(connection, study, {}, take));
  // The order of the answer is the server's; figures need that of numbers.
  std::sort(data.trials.begin(), data.trials.end(), [](const auto& a, const auto& b) {
    return a.number() < b.number();
  });
  return data;
}

// Trials that are worth a call each.
std::vector<std::int64_t> TrialsWithCurves(const plot::StudyData& study) {
  std::vector<std::int64_t> numbers;
  for (const plot::PlotTrial& trial : study.trials) {
    if (trial.trial.measurements > 0) numbers.push_back(trial.number());
  }
  return numbers;
}

absl::StatusOr<std::vector<plot::Curve>> LoadCurves(Connection& connection,
                                                    const plot::StudyData& study,
                                                    const std::string& metric,
                                                    const std::vector<std::int64_t>& trials) {
  std::vector<plot::Curve> curves;
  for (const std::int64_t number : trials) {
    v1::Trial trial;
    trial.set_name(wire::TrialResource(study.name(), TrialNumber(number)));
    VERNIER_ASSIGN_OR_RETURN(const auto measurements, ListMeasurements(connection, trial));
    plot::Curve curve = {.trial = number, .points = {}};
    for (const v1::Measurement& measurement : measurements) {
      const auto value = measurement.metrics().find(metric);
      if (value == measurement.metrics().end()) continue;
      curve.points.push_back({static_cast<double>(measurement.step()), value->second});
    }
    // Without this metric there is nothing to draw.
    if (curve.points.empty()) continue;
    // Programs may report steps out of order; a curve runs from left to right.
    std::stable_sort(curve.points.begin(),
                     curve.points.end(),
                     [](const plot::At& a, const plot::At& b) { return a.x < b.x; });
    curves.push_back(std::move(curve));
  }
  return curves;
}

absl::StatusOr<Objective> ChooseObjective(const StudySpec& spec,
                                          std::string_view option,
                                          const std::string& metric) {
  if (spec.objectives.empty()) {
    return InvalidArgument("study '{}' has no objective to draw", spec.name);
  }
  if (metric.empty()) return FirstObjective(spec);
  for (const Objective& objective : spec.objectives) {
    if (objective.metric == metric) return objective;
  }
  return InvalidArgument("{}: must be one of the objectives {}, got '{}'",
                         option,
                         fmt::join(MetricsOf(spec), ", "),
                         metric);
}

absl::StatusOr<ObjectivePair> ChoosePair(const StudySpec& spec,
                                         const std::string& x_or_empty,
                                         const std::string& y_or_empty) {
  if (spec.objectives.size() < 2) {
    // First tells that there is none; then that one is too few.
    VERNIER_RETURN_IF_ERROR(ChooseObjective(spec, "--x", "").status());
    return InvalidArgument(
        "study '{}' has one objective; `vernier plot history {}` draws it", spec.name, spec.name);
  }
  // The one that is not named avoids the one that is.
  const std::string x = !x_or_empty.empty() ? x_or_empty : FirstBut(spec, y_or_empty);
  const std::string y = !y_or_empty.empty() ? y_or_empty : FirstBut(spec, x);
  ObjectivePair pair;
  VERNIER_ASSIGN_OR_RETURN(pair.x, ChooseObjective(spec, "--x", x));
  VERNIER_ASSIGN_OR_RETURN(pair.y, ChooseObjective(spec, "--y", y));
  if (x == y) return InvalidArgument("--y: must be another objective than --x, got '{}'", y);
  return pair;
}

absl::StatusOr<int> ChooseParameter(const Space& space,
                                    std::string_view option,
                                    const std::string& name) {
  if (const std::optional<int> index = space.Find(name)) return *index;
  std::vector<std::string> known;
  for (const Parameter& parameter : space.parameters()) known.push_back(parameter.name);
  return InvalidArgument(
      "{}: must be one of the parameters {}, got '{}'", option, fmt::join(known, ", "), name);
}

absl::Status WriteText(std::string_view option,
                       const std::string& text,
                       const std::string& path,
                       std::ostream& out) {
  if (path == "-") {
    out << text;
    return absl::OkStatus();
  }
  errno = 0;  // The stream says only that it failed.
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  // Closed before the check, so that a full disk is noticed.
  file.close();
  if (file) return absl::OkStatus();
  return InvalidArgument("{}: '{}' cannot be written: {}", option, path, std::strerror(errno));
}

}  // namespace vernier::cli
