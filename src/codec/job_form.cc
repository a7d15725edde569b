#include "src/codec/job_form.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/codec/argument_form.h"
#include "src/codec/form.h"
#include "src/codec/shell_words.h"
#include "src/codec/study_file.h"
#include "src/codec/training_input_json.h"
#include "src/core/built_in_trainers.h"
#include "src/core/byte_size.h"
#include "src/core/nearest.h"

namespace vernier::codec {
namespace {

// Both names of the primary are read; which one was used is kept, as the program finds it in its environment.
constexpr std::array<std::pair<const char*, Role>, 5> kRoles = {{
    {"chief", Role::kPrimary},
    {"master", Role::kPrimary},
    {"worker", Role::kWorker},
    {"ps", Role::kParameterServer},
    {"evaluator", Role::kEvaluator},
}};

constexpr std::array<std::pair<std::string_view, FailureReading>, 2> kReadings = {{
    {"strict", FailureReading::kStrict},
    {"lenient", FailureReading::kLenient},
}};

// --- values ---
// A list of words, or one line of them.
struct CommandForm {
  static Json Write(const std::vector<std::string>& words) { return words; }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::vector<std::string>& words) {
    // A list is taken word by word. A line is split as a shell would, but nothing in it is expanded.
    if (json.is_array()) return FileForm<std::vector<std::string>>::Read(json, place, words);
    if (!json.is_string()) {
      return MustBe(place.path, "a list of words or one line of text", json);
    }
    absl::StatusOr<std::vector<std::string>> split =
        SplitShellWords(json.get_ref<const std::string&>());
    if (!split.ok()) return FieldError(place.path, std::string(split.status().message()));
    words = *std::move(split);
    return absl::OkStatus();
  }
};

// Bytes: a number, or text with a unit.
struct MemoryForm {
  static Json Write(std::int64_t bytes) {
    std::string text = FormatByteSize(bytes);
    // A size that no unit divides is written as a number of bytes.
    return text.ends_with('B') ? Json(std::move(text)) : Json(bytes);
  }
  static absl::Status Read(const Json& json, const FilePlace& place, std::int64_t& bytes) {
    VERNIER_ASSIGN_OR_RETURN(bytes, ReadMemory(json, place.path));
    return absl::OkStatus();
  }
};

// Memory that a replica asks for. A user's small number is meant in another unit.
struct ReplicaMemoryForm : MemoryForm {
  static absl::Status Read(const Json& json, const FilePlace& place, std::int64_t& bytes) {
    VERNIER_RETURN_IF_ERROR(MemoryForm::Read(json, place, bytes));
    const bool is_of_user = place.unknown_keys == UnknownKeys::kRefuse;
    if (!is_of_user || !json.is_number() || bytes <= 0) return absl::OkStatus();
    const std::string problem = ProblemOfBareAmount(bytes);
    return problem.empty() ? absl::OkStatus() : FieldError(place.path, problem);
  }
};

struct ArgumentStyleForm {
  static Json Write(ArgumentStyle style) { return ArgumentStyleName(style); }
  static absl::Status Read(const Json& json, const FilePlace& place, ArgumentStyle& style) {
    VERNIER_ASSIGN_OR_RETURN(style, ReadArgumentStyle(json, place.path));
    return absl::OkStatus();
  }
};

struct ReadingForm {
  static Json Write(FailureReading reading) {
    return std::ranges::find(kReadings, reading, &decltype(kReadings)::value_type::second)->first;
  }
  // Compared as JSON, so that what is no text is told of in the same way.
  static absl::Status Read(const Json& json, const FilePlace& place, FailureReading& reading) {
    for (const auto& [name, value] : kReadings) {
      if (json != name) continue;
      reading = value;
      return absl::OkStatus();
    }
    return MustBe(place.path, "strict or lenient", json);
  }
};

// --- environment ---
struct SecretForm : PartForm<SecretForm> {
  static void Describe(auto& visit, auto& secret) {
    visit("from_file", secret.from_file);
    visit("secret", secret.name);
  }
};

// The variables of a job or of a replica: each is a text, or says where a secret is.
struct EnvironmentForm {
  // Variables and secrets are two maps of the owner, and one mapping of the file.
  static bool IsEmpty(const auto& owner) { return owner.env.empty() && owner.secrets.empty(); }
  static Json Write(const auto& owner) {
    Json env = owner.env;
    for (const auto& [name, secret] : owner.secrets) env[name] = SecretForm::Write(secret);
    return env;
  }
  static absl::Status Read(const Json& json, const FilePlace& place, auto& owner) {
    if (!json.is_object()) return MustBe(place.path, "a mapping of names to text", json);
    for (const auto& [name, value] : json.items()) {
      const FilePlace variable{fmt::format("{}.{}", place.path, name), place.unknown_keys};
      if (value.is_object()) {
        VERNIER_RETURN_IF_ERROR(SecretForm::Read(value, variable, owner.secrets[name]));
      } else {
        VERNIER_RETURN_IF_ERROR(FileForm<std::string>::Read(value, variable, owner.env[name]));
      }
    }
    return absl::OkStatus();
  }
};

// --- replicas ---
struct ReplicaForm : PartForm<ReplicaForm> {
  // The keys of a replica, in the order in which they are written. Some are always written, default or not, so that a
  // file shows what a replica takes.
  static void Describe(auto& visit, auto& replica) {
    visit.Always("count", replica.count);
    visit("command", replica.command, CommandForm());
    visit("args", replica.args);
    visit("env", replica, EnvironmentForm());
    visit("directory", replica.directory);
    visit("image", replica.image);
    visit("machine", replica.machine_type);
    visit.Always("cpus", replica.resources.cpus);
    visit.Always("memory", replica.resources.memory_bytes, ReplicaMemoryForm());
    visit.Always("gpus", replica.resources.gpus);
    visit("gpu_type", replica.resources.gpu_type);
    visit.Unless(0, "gpu_memory", replica.resources.gpu_memory_bytes, ReplicaMemoryForm());
  }
  // A count stands for {count: COUNT}.
  static absl::Status Read(const Json& json, const FilePlace& place, ReplicaSpec& replica) {
    if (json.is_number()) return FileForm<std::int32_t>::Read(json, place, replica.count);
    if (!json.is_object()) {
      return MustBe(place.path, "a count or a mapping such as {count: 2}", json);
    }
    return PartForm::Read(json, place, replica);
  }
};

// InvalidArgument: the mapping has a key that only replicas have, which goes between `before` and `after`.
// Declared here, since it needs the keys of both forms.
absl::Status RefuseReplicaKeys(const Json& json,
                               const std::string& path,
                               std::string_view before,
                               std::string_view after);

struct ReplicasForm {
  static Json Write(const TrainingJob& job) {
    Json replicas = Json::object();
    for (const auto& [role, replica] : job.replicas) {
      replicas[RoleName(role, job)] = ReplicaForm::Write(replica);
    }
    return replicas;
  }
  static absl::Status Read(const Json& json, const FilePlace& place, TrainingJob& job) {
    // Only what a user writes: a stored definition may have keys of a newer program.
    if (place.unknown_keys == UnknownKeys::kRefuse) {
      VERNIER_RETURN_IF_ERROR(RefuseReplicaKeys(json, place.path + ".", "replicas: {", "}"));
    }
    std::vector<const char*> names(kRoles.size());
    std::ranges::transform(kRoles, names.begin(), &decltype(kRoles)::value_type::first);
    VERNIER_ASSIGN_OR_RETURN(const Mapping mapping,
                             Mapping::Open(json, place.path, names, place.unknown_keys));
    if (mapping.Find("chief") != nullptr && mapping.Find("master") != nullptr) {
      return FieldError(mapping.PathOf("master"), "is another name for chief; use one of them");
    }
    // Without this, a file that gives only workers would keep the chief that a new job has.
    job.replicas.clear();
    for (const auto& [name, role] : kRoles) {
      const Json* const replica = mapping.Find(name);
      if (replica == nullptr) continue;
      VERNIER_RETURN_IF_ERROR(ReplicaForm::Read(
          *replica, {mapping.PathOf(name), place.unknown_keys}, job.replicas[role]));
      if (role == Role::kPrimary) job.primary_name = name;
    }
    return absl::OkStatus();
  }
};

// --- limits, restarts ---
struct LimitsForm : PartForm<LimitsForm> {
  static void Describe(auto& visit, auto& job) {
    visit("time", job.time_limit);
    visit("trial", job.trial_limit);
    visit("wait", job.wait_limit);
    visit("progress", job.progress_limit);
    visit("nan", job.nan_limit);
    visit.Always("grace", job.grace);
    visit.Always("output", job.output_bytes, MemoryForm());
  }
};

struct RestartsForm : PartForm<RestartsForm> {
  static void Describe(auto& visit, auto& restarts) {
    const RestartPolicy usual;
    visit.Unless(usual.reading, "reading", restarts.reading, ReadingForm());
    visit.Unless(usual.replica, "replica", restarts.replica);
    visit.Unless(usual.job, "job", restarts.job);
    visit.Unless(usual.internal, "internal", restarts.internal);
  }
};

// --- the program ---
// Whether the name of a built-in trainer says all of the program. Then `trainer` is written, otherwise `python`.
bool IsTrainerAlone(const PythonProgram& python) {
  return IsBuiltInModule(python.module) && python.packages.empty() && python.runtime.empty();
}

struct PythonForm : PartForm<PythonForm> {
  static void Describe(auto& visit, auto& python) {
    visit.Required("module", python.module);
    visit("packages", python.packages);
    visit("runtime", python.runtime);
  }
  static bool IsEmpty(const std::optional<PythonProgram>& python) {
    return !python.has_value() || IsTrainerAlone(*python);
  }
  static Json Write(const std::optional<PythonProgram>& python) { return PartForm::Write(*python); }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::optional<PythonProgram>& python) {
    return PartForm::Read(json, place, python.emplace());
  }
};

