#include "src/wire/study_proto.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "google/protobuf/descriptor.h"
#include "src/codec/job_file.h"
#include "src/core/limit_checks.h"
#include "src/wire/attempt_proto.h"
#include "src/wire/enum_proto.h"
#include "src/wire/job_proto.h"
#include "src/wire/names.h"
#include "src/wire/space_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/value_proto.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::wire {
namespace {

void EncodeChoice(const Choice& choice, v1::Choice* out) {
  out->set_name(choice.name);
  EncodePoint(choice.options, out->mutable_options());
}

// `fallback` is the name that an unset choice has. The options are checked by whoever knows the algorithm, not here.
absl::StatusOr<Choice> DecodeChoice(std::string_view path,
                                    const v1::Choice& choice,
                                    std::string_view fallback) {
  VERNIER_ASSIGN_OR_RETURN(auto options, DecodePoint(path, choice.options()));
  return Choice{.name = choice.name().empty() ? std::string(fallback) : choice.name(),
                .options = std::move(options)};
}

void EncodeBudget(const Budget& budget, v1::Budget* out) {
  if (budget.trials.has_value()) out->set_trials(*budget.trials);
  if (budget.failed_trials.has_value()) out->set_failed_trials(*budget.failed_trials);
  if (budget.time.has_value()) EncodeDuration(*budget.time, out->mutable_time());
  if (budget.gpu_hours.has_value()) out->set_gpu_hours(*budget.gpu_hours);
}

Budget DecodeBudget(const v1::Budget& budget) {
  Budget decoded;
  if (budget.has_trials()) decoded.trials = budget.trials();
  if (budget.has_failed_trials()) decoded.failed_trials = budget.failed_trials();
  if (budget.has_time()) decoded.time = DecodeDuration(budget.time());
  if (budget.has_gpu_hours()) decoded.gpu_hours = budget.gpu_hours();
  return decoded;
}

absl::Status DecodeObjectives(const v1::StudySpec& proto, StudySpec* spec) {
  for (const auto& objective : proto.objectives()) {
    const auto goal = Decode(objective.goal());
    // A goal has no default: a study with the wrong one would seem to run well.
    if (!goal.has_value()) {
      return FieldError(
          fmt::format("objective[{}].goal", spec->objectives.size()),
          fmt::format("must be MAXIMIZE or MINIMIZE, got {}", v1::Goal_Name(objective.goal())));
    }
    Objective decoded{.metric = objective.metric(), .goal = *goal};
    // Not sent: the default stays.
    if (objective.final() != v1::Objective::FINAL_UNSPECIFIED) {
      const auto final = Decode(objective.final());
      if (!final.has_value()) {
        return FieldError(fmt::format("objective[{}].final", spec->objectives.size()),
                          fmt::format("must be LAST, BEST or MEAN_OF_LAST, got {}",
                                      static_cast<int>(objective.final())));
      }
      decoded.final = *final;
    }
    // 0: not sent, by an older client.
    if (objective.final_count() != 0) decoded.final_count = objective.final_count();
    spec->objectives.push_back(std::move(decoded));
  }
  return absl::OkStatus();
}

void EncodeSource(const MetricSource& source, v1::MetricSource* out) {
  switch (source.kind) {
    // Found under the metric's own name: there is no more to say.
    case MetricSourceKind::kName:
      break;
    case MetricSourceKind::kAfter:
      out->set_after(source.text);
      break;
    case MetricSourceKind::kJson:
      out->set_json(source.text);
      break;
    case MetricSourceKind::kRegex:
      out->set_regex(source.text);
      break;
    case MetricSourceKind::kTfevents:
      out->set_tfevents(source.text);
      break;
    case MetricSourceKind::kHypertune:
      out->set_hypertune(source.text);
      break;
  }
  out->set_folder(source.folder);
  // The wire has the usual name of each role, whatever the job calls its primary.
  if (source.from.has_value()) out->set_from(RoleName(*source.from, TrainingJob()));
}

absl::StatusOr<MetricSource> DecodeSource(const std::string& metric,
                                          const v1::MetricSource& source) {
  MetricSource decoded{.kind = MetricSourceKind::kName, .folder = source.folder()};
  switch (source.source_case()) {
    case v1::MetricSource::kRegex:
      decoded.kind = MetricSourceKind::kRegex;
      decoded.text = source.regex();
      break;
    case v1::MetricSource::kAfter:
      decoded.kind = MetricSourceKind::kAfter;
      decoded.text = source.after();
      break;
    case v1::MetricSource::kJson:
      decoded.kind = MetricSourceKind::kJson;
      decoded.text = source.json();
      break;
    case v1::MetricSource::kTfevents:
      decoded.kind = MetricSourceKind::kTfevents;
      decoded.text = source.tfevents();
      break;
    case v1::MetricSource::kHypertune:
      decoded.kind = MetricSourceKind::kHypertune;
      decoded.text = source.hypertune();
      break;
    case v1::MetricSource::SOURCE_NOT_SET:
      break;
  }
  // Not sent: the primary reports it.
  if (source.from().empty()) return decoded;
  decoded.from = FindRole(source.from());
  if (!decoded.from.has_value()) {
    return FieldError(
        fmt::format("metrics.{}.from", metric),
        fmt::format("must be chief, master, worker, ps or evaluator, got '{}'", source.from()));
  }
  return decoded;
}

absl::Status DecodeLease(const v1::LeasePolicy& proto, LeasePolicy* lease) {
  if (proto.has_ttl()) lease->ttl = DecodeDuration(proto.ttl());
  // A Duration has no infinity, so that a flag stands for it.
  if (proto.never_expires()) lease->ttl = absl::InfiniteDuration();
  // The default stays.
  if (proto.on_expiry() == v1::LeasePolicy::EXPIRY_UNSPECIFIED) return absl::OkStatus();
  const auto expiry = Decode(proto.on_expiry());
  if (!expiry.has_value()) {
    return FieldError(
        "lease.on_expiry",
        fmt::format("must be OFFER or FAIL, got {}", static_cast<int>(proto.on_expiry())));
  }
  lease->on_expiry = *expiry;
  return absl::OkStatus();
}

Convergence DecodeConvergence(const v1::Convergence& proto) {
  return {.tolerance = proto.tolerance(), .stop = proto.stop()};
}

absl::StatusOr<std::map<std::string, MetricSource>> DecodeMetricSources(
    const v1::StudySpec& proto) {
  std::map<std::string, MetricSource> metrics;
  for (const auto& [metric, source] : proto.metrics()) {
    VERNIER_ASSIGN_OR_RETURN(metrics[metric], DecodeSource(metric, source));
  }
  return metrics;
}

// A part of a definition that may change: its path in an update mask, whether an update sets it, and how it goes into
// the amendment. One row makes a part amendable.
struct AmendablePart {
  std::string_view path;
  bool (*is_set)(const v1::StudySpec& update);
  absl::Status (*amend)(const v1::StudySpec& update, Amendment* change);
};

// The order is that in which a message lists them.
constexpr AmendablePart kAmendableParts[] = {
    {"spec.parallel",
     // An update without a mask sets what it has; 0 is what is not set.
     [](const v1::StudySpec& update) { return update.parallel() != 0; },
     [](const v1::StudySpec& update, Amendment* change) {
       change->parallel = update.parallel();
       return absl::OkStatus();
     }},
    // The parts of a budget change one by one, so that whoever raises one keeps the others.
    {"spec.budget.trials",
     [](const v1::StudySpec& update) { return update.budget().has_trials(); },
     [](const v1::StudySpec& update, Amendment* change) {
       change->trials = DecodeBudget(update.budget()).trials;
       return absl::OkStatus();
     }},
    {"spec.budget.failed_trials",
     [](const v1::StudySpec& update) { return update.budget().has_failed_trials(); },
     [](const v1::StudySpec& update, Amendment* change) {
       change->failed_trials = DecodeBudget(update.budget()).failed_trials;
       return absl::OkStatus();
     }},
    {"spec.budget.time",
     [](const v1::StudySpec& update) { return update.budget().has_time(); },
     [](const v1::StudySpec& update, Amendment* change) {
       change->time = DecodeBudget(update.budget()).time;
       return absl::OkStatus();
     }},
    {"spec.budget.gpu_hours",
     [](const v1::StudySpec& update) { return update.budget().has_gpu_hours(); },
     [](const v1::StudySpec& update, Amendment* change) {
       change->gpu_hours = DecodeBudget(update.budget()).gpu_hours;
       return absl::OkStatus();
     }},
    {"spec.stopping",
     [](const v1::StudySpec& update) { return update.has_stopping(); },
     [](const v1::StudySpec& update, Amendment* change) {
       VERNIER_ASSIGN_OR_RETURN(
           change->stopping,
           DecodeChoice("stopping", update.stopping(), StudySpec().stopping.name));
       return absl::OkStatus();
     }},
    {"spec.convergence",
     [](const v1::StudySpec& update) { return update.has_convergence(); },
     [](const v1::StudySpec& update, Amendment* change) {
       // Named by the mask but not set: the study shall have no such rule any more.
       change->convergence.emplace();
       if (update.has_convergence()) *change->convergence = DecodeConvergence(update.convergence());
       return absl::OkStatus();
     }},
    {"spec.metrics",
     [](const v1::StudySpec& update) { return update.metrics_size() > 0; },
     [](const v1::StudySpec& update, Amendment* change) {
       VERNIER_ASSIGN_OR_RETURN(change->metrics, DecodeMetricSources(update));
       return absl::OkStatus();
     }},
    {"spec.lease",
     [](const v1::StudySpec& update) { return update.has_lease(); },
     [](const v1::StudySpec& update, Amendment* change) {
       return DecodeLease(update.lease(), &change->lease.emplace());
     }},
    {"spec.job",
     [](const v1::StudySpec& update) { return update.has_job(); },
     [](const v1::StudySpec& update, Amendment* change) -> absl::Status {
       // A job can be replaced, but not removed.
       if (!update.has_job()) return FieldError("job", "must be set where the mask names it");
       VERNIER_ASSIGN_OR_RETURN(change->job, DecodeJob(update.job()));
       return absl::OkStatus();
     }},
};
constexpr std::string_view kWholePath = "spec";
// Labels change one by one, so that two tools that label a study do not undo each other's labels.
constexpr std::string_view kLabelsPath = "spec.labels";
constexpr std::string_view kLabelPrefix = "spec.labels.";
constexpr std::string_view kBudgetPath = "spec.budget";

absl::Status UnknownPath(std::string_view path) {
  std::vector<std::string_view> paths;
  for (const AmendablePart& part : kAmendableParts) paths.push_back(part.path);
  return FieldError(
      "update_mask",
      fmt::format("'{}' cannot change, what can is {}, {}, {}, {}KEY, or {} as a whole",
                  path,
                  fmt::join(paths, ", "),
                  kBudgetPath,
                  kLabelsPath,
                  kLabelPrefix,
                  kWholePath));
}

// One path of an update mask.
absl::Status Amend(std::string_view path, const v1::StudySpec& update, Amendment* change) {
  if (path == kWholePath) {
    // Its name cannot change, so it has none here.
    VERNIER_ASSIGN_OR_RETURN(change->definition, DecodeSpec("", update));
    return absl::OkStatus();
  }
  if (path == kLabelsPath) {
    // All labels are replaced, so those that are not sent go.
    change->clear_labels = true;
    for (const auto& [key, value] : update.labels()) change->labels[key] = value;
    return absl::OkStatus();
  }
  if (path.starts_with(kLabelPrefix)) {
    const std::string key(path.substr(kLabelPrefix.size()));
    const auto value = update.labels().find(key);
    // A label that the mask names and the update does not have is removed.
    change->labels[key] =
        value == update.labels().end() ? std::nullopt : std::optional(value->second);
    return absl::OkStatus();
  }
  bool is_known = false;
  for (const AmendablePart& part : kAmendableParts) {
    // A path to the whole budget stands for each of its parts; those that are not set are removed.
    const bool is_of_budget = path == kBudgetPath && part.path.starts_with(kBudgetPath);
    if (part.path != path && !is_of_budget) continue;
    VERNIER_RETURN_IF_ERROR(part.amend(update, change));
    is_known = true;
  }
  return is_known ? absl::OkStatus() : UnknownPath(path);
}

// Whether the update sets a field that cannot change, and so can only be meant as a whole definition.
bool IsWholeDefinition(const v1::StudySpec& update) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  update.GetReflection()->ListFields(update, &fields);
  // Found by reflection, so that a new field of the message counts as one that cannot change until a row says
  // otherwise.
  return std::ranges::any_of(fields, [](const google::protobuf::FieldDescriptor* field) {
    const std::string path = fmt::format("{}.{}", kWholePath, field->name());
    return path != kLabelsPath && path != kBudgetPath &&
           std::ranges::count(kAmendableParts, path, &AmendablePart::path) == 0;
  });
}

