#include "algorithms/gaussian_process/space/branches.h"

#include <algorithm>

// Only choices with dependent parameters have branches: exploring the values of every choice gained less on the
// measured functions (docs/adr/0017). The choice depends on counts and the turn alone, so that it replays.
namespace vernier::gp {
namespace {

bool IsActive(const CoordinateSpace& space, int parameter, const Coordinates& u) {
  if (!space.is_conditional(parameter)) return true;
  std::vector<char> active;
  space.Activity(u, active);
  return active[static_cast<std::size_t>(parameter)] != 0;
}

}  // namespace

bool Branch::Holds(const CoordinateSpace& space, const Coordinates& u) const {
  return u[static_cast<std::size_t>(parameter)] == cell && IsActive(space, parameter, u);
}

std::optional<Branch> LeastTriedBranch(const CoordinateSpace& space,
                                       std::initializer_list<std::span<const Coordinates>> tried,
                                       std::uint64_t turn) {
  std::vector<int> choices;
  for (int k = 0; k < space.size(); ++k) {
    if (space.kind(k) == Kind::kCategorical && space.has_children(k)) choices.push_back(k);
  }
  if (choices.empty()) return std::nullopt;
  const int choice = choices[turn % choices.size()];
  std::vector<std::size_t> trials(static_cast<std::size_t>(space.count(choice)));
  for (const std::span<const Coordinates> some : tried) {
    for (const Coordinates& u : some) {
      // Where the choice itself is inactive, its coordinate is a placeholder and names no branch.
      if (!IsActive(space, choice, u)) continue;
      const std::int64_t value = space.IndexAt(choice, u[static_cast<std::size_t>(choice)]);
      ++trials[static_cast<std::size_t>(value)];
    }
  }
  const auto least = std::min_element(trials.begin(), trials.end());
  return Branch{
      .parameter = choice, .cell = space.CellOf(choice, least - trials.begin()), .trials = *least};
}

}  // namespace vernier::gp