// The name of a built-in trainer, which stands for a Python program.
struct TrainerForm {
  static bool IsEmpty(const std::optional<PythonProgram>& python) {
    return !python.has_value() || !IsTrainerAlone(*python);
  }
  static Json Write(const std::optional<PythonProgram>& python) {
    return BuiltInTrainer(python->module);
  }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::optional<PythonProgram>& python) {
    // `python` is visited before `trainer`, so that it is there if the file has both.
    if (python.has_value()) {
      return FieldError(place.path, "cannot go with job.python; give one of them");
    }
    VERNIER_ASSIGN_OR_RETURN(const std::string name, ReadText(json, place.path));
    const std::vector<std::string> known(kBuiltInTrainers.begin(), kBuiltInTrainers.end());
    if (std::ranges::find(known, name) == known.end()) {
      return FieldError(place.path,
                        fmt::format("unknown trainer '{}'{}", name, NearestHint(name, known)));
    }
    python = PythonProgram{.module = BuiltInModule(name)};
    return absl::OkStatus();
  }
};

// A job needs a command, which may be empty only where an image or a Python program has one.
struct JobCommandForm {
  static bool IsEmpty(const TrainingJob& job) {
    return job.command.empty() && (job.python.has_value() || !job.image.empty());
  }
  static Json Write(const TrainingJob& job) { return CommandForm::Write(job.command); }
  static absl::Status Read(const Json& json, const FilePlace& place, TrainingJob& job) {
    return CommandForm::Read(json, place, job.command);
  }
};

