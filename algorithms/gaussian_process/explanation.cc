#include "algorithms/gaussian_process/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/gaussian_process/acquisition/acquisition.h"
#include "algorithms/gaussian_process/note.h"
#include "fmt/format.h"
#include "vernier/core/unit_cube.h"

namespace vernier::gp {
namespace {

// Adds a note for each constraint. Of more than kMostNamed constraints, those least likely to be kept are named, so
// that a note stays readable; unknown ones come first.
void AddConstraints(const Problem& problem,
                    const Surrogate& surrogate,
                    const Eigen::RowVectorXd& row,
                    std::string& note) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<std::optional<Requirement>> constraints = surrogate.Requirements();
  std::vector<std::pair<double, std::string>> said;
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    const std::string& text = problem.outcome_constraints[k];
    if (!constraints[k]) {
      said.emplace_back(-1, fmt::format("no trial told how far it keeps '{}'", text));
      continue;
    }
    const Prediction slack = constraints[k]->model->Predict(row).front();
    const double probability = std::exp(LogProbability(*constraints[k], slack));
    said.emplace_back(probability,
                      fmt::format("keeps '{}' with probability {:.2g}", text, probability));
  }
  if (said.size() > kMostNamed) {
    std::stable_sort(
        said.begin(), said.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  for (std::size_t k = 0; k < std::min(said.size(), kMostNamed); ++k) AddNote(said[k].second, note);
  if (said.size() > kMostNamed) {
    AddNote(fmt::format("of {} other constraints it is as sure or surer", said.size() - kMostNamed),
            note);
  }
}

std::string Note(const Problem& problem,
                 const Surrogate& surrogate,
                 const Eigen::RowVectorXd& row) {
  std::string note = surrogate.note();
  for (std::size_t j = 0; j < problem.objectives.size(); ++j) {
    const MetricSurrogate& objective = surrogate.objectives()[j];
    if (!objective.scale().is_flat()) continue;
    AddNote(fmt::format("all {} values of {} are the same, so that there is nothing to learn from",
                        objective.estimates().size(),
                        problem.objectives[j].metric),
            note);
  }
  for (const EarlierStudy& study : problem.earlier) {
    AddNote(fmt::format("with {} trials of study '{}'", study.trials.size(), study.name), note);
  }
  AddConstraints(problem, surrogate, row, note);
  if (const std::optional<Requirement> success = surrogate.Success()) {
    const double log = LogProbability(*success, success->model->Predict(row).front());
    AddNote(fmt::format("works with probability {:.2g}", std::exp(log)), note);
  }
  return note;
}

// Importance of each parameter: its inverse length scale as a share of their sum, averaged over the objectives. Says
// how quickly an objective changes along the parameter, not how much it gains by it.
std::map<std::string, double> Importance(const Space& space,
                                         const FeatureMap& features,
                                         const Surrogate& surrogate) {
  std::map<std::string, double> importance;
  const double objectives = static_cast<double>(surrogate.objectives().size());
  for (const MetricSurrogate& objective : surrogate.objectives()) {
    const std::vector<double>& logs = objective.posterior().hyperparameters().log_length_scales;
    double sum = 0;
    for (const double log_length_scale : logs) sum += std::exp(-log_length_scale);
    for (std::size_t group = 0; group < logs.size(); ++group) {
      const auto k = static_cast<std::size_t>(features.parameter_of_group()[group]);
      importance[space.parameters()[k].name] += std::exp(-logs[group]) / sum / objectives;
    }
  }
  return importance;
}

}  // namespace

PredictedValue InUserUnits(const Prediction& prediction, const TargetScale& scale, Goal goal) {
  // Differences are taken in units of the scale: of values near 1e308 they would overflow in the user's.
  const double deviation = std::sqrt(prediction.variance);
  const double mean = scale.Backward(prediction.mean);
  return {.mean = goal == Goal::kMaximize ? mean : -mean,
          .deviation = Finite(0.5 * scale.unit() *
                              (scale.BackwardInUnits(prediction.mean + deviation) -
                               scale.BackwardInUnits(prediction.mean - deviation)))};
}

std::vector<PredictedPoint> PredictAt(const Problem& problem,
                                      const Surrogate& surrogate,
                                      const Eigen::MatrixXd& rows) {
  std::vector<PredictedPoint> predicted(static_cast<std::size_t>(rows.rows()));
  const auto write = [&](const MetricSurrogate& model, Goal goal, const std::string* name) {
    const std::vector<Prediction> predictions = model.posterior().Predict(rows);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      PredictedValue& value = name == nullptr ? predicted[i].objective : predicted[i].others[*name];
      value = InUserUnits(predictions[i], model.scale(), goal);
    }
  };
  for (std::size_t j = 0; j < problem.objectives.size(); ++j) {
    const Objective& objective = problem.objectives[j];
    write(surrogate.objectives()[j], objective.goal, j == 0 ? nullptr : &objective.metric);
  }
  for (std::size_t k = 0; k < problem.outcome_constraints.size(); ++k) {
    const std::optional<MetricSurrogate>& model = surrogate.constraints()[k];
    if (model) write(*model, Goal::kMaximize, &problem.outcome_constraints[k]);
  }
  return predicted;
}

Suggestion Explained(const Problem& problem,
                     const FeatureMap& features,
                     const Surrogate& surrogate,
                     Point point,
                     const Eigen::RowVectorXd& row,
                     double value) {
  PredictedPoint predicted = std::move(PredictAt(problem, surrogate, row).front());
  return {.point = std::move(point),
          .origin = "model",
          .acquisition = value,
          .predicted_mean = predicted.objective.mean,
          .predicted_deviation = predicted.objective.deviation,
          .predicted_others = std::move(predicted.others),
          .expected_improvement = surrogate.ExpectedImprovement(row),
          .importance = Importance(problem.space, features, surrogate),
          .note = Note(problem, surrogate, row)};
}

std::string WhyBranch(const Space& space, const Branch& branch) {
  const Parameter& parameter = space.parameters()[static_cast<std::size_t>(branch.parameter)];
  return fmt::format(
      "looks for the best of {} = {}, which {} trial{} tried, as it expects next to nothing "
      "elsewhere",
      parameter.name,
      FormatValue(FromUnit(parameter, branch.cell)),
      branch.trials,
      branch.trials == 1 ? "" : "s");
}

}  // namespace vernier::gp
