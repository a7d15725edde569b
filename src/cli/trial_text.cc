#include "src/cli/trial_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "fmt/format.h"
#include "src/cli/outcome_text.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/text.h"
#include "src/jobs/utilization.h"
#include "src/wire/time_proto.h"
#include "vernier/core/unit_cube.h"

namespace vernier::cli {
namespace {

std::string Field(std::string_view name, std::string_view value) {
  return fmt::format("{:<12}{}\n", name, value);
}

std::string StateLine(const Trial& trial) {
  std::string line(TrialStateName(trial.state));
  if (trial.failure != FailureClass::kNone) {
    line += fmt::format(" {}", FailureClassName(trial.failure));
  }
  if (!trial.message.empty()) line += ": " + Printable(trial.message);
  return line;
}

std::string AttemptLine(const Attempt& attempt) {
  std::string line = fmt::format("{}  {}", attempt.number.value(), AttemptStateName(attempt.state));
  if (attempt.failure != FailureClass::kNone) {
    line += fmt::format(" {}", FailureClassName(attempt.failure));
  }
  if (!attempt.message.empty()) line += ": " + Printable(attempt.message);
  return line;
}

std::string ReplicaLine(const ReplicaPlacement& replica, const Attempt& attempt) {
  std::string line =
      fmt::format("   {} {}  {}:{}", replica.role, replica.index, replica.host, replica.port);
  for (std::size_t i = 0; i < replica.gpus.size(); ++i) {
    line += fmt::format("{}{}", i == 0 ? "  gpus " : ",", replica.gpus[i]);
  }
  for (const ReplicaResult& result : attempt.replicas) {
    if (result.role != replica.role || result.index != replica.index) continue;
    if (result.exit_code) line += fmt::format("  exit code {}", *result.exit_code);
    if (result.signal) line += fmt::format("  signal {}", *result.signal);
    if (result.restarts > 0) line += fmt::format("  restarts {}", result.restarts);
    if (result.cpu_time > absl::ZeroDuration()) {
      line += fmt::format("  cpu {}  memory {}",
                          FormatElapsed(result.cpu_time),
                          FormatBytes(result.peak_memory_bytes));
    }
  }
  return line;
}

std::string Attempts(const Trial& trial) {
  std::string text;
  for (const Attempt& attempt : trial.attempts) {
    text += Field(text.empty() ? "attempts" : "", AttemptLine(attempt));
    for (const ReplicaPlacement& replica : attempt.placement) {
      text += Field("", ReplicaLine(replica, attempt));
    }
    text += Field("", "   logs in " + attempt.directory);
  }
  return text;
}

bool IsUnordered(const Domain& domain) {
  return std::holds_alternative<CategoricalDomain>(domain) ||
         std::holds_alternative<BoolDomain>(domain);
}

std::string Predicted(const SuggestionRecord& suggestion, const std::optional<double>& objective) {
  std::string text = FormatFigure(*suggestion.predicted_mean);
  const double deviation = suggestion.predicted_deviation.value_or(0);
  if (suggestion.predicted_deviation) text += fmt::format(" ± {}", FormatCompact(deviation));
  if (!objective) return text;
  text += fmt::format(", came to {}", FormatFigure(*objective));
  if (deviation > 0) {
    text +=
        fmt::format(" ({:+.1f} deviations)", (*objective - *suggestion.predicted_mean) / deviation);
  }
  return text;
}

std::string Importance(const std::map<std::string, double>& importance, bool unicode) {
  constexpr int kBarWidth = 20;
  std::vector<std::pair<std::string, double>> ranked(importance.begin(), importance.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  int width = 0;
  for (const auto& [name, share] : ranked) width = std::max(width, DisplayWidth(name));
  std::string text;
  for (const auto& [name, share] : ranked) {
    text += Field(text.empty() ? "importance" : "",
                  fmt::format("{}  {}  {:.2f}",
                              PadRight(name, width),
                              ProgressBar(share, 1, kBarWidth, unicode),
                              share));
  }
  return text;
}

std::string Pending(const std::vector<TrialNumber>& pending) {
  std::string text;
  for (const TrialNumber trial : pending) {
    text += fmt::format("{}{}", text.empty() ? "trials " : ", ", trial.value());
  }
  return text;
}

// Of another objective, or of an outcome constraint's slack.
std::string PredictedOther(const Trial& trial,
                           const std::string& name,
                           const PredictedValue& value) {
  std::string text =
      fmt::format("{} ± {}", FormatFigure(value.mean), FormatCompact(value.deviation));
  if (const auto measured = ObjectiveOf(trial, name)) {
    text += fmt::format(", came to {}", FormatFigure(*measured));
  }
  return text;
}

std::string Nearest(const std::vector<Neighbour>& neighbours) {
  std::string text;
  for (const Neighbour& neighbour : neighbours) {
    text += Field(text.empty() ? "nearest" : "",
                  fmt::format("trial {}  distance {:.2f}  objective {}",
                              neighbour.trial,
                              neighbour.distance,
                              neighbour.objective     ? FormatFigure(*neighbour.objective)
                              : neighbour.was_pending ? "not known by then"
                                                      : "-"));
  }
  return text;
}

std::string StopLines(const StopRecord& stop) {
  std::string text = Field(
      "stopped by", stop.version.empty() ? stop.rule : stop.rule + " version " + stop.version);
  if (!stop.explanation.empty()) text += Field("", stop.explanation);
  for (const auto& [name, value] : stop.numbers) {
    text += Field("", fmt::format("{} {}", name, FormatFigure(value)));
  }
  return text;
}

}  // namespace

std::string DescribeWait(const QueuedGang& gang, absl::Time now) {
  if (!gang.start_by) return Printable(gang.reason);
  return fmt::format("{}; starts within {}",
                     Printable(gang.reason),
                     FormatElapsed(std::max(*gang.start_by - now, absl::ZeroDuration())));
}

std::string DescribeTrial(const StudyRecord& study,
                          const TrialRecord& record,
                          absl::Time now,
                          absl::TimeZone zone) {
  const Trial& trial = record.trial;
  std::string text = Field("trial", fmt::format("{} of {}", trial.number.value(), study.name()));
  text += Field("state", StateLine(trial));
  if (record.queued) {
    text += Field("needs", record.queued->needs);
    text += Field("waits", DescribeWait(*record.queued, now));
  }
  const auto& metrics =
      trial.final_metrics.empty() && trial.last ? trial.last->metrics : trial.final_metrics;
  for (const auto& [name, value] : metrics) text += Field(name, FormatFigure(value));
  if (trial.state == TrialState::kCompleted) {
    for (const OutcomeConstraint& constraint : study.outcome_constraints) {
      text += Field("outcome", DescribeSlack(constraint, trial.final_metrics));
    }
  }
  bool is_first = true;
  for (const std::string& name : study.parameter_names()) {
    const auto value = trial.point.find(name);
    if (value == trial.point.end()) continue;
    text +=
        Field(is_first ? "parameters" : "", fmt::format("{}={}", name, FormatValue(value->second)));
    is_first = false;
  }
  if (trial.suggestion.algorithm.empty()) {
    text += Field("proposed by", trial.suggestion.origin);
  } else {
    text += Field("proposed by",
                  fmt::format("{} ({})", trial.suggestion.algorithm, trial.suggestion.origin));
  }
  if (trial.stop) text += StopLines(*trial.stop);
  text += Field("reported", fmt::format("{} measurements", trial.measurements));
  if (!trial.client.empty()) text += Field(trial.lease ? "leased to" : "tried by", trial.client);
  text += Field("created", FormatMoment(trial.created, zone));
  if (const auto duration = DurationOf(trial, now)) {
    text += Field(trial.ended ? "took" : "runs for", FormatElapsed(*duration));
  }
  const ResourceUsage used = UsageOf(trial);
  if (used != ResourceUsage{}) text += Field("used", DescribeUsage(used));
  const std::string utilization =
      study.study.spec.job ? DescribeUtilization(jobs::UtilizationOf(*study.study.spec.job, trial))
                           : "";
  if (!utilization.empty()) text += Field("utilization", utilization);
  return text + Attempts(trial);
}

Table MeasurementTable(const std::vector<v1::Measurement>& measurements) {
  std::set<std::string> names;
  for (const v1::Measurement& measurement : measurements) {
    for (const auto& [name, value] : measurement.metrics()) names.insert(name);
  }
  std::vector<Column> columns = {{.name = "STEP", .align = Align::kRight},
                                 {.name = "ELAPSED", .align = Align::kRight}};
  for (const std::string& name : names) columns.push_back({.name = name, .align = Align::kRight});
  Table table(columns);
  for (const v1::Measurement& measurement : measurements) {
    std::vector<Cell> row = {{std::to_string(measurement.step())},
                             {FormatElapsed(wire::DecodeDuration(measurement.elapsed()))}};
    for (const std::string& name : names) {
      const auto value = measurement.metrics().find(name);
      row.push_back({value == measurement.metrics().end() ? "-" : FormatFigure(value->second)});
    }
    table.AddRow(std::move(row));
  }
  return table;
}

double PointDistance(const Space& space, const Point& a, const Point& b) {
  const auto coordinates_a = EncodePoint(space, a);
  const auto coordinates_b = EncodePoint(space, b);
  double sum = 0;
  int active = 0;
  for (std::size_t i = 0; i < coordinates_a.size(); ++i) {
    const auto& left = coordinates_a[i];
    const auto& right = coordinates_b[i];
    if (!left && !right) continue;
    ++active;
    if (!left || !right) {
      sum += 1;
    } else if (IsUnordered(space.parameters()[i].domain)) {
      sum += *left == *right ? 0 : 1;
    } else {
      sum += (*left - *right) * (*left - *right);
    }
  }
  return active == 0 ? 0 : std::sqrt(sum / active);
}

// Whether `other`, which is older, was out or in the same batch when the trial was proposed.
bool WasPending(const SuggestionRecord& suggestion, TrialNumber trial, TrialNumber other) {
  const bool same_batch = other.value() >= trial.value() - suggestion.batch_index;
  return same_batch || std::ranges::find(suggestion.pending, other) != suggestion.pending.end();
}

std::vector<Neighbour> NearestTrials(const StudyRecord& study,
                                     const Trial& trial,
                                     const std::vector<TrialRecord>& others,
                                     std::size_t count) {
  std::vector<Neighbour> neighbours;
  for (const TrialRecord& other : others) {
    if (other.trial.number >= trial.number) continue;
    const bool was_pending = WasPending(trial.suggestion, trial.number, other.trial.number);
    neighbours.push_back(
        {.trial = other.trial.number.value(),
         .distance = PointDistance(study.study.spec.space, trial.point, other.trial.point),
         .objective =
             was_pending ? std::nullopt : ObjectiveOf(other.trial, study.objective().metric),
         .was_pending = was_pending});
  }
  std::stable_sort(neighbours.begin(), neighbours.end(), [](const auto& a, const auto& b) {
    return a.distance < b.distance;
  });
  neighbours.resize(std::min(neighbours.size(), count));
  return neighbours;
}

std::string ExplainTrial(const StudyRecord& study,
                         const TrialRecord& record,
                         const std::vector<TrialRecord>& others,
                         bool unicode) {
  constexpr std::size_t kNeighbours = 3;
  const Trial& trial = record.trial;
  const SuggestionRecord& suggestion = trial.suggestion;
  std::string text = Field("trial", fmt::format("{} of {}", trial.number.value(), study.name()));
  text += Field("state", StateLine(trial));
  text += Field("point", CompactPoint(trial.point, study.parameter_names()));
  text += Field("origin", suggestion.origin.empty() ? "-" : suggestion.origin);
  if (!suggestion.algorithm.empty()) {
    text += Field("algorithm",
                  fmt::format("{} version {}, as of event {}",
                              suggestion.algorithm,
                              suggestion.version,
                              suggestion.as_of.value()));
  }
  if (!suggestion.note.empty()) text += Field("note", suggestion.note);
  if (suggestion.predicted_mean) {
    text += Field("predicted", Predicted(suggestion, ObjectiveOf(trial, study.objective().metric)));
  }
  for (const auto& [name, value] : suggestion.predicted_others) {
    text += Field("", fmt::format("{}: {}", name, PredictedOther(trial, name, value)));
  }
  if (suggestion.expected_improvement) {
    text += Field("expected",
                  fmt::format("to improve {} by {}",
                              study.objective().metric,
                              FormatCompact(*suggestion.expected_improvement)));
  }
  if (suggestion.acquisition) text += Field("acquisition", FormatFigure(*suggestion.acquisition));
  text += Importance(suggestion.importance, unicode);
  text += Field("pending", suggestion.pending.empty() ? "none" : Pending(suggestion.pending));
  text += Nearest(NearestTrials(study, trial, others, kNeighbours));
  if (trial.stop) text += StopLines(*trial.stop);
  return text;
}

}  // namespace vernier::cli
