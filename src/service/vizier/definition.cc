#include "src/service/vizier/definition.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/core/domain.h"
#include "src/core/limit_checks.h"
#include "src/core/status.h"
#include "src/service/vizier/values.h"
#include "src/wire/time_proto.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::vizier {
namespace {

using ParameterSpec = ::vizier::StudySpec::ParameterSpec;
using ConditionalSpec = ParameterSpec::ConditionalParameterSpec;
using MetricSpec = ::vizier::StudySpec::MetricSpec;

// Values of a double on a grid. Vizier's definitions do not say how many there are.
constexpr std::int64_t kGridValues = 10;
// The number of trials at once is for the client to limit, by how many it asks for.
constexpr std::int32_t kParallel = 10000;
// Values that a range with a step is listed as, at most. Vizier has no step; a range with more values is given without
// it.
constexpr std::uint64_t kMostListed = 1000;

// --- parameters, from a definition ---

Scale DecodeScale(ParameterSpec::ScaleType scale) {
  if (scale == ParameterSpec::UNIT_LOG_SCALE) return Scale::kLog;
  return scale == ParameterSpec::UNIT_REVERSE_LOG_SCALE ? Scale::kReverseLog : Scale::kLinear;
}

absl::StatusOr<Domain> DecodeDomain(const std::string& path, const ParameterSpec& spec) {
  switch (spec.parameter_value_spec_case()) {
    case ParameterSpec::kDoubleValueSpec:
      return FloatDomain{.lower = spec.double_value_spec().min_value(),
                         .upper = spec.double_value_spec().max_value(),
                         .scale = DecodeScale(spec.scale_type())};
    case ParameterSpec::kIntegerValueSpec:
      return IntDomain{.lower = spec.integer_value_spec().min_value(),
                       .upper = spec.integer_value_spec().max_value(),
                       .scale = DecodeScale(spec.scale_type())};
    case ParameterSpec::kDiscreteValueSpec: {
      const auto& given = spec.discrete_value_spec().values();
      std::vector<double> values(given.begin(), given.end());
      // Vizier's clients may give discrete values in any order; a space wants them sorted.
      std::ranges::sort(values);
      return DiscreteDomain{std::move(values)};
    }
    case ParameterSpec::kCategoricalValueSpec: {
      const auto& values = spec.categorical_value_spec().values();
      return CategoricalDomain{{values.begin(), values.end()}};
    }
    default:
      return FieldError(path,
                        "needs one of double_value_spec, integer_value_spec, "
                        "categorical_value_spec and discrete_value_spec");
  }
}

std::optional<ParameterValue> DefaultOf(const ParameterSpec& spec) {
  if (spec.double_value_spec().has_default_value()) {
    return spec.double_value_spec().default_value().value();
  }
  if (spec.integer_value_spec().has_default_value()) {
    return spec.integer_value_spec().default_value().value();
  }
  if (spec.discrete_value_spec().has_default_value()) {
    return spec.discrete_value_spec().default_value().value();
  }
  if (spec.categorical_value_spec().has_default_value()) {
    return spec.categorical_value_spec().default_value().value();
  }
  return std::nullopt;
}

// The parent's values under which the child is there.
std::vector<ParameterValue> ParentValues(const ConditionalSpec& child) {
  std::vector<ParameterValue> values;
  for (const double value : child.parent_discrete_values().values()) values.emplace_back(value);
  for (const std::int64_t value : child.parent_int_values().values()) values.emplace_back(value);
  for (const std::string& value : child.parent_categorical_values().values()) {
    values.emplace_back(value);
  }
  return values;
}

std::string BranchText(const Condition& when) {
  std::vector<std::string> values;
  for (const ParameterValue& value : when.values) values.push_back(FormatValue(value));
  return fmt::format("{}={}", when.parent, fmt::join(values, ","));
}

class ParameterReader {
 public:
  absl::Status Read(const std::string& path,
                    const ParameterSpec& spec,
                    const std::vector<Condition>& when) {
    // +1: the parameter that is about to be added. Children count, so that a deep tree is bounded as well.
    VERNIER_RETURN_IF_ERROR(
        CheckAtMost("study_spec.parameters", read_.list.size() + 1, limits::kParameters));
    VERNIER_ASSIGN_OR_RETURN(Domain domain, DecodeDomain(path, spec));
    Parameter parameter{.name = spec.parameter_id(),
                        .domain = std::move(domain),
                        .when = when,
                        .default_value = DefaultOf(spec)};
    // Must come before the check for a taken name, which the same parameter in another branch would fail.
    if (Joins(parameter)) return absl::OkStatus();
    if (IsTaken(parameter.name)) {
      if (when.empty()) return FieldError(path, fmt::format("'{}' is there twice", parameter.name));
      // A space has each name once; a definition may have it once in each branch.
      parameter.name = fmt::format("{} ({})", spec.parameter_id(), BranchText(when.back()));
      if (IsTaken(parameter.name)) {
        return FieldError(
            path, fmt::format("'{}' is there twice under the same values", spec.parameter_id()));
      }
      // So that clients see the parameter under its own name again.
      read_.ids[parameter.name] = spec.parameter_id();
    }
    const std::string name = parameter.name;
    read_.list.push_back(std::move(parameter));
    for (int i = 0; i < spec.conditional_parameter_specs_size(); ++i) {
      const ConditionalSpec& child = spec.conditional_parameter_specs(i);
      // A child's own condition is enough: where its parent is not there, it is not either.
      const std::vector<Condition> below = {{.parent = name, .values = ParentValues(child)}};
      VERNIER_RETURN_IF_ERROR(
          Read(fmt::format("{}.conditional_parameter_specs[{}].parameter_spec", path, i),
               child.parameter_spec(),
               below));
    }
    return absl::OkStatus();
  }