// A folder to send, or the archive that was sent.
struct CodeForm : PartForm<CodeForm> {
  static void Describe(auto& visit, auto& code) {
    visit.Required("archive", code.archive);
    visit("sha256", code.sha256);
  }
  static Json Write(const std::optional<CodeSnapshot>& code) {
    return code->folder.empty() ? PartForm::Write(*code) : Json(code->folder);
  }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::optional<CodeSnapshot>& code) {
    code.emplace();
    // A text is the user's folder; the client makes the archive and puts it in its place.
    if (json.is_string()) return FileForm<std::string>::Read(json, place, code->folder);
    if (json.is_object()) return PartForm::Read(json, place, *code);
    return MustBe(place.path, "a folder such as '.', or a mapping {archive: PATH}", json);
  }
};

struct InputForm {
  static Json Write(const std::optional<TrainingInput>& input) {
    return TrainingInputToJson(*input, FieldNames::kCamelCase);
  }
  static absl::Status Read(const Json& json,
                           const FilePlace& place,
                           std::optional<TrainingInput>& input) {
    VERNIER_ASSIGN_OR_RETURN(input, ReadTrainingInput(json, place.path, place.unknown_keys));
    return absl::OkStatus();
  }
};

// --- the job ---
struct JobForm : PartForm<JobForm> {
  // The keys of a job, in the order in which they are written.
  static void Describe(auto& visit, auto& job) {
    visit(kTrainingInput, job.input, InputForm());
    // Both are of `job.python`: see IsTrainerAlone.
    visit("python", job.python, PythonForm());
    visit("trainer", job.python, TrainerForm());
    visit("image", job.image);
    visit("command", job, JobCommandForm());
    visit("args", job.args);
    visit.Unless(ArgumentStyle::kOption, "arguments", job.argument_style, ArgumentStyleForm());
    visit("env", job, EnvironmentForm());
    visit("dir", job.job_directory);
    visit("code", job.code, CodeForm());
    visit("working_dir", job.working_directory);
    visit("region", job.region);
    visit.Always("replicas", job, ReplicasForm());
    visit.Always("limits", job, LimitsForm());
    visit.Unless(0, "priority", job.priority);
    visit.Unless(false, "pausable", job.pausable);
    visit("restarts", job.restarts);
  }
};

