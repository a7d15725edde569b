#include "src/study/warm_start.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "src/core/objectives.h"
#include "src/core/status.h"
#include "src/study/state_machine.h"

namespace vernier::study {
namespace {

struct MovedPoint {
  Point point;
  bool is_whole = true;  // It has every value of the point it was made from.
};

// InvalidArgument: the point has no place in the space.
absl::StatusOr<MovedPoint> Moved(const Point& from, const Space& space) {
  const Point typed = space.InKind(from);
  MovedPoint moved;
  std::size_t used = 0;
  for (const int index : space.parents_first()) {
    const Parameter& parameter = space.parameters()[static_cast<std::size_t>(index)];
    if (!space.IsActive(index, moved.point)) continue;
    const auto at = typed.find(parameter.name);
    if (at != typed.end()) {
      moved.point[parameter.name] = at->second;
      ++used;
    } else if (parameter.default_value.has_value()) {
      moved.point[parameter.name] = *parameter.default_value;
    } else {
      return InvalidArgument("it has no {}, which has no default", parameter.name);
    }
  }
  moved.is_whole = used == typed.size();
  VERNIER_RETURN_IF_ERROR(space.Check(moved.point));
  return moved;
}

struct MovedTrial {
  Observation trial;
  bool is_whole = true;
};

absl::StatusOr<MovedTrial> Moved(const Trial& trial,
                                 const StudySpec& spec,
                                 const std::vector<OutcomeConstraint>& constraints) {
  VERNIER_ASSIGN_OR_RETURN(MovedPoint point, Moved(trial.point, spec.space));
  Observation moved{.trial = trial.number, .point = std::move(point.point)};
  moved.values = ValuesOf(spec.objectives, trial.final_metrics);
  for (std::size_t i = 0; i < moved.values.size(); ++i) {
    if (!std::isfinite(moved.values[i])) {
      return InvalidArgument("it has no value of {}", spec.objectives[i].metric);
    }
  }
  moved.slacks = SlacksOf(constraints, trial.final_metrics);
  return MovedTrial{.trial = std::move(moved), .is_whole = point.is_whole};
}

// A trial that a study in between took over, whose objectives and constraints may stand in another order.
absl::StatusOr<MovedTrial> Moved(const Observation& trial,
                                 const StudySpec& between,
                                 const StudySpec& spec) {
  VERNIER_ASSIGN_OR_RETURN(MovedPoint point, Moved(trial.point, spec.space));
  Observation moved{.trial = trial.trial, .point = std::move(point.point)};
  for (const Objective& objective : spec.objectives) {
    const auto same = [&](const Objective& other) { return other.metric == objective.metric; };
    const auto at = std::ranges::find_if(between.objectives, same);
    if (at == between.objectives.end()) {
      return InvalidArgument("it has no value of {}", objective.metric);
    }
    moved.values.push_back(trial.values[static_cast<std::size_t>(at - between.objectives.begin())]);
  }
  for (const std::string& constraint : spec.outcome_constraints) {
    const auto at = std::ranges::find(between.outcome_constraints, constraint);
    const auto index = static_cast<std::size_t>(at - between.outcome_constraints.begin());
    moved.slacks.push_back(index < trial.slacks.size() ? trial.slacks[index]
                                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return MovedTrial{.trial = std::move(moved), .is_whole = point.is_whole};
}

std::string_view GoalVerb(Goal goal) { return goal == Goal::kMaximize ? "maximizes" : "minimizes"; }

// A metric with the opposite goal is refused: what was best there would be worst here.
absl::Status CheckGoals(const StudySpec& earlier, const StudySpec& spec) {
  for (const Objective& objective : spec.objectives) {
    for (const Objective& before : earlier.objectives) {
      if (before.metric != objective.metric || before.goal == objective.goal) continue;
      return InvalidArgument("study '{}' {} {}, this one {} it",
                             earlier.name,
                             GoalVerb(before.goal),
                             before.metric,
                             GoalVerb(objective.goal));
    }
  }
  return absl::OkStatus();
}

// Whether the earlier study itself would not propose the point of this trial again.
bool CountsAsTried(const TrialEntry& row) {
  return !row.trial.deleted && !row.is_forgotten && row.trial.state != TrialState::kCancelled;
}

// Takes the trials and points of one study over, latest first.
class EarlierStudyBuilder {
 public:
  explicit EarlierStudyBuilder(EarlierStudy study) : study_(std::move(study)) {}

  bool IsFull() const { return study_.trials.size() >= kMostTaken; }
  void Learn(MovedTrial moved) {
    study_.is_projected = study_.is_projected || !moved.is_whole;
    if (moved.is_whole) whole_.push_back(moved.trial.point);
    study_.trials.push_back(std::move(moved.trial));
  }
  // Points that have no place in the space, or lost a value, were not tried in it.
  void Try(const Point& point, const Space& space) {
    if (study_.tried.size() >= kMostTried) return;
    absl::StatusOr<MovedPoint> moved = Moved(point, space);
    if (moved.ok() && moved->is_whole) study_.tried.push_back(std::move(moved->point));
  }
  EarlierStudy Take() && {
    std::ranges::reverse(study_.trials);
    std::ranges::reverse(study_.tried);
    if (study_.is_projected) {
      study_.tried.insert(study_.tried.end(), whole_.rbegin(), whole_.rend());
    }
    return std::move(study_);
  }

 private:
  EarlierStudy study_;
  std::vector<Point> whole_;
};

// The trials of `study` that `nearer`, a study of its name, has as well. A study that was created under the name of a
// deleted one has the same numbers with other values.
void LeaveOut(const EarlierStudy& nearer, EarlierStudy& study) {
  if (nearer.name != study.name) return;
  std::map<TrialNumber, const Observation*> known;
  for (const Observation& trial : nearer.trials) known.emplace(trial.trial, &trial);
  std::erase_if(study.trials, [&](const Observation& trial) {
    const auto at = known.find(trial.trial);
    return at != known.end() && at->second->values == trial.values;
  });
  if (study.trials.empty()) study.tried.clear();
}

// "trial 3: it has no y": why a trial does not fit.
std::string UnfitReason(TrialNumber trial, const absl::Status& why) {
  return fmt::format("; trial {}: {}", trial.value(), std::string(why.message()));
}

}  // namespace

bool ResumesJob(const StudySpec& spec) {
  if (!spec.job.has_value() || !spec.job->input.has_value()) return false;
  const std::optional<HyperparameterSpec>& tuning = spec.job->input->hyperparameters;
  return tuning.has_value() && !tuning->resume_previous_job_id.empty() &&
         spec.warm_start == std::vector<std::string>{tuning->resume_previous_job_id};
}

absl::StatusOr<Inheritance> Inheritance::Create(const StudySpec& spec) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<OutcomeConstraint> constraints,
                           ParseOutcomeConstraints(spec));
  return Inheritance(spec, std::move(constraints));
}

absl::Status Inheritance::Add(const StudyFold& earlier, const Optimizer* optimizer) {
  const Study& study = earlier.header();
  if (study.spec.objectives.empty()) {
    return InvalidArgument("study '{}' runs a job once and tunes nothing", study.spec.name);
  }
  if (ResumesJob(created_.spec) && !IsFinished(study.state)) {
    return InvalidArgument("study '{}' is {}: a job can be resumed once it has ended",
                           study.spec.name,
                           StudyStateName(study.state));
  }
  VERNIER_RETURN_IF_ERROR(CheckGoals(study.spec, created_.spec));
  VERNIER_RETURN_IF_ERROR(AddTrials(earlier));
  for (const EarlierStudy& distant : earlier.earlier()) AddDistant(distant, study.spec);
  GoOn(earlier, optimizer);
  return absl::OkStatus();
}

absl::Status Inheritance::AddTrials(const StudyFold& earlier) {
  const StudySpec& spec = created_.spec;
  const std::string& name = earlier.header().spec.name;
  EarlierStudyBuilder taking({.name = name, .trials = {}, .count = earlier.header().trials});
  std::size_t completed = 0;
  std::string why;
  const std::vector<const TrialEntry*> rows = earlier.AllRows();
  for (auto at = rows.rbegin(); at != rows.rend(); ++at) {
    const TrialEntry* const row = *at;
    const Trial& trial = row->trial;
    if (!CountsAsTried(*row)) continue;
    // A trial that was stopped early has no final value to learn from.
    const bool is_known = trial.state == TrialState::kCompleted && !trial.stop.has_value();
    if (!is_known || taking.IsFull()) {
      taking.Try(trial.point, spec.space);
      continue;
    }
    ++completed;
    absl::StatusOr<MovedTrial> moved = row->is_partial ? InvalidArgument("its point lacks values")
                                                       : Moved(trial, spec, constraints_);
    if (moved.ok()) {
      taking.Learn(*std::move(moved));
    } else {
      taking.Try(trial.point, spec.space);
      if (why.empty()) why = UnfitReason(trial.number, moved.status());
    }
  }
  if (completed == 0 && !ResumesJob(spec)) {
    return InvalidArgument("study '{}' has no completed trial to start from", name);
  }
  EarlierStudy taken = std::move(taking).Take();
  if (completed > 0 && taken.trials.empty()) {
    return InvalidArgument("{} of study '{}' fits this one{}",
                           completed == 1
                               ? "no completed trial"
                               : fmt::format("none of the {} completed trials", completed),
                           name,
                           why);
  }
  created_.earlier.push_back(std::move(taken));
  return absl::OkStatus();
}

// Takes over what an earlier study had taken over. Unlike a study that is named, one without any
// fitting trial is no error.
void Inheritance::AddDistant(const EarlierStudy& distant, const StudySpec& between) {
  const Space& space = created_.spec.space;
  EarlierStudyBuilder taking({.name = distant.name,
                              .trials = {},
                              .count = std::max(distant.count, std::ssize(distant.trials)),
                              .is_projected = distant.is_projected});
  for (auto trial = distant.trials.rbegin(); trial != distant.trials.rend(); ++trial) {
    absl::StatusOr<MovedTrial> moved = Moved(*trial, between, created_.spec);
    if (!moved.ok()) {
      if (!distant.is_projected) taking.Try(trial->point, space);
      continue;
    }
    moved->is_whole = moved->is_whole && !distant.is_projected;
    taking.Learn(*std::move(moved));
  }
  for (auto point = distant.tried.rbegin(); point != distant.tried.rend(); ++point) {
    taking.Try(*point, space);
  }
  distant_.push_back(std::move(taking).Take());
}

void Inheritance::GoOn(const StudyFold& earlier, const Optimizer* optimizer) {
  const StudySpec& before = earlier.header().spec;
  const std::int64_t last = earlier.next_trial().value() - 1;
  if (ResumesJob(created_.spec)) created_.trials_before = last;
  const auto streams = static_cast<std::int64_t>(earlier.StreamOf(TrialNumber(last)));
  // No stream of an earlier study is drawn again: with an equal seed it would repeat that study's points.
  created_.streams_before = std::max(created_.streams_before, streams - created_.trials_before);
  const bool is_same =
      before.space == created_.spec.space && before.algorithm == created_.spec.algorithm;
  if (!is_same || optimizer == nullptr || !created_.optimizer_state.empty()) return;
  created_.optimizer_state = optimizer->Continuation(earlier.optimizer_state());
}

StudyCreated Inheritance::Take() && {
  for (EarlierStudy& distant : distant_) {
    if (created_.earlier.size() == kMaxEarlierStudies) break;
    // Studies in between may have taken over the same trials, which must not count twice.
    for (const EarlierStudy& nearer : created_.earlier) LeaveOut(nearer, distant);
    if (distant.trials.empty() && distant.tried.empty()) continue;
    created_.earlier.push_back(std::move(distant));
  }
  return std::move(created_);
}

}  // namespace vernier::study
