#include "algorithms/options.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "src/core/nearest.h"
#include "vernier/core/error.h"

namespace vernier {
namespace {

// Up to here, a double holds every whole number.
constexpr double kExactLimit = 9007199254740992.0;  // 2^53

std::optional<std::int64_t> WholeNumber(const ParameterValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* real = std::get_if<double>(&value)) {
    if (std::floor(*real) == *real && std::abs(*real) <= kExactLimit) {
      return static_cast<std::int64_t>(*real);
    }
  }
  return std::nullopt;
}

std::optional<double> RealNumber(const ParameterValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

nlohmann::json ToJson(const std::optional<ParameterValue>& value) {
  if (!value) return nullptr;
  return std::visit([](const auto& held) { return nlohmann::json(held); }, *value);
}

}  // namespace

OptionReader::OptionReader(std::string_view field, const Choice& choice)
    : field_(field), choice_(choice) {}

bool OptionReader::Bool(std::string_view name, bool fallback) {
  bool value = fallback;
  if (const ParameterValue* given = Take(name)) {
    if (const auto* flag = std::get_if<bool>(given)) {
      value = *flag;
    } else {
      Refuse(name, fmt::format("must be true or false, got {}", FormatValue(*given)));
    }
  }
  in_force_[std::string(name)] = value;
  return value;
}

std::int64_t OptionReader::Int(std::string_view name,
                               std::int64_t fallback,
                               std::int64_t lower,
                               std::int64_t upper) {
  const std::int64_t value = TakeInt(name, lower, upper).value_or(fallback);
  in_force_[std::string(name)] = value;
  return value;
}

std::optional<std::int64_t> OptionReader::OptionalInt(std::string_view name,
                                                      std::int64_t lower,
                                                      std::int64_t upper) {
  const std::optional<std::int64_t> value = TakeInt(name, lower, upper);
  in_force_[std::string(name)] = value ? std::optional<ParameterValue>(*value) : std::nullopt;
  return value;
}

// Comparisons with NaN are false, so that it is refused.
double OptionReader::Float(std::string_view name, double fallback, double lower, double upper) {
  return TakeFloat(
      name,
      fallback,
      [&](double value) { return value >= lower && value <= upper; },
      fmt::format("from {} to {}", lower, upper));
}

double OptionReader::FloatAbove(std::string_view name,
                                double fallback,
                                double above,
                                double upper) {
  return TakeFloat(
      name,
      fallback,
      [&](double value) { return value > above && value <= upper; },
      fmt::format("above {} and at most {}", above, upper));
}

double OptionReader::TakeFloat(std::string_view name,
                               double fallback,
                               absl::FunctionRef<bool(double)> is_legal,
                               std::string_view bounds) {
  double value = fallback;
  if (const ParameterValue* given = Take(name)) {
    const std::optional<double> real = RealNumber(*given);
    if (real && is_legal(*real)) {
      value = *real;
    } else {
      Refuse(name, fmt::format("must be a number {}, got {}", bounds, FormatValue(*given)));
    }
  }
  in_force_[std::string(name)] = value;
  return value;
}

std::string OptionReader::Text(std::string_view name,
                               std::string_view fallback,
                               const std::vector<std::string>& known) {
  std::string value(fallback);
  if (const ParameterValue* given = Take(name)) {
    const auto* text = std::get_if<std::string>(given);
    if (text != nullptr && std::find(known.begin(), known.end(), *text) != known.end()) {
      value = *text;
    } else {
      Refuse(name,
             fmt::format("must be one of {}, got {}", fmt::join(known, ", "), FormatValue(*given)));
    }
  }
  in_force_[std::string(name)] = value;
  return value;
}

absl::Status OptionReader::Check() const {
  if (!error_.ok()) return error_;
  for (const auto& [name, value] : choice_.options) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    return FieldError(
        fmt::format("{}.{}", field_, name),
        known_.empty()
            ? fmt::format("{} has no options", choice_.name)
            : fmt::format("{} has no such option{}", choice_.name, NearestHint(name, known_)));
  }
  return absl::OkStatus();
}

std::string OptionReader::Json() const {
  nlohmann::json json = nlohmann::json::object();  // Sorts its keys.
  for (const auto& [name, value] : in_force_) json[name] = ToJson(value);
  return json.dump();
}

const ParameterValue* OptionReader::Take(std::string_view name) {
  known_.emplace_back(name);
  const auto found = choice_.options.find(known_.back());
  return found == choice_.options.end() ? nullptr : &found->second;
}

void OptionReader::Refuse(std::string_view name, std::string_view message) {
  if (error_.ok()) error_ = FieldError(fmt::format("{}.{}", field_, name), message);
}

std::optional<std::int64_t> OptionReader::TakeInt(std::string_view name,
                                                  std::int64_t lower,
                                                  std::int64_t upper) {
  const ParameterValue* given = Take(name);
  if (given == nullptr) return std::nullopt;
  const std::optional<std::int64_t> whole = WholeNumber(*given);
  if (whole && *whole >= lower && *whole <= upper) return whole;
  Refuse(name,
         fmt::format(
             "must be a whole number from {} to {}, got {}", lower, upper, FormatValue(*given)));
  return std::nullopt;
}

}  // namespace vernier
