#include "src/study/final_values.h"

#include <algorithm>
#include <cmath>

namespace vernier::study {

void FinalValues::Add(const std::vector<Objective>& objectives,
                      const Measurement& measurement,
                      bool is_after_stop) {
  for (const Objective& objective : objectives) {
    const auto value = measurement.metrics.find(objective.metric);
    if (value == measurement.metrics.end()) continue;
    const StepValue point{measurement.step, value->second};
    NoteEnd(objective.metric, point, is_after_stop);
    // Neither the best value nor a mean may be spoilt by a NaN. That the last value is not finite
    // is seen in the trial itself (Apply).
    if (objective.final == FinalValue::kLast || !std::isfinite(value->second)) continue;
    std::deque<StepValue>& values = curves_[objective.metric].values;
    if (objective.final == FinalValue::kBest) {
      if (values.empty() || IsBetter(objective.goal, point.second, values.front().second)) {
        values = {point};
      }
      continue;
    }
    // A later value of a step takes the place of the earlier one.
    const auto same = std::ranges::find(values, point.first, &StepValue::first);
    if (same != values.end()) values.erase(same);
    values.push_back(point);
    if (values.size() > static_cast<std::size_t>(objective.final_count)) values.pop_front();
  }
}

void FinalValues::NoteEnd(const std::string& metric, const StepValue& point, bool is_after_stop) {
  if (std::isfinite(point.second)) {
    ends_[metric] = point;
  } else if (!is_after_stop) {
    ends_.erase(metric);
  }
}

void FinalValues::PutBackEnds(const std::vector<Objective>& objectives, Measurement& last) const {
  for (const Objective& objective : objectives) {
    const auto value = last.metrics.find(objective.metric);
    const auto end = ends_.find(objective.metric);
    if (value == last.metrics.end() || std::isfinite(value->second) || end == ends_.end()) continue;
    value->second = end->second.second;
    // The step of a trial's result is that of its first objective.
    if (&objective == &objectives.front()) last.step = end->second.first;
  }
}

Measurement FinalValues::Apply(const std::vector<Objective>& objectives, Measurement last) const {
  PutBackEnds(objectives, last);
  bool is_first = true;
  for (const Objective& objective : objectives) {
    const auto curve = curves_.find(objective.metric);
    const auto value = last.metrics.find(objective.metric);
    if (curve != curves_.end() && value != last.metrics.end() && std::isfinite(value->second)) {
      double sum = 0;
      for (const auto& [step, each] : curve->second.values) sum += each;
      value->second = sum / static_cast<double>(curve->second.values.size());
      if (is_first) last.step = curve->second.values.back().first;
    }
    is_first = false;
  }
  return last;
}

}  // namespace vernier::study
