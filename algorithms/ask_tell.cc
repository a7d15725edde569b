#include "vernier/ask_tell.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/curve_book.h"
#include "src/core/optimal_trials.h"
#include "src/core/outcome_constraint.h"
#include "src/core/resumable.h"
#include "src/core/status.h"
#include "src/core/suggestion_check.h"
#include "vernier/algorithm_catalogue.h"
#include "vernier/core/rng.h"

// AskTell does what a study does for a trial (src/study), but in memory: it draws from the stream of the trial's
// number, passes the finished and pending trials and the last state to the optimiser, and keeps the state that it
// returns.
namespace vernier {

struct AskTell::Rep {
  Problem problem;
  std::unique_ptr<Optimizer> optimizer;
  Rng rng;
  // Number of streams that earlier studies may have used. Skipped, so that with an equal seed no stream is used twice.
  std::uint64_t streams_before;
  std::string state;
  std::int64_t last_trial = 0;
  TrialLog finished;                      // In the order in which they were told.
  std::vector<PendingPoint> pending;      // In the order in which they were asked.
  std::unique_ptr<EarlyStopper> stopper;  // Null: no trial is stopped.
  CurveBook curves;
  // Of pending trials, the numbers of their last verdicts.
  std::map<TrialNumber, std::map<std::string, double>> verdicts;
  OptimalTrials optimal;
  // Trials that were stopped and may go on. Empty unless `pausing`.
  struct Paused {
    Observation told;
    std::map<std::string, double> numbers;  // Of the verdict that stopped it.
  };
  bool pausing = false;
  std::map<TrialNumber, Paused> paused;
  // Number of finished trials when last no paused one was to go on. Verdicts change as others are told.
  std::optional<std::size_t> none_resumable;