// The paths of the fields that the update sets, where it comes without a mask. A whole definition, if any of them
// cannot change by itself.
std::vector<std::string> ImpliedPaths(const v1::StudySpec& update) {
  if (IsWholeDefinition(update)) return {std::string(kWholePath)};
  std::vector<std::string> paths;
  for (const AmendablePart& part : kAmendableParts) {
    if (part.is_set(update)) paths.emplace_back(part.path);
  }
  // Without a mask labels are added or changed, never removed.
  for (const auto& [key, value] : update.labels()) {
    paths.push_back(std::string(kLabelPrefix) + key);
  }
  return paths;
}

}  // namespace

void EncodeSpec(const StudySpec& spec, v1::StudySpec* out) {
  for (const auto& objective : spec.objectives) {
    auto* proto = out->add_objectives();
    proto->set_metric(objective.metric);
    proto->set_goal(Encode(objective.goal));
    proto->set_final(Encode(objective.final));
    proto->set_final_count(objective.final_count);
  }
  EncodeSpace(spec.space, out);
  for (const auto& constraint : spec.outcome_constraints) out->add_outcome_constraints(constraint);
  EncodeChoice(spec.algorithm, out->mutable_algorithm());
  for (const std::string& study : spec.warm_start) out->add_warm_start(study);
  EncodeChoice(spec.stopping, out->mutable_stopping());
  out->set_parallel(spec.parallel);
  EncodeBudget(spec.budget, out->mutable_budget());
  if (spec.convergence.has_value()) {
    out->mutable_convergence()->set_tolerance(spec.convergence->tolerance);
    out->mutable_convergence()->set_stop(spec.convergence->stop);
  }
  out->set_seed(spec.seed);
  for (const auto& [name, source] : spec.metrics) {
    EncodeSource(source, &(*out->mutable_metrics())[name]);
  }
  if (spec.lease.ttl == absl::InfiniteDuration()) {
    out->mutable_lease()->set_never_expires(true);
  } else {
    EncodeDuration(spec.lease.ttl, out->mutable_lease()->mutable_ttl());
  }
  out->mutable_lease()->set_on_expiry(Encode(spec.lease.on_expiry));
  out->set_judged_when_asked(spec.judged_when_asked);
  if (spec.job.has_value()) EncodeJob(*spec.job, out->mutable_job());
  out->mutable_labels()->insert(spec.labels.begin(), spec.labels.end());
}

