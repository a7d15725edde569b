#include "algorithms/gaussian_process/model/model_choice.h"

#include <algorithm>
#include <numeric>
#include <vector>

// Measured beside this criterion, both a little worse: the density of leave-one-out predictions in the user's units,
// and pairs of equal weight (docs/adr/0012).
namespace vernier::gp {

double OrderingSkill(const Eigen::VectorXd& predicted, const Eigen::VectorXd& values) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(
      order.begin(), order.end(), [&values](auto a, auto b) { return values[a] > values[b]; });
  double right = 0;
  double all = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double weight = 1.0 / static_cast<double>(i + 1);
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (values[order[i]] == values[order[j]]) continue;
      all += weight;
      if (predicted[order[i]] > predicted[order[j]]) right += weight;
    }
  }
  return all > 0 ? right / all : 0.5;
}

}  // namespace vernier::gp
