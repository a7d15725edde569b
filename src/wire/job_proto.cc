#include "src/wire/job_proto.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "src/wire/enum_proto.h"
#include "src/wire/time_proto.h"
#include "src/wire/training_input_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {
namespace {

// A secret is named in one of two ways; which one a message uses tells where to look.
template <typename Secrets>
void EncodeSecrets(const std::map<std::string, SecretSource>& secrets, Secrets& out) {
  for (const auto& [name, secret] : secrets) {
    v1::SecretSource& source = out[name];
    if (secret.name.empty()) {
      source.set_from_file(secret.from_file);
    } else {
      source.set_secret(secret.name);
    }
  }
}

template <typename Secrets>
std::map<std::string, SecretSource> DecodeSecrets(const Secrets& secrets) {
  std::map<std::string, SecretSource> decoded;
  for (const auto& [name, source] : secrets) {
    decoded[name] = {.from_file = source.from_file(), .name = source.secret()};
  }
  return decoded;
}

void EncodeReplicaSpec(const ReplicaSpec& replica, v1::ReplicaSpec* out) {
  out->set_count(replica.count);
  for (const auto& part : replica.command) out->add_command(part);
  for (const auto& arg : replica.args) out->add_args(arg);
  for (const auto& [name, value] : replica.env) (*out->mutable_env())[name] = value;
  EncodeSecrets(replica.secrets, *out->mutable_secrets());
  out->set_directory(replica.directory);
  out->set_image(replica.image);
  out->set_cpus(replica.resources.cpus);
  out->set_memory_bytes(replica.resources.memory_bytes);
  out->set_gpus(replica.resources.gpus);
  out->set_gpu_type(replica.resources.gpu_type);
  out->set_machine_type(replica.machine_type);
  out->set_gpu_memory_bytes(replica.resources.gpu_memory_bytes);
}

ReplicaSpec DecodeReplicaSpec(const v1::ReplicaSpec& replica) {
  ReplicaSpec decoded;
  // Not given is the default; a count of 0 is an error, and must not be taken for it.
  if (replica.has_count()) decoded.count = replica.count();
  decoded.command.assign(replica.command().begin(), replica.command().end());
  decoded.args.assign(replica.args().begin(), replica.args().end());
  decoded.env.insert(replica.env().begin(), replica.env().end());
  decoded.secrets = DecodeSecrets(replica.secrets());
  decoded.directory = replica.directory();
  decoded.image = replica.image();
  if (replica.has_cpus()) decoded.resources.cpus = replica.cpus();
  decoded.resources.memory_bytes = replica.memory_bytes();
  decoded.resources.gpus = replica.gpus();
  decoded.resources.gpu_type = replica.gpu_type();
  decoded.machine_type = replica.machine_type();
  decoded.resources.gpu_memory_bytes = replica.gpu_memory_bytes();
  return decoded;
}

void EncodePython(const PythonProgram& python, v1::PythonProgram* out) {
  out->set_module(python.module);
  for (const auto& package : python.packages) out->add_packages(package);
  out->set_runtime(python.runtime);
}

PythonProgram DecodePython(const v1::PythonProgram& python) {
  return {.module = python.module(),
          .packages = {python.packages().begin(), python.packages().end()},
          .runtime = python.runtime()};
}

absl::Status DecodeReplicas(const v1::TrainingJob& job, TrainingJob* out) {
  // Without roles, the job has the one replica that a TrainingJob has to begin with.
  if (job.replicas().empty()) return absl::OkStatus();
  out->replicas.clear();
  // In the order of names, so that of several errors the same one is reported each time.
  for (const auto& [name, replica] :
       std::map<std::string, v1::ReplicaSpec>(job.replicas().begin(), job.replicas().end())) {
    const auto role = FindRole(name);
    if (!role.has_value()) {
      return FieldError(fmt::format("job.replicas.{}", name),
                        "unknown role, known are chief, master, worker, ps, evaluator");
    }
    if (!out->replicas.emplace(*role, DecodeReplicaSpec(replica)).second) {
      return FieldError("job.replicas", "chief and master name the same role, give one of them");
    }
    // Keeps the name that the user chose, chief or master, which the program sees in its environment.
    if (*role == Role::kPrimary) out->primary_name = name;
  }
  return absl::OkStatus();
}

void EncodeRestarts(const RestartPolicy& restarts, v1::RestartPolicy* out) {
  const bool lenient = restarts.reading == FailureReading::kLenient;
  out->set_reading(lenient ? v1::RestartPolicy::LENIENT : v1::RestartPolicy::STRICT);
  out->set_replica(restarts.replica);
  out->set_job(restarts.job);
  out->set_internal(restarts.internal);
}

RestartPolicy DecodeRestarts(const v1::RestartPolicy& restarts) {
  RestartPolicy decoded;
  // LENIENT alone is not the default; an unknown value, of a newer client, is read strictly.
  if (restarts.reading() == v1::RestartPolicy::LENIENT) decoded.reading = FailureReading::kLenient;
  if (restarts.has_replica()) decoded.replica = restarts.replica();
  if (restarts.has_job()) decoded.job = restarts.job();
  if (restarts.has_internal()) decoded.internal = restarts.internal();
  return decoded;
}

void EncodeLimits(const TrainingJob& job, v1::TrainingJob* out) {
  if (job.trial_limit.has_value()) EncodeDuration(*job.trial_limit, out->mutable_trial_limit());
  if (job.wait_limit.has_value()) EncodeDuration(*job.wait_limit, out->mutable_wait_limit());
  if (job.progress_limit.has_value()) {
    EncodeDuration(*job.progress_limit, out->mutable_progress_limit());
  }
  out->set_pausable(job.pausable);
  // 0: no limit.
  out->set_nan_limit(job.nan_limit.value_or(0));
}

void DecodeLimits(const v1::TrainingJob& job, TrainingJob* out) {
  if (job.has_trial_limit()) out->trial_limit = DecodeDuration(job.trial_limit());
  if (job.has_wait_limit()) out->wait_limit = DecodeDuration(job.wait_limit());
  if (job.has_progress_limit()) out->progress_limit = DecodeDuration(job.progress_limit());
  out->pausable = job.pausable();
  if (job.nan_limit() != 0) out->nan_limit = job.nan_limit();
}

void EncodeArguments(const TrainingJob& job, v1::TrainingJob* out) {
  out->set_argument_style(Encode(job.argument_style));
  for (const auto& [parameter, argument] : job.arguments) {
    v1::ParameterArgument& proto = (*out->mutable_arguments())[parameter];
    proto.set_style(Encode(argument.style));
    proto.set_name(argument.name);
  }
}

absl::StatusOr<ArgumentStyle> DecodeStyle(const std::string& path,
                                          v1::ParameterArgument::Style style) {
  // Not set: the default.
  if (style == v1::ParameterArgument::STYLE_UNSPECIFIED) return ArgumentStyle::kOption;
  const auto decoded = Decode(style);
  if (decoded.has_value()) return *decoded;
  return FieldError(path, fmt::format("unknown style {}", static_cast<int>(style)));
}

absl::Status DecodeArguments(const v1::TrainingJob& job, TrainingJob* out) {
  VERNIER_ASSIGN_OR_RETURN(out->argument_style,
                           DecodeStyle("job.argument_style", job.argument_style()));
  for (const auto& [parameter, proto] : job.arguments()) {
    ParameterArgument& argument = out->arguments[parameter];
    argument.name = proto.name();
    VERNIER_ASSIGN_OR_RETURN(
        argument.style,
        DecodeStyle(fmt::format("job.arguments.{}.style", parameter), proto.style()));
  }
  return absl::OkStatus();
}

}  // namespace

