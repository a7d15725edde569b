#include "src/import/inference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/codec/json_text.h"

namespace vernier::imports {
namespace {

// Ratio of the largest to the smallest value from which a range is searched on a log scale. A choice.
constexpr double kLogRatio = 1000;

// The distinct finite values of a parameter, in the order of the trials.
std::vector<ParameterValue> ValuesOf(const SourceStudy& source, const std::string& name) {
  std::vector<ParameterValue> values;
  std::set<ParameterValue> seen;
  for (const SourceTrial& trial : source.trials) {
    const auto at = trial.point.find(name);
    if (at == trial.point.end() || !std::isfinite(NumberOf(at->second).value_or(0))) continue;
    if (seen.insert(at->second).second) values.push_back(at->second);
  }
  return values;
}

template <typename T>
bool AreAll(const std::vector<ParameterValue>& values) {
  return std::ranges::all_of(values, [](const auto& v) { return std::holds_alternative<T>(v); });
}

Json InferredRange(const std::vector<ParameterValue>& values) {
  const auto less = [](const auto& a, const auto& b) { return *NumberOf(a) < *NumberOf(b); };
  const auto [low, high] = std::ranges::minmax_element(values, less);
  const bool is_int = AreAll<std::int64_t>(values);
  Json range = {{is_int ? "int" : "float", {JsonOf(*low), JsonOf(*high)}}};
  if (*NumberOf(*low) > 0 && *NumberOf(*high) / *NumberOf(*low) >= kLogRatio) {
    range["scale"] = "log";
  }
  return range;
}

Json InferredDomain(const std::vector<ParameterValue>& values) {
  if (AreAll<bool>(values)) return {{"bool", Json::object()}};
  const bool is_numeric =
      std::ranges::all_of(values, [](const auto& v) { return NumberOf(v).has_value(); });
  if (is_numeric) return InferredRange(values);
  Json choices = Json::array();
  for (const ParameterValue& value : values) choices.push_back(FormatValue(value));
  return {{"categorical", choices}};
}

// Names in the source's order, or else in the one in which trials have them first.
std::vector<std::string> NamesIn(const SourceStudy& source) {
  std::vector<std::string> names = source.order;
  std::set<std::string> seen(names.begin(), names.end());
  for (const SourceTrial& trial : source.trials) {
    for (const auto& [name, value] : trial.point) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

// --- conditions ---

struct Split {
  std::set<ParameterValue> with;     // Values of the parent in trials that have the child.
  std::set<ParameterValue> without;  // In completed trials that lack it.
};

// Nothing if the child occurs without the parent, so that the parent cannot be a condition.
std::optional<Split> SplitBy(const SourceStudy& source,
                             const std::string& parent,
                             const std::string& child) {
  Split split;
  for (const SourceTrial& trial : source.trials) {
    const auto at = trial.point.find(parent);
    const bool has_child = trial.point.contains(child);
    if (at == trial.point.end()) {
      if (has_child) return std::nullopt;
    } else if (has_child) {
      split.with.insert(at->second);
    } else if (trial.end == SourceTrial::End::kCompleted) {
      split.without.insert(at->second);
    }
  }
  return split;
}

// Values from one bound of an integer's range on, so that those between the ones that occurred count too.
Json ValuesFrom(std::int64_t low, std::int64_t high) {
  constexpr std::int64_t kMost = 1000;
  Json values = Json::array();
  for (std::int64_t v = low; v <= high && v - low < kMost; ++v) values.push_back(v);
  return values;
}

Json ConditionOn(const Json& domain, const Split& split) {
  if (domain.contains("categorical") || domain.contains("bool")) {
    Json values = Json::array();
    for (const ParameterValue& value : split.with) {
      if (split.without.contains(value)) return Json();
      values.push_back(JsonOf(value));
    }
    return values;
  }
  if (!domain.contains("int") || split.without.empty() || domain.contains("step")) return Json();
  const auto at = [](const auto& value) { return std::get<std::int64_t>(value); };
  if (!std::holds_alternative<std::int64_t>(*split.with.begin())) return Json();
  const std::int64_t low = at(*split.with.begin());
  const std::int64_t high = at(*split.with.rbegin());
  if (low > at(*split.without.rbegin())) {
    return ValuesFrom(low, domain["int"][1].get<std::int64_t>());
  }
  if (high < at(*split.without.begin())) {
    return ValuesFrom(domain["int"][0].get<std::int64_t>(), high);
  }
  return Json();
}

bool IsMissing(const SourceStudy& source, const std::string& name) {
  return std::ranges::any_of(source.trials, [&](const SourceTrial& trial) {
    return trial.end == SourceTrial::End::kCompleted && !trial.point.contains(name);
  });
}

// Categories first: a bound of a number tells few trials apart by chance. Tables need not have a parent ahead of its children.
// None can be the parent of its own parent, since only it then occurs in further trials.
std::vector<std::string> ParentsOf(const Json& parameters, const std::string& child) {
  std::vector<std::string> parents;
  for (const bool is_listed : {true, false}) {
    for (const auto& [name, domain] : parameters.items()) {
      const bool is_this = domain.contains("categorical") || domain.contains("bool");
      if (name != child && is_this == is_listed) parents.push_back(name);
    }
  }
  return parents;
}

void InferCondition(SourceStudy& source, const std::string& child) {
  Json& parameters = source.parameters();
  for (const std::string& parent : ParentsOf(parameters, child)) {
    const std::optional<Split> split = SplitBy(source, parent, child);
    if (!split.has_value() || split->with.empty() || split->without.empty()) continue;
    const Json values = ConditionOn(parameters[parent], *split);
    if (values.empty()) continue;
    parameters[child]["when"] = {{parent, values}};
    source.Note(fmt::format(
        "{}: active where {} is one of {}, as in the trials; its tool does not store the condition",
        child,
        parent,
        codec::ToText(values)));
    return;
  }
  source.Note(fmt::format(
      "{}: some completed trials lack it, and no other parameter tells which; they are left out",
      child));
}

}  // namespace

std::vector<std::string> InferParameters(SourceStudy& source) {
  std::vector<std::string> constants;
  Json& parameters = source.parameters();
  if (!parameters.is_object()) parameters = Json::object();
  for (const std::string& name : NamesIn(source)) {
    if (parameters.contains(name)) continue;
    const std::vector<ParameterValue> values = ValuesOf(source, name);
    if (values.empty()) continue;
    if (values.size() == 1) {
      constants.push_back(fmt::format("{} is {}", name, FormatValue(values.front())));
      source.Note(
          fmt::format("{}: is {} in every trial, so it is no parameter; stored with the "
                      "trials as metadata",
                      name,
                      FormatValue(values.front())));
      continue;
    }
    parameters[name] = InferredDomain(values);
    source.Note(fmt::format("{}: {} is what the trials' values say; --space FILE says otherwise",
                            name,
                            codec::ToText(parameters[name])));
  }
  return constants;
}

void InferConditions(SourceStudy& source) {
  std::vector<std::string> names;
  for (const auto& [name, domain] : source.parameters().items()) names.push_back(name);
  for (const std::string& name : names) {
    if (!source.parameters()[name].contains("when") && IsMissing(source, name)) {
      InferCondition(source, name);
    }
  }
}

}  // namespace vernier::imports
