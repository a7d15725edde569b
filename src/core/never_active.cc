#include "src/core/never_active.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace vernier {
namespace {

// For each ancestor, the values that all conditions allow. Conditions are joined by "and", and each is on one parameter, so
// that they can hold together unless an ancestor is left without a value.
using Allowed = std::map<std::string, std::vector<ParameterValue>>;

void Restrict(const std::string& ancestor,
              const std::vector<ParameterValue>& values,
              Allowed& allowed) {
  const auto [known, is_new] = allowed.emplace(ancestor, values);
  if (is_new) return;
  std::erase_if(known->second, [&](const ParameterValue& value) {
    return std::ranges::find(values, value) == values.end();
  });
}

}  // namespace

std::vector<NeverActive> FindNeverActive(const Space& space) {
  const auto& parameters = space.parameters();
  std::vector<Allowed> allowed(parameters.size());
  std::vector<std::optional<std::string>> contradiction(parameters.size());
  for (const int i : space.parents_first()) {
    const auto index = static_cast<std::size_t>(i);
    Allowed& own = allowed[index];
    for (const Condition& when : parameters[index].when) {
      Restrict(when.parent, when.values, own);
      // Whatever must hold for the parent must hold for the child.
      const auto parent = static_cast<std::size_t>(*space.Find(when.parent));
      for (const auto& [ancestor, values] : allowed[parent]) Restrict(ancestor, values, own);
    }
    const auto empty =
        std::ranges::find_if(own, [](const auto& entry) { return entry.second.empty(); });
    if (empty != own.end()) contradiction[index] = empty->first;
  }
  std::vector<NeverActive> found;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!contradiction[i].has_value()) continue;
    found.push_back({.parameter = parameters[i].name, .ancestor = *std::move(contradiction[i])});
  }
  return found;
}

}  // namespace vernier
