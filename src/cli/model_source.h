#pragma once

#include <string>
#include <vector>

#include "src/cli/connection.h"
#include "src/cli/plot/importance.h"
#include "src/cli/plot/study_data.h"

namespace vernier::cli {

// The model of an objective for figures: the study's own, asked through its server, or, if its algorithm has none, a
// Gaussian process fitted here to the completed trials. Without a model, `why_none` says why.
struct ModelChoice {
  std::optional<plot::Model> model;
  std::string why_none;

  const plot::Model* get() const { return model ? &*model : nullptr; }
  // For the caption of a figure.
  const std::string& caption() const { return model ? model->name : why_none; }
};
// The connection and the study must outlive the model.
ModelChoice ChooseModel(Connection& connection,
                        const plot::StudyData& study,
                        const Objective& objective);

// The importance of parameters that the algorithm recorded with its latest suggestion; if there is none, computed from
// predictions. Without shares if there is no model either.
absl::StatusOr<plot::Importance> FindImportance(const plot::StudyData& study,
                                                const Objective& objective,
                                                const plot::Model* model);

}  // namespace vernier::cli
