// The functions for programs in other languages: JSON lines in, JSON lines out.
//
//   {"op": "list"}                                       -> {"functions": [{"name", "family", "noise", "reference", "space"}, …]}
//   {"op": "regret", "function": NAME, "params": {…}}    -> {"regret": 0.25}
//
// Spaces and points are those of `vernier ask-tell`; `reference` is the regret of a median random point. Whatever is wrong
// ends it with a message.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "benchmarks/quality/functions.h"
#include "benchmarks/quality/search.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/ask_tell/space_codec.h"

namespace vernier::quality {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

Json ToJson(const std::vector<ParameterValue>& values) {
  Json list = Json::array();
  for (const ParameterValue& value : values) {
    list.push_back(std::visit([](const auto& v) { return Json(v); }, value));
  }
  return list;
}

// A domain as the ask/tell protocol has it.
struct DomainJson {
  template <typename Range>
  static Json OfRange(const char* type, const Range& range) {
    if (range.step || range.scale == Scale::kReverseLog) Fail("a range that ask-tell cannot say");
    return {{"type", type},
            {"min", range.lower},
            {"max", range.upper},
            {"log", range.scale == Scale::kLog}};
  }
  Json operator()(const FloatDomain& domain) const { return OfRange("float", domain); }
  Json operator()(const IntDomain& domain) const { return OfRange("int", domain); }
  Json operator()(const DiscreteDomain& domain) const {
    return {{"type", "discrete"}, {"values", domain.values}};
  }
  Json operator()(const CategoricalDomain& domain) const {
    return {{"type", "categorical"}, {"values", ToJson(domain.values)}};
  }
  Json operator()(const BoolDomain&) const {
    return {{"type", "categorical"}, {"values", {false, true}}};
  }
};

Json SpaceJson(const Space& space) {
  Json list = Json::array();
  for (const int index : space.parents_first()) {
    const Parameter& parameter = space.parameters()[static_cast<std::size_t>(index)];
    Json json = {{"name", parameter.name}};
    json.update(std::visit(DomainJson(), parameter.domain));
    if (parameter.when.size() > 1) Fail("a parameter with two conditions");
    for (const Condition& condition : parameter.when) {
      json["parent"] = {{"name", condition.parent}, {"values", ToJson(condition.values)}};
    }
    list.push_back(std::move(json));
  }
  return list;
}

class Server {
 public:
  Server() {
    for (Function& function : Functions()) {
      const auto codec = cli::SpaceCodec::Parse(SpaceJson(function.space));
      if (!codec.ok()) Fail(codec.status().ToString());
      functions_.push_back({std::move(function), *codec});
    }
  }

  Json Answer(const Json& request) const {
    if (request.at("op") == "list") return {{"functions", List()}};
    for (const auto& [function, codec] : functions_) {
      if (request.at("function") != function.name) continue;
      const auto point = codec.Decode(request.at("params"));
      if (!point.ok()) Fail(point.status().ToString());
      return {{"regret", function.regret(*point)}};
    }
    Fail("no such function: " + request.dump());
  }

 private:
  Json List() const {
    Json list = Json::array();
    for (const auto& [function, codec] : functions_) {
      list.push_back({{"name", function.name},
                      {"family", function.family},
                      {"noise", function.noise},
                      {"reference", ReferenceRegret(function)},
                      {"space", SpaceJson(function.space)}});
    }
    return list;
  }

  std::vector<std::pair<Function, cli::SpaceCodec>> functions_;
};

}  // namespace
}  // namespace vernier::quality

int main() {
  const vernier::quality::Server server;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << server.Answer(nlohmann::ordered_json::parse(line)).dump() << std::endl;
  }
}