std::vector<const char*> JobKeys() {
  // Taken from the descriptions, so that a new key is known here at once.
  FileKeys keys;
  JobForm::Describe(keys, static_cast<const TrainingJob&>(TrainingJob()));
  return keys.keys();
}

bool IsJobKey(std::string_view key) {
  static const std::vector<const char*>* const keys = new std::vector<const char*>(JobKeys());
  return std::ranges::count(*keys, key) > 0;
}

// Whether replicas have the key, and jobs do not.
bool IsReplicaKey(std::string_view key) {
  static const std::vector<const char*>* const keys = [] {
    FileKeys visited;
    ReplicaForm::Describe(visited, static_cast<const ReplicaSpec&>(ReplicaSpec()));
    return new std::vector<const char*>(visited.keys());
  }();
  return std::ranges::count(*keys, key) > 0 && !IsJobKey(key);
}

absl::Status RefuseReplicaKeys(const Json& json,
                               const std::string& path,
                               std::string_view before,
                               std::string_view after) {
  if (!json.is_object()) return absl::OkStatus();
  for (const auto& [key, value] : json.items()) {
    // Whoever knows the key need only be told where it belongs.
    if (!IsReplicaKey(key)) continue;
    return FieldError(path + key,
                      fmt::format("belongs to a replica of the job: write `{}chief: {{{}: {}}}{}`",
                                  before,
                                  key,
                                  value.dump(-1, ' ', false, Json::error_handler_t::replace),
                                  after));
  }
  return absl::OkStatus();
}

}  // namespace

Json FileForm<TrainingJob>::Write(const TrainingJob& job) { return JobForm::Write(job); }

absl::Status FileForm<TrainingJob>::Read(const Json& json,
                                         const FilePlace& place,
                                         TrainingJob& job) {
  if (place.unknown_keys == UnknownKeys::kRefuse) {
    VERNIER_RETURN_IF_ERROR(RefuseReplicaKeys(json, place.path + ".", "replicas: {", "}"));
  }
  return JobForm::Read(json, place, job);
}

Json FileForm<RestartPolicy>::Write(const RestartPolicy& restarts) {
  return RestartsForm::Write(restarts);
}

absl::Status FileForm<RestartPolicy>::Read(const Json& json,
                                           const FilePlace& place,
                                           RestartPolicy& restarts) {
  return RestartsForm::Read(json, place, restarts);
}

absl::Status RefuseJobKeys(const Json& document) {
  VERNIER_RETURN_IF_ERROR(RefuseReplicaKeys(document, "", "job: {replicas: {", "}}"));
  if (!document.is_object()) return absl::OkStatus();
  for (const auto& [key, value] : document.items()) {
    // Files of AI Platform Training have their input at the top.
    if (!IsJobKey(key) || key == kTrainingInput) continue;
    return FieldError(key, fmt::format("belongs to the job: write `job: {{{}: …}}`", key));
  }
  return absl::OkStatus();
}

}  // namespace vernier::codec
