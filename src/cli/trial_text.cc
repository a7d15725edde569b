// Texts about single trials: `trial show` gives facts, `trial why` the reasons that the algorithm recorded when it
// proposed the trial. Nothing is recomputed here, since the model has changed since then.

#include "src/cli/trial_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/cli/outcome_text.h"
#include "src/cli/study_text.h"
#include "src/cli/terminal/fields.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/text.h"
#include "src/core/point_check.h"
#include "src/core/stopped_early.h"
#include "src/jobs/utilization.h"
#include "src/wire/time_proto.h"
#include "vernier/core/unit_cube.h"

namespace vernier::cli {
namespace {

// "COMPLETED"; "STOPPED at step 3".
std::string StateWord(const Trial& trial) {
  if (!IsStoppedEarly(trial)) return std::string(TrialStateName(trial.state));
  const std::int64_t step = LastStepOf(trial);
  // A trial that was stopped before its first report has no step.
  return step > 0 ? fmt::format("STOPPED at step {}", step) : "STOPPED";
}

// Adds a state with its message, which may have several lines.
void AddMessage(std::string_view name,
                std::string head,
                FailureClass failure,
                std::string_view message,
                Fields& fields) {
  if (failure != FailureClass::kNone) head += fmt::format(" {}", FailureClassName(failure));
  std::vector<std::string> lines = PrintableLines(message);
  if (!lines.empty()) head += ": " + lines.front();
  fields.Add(name, head);
  // Further lines stand below, indented, so that they are not taken for fields of their own.
  for (std::size_t i = 1; i < lines.size(); ++i) fields.Add("", "  " + lines[i]);
}

std::string ReplicaLine(const ReplicaPlacement& replica, const Attempt& attempt) {
  std::string line = fmt::format("   {} {}", replica.role, replica.index);
  // A cluster chooses hosts and ports when it starts the replicas.
  if (!replica.host.empty()) line += fmt::format("  {}:{}", replica.host, replica.port);
  if (!replica.gpus.empty()) {
    line += replica.gpus.front() == kUnknownGpu
                ? fmt::format("  {} gpus", replica.gpus.size())
                : fmt::format("  gpus {}", fmt::join(replica.gpus, ","));
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
    if (result.gpu) {
      line += fmt::format("  gpu {:.0f} % (peak {:.0f} %), {} of {}",
                          100 * result.gpu->utilization,
                          100 * result.gpu->peak_utilization,
                          FormatBytes(result.gpu->peak_memory_bytes),
                          FormatBytes(result.gpu->device_memory_bytes));
    }
  }
  return line;
}

void AddAttempts(const Trial& trial, Fields& fields) {
  bool is_first = true;
  for (const Attempt& attempt : trial.attempts) {
    AddMessage(is_first ? "attempts" : "",
               fmt::format("{}  {}", attempt.number.value(), AttemptStateName(attempt.state)),
               attempt.failure,
               attempt.message,
               fields);
    is_first = false;
    for (const ReplicaPlacement& replica : attempt.placement) {
      fields.Add("", ReplicaLine(replica, attempt));
    }
    fields.Add("", "   logs in " + attempt.directory);
  }
}

bool IsUnordered(const Domain& domain) {
  return std::holds_alternative<CategoricalDomain>(domain) ||
         std::holds_alternative<BoolDomain>(domain);
}

bool HasFailed(const Trial& trial) {
  return trial.state == TrialState::kFailed || trial.state == TrialState::kInfeasible;
}

// How the prediction turned out. A prediction is for a full run, so the value of a trial that was stopped early is not
// comparable.
std::string Outcome(const Trial& trial, const std::string& metric) {
  if (HasFailed(trial)) return ", but the trial failed";
  const auto value = ObjectiveOf(trial, metric);
  if (!value) return "";
  if (!trial.stop) return fmt::format(", came to {}", FormatFigure(*value));
  return fmt::format(" for a full run; it was stopped early, at {}", FormatFigure(*value));
}

std::string Predicted(const Trial& trial, const std::string& metric) {
  const SuggestionRecord& suggestion = trial.suggestion;
  std::string text = FormatFigure(*suggestion.predicted_mean);
  const double deviation = suggestion.predicted_deviation.value_or(0);
  if (suggestion.predicted_deviation) text += fmt::format(" ± {}", FormatCompact(deviation));
  text += Outcome(trial, metric);
  const auto value = ObjectiveOf(trial, metric);
  // How far the value lies from what was predicted, in units of the prediction's own doubt.
  if (value && !HasFailed(trial) && !trial.stop && deviation > 0) {
    text += fmt::format(" ({:+.1f} deviations)", (*value - *suggestion.predicted_mean) / deviation);
  }
  return text;
}

void AddImportance(const std::map<std::string, double>& importance, bool unicode, Fields& fields) {
  constexpr int kBarWidth = 20;
  std::vector<std::pair<std::string, double>> ranked(importance.begin(), importance.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  int width = 0;
  for (const auto& [name, share] : ranked) width = std::max(width, DisplayWidth(name));
  bool is_first = true;
  for (const auto& [name, share] : ranked) {
    fields.Add(is_first ? "importance" : "",
               fmt::format("{}  {}  {:.2f}",
                           PadRight(name, width),
                           ProgressBar(share, 1, kBarWidth, unicode),
                           share));
    is_first = false;
  }
}

std::string Pending(const std::vector<TrialNumber>& pending) {
  std::string text;
  for (const TrialNumber trial : pending) {
    text += fmt::format("{}{}", text.empty() ? "trials " : ", ", trial.value());
  }
  return text;
}

// The prediction of another objective, or of an outcome constraint's slack.
std::string PredictedOther(const Trial& trial,
                           const std::string& name,
                           const PredictedValue& value) {
  return fmt::format(
      "{} ± {}{}", FormatFigure(value.mean), FormatCompact(value.deviation), Outcome(trial, name));
}

std::string ResultOf(const Neighbour& neighbour) {
  if (neighbour.was_pending) return "objective not known at that time";
  if (neighbour.has_failed) return "failed";
  if (!neighbour.objective) return "objective -";
  return fmt::format("objective {}{}",
                     FormatFigure(*neighbour.objective),
                     neighbour.was_stopped ? ", stopped early" : "");
}

void AddNearest(const std::vector<Neighbour>& neighbours, Fields& fields) {
  bool is_first = true;
  for (const Neighbour& neighbour : neighbours) {
    fields.Add(is_first ? "nearest" : "",
               fmt::format("trial {}  distance {:.2f}  {}",
                           neighbour.trial,
                           neighbour.distance,
                           ResultOf(neighbour)));
    is_first = false;
  }
}

void AddStop(const Trial& trial, Fields& fields) {
  const StopRecord& stop = *trial.stop;
  fields.Add("stopped by",
             stop.version.empty() ? stop.rule : stop.rule + " version " + stop.version);
  // Mostly in the trial's message, which stands beside its state.
  if (!stop.explanation.empty() && !trial.message.ends_with(stop.explanation)) {
    fields.Add("", stop.explanation);
  }
  for (const auto& [name, value] : stop.numbers) {
    fields.Add("", fmt::format("{} {}", name, FormatFigure(value)));
  }
}

// What the stopping rule took back. An attempt that was stopped and is not the last one paused the trial.
void AddPauses(const Trial& trial, Fields& fields) {
  bool is_first = true;
  for (std::size_t i = 0; i < trial.attempts.size(); ++i) {
    const Attempt& attempt = trial.attempts[i];
    const bool is_last = i + 1 == trial.attempts.size();
    if (attempt.state != AttemptState::kStopped ||
        (is_last && trial.state != TrialState::kPaused)) {
      continue;
    }
    std::string text = fmt::format("after attempt {}", attempt.number.value());
    if (is_last) {
      text += ", still";
    } else if (attempt.ended.has_value()) {
      const absl::Duration time = trial.attempts[i + 1].placed - *attempt.ended;
      text += ", for " + FormatElapsed(std::max(time, absl::ZeroDuration()));
    }
    fields.Add(is_first ? "paused" : "", text);
    is_first = false;
  }
}

}  // namespace

std::string DescribeWait(const QueuedGang& gang, absl::Time now) {
  // A plan whose time has passed says nothing.
  if (!gang.start_by || *gang.start_by <= now) return Printable(gang.reason);
  return fmt::format(
      "{}; starts within {}", Printable(gang.reason), FormatElapsed(*gang.start_by - now));
}

// Describes the source that the server recorded for a value.
std::string DescribeSource(std::string_view source) {
  constexpr std::pair<std::string_view, std::string_view> kSources[] = {
      {"log", "log: what the program printed"},
      {"json", "json: JSON lines that the program printed"},
      {"hypertune", "hypertune: the metric file of the hypertune library"},
      {"tfevents", "tfevents: TensorBoard's event files"},
      {"report", "report: `vernier report` or a call of the program"},
      {"client", "client: a client's call"}};
  for (const auto& [known, words] : kSources) {
    if (source == known) return std::string(words);
  }
  return std::string(source);
}

std::string DescribeTrial(const StudyRecord& study,
                          const TrialRecord& record,
                          std::string_view source,
                          absl::Time now,
                          absl::TimeZone zone) {
  const Trial& trial = record.trial;
  Fields fields;
  fields.Add("trial", fmt::format("{} of {}", trial.number.value(), study.name()));
  AddMessage("state", StateWord(trial), trial.failure, trial.message, fields);
  if (record.queued) {
    fields.Add("needs", record.queued->needs);
    fields.Add("waits", DescribeWait(*record.queued, now));
  }
  // While it runs, the last measurement.
  const auto& metrics =
      trial.final_metrics.empty() && trial.last ? trial.last->metrics : trial.final_metrics;
  for (const auto& [name, value] : metrics) fields.Add(name, FormatFigure(value));
  if (trial.state == TrialState::kCompleted) {
    for (const OutcomeConstraint& constraint : study.outcome_constraints) {
      fields.Add("outcome", DescribeSlack(constraint, trial.final_metrics));
    }
  }
  bool is_first = true;
  // In the order of the study, which is that of the file.
  for (const std::string& name : study.parameter_names()) {
    const auto value = trial.point.find(name);
    if (value == trial.point.end()) continue;
    fields.Add(is_first ? "parameters" : "",
               fmt::format("{}={}", name, FormatValue(value->second)));
    is_first = false;
  }
  // Trials that a user added were proposed by nobody.
  if (trial.suggestion.algorithm.empty()) {
    fields.Add("proposed by", trial.suggestion.origin);
  } else {
    fields.Add("proposed by",
               fmt::format("{} ({})", trial.suggestion.algorithm, trial.suggestion.origin));
  }
  if (trial.stop) AddStop(trial, fields);
  AddPauses(trial, fields);
  fields.Add("reported",
             trial.measurements == 1 ? "1 measurement"
                                     : fmt::format("{} measurements", trial.measurements));
  if (!source.empty()) fields.Add("read from", DescribeSource(source));
  if (!trial.client.empty()) fields.Add(trial.lease ? "leased to" : "tried by", trial.client);
  fields.Add("created", FormatMoment(trial.created, zone));
  if (const auto duration = DurationOf(trial, now)) {
    fields.Add(trial.ended ? "took" : "runs for", FormatElapsed(*duration));
  }
  const ResourceUsage used = UsageOf(trial);
  if (used != ResourceUsage{}) fields.Add("used", DescribeUsage(used));
  const std::string utilization =
      study.study.spec.job ? DescribeUtilization(jobs::UtilizationOf(*study.study.spec.job, trial))
                           : "";
  if (!utilization.empty()) fields.Add("utilization", utilization);
  AddAttempts(trial, fields);
  return fields.Text();
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
  // The unit cube makes scales comparable: on a log scale, factors count.
  const auto coordinates_a = EncodePoint(space, a);
  const auto coordinates_b = EncodePoint(space, b);
  double sum = 0;
  int active = 0;
  for (std::size_t i = 0; i < coordinates_a.size(); ++i) {
    const auto& left = coordinates_a[i];
    const auto& right = coordinates_b[i];
    if (!left && !right) continue;
    ++active;
    // Active in only one of them: as far apart as can be.
    if (!left || !right) {
      sum += 1;
    } else if (IsUnordered(space.parameters()[i].domain)) {
      // Categories are the same or not; there is nothing between them.
      sum += *left == *right ? 0 : 1;
    } else {
      sum += (*left - *right) * (*left - *right);
    }
  }
  // The mean over active parameters, so that points with many parameters are not farther apart.
  return active == 0 ? 0 : std::sqrt(sum / active);
}

// Whether the older trial `other` had no result when `trial` was proposed: it was pending, or in the same batch. Trials
// of a batch have consecutive numbers.
bool WasPending(const SuggestionRecord& suggestion, TrialNumber trial, TrialNumber other) {
  const bool same_batch = other.value() >= trial.value() - suggestion.batch_index;
  return same_batch || std::ranges::find(suggestion.pending, other) != suggestion.pending.end();
}

Neighbourhood::Neighbourhood(const StudyRecord& study, const Trial& trial, std::size_t count)
    : study_(study),
      trial_(trial),
      count_(count),
      is_whole_(IsWhole(study.study.spec.space, trial.point)) {}

void Neighbourhood::Show(const Trial& other) {
  const Space& space = study_.study.spec.space;
  // Numbers are in order of proposal: larger ones came later.
  if (!is_whole_ || other.number >= trial_.number || !IsWhole(space, other.point)) return;
  const double distance = PointDistance(space, trial_.point, other.point);
  // A trial that is as near as the last is not nearer.
  if (nearest_.size() == count_ && distance >= nearest_.back().distance) return;
  const bool was_pending = WasPending(trial_.suggestion, trial_.number, other.number);
  // Only what the algorithm knew at that time.
  const bool counts = !was_pending && !HasFailed(other);
  const Neighbour neighbour{
      .trial = other.number.value(),
      .distance = distance,
      .objective = counts ? ObjectiveOf(other, study_.objective().metric) : std::nullopt,
      .was_pending = was_pending,
      .was_stopped = IsStoppedEarly(other),
      .has_failed = HasFailed(other)};
  const auto place = std::ranges::upper_bound(nearest_, distance, {}, &Neighbour::distance);
  nearest_.insert(place, neighbour);
  // One more than wanted, at most: the farthest goes.
  nearest_.resize(std::min(nearest_.size(), count_));
}

std::string ExplainTrial(const StudyRecord& study,
                         const TrialRecord& record,
                         const std::vector<Neighbour>& nearest,
                         bool unicode) {
  const Trial& trial = record.trial;
  const SuggestionRecord& suggestion = trial.suggestion;
  Fields fields;
  fields.Add("trial", fmt::format("{} of {}", trial.number.value(), study.name()));
  AddMessage("state", StateWord(trial), trial.failure, trial.message, fields);
  fields.Add("point", CompactPoint(trial.point, study.parameter_names()));
  fields.Add("origin", suggestion.origin.empty() ? "-" : suggestion.origin);
  if (!suggestion.algorithm.empty()) {
    fields.Add("algorithm",
               fmt::format("{} version {}, as of event {}",
                           suggestion.algorithm,
                           suggestion.version,
                           suggestion.as_of.value()));
  }
  if (!suggestion.note.empty()) fields.Add("note", suggestion.note);
  if (suggestion.predicted_mean) {
    fields.Add("predicted", Predicted(trial, study.objective().metric));
  }
  for (const auto& [name, value] : suggestion.predicted_others) {
    fields.Add("", fmt::format("{}: {}", name, PredictedOther(trial, name, value)));
  }
  if (suggestion.expected_improvement) {
    fields.Add("expected",
               fmt::format("to improve {} by {}",
                           study.objective().metric,
                           FormatCompact(*suggestion.expected_improvement)));
  }
  if (suggestion.acquisition) fields.Add("acquisition", FormatFigure(*suggestion.acquisition));
  AddImportance(suggestion.importance, unicode, fields);
  fields.Add("pending", suggestion.pending.empty() ? "none" : Pending(suggestion.pending));
  AddNearest(nearest, fields);
  if (trial.stop) AddStop(trial, fields);
  AddPauses(trial, fields);
  return fields.Text();
}

}  // namespace vernier::cli
