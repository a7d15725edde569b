// An experiment's configuration of Determined: docs.determined.ai, «Experiment Configuration Reference».

#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "src/codec/json_text.h"
#include "src/codec/shell_words.h"
#include "src/core/status.h"
#include "src/import/definitions.h"
#include "src/import/input.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

// Whether the mapping is a hyperparameter, and not a group of them.
bool IsTyped(const Json& json) { return Member(json, "type").is_string(); }

absl::StatusOr<Json> HyperparameterDomain(const std::string& path, const Json& json) {
  const std::string type = TextMember(json, "type");
  if (type == "categorical") {
    const Json& values = Member(json, "vals");
    if (!values.is_array() || values.empty()) return FieldError(path + ".vals", "must be a list");
    return ListedDomain(values);
  }
  const Json low = NumberIn(Member(json, "minval"));
  const Json high = NumberIn(Member(json, "maxval"));
  if (low.is_null() || high.is_null()) return FieldError(path, "needs numbers minval and maxval");
  Json domain;
  if (type == "int" || type == "double") {
    domain = {{type == "int" ? "int" : "float", {low, high}}};
  } else if (type == "log") {
    // Bounds are exponents of the base.
    const Json given = NumberIn(Member(json, "base"));
    const double base = given.is_null() ? 10 : given.get<double>();
    domain = {{"float", {std::pow(base, low.get<double>()), std::pow(base, high.get<double>())}},
              {"scale", "log"}};
  } else {
    return FieldError(path + ".type", fmt::format("unknown type '{}'", type));
  }
  const Json count = NumberIn(Member(json, "count"));
  if (!count.is_null()) domain["points"] = count;
  return domain;
}

absl::Status AddHyperparameters(const Json& given,
                                const std::string& prefix,
                                Json& constants,
                                SourceStudy& out) {
  for (const auto& [key, json] : given.items()) {
    const std::string name = prefix + key;
    if (json.is_object() && !IsTyped(json)) {
      VERNIER_RETURN_IF_ERROR(AddHyperparameters(json, name + ".", constants, out));
    } else if (!json.is_object()) {
      constants[name] = json;
    } else if (TextMember(json, "type") == "const") {
      constants[name] = Member(json, "val");
    } else {
      VERNIER_ASSIGN_OR_RETURN(out.parameters()[name],
                               HyperparameterDomain("hyperparameters." + name, json));
    }
  }
  return absl::OkStatus();
}

void SetSearcher(const Json& searcher, SourceStudy& out) {
  const std::string name = TextMember(searcher, "name");
  const std::string metric = TextMember(searcher, "metric");
  const bool is_down = Member(searcher, "smaller_is_better") != Json(false);
  if (!metric.empty()) out.definition["objective"] = {{is_down ? "minimize" : "maximize", metric}};
  // A searcher of Determined draws at random, and differs in how it stops.
  out.definition["algorithm"] = name == "grid" ? "grid" : name == "random" ? "random" : "gp";
  if (name == "adaptive_asha" || name == "async_halving") {
    Json rule = {{"rule", name == "async_halving" ? "asha" : "hyperband"}};
    const Json divisor = NumberIn(Member(searcher, "divisor"));
    if (!divisor.is_null()) rule["reduction_factor"] = divisor;
    out.definition["stopping"] = rule;
    out.Note(fmt::format("searcher: '{}' is the algorithm gp with the stopping rule {} here",
                         name,
                         codec::ToText(rule["rule"])));
  }
  if (name == "single") out.definition["budget"]["trials"] = 1;
  const Json trials = NumberIn(Member(searcher, "max_trials"));
  if (!trials.is_null()) out.definition["budget"]["trials"] = trials;
  const Json parallel = NumberIn(Member(searcher, "max_concurrent_trials"));
  if (!parallel.is_null() && parallel != Json(0)) out.definition["parallel"] = parallel;
  NoteLeftOut(
      searcher,
      "searcher",
      {"name", "metric", "smaller_is_better", "max_trials", "max_concurrent_trials", "divisor"},
      out);
}

// The words of a command; nothing where a class of Python is named, which only Determined starts.
absl::StatusOr<Json> EntrypointWords(const Json& entrypoint) {
  Json words = Json::array();
  if (entrypoint.is_array()) {
    for (const Json& word : entrypoint)
      words.push_back(word.is_string() ? word.get<std::string>() : codec::ToText(word));
    return words;
  }
  const std::string text = entrypoint.is_string() ? entrypoint.get<std::string>() : "";
  const bool is_class = text.find(' ') == text.npos && text.find(':') != text.npos;
  if (text.empty() || is_class) return Json();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> split, codec::SplitShellWords(text));
  return Json(split);
}

absl::Status SetJob(const Json& document, const Json& constants, SourceStudy& out) {
  VERNIER_ASSIGN_OR_RETURN(Json command, EntrypointWords(Member(document, "entrypoint")));
  if (command.is_null()) {
    out.Note("entrypoint: is no command, so the study has no job, and clients run its trials");
    if (!constants.empty())
      out.Note(
          fmt::format("constants are left out, as there is no job: {}", codec::ToText(constants)));
    return absl::OkStatus();
  }
  for (const auto& [name, value] : constants.items()) {
    command.push_back(fmt::format("--{}={}", name, FormatValue(ValueOf(value))));
  }
  Json& job = out.definition["job"];
  job["command"] = std::move(command);
  const Json& resources = Member(document, "resources");
  const Json slots = NumberIn(Member(resources, "slots_per_trial"));
  if (slots.is_number_integer() && slots > 0)
    job["replicas"]["chief"] = {{"count", 1}, {"gpus", slots}};
  const Json& image = Member(Member(document, "environment"), "image");
  if (image.is_string()) job["image"] = image;
  const Json restarts = NumberIn(Member(document, "max_restarts"));
  if (!restarts.is_null()) job["restarts"]["job"] = restarts;
  NoteLeftOut(resources, "resources", {"slots_per_trial"}, out);
  NoteLeftOut(Member(document, "environment"), "environment", {"image"}, out);
  out.Note(
      "job: parameters arrive as options --NAME=VALUE; det.core and its context are not there, so "
      "print or report the metric");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SourceStudy> FromDetermined(const Json& document) {
  SourceStudy out;
  out.name = TextMember(document, "name");
  if (out.name.empty()) out.name = "experiment";
  out.parameters() = Json::object();
  Json constants = Json::object();
  VERNIER_RETURN_IF_ERROR(
      AddHyperparameters(Member(document, "hyperparameters"), "", constants, out));
  SetSearcher(Member(document, "searcher"), out);
  VERNIER_RETURN_IF_ERROR(SetJob(document, constants, out));
  NoteLeftOut(document,
              "",
              {"name",
               "hyperparameters",
               "searcher",
               "entrypoint",
               "resources",
               "environment",
               "max_restarts",
               "description"},
              out);
  return out;
}

}  // namespace vernier::imports
