#include "src/core/stopping_simulation.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "src/core/curve_book.h"
#include "src/core/objectives.h"
#include "src/core/running_time.h"

namespace vernier {
namespace {

// A measurement, or the end of a trial that completed.
struct Moment {
  absl::Time time;
  bool is_end = false;
  std::size_t trial = 0;  // Index of the trial.
  TimedPoint point = {};  // Unless is_end.

  // Measurements come before ends of the same time: the last one is often made as the trial ends.
  auto key() const { return std::tuple(time, is_end, trial, point.step); }
};

std::vector<Moment> MomentsOf(std::span<const SimulatedTrial> trials) {
  std::vector<Moment> moments;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i].trial;
    absl::Time end = trial.ended.value_or(trial.created);
    for (const TimedPoint& point : trials[i].points) {
      moments.push_back({.time = point.time, .trial = i, .point = point});
      // A program's output may be read after it ended.
      end = std::max(end, point.time);
    }
    // Only completed trials count as finished for rules.
    if (trial.state != TrialState::kCompleted) continue;
    moments.push_back({.time = end, .is_end = true, .trial = i});
  }
  std::ranges::stable_sort(moments, {}, &Moment::key);
  return moments;
}

// The result of a trial that is stopped with this curve, just after it reported `last` (Objective::final).
double KeptValue(const Objective& objective, const std::vector<CurvePoint>& points, double last) {
  if (objective.final == FinalValue::kLast || !std::isfinite(last)) return last;
  std::vector<double> values;
  for (const CurvePoint& point : points) {
    if (std::isfinite(point.value)) values.push_back(point.value);
  }
  if (objective.final == FinalValue::kBest) {
    const auto [least, largest] = std::ranges::minmax(values);
    return objective.goal == Goal::kMaximize ? largest : least;
  }
  const std::size_t count =
      std::min(values.size(), static_cast<std::size_t>(objective.final_count));
  double sum = 0;
  for (std::size_t i = values.size() - count; i < values.size(); ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

// The part of the trial's GPU time that lies after `time`.
absl::Duration GpuTimeAfter(const Trial& trial, absl::Time time) {
  absl::Duration after;
  for (Attempt attempt : trial.attempts) {
    if (!attempt.ended) continue;
    after += GpuTime(attempt, *attempt.ended);
    attempt.ended = std::min(*attempt.ended, time);
    after -= GpuTime(attempt, time);
  }
  return after;
}

// A trial's stop in the simulation, with its cost up to then.
struct Stopped {
  SimulatedStop stop;
  absl::Time time;
  std::int64_t measurements = 0;
};

class Simulation {
 public:
  Simulation(const StudySpec& spec,
             const EarlyStopper& rule,
             std::span<const SimulatedTrial> trials)
      : objective_(FirstObjective(spec)), spec_(spec), rule_(rule), trials_(trials) {
    seen_.resize(trials.size());
    stopped_.resize(trials.size());
    if (trials.empty()) return;
    // Numbers of deleted trials are missing; the book has an empty curve for each.
    for (std::int64_t n = 1; n <= trials.back().trial.number.value(); ++n) {
      book_.AddTrial(TrialNumber(n));
    }
  }

  void Run(const SimulationProgress& progress);
  StoppingSimulation Result(std::optional<TrialNumber> best) const;

 private:
  void Judge(const Moment& moment);
  // The result of the trial in fact; with `simulated`, in the simulation. nullopt: it has none, or cannot be the best.
  std::optional<double> ResultOf(std::size_t trial, bool simulated) const;
  std::optional<TrialResult> BestKept() const;
  void AddCosts(std::size_t trial, StoppingSimulation& result) const;

  const Objective& objective_;
  const StudySpec& spec_;
  const EarlyStopper& rule_;
  std::span<const SimulatedTrial> trials_;
  CurveBook book_;
  std::vector<std::int64_t> seen_;               // Measurements so far, by trial.
  std::vector<std::optional<Stopped>> stopped_;  // By trial.
};

void Simulation::Run(const SimulationProgress& progress) {
  const std::vector<Moment> moments = MomentsOf(trials_);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const Moment& moment = moments[i];
    if (stopped_[moment.trial]) continue;
    const Trial& trial = trials_[moment.trial].trial;
    if (moment.is_end) {
      book_.MarkFinished(trial.number, trial.stop.has_value(), trials_[moment.trial].feasible);
    } else {
      Judge(moment);
    }
    if (progress) progress(i + 1, moments.size());
  }
}

void Simulation::Judge(const Moment& moment) {
  const Trial& trial = trials_[moment.trial].trial;
  const TimedPoint& point = moment.point;
  book_.AddPoint(trial.number, spec_.space, trial.point, point.step, point.value);
  ++seen_[moment.trial];
  Verdict verdict = book_.Judge(rule_, trial.number);
  if (!verdict.stop) return;
  book_.MarkFinished(trial.number, /*stopped_early=*/true);
  stopped_[moment.trial] = Stopped{
      .stop = {.trial = trial.number,
               .step = point.step,
               .value = point.value,
               .kept_value = KeptValue(objective_, book_.Get(trial.number).points, point.value),
               .was_stopped = trial.stop.has_value(),
               .explanation = std::move(verdict.explanation)},
      .time = moment.time,
      .measurements = seen_[moment.trial]};
}

std::optional<double> Simulation::ResultOf(std::size_t trial, bool simulated) const {
  const SimulatedTrial& each = trials_[trial];
  if (each.trial.state != TrialState::kCompleted || !each.feasible) return std::nullopt;
  if (simulated && stopped_[trial]) return stopped_[trial]->stop.kept_value;
  const auto final = each.trial.final_metrics.find(objective_.metric);
  if (final == each.trial.final_metrics.end()) return std::nullopt;
  return final->second;
}

std::optional<TrialResult> Simulation::BestKept() const {
  std::optional<TrialResult> best;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const std::optional<double> value = ResultOf(i, /*simulated=*/true);
    if (!value || std::isnan(*value)) continue;
    if (best && !IsBetter(objective_.goal, *value, best->value)) continue;
    best = {.trial = trials_[i].trial.number, .value = *value};
  }
  return best;
}

