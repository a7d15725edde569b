#include "algorithms/gaussian_process/earlier_studies.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "algorithms/gaussian_process/model/gp_state.h"
#include "algorithms/gaussian_process/space/history.h"
#include "src/core/status.h"

namespace vernier::gp {
namespace {

// As reliable as its model is better than chance at ordering its own trials.
Belief BeliefOf(const MetricModel& model) {
  const Posterior& posterior = model.posterior();
  return {.f = {posterior.kernel(), posterior.scaled_points(), posterior.coefficients()},
          .reliability = std::clamp(2.0 * model.skill().value_or(0.5) - 1.0, 0.0, 1.0)};
}

}  // namespace

absl::StatusOr<EarlierBeliefs> LearnFromEarlier(const CoordinateSpace& space,
                                                const FeatureMap& features,
                                                const Problem& problem,
                                                const std::optional<ModelSize>& size,
                                                const sampling::EarlierPoints& tried,
                                                const std::stop_token& stop) {
  const std::size_t objectives = problem.objectives.size();
  EarlierBeliefs beliefs;
  beliefs.metrics.resize(objectives + problem.outcome_constraints.size());
  for (const EarlierStudy& study : problem.earlier) {
    VERNIER_ASSIGN_OR_RETURN(const TrialLog::View trials, TrialLog::Of(problem, study.trials));
    History history;
    Update(space, problem, trials, history);
    if (history.points.empty() || !size) continue;
    ModelState state;
    state.metrics.resize(beliefs.metrics.size());
    VERNIER_ASSIGN_OR_RETURN(
        Surrogate surrogate,
        Surrogate::Fit(features, {}, TakeWhole(history, *size), {}, state, {}, stop));
    for (std::size_t j = 0; j < objectives; ++j) {
      beliefs.metrics[j].push_back(BeliefOf(surrogate.objectives()[j]));
    }
    const std::vector<std::optional<MetricModel>>& constraints = surrogate.constraints();
    for (std::size_t k = 0; k < constraints.size(); ++k) {
      if (!constraints[k]) continue;
      beliefs.metrics[objectives + k].push_back(BeliefOf(*constraints[k]));
    }
    const Coordinates& best = surrogate.centres().front();
    const bool is_new = std::count(beliefs.best.begin(), beliefs.best.end(), best) == 0;
    if (is_new) beliefs.best.push_back(best);
    beliefs.known += history.points.size();
    beliefs.models.push_back(
        {.study = study.name, .surrogate = std::move(surrogate), .trials = history.points.size()});
  }
  std::vector<Coordinates> points;
  for (const std::vector<Cell>& row : tried.rows()) {
    points.push_back(space.Encode(ReadCells(space.space(), row)));
  }
  beliefs.tried = features.Matrix(points);
  return beliefs;
}

}  // namespace vernier::gp
