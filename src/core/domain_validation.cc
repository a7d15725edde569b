#include <cmath>
#include <limits>
#include <map>

#include "fmt/format.h"
#include "src/core/domain.h"

namespace vernier {
namespace {

template <typename... Args>
absl::Status Refuse(std::string_view path,
                    std::string_view field,
                    fmt::format_string<Args...> format,
                    Args&&... args) {
  return FieldError(fmt::format("{}.{}", path, field),
                    fmt::format(format, std::forward<Args>(args)...));
}

// A step already says which values there are, so `points` would contradict it.
absl::Status CheckPoints(std::string_view path, std::optional<std::int64_t> points, bool has_step) {
  if (!points.has_value()) return absl::OkStatus();
  if (*points < 1) return Refuse(path, "points", "must be at least 1, got {}", *points);
  if (has_step) return Refuse(path, "points", "cannot be given together with a step");
  return absl::OkStatus();
}

// `key`: the key of the domain in the study file, "float" or "int".
template <typename T>
absl::Status CheckBounds(
    std::string_view path, std::string_view key, T lower, T upper, Scale scale) {
  if (upper < lower) {
    return Refuse(path,
                  fmt::format("{}[1]", key),
                  "must not be below the lower bound {}, got {}",
                  lower,
                  upper);
  }
  if (scale != Scale::kLinear && lower <= 0) {
    return Refuse(path,
                  fmt::format("{}[0]", key),
                  "must be above 0 for {} scale, got {}",
                  scale == Scale::kLog ? "log" : "reverse-log",
                  lower);
  }
  return absl::OkStatus();
}

absl::Status CheckStep(std::string_view path, const FloatDomain& domain) {
  if (!domain.step.has_value()) return absl::OkStatus();
  const double step = *domain.step;
  const double width = domain.upper - domain.lower;
  if (!std::isfinite(step)) return Refuse(path, "step", "must be finite, got {}", step);
  if (step <= 0) return Refuse(path, "step", "must be above 0, got {}", step);
  if (step > width) {
    return Refuse(path, "step", "must be at most upper - lower = {}, got {}", width, step);
  }
  // Below this, neighbouring values of the grid would be the same double (four units in the last place leave room for
  // rounding), or there would be more than 2^53 values, which a double cannot count.
  const double largest = std::max(std::abs(domain.lower), std::abs(domain.upper));
  const double smallest =
      std::max(largest * 4 * std::numeric_limits<double>::epsilon(), width / 9007199254740992.0);
  if (step < smallest) {
    return Refuse(path, "step", "must be at least {} for these bounds, got {}", smallest, step);
  }
  return absl::OkStatus();
}

absl::Status Check(std::string_view path, const FloatDomain& domain) {
  if (!std::isfinite(domain.lower)) {
    return Refuse(path, "float[0]", "must be finite, got {}", domain.lower);
  }
  if (!std::isfinite(domain.upper)) {
    return Refuse(path, "float[1]", "must be finite, got {}", domain.upper);
  }
  VERNIER_RETURN_IF_ERROR(CheckBounds(path, "float", domain.lower, domain.upper, domain.scale));
  // Both bounds may be finite and their difference not, by which the unit interval is scaled.
  if (!std::isfinite(domain.upper - domain.lower)) {
    return Refuse(path,
                  "float[1]",
                  "must be less than {} above the lower bound {}, got {}",
                  std::numeric_limits<double>::max(),
                  domain.lower,
                  domain.upper);
  }
  VERNIER_RETURN_IF_ERROR(CheckStep(path, domain));
  return CheckPoints(path, domain.points, domain.step.has_value());
}

absl::Status Check(std::string_view path, const IntDomain& domain) {
  VERNIER_RETURN_IF_ERROR(CheckBounds(path, "int", domain.lower, domain.upper, domain.scale));
  const std::int64_t step = domain.step.value_or(1);
  if (step <= 0) return Refuse(path, "step", "must be above 0, got {}", step);
  // Unsigned, since the difference of two int64 may be too large for one.
  const auto width =
      static_cast<std::uint64_t>(domain.upper) - static_cast<std::uint64_t>(domain.lower);
  if (domain.step.has_value() && static_cast<std::uint64_t>(step) > width) {
    return Refuse(path, "step", "must be at most upper - lower = {}, got {}", width, step);
  }
  return CheckPoints(path, domain.points, domain.step.has_value());
}

absl::Status Check(std::string_view path, const DiscreteDomain& domain) {
  if (domain.values.empty()) return Refuse(path, "discrete", "must have at least one value");
  for (std::size_t i = 0; i < domain.values.size(); ++i) {
    const std::string field = fmt::format("discrete[{}]", i);
    const double value = domain.values[i];
    if (!std::isfinite(value)) return Refuse(path, field, "must be finite, got {}", value);
    // Algorithms take the index of a value as its rank.
    if (i > 0 && value <= domain.values[i - 1]) {
      return Refuse(path,
                    field,
                    "must be above the value before it, {}, got {}",
                    domain.values[i - 1],
                    value);
    }
  }
  return absl::OkStatus();
}

absl::Status Check(std::string_view path, const CategoricalDomain& domain) {
  if (domain.values.empty()) return Refuse(path, "categorical", "must have at least one value");
  // Programs get text, so that 1 and '1' are the same to them.
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < domain.values.size(); ++i) {
    const std::string field = fmt::format("categorical[{}]", i);
    const auto* const number = std::get_if<double>(&domain.values[i]);
    if (number != nullptr && !std::isfinite(*number)) {
      return Refuse(path, field, "must be finite, got {}", *number);
    }
    const std::string text = FormatValue(domain.values[i]);
    // Arguments and variables of programs end there.
    if (text.find('\0') != text.npos) return Refuse(path, field, "must not hold a zero byte");
    const auto [other, is_new] = seen.emplace(text, i);
    if (is_new) continue;
    const ParameterValue& first = domain.values[other->second];
    if (first == domain.values[i]) return Refuse(path, field, "'{}' is listed twice", text);
    return Refuse(path,
                  field,
                  "must also differ as text from categorical[{}], {}, got {}",
                  other->second,
                  KindName(first),
                  KindName(domain.values[i]));
  }
  return absl::OkStatus();
}

absl::Status Check(std::string_view, const BoolDomain&) { return absl::OkStatus(); }

}  // namespace

absl::Status CheckDomain(std::string_view path, const Domain& domain) {
  return std::visit([path](const auto& held) { return Check(path, held); }, domain);
}

}  // namespace vernier
