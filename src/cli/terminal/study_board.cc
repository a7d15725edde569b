// The live screen, computed from events alone: the same code serves a running study, one that has ended, and tests
// without a server. The best trial is computed as the server does it (OptimalTrials), so that both agree.

#include "src/cli/terminal/study_board.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/text.h"
#include "src/core/objectives.h"

namespace vernier::cli {
void StudyBoard::Apply(const Event& event) {
  last_event_ = event.seq;
  updated_ = event.time;
  std::visit([&](const auto& payload) { On(payload, event.time); }, event.payload);
}

void StudyBoard::On(const StudyCreated& created, absl::Time time) {
  spec_ = created.spec;
  created_ = time;
  // No amendment changes the space, so the names are taken once.
  for (const Parameter& parameter : spec_->space.parameters()) names_.push_back(parameter.name);
  optimal_ = OptimalTrials(spec_->objectives);
  auto constraints = ParseOutcomeConstraints(*spec_);
  // They were checked when the study was made.
  if (constraints.ok()) outcome_constraints_ = *std::move(constraints);
}

void StudyBoard::On(const StudyStateChanged& changed, absl::Time) {
  state_ = changed.to;
  reason_ = changed.reason;
}

void StudyBoard::On(const StudyAmended& amended, absl::Time) {
  if (!spec_) return;
  // Amendments of older versions carry only budget, parallel and labels.
  if (amended.definition) spec_ = *amended.definition;
  spec_->budget = amended.budget;
  spec_->parallel = amended.parallel;
  if (amended.labels) spec_->labels = *amended.labels;
}

void StudyBoard::On(const TrialCreated& created, absl::Time) {
  trials_[created.trial].point = created.point;
}

void StudyBoard::On(const TrialStateChanged& changed, absl::Time time) {
  Entry& entry = trials_[changed.trial];
  entry.state = changed.to;
  if (changed.to == TrialState::kPreparing) entry.failed_attempt.reset();
  // Only the first start: reruns belong to the trial's duration.
  if (changed.to == TrialState::kRunning && !entry.started) entry.started = time;
  if (IsFinished(changed.to)) entry.ended = time;
  if (changed.ran_to_end) entry.stopped_early = false;
  if (changed.to == TrialState::kPaused) {
    entry.paused = time;
  } else if (entry.paused && !IsFinished(changed.to)) {
    entry.pauses += time - *std::exchange(entry.paused, std::nullopt);
  }
  if (changed.to == TrialState::kFailed || changed.to == TrialState::kInfeasible) {
    entry.message = FirstLine(changed.message);
  }
  if (changed.to != TrialState::kCompleted) return;
  NoteObjectives(changed.final_metrics, entry);
  const std::vector<double> slacks = SlacksOf(outcome_constraints_, changed.final_metrics);
  entry.breaks_constraint = !AreKept(slacks);
  // Only values that are there, in the order of the objectives.
  std::vector<double> values;
  for (const std::optional<double>& value : entry.objectives) {
    if (value) values.push_back(*value);
  }
  // In a study of another interface, which may have no objective, no trial is the best.
  if (spec_ && !HasBest(*spec_)) return;
  // A trial without a value of every objective cannot be compared.
  if (values.size() == entry.objectives.size()) optimal_.Tell(changed.trial, values, slacks);
}

void StudyBoard::On(const AttemptStateChanged& changed, absl::Time) {
  std::optional<AttemptStateChanged>& failed = trials_[changed.trial].failed_attempt;
  failed.reset();
  if (changed.failure != FailureClass::kNone) failed.emplace(changed).replicas.clear();
}

void StudyBoard::On(const MeasurementReported& reported, absl::Time) {
  if (!spec_) return;
  const std::map<std::string, double>& metrics = reported.measurement.metrics;
  Entry& entry = trials_[reported.trial];
  NoteObjectives(metrics, entry);
  entry.last_step = std::max(entry.last_step, reported.measurement.step);
  longest_ = std::max(longest_, entry.last_step);
  const auto first = metrics.find(FirstObjective(*spec_).metric);
  if (first != metrics.end()) entry.curve.push_back(first->second);
}

void StudyBoard::NoteObjectives(const std::map<std::string, double>& metrics, Entry& entry) const {
  if (!spec_) return;
  // By position, as the values of objectives are everywhere.
  entry.objectives.resize(spec_->objectives.size());
  for (std::size_t i = 0; i < entry.objectives.size(); ++i) {
    const auto found = metrics.find(spec_->objectives[i].metric);
    if (found != metrics.end()) entry.objectives[i] = found->second;
  }
}

void StudyBoard::On(const StopDecided& decided, absl::Time) {
  trials_[decided.trial].stopped_early = true;
}

void StudyBoard::On(const ResumeDecided& decided, absl::Time) {
  trials_[decided.trial].stopped_early = false;
}

std::int64_t StudyBoard::open() const {
  return static_cast<std::int64_t>(trials_.size()) - finished();
}

std::int64_t StudyBoard::running() const {
  return std::count_if(trials_.begin(), trials_.end(), [](const auto& trial) {
    const TrialState state = trial.second.state;
    return state == TrialState::kPreparing || state == TrialState::kRunning ||
           state == TrialState::kStopping;
  });
}

std::int64_t StudyBoard::finished() const {
  return std::count_if(trials_.begin(), trials_.end(), [](const auto& trial) {
    return IsFinished(trial.second.state);
  });
}

std::optional<TrialSummary> StudyBoard::Best() const {
  const std::optional<TrialNumber> best = optimal_.best();
  if (!best) return std::nullopt;
  return Row(*best, trials_.at(*best), updated_);
}

TrialSummary StudyBoard::RowOf(TrialNumber trial) const {
  return Row(trial, trials_.at(trial), updated_);
}

bool StudyBoard::IsOptimal(TrialNumber trial) const {
  const std::vector<TrialNumber> optimal = optimal_.optimal();
  return std::binary_search(optimal.begin(), optimal.end(), trial);
}

TrialSummary StudyBoard::Row(TrialNumber number, const Entry& entry, absl::Time now) const {
  // A trial may be told to stop and still end otherwise.
  TrialSummary row = {.number = number.value(),
                      .state = entry.state,
                      .stopped_early = entry.stopped_early && entry.state == TrialState::kCompleted,
                      .last_step = entry.last_step,
                      .is_best = IsOptimal(number),
                      .breaks_constraint = entry.breaks_constraint,
                      .objectives = entry.objectives,
                      .curve = entry.curve,
                      .parameters = CompactPoint(entry.point, names_),
                      .duration = {},
                      .message = entry.message};
  if (entry.started) row.duration = entry.Duration(now);
  return row;
}

std::optional<absl::Duration> StudyBoard::Remaining() const {
  if (!spec_ || !spec_->budget.trials || IsFinished(state_)) return std::nullopt;
  absl::Duration spent;
  std::int64_t measured = 0;
  for (const auto& [number, entry] : trials_) {
    if (!entry.started || !entry.ended) continue;
    spent += entry.Duration(*entry.ended);
    ++measured;
  }
  // Nothing to measure by.
  if (measured == 0) return std::nullopt;
  const std::int64_t left = std::max<std::int64_t>(0, *spec_->budget.trials - finished());
  // Mean duration of ended trials, times those left, divided by how many run at once.
  return spent / measured * left / std::max(1, spec_->parallel);
}

std::string StudyBoard::ProgressLine(const BoardOptions& options, absl::Time now) const {
  // Of a study that has ended, the time stands still.
  const absl::Time until = IsFinished(state_) ? updated_ : now;
  const std::string elapsed = FormatElapsed(until - created_);
  const auto total = spec_ ? spec_->budget.trials : std::nullopt;
  if (!total) return fmt::format("{} trials finished, {}", finished(), elapsed);
  std::string line = fmt::format(
      "{}  {} of {} trials, {}",
      ProgressBar(
          static_cast<double>(finished()), static_cast<double>(*total), 24, options.unicode),
      finished(),
      *total,
      elapsed);
  if (const auto remaining = Remaining()) {
    line += fmt::format(", about {} left", FormatElapsed(*remaining));
  }
  return line;
}

std::vector<TrialSummary> StudyBoard::VisibleRows(std::size_t limit, absl::Time now) const {
  std::vector<std::pair<TrialNumber, const Entry*>> running;
  std::vector<std::pair<TrialNumber, const Entry*>> ended;
  for (const auto& [number, entry] : trials_) {
    (IsFinished(entry.state) ? ended : running).emplace_back(number, &entry);
  }
  std::stable_sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) {
    return a.second->ended > b.second->ended;
  });
  std::vector<TrialSummary> rows;
  // Running trials first, and of those that ended the latest first.
  for (const auto* group : {&running, &ended}) {
    for (const auto& [number, entry] : *group) {
      if (rows.size() < limit) rows.push_back(Row(number, *entry, now));
    }
  }
  return rows;
}

