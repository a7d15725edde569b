#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/gaussian_process/model/model_size.h"
#include "algorithms/gaussian_process/search/trust_region.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/encoded_trials.h"

namespace vernier::gp {

// Elements at `indices`, in that order.
template <typename T>
std::vector<T> Chosen(const std::vector<T>& of, std::span<const std::size_t> indices) {
  std::vector<T> chosen;
  chosen.reserve(indices.size());
  for (const std::size_t i : indices) chosen.push_back(of[i]);
  return chosen;
}

// Training set of a surrogate: a subsample of the encoded trials. While failed trials are too few for a failure model,
// they are among the points, with poor values.
struct TrainingSet {
  std::vector<Coordinates> points;
  std::vector<std::vector<double>> values;  // By objective, larger is better.
  // By objective, standard deviations of values that are expected; 0: measured. Empty: all are.
  std::vector<std::vector<double>> deviations;
  std::vector<std::vector<double>> slacks;  // By outcome constraint; NaN: unknown.
  std::vector<Coordinates> failed;          // For the failure model; empty: there is none.
  std::int64_t trials = 0;                  // Number of finished trials when the set was taken.
  ModelSize size;                           // Most work for the model.
  bool is_whole = true;                     // Has every trial with values.
  bool is_nearby = false;                   // Has the trials near a point.
  std::string note;                         // For the user; mostly empty.
};

// Takes all trials or, of more than `size.points`, a subsample of 5/8 of `size.points` (ChooseModelled).
TrainingSet TakeWhole(const EncodedTrials& encoded, const ModelSize& size);

// Takes the 5/8 of `size.points` trials nearest to the centre of a region (Region::SquaredDistance).
TrainingSet TakeNearby(const EncodedTrials& encoded, const Region& region, const ModelSize& size);

}  // namespace vernier::gp
