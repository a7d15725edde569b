#include "src/core/limit_checks.h"

#include <variant>

#include "fmt/format.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier {
namespace {

// Size of an entry besides its texts, in any format. An estimate, so that many tiny entries count.
constexpr std::size_t kPerEntry = 16;

static_assert(kMaxEarlierStudies == limits::kEarlierStudies);

absl::Status CheckText(std::string_view path, const ParameterValue& value, std::size_t most) {
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? absl::OkStatus() : CheckLength(path, *text, most);
}

absl::Status CheckTexts(std::string_view path,
                        const std::vector<std::string>& texts,
                        std::size_t most) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() <= most) continue;
    return CheckLength(fmt::format("{}[{}]", path, i), texts[i], most);
  }
  return absl::OkStatus();
}

absl::Status CheckValueLimits(std::string_view path, const std::vector<ParameterValue>& values) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost(path, values.size(), limits::kChoices));
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Not CheckText, which would make a path for each of up to 100,000 values.
    const auto* const text = std::get_if<std::string>(&values[i]);
    if (text == nullptr || text->size() <= limits::kChoice) continue;
    return CheckLength(fmt::format("{}[{}]", path, i), *text, limits::kChoice);
  }
  return absl::OkStatus();
}

// The name is bounded by Space::Create.
absl::Status CheckParameter(const Parameter& parameter) {
  const std::string path = fmt::format("parameters.{}", parameter.name);
  if (const auto* const listed = std::get_if<CategoricalDomain>(&parameter.domain)) {
    VERNIER_RETURN_IF_ERROR(CheckValueLimits(path + ".categorical", listed->values));
  }
  if (const auto* const listed = std::get_if<DiscreteDomain>(&parameter.domain)) {
    VERNIER_RETURN_IF_ERROR(
        CheckAtMost(path + ".discrete", listed->values.size(), limits::kChoices));
  }
  VERNIER_RETURN_IF_ERROR(CheckAtMost(path + ".when", parameter.when.size(), limits::kConditions));
  for (const Condition& when : parameter.when) {
    VERNIER_RETURN_IF_ERROR(
        CheckValueLimits(fmt::format("{}.when.{}", path, when.parent), when.values));
  }
  return absl::OkStatus();
}

// Numbers among the options have a bounded size by themselves.
absl::Status CheckChoiceLimits(std::string_view path, const Choice& choice) {
  VERNIER_RETURN_IF_ERROR(CheckLength(path, choice.name, limits::kOptionText));
  VERNIER_RETURN_IF_ERROR(CheckAtMost(path, choice.options.size(), limits::kOptions));
  for (const auto& [name, value] : choice.options) {
    VERNIER_RETURN_IF_ERROR(CheckLength(path, name, limits::kOptionText));
    VERNIER_RETURN_IF_ERROR(
        CheckText(fmt::format("{}.{}", path, name), value, limits::kOptionText));
  }
  return absl::OkStatus();
}

// The text of a source is bounded by Validate.
absl::Status CheckMetricSources(const std::map<std::string, MetricSource>& metrics) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost("metrics", metrics.size(), limits::kMetricSources));
  for (const auto& [name, source] : metrics) {
    VERNIER_RETURN_IF_ERROR(CheckLength("metrics", name, limits::kMetricName));
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("metrics.{}.folder", name), source.folder, limits::kPath));
  }
  return absl::OkStatus();
}

absl::Status CheckWordLimits(std::string_view path, const std::vector<std::string>& words) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost(path, words.size(), limits::kWords));
  return CheckTexts(path, words, limits::kWord);
}

// Plain and secret variables share one bound: the program gets them all.
absl::Status CheckEnvironmentLimits(std::string_view path,
                                    const std::map<std::string, std::string>& environment,
                                    const std::map<std::string, SecretSource>& secrets) {
  VERNIER_RETURN_IF_ERROR(
      CheckAtMost(path, environment.size() + secrets.size(), limits::kVariables));
  for (const auto& [name, secret] : secrets) {
    const std::string field = fmt::format("{}.{}", path, name);
    VERNIER_RETURN_IF_ERROR(CheckLength(path, name, limits::kVariable));
    VERNIER_RETURN_IF_ERROR(CheckLength(field + ".from_file", secret.from_file, limits::kPath));
    VERNIER_RETURN_IF_ERROR(CheckLength(field + ".secret", secret.name, limits::kPath));
  }
  for (const auto& [name, value] : environment) {
    VERNIER_RETURN_IF_ERROR(CheckLength(path, name, limits::kVariable));
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("{}.{}", path, name), value, limits::kVariable));
  }
  return absl::OkStatus();
}

