#include "vernier/core/study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "fmt/format.h"
#include "src/core/outcome_constraint.h"
#include "src/core/parameter_argument.h"
#include "src/core/study_name.h"
#include "src/core/training_job_validation.h"
#include "vernier/core/limits.h"

namespace vernier {
namespace {

// In the order of StudyState.
constexpr std::array<std::string_view, 6> kStudyStates = {
    "ACTIVE", "PAUSED", "STOPPING", "COMPLETED", "CANCELLED", "FAILED"};

absl::Status CheckName(const std::string& name) {
  if (IsStudyName(name)) return absl::OkStatus();
  return FieldError("study", NotAStudyName(name));
}

// Only ASCII letters must be lower case; bytes of other scripts are accepted.
bool IsLabelPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsLabelStart(char c) {
  return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

// Every byte but the continuation bytes (10xxxxxx) begins a character.
std::size_t CountCharacters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

absl::Status CheckLabelPart(std::string_view path, std::string_view what, std::string_view text) {
  if (CountCharacters(text) > limits::kLabelPart) {
    return FieldError(path,
                      fmt::format("{} must have at most {} characters, got {}",
                                  what,
                                  limits::kLabelPart,
                                  CountCharacters(text)));
  }
  if (std::ranges::all_of(text, IsLabelPart)) return absl::OkStatus();
  return FieldError(
      path,
      fmt::format(
          "{} must be lower-case letters, digits, underscores and dashes, got '{}'", what, text));
}

absl::Status CheckLabels(const std::map<std::string, std::string>& labels) {
  if (labels.size() > limits::kLabels) {
    return FieldError("labels",
                      fmt::format("must be at most {}, got {}", limits::kLabels, labels.size()));
  }
  for (const auto& [key, value] : labels) {
    if (key.empty() || !IsLabelStart(key.front())) {
      return FieldError("labels",
                        fmt::format("a key must begin with a lower-case letter, got '{}'", key));
    }
    // Not in the path yet, since the key itself may be wrong.
    VERNIER_RETURN_IF_ERROR(CheckLabelPart("labels", "a key", key));
    VERNIER_RETURN_IF_ERROR(CheckLabelPart("labels." + key, "its value", value));
  }
  return absl::OkStatus();
}

// A study may lack objectives if it is foreign, or if it runs a job once without parameters.
absl::Status CheckNoObjective(const StudySpec& spec) {
  if (spec.foreign.has_value()) return absl::OkStatus();
  if (!spec.job.has_value()) return FieldError("objective", "must name a metric");
  if (spec.space.parameters().empty() && spec.budget.trials == 1) return absl::OkStatus();
  return FieldError("objective",
                    "must name a metric; only a job without parameters, of one trial, needs none");
}

absl::Status CheckObjectives(const std::vector<Objective>& objectives) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    // As in the study file, where a single objective needs no list.
    const std::string path = objectives.size() == 1 ? "objective" : fmt::format("objective[{}]", i);
    const std::string& metric = objectives[i].metric;
    const std::int32_t final_count = objectives[i].final_count;
    if (metric.empty()) return FieldError(path, "must name a metric");
    if (metric.size() > limits::kMetricName) {
      return FieldError(path,
                        fmt::format("the metric's name must have at most {} characters, got {}",
                                    limits::kMetricName,
                                    metric.size()));
    }
    if (!seen.insert(metric).second) {
      return FieldError(path, fmt::format("metric '{}' is an objective twice", metric));
    }
    if (final_count < 1 || final_count > limits::kFinalCount) {
      return FieldError(
          path + ".final",
          fmt::format(
              "must be the mean of 1 to {} values, got {}", limits::kFinalCount, final_count));
    }
  }
  return absl::OkStatus();
}

// Checks a source. Whether its expression compiles is checked by ValidateMetricSources.
absl::Status CheckMetricSource(const std::string& metric, const MetricSource& source) {
  const std::string path = fmt::format("metrics.{}", metric);
  if (source.kind != MetricSourceKind::kName && source.text.empty()) {
    return FieldError(path, "must not be empty");
  }
  if (source.text.size() > limits::kSourceText) {
    return FieldError(
        path,
        fmt::format(
            "must have at most {} characters, got {}", limits::kSourceText, source.text.size()));
  }
  // A metric without a source of its own is looked for in event files, too.
  const bool reads_files =
      source.kind == MetricSourceKind::kName || source.kind == MetricSourceKind::kTfevents;
  if (source.folder.empty() || reads_files) return absl::OkStatus();
  return FieldError(path + ".folder", "is where event files are: it goes with tfevents only");
}

absl::Status CheckMetrics(const StudySpec& spec) {
  if (spec.metrics.contains("")) return FieldError("metrics", "a metric's name must not be empty");
  for (const auto& [metric, source] : spec.metrics) {
    VERNIER_RETURN_IF_ERROR(CheckMetricSource(metric, source));
  }
  // Only whether they parse. Stored studies may break the other rules (CheckOutcomeConstraints).
  return ParseOutcomeConstraints(spec).status();
}

absl::Status CheckBudgetCount(std::string_view path, std::optional<std::int64_t> count) {
  if (!count.has_value() || *count >= 1) return absl::OkStatus();
  return FieldError(path, fmt::format("must be at least 1, got {}", *count));
}

absl::Status CheckBudget(const Budget& budget, bool has_job) {
  VERNIER_RETURN_IF_ERROR(CheckBudgetCount("budget.trials", budget.trials));
  VERNIER_RETURN_IF_ERROR(CheckBudgetCount("budget.failed", budget.failed_trials));
  if (budget.time.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckPositive("budget.time", *budget.time));
  }
  if (!budget.gpu_hours.has_value()) return absl::OkStatus();
  // Written so that NaN is refused, here and below.
  if (!(*budget.gpu_hours > 0) || !std::isfinite(*budget.gpu_hours)) {
    return FieldError("budget.gpu_hours",
                      fmt::format("must be a finite number above 0, got {}", *budget.gpu_hours));
  }
  if (has_job) return absl::OkStatus();
  return FieldError("budget.gpu_hours",
                    "needs a job: trials of clients hold no GPUs that anybody here counts");
}

