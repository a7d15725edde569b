#include "algorithms/gaussian_process/gp_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "nlohmann/json.hpp"

namespace vernier::gp {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 2;
// By kWarps.
constexpr std::array<const char*, kWarps.size()> kObjectiveKeys = {"half_rank", "power"};
// No logarithm of a hyperparameter is beyond this (Prior).
constexpr double kLargestLog = 50.0;

std::optional<Hyperparameters> ReadTheta(const Json& json, std::string_view key, int groups) {
  const auto at = json.find(std::string(key));
  const std::size_t size = Hyperparameters::PackedSize(static_cast<std::size_t>(groups));
  if (at == json.end() || !at->is_array() || at->size() != size) return std::nullopt;
  std::vector<double> theta;
  for (const Json& number : *at) {
    if (!number.is_number() || !(std::abs(number.get<double>()) <= kLargestLog))
      return std::nullopt;
    theta.push_back(number.get<double>());
  }
  return Hyperparameters::Unpack(theta);
}

std::int64_t ReadInteger(const Json& json, std::string_view key) {
  const auto at = json.find(std::string(key));
  return at != json.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

}  // namespace

std::string FormatState(const GpState& state) {
  Json json = {{"format", kFormat}, {"fitted_at", state.fitted_at}, {"anchor", state.anchor}};
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    if (state.objective[i]) json[kObjectiveKeys[i]] = state.objective[i]->Pack();
    if (state.warp == kWarps[i]) json["warp"] = kObjectiveKeys[i];
  }
  if (state.success) json["success"] = state.success->Pack();
  if (state.design_seed) json["design_seed"] = *state.design_seed;
  return json.dump();
}

GpState ParseState(std::string_view text, int groups) {
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  GpState state;
  if (!json.is_object() || json.value("format", Json()) != kFormat) return state;
  for (std::size_t i = 0; i < kWarps.size(); ++i) {
    state.objective[i] = ReadTheta(json, kObjectiveKeys[i], groups);
    if (json.value("warp", Json()) == kObjectiveKeys[i]) state.warp = kWarps[i];
  }
  const auto is_missing = [](const auto& theta) { return !theta.has_value(); };
  if (std::any_of(state.objective.begin(), state.objective.end(), is_missing)) state.objective = {};
  state.success = ReadTheta(json, "success", groups);
  state.fitted_at = ReadInteger(json, "fitted_at");
  state.anchor = ReadInteger(json, "anchor");
  const auto seed = json.find("design_seed");
  if (seed != json.end() && seed->is_number_unsigned()) {
    state.design_seed = seed->get<std::uint64_t>();
  }
  return state;
}

}  // namespace vernier::gp
