#include "src/wire/space_proto.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "src/wire/enum_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

// Float and integer domains have the same fields on both sides.
template <typename Numeric, typename Proto>
void EncodeNumeric(const Numeric& domain, Proto* out) {
  out->set_lower(domain.lower);
  out->set_upper(domain.upper);
  out->set_scale(Encode(domain.scale));
  if (domain.step.has_value()) out->set_step(*domain.step);
  if (domain.points.has_value()) out->set_points(*domain.points);
}

struct DomainEncoder {
  v1::Parameter* out;
  void operator()(const FloatDomain& domain) const { EncodeNumeric(domain, out->mutable_float_()); }
  void operator()(const IntDomain& domain) const { EncodeNumeric(domain, out->mutable_int_()); }
  void operator()(const DiscreteDomain& domain) const {
    auto* discrete = out->mutable_discrete();
    for (const double value : domain.values) discrete->add_values(value);
  }
  void operator()(const CategoricalDomain& domain) const {
    auto* categorical = out->mutable_categorical();
    // A list may mix kinds, so that each value says its own.
    for (const auto& value : domain.values) EncodeValue(value, categorical->add_values());
  }
  // The message is empty, but set: which of them is set says the kind of the domain.
  void operator()(const BoolDomain&) const { out->mutable_bool_(); }
};

void EncodeParameter(const Parameter& parameter, v1::Parameter* out) {
  out->set_name(parameter.name);
  std::visit(DomainEncoder{out}, parameter.domain);
  for (const auto& condition : parameter.when) {
    auto* when = out->add_when();
    when->set_parent(condition.parent);
    for (const auto& value : condition.values) EncodeValue(value, when->add_values());
  }
  if (parameter.default_value.has_value()) {
    EncodeValue(*parameter.default_value, out->mutable_default_value());
  }
}

template <typename Numeric, typename Proto>
absl::StatusOr<Domain> DecodeNumeric(const std::string& path, const Proto& proto) {
  Numeric domain;
  domain.lower = proto.lower();
  domain.upper = proto.upper();
  // Unspecified is linear, the domain's default. An unknown scale is of a newer client, and guessing would be wrong.
  if (proto.scale() != v1::SCALE_UNSPECIFIED) {
    const auto scale = Decode(proto.scale());
    if (!scale.has_value()) {
      return FieldError(path + ".scale",
                        fmt::format("unknown scale {}", static_cast<int>(proto.scale())));
    }
    domain.scale = *scale;
  }
  if (proto.has_step()) domain.step = proto.step();
  if (proto.has_points()) domain.points = proto.points();
  return Domain(domain);
}

template <typename Values>
absl::StatusOr<std::vector<ParameterValue>> DecodeValues(const std::string& path,
                                                         const Values& values) {
  std::vector<ParameterValue> decoded;
  for (const auto& value : values) {
    VERNIER_ASSIGN_OR_RETURN(ParameterValue one,
                             DecodeValue(fmt::format("{}[{}]", path, decoded.size()), value));
    decoded.push_back(std::move(one));
  }
  return decoded;
}

absl::StatusOr<Domain> DecodeDomain(const std::string& path, const v1::Parameter& parameter) {
  switch (parameter.domain_case()) {
    case v1::Parameter::kFloat:
      return DecodeNumeric<FloatDomain>(path, parameter.float_());
    case v1::Parameter::kInt:
      return DecodeNumeric<IntDomain>(path, parameter.int_());
    case v1::Parameter::kDiscrete: {
      const auto& values = parameter.discrete().values();
      return Domain(DiscreteDomain{.values = {values.begin(), values.end()}});
    }
    case v1::Parameter::kCategorical: {
      VERNIER_ASSIGN_OR_RETURN(
          auto values, DecodeValues(path + ".categorical", parameter.categorical().values()));
      return Domain(CategoricalDomain{.values = std::move(values)});
    }
    case v1::Parameter::kBool:
      return Domain(BoolDomain{});
    case v1::Parameter::DOMAIN_NOT_SET:
      break;
  }
  return FieldError(path, "needs one of float, int, discrete, categorical, bool");
}

absl::StatusOr<Parameter> DecodeParameter(std::size_t position, const v1::Parameter& proto) {
  // Without a name, only the position can tell which one is meant.
  if (proto.name().empty()) {
    return FieldError(fmt::format("parameters[{}].name", position), "must not be empty");
  }
  const std::string path = fmt::format("parameters.{}", proto.name());
  Parameter parameter;
  parameter.name = proto.name();
  VERNIER_ASSIGN_OR_RETURN(parameter.domain, DecodeDomain(path, proto));
  for (const auto& when : proto.when()) {
    VERNIER_ASSIGN_OR_RETURN(
        auto values, DecodeValues(fmt::format("{}.when.{}", path, when.parent()), when.values()));
    parameter.when.push_back({.parent = when.parent(), .values = std::move(values)});
  }
  if (proto.has_default_value()) {
    VERNIER_ASSIGN_OR_RETURN(ParameterValue value,
                             DecodeValue(path + ".default", proto.default_value()));
    // The same value may be sent as an integer or as a double; the domain decides.
    parameter.default_value = FitValue(parameter.domain, std::move(value));
  }
  return parameter;
}

// Conditions hold values of the parent's kind, which may be listed after the child.
void FitConditions(std::vector<Parameter>& parameters) {
  std::map<std::string, Domain> domains;
  for (const auto& parameter : parameters) domains.emplace(parameter.name, parameter.domain);
  for (auto& parameter : parameters) {
    for (auto& condition : parameter.when) {
      const auto parent = domains.find(condition.parent);
      // An unknown parent is an error, of which Space::Create tells with the others.
      if (parent == domains.end()) continue;
      for (auto& value : condition.values) value = FitValue(parent->second, std::move(value));
    }
  }
}

}  // namespace

void EncodeSpace(const Space& space, v1::StudySpec* out) {
  for (const auto& parameter : space.parameters())
    EncodeParameter(parameter, out->add_parameters());
  for (const auto& constraint : space.constraints()) out->add_constraints(constraint);
}

absl::StatusOr<Space> DecodeSpace(const v1::StudySpec& spec) {
  std::vector<Parameter> parameters;
  for (const auto& proto : spec.parameters()) {
    VERNIER_ASSIGN_OR_RETURN(Parameter parameter, DecodeParameter(parameters.size(), proto));
    parameters.push_back(std::move(parameter));
  }
  // After all parameters are known.
  FitConditions(parameters);
  return Space::Create(std::move(parameters),
                       {spec.constraints().begin(), spec.constraints().end()});
}

}  // namespace vernier::wire