absl::Status CheckReplicaLimits(const std::string& path, const ReplicaSpec& replica) {
  VERNIER_RETURN_IF_ERROR(CheckWordLimits(path + ".command", replica.command));
  VERNIER_RETURN_IF_ERROR(CheckWordLimits(path + ".args", replica.args));
  VERNIER_RETURN_IF_ERROR(CheckEnvironmentLimits(path + ".env", replica.env, replica.secrets));
  VERNIER_RETURN_IF_ERROR(CheckLength(path + ".directory", replica.directory, limits::kPath));
  VERNIER_RETURN_IF_ERROR(CheckLength(path + ".image", replica.image, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(
      CheckLength(path + ".gpu_type", replica.resources.gpu_type, limits::kJobName));
  return CheckLength(path + ".machine_type", replica.machine_type, limits::kJobName);
}

absl::Status CheckConfig(const std::string& path, const std::optional<ReplicaConfig>& config) {
  if (!config.has_value()) return absl::OkStatus();
  VERNIER_RETURN_IF_ERROR(CheckLength(path + ".imageUri", config->image_uri, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(CheckWordLimits(path + ".containerCommand", config->container_command));
  return CheckWordLimits(path + ".containerArgs", config->container_args);
}

// Paths have the keys of the API of AI Platform Training, in which the user wrote this part.
absl::Status CheckInput(const TrainingInput& input) {
  const std::string path = "trainingInput.";
  VERNIER_RETURN_IF_ERROR(CheckWordLimits(path + "args", input.args));
  VERNIER_RETURN_IF_ERROR(CheckTexts(path + "packageUris", input.package_uris, limits::kPath));
  VERNIER_RETURN_IF_ERROR(CheckLength(path + "jobDir", input.job_dir, limits::kPath));
  VERNIER_RETURN_IF_ERROR(
      CheckLength(path + "pythonModule", input.python_module, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(CheckLength(path + "region", input.region, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(CheckConfig(path + "masterConfig", input.master_config));
  VERNIER_RETURN_IF_ERROR(CheckConfig(path + "workerConfig", input.worker_config));
  VERNIER_RETURN_IF_ERROR(
      CheckConfig(path + "parameterServerConfig", input.parameter_server_config));
  return CheckConfig(path + "evaluatorConfig", input.evaluator_config);
}

// Numbers of replicas and packages are bounded by CheckTrainingJob.
absl::Status CheckJob(const TrainingJob& job) {
  VERNIER_RETURN_IF_ERROR(CheckWordLimits("job.command", job.command));
  VERNIER_RETURN_IF_ERROR(CheckWordLimits("job.args", job.args));
  VERNIER_RETURN_IF_ERROR(CheckEnvironmentLimits("job.env", job.env, job.secrets));
  VERNIER_RETURN_IF_ERROR(CheckLength("job.image", job.image, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(CheckLength("cluster", job.cluster, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(CheckLength("job.region", job.region, limits::kJobName));
  VERNIER_RETURN_IF_ERROR(CheckLength("job.working_dir", job.working_directory, limits::kPath));
  VERNIER_RETURN_IF_ERROR(CheckLength("job.dir", job.job_directory, limits::kPath));
  for (const auto& [name, argument] : job.arguments) {
    VERNIER_RETURN_IF_ERROR(CheckLength("job.arguments", name, limits::kParameterName));
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("job.arguments.{}", name), argument.name, limits::kJobName));
  }
  if (job.code.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckLength("job.code", job.code->archive, limits::kPath));
    VERNIER_RETURN_IF_ERROR(CheckLength("job.code", job.code->folder, limits::kPath));
  }
  if (job.python.has_value()) {
    VERNIER_RETURN_IF_ERROR(CheckLength("job.python.module", job.python->module, limits::kJobName));
    VERNIER_RETURN_IF_ERROR(
        CheckLength("job.python.runtime", job.python->runtime, limits::kJobName));
    VERNIER_RETURN_IF_ERROR(CheckTexts("job.python.packages", job.python->packages, limits::kPath));
  }
  for (const auto& [role, replica] : job.replicas) {
    VERNIER_RETURN_IF_ERROR(
        CheckReplicaLimits(fmt::format("job.replicas.{}", RoleName(role, job)), replica));
  }
  return job.input.has_value() ? CheckInput(*job.input) : absl::OkStatus();
}

absl::Status CheckMetadata(std::string_view path, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("{}.namespace", path), key.space, limits::kMetadataKey));
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("{}.key", path), key.name, limits::kMetadataKey));
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("{}.type", path), value.type, limits::kMetadataKey));
    VERNIER_RETURN_IF_ERROR(
        CheckLength(fmt::format("{}.{}", path, key.name), value.content, limits::kMetadataValue));
  }
  return absl::OkStatus();
}

// Only from above: Validate refuses durations that are too short.
absl::Status CheckDuration(std::string_view path, std::optional<absl::Duration> duration) {
  constexpr absl::Duration kMost = absl::Hours(24 * limits::kDurationDays);
  if (!duration.has_value() || *duration <= kMost) return absl::OkStatus();
  return FieldError(
      path,
      fmt::format(
          "must be at most {}d, got {}", limits::kDurationDays, absl::FormatDuration(*duration)));
}

absl::Status CheckDurations(const StudySpec& spec) {
  VERNIER_RETURN_IF_ERROR(CheckDuration("budget.time", spec.budget.time));
  // Infinite is legal: such a lease never expires.
  if (spec.lease.ttl != absl::InfiniteDuration()) {
    VERNIER_RETURN_IF_ERROR(CheckDuration("lease.ttl", spec.lease.ttl));
  }
  if (!spec.job.has_value()) return absl::OkStatus();
  VERNIER_RETURN_IF_ERROR(CheckDuration("job.limits.time", spec.job->time_limit));
  VERNIER_RETURN_IF_ERROR(CheckDuration("job.limits.trial", spec.job->trial_limit));
  VERNIER_RETURN_IF_ERROR(CheckDuration("job.limits.wait", spec.job->wait_limit));
  VERNIER_RETURN_IF_ERROR(CheckDuration("job.limits.progress", spec.job->progress_limit));
  return CheckDuration("job.limits.grace", spec.job->grace);
}

}  // namespace

// In bytes and not in characters: the bounds protect memory and messages.
absl::Status CheckLength(std::string_view path, std::string_view text, std::size_t most) {
  if (text.size() <= most) return absl::OkStatus();
  return FieldError(path, fmt::format("must have at most {} bytes, got {}", most, text.size()));
}

absl::Status CheckAtMost(std::string_view path, std::size_t count, std::size_t most) {
  if (count <= most) return absl::OkStatus();
  return FieldError(path, fmt::format("must be at most {}, got {}", most, count));
}

absl::Status CheckLimits(const StudySpec& spec) {
  for (const Parameter& parameter : spec.space.parameters()) {
    VERNIER_RETURN_IF_ERROR(CheckParameter(parameter));
  }
  VERNIER_RETURN_IF_ERROR(
      CheckAtMost("constraints", spec.space.constraints().size(), limits::kConstraints));
  VERNIER_RETURN_IF_ERROR(CheckAtMost(
      "outcome_constraints", spec.outcome_constraints.size(), limits::kOutcomeConstraints));
  VERNIER_RETURN_IF_ERROR(CheckAtMost("objective", spec.objectives.size(), limits::kObjectives));
  VERNIER_RETURN_IF_ERROR(CheckChoiceLimits("algorithm", spec.algorithm));
  VERNIER_RETURN_IF_ERROR(CheckChoiceLimits("stopping", spec.stopping));
  VERNIER_RETURN_IF_ERROR(CheckMetricSources(spec.metrics));
  VERNIER_RETURN_IF_ERROR(CheckDurations(spec));
  if (spec.foreign.has_value()) {
    VERNIER_RETURN_IF_ERROR(
        CheckLength("study_spec", spec.foreign->definition, limits::kForeignDefinition));
  }
  return spec.job.has_value() ? CheckJob(*spec.job) : absl::OkStatus();
}

absl::Status CheckMetricLimits(std::string_view path,
                               const std::map<std::string, double>& metrics) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost(path, metrics.size(), limits::kMetrics));
  for (const auto& [name, value] : metrics) {
    // The message does not repeat the name, whose length is what is wrong with it.
    if (name.size() <= limits::kMetricName) continue;
    return FieldError(path,
                      fmt::format("a metric's name must have at most {} bytes, got {}",
                                  limits::kMetricName,
                                  name.size()));
  }
  return absl::OkStatus();
}