void Simulation::AddCosts(std::size_t index, StoppingSimulation& result) const {
  const SimulatedTrial& each = trials_[index];
  const auto points = std::ssize(each.points);
  result.total.steps += points;
  result.total.time += TimeTaken(each.trial);
  result.total.gpu_time += UsageOf(each.trial).gpu_time;
  const std::optional<Stopped>& stopped = stopped_[index];
  if (!stopped || stopped->stop.was_stopped) return;
  result.saved.steps += points - stopped->measurements;
  if (each.trial.ended) {
    result.saved.time +=
        std::clamp(*each.trial.ended - stopped->time, absl::ZeroDuration(), TimeTaken(each.trial));
  }
  result.saved.gpu_time += GpuTimeAfter(each.trial, stopped->time);
}

StoppingSimulation Simulation::Result(std::optional<TrialNumber> best) const {
  StoppingSimulation result{.best_kept = BestKept()};
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const SimulatedTrial& each = trials_[i];
    if (!IsFinished(each.trial.state)) continue;
    AddCosts(i, result);
    if (each.trial.number == best) {
      if (const auto value = ResultOf(i, /*simulated=*/false)) {
        result.best = {.trial = each.trial.number, .value = *value};
      }
    }
    if (each.points.empty()) continue;
    ++result.judged;
    result.longest_curve = std::max<std::int64_t>(result.longest_curve, std::ssize(each.points));
    result.was_stopped += each.trial.stop.has_value() ? 1 : 0;
    if (!stopped_[i]) continue;
    SimulatedStop& stop = result.stops.emplace_back(stopped_[i]->stop);
    stop.last_step = std::ranges::max_element(each.points, {}, &TimedPoint::step)->step;
    if (stop.was_stopped || each.trial.state != TrialState::kCompleted) continue;
    const auto final = each.trial.final_metrics.find(objective_.metric);
    if (final != each.trial.final_metrics.end()) stop.final_value = final->second;
    const std::optional<double> value = ResultOf(i, /*simulated=*/false);
    if (!value || std::isnan(*value)) continue;
    stop.would_have_won =
        !result.best_kept || IsBetter(objective_.goal, *value, result.best_kept->value);
  }
  return result;
}

}  // namespace

const SimulatedStop* StoppingSimulation::Find(TrialNumber trial) const {
  const auto found = std::ranges::find(stops, trial, &SimulatedStop::trial);
  return found == stops.end() ? nullptr : &*found;
}

std::int64_t StoppingSimulation::CountUnknown() const {
  return std::ranges::count(stops, true, &SimulatedStop::was_stopped);
}

std::int64_t StoppingSimulation::CountWinners() const {
  return std::ranges::count(stops, true, &SimulatedStop::would_have_won);
}

StoppingSimulation SimulateStopping(const StudySpec& spec,
                                    const EarlyStopper& rule,
                                    std::span<const SimulatedTrial> trials,
                                    std::optional<TrialNumber> best,
                                    const SimulationProgress& progress) {
  Simulation simulation(spec, rule, trials);
  simulation.Run(progress);
  return simulation.Result(best);
}

}  // namespace vernier
