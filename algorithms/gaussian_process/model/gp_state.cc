#include "algorithms/gaussian_process/model/gp_state.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nlohmann/json.hpp"

// The state comes back from a store that may hold text of another version or of a user. Each part is checked by itself
// and dropped if it is invalid: the state decides where fits start, not whether a suggestion is possible.
namespace vernier::gp {
namespace {

using Json = nlohmann::json;

// Raised whenever the meaning of a field changes; states of other formats are ignored.
constexpr int kFormat = 5;
// Keys of the JSON, in the order of kWarps.
constexpr std::array<const char*, kWarps.size()> kWarpNames = {"half_rank", "power"};
// Largest magnitude of a logarithm that is accepted: far beyond the bounds of Prior, and exp of it is finite.
constexpr double kLargestLog = 50.0;
// Largest number of fits that is accepted: no study has as many, and arithmetic with it cannot overflow.
constexpr std::int64_t kMostFits = 1'000'000'000'000;

std::optional<Hyperparameters> ReadTheta(const Json& json, std::string_view key, int groups) {
  const auto at = json.find(std::string(key));
  const std::size_t size = Hyperparameters::PackedSize(static_cast<std::size_t>(groups));
  if (at == json.end() || !at->is_array() || at->size() != size) return std::nullopt;
  std::vector<double> theta;
  theta.reserve(size);
  for (const Json& number : *at) {
    if (!number.is_number() || !(std::abs(number.get<double>()) <= kLargestLog)) {
      return std::nullopt;
    }
    theta.push_back(number.get<double>());
  }
  return Hyperparameters::Unpack(theta);
}

std::optional<std::vector<double>> ReadCoordinates(const Json& json, std::size_t size) {
  if (!json.is_array() || json.size() != size) return std::nullopt;
  std::vector<double> coordinates;
  for (const Json& number : json) {
    const bool is_one =
        number.is_number() && number.get<double>() >= 0 && number.get<double>() <= 1;
    if (!is_one) return std::nullopt;
    coordinates.push_back(number.get<double>());
  }
  return coordinates;
}

std::int64_t ReadInteger(const Json& json, std::string_view key) {
  const auto at = json.find(std::string(key));
  return at != json.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

Json MetricToJson(const MetricState& metric) {
  Json json = {{"anchor", metric.anchor}};
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    if (metric.by_warp[i]) json[kWarpNames[i]] = metric.by_warp[i]->Pack();
    if (metric.warp == kWarps[i]) json["warp"] = kWarpNames[i];
  }
  return json;
}

MetricState MetricFromJson(const Json& json, int groups) {
  MetricState metric;
  if (!json.is_object()) return metric;
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    metric.by_warp[i] = ReadTheta(json, kWarpNames[i], groups);
    if (json.value("warp", Json()) == kWarpNames[i]) metric.warp = kWarps[i];
  }
  metric.anchor = ReadInteger(json, "anchor");
  const auto is_missing = [](const auto& theta) { return !theta.has_value(); };
  // A model is chosen among the warps, so hyperparameters of one warp alone are of no use.
  const bool is_whole = std::none_of(metric.by_warp.begin(), metric.by_warp.end(), is_missing);
  return is_whole ? metric : MetricState();
}

Json ModelToJson(const ModelState& model) {
  Json json = {{"fitted_at", model.fitted_at}, {"fits", model.fits}, {"metrics", Json::array()}};
  for (const MetricState& metric : model.metrics) json["metrics"].push_back(MetricToJson(metric));
  if (model.success) json["success"] = model.success->Pack();
  return json;
}

ModelState ModelFromJson(const Json& json, const StateShape& shape) {
  ModelState model;
  model.metrics.resize(shape.metrics);
  if (!json.is_object()) return model;
  const Json metrics = json.value("metrics", Json());
  for (std::size_t i = 0; metrics.is_array() && i < std::min(shape.metrics, metrics.size()); ++i) {
    model.metrics[i] = MetricFromJson(metrics[i], shape.groups);
  }
  model.success = ReadTheta(json, "success", shape.groups);
  model.fitted_at = ReadInteger(json, "fitted_at");
  model.fits = std::clamp<std::int64_t>(ReadInteger(json, "fits"), 0, kMostFits);
  return model;
}

}  // namespace

std::string FormatState(const GpState& state) {
  Json json = {{"format", kFormat}, {"whole", ModelToJson(state.whole)}};
  if (state.nearby.fits > 0) json["nearby"] = ModelToJson(state.nearby);
  if (state.best) json["best"] = *state.best;
  if (state.design_seed) json["design_seed"] = *state.design_seed;
  return json.dump();
}

std::string Continuation(std::string_view text) {
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) return "";
  const auto seed = json.find("design_seed");
  if (seed == json.end() || !seed->is_number_unsigned()) return "";
  return Json{{"format", kFormat}, {"design_seed", *seed}}.dump();
}

GpState ParseState(std::string_view text, const StateShape& shape) {
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  const bool is_ours = json.is_object() && json.value("format", Json()) == kFormat;
  GpState state{.whole = ModelFromJson(is_ours ? json.value("whole", Json()) : Json(), shape),
                .nearby = ModelFromJson(is_ours ? json.value("nearby", Json()) : Json(), shape),
                .best = std::nullopt,
                .design_seed = std::nullopt};
  if (!is_ours) return state;
  state.best = ReadCoordinates(json.value("best", Json()), shape.coordinates);
  const auto seed = json.find("design_seed");
  if (seed != json.end() && seed->is_number_unsigned()) {
    state.design_seed = seed->get<std::uint64_t>();
  }
  return state;
}

}  // namespace vernier::gp
