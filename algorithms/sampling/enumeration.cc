#include "algorithms/sampling/enumeration.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vernier/core/unit_cube.h"

namespace vernier::sampling {
namespace {

constexpr std::int64_t kMax = Enumeration::kMaxCount;

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) { return a > kMax - b ? kMax : a + b; }
std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  return a > kMax / b ? kMax : a * b;
}

// The parameters whose conditions name `parent`, in the user's order.
std::vector<int> Children(const Space& space, int parent) {
  const std::vector<Parameter>& parameters = space.parameters();
  std::vector<int> children;
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const auto names_parent = [&](const Condition& c) {
      return c.parent == parameters[parent].name;
    };
    if (std::any_of(parameters[i].when.begin(), parameters[i].when.end(), names_parent)) {
      children.push_back(i);
    }
  }
  return children;
}

// Computes the order of the wheels: the user's order, but with each parameter directly after the last of its parents.
class WheelOrder {
 public:
  explicit WheelOrder(const Space& space) : space_(space), placed_(space.parameters().size()) {
    for (int i = 0; i < static_cast<int>(placed_.size()); ++i) Place(i);
  }
  std::vector<int> order() && { return std::move(order_); }

 private:
  void Place(int i) {
    if (placed_[i] || !ParentsPlaced(i)) return;
    placed_[i] = true;
    order_.push_back(i);
    for (const int child : Children(space_, i)) Place(child);
  }
  bool ParentsPlaced(int i) const {
    const std::vector<Condition>& when = space_.parameters()[i].when;
    return std::all_of(when.begin(), when.end(), [this](const Condition& c) {
      return placed_[*space_.Find(c.parent)];
    });
  }

  const Space& space_;
  std::vector<bool> placed_;
  std::vector<int> order_;
};

}  // namespace

// A run of neighbouring values of a parameter that rule out the same children.
struct ValueRun {
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::vector<int> rules_out;
};

namespace {

// Splits an axis into runs, at the values where a condition on the parameter starts or ends to hold.
std::vector<ValueRun> SplitIntoRuns(const Space& space, int parent, const Axis& axis) {
  const std::string& name = space.parameters()[parent].name;
  const std::vector<int> children = Children(space, parent);
  // For each condition on the parameter: the child, and the values that the condition allows.
  std::vector<std::pair<int, std::set<std::int64_t>>> opened_by;
  std::set<std::int64_t> cuts = {0, axis.count};
  for (const int child : children) {
    for (const Condition& condition : space.parameters()[child].when) {
      if (condition.parent != name) continue;
      std::set<std::int64_t>& admitted =
          opened_by.emplace_back(child, std::set<std::int64_t>{}).second;
      for (const ParameterValue& value : condition.values) {
        if (const std::optional<std::int64_t> i = axis.find(value)) {
          admitted.insert(*i);
          cuts.insert({*i, *i + 1});
        }
      }
    }
  }
  std::vector<ValueRun> runs;
  for (auto cut = cuts.begin(); *cut < axis.count; ++cut) {
    ValueRun& run = runs.emplace_back(
        ValueRun{.first = *cut, .length = *std::next(cut) - *cut, .rules_out = {}});
    for (const auto& [child, admitted] : opened_by) {
      if (!admitted.contains(run.first)) run.rules_out.push_back(child);
    }
  }
  return runs;
}

}  // namespace

Axis AllValues(const Parameter& parameter) {
  return Axis{.count = ValueCount(parameter).value_or(0),
              .value_at = [parameter](std::int64_t i) { return ValueAt(parameter, i); },
              .find = [parameter](const ParameterValue& value) -> std::optional<std::int64_t> {
                return IndexOf(parameter, value);
              }};
}

Axis ListedValues(std::vector<ParameterValue> values) {
  const auto list = std::make_shared<const std::vector<ParameterValue>>(std::move(values));
  return Axis{.count = static_cast<std::int64_t>(list->size()),
              .value_at = [list](std::int64_t i) { return (*list)[i]; },
              .find = [list](const ParameterValue& value) -> std::optional<std::int64_t> {
                const auto found = std::find(list->begin(), list->end(), value);
                if (found == list->end()) return std::nullopt;
                return found - list->begin();
              }};
}

