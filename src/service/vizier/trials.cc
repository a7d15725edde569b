#include "src/service/vizier/trials.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "src/core/objectives.h"
#include "src/core/outcome_constraint.h"
#include "src/service/vizier/definition.h"
#include "src/service/vizier/reply.h"
#include "src/service/vizier/values.h"
#include "src/wire/time_proto.h"
#include "vernier/core/error.h"

namespace vernier::vizier {
namespace {

::vizier::Trial::State EncodeTrialState(TrialState state) {
  switch (state) {
    case TrialState::kRequested:
    case TrialState::kQueued:
      return ::vizier::Trial::REQUESTED;
    case TrialState::kPreparing:
    case TrialState::kRunning:
    case TrialState::kPaused:
      return ::vizier::Trial::ACTIVE;
    case TrialState::kStopping:
      return ::vizier::Trial::STOPPING;
    case TrialState::kCompleted:
      return ::vizier::Trial::SUCCEEDED;
    // To Vizier, everything that ended without a result is INFEASIBLE.
    default:
      return ::vizier::Trial::INFEASIBLE;
  }
}

void EncodeMeasurement(std::int64_t step,
                       absl::Duration elapsed,
                       const std::map<std::string, double>& metrics,
                       ::vizier::Measurement* out) {
  out->set_step_count(step);
  wire::EncodeDuration(elapsed, out->mutable_elapsed_duration());
  for (const auto& [name, value] : metrics) {
    ::vizier::Measurement::Metric& metric = *out->add_metrics();
    metric.set_metric_id(IdOfMetric(name));
    metric.set_value(value);
  }
}

// Leaves out every other measurement, but never the last, until the trial fits a message.
void ThinOut(::vizier::Trial* trial) {
  while (trial->ByteSizeLong() > kMostReplyBytes && trial->measurements_size() > 1) {
    auto& measurements = *trial->mutable_measurements();
    int kept = 0;
    // Begins so that the last measurement is among those that stay, whether their number is even or odd.
    for (int i = (measurements.size() + 1) % 2; i < measurements.size(); i += 2) {
      measurements.SwapElements(kept++, i);
    }
    measurements.DeleteSubrange(kept, measurements.size() - kept);
  }
}

std::map<std::string, std::string> IdsOf(const StudySpec& spec) {
  const std::optional<::vizier::StudySpec> definition = OwnDefinition(spec);
  // A study of another interface has no other names.
  if (!definition) return {};
  absl::StatusOr<Parameters> parameters = DecodeParameters(*definition);
  // It could be read when the study was made.
  if (!parameters.ok()) return {};
  return std::move(parameters->ids);
}

}  // namespace

Measurement DecodeMeasurement(const ::vizier::Measurement& measurement) {
  Measurement decoded;
  decoded.step = measurement.step_count();
  decoded.elapsed = wire::DecodeDuration(measurement.elapsed_duration());
  for (const auto& metric : measurement.metrics()) {
    decoded.metrics[MetricOfId(metric.metric_id())] = metric.value();
  }
  decoded.source = "client";
  return decoded;
}

absl::StatusOr<std::vector<TrialNumber>> TiedWithBest(const Study& study,
                                                      const std::vector<Trial>& trials) {
  std::vector<TrialNumber> tied;
  // Without objectives no trial is the best, and all values are equal: the loop takes every completed trial.
  if (!study.best && !study.spec.objectives.empty()) return tied;
  VERNIER_ASSIGN_OR_RETURN(const std::vector<OutcomeConstraint> constraints,
                           ParseOutcomeConstraints(study.spec));
  const auto values = [&](const Trial& trial) {
    return ValuesOf(study.spec.objectives, trial.final_metrics);
  };
  std::vector<double> best;
  if (study.best) {
    const auto found = std::ranges::find(trials, *study.best, &Trial::number);
    if (found == trials.end()) return tied;  // Deleted between two looks.
    best = values(*found);
  }
  for (const Trial& trial : trials) {
    const bool counts = trial.state == TrialState::kCompleted &&
                        AreKept(SlacksOf(constraints, trial.final_metrics));
    // Values are compared exactly: ties are trials with the very same result.
    if (counts && values(trial) == best) tied.push_back(trial.number);
  }
  return tied;
}

TrialCodec::TrialCodec(std::shared_ptr<const StudySpec> spec)
    : spec_(std::move(spec)), name_(NameOf(*spec_)), ids_(IdsOf(*spec_)) {}

const std::string& TrialCodec::IdOf(const Parameter& parameter) const {
  const auto renamed = ids_.find(parameter.name);
  return renamed == ids_.end() ? parameter.name : renamed->second;
}

// The parameter that is called so where the point is; of several the one whose branch it is in.
const Parameter* TrialCodec::FindParameter(const std::string& id, const Point& point) const {
  const auto& parameters = spec_->space.parameters();
  const Parameter* found = nullptr;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (IdOf(parameters[i]) != id) continue;
    // The first is taken if no branch is active, so that an error can name a parameter.
    if (found == nullptr || spec_->space.IsActive(static_cast<int>(i), point)) {
      found = &parameters[i];
    }
  }
  return found;
}

