// Figures need predictions at many points. The server's model is preferred, since it is the one that proposed the
// trials. Studies with random or grid search have none; for these a Gaussian process is fitted in this process, with a
// fixed seed, so that a figure drawn twice is the same.

#include "src/cli/model_source.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "src/client/decode.h"
#include "src/core/objectives.h"
#include "src/core/point_check.h"
#include "src/core/status.h"
#include "src/wire/names.h"
#include "src/wire/value_proto.h"
#include "vernier/ask_tell.h"

namespace vernier::cli {
namespace {

using Stub = Connection::Stub;
using Predictions = absl::StatusOr<std::vector<PredictedValue>>;

// Points of one call: the server's bound (limits::kPredictedPoints).
constexpr std::size_t kMostPoints = 1000;
// Number of points for computing importance, and the seed by which they are drawn. A choice: each costs a prediction
// for every parameter.
constexpr std::size_t kImportancePoints = 96;
constexpr std::uint64_t kSeed = 1;

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// Predictions by the server for one objective.
Predictions AskServer(Connection& connection,
                      const plot::StudyData& study,
                      const Objective& objective,
                      std::span<const Point> points) {
  const bool is_first = objective.metric == FirstObjective(study.spec).metric;
  std::vector<PredictedValue> predicted;
  for (std::size_t begin = 0; begin < points.size(); begin += kMostPoints) {
    v1::PredictPointsRequest request;
    request.set_parent(wire::StudyResource(study.name()));
    const auto part = points.subspan(begin, std::min(kMostPoints, points.size() - begin));
    for (const Point& point : part) {
      wire::EncodePoint(point, request.add_points()->mutable_parameters());
    }
    VERNIER_ASSIGN_OR_RETURN(const v1::PredictPointsResponse response,
                             connection.Call(&Stub::PredictPoints, request));
    for (const auto& each : response.predictions()) {
      const PredictedPoint values = client::DecodePrediction(each);
      if (is_first) {
        predicted.push_back(values.objective);
        continue;
      }
      const auto found = values.others.find(objective.metric);
      if (found == values.others.end()) {
        return FailedPrecondition("the model says nothing of {}", objective.metric);
      }
      predicted.push_back(found->second);
    }
  }
  return predicted;
}

// A Gaussian process for this objective alone.
absl::StatusOr<AskTell> FitHere(const plot::StudyData& study, const Objective& objective) {
  VERNIER_ASSIGN_OR_RETURN(AskTell model,
                           AskTell::Create({.space = study.spec.space, .objectives = {objective}},
                                           {.name = "gp", .options = {}},
                                           kSeed));
  for (const plot::PlotTrial& trial : study.trials) {
    const auto value = trial.ValueOf(objective.metric);
    const bool has_ended = trial.trial.state == TrialState::kCompleted;
    if (!has_ended || !value || !std::isfinite(*value)) continue;
    if (!IsWhole(study.spec.space, trial.trial.point)) continue;
    VERNIER_RETURN_IF_ERROR(model.Add(trial.trial.point, {*value}));
  }
  return model;
}

// Valid points spread over the space; all of them if the space is small.
std::vector<Point> SamplePoints(const plot::StudyData& study, const Objective& objective) {
  std::vector<Point> points;
  auto sampler = AskTell::Create({.space = study.spec.space, .objectives = {objective}},
                                 {.name = "random", .options = {}},
                                 kSeed);
  if (!sampler.ok()) return points;
  const auto asked = sampler->Ask(kImportancePoints);
  if (!asked.ok()) return points;
  for (const AskTell::Asked& each : *asked) points.push_back(each.suggestion.point);
  return points;
}

// A point with a value for every parameter: the best trial's, or the first such trial's. Null: none. Trials of Vizier
// clients may lack parameters.
const Point* FindWhole(const plot::StudyData& study, const plot::PlotTrial& best) {
  if (IsWhole(study.spec.space, best.trial.point)) return &best.trial.point;
  for (const plot::PlotTrial& other : study.trials) {
    if (IsWhole(study.spec.space, other.trial.point)) return &other.trial.point;
  }
  return nullptr;
}

}  // namespace

ModelChoice ChooseModel(Connection& connection,
                        const plot::StudyData& study,
                        const Objective& objective) {
  const plot::PlotTrial* best = study.Best(objective);
  if (best == nullptr) return {.model = {}, .why_none = "no trial has a value yet"};
  // Predicting one point shows whether the server has a model.
  const Point* const whole = FindWhole(study, *best);
  if (whole == nullptr) return {.model = {}, .why_none = "no trial has every parameter"};
  const std::vector<Point> probe = {*whole};
  if (AskServer(connection, study, objective, probe).ok()) {
    return {
        .model =
            plot::Model{.name = fmt::format("model of the study ({})", study.spec.algorithm.name),
                        .predict =
                            [&connection, &study, objective](std::span<const Point> points) {
                              return AskServer(connection, study, objective, points);
                            }},
        .why_none = {}};
  }
  auto fitted = FitHere(study, objective);
  if (!fitted.ok()) return {.model = {}, .why_none = MessageOf(fitted.status())};
  // Shared: std::function copies its target.
  const auto model = std::make_shared<const AskTell>(*std::move(fitted));
  if (const auto tried = model->Predict(probe); !tried.ok()) {
    return {.model = {}, .why_none = MessageOf(tried.status())};
  }
  const auto predict = [model](std::span<const Point> points) -> Predictions {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<PredictedPoint> answers,
                             model->Predict({points.begin(), points.end()}));
    std::vector<PredictedValue> predicted;
    predicted.reserve(answers.size());
    for (const PredictedPoint& answer : answers) predicted.push_back(answer.objective);
    return predicted;
  };
  return {.model = plot::Model{.name = "a Gaussian process fitted to the completed trials",
                               .predict = predict},
          .why_none = {}};
}

absl::StatusOr<plot::Importance> FindImportance(const plot::StudyData& study,
                                                const Objective& objective,
                                                const plot::Model* model) {
  plot::Importance recorded = plot::RecordedImportance(study);
  if (!recorded.shares.empty() || model == nullptr) return recorded;
  return plot::ComputedImportance(study, objective, *model, SamplePoints(study, objective));
}

}  // namespace vernier::cli
