#include "algorithms/gaussian_process/branches.h"

#include <algorithm>

namespace vernier::gp {

bool Branch::Holds(const CoordinateSpace& space, const Coordinates& u) const {
  if (u[static_cast<std::size_t>(parameter)] != cell) return false;
  std::vector<char> active;
  space.Activity(u, active);
  return active[static_cast<std::size_t>(parameter)] != 0;
}

std::optional<Branch> LeastTriedBranch(const CoordinateSpace& space,
                                       const std::vector<Coordinates>& tried,
                                       std::uint64_t turn) {
  std::vector<int> choices;
  for (int k = 0; k < space.size(); ++k) {
    if (space.kind(k) == Kind::kCategorical && space.has_children(k)) choices.push_back(k);
  }
  if (choices.empty()) return std::nullopt;
  const int choice = choices[turn % choices.size()];
  std::vector<Branch> branches;
  for (std::int64_t i = 0; i < space.count(choice); ++i) {
    Branch branch{.parameter = choice, .cell = space.CellOf(choice, i), .trials = 0};
    branch.trials = static_cast<std::size_t>(
        std::count_if(tried.begin(), tried.end(), [&space, &branch](const Coordinates& u) {
          return branch.Holds(space, u);
        }));
    branches.push_back(branch);
  }
  return *std::min_element(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return a.trials < b.trials;
  });
}

}  // namespace vernier::gp
