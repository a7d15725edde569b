#include "src/core/domain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace vernier {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// Above it, a double does not hold every whole number.
constexpr double kTwoTo53 = 9007199254740992.0;
// Fraction of a step by which a grid may miss the upper bound and still include it: [0, 0.3] with step 0.1 has four
// values, although 3 * 0.1 > 0.3 in binary. A choice: far above rounding, far below any step that a user means.
constexpr double kStepSlack = 1e-9;

// Number of decimals in the shortest decimal form of x; at most 16.
int Decimals(double x) {
  constexpr int kMany = 16;
  std::string text = fmt::format("{}", x);
  // The shortest form may have an exponent: 1.25e-05 has two decimals by its digits and five by the exponent.
  int exponent = 0;
  if (const std::size_t e = text.find('e'); e != std::string::npos) {
    exponent = std::stoi(text.substr(e + 1));
    text.resize(e);
  }
  const std::size_t point = text.find('.');
  const int written = point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
  return std::clamp(written - exponent, 0, kMany);
}

// The double nearest to x rounded to this number of decimals. Both numerator and denominator are exact (10^15 < 2^53),
// so that the quotient is correctly rounded. With more than 15 decimals, or a numerator that is not exact, returns x.
double RoundTo(double x, int decimals) {
  const double power = std::pow(10.0, decimals);
  const double scaled = std::nearbyint(x * power);
  return decimals <= 15 && std::abs(scaled) < kTwoTo53 ? scaled / power : x;
}

std::uint64_t LastOf(const FloatDomain& domain) {
  const double steps = (domain.upper - domain.lower) / *domain.step;
  // The relative term covers the rounding of the division when there are many steps.
  return static_cast<std::uint64_t>(std::floor(steps * (1 + 1e-15) + kStepSlack));
}

std::uint64_t LastOf(const IntDomain& domain) {
  // Unsigned, since the difference of two int64 may be too large for one.
  const auto width =
      static_cast<std::uint64_t>(domain.upper) - static_cast<std::uint64_t>(domain.lower);
  return width / static_cast<std::uint64_t>(domain.step.value_or(1));
}

std::string NotOneOf(const std::vector<std::string>& texts, const ParameterValue& value) {
  const std::string got = FormatValue(value);
  const bool looks_right = std::ranges::find(texts, got) != texts.end();  // 16 and "16".
  return fmt::format("must be one of {}, got {}",
                     fmt::join(texts.begin(), texts.end(), ", "),
                     looks_right ? KindName(value) : got);
}

std::string WhyIllegalFloat(const FloatDomain& domain, const ParameterValue& value) {
  const auto* const x = std::get_if<double>(&value);
  if (x == nullptr) return fmt::format("must be a number, got {}", KindName(value));
  if (!std::isfinite(*x)) return fmt::format("must be finite, got {}", *x);
  if (*x < domain.lower) return fmt::format("must be at least {}, got {}", domain.lower, *x);
  if (*x > domain.upper) return fmt::format("must be at most {}, got {}", domain.upper, *x);
  if (!domain.step.has_value() || FindIndex(domain, value).has_value()) return "";
  const double nearest = std::nearbyint((*x - domain.lower) / *domain.step);
  const auto last = static_cast<double>(LastOf(domain));
  return fmt::format("must be {} plus a multiple of {}, got {}; the nearest is {}",
                     domain.lower,
                     *domain.step,
                     *x,
                     GridFloat(domain, static_cast<std::int64_t>(std::min(nearest, last))));
}

std::string WhyIllegalInt(const IntDomain& domain, const ParameterValue& value) {
  const auto* const x = std::get_if<std::int64_t>(&value);
  if (x == nullptr) return fmt::format("must be an integer, got {}", KindName(value));
  if (*x < domain.lower) return fmt::format("must be at least {}, got {}", domain.lower, *x);
  if (*x > domain.upper) return fmt::format("must be at most {}, got {}", domain.upper, *x);
  // Unsigned, as in LastOf.
  const std::uint64_t above =
      static_cast<std::uint64_t>(*x) - static_cast<std::uint64_t>(domain.lower);
  const std::int64_t step = domain.step.value_or(1);
  if (above % static_cast<std::uint64_t>(step) == 0) return "";
  return fmt::format("must be {} plus a multiple of {}, got {}", domain.lower, step, *x);
}