  // Appends up to `count` paused trials that should go on.
  void Resume(std::size_t count, std::vector<Asked>& asked);
  OptimalTrials WithPaused() const;
  // Calls the optimiser once, with the stream of the first trial of the batch, as a study does.
  absl::Status AskBatch(std::size_t count, std::vector<Asked>& asked);
  absl::StatusOr<std::vector<PendingPoint>::iterator> FindPending(TrialNumber trial);
  // Removes a trial from the pending ones and returns its point.
  absl::StatusOr<Point> TakePending(TrialNumber trial);
  absl::Status Complete(TrialNumber trial,
                        Outcome outcome,
                        std::vector<double> values,
                        std::vector<double> slacks);
  absl::Status CheckTold(const std::vector<double>& values,
                         const std::vector<double>& slacks) const;
  absl::Status Finish(const Observation& completed);
  // Returns the trial; nullopt if it was not told.
  std::optional<Observation> Find(TrialNumber trial) const;
};

absl::Status AskTell::Rep::AskBatch(std::size_t count, std::vector<Asked>& asked) {
  const Rng stream = rng.Fork(streams_before + static_cast<std::uint64_t>(last_trial + 1));
  VERNIER_ASSIGN_OR_RETURN(
      Suggestions suggestions,
      optimizer->Suggest(finished.Snapshot(), pending, state, stream, count, std::stop_token()));
  VERNIER_RETURN_IF_ERROR(CheckSuggestions(optimizer->name(), problem.space, count, suggestions));
  state = std::move(suggestions.state);
  for (Suggestion& suggestion : suggestions.points) {
    const TrialNumber trial(++last_trial);
    pending.push_back({trial, suggestion.point});
    curves.AddTrial(trial);
    asked.push_back({trial, std::move(suggestion)});
  }
  return absl::OkStatus();
}

void AskTell::Rep::Resume(std::size_t count, std::vector<Asked>& asked) {
  if (paused.empty() || none_resumable == finished.size()) return;
  PausedTrials judged{.rule = stopper.get(),
                      .goal = problem.objectives.front().goal,
                      .verdicts = {},
                      .report_times = {}};
  for (const auto& [trial, known] : paused) judged.verdicts[trial] = known.numbers;
  for (const TrialNumber trial : ChooseResumable(judged, curves)) {
    if (asked.size() == count) return;
    Point point = std::move(paused.at(trial).told.point);
    paused.erase(trial);
    curves.Reopen(trial);
    pending.push_back({trial, point});
    const std::vector<CurvePoint>& points = curves.Get(trial).points;
    asked.push_back({.trial = trial,
                     .suggestion = {.point = std::move(point)},
                     .resume_from = points.empty() ? 0 : points.back().step});
  }
  none_resumable = finished.size();
}

// Each trial is told once to `optimal`, so the paused ones, which may still end otherwise, are told to a copy.
OptimalTrials AskTell::Rep::WithPaused() const {
  OptimalTrials all = optimal;
  for (const auto& [trial, known] : paused) all.Tell(trial, known.told.values, known.told.slacks);
  return all;
}

absl::StatusOr<std::vector<PendingPoint>::iterator> AskTell::Rep::FindPending(TrialNumber trial) {
  const auto is_trial = [trial](const auto& known) { return known.trial == trial; };
  const auto found = std::find_if(pending.begin(), pending.end(), is_trial);
  if (found == pending.end()) {
    if (Find(trial).has_value()) {
      return WithReason(FailedPrecondition("trial {} was told already", trial.value()),
                        Reason::kTrialFinished);
    }
    return WithReason(NotFound("trial {} was never asked for", trial.value()),
                      Reason::kTrialNotFound);
  }
  return found;
}

absl::StatusOr<Point> AskTell::Rep::TakePending(TrialNumber trial) {
  VERNIER_ASSIGN_OR_RETURN(const auto found, FindPending(trial));
  Point point = std::move(found->point);
  pending.erase(found);
  return point;
}

absl::Status AskTell::Rep::Complete(TrialNumber trial,
                                    Outcome outcome,
                                    std::vector<double> values,
                                    std::vector<double> slacks) {
  VERNIER_RETURN_IF_ERROR(CheckTold(values, slacks));
  VERNIER_ASSIGN_OR_RETURN(Point point, TakePending(trial));
  const bool is_stopped = outcome == Outcome::kStoppedEarly;
  curves.MarkFinished(trial, is_stopped, AreKept(slacks));
  Observation told{.trial = trial,
                   .point = std::move(point),
                   .outcome = outcome,
                   .values = std::move(values),
                   .slacks = std::move(slacks)};
  std::map<std::string, double> numbers = std::exchange(verdicts[trial], {});
  verdicts.erase(trial);
  if (!is_stopped) return Finish(told);
  told.expected_end = ExpectedEndOf(numbers);
  if (!pausing || stopper == nullptr) return Finish(told);
  // If it goes on, it is in the log a second time once it ends.
  VERNIER_RETURN_IF_ERROR(finished.Append(told));
  paused[trial] = {.told = std::move(told), .numbers = std::move(numbers)};
  return absl::OkStatus();
}

absl::Status AskTell::Rep::CheckTold(const std::vector<double>& values,
                                     const std::vector<double>& slacks) const {
  if (values.size() != problem.objectives.size()) {
    return InvalidArgument("values: needs one for each of {} objectives, got {}",
                           problem.objectives.size(),
                           values.size());
  }
  if (slacks.size() == problem.outcome_constraints.size()) return absl::OkStatus();
  return InvalidArgument("slacks: needs one for each of {} outcome constraints, got {}",
                         problem.outcome_constraints.size(),
                         slacks.size());
}

absl::Status AskTell::Rep::Finish(const Observation& completed) {
  VERNIER_RETURN_IF_ERROR(finished.Append(completed));
  optimal.Tell(completed.trial, completed.values, completed.slacks);
  return absl::OkStatus();
}

std::optional<Observation> AskTell::Rep::Find(TrialNumber trial) const {
  const TrialLog::View told = finished.Snapshot();
  // From the last: a trial that went on is there twice.
  for (std::size_t i = told.size(); i > 0; --i) {
    if (told.trial(i - 1) == trial) return told[i - 1];
  }
  return std::nullopt;
}

AskTell::AskTell(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
AskTell::AskTell(AskTell&&) noexcept = default;
AskTell& AskTell::operator=(AskTell&&) noexcept = default;
AskTell::~AskTell() = default;

absl::StatusOr<AskTell> AskTell::Create(Problem problem,
                                        const Choice& algorithm,
                                        std::uint64_t seed,
                                        const AlgorithmCatalogue& algorithms,
                                        const Choice& stopping,
                                        bool pausing) {
  if (problem.objectives.empty()) return FieldError("objective", "needs at least one metric");
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                           algorithms.NewOptimizer(algorithm, problem));
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<EarlyStopper> stopper,
                           algorithms.NewEarlyStopper(stopping, problem.objectives.front().goal));
  if (stopper != nullptr && stopper->needs_pausing() && !pausing) {
    return FieldError(
        "stopping",
        fmt::format("rule '{}' with these options needs trials that can go on after a stop",
                    stopping.name));
  }
  std::uint64_t streams_before = 0;
  for (const EarlierStudy& study : problem.earlier) {
    streams_before += static_cast<std::uint64_t>(std::max(study.count, std::ssize(study.trials)));
  }
  OptimalTrials optimal(problem.objectives);
  TrialLog finished(problem);
  return AskTell(std::unique_ptr<Rep>(new Rep{.problem = std::move(problem),
                                              .optimizer = std::move(optimizer),
                                              .rng = Rng(seed),
                                              .streams_before = streams_before,
                                              .state = {},
                                              .last_trial = 0,
                                              .finished = std::move(finished),
                                              .pending = {},
                                              .stopper = std::move(stopper),
                                              .curves = CurveBook(),
                                              .verdicts = {},
                                              .optimal = std::move(optimal),
                                              .pausing = pausing,
                                              .paused = {},
                                              .none_resumable = {}}));
}