  Parameters Take() && { return std::move(read_); }

 private:
  bool IsTaken(const std::string& name) const {
    return std::ranges::any_of(read_.list,
                               [&](const Parameter& other) { return other.name == name; });
  }

  // The same parameter under further values of the same parent is one parameter.
  bool Joins(const Parameter& parameter) {
    if (parameter.when.empty()) return false;
    for (Parameter& other : read_.list) {
      // Names of parameters in the list are unique, so that the parent's name stands for the whole branch.
      const bool same = other.name == parameter.name && other.domain == parameter.domain &&
                        other.default_value == parameter.default_value && !other.when.empty() &&
                        other.when.back().parent == parameter.when.back().parent;
      if (!same) continue;
      std::vector<ParameterValue>& known = other.when.back().values;
      // The set makes joining linear in the number of values; the vector keeps their order.
      std::set<ParameterValue>& values = joined_[other.name];
      if (values.empty()) values.insert(known.begin(), known.end());
      for (const ParameterValue& value : parameter.when.back().values) {
        if (values.insert(value).second) known.push_back(value);
      }
      return true;
    }
    return false;
  }

  Parameters read_;
  std::map<std::string, std::set<ParameterValue>> joined_;  // Values of conditions, by parameter.
};

// --- metrics and algorithm, from a definition ---

// Backquotes let an expression name a metric that is no identifier.
absl::StatusOr<std::string> Quoted(const std::string& path, const std::string& metric) {
  if (metric.find('`') == std::string::npos) return "`" + metric + "`";
  return FieldError(path,
                    fmt::format("a metric with a threshold must not hold '`', got {}", metric));
}

absl::Status DecodeMetric(const std::string& path, const MetricSpec& metric, StudySpec& spec) {
  const std::string id = MetricOfId(metric.metric_id());
  if (metric.goal() != MetricSpec::MAXIMIZE && metric.goal() != MetricSpec::MINIMIZE) {
    return FieldError(
        path + ".goal",
        fmt::format("must be MAXIMIZE or MINIMIZE, got {}", static_cast<int>(metric.goal())));
  }
  const bool is_maximised = metric.goal() == MetricSpec::MAXIMIZE;
  if (!metric.has_safety_config()) {
    spec.objectives.push_back(
        {.metric = id, .goal = is_maximised ? Goal::kMaximize : Goal::kMinimize});
    return absl::OkStatus();
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string name, Quoted(path + ".metric_id", id));
  spec.outcome_constraints.push_back(
      fmt::format("{} {} {}",
                  name,
                  is_maximised ? ">=" : "<=",
                  FormatValue(metric.safety_config().safety_threshold())));
  return absl::OkStatus();
}

// The algorithm that runs for a name in a definition.
struct Algorithm {
  Choice choice;
  bool is_replaced = false;  // It is of another kind than the name says.
};

const std::map<std::string, Algorithm>& KnownAlgorithms() {
  // Never destroyed, so that calls in flight at exit may still read it.
  static const auto* const known = new std::map<std::string, Algorithm>{
      {"", {.choice = {.name = "gp"}}},
      {"ALGORITHM_UNSPECIFIED", {.choice = {.name = "gp"}}},
      {"DEFAULT", {.choice = {.name = "gp"}}},
      {"GP_UCB_PE", {.choice = {.name = "gp"}}},
      {"GAUSSIAN_PROCESS_BANDIT", {.choice = {.name = "gp"}}},
      {"BOCS", {.choice = {.name = "gp"}, .is_replaced = true}},
      {"CMA_ES", {.choice = {.name = "gp"}, .is_replaced = true}},
      {"EAGLE_STRATEGY", {.choice = {.name = "gp"}, .is_replaced = true}},
      {"HARMONICA", {.choice = {.name = "gp"}, .is_replaced = true}},
      {"NSGA2", {.choice = {.name = "gp"}, .is_replaced = true}},
      {"RANDOM_SEARCH", {.choice = {.name = "random"}}},
      {"QUASI_RANDOM_SEARCH", {.choice = {.name = "quasi-random"}}},
      {"GRID_SEARCH", {.choice = {.name = "grid"}}},
      {"SHUFFLED_GRID_SEARCH", {.choice = {.name = "grid", .options = {{"shuffle", true}}}}}};
  return *known;
}

// Random search where there is no parameter to choose, or no objective to learn. REQUIRES: `spec` has both.
absl::StatusOr<Choice> DecodeAlgorithm(const std::string& name, const StudySpec& spec) {
  const auto found = KnownAlgorithms().find(name);
  if (found != KnownAlgorithms().end()) {
    const Choice& choice = found->second.choice;
    // A missing objective hinders only the Gaussian process: the other algorithms learn from none.
    const bool has_nothing =
        spec.space.parameters().empty() || (choice.name == "gp" && spec.objectives.empty());
    return has_nothing ? Choice{.name = "random", .options = {}} : choice;
  }
  std::vector<std::string> names;
  for (const auto& [text, algorithm] : KnownAlgorithms()) {
    if (!text.empty()) names.push_back(text);
  }
  return FieldError("study_spec.algorithm",
                    fmt::format("must be one of {}, got '{}'", fmt::join(names, ", "), name));
}

bool IsGrid(const std::string& algorithm) {
  const auto found = KnownAlgorithms().find(algorithm);
  return found != KnownAlgorithms().end() && found->second.choice.name == "grid";
}

// Whether the client leaves the algorithm to the server.
bool IsLeftOpen(const std::string& algorithm) {
  return algorithm.empty() || algorithm == "ALGORITHM_UNSPECIFIED" || algorithm == "DEFAULT";
}

// A sentence that names the algorithm that replaces the one in the definition; empty if that one runs.
std::string StandIn(const std::string& algorithm, const StudySpec& spec) {
  const auto found = KnownAlgorithms().find(algorithm);
  if (found == KnownAlgorithms().end() || IsLeftOpen(algorithm)) return "";
  const std::string& wanted = found->second.choice.name;
  // There was nothing to choose or to model: see DecodeAlgorithm.
  if (wanted != spec.algorithm.name) {
    return fmt::format("random search, in place of {}: the study names no {}",
                       algorithm,
                       spec.space.parameters().empty() ? "parameter" : "metric to optimize");
  }
  return found->second.is_replaced ? fmt::format("the Gaussian process, in place of {}", algorithm)
                                   : "";
}

// --- back ---

ParameterSpec::ScaleType EncodeScale(Scale scale) {
  if (scale == Scale::kLog) return ParameterSpec::UNIT_LOG_SCALE;
  return scale == Scale::kReverseLog ? ParameterSpec::UNIT_REVERSE_LOG_SCALE
                                     : ParameterSpec::UNIT_LINEAR_SCALE;
}

struct DomainEncoder {
  const std::optional<ParameterValue>& given;
  ParameterSpec* out;

