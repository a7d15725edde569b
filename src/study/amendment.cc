#include "src/study/amendment.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/codec/spec_changes.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/study/amendable.h"
#include "src/study/rules.h"

namespace vernier::study {
namespace {

template <typename T>
void Set(const std::optional<T>& wanted, T& part) {
  if (wanted.has_value()) part = *wanted;
}

// The definition after the change, whether or not it may become so. `given`: see StudyFold.
StudySpec Apply(const Amendment& change, const StudySpec& given, StudySpec spec) {
  if (change.definition.has_value()) {
    StudySpec wanted = *change.definition;
    wanted.foreign = spec.foreign;  // No client of ours can say it.
    // A part that the file still has as it was last given keeps what later amendments made of it.
    if (change.keep_amended) {
      VisitAmendable(
          [](const auto& before, const auto& now, auto& part) {
            if (part == before) part = now;
          },
          given,
          spec,
          wanted);
    }
    spec = std::move(wanted);
  }
  Set(change.trials, spec.budget.trials);
  Set(change.failed_trials, spec.budget.failed_trials);
  Set(change.time, spec.budget.time);
  Set(change.gpu_hours, spec.budget.gpu_hours);
  Set(change.parallel, spec.parallel);
  Set(change.stopping, spec.stopping);
  Set(change.convergence, spec.convergence);
  Set(change.metrics, spec.metrics);
  Set(change.lease, spec.lease);
  if (change.job.has_value()) spec.job = change.job;
  if (change.clear_labels) spec.labels.clear();
  for (const auto& [key, value] : change.labels) {
    // Erased also if it gets another value, since emplace keeps what is there.
    spec.labels.erase(key);
    if (value.has_value()) spec.labels.emplace(key, *value);
  }
  return spec;
}

// The definition with the parts that the event names.
StudySpec Apply(const StudyAmended& amended, StudySpec spec) {
  if (amended.definition.has_value()) spec = *amended.definition;
  spec.budget = amended.budget;
  spec.parallel = amended.parallel;
  if (amended.labels.has_value()) spec.labels = *amended.labels;
  return spec;
}

// "maximize accuracy, minimize loss".
std::string GoalsText(const std::vector<Objective>& objectives) {
  std::string text;
  for (const Objective& objective : objectives) {
    const bool maximizes = objective.goal == Goal::kMaximize;
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", maximizes ? "maximize" : "minimize", objective.metric);
  }
  return text;
}

// Whether some metric is minimized by one and maximized by the other: their trials then have no best in common.
bool AreOpposed(const std::vector<Objective>& some, const std::vector<Objective>& others) {
  return std::ranges::any_of(some, [&](const Objective& one) {
    return std::ranges::any_of(others, [&](const Objective& other) {
      return one.metric == other.metric && one.goal != other.goal;
    });
  });
}

// "[1,9] → [1,99]"; empty where the values are not shown.
std::string ValuesText(const FieldChange& change) {
  const std::string text = codec::DescribeChange(change);
  return text.substr(std::min(change.field.size() + 1, text.size()));
}

// ", nor can seed, algorithm and 4 more": at most three fields are named in all.
std::string OthersText(const std::vector<FieldChange>& changes) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 1; i < std::min(kNamed, changes.size()); ++i) {
    text += (i == 1 ? "; nor can " : ", ") + changes[i].field;
  }
  if (changes.size() > kNamed) text += fmt::format(" and {} more", changes.size() - kNamed);
  return text;
}

// What is wrong with the first part that cannot change; the others are named.
absl::Status CannotChange(const StudySpec& before, const StudySpec& after) {
  std::vector<FieldChange> changes = codec::CompareSpecs(before, after);
  if (changes.empty()) return FieldError("study", "cannot change so");
  const std::string goals = GoalsText(before.objectives);
  const bool has_other_goals = goals != GoalsText(after.objectives);
  if (has_other_goals) {
    std::erase_if(changes,
                  [](const FieldChange& change) { return change.field.starts_with("objective"); });
    changes.insert(changes.begin(),
                   {.field = "objective", .from = goals, .to = GoalsText(after.objectives)});
  }
  const std::string values = ValuesText(changes.front());
  const std::string trials =
      AreOpposed(before.objectives, after.objectives)
          ? ""
          : fmt::format("; `warm_start` from {} takes over the completed trials that {}",
                        before.name,
                        has_other_goals ? "have its metrics" : "fit");
  return FieldError(
      changes.front().field,
      fmt::format("cannot change after the study was created{}{}. Create a study of another name "
                  "instead{}",
                  values.empty() ? "" : fmt::format(" ({})", values),
                  OthersText(changes),
                  trials));
}