absl::Status CheckConvergence(const StudySpec& spec) {
  if (!spec.convergence.has_value()) return absl::OkStatus();
  const double tolerance = spec.convergence->tolerance;
  if (!(tolerance > 0) || !std::isfinite(tolerance)) {
    return FieldError("convergence.tolerance",
                      fmt::format("must be a finite number above 0, got {}", tolerance));
  }
  if (spec.objectives.size() == 1) return absl::OkStatus();
  return FieldError("convergence",
                    fmt::format("needs a single objective, got {}", spec.objectives.size()));
}

// Whether there is such an algorithm or rule, and such an option, is checked where it is made: core
// knows none of them.
absl::Status CheckChoice(std::string_view path, const Choice& choice) {
  if (choice.name.empty()) return FieldError(path, "must have a name");
  for (const auto& [name, value] : choice.options) {
    if (name.empty()) return FieldError(path, "an option's name must not be empty");
    const auto* const number = std::get_if<double>(&value);
    // JSON, in which definitions are stored, has no other numbers.
    if (number == nullptr || std::isfinite(*number)) continue;
    return FieldError(fmt::format("{}.{}", path, name),
                      fmt::format("must be finite, got {}", *number));
  }
  return absl::OkStatus();
}

// Whether the studies exist is checked when the study is created: it is not a matter of the definition.
absl::Status CheckWarmStart(const std::vector<std::string>& names) {
  if (names.size() > limits::kEarlierStudies) {
    return FieldError(
        "warm_start",
        fmt::format("must name at most {} studies, got {}", limits::kEarlierStudies, names.size()));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen.insert(names[i]).second) continue;
    return FieldError(fmt::format("warm_start[{}]", i),
                      fmt::format("study '{}' is named twice", names[i]));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsBetter(Goal goal, double a, double b) {
  // NaN is worse than every number and not better than itself, so that this can order a sort.
  if (std::isnan(a)) return false;
  if (std::isnan(b)) return true;
  return goal == Goal::kMaximize ? a > b : a < b;
}

absl::Status Validate(const StudySpec& spec) {
  VERNIER_RETURN_IF_ERROR(CheckName(spec.name));
  VERNIER_RETURN_IF_ERROR(CheckLabels(spec.labels));
  if (spec.objectives.empty()) VERNIER_RETURN_IF_ERROR(CheckNoObjective(spec));
  VERNIER_RETURN_IF_ERROR(CheckObjectives(spec.objectives));
  VERNIER_RETURN_IF_ERROR(CheckMetrics(spec));
  VERNIER_RETURN_IF_ERROR(CheckChoice("algorithm", spec.algorithm));
  VERNIER_RETURN_IF_ERROR(CheckChoice("stopping", spec.stopping));
  VERNIER_RETURN_IF_ERROR(CheckWarmStart(spec.warm_start));
  if (spec.parallel < 1 || spec.parallel > limits::kParallel) {
    return FieldError(
        "parallel", fmt::format("must be from 1 to {}, got {}", limits::kParallel, spec.parallel));
  }
  VERNIER_RETURN_IF_ERROR(CheckBudget(spec.budget, spec.job.has_value()));
  VERNIER_RETURN_IF_ERROR(CheckConvergence(spec));
  if (spec.lease.ttl != absl::InfiniteDuration()) {
    VERNIER_RETURN_IF_ERROR(CheckPositive("lease.ttl", spec.lease.ttl));
  }
  if (!spec.job.has_value()) return absl::OkStatus();
  // Not in CheckTrainingJob, which does not see the parameters.
  VERNIER_RETURN_IF_ERROR(CheckArguments(spec));
  return CheckTrainingJob(*spec.job);
}

std::string_view StudyStateName(StudyState state) {
  return kStudyStates.at(static_cast<std::size_t>(state));
}

bool IsFinished(StudyState state) {
  return state == StudyState::kCompleted || state == StudyState::kCancelled ||
         state == StudyState::kFailed;
}

}  // namespace vernier