absl::Status CheckCounts(const v1::StudySpec& spec) {
  const auto count = [](const auto& list) { return static_cast<std::size_t>(list.size()); };
  VERNIER_RETURN_IF_ERROR(CheckAtMost("parameters", count(spec.parameters()), limits::kParameters));
  VERNIER_RETURN_IF_ERROR(
      CheckAtMost("constraints", count(spec.constraints()), limits::kConstraints));
  VERNIER_RETURN_IF_ERROR(CheckAtMost(
      "outcome_constraints", count(spec.outcome_constraints()), limits::kOutcomeConstraints));
  VERNIER_RETURN_IF_ERROR(CheckAtMost("objective", count(spec.objectives()), limits::kObjectives));
  VERNIER_RETURN_IF_ERROR(CheckAtMost("labels", count(spec.labels()), limits::kLabels));
  // They become parameters: see ApplyHyperparameters at the end of DecodeSpec.
  return CheckAtMost("parameters",
                     count(spec.job().training_input().hyperparameters().params()),
                     limits::kParameters);
}

absl::StatusOr<StudySpec> DecodeSpec(std::string name, const v1::StudySpec& proto) {
  StudySpec spec;
  spec.name = std::move(name);
  VERNIER_RETURN_IF_ERROR(DecodeObjectives(proto, &spec));
  VERNIER_ASSIGN_OR_RETURN(spec.space, DecodeSpace(proto));
  spec.outcome_constraints.assign(proto.outcome_constraints().begin(),
                                  proto.outcome_constraints().end());
  VERNIER_ASSIGN_OR_RETURN(spec.algorithm,
                           DecodeChoice("algorithm", proto.algorithm(), spec.algorithm.name));
  spec.warm_start.assign(proto.warm_start().begin(), proto.warm_start().end());
  VERNIER_ASSIGN_OR_RETURN(spec.stopping,
                           DecodeChoice("stopping", proto.stopping(), spec.stopping.name));
  // Not sent: the default stays.
  if (proto.parallel() != 0) spec.parallel = proto.parallel();
  spec.budget = DecodeBudget(proto.budget());
  if (proto.has_convergence()) {
    spec.convergence = DecodeConvergence(proto.convergence());
  }
  spec.seed = proto.seed();
  VERNIER_ASSIGN_OR_RETURN(spec.metrics, DecodeMetricSources(proto));
  VERNIER_RETURN_IF_ERROR(DecodeLease(proto.lease(), &spec.lease));
  spec.judged_when_asked = proto.judged_when_asked();
  if (proto.has_job()) {
    VERNIER_ASSIGN_OR_RETURN(spec.job, DecodeJob(proto.job()));
  }
  spec.labels.insert(proto.labels().begin(), proto.labels().end());
  // Last, since a training input may set the space, the objective and the budget of the study around it.
  VERNIER_RETURN_IF_ERROR(codec::ApplyHyperparameters(spec));
  return spec;
}