absl::Status CheckChangeable(const StudySpec& before, const StudySpec& after) {
  if (before.job.has_value() != after.job.has_value()) {
    return FieldError("job",
                      before.job.has_value()
                          ? "cannot be taken from a study that runs its own trials"
                          : "cannot be given to a study whose trials are run by its clients");
  }
  const StudySpec rest = WithAmendable(after, before);
  if (rest != before) return CannotChange(before, rest);
  if (before.foreign.has_value() && before.lease != after.lease) {
    return FieldError("lease",
                      fmt::format("cannot change: the clients of '{}' know nothing of leases",
                                  before.foreign->service));
  }
  return absl::OkStatus();
}

// A job that is given on its own cannot change the search.
absl::Status CheckJobAlone(const StudySpec& before, const Amendment& change) {
  const bool names_search = change.job.has_value() && change.job->input.has_value();
  if (!names_search || !before.job.has_value()) return absl::OkStatus();
  const auto& wanted = change.job->input->hyperparameters;
  if (before.job->input.has_value() && before.job->input->hyperparameters == wanted) {
    return absl::OkStatus();
  }
  return FieldError("trainingInput.hyperparameters",
                    "cannot change with the job alone; give the whole definition");
}

absl::Status BelowSpent(std::string_view path, std::string_view spent, std::string_view bound) {
  return FieldError(
      path, fmt::format("must be at least {}, which is spent already, got {}", spent, bound));
}

absl::Status CheckBound(std::string_view path,
                        const std::optional<std::int64_t>& before,
                        const std::optional<std::int64_t>& bound,
                        std::int64_t spent) {
  // No bound is above everything.
  if (bound == before || bound.value_or(spent) >= spent) return absl::OkStatus();
  return BelowSpent(path, std::to_string(spent), std::to_string(*bound));
}

// Only bounds that change are checked. Others may have been passed already, since attempts under
// way go on to their end.
absl::Status CheckAmendedBudget(const StudyFold& fold,
                                const Budget& budget,
                                bool is_fixed,
                                absl::Time now) {
  const Study& study = fold.header();
  const Budget& before = study.spec.budget;
  const std::int64_t failures = is_fixed ? 0 : fold.counted_failures();
  VERNIER_RETURN_IF_ERROR(CheckBound("budget.trials", before.trials, budget.trials, study.trials));
  VERNIER_RETURN_IF_ERROR(
      CheckBound("budget.failed", before.failed_trials, budget.failed_trials, failures));
  const double held = absl::ToDoubleHours(fold.HeldGpuTime(now));
  if (budget.gpu_hours != before.gpu_hours && budget.gpu_hours.value_or(held) < held) {
    return BelowSpent(
        "budget.gpu_hours", fmt::format("{:.3f}", held), fmt::format("{}", *budget.gpu_hours));
  }
  const absl::Duration active = absl::Trunc(fold.ActiveTime(now), absl::Seconds(1));
  if (budget.time != before.time && budget.time.value_or(active) < active) {
    return BelowSpent(
        "budget.time", codec::FormatDuration(active), codec::FormatDuration(*budget.time));
  }
  return absl::OkStatus();
}

absl::Status CheckState(const Study& study, const StudySpec& after) {
  if (study.state != StudyState::kStopping && study.state != StudyState::kCancelled) {
    return absl::OkStatus();
  }
  // Nothing depends on labels. All else would matter only to trials that such a study no longer starts.
  StudySpec labelled = study.spec;
  labelled.labels = after.labels;
  if (labelled == after) return absl::OkStatus();
  const char* const rest = study.state == StudyState::kStopping
                               ? "nothing but its labels can change"
                               : "it stays ended, and nothing but its labels can change; a new "
                                 "study with `warm_start` can start from its trials";
  return WithReason(
      FailedPrecondition("{} is {}: {}", StudyTitle(study), StudyStateName(study.state), rest),
      Reason::kStudyNotActive);
}

