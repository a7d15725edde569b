// A sweep of Weights & Biases: https://docs.wandb.ai/models/sweeps/sweep-config-keys

#include <cmath>
#include <cstdint>
#include <utility>

#include "fmt/format.h"
#include "src/codec/json_text.h"
#include "src/core/status.h"
#include "src/import/definitions.h"
#include "src/import/input.h"
#include "vernier/core/error.h"

namespace vernier::imports {
namespace {

// Range of a normal distribution, in its deviations: all but one draw in 370.
constexpr double kDeviations = 3;

struct Range {
  Json low;
  Json high;
};

absl::StatusOr<Range> BoundsOf(const std::string& path, const Json& json) {
  Range range{NumberIn(Member(json, "min")), NumberIn(Member(json, "max"))};
  if (range.low.is_null() || range.high.is_null()) {
    return FieldError(path, "needs numbers min and max");
  }
  return range;
}

Json FloatRange(double low, double high, bool is_log) {
  Json domain = {{"float", {low, high}}};
  if (is_log) domain["scale"] = "log";
  return domain;
}

// mu and sigma, of the value or of its logarithm.
Json NormalRange(const Json& json, bool is_log) {
  const Json mu = NumberIn(Member(json, "mu"));
  const Json sigma = NumberIn(Member(json, "sigma"));
  const double middle = mu.is_null() ? 0 : mu.get<double>();
  const double width = kDeviations * (sigma.is_null() ? 1 : sigma.get<double>());
  if (!is_log) return FloatRange(middle - width, middle + width, false);
  return FloatRange(std::exp(middle - width), std::exp(middle + width), true);
}

std::string DistributionOf(const Json& json) {
  std::string given = TextMember(json, "distribution");
  if (!given.empty()) return given;
  if (Member(json, "values").is_array()) return "categorical";
  if (json.is_object() && json.contains("value")) return "constant";
  const bool is_int =
      Member(json, "min").is_number_integer() && Member(json, "max").is_number_integer();
  return is_int ? "int_uniform" : "uniform";
}

// A domain of a study file; null: the parameter is a constant.
absl::StatusOr<Json> SweepDomain(const std::string& name, const Json& json, SourceStudy& out) {
  const std::string path = "parameters." + name;
  std::string distribution = DistributionOf(json);
  const bool is_quantized = distribution.starts_with("q_");
  if (is_quantized) distribution = distribution.substr(2);
  Json domain;
  if (distribution == "constant") return Json();
  if (distribution.starts_with("categorical")) {
    const Json& values = Member(json, "values");
    if (!values.is_array() || values.empty()) return FieldError(path + ".values", "must be a list");
    if (!Member(json, "probabilities").is_null()) {
      out.Note(fmt::format("{}.probabilities: left out, values count alike", path));
    }
    if (values.size() == 1) return Json();
    domain = ListedDomain(values);
  } else if (distribution == "normal" || distribution == "log_normal") {
    domain = NormalRange(json, distribution == "log_normal");
    out.Note(fmt::format("{}: the range of {} deviations around mu, {}, evenly",
                         path,
                         kDeviations,
                         codec::ToText(domain)));
  } else {
    VERNIER_ASSIGN_OR_RETURN(const Range range, BoundsOf(path, json));
    if (distribution == "int_uniform") {
      domain = {{"int", {range.low, range.high}}};
    } else if (distribution == "uniform") {
      domain = {{"float", {range.low, range.high}}};
    } else if (distribution == "log_uniform_values") {
      domain = {{"float", {range.low, range.high}}, {"scale", "log"}};
    } else if (distribution == "log_uniform") {
      // Bounds are exponents of e.
      domain =
          FloatRange(std::exp(range.low.get<double>()), std::exp(range.high.get<double>()), true);
    } else if (distribution == "inv_log_uniform" || distribution == "inv_log_uniform_values") {
      const bool is_values = distribution.ends_with("values");
      const auto bound = [&](const Json& exponent) {
        return is_values ? exponent.get<double>() : std::exp(-exponent.get<double>());
      };
      const double a = bound(range.low);
      const double b = bound(range.high);
      domain = {{"float", {std::min(a, b), std::max(a, b)}}, {"scale", "reverse-log"}};
      out.Note(fmt::format("{}: {} is a reverse-log scale here", path, distribution));
    } else {
      return FieldError(path + ".distribution",
                        fmt::format("'{}' has no counterpart", distribution));
    }
  }
  if (!is_quantized) return domain;
  const Json q = NumberIn(Member(json, "q"));
  if (domain.contains("scale")) {
    out.Note(fmt::format("{}.q: left out, as a log scale has no step here", path));
  } else {
    domain["step"] = q.is_null() ? Json(1) : q;
  }
  return domain;
}

Json ConstantOf(const Json& json) {
  const Json& values = Member(json, "values");
  return values.is_array() && !values.empty() ? values.front() : Member(json, "value");
}

absl::Status AddParameters(const Json& parameters,
                           const std::string& prefix,
                           Json& constants,
                           SourceStudy& out) {
  if (!parameters.is_object()) return FieldError(prefix + "parameters", "must be a mapping");
  for (const auto& [key, json] : parameters.items()) {
    const std::string name = prefix + key;
    if (!json.is_object()) return FieldError("parameters." + name, "must be a mapping");
    if (Member(json, "parameters").is_object()) {
      VERNIER_RETURN_IF_ERROR(AddParameters(json["parameters"], name + ".", constants, out));
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(Json domain, SweepDomain(name, json, out));
    if (domain.is_null()) {
      constants[name] = ConstantOf(json);
    } else {
      out.parameters()[name] = std::move(domain);
    }
  }
  return absl::OkStatus();
}

// The words of `command`, whose last ones are the parameters. Vernier appends --NAME=VALUE by itself.
Json CommandOf(const Json& document, SourceStudy& out) {
  const std::string program = TextMember(document, "program");
  Json given = Member(document, "command");
  if (!given.is_array()) given = {"${env}", "${interpreter}", "${program}", "${args}"};
  Json words = Json::array();
  for (const Json& word : given) {
    const std::string text = word.is_string() ? word.get<std::string>() : codec::ToText(word);
    if (text == "${env}" || text == "${args}") continue;
    if (text == "${interpreter}") {
      words.push_back("python3");
    } else if (text == "${program}") {
      words.push_back(program);
    } else if (text == "${args_no_hyphens}") {
      out.definition["job"]["arguments"] = "assignment";
    } else if (text.starts_with("${")) {
      out.Note(fmt::format("command: {} is left out", text));
    } else {
      words.push_back(text);
    }
  }
  return words;
}

void SetSweepJob(const Json& document, const Json& constants, SourceStudy& out) {
  if (TextMember(document, "program").empty()) {
    if (constants.empty()) return;
    out.Note(fmt::format("constants are left out, as there is no program: {}",
                         codec::ToText(constants)));
    return;
  }
  out.definition["job"]["command"] = CommandOf(document, out);
  for (const auto& [name, value] : constants.items()) {
    const std::string dashes = out.definition["job"].contains("arguments") ? "" : "--";
    out.definition["job"]["command"].push_back(
        fmt::format("{}{}={}", dashes, name, FormatValue(ValueOf(value))));
  }
  if (!constants.empty()) out.Note("constants: options of the job's command");
  out.Note(
      "job: started by Vernier, so that wandb.config is empty; read the options, and print or "
      "report the metric");
}

void SetStopping(const Json& given, SourceStudy& out) {
  if (!given.is_object()) return;
  if (TextMember(given, "type") != "hyperband") {
    out.Note("early_terminate: left out");
    return;
  }
  Json rule = {{"rule", "hyperband"}};
  const auto set = [&](const char* from, const char* to) {
    const Json number = NumberIn(Member(given, from));
    if (!number.is_null()) rule[to] = number;
  };
  set("eta", "reduction_factor");
  set("min_iter", "min_resource");
  set("max_iter", "max_resource");
  out.definition["stopping"] = rule;
  NoteLeftOut(given, "early_terminate", {"type", "eta", "min_iter", "max_iter"}, out);
}

absl::Status SetSearch(const Json& document, SourceStudy& out) {
  const std::string method = TextMember(document, "method");
  if (method == "bayes" || method == "custom" || method.empty()) {
    out.definition["algorithm"] = "gp";
  } else if (method == "random" || method == "grid") {
    out.definition["algorithm"] = method;
  } else {
    return FieldError("method", fmt::format("unknown method '{}'", method));
  }
  const Json& metric = Member(document, "metric");
  const std::string name = TextMember(metric, "name");
  if (!name.empty()) {
    const bool is_up = TextMember(metric, "goal") == "maximize";
    out.definition["objective"] = {{is_up ? "maximize" : "minimize", name}};
  }
  NoteLeftOut(metric, "metric", {"name", "goal"}, out);
  const Json cap = NumberIn(Member(document, "run_cap"));
  if (!cap.is_null()) out.definition["budget"]["trials"] = cap;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SourceStudy> FromSweep(const Json& document) {
  SourceStudy out;
  out.name = TextMember(document, "name");
  if (out.name.empty()) out.name = "sweep";
  VERNIER_RETURN_IF_ERROR(SetSearch(document, out));
  out.parameters() = Json::object();
  Json constants = Json::object();
  VERNIER_RETURN_IF_ERROR(AddParameters(Member(document, "parameters"), "", constants, out));
  SetSweepJob(document, constants, out);
  SetStopping(Member(document, "early_terminate"), out);
  NoteLeftOut(document,
              "",
              {"name",
               "program",
               "command",
               "method",
               "metric",
               "parameters",
               "early_terminate",
               "run_cap",
               "description"},
              out);
  return out;
}

}  // namespace vernier::imports