std::string StudyBoard::TitleLine() const {
  return fmt::format("{}  {}  {}, {}, {} at a time",
                     spec_->name,
                     StudyStateName(state_),
                     DescribeObjectives(spec_->objectives),
                     spec_->algorithm.name,
                     spec_->parallel);
}

std::string StudyBoard::BestLine() const {
  const std::optional<TrialSummary> best = Best();
  if (!best) return "best: none yet";
  std::string text = fmt::format("best: trial {}", best->number);
  for (const std::optional<double>& value : best->objectives) {
    text += fmt::format("  {}", FormatFigure(*value));
  }
  text += "  " + best->parameters;
  if (spec_->objectives.size() == 1) return text;
  return fmt::format("{} optimal trials, {}", optimal_.optimal().size(), text);
}

std::vector<std::string> StudyBoard::Lines(const BoardOptions& options, absl::Time now) const {
  if (!spec_) return {};
  std::vector<std::string> lines;
  lines.push_back(Paint(Truncate(TitleLine(), options.width), Style::kBold, options.color));
  lines.push_back(Truncate(ProgressLine(options, now), options.width));
  lines.push_back(Paint(Truncate(BestLine(), options.width),
                        optimal_.best() ? Style::kGreen : Style::kPlain,
                        options.color));
  lines.emplace_back();
  // Below: the table's header, and the line on which the cursor rests.
  const int room = std::max(1, options.height - static_cast<int>(lines.size()) - 2);
  // More rows than this are no help on a live screen, however high it is.
  const std::vector<TrialSummary> rows =
      VisibleRows(static_cast<std::size_t>(std::min(room, 16)), now);
  for (std::string& line :
       TrialTable(rows, spec_->objectives, ScaleOf(rows, options.unicode, longest_))
           .Lines({.width = options.width, .color = options.color})) {
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace vernier::cli