  void operator()(const FloatDomain& domain) const {
    const std::optional<Grid> grid = domain.step ? GridOf(domain) : std::nullopt;
    if (grid && grid->last < kMostListed) {
      for (std::uint64_t i = 0; i <= grid->last; ++i) {
        out->mutable_discrete_value_spec()->add_values(
            GridFloat(domain, static_cast<std::int64_t>(i)));
      }
      SetDefault(out->mutable_discrete_value_spec());
      return;
    }
    out->mutable_double_value_spec()->set_min_value(domain.lower);
    out->mutable_double_value_spec()->set_max_value(domain.upper);
    out->set_scale_type(EncodeScale(domain.scale));
    SetDefault(out->mutable_double_value_spec());
  }
  void operator()(const IntDomain& domain) const {
    const std::optional<Grid> grid = domain.step ? GridOf(domain) : std::nullopt;
    if (grid && grid->last < kMostListed) {
      for (std::int64_t value = domain.lower; value <= domain.upper; value += *domain.step) {
        out->mutable_discrete_value_spec()->add_values(static_cast<double>(value));
      }
      // As the values are discrete to Vizier, this is the only sign that a client gets integers for them.
      out->set_external_type(ParameterSpec::AS_INTEGER);
      if (given) {
        out->mutable_discrete_value_spec()->mutable_default_value()->set_value(
            static_cast<double>(std::get<std::int64_t>(*given)));
      }
      return;
    }
    out->mutable_integer_value_spec()->set_min_value(domain.lower);
    out->mutable_integer_value_spec()->set_max_value(domain.upper);
    out->set_scale_type(EncodeScale(domain.scale));
    if (given) {
      out->mutable_integer_value_spec()->mutable_default_value()->set_value(
          std::get<std::int64_t>(*given));
    }
  }
  void operator()(const DiscreteDomain& domain) const {
    for (const double value : domain.values) out->mutable_discrete_value_spec()->add_values(value);
    SetDefault(out->mutable_discrete_value_spec());
  }
  void operator()(const CategoricalDomain& domain) const {
    for (const ParameterValue& value : domain.values) AddChoice(value);
    SetDefaultChoice();
  }
  void operator()(const BoolDomain&) const {
    AddChoice(false);
    AddChoice(true);
    // Clients convert "True" and "False" back by this type.
    out->set_external_type(ParameterSpec::AS_BOOLEAN);
    SetDefaultChoice();
  }

