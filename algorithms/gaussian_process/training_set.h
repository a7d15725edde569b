#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/gaussian_process/model/model_size.h"
#include "algorithms/gaussian_process/search/trust_region.h"
#include "algorithms/gaussian_process/space/coordinates.h"
#include "algorithms/gaussian_process/space/history.h"

namespace vernier::gp {

// Those elements that are chosen by their indices, in that order.
template <typename T>
std::vector<T> Chosen(const std::vector<T>& of, std::span<const std::size_t> indices) {
  std::vector<T> chosen;
  chosen.reserve(indices.size());
  for (const std::size_t i : indices) chosen.push_back(of[i]);
  return chosen;
}

// What models learn from, taken out of the trials. While failures are few, they are in it with poor values.
struct TrainingSet {
  std::vector<Coordinates> points;
  std::vector<std::vector<double>> values;  // By objective, larger is better.
  std::vector<std::vector<double>> slacks;  // By outcome constraint; NaN: not known.
  std::vector<Coordinates> failed;          // For the failure model; empty if there is none.
  std::int64_t trials = 0;                  // So many had finished when it was taken.
  std::size_t fitted = 0;                   // Hyperparameters are fitted to so many, at most.
  bool is_whole = true;                     // Holds every trial with values.
  bool is_nearby = false;                   // Holds those near a point.
  std::string note;                         // What a user should know of it; mostly empty.
};

// Every trial or, of more than `size.points`, 5/8 as many from everywhere (ChooseModelled): a set that is not whole cannot be
// appended to, so that it costs more to learn from.
TrainingSet TakeWhole(const History& history, const ModelSize& size);

// 5/8 of `size.points` trials: those nearest to the centre of a region (Region::SquaredDistance).
TrainingSet TakeNearby(const History& history, const Region& region, const ModelSize& size);

}  // namespace vernier::gp