template <typename T>
bool IsRaised(const std::optional<T>& before, const std::optional<T>& after) {
  return before.has_value() && (!after.has_value() || *before < *after);
}

// Whether the change asks for more, so that a study that has ended is to go on if it can.
bool AsksForMore(const StudySpec& before, const StudySpec& after) {
  return IsRaised(before.budget.trials, after.budget.trials) ||
         IsRaised(before.budget.failed_trials, after.budget.failed_trials) ||
         IsRaised(before.budget.time, after.budget.time) ||
         IsRaised(before.budget.gpu_hours, after.budget.gpu_hours) ||
         before.convergence != after.convergence;
}

template <typename T>
bool IsSpent(const std::optional<T>& bound, const T& spent) {
  return bound.has_value() && spent >= *bound;
}

// Whether a study that has ended can go on under the definition `after`. That it had converged does not matter: trials
// that its user asks for are tried.
bool CanGoOn(const StudyFold& fold, const StudySpec& after, bool is_fixed, absl::Time now) {
  const Budget& budget = after.budget;
  const bool has_failed = !is_fixed && (IsSpent(budget.failed_trials, fold.counted_failures()) ||
                                        (!budget.failed_trials && fold.FirstFailedAlike()));
  return !has_failed && !IsSpent(budget.trials, fold.header().trials) &&
         !IsSpent(budget.time, fold.ActiveTime(now)) &&
         !IsSpent(budget.gpu_hours, absl::ToDoubleHours(fold.HeldGpuTime(now)));
}

// Leaves out what a training input says of the search: the study has that in fields of its own.
TrainingJob WithoutSearch(TrainingJob job) {
  if (job.input.has_value()) job.input->hyperparameters.reset();
  return job;
}

// Whether the amendment changes what trials run, or how their metrics are read.
bool IsRedefined(const StudySpec& before, const StudySpec& after) {
  if (!before.job.has_value() || !after.job.has_value()) return false;
  return before.metrics != after.metrics || WithoutSearch(*before.job) != WithoutSearch(*after.job);
}

}  // namespace

absl::StatusOr<AmendmentPlan> PlanAmendment(const StudyFold& fold,
                                            const Amendment& change,
                                            absl::Time now) {
  const Study& study = fold.header();
  VERNIER_RETURN_IF_ERROR(CheckJobAlone(study.spec, change));
  AmendmentPlan plan = {.spec = Apply(change, fold.given(), study.spec)};
  const bool is_fixed = change.fixed || IsRedefined(study.spec, plan.spec);
  VERNIER_RETURN_IF_ERROR(CheckChangeable(study.spec, plan.spec));
  VERNIER_RETURN_IF_ERROR(CheckState(study, plan.spec));
  VERNIER_RETURN_IF_ERROR(CheckAmendedBudget(fold, plan.spec.budget, is_fixed, now));

  plan.amended = {.budget = plan.spec.budget,
                  .parallel = plan.spec.parallel,
                  .fixed = is_fixed,
                  .whole = change.definition.has_value(),
                  .changes = codec::CompareSpecs(study.spec, plan.spec)};
  const bool names_labels = change.clear_labels || !change.labels.empty();
  if (names_labels || plan.spec.labels != study.spec.labels) plan.amended.labels = plan.spec.labels;
  // The short fields of the event are enough for most amendments. The definition, which may be
  // long, is added where they are not.
  const bool is_small = Apply(plan.amended, study.spec) == plan.spec;
  if (!is_small || (plan.amended.whole && plan.spec != study.spec)) {
    plan.amended.definition = plan.spec;
  }

  const bool has_ended =
      study.state == StudyState::kCompleted || study.state == StudyState::kFailed;
  const bool asks = is_fixed || AsksForMore(study.spec, plan.spec);
  plan.extends = has_ended && asks && CanGoOn(fold, plan.spec, is_fixed, now);
  return plan;
}

// A repeated change has nothing left to do in the definition that the first one led to.
bool IsRepeated(const StudyFold& fold, const StudyAmended& amended, const Amendment& change) {
  const StudySpec then = Apply(amended, fold.header().spec);
  return Apply(change, fold.given(), then) == then;
}

}  // namespace vernier::study