// Parents first, as whether a name is that of one branch or another depends on them.
absl::StatusOr<Point> TrialCodec::DecodePoint(const ::vizier::Trial& trial) const {
  std::map<std::string, int> left;
  for (int i = 0; i < trial.parameters_size(); ++i) {
    const bool is_new = left.emplace(trial.parameters(i).parameter_id(), i).second;
    if (!is_new) {
      return FieldError(fmt::format("trial.parameters[{}]", i),
                        fmt::format("'{}' is there twice", trial.parameters(i).parameter_id()));
    }
  }
  Point point;
  for (const int index : spec_->space.parents_first()) {
    const Parameter& parameter = spec_->space.parameters()[static_cast<std::size_t>(index)];
    const std::string& id = IdOf(parameter);
    const auto given = left.find(id);
    if (given == left.end()) continue;
    // Another parameter of that name is meant: the one whose branch the point is in.
    if (FindParameter(id, point) != &parameter) continue;
    const std::string path = fmt::format("trial.parameters[{}].value", given->second);
    VERNIER_ASSIGN_OR_RETURN(
        point[parameter.name],
        DecodeValue(path, parameter.domain, trial.parameters(given->second).value()));
    left.erase(given);
  }
  // What is left has no place in the space; it is for Space::Check to say so.
  for (const auto& [id, i] : left) {
    if (trial.parameters(i).value().has_string_value()) {
      point[id] = trial.parameters(i).value().string_value();
    } else {
      point[id] = trial.parameters(i).value().number_value();
    }
  }
  return point;
}

absl::StatusOr<TrialAddition> TrialCodec::Decode(const ::vizier::Trial& trial) const {
  TrialAddition addition;
  addition.as_is = is_own();
  VERNIER_ASSIGN_OR_RETURN(addition.point, DecodePoint(trial));
  for (const auto& measurement : trial.measurements()) {
    if (!measurement.metrics().empty()) {
      addition.measurements.push_back(DecodeMeasurement(measurement));
    }
  }
  if (trial.state() == ::vizier::Trial::SUCCEEDED) {
    const bool has_final = !trial.final_measurement().metrics().empty();
    // Trials with a job, or of other interfaces, are whole: success without a value would be no result.
    if (!has_final && addition.measurements.empty() && !is_own()) {
      return FieldError("trial.final_measurement", "a trial that succeeded needs one");
    }
    // As CompleteTrial: without a final measurement, the last one counts.
    addition.last = has_final || addition.measurements.empty()
                        ? DecodeMeasurement(trial.final_measurement())
                        : addition.measurements.back();
  } else if (trial.state() == ::vizier::Trial::INFEASIBLE) {
    addition.infeasible = trial.infeasible_reason();
    if (!trial.final_measurement().metrics().empty()) {
      addition.last = DecodeMeasurement(trial.final_measurement());
    }
  }
  for (const ::vizier::KeyValue& entry : trial.metadata()) {
    DecodeMetadatum(entry, addition.metadata);
  }
  return addition;
}

void TrialCodec::Encode(const Trial& trial,
                        const std::vector<Measurement>& measurements,
                        ::vizier::Trial* out) const {
  out->set_name(ResourceName(TrialName{.study = name_, .number = trial.number}));
  out->set_id(fmt::format("{}", trial.number.value()));
  out->set_state(EncodeTrialState(trial.state));
  for (const Parameter& parameter : spec_->space.parameters()) {
    const auto value = trial.point.find(parameter.name);
    if (value == trial.point.end()) continue;
    ::vizier::Trial::Parameter& encoded = *out->add_parameters();
    encoded.set_parameter_id(IdOf(parameter));
    EncodeValue(value->second, encoded.mutable_value());
  }
  for (const Measurement& measurement : measurements) {
    EncodeMeasurement(
        measurement.step, measurement.elapsed, measurement.metrics, out->add_measurements());
  }
  if (!trial.final_metrics.empty()) {
    EncodeMeasurement(trial.final_step,
                      trial.final_elapsed,
                      trial.final_metrics,
                      out->mutable_final_measurement());
  }
  if (out->state() == ::vizier::Trial::INFEASIBLE) out->set_infeasible_reason(trial.message);
  wire::EncodeTime(trial.started.value_or(trial.created), out->mutable_start_time());
  if (trial.ended.has_value()) wire::EncodeTime(*trial.ended, out->mutable_end_time());
  out->set_client_id(trial.client);
  EncodeMetadata(trial.metadata, out->mutable_metadata());
  ThinOut(out);
}

}  // namespace vernier::vizier
