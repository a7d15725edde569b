#include "src/core/point_count.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "src/core/listed_values.h"
#include "vernier/core/unit_cube.h"

namespace vernier {
namespace {

using Count = std::optional<std::int64_t>;

constexpr std::int64_t kMaxCount = std::int64_t{1} << 62;
// Bound of the work: number of parameters visited, summed over all cases. The number of cases may grow exponentially
// with conditions. A choice: far more than ordinary conditions need.
constexpr std::size_t kMaxWork = 100000;

Count Multiply(Count a, Count b) {
  std::int64_t product = 0;
  if (!a.has_value() || !b.has_value() || __builtin_mul_overflow(*a, *b, &product)) return {};
  return product <= kMaxCount ? Count(product) : Count();
}

Count Add(Count a, Count b) {
  std::int64_t sum = 0;
  if (!a.has_value() || !b.has_value() || __builtin_add_overflow(*a, *b, &sum)) return {};
  return sum <= kMaxCount ? Count(sum) : Count();
}

// A condition of a parameter: its parent must have one of these values.
struct Link {
  std::size_t parent;
  std::set<std::int64_t> values;  // Indices of the parent's values.
};

// Counts by cases. Parameters that no condition connects are independent, so that their counts multiply. In a connected
// part, the values of the first parameter are grouped by the conditions that they satisfy; each group is one case. A
// case removes parameters and connections, so that the rest falls into smaller independent parts.
class Counter {
 public:
  // Positions 0, 1, … follow `order`, parents first.
  Counter(const std::vector<Parameter>& parameters, std::span<const int> order) {
    std::map<std::string_view, std::size_t> position;
    ListedValues listed;
    for (const int index : order) {
      const Parameter& parameter = parameters[static_cast<std::size_t>(index)];
      std::vector<Link> links;
      for (const Condition& when : parameter.when) {
        const std::size_t parent = position.at(when.parent);
        Link link{.parent = parent, .values = {}};
        for (const ParameterValue& value : when.values) {
          const std::optional<std::int64_t> place = listed.Find(*parameters_[parent], value);
          link.values.insert(place ? *place : IndexOf(*parameters_[parent], value));
        }
        links.push_back(std::move(link));
      }
      position.emplace(parameter.name, parameters_.size());
      parameters_.push_back(&parameter);
      links_.push_back(std::move(links));
    }
  }

  Count CountAll() {
    std::vector<std::size_t> all(parameters_.size());
    std::iota(all.begin(), all.end(), 0);
    return CountOpen(all);
  }

 private:
  using Positions = std::vector<std::size_t>;  // Ascending.

  // Counts the combinations of the `open` parameters: those without a chosen value that no chosen value makes inactive.
  Count CountOpen(const Positions& open) {
    work_ += open.size();
    if (work_ > kMaxWork) return {};
    Count product = 1;
    for (const Positions& part : Parts(open)) {
      product = Multiply(product, CountPart(part));
      if (!product.has_value()) return {};
    }
    return product;
  }

  // Splits into connected parts, by union-find over the conditions.
  std::vector<Positions> Parts(const Positions& open) const {
    constexpr std::size_t kNotOpen = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> root(parameters_.size(), kNotOpen);
    for (const std::size_t p : open) root[p] = p;
    const auto find = [&root](std::size_t p) {
      while (root[p] != p) p = root[p] = root[root[p]];
      return p;
    };
    for (const std::size_t p : open) {
      for (const Link& link : links_[p]) {
        if (root[link.parent] != kNotOpen) root[find(p)] = find(link.parent);
      }
    }
    std::map<std::size_t, Positions> parts;
    for (const std::size_t p : open) parts[find(p)].push_back(p);
    std::vector<Positions> result;
    result.reserve(parts.size());
    for (auto& [unused, part] : parts) result.push_back(std::move(part));
    return result;
  }

  Count CountPart(const Positions& part) {
    const std::size_t first = part.front();
    const Count values = ValueCount(*parameters_[first]);
    if (part.size() == 1 || !values.has_value()) return values;
    Count sum = 0;
    for (const auto& [failed, weight] : Cases(first, *values, part)) {
      sum = Add(sum, Multiply(weight, CountOpen(Remaining(part, failed))));
      if (!sum.has_value()) return {};
    }
    return sum;
  }

  // Groups the values of `first` by the parameters of the part that they make inactive. Returns the size of each group.
  // Values that no condition names form one group, so that the work does not grow with the number of values.
  std::map<Positions, std::int64_t> Cases(std::size_t first,
                                          std::int64_t values,
                                          const Positions& part) const {
    std::set<std::int64_t> named;
    for (const std::size_t p : part) {
      for (const Link& link : links_[p]) {
        if (link.parent == first) named.insert(link.values.begin(), link.values.end());
      }
    }
    std::map<Positions, std::int64_t> cases;
    constexpr std::int64_t kUnnamed = -1;
    for (const std::int64_t value : named) ++cases[FailedAt(first, value, part)];
    const auto unnamed = values - static_cast<std::int64_t>(named.size());
    if (unnamed > 0) cases[FailedAt(first, kUnnamed, part)] += unnamed;
    return cases;
  }

  Positions FailedAt(std::size_t first, std::int64_t value, const Positions& part) const {
    Positions failed;
    for (const std::size_t p : part) {
      const bool fails = std::any_of(links_[p].begin(), links_[p].end(), [&](const Link& link) {
        return link.parent == first && !link.values.contains(value);
      });
      if (fails) failed.push_back(p);
    }
    return failed;
  }

  // The part without its first parameter, without `failed` and without parameters that depend on those.
  Positions Remaining(const Positions& part, const Positions& failed) const {
    std::vector<bool> inactive(parameters_.size(), false);
    for (const std::size_t p : failed) inactive[p] = true;
    Positions rest;
    for (const std::size_t p : part) {
      if (p == part.front()) continue;
      const bool orphan = std::any_of(links_[p].begin(), links_[p].end(), [&](const Link& link) {
        return inactive[link.parent];
      });
      if (orphan) inactive[p] = true;
      if (!inactive[p]) rest.push_back(p);
    }
    return rest;
  }

  std::vector<const Parameter*> parameters_;
  std::vector<std::vector<Link>> links_;
  std::size_t work_ = 0;
};

}  // namespace

std::optional<std::int64_t> CountPoints(const std::vector<Parameter>& parameters,
                                        std::span<const int> parents_first) {
  return Counter(parameters, parents_first).CountAll();
}

}  // namespace vernier