  static std::string TextOf(const ParameterValue& value) {
    google::protobuf::Value encoded;
    EncodeValue(value, &encoded);
    // A boolean is given as a client expects it, "True"; a number as it is written.
    return encoded.has_string_value() ? encoded.string_value() : FormatValue(value);
  }
  void AddChoice(const ParameterValue& value) const {
    out->mutable_categorical_value_spec()->add_values(TextOf(value));
  }
  void SetDefaultChoice() const {
    if (!given) return;
    out->mutable_categorical_value_spec()->mutable_default_value()->set_value(TextOf(*given));
  }
  template <typename Spec>
  void SetDefault(Spec* spec) const {
    if (given) spec->mutable_default_value()->set_value(std::get<double>(*given));
  }
};

void EncodeCondition(const Domain& parent, const Condition& when, ConditionalSpec* out) {
  for (const ParameterValue& value : when.values) {
    if (const auto* const number = std::get_if<double>(&value)) {
      out->mutable_parent_discrete_values()->add_values(*number);
    } else if (const auto* const integer = std::get_if<std::int64_t>(&value);
               integer != nullptr && std::holds_alternative<IntDomain>(parent)) {
      // Such a parent is a discrete parameter to the client: see DomainEncoder.
      if (std::get<IntDomain>(parent).step) {
        out->mutable_parent_discrete_values()->add_values(static_cast<double>(*integer));
      } else {
        out->mutable_parent_int_values()->add_values(*integer);
      }
    } else {
      out->mutable_parent_categorical_values()->add_values(DomainEncoder::TextOf(value));
    }
  }
}

void EncodeParameter(const Space& space, const Parameter& parameter, ParameterSpec* out) {
  out->set_parameter_id(parameter.name);
  std::visit(DomainEncoder{parameter.default_value, out}, parameter.domain);
  for (const Parameter& child : space.parameters()) {
    // Vizier nests a child in one parent. Of several conditions, the first decides where.
    if (child.when.empty() || child.when.front().parent != parameter.name) continue;
    ConditionalSpec& below = *out->add_conditional_parameter_specs();
    EncodeCondition(parameter.domain, child.when.front(), &below);
    EncodeParameter(space, child, below.mutable_parameter_spec());
  }
}

std::string EncodeAlgorithm(const Choice& algorithm) {
  if (algorithm.name == "random") return "RANDOM_SEARCH";
  if (algorithm.name == "quasi-random") return "QUASI_RANDOM_SEARCH";
  if (algorithm.name != "grid") return "DEFAULT";
  const auto shuffle = algorithm.options.find("shuffle");
  const bool is_shuffled =
      shuffle != algorithm.options.end() && shuffle->second == ParameterValue(true);
  return is_shuffled ? "SHUFFLED_GRID_SEARCH" : "GRID_SEARCH";
}

// The definition of a study that no Vizier client made.
::vizier::StudySpec MadeUp(const StudySpec& spec) {
  ::vizier::StudySpec definition;
  for (const Objective& objective : spec.objectives) {
    MetricSpec& metric = *definition.add_metrics();
    metric.set_metric_id(objective.metric);
    metric.set_goal(objective.goal == Goal::kMaximize ? MetricSpec::MAXIMIZE
                                                      : MetricSpec::MINIMIZE);
  }
  for (const Parameter& parameter : spec.space.parameters()) {
    if (parameter.when.empty()) EncodeParameter(spec.space, parameter, definition.add_parameters());
  }
  definition.set_algorithm(EncodeAlgorithm(spec.algorithm));
  // The stopping rule's own options have no counterpart.
  if (spec.stopping.name != "none") definition.mutable_default_stopping_spec();
  return definition;
}

}  // namespace