void EncodeStudy(const Study& study, v1::Study* out) {
  out->set_name(StudyResource(study.spec.name));
  out->set_uid(study.id.value());
  EncodeSpec(study.spec, out->mutable_spec());
  out->set_state(Encode(study.state));
  // Reasons may hold what programs printed.
  out->set_reason(ValidUtf8(study.reason));
  EncodeTime(study.created, out->mutable_create_time());
  EncodeTime(study.updated, out->mutable_update_time());
  out->set_last_event(study.last_event.value());
  out->set_spec_version(study.spec_version);
  out->set_trial_count(study.trials);
  out->set_completed_count(study.completed);
  out->set_failed_count(study.failed);
  out->set_open_count(study.open);
  if (study.best.has_value()) out->set_best_trial(study.best->value());
  if (study.converged.has_value()) out->set_converged_trial(study.converged->value());
  EncodeUsage(study.used, out->mutable_used());
  for (const TrialNumber trial : study.optimal) {
    out->add_optimal_trials(TrialResource(study.spec.name, trial));
  }
}

absl::StatusOr<Study> DecodeStudy(const v1::Study& proto) {
  Study study;
  study.id = StudyId(proto.uid());
  VERNIER_ASSIGN_OR_RETURN(std::string name, ParseStudyName("name", proto.name()));
  VERNIER_ASSIGN_OR_RETURN(study.spec, DecodeSpec(std::move(name), proto.spec()));
  const auto state = Decode(proto.state());
  if (!state.has_value()) {
    return FieldError("state", fmt::format("unknown state {}", static_cast<int>(proto.state())));
  }
  study.state = *state;
  study.reason = proto.reason();
  study.created = DecodeTime(proto.create_time());
  study.updated = DecodeTime(proto.update_time());
  study.last_event = EventSeq(proto.last_event());
  study.spec_version = proto.spec_version();
  study.trials = proto.trial_count();
  study.completed = proto.completed_count();
  study.failed = proto.failed_count();
  study.open = proto.open_count();
  // No trial has the number 0, which is what is not sent.
  if (proto.best_trial() != 0) study.best = TrialNumber(proto.best_trial());
  if (proto.converged_trial() != 0) study.converged = TrialNumber(proto.converged_trial());
  study.used = DecodeUsage(proto.used());
  for (const std::string& trial : proto.optimal_trials()) {
    VERNIER_ASSIGN_OR_RETURN(const TrialName named, ParseTrialName("optimal_trials", trial));
    study.optimal.push_back(named.number);
  }
  return study;
}

absl::StatusOr<Amendment> DecodeAmendment(const v1::UpdateStudyRequest& request) {
  const v1::StudySpec& update = request.study().spec();
  const auto& mask = request.update_mask().paths();
  const std::vector<std::string> paths =
      mask.empty() ? ImpliedPaths(update) : std::vector<std::string>(mask.begin(), mask.end());
  VERNIER_RETURN_IF_ERROR(CheckAtMost("update_mask", paths.size(), limits::kMaskPaths));
  // `fixed` alone is a change: it has the study's failures forgiven.
  if (paths.empty() && !request.fixed()) {
    return FieldError("update_mask", "names no field and the study sets none");
  }
  Amendment change{.fixed = request.fixed(), .keep_amended = request.keep_amended()};
  // A path that a client names twice has the effect that it has once.
  for (const auto& path : paths) VERNIER_RETURN_IF_ERROR(Amend(path, update, &change));
  return change;
}

}  // namespace vernier::wire