// A decision diagram (grid/README.md, "Numbering"): a node for each pair of a parameter and a set of later parameters
// that earlier choices have ruled out. Equal pairs share a node, so that its size grows with the conditions and not
// with the number of points.
struct Enumeration::Diagram {
  struct Branch {
    // The values first … first + length - 1 of the parameter.
    std::int64_t first = 0;
    std::int64_t length = 0;
    int next = 0;           // The node after each of these values.
    std::int64_t each = 0;  // The number of points with each of these values.
  };
  struct Node {
    int parameter = 0;
    std::vector<Branch> branches;
    std::int64_t count = 1;  // Number of points of this node.
  };
  static constexpr int kEnd = 0;  // The node after the last parameter.

  std::vector<std::string> names;
  std::vector<Axis> axes;
  std::vector<Node> nodes = {Node()};
  int root = kEnd;
};

namespace {

// Bound of the diagram, whose size may grow exponentially with conditions. A choice: ordinary conditions need a node or
// two for each of at most 1,000 parameters.
constexpr std::size_t kMaxNodes = 4096;

}  // namespace

class Enumeration::Builder {
 public:
  Builder(const Space& space, std::vector<Axis> axes) : order_(WheelOrder(space).order()) {
    for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
      diagram_.names.push_back(space.parameters()[i].name);
      runs_.push_back(SplitIntoRuns(space, i, axes[i]));
      children_.push_back(Children(space, i));
    }
    diagram_.axes = std::move(axes);
  }

  std::shared_ptr<const Diagram> Build() && {
    diagram_.root = NodeFor(0, {});
    if (failed_) return nullptr;
    return std::make_shared<const Diagram>(std::move(diagram_));
  }

 private:
  // Returns the node for order_[position …] when the parameters in `out` can no longer become active.
  int NodeFor(std::size_t position, std::set<int> out) {
    while (position < order_.size() && out.contains(order_[position])) {
      const int inactive = order_[position++];
      out.erase(inactive);
      out.insert(children_[inactive].begin(), children_[inactive].end());
    }
    if (position == order_.size()) return Diagram::kEnd;
    auto key = std::make_pair(position, std::move(out));
    if (const auto found = memo_.find(key); found != memo_.end()) return found->second;

    Diagram::Node node{.parameter = order_[position], .branches = {}, .count = 0};
    failed_ = failed_ || runs_[node.parameter].empty() || diagram_.nodes.size() >= kMaxNodes;
    for (const ValueRun& run : runs_[node.parameter]) {
      if (failed_) return Diagram::kEnd;
      std::set<int> ruled_out = key.second;
      ruled_out.insert(run.rules_out.begin(), run.rules_out.end());
      const int next = NodeFor(position + 1, std::move(ruled_out));
      const std::int64_t each = diagram_.nodes[next].count;
      node.branches.push_back({run.first, run.length, next, each});
      node.count = SaturatingAdd(node.count, SaturatingMultiply(run.length, each));
    }
    diagram_.nodes.push_back(std::move(node));
    const int id = static_cast<int>(diagram_.nodes.size()) - 1;
    memo_.emplace(std::move(key), id);
    return id;
  }

  const std::vector<int> order_;
  std::vector<std::vector<ValueRun>> runs_;
  std::vector<std::vector<int>> children_;
  std::map<std::pair<std::size_t, std::set<int>>, int> memo_;
  Diagram diagram_;
  bool failed_ = false;
};

Enumeration::Enumeration(std::shared_ptr<const Diagram> diagram) : diagram_(std::move(diagram)) {}

std::optional<Enumeration> Enumeration::Create(const Space& space, std::vector<Axis> axes) {
  auto diagram = Builder(space, std::move(axes)).Build();
  return diagram == nullptr ? std::nullopt : std::optional(Enumeration(std::move(diagram)));
}

std::optional<Enumeration> Enumeration::OfAllValues(const Space& space) {
  std::vector<Axis> axes;
  for (const Parameter& parameter : space.parameters()) axes.push_back(AllValues(parameter));
  return Create(space, std::move(axes));
}

std::int64_t Enumeration::count() const { return diagram_->nodes[diagram_->root].count; }

// Walks from the root: at each node, finds the branch that contains the index, and continues with the index within it.
Point Enumeration::At(std::int64_t index) const {
  Point point;
  int at = diagram_->root;
  while (at != Diagram::kEnd) {
    const Diagram::Node& node = diagram_->nodes[at];
    for (const Diagram::Branch& branch : node.branches) {
      const std::int64_t value = index / branch.each;
      if (value < branch.length) {
        point.emplace(diagram_->names[node.parameter],
                      diagram_->axes[node.parameter].value_at(branch.first + value));
        index -= value * branch.each;
        at = branch.next;
        break;
      }
      index -= branch.length * branch.each;
    }
  }
  return point;
}

}  // namespace vernier::sampling