absl::StatusOr<Parameters> DecodeParameters(const ::vizier::StudySpec& definition) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost("study_spec.parameters",
                                      static_cast<std::size_t>(definition.parameters_size()),
                                      limits::kParameters));
  ParameterReader reader;
  for (int i = 0; i < definition.parameters_size(); ++i) {
    VERNIER_RETURN_IF_ERROR(reader.Read(
        fmt::format("study_spec.parameters[{}]", i), definition.parameters(i), /*when=*/{}));
  }
  return std::move(reader).Take();
}

absl::StatusOr<StudySpec> DecodeDefinition(const StudyName& name,
                                           const ::vizier::StudySpec& definition) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost("study_spec.metrics",
                                      static_cast<std::size_t>(definition.metrics_size()),
                                      limits::kObjectives + limits::kOutcomeConstraints));
  StudySpec spec;
  spec.name = StoredName(name);
  for (int i = 0; i < definition.metrics_size(); ++i) {
    VERNIER_RETURN_IF_ERROR(
        DecodeMetric(fmt::format("study_spec.metrics[{}]", i), definition.metrics(i), spec));
  }
  VERNIER_ASSIGN_OR_RETURN(Parameters parameters, DecodeParameters(definition));
  // A grid needs a number of values of each double; the other domains are finite by themselves.
  if (IsGrid(definition.algorithm())) {
    for (Parameter& parameter : parameters.list) {
      if (auto* const floats = std::get_if<FloatDomain>(&parameter.domain)) {
        floats->points = kGridValues;
      }
    }
  }
  VERNIER_ASSIGN_OR_RETURN(spec.space, Space::Create(std::move(parameters.list)));
  // After the space and the metrics, on which the choice depends.
  VERNIER_ASSIGN_OR_RETURN(spec.algorithm, DecodeAlgorithm(definition.algorithm(), spec));
  spec.stopping = {.name = "median", .options = {}};
  // Vizier's clients ask whether a trial should stop; nothing stops it otherwise.
  spec.judged_when_asked = true;
  spec.parallel = kParallel;
  // Vizier has no heartbeats: a client may work on a trial for as long as it likes.
  spec.lease.ttl = absl::InfiniteDuration();
  spec.seed = Fingerprint(name);  // The same study, the same stream of chance.
  // The bytes are kept, so that a client reads the definition as it was written.
  spec.foreign = ForeignDefinition{.service = std::string(kVizier),
                                   .name = ResourceName(name),
                                   .definition = definition.SerializeAsString()};
  return spec;
}