void EncodeJob(const TrainingJob& job, v1::TrainingJob* out) {
  for (const auto& part : job.command) out->add_command(part);
  for (const auto& arg : job.args) out->add_args(arg);
  for (const auto& [name, value] : job.env) (*out->mutable_env())[name] = value;
  EncodeSecrets(job.secrets, *out->mutable_secrets());
  out->set_working_directory(job.working_directory);
  for (const auto& [role, replica] : job.replicas) {
    EncodeReplicaSpec(replica, &(*out->mutable_replicas())[RoleName(role, job)]);
  }
  out->set_job_directory(job.job_directory);
  if (job.time_limit.has_value()) EncodeDuration(*job.time_limit, out->mutable_time_limit());
  EncodeDuration(job.grace, out->mutable_grace());
  out->set_output_bytes(job.output_bytes);
  if (job.input.has_value()) EncodeTrainingInput(*job.input, out->mutable_training_input());
  if (job.python.has_value()) EncodePython(*job.python, out->mutable_python());
  out->set_image(job.image);
  out->set_cluster(job.cluster);
  out->set_region(job.region);
  out->set_priority(job.priority);
  EncodeLimits(job, out);
  EncodeArguments(job, out);
  EncodeRestarts(job.restarts, out->mutable_restarts());
  if (!job.code.has_value()) return;
  out->mutable_code()->set_archive(job.code->archive);
  out->mutable_code()->set_sha256(job.code->sha256);
}

absl::StatusOr<TrainingJob> DecodeJob(const v1::TrainingJob& job) {
  TrainingJob decoded;
  decoded.command.assign(job.command().begin(), job.command().end());
  decoded.args.assign(job.args().begin(), job.args().end());
  decoded.env.insert(job.env().begin(), job.env().end());
  decoded.secrets = DecodeSecrets(job.secrets());
  decoded.working_directory = job.working_directory();
  VERNIER_RETURN_IF_ERROR(DecodeReplicas(job, &decoded));
  decoded.job_directory = job.job_directory();
  if (job.has_time_limit()) decoded.time_limit = DecodeDuration(job.time_limit());
  if (job.has_grace()) decoded.grace = DecodeDuration(job.grace());
  if (job.has_output_bytes()) decoded.output_bytes = job.output_bytes();
  if (job.has_training_input()) decoded.input = DecodeTrainingInput(job.training_input());
  if (job.has_python()) decoded.python = DecodePython(job.python());
  decoded.image = job.image();
  decoded.cluster = job.cluster();
  decoded.region = job.region();
  decoded.priority = job.priority();
  DecodeLimits(job, &decoded);
  VERNIER_RETURN_IF_ERROR(DecodeArguments(job, &decoded));
  decoded.restarts = DecodeRestarts(job.restarts());
  if (job.has_code()) {
    // The folder is on the client's machine, and has become the archive by now.
    decoded.code = {.archive = job.code().archive(), .sha256 = job.code().sha256(), .folder = {}};
  }
  return decoded;
}

}  // namespace vernier::wire