std::string WhyNotListed(const Domain& domain, const ParameterValue& value) {
  if (FindIndex(domain, value).has_value()) return "";
  std::vector<std::string> texts;
  if (const auto* const discrete = std::get_if<DiscreteDomain>(&domain)) {
    for (const double x : discrete->values) texts.push_back(FormatValue(x));
  } else if (const auto* const categorical = std::get_if<CategoricalDomain>(&domain)) {
    for (const ParameterValue& x : categorical->values) texts.push_back(FormatValue(x));
  } else {
    return fmt::format("must be true or false, got {}", KindName(value));
  }
  return NotOneOf(texts, value);
}

// Programs compute 3 * 0.1 = 0.30000000000000004, where the grid has 0.3.
ParameterValue WithoutRoundingError(const FloatDomain& domain, const ParameterValue& value) {
  const auto* const x = std::get_if<double>(&value);
  if (x == nullptr || !std::isfinite(*x)) return value;
  const double place = (*x - domain.lower) / *domain.step;
  const double nearest =
      std::clamp(std::nearbyint(place), 0.0, static_cast<double>(LastOf(domain)));
  // Relative as in LastOf, where there are many steps.
  if (std::abs(place - nearest) > kStepSlack + 1e-15 * nearest) return value;
  return GridFloat(domain, static_cast<std::int64_t>(nearest));
}

template <typename T>
std::optional<std::int64_t> PlaceIn(const std::vector<T>& values, const T& value) {
  const auto found = std::find(values.begin(), values.end(), value);
  if (found == values.end()) return std::nullopt;
  return found - values.begin();
}

std::optional<std::int64_t> FindInFloat(const FloatDomain& domain, const ParameterValue& value) {
  const auto* const x = std::get_if<double>(&value);
  // Written so that NaN is refused, too.
  if (x == nullptr || !(*x >= domain.lower && *x <= domain.upper)) return std::nullopt;
  const std::optional<Grid> grid = GridOf(domain);
  if (!grid.has_value()) return std::nullopt;
  const double nearest = std::nearbyint((*x - grid->lower) / grid->step);
  const auto i = static_cast<std::int64_t>(std::min(nearest, static_cast<double>(grid->last)));
  // Exactly: one double stands for each value of the grid, so that equal values have equal indices.
  if (GridFloat(domain, i) != *x) return std::nullopt;
  return i;
}

std::optional<std::int64_t> FindInInt(const IntDomain& domain, const ParameterValue& value) {
  if (!WhyIllegalInt(domain, value).empty()) return std::nullopt;
  const std::uint64_t above = static_cast<std::uint64_t>(std::get<std::int64_t>(value)) -
                              static_cast<std::uint64_t>(domain.lower);
  // May wrap around for ranges of more than 2^63 values; ReadCell undoes that.
  return static_cast<std::int64_t>(above / static_cast<std::uint64_t>(domain.step.value_or(1)));
}

}  // namespace

std::string KindName(const ParameterValue& value) {
  // In the order of the alternatives of ParameterValue.
  static constexpr std::string_view kNames[] = {"a boolean", "an integer", "a number", "text"};
  return fmt::format("{} ({})", kNames[value.index()], FormatValue(value));
}

std::optional<Grid> GridOf(const Domain& domain) {
  if (const auto* const x = std::get_if<IntDomain>(&domain)) {
    return Grid{.lower = static_cast<double>(x->lower),
                .step = static_cast<double>(x->step.value_or(1)),
                .scale = x->scale,
                .last = LastOf(*x)};
  }
  if (const auto* const x = std::get_if<FloatDomain>(&domain)) {
    // A single value is a grid, so that the parameter counts as finite.
    if (x->lower == x->upper) return Grid{.lower = x->lower, .step = 1, .scale = x->scale};
    if (!x->step.has_value()) return std::nullopt;
    return Grid{.lower = x->lower, .step = *x->step, .scale = x->scale, .last = LastOf(*x)};
  }
  return std::nullopt;
}