std::optional<::vizier::StudySpec> OwnDefinition(const StudySpec& spec) {
  ::vizier::StudySpec definition;
  const bool is_own = spec.foreign.has_value() && spec.foreign->service == kVizier &&
                      definition.ParseFromString(spec.foreign->definition);
  return is_own ? std::optional(std::move(definition)) : std::nullopt;
}

::vizier::StudySpec EncodeDefinition(const Study& study) {
  std::optional<::vizier::StudySpec> own = OwnDefinition(study.spec);
  ::vizier::StudySpec definition = own ? *std::move(own) : MadeUp(study.spec);
  Metadata metadata;
  // First, so that what clients wrote under the same key takes its place.
  if (std::string said = StandIn(definition.algorithm(), study.spec); !said.empty()) {
    metadata[{.space = ":vernier", .name = "algorithm"}] = {.type = "", .content = std::move(said)};
  }
  // In this order: what was set later replaces what came with the definition.
  for (const ::vizier::KeyValue& entry : definition.metadata()) DecodeMetadatum(entry, metadata);
  Merge(study.metadata, metadata);
  definition.clear_metadata();
  EncodeMetadata(metadata, definition.mutable_metadata());
  return definition;
}

::vizier::Study::State EncodeState(StudyState state) {
  switch (state) {
    case StudyState::kActive:
      return ::vizier::Study::ACTIVE;
    case StudyState::kPaused:
    case StudyState::kFailed:
      return ::vizier::Study::INACTIVE;
    // STOPPING as well: all that a client may still do is what it may do with a completed study.
    default:
      return ::vizier::Study::COMPLETED;
  }
}

void EncodeStudy(const Study& study, ::vizier::Study* out) {
  const StudyName name = NameOf(study.spec);
  out->set_name(ResourceName(name));
  out->set_display_name(name.study);
  *out->mutable_study_spec() = EncodeDefinition(study);
  out->set_state(EncodeState(study.state));
  // Vizier has a reason only for this state.
  if (out->state() == ::vizier::Study::INACTIVE) out->set_inactive_reason(study.reason);
  wire::EncodeTime(study.created, out->mutable_create_time());
}

absl::Status CheckChangeable(const Study& study) {
  const ::vizier::Study::State state = EncodeState(study.state);
  if (state == ::vizier::Study::ACTIVE) return absl::OkStatus();
  return WithReason(
      FailedPrecondition("study {} is {}: its trials may be reported on and completed, no more",
                         ResourceName(NameOf(study.spec)),
                         ::vizier::Study::State_Name(state)),
      Reason::kStudyNotActive);
}

}  // namespace vernier::vizier