absl::StatusOr<std::vector<AskTell::Asked>> AskTell::Ask(std::size_t count) {
  std::vector<Asked> asked;
  rep_->Resume(count, asked);
  while (asked.size() < count) {
    const absl::Status status = rep_->AskBatch(count - asked.size(), asked);
    if (status.ok()) continue;
    if (!asked.empty()) break;  // These trials exist already. The next call returns the error.
    return status;
  }
  return asked;
}

absl::Status AskTell::Tell(TrialNumber trial,
                           std::vector<double> values,
                           std::vector<double> slacks) {
  return rep_->Complete(trial, Outcome::kCompleted, std::move(values), std::move(slacks));
}

absl::StatusOr<Verdict> AskTell::Report(TrialNumber trial, std::int64_t step, double value) {
  VERNIER_ASSIGN_OR_RETURN(const auto found, rep_->FindPending(trial));
  rep_->curves.AddPoint(trial, rep_->problem.space, found->point, step, value);
  if (rep_->stopper == nullptr) return Verdict{.explanation = "the study has no stopping rule"};
  Verdict verdict = rep_->curves.Judge(*rep_->stopper, trial);
  rep_->verdicts[trial] = verdict.numbers;
  return verdict;
}

absl::Status AskTell::TellStopped(TrialNumber trial,
                                  std::vector<double> values,
                                  std::vector<double> slacks) {
  return rep_->Complete(trial, Outcome::kStoppedEarly, std::move(values), std::move(slacks));
}

absl::Status AskTell::TellFailed(TrialNumber trial) {
  VERNIER_ASSIGN_OR_RETURN(Point point, rep_->TakePending(trial));
  rep_->verdicts.erase(trial);
  return rep_->finished.Append({trial, std::move(point), Outcome::kFailed});
}

absl::Status AskTell::Add(const Point& point,
                          std::vector<double> values,
                          std::vector<double> slacks) {
  Point typed = rep_->problem.space.InKind(point);
  VERNIER_RETURN_IF_ERROR(rep_->problem.space.Check(typed));
  VERNIER_RETURN_IF_ERROR(rep_->CheckTold(values, slacks));
  const TrialNumber trial(++rep_->last_trial);
  rep_->curves.AddTrial(trial);
  rep_->curves.MarkFinished(trial, /*stopped_early=*/false, AreKept(slacks));
  return rep_->Finish(
      {trial, std::move(typed), Outcome::kCompleted, std::move(values), std::move(slacks)});
}

absl::StatusOr<std::vector<PredictedPoint>> AskTell::Predict(std::vector<Point> points) const {
  for (Point& point : points) point = rep_->problem.space.InKind(point);
  return rep_->optimizer->Predict(
      rep_->finished.Snapshot(), rep_->state, points, std::stop_token());
}

std::optional<Observation> AskTell::Best() const {
  const std::optional<TrialNumber> best = rep_->WithPaused().best();
  if (!best.has_value()) return std::nullopt;
  return rep_->Find(*best);
}

std::vector<Observation> AskTell::Optimal() const {
  std::vector<Observation> optimal;
  for (const TrialNumber trial : rep_->WithPaused().optimal()) {
    optimal.push_back(*rep_->Find(trial));
  }
  return optimal;
}

}  // namespace vernier
