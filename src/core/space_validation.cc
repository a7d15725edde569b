#include "src/core/space_validation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "fmt/format.h"
#include "src/core/domain.h"
#include "src/core/listed_values.h"
#include "src/core/nearest.h"
#include "src/core/utf8.h"
#include "vernier/core/limits.h"

namespace vernier {
namespace {

using IndexByName = std::map<std::string_view, int>;

std::string PathOf(const Parameter& parameter) {
  return fmt::format("parameters.{}", parameter.name);
}

absl::Status CheckParameterName(std::size_t index, const std::string& name) {
  const bool sound =
      !name.empty() && name.size() <= limits::kParameterName && IsPrintableUtf8(name);
  if (sound) return absl::OkStatus();
  return FieldError(
      fmt::format("parameters[{}].name", index),
      fmt::format("must have 1 to {} bytes of UTF-8 without control characters, got '{}'",
                  limits::kParameterName,
                  // The message must be valid UTF-8 to be sent.
                  ToValidUtf8(name)));
}

absl::Status CheckDefault(Parameter& parameter) {
  if (!parameter.default_value.has_value()) return absl::OkStatus();
  // The study file does not tell 1 from 1.0, but points do.
  *parameter.default_value = InKindOf(parameter.domain, *parameter.default_value);
  const std::string why = WhyIllegal(parameter.domain, *parameter.default_value);
  if (why.empty()) return absl::OkStatus();
  return FieldError(PathOf(parameter) + ".default", why);
}

// Whether the parameter's list has the value; if so, converts it to the type in the list. False for other domains.
bool IsListed(const Parameter& parameter, ListedValues& listed, ParameterValue& value) {
  if (listed.Find(parameter, value).has_value()) return true;
  const std::optional<ParameterValue> other = InOtherKind(value);
  if (!other.has_value() || !listed.Find(parameter, *other).has_value()) return false;
  value = *other;
  return true;
}

absl::Status CheckCondition(const std::string& child,
                            const Parameter& parent,
                            ListedValues& listed,
                            Condition& when) {
  const std::string path = fmt::format("parameters.{}.when.{}", child, when.parent);
  if (parent.name == child) return FieldError(path, "a parameter cannot depend on itself");
  if (IsContinuous(parent.domain)) {
    return FieldError(path, "depends on a float without a step, which has no values to name");
  }
  if (when.values.empty()) return FieldError(path, "must name at least one value");
  for (std::size_t i = 0; i < when.values.size(); ++i) {
    // Lists by their index, since a linear search for each value would be quadratic. The rest of
    // the loop is for other domains, and for the message.
    if (IsListed(parent, listed, when.values[i])) continue;
    when.values[i] = InKindOf(parent.domain, when.values[i]);
    const std::string why = WhyIllegal(parent.domain, when.values[i]);
    if (!why.empty()) return FieldError(fmt::format("{}[{}]", path, i), why);
  }
  return absl::OkStatus();
}

absl::Status CheckConditions(std::vector<Parameter>& parameters, const IndexByName& index) {
  ListedValues listed;
  for (Parameter& parameter : parameters) {
    for (Condition& when : parameter.when) {
      const auto parent = index.find(when.parent);
      if (parent == index.end()) {
        std::vector<std::string> names;
        for (const auto& [name, unused] : index) names.emplace_back(name);
        return FieldError(fmt::format("parameters.{}.when.{}", parameter.name, when.parent),
                          "no such parameter" + NearestHint(when.parent, names));
      }
      const Parameter& of = parameters[static_cast<std::size_t>(parent->second)];
      VERNIER_RETURN_IF_ERROR(CheckCondition(parameter.name, of, listed, when));
    }
  }
  return absl::OkStatus();
}

IndexByName Index(const std::vector<Parameter>& parameters) {
  IndexByName index;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    index.emplace(parameters[i].name, static_cast<int>(i));
  }
  return index;
}

// Names a cycle: walks from child to parent among the parameters that could not be ordered, each of which has a parent
// among them, until one repeats.
absl::Status CircleError(const std::vector<Parameter>& parameters,
                         const IndexByName& index,
                         const std::vector<int>& waits_for) {
  const auto waits = [&waits_for](int i) { return waits_for[static_cast<std::size_t>(i)] > 0; };
  int at = 0;
  while (!waits(at)) ++at;
  std::vector<int> path;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    for (const Condition& when : parameters[static_cast<std::size_t>(at)].when) {
      const int parent = index.at(when.parent);
      if (!waits(parent)) continue;
      at = parent;
      break;
    }
  }
  std::string circle;
  for (auto i = std::find(path.begin(), path.end(), at); i != path.end(); ++i) {
    circle += parameters[static_cast<std::size_t>(*i)].name + " -> ";
  }
  const Parameter& first = parameters[static_cast<std::size_t>(at)];
  return FieldError(PathOf(first) + ".when",
                    fmt::format("conditions form a circle: {}{}", circle, first.name));
}

}  // namespace

absl::Status CheckAndNormalize(std::vector<Parameter>& parameters) {
  if (parameters.size() > limits::kParameters) {
    return FieldError(
        "parameters",
        fmt::format("must be at most {}, got {}", limits::kParameters, parameters.size()));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter& parameter = parameters[i];
    VERNIER_RETURN_IF_ERROR(CheckParameterName(i, parameter.name));
    VERNIER_RETURN_IF_ERROR(CheckDomain(PathOf(parameter), parameter.domain));
    VERNIER_RETURN_IF_ERROR(CheckDefault(parameter));
  }
  const IndexByName index = Index(parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // The index keeps the first of two equal names, so the second finds another than itself.
    if (index.at(parameters[i].name) == static_cast<int>(i)) continue;
    return FieldError(PathOf(parameters[i]), "is defined twice");
  }
  return CheckConditions(parameters, index);
}

// Kahn's algorithm; the set makes the parameter with the lowest index the next one, which keeps the given order where
// it can.
absl::StatusOr<std::vector<int>> OrderParentsFirst(const std::vector<Parameter>& parameters) {
  const IndexByName index = Index(parameters);
  std::vector<int> waits_for(parameters.size(), 0);
  std::vector<std::vector<int>> children(parameters.size());
  std::set<int> ready;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (const Condition& when : parameters[i].when) {
      // A parent with two conditions counts twice, here and below.
      children[static_cast<std::size_t>(index.at(when.parent))].push_back(static_cast<int>(i));
      ++waits_for[i];
    }
    if (waits_for[i] == 0) ready.insert(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const int child : children[static_cast<std::size_t>(next)]) {
      if (--waits_for[static_cast<std::size_t>(child)] == 0) ready.insert(child);
    }
  }
  // What is left waits for a parameter that waits as well.
  if (order.size() < parameters.size()) return CircleError(parameters, index, waits_for);
  return order;
}

}  // namespace vernier