bool IsContinuous(const Domain& domain) {
  return std::holds_alternative<FloatDomain>(domain) && !GridOf(domain).has_value();
}

std::optional<std::int64_t> ListSize(const Domain& domain) {
  return std::visit(
      Overloaded{
          [](const DiscreteDomain& x) { return std::optional<std::int64_t>(x.values.size()); },
          [](const CategoricalDomain& x) { return std::optional<std::int64_t>(x.values.size()); },
          [](const BoolDomain&) { return std::optional<std::int64_t>(2); },
          [](const auto&) { return std::optional<std::int64_t>(); },
      },
      domain);
}

// Rounded to the decimals of the definition, since lower + i * step has rounding errors that users would see.
double GridFloat(const FloatDomain& domain, std::int64_t i) {
  if (!domain.step.has_value()) return domain.lower;
  const double raw = domain.lower + static_cast<double>(i) * *domain.step;
  const double nice = RoundTo(raw, std::max(Decimals(domain.lower), Decimals(*domain.step)));
  // The last value may lie above the upper bound by kStepSlack of a step.
  return std::clamp(nice, domain.lower, domain.upper);
}

std::optional<std::int64_t> FindIndex(const Domain& domain, const ParameterValue& value) {
  return std::visit(Overloaded{
                        [&](const FloatDomain& x) { return FindInFloat(x, value); },
                        [&](const IntDomain& x) { return FindInInt(x, value); },
                        [&](const DiscreteDomain& x) {
                          const auto* const number = std::get_if<double>(&value);
                          return number == nullptr ? std::nullopt : PlaceIn(x.values, *number);
                        },
                        [&](const CategoricalDomain& x) { return PlaceIn(x.values, value); },
                        [&](const BoolDomain&) {
                          const auto* const flag = std::get_if<bool>(&value);
                          return flag == nullptr ? std::nullopt
                                                 : std::optional<std::int64_t>(*flag ? 1 : 0);
                        },
                    },
                    domain);
}

std::string WhyIllegal(const Domain& domain, const ParameterValue& value) {
  if (const auto* const x = std::get_if<FloatDomain>(&domain)) return WhyIllegalFloat(*x, value);
  if (const auto* const x = std::get_if<IntDomain>(&domain)) return WhyIllegalInt(*x, value);
  return WhyNotListed(domain, value);
}

ParameterValue InKindOf(const Domain& domain, const ParameterValue& value) {
  const bool holds_integers = std::holds_alternative<IntDomain>(domain);
  const bool holds_doubles =
      std::holds_alternative<FloatDomain>(domain) || std::holds_alternative<DiscreteDomain>(domain);
  if (std::holds_alternative<CategoricalDomain>(domain)) {
    // The list has values of any type, and decides which one is meant.
    if (FindIndex(domain, value).has_value()) return value;
    const std::optional<ParameterValue> other = InOtherKind(value);
    return other.has_value() && FindIndex(domain, *other).has_value() ? *other : value;
  }
  const bool is_other = (holds_integers && std::holds_alternative<double>(value)) ||
                        (holds_doubles && std::holds_alternative<std::int64_t>(value));
  ParameterValue result = is_other ? InOtherKind(value).value_or(value) : value;
  const auto* const range = std::get_if<FloatDomain>(&domain);
  if (range == nullptr || !range->step.has_value()) return result;
  return WithoutRoundingError(*range, result);
}

std::optional<ParameterValue> InOtherKind(const ParameterValue& value) {
  const auto* const integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && std::abs(static_cast<double>(*integer)) < kTwoTo53) {
    return static_cast<double>(*integer);
  }
  const auto* const number = std::get_if<double>(&value);
  if (number != nullptr && std::abs(*number) < kTwoTo53 && *number == std::nearbyint(*number)) {
    return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

}  // namespace vernier