absl::Status CheckMeasurementLimits(std::string_view path,
                                    const std::vector<Measurement>& measurements) {
  VERNIER_RETURN_IF_ERROR(CheckAtMost(path, measurements.size(), limits::kMeasurements));
  std::size_t values = 0;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    values += measurements[i].metrics.size();
    VERNIER_RETURN_IF_ERROR(
        CheckMetricLimits(fmt::format("{}[{}].metrics", path, i), measurements[i].metrics));
  }
  // The other two bounds alone would let a million values pass.
  if (values <= limits::kValues) return absl::OkStatus();
  return FieldError(path,
                    fmt::format("must hold at most {} values of metrics, got {}; send them in "
                                "several calls",
                                limits::kValues,
                                values));
}

std::size_t SizeOf(const Metadata& metadata) {
  std::size_t size = 0;
  for (const auto& [key, value] : metadata) {
    size += kPerEntry + key.space.size() + key.name.size() + value.type.size();
    size += value.content.size();
  }
  return size;
}

// The bound is on the sum, since one call is one event.
absl::Status CheckMetadataLimits(const MetadataUpdate& update) {
  VERNIER_RETURN_IF_ERROR(
      CheckAtMost("metadata.trials", update.trials.size(), limits::kMetadataTrials));
  std::size_t size = SizeOf(update.study);
  VERNIER_RETURN_IF_ERROR(CheckMetadata("metadata", update.study));
  for (const auto& [trial, metadata] : update.trials) {
    size += SizeOf(metadata);
    VERNIER_RETURN_IF_ERROR(CheckMetadata("metadata", metadata));
  }
  if (size <= limits::kMetadataUpdate) return absl::OkStatus();
  return FieldError(
      "metadata",
      fmt::format("must have at most {} bytes in one call, got {}", limits::kMetadataUpdate, size));
}

}  // namespace vernier
