#include "vernier/core/space.h"

#include <algorithm>
#include <map>
#include <utility>

#include "fmt/format.h"
#include "src/core/constraint.h"
#include "src/core/domain.h"
#include "src/core/feasibility.h"
#include "src/core/point_check.h"
#include "src/core/point_count.h"
#include "src/core/space_validation.h"

namespace vernier {
namespace {

absl::StatusOr<std::vector<Constraint>> ParseAll(const std::vector<std::string>& texts,
                                                 const std::vector<Parameter>& parameters) {
  std::vector<Constraint> constraints;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    absl::StatusOr<Constraint> constraint = Constraint::Parse(texts[i], parameters);
    if (!constraint.ok()) {
      return FieldError(fmt::format("constraints[{}]", i),
                        std::string(constraint.status().message()));
    }
    constraints.push_back(*std::move(constraint));
  }
  return constraints;
}

// Quotes a text, so that different points cannot have the same key.
std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string KeyOf(const ParameterValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return Quote(*text);
  const auto* const number = std::get_if<double>(&value);
  // -0.0 and 0.0 are equal values and must have the same key.
  if (number != nullptr && *number == 0) return "0";
  return FormatValue(value);
}

}  // namespace

struct Space::Rep {
  std::vector<Parameter> parameters;
  std::vector<int> parents_first;
  std::vector<std::string> constraint_texts;
  std::vector<Constraint> constraints;
  std::map<std::string, int, std::less<>> index;
  std::optional<std::int64_t> cardinality;
};

Space::Space() {
  auto rep = std::make_shared<Rep>();
  // There is one point, the empty one.
  rep->cardinality = 1;
  rep_ = std::move(rep);
}

Space::Space(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

absl::StatusOr<Space> Space::Create(std::vector<Parameter> parameters,
                                    std::vector<std::string> constraints) {
  // Each step relies on those before it: the order on known parents, the count on the order.
  VERNIER_RETURN_IF_ERROR(CheckAndNormalize(parameters));
  auto rep = std::make_shared<Rep>();
  VERNIER_ASSIGN_OR_RETURN(rep->parents_first, OrderParentsFirst(parameters));
  VERNIER_ASSIGN_OR_RETURN(rep->constraints, ParseAll(constraints, parameters));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    rep->index.emplace(parameters[i].name, static_cast<int>(i));
  }
  rep->cardinality = CountPoints(parameters, rep->parents_first);
  rep->parameters = std::move(parameters);
  rep->constraint_texts = std::move(constraints);
  // Taken before `rep` is handed over; what it refers to stays in place.
  const std::span<const Constraint> parsed = rep->constraints;
  Space space(std::move(rep));
  VERNIER_RETURN_IF_ERROR(CheckFeasible(space, parsed));
  return space;
}

const std::vector<Parameter>& Space::parameters() const { return rep_->parameters; }
std::span<const int> Space::parents_first() const { return rep_->parents_first; }
const std::vector<std::string>& Space::constraints() const { return rep_->constraint_texts; }
std::optional<std::int64_t> Space::Cardinality() const { return rep_->cardinality; }

std::optional<int> Space::Find(std::string_view name) const {
  const auto found = rep_->index.find(name);
  if (found == rep_->index.end()) return std::nullopt;
  return found->second;
}

bool Space::IsActive(int index, const Point& point) const {
  const Parameter& parameter = rep_->parameters[static_cast<std::size_t>(index)];
  return std::all_of(parameter.when.begin(), parameter.when.end(), [&point](const Condition& when) {
    const auto parent = point.find(when.parent);
    // A parent without a value counts as inactive, and so do its children.
    return parent != point.end() &&
           std::find(when.values.begin(), when.values.end(), parent->second) != when.values.end();
  });
}

bool Space::Satisfies(const Point& point) const {
  return std::all_of(rep_->constraints.begin(),
                     rep_->constraints.end(),
                     [&point](const Constraint& constraint) { return constraint.Holds(point); });
}

absl::Status Space::Check(const Point& point) const {
  // Values first: constraints are evaluated at legal values only.
  VERNIER_RETURN_IF_ERROR(CheckValues(*this, point));
  for (std::size_t i = 0; i < rep_->constraints.size(); ++i) {
    if (rep_->constraints[i].Holds(point)) continue;
    return FieldError(
        fmt::format("constraints[{}]", i),
        fmt::format("'{}' does not hold at {}", rep_->constraints[i].text(), FormatPoint(point)));
  }
  return absl::OkStatus();
}

Point Space::InKind(const Point& point) const {
  Point result = point;
  for (auto& [name, value] : result) {
    const std::optional<int> index = Find(name);
    // Left for Check, which names it.
    if (!index.has_value()) continue;
    value = InKindOf(rep_->parameters[static_cast<std::size_t>(*index)].domain, value);
  }
  return result;
}

std::string Space::Key(const Point& point) const {
  std::string key;
  for (const Parameter& parameter : rep_->parameters) {
    const auto found = point.find(parameter.name);
    if (found == point.end()) continue;
    key += fmt::format("{}{}={}", key.empty() ? "" : " ", parameter.name, KeyOf(found->second));
  }
  return key;
}

std::optional<Point> Space::DefaultPoint() const {
  Point point;
  for (const int index : rep_->parents_first) {
    const Parameter& parameter = rep_->parameters[static_cast<std::size_t>(index)];
    // Parents come first, so that the point has what decides.
    if (!IsActive(index, point)) continue;
    if (!parameter.default_value.has_value()) return std::nullopt;
    point.emplace(parameter.name, *parameter.default_value);
  }
  if (!Satisfies(point)) return std::nullopt;
  return point;
}

bool operator==(const Space& a, const Space& b) {
  // Copies share their data, which makes most comparisons cheap.
  return a.rep_ == b.rep_ ||
         (a.parameters() == b.parameters() && a.constraints() == b.constraints());
}

}  // namespace vernier
