// Readers of single fields, then the description of the whole (ParseConfiguration), from which codec::ReadMapping also
// derives the errors for unknown keys. A field that is not given stays empty or unset, so that Overlay can tell.
// Defaults are applied at the very end, in ServerOptionsOf.

#include "src/app/configuration.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/app/listen_address.h"
#include "src/app/paths.h"
#include "src/base/files.h"
#include "src/codec/document.h"
#include "src/codec/mapping.h"
#include "src/core/byte_size.h"
#include "src/core/nearest.h"
#include "src/core/status.h"
#include "src/launch/cluster_launcher.h"
#include "src/launch/local/gpu_inventory.h"
#include "src/launch/programs.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

// Most bytes of a configuration file. A choice: far above a catalogue of machines.
constexpr std::int64_t kMostConfiguration = std::int64_t{16} << 20;

using codec::Json;
using codec::Mapping;

constexpr char kDocument[] = "configuration";
constexpr char kAnyEngine[] = "auto";
constexpr char kNoEngine[] = "none";

// The value with that name.
template <typename T>
absl::StatusOr<T> ReadChoice(const Json& json, const std::string& path, const Names<T>& choices) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, codec::ReadText(json, path));
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    names.emplace_back(name);
  }
  return FieldError(path, fmt::format("unknown value '{}'{}", text, NearestHint(text, names)));
}

absl::StatusOr<launch::Fitting> ReadFitting(const Json& json, const std::string& path) {
  return ReadChoice(json, path, kFittings);
}

absl::StatusOr<base::LogLevel> ReadLogLevel(const Json& json, const std::string& path) {
  return ReadChoice(json, path, kLogLevels);
}

// Reads a text, or a list of texts.
absl::StatusOr<std::vector<std::string>> ReadTextOrTexts(const Json& json,
                                                         const std::string& path) {
  if (!json.is_string()) return codec::ReadTexts(json, path);
  VERNIER_ASSIGN_OR_RETURN(std::string text, codec::ReadText(json, path));
  return std::vector<std::string>{std::move(text)};
}

absl::StatusOr<double> ReadCpus(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const double cpus, codec::ReadNumber(json, path));
  if (cpus > 0 && cpus <= 1e6) return cpus;
  return FieldError(path, fmt::format("must be above 0 and at most 1000000, got {}", cpus));
}

absl::StatusOr<std::int64_t> ReadHostMemory(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t bytes, codec::ReadMemory(json, path));
  if (bytes <= 0) return FieldError(path, fmt::format("must be above 0, got {}", bytes));
  const std::string problem = json.is_number() ? ProblemOfBareAmount(bytes) : "";
  if (!problem.empty()) return FieldError(path, problem);
  return bytes;
}

absl::StatusOr<std::int64_t> ReadDiskReserve(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::int64_t bytes, codec::ReadMemory(json, path));
  if (bytes >= launch::kLeastReserve) return bytes;
  return FieldError(path,
                    fmt::format("must be at least {} bytes, got {}", launch::kLeastReserve, bytes));
}

absl::StatusOr<absl::Duration> ReadUnusedFor(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const absl::Duration duration, codec::ReadDuration(json, path));
  if (duration >= service::kLeastUnused) return duration;
  return FieldError(path, fmt::format("must be at least 1h, got {}", json.dump()));
}

absl::StatusOr<CleanUpConfiguration> ReadCleanUp(const Json& json, const std::string& path) {
  CleanUpConfiguration clean_up;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(json, path, [&](auto& visit) {
    visit("unused_for", clean_up.unused_for, &ReadUnusedFor);
    visit("cache_size", clean_up.cache_bytes, &ReadHostMemory);
  }));
  if (!clean_up.unused_for.has_value() && !clean_up.cache_bytes.has_value()) {
    return FieldError(path, "needs unused_for or cache_size");
  }
  return clean_up;
}

absl::StatusOr<std::vector<std::string>> ReadGpus(const Json& json, const std::string& path) {
  if (!json.is_array()) return codec::MustBe(path, "a list such as [T4:0:16GiB]", json);
  std::vector<std::string> gpus;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string element = fmt::format("{}[{}]", path, i);
    // YAML reads a bare device id such as 0 as a number.
    gpus.push_back(json[i].is_number_integer() ? json[i].dump() : "");
    if (gpus.back().empty()) {
      VERNIER_ASSIGN_OR_RETURN(gpus.back(), codec::ReadText(json[i], element));
    }
    // All devices so far are parsed again, so that an id that is listed twice is found.
    const absl::Status parsed = launch::ParseDeclaredGpus(gpus).status();
    if (!parsed.ok()) return FieldError(element, std::string(parsed.message()));
  }
  return gpus;
}

absl::StatusOr<std::string> ReadControlGroup(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::string group, codec::ReadText(json, path));
  // Written as /proc/PID/cgroup shows it; ".." could leave the cgroup file system.
  const bool is_path = group.size() > 1 && group.starts_with('/') && !group.ends_with('/') &&
                       group.find("..") == std::string::npos;
  if (is_path || group == "none") return group;
  return FieldError(
      path, fmt::format("must be none or a path such as /vernier.slice/jobs, got '{}'", group));
}

absl::StatusOr<HostConfiguration> ReadHost(const Json& json, const std::string& path) {
  HostConfiguration host;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(json, path, [&](auto& visit) {
    visit("cpus", host.cpus, &ReadCpus);
    visit("memory", host.memory_bytes, &ReadHostMemory);
    visit("gpus", host.gpus, &ReadGpus);
    visit("fitting", host.fitting, &ReadFitting);
    visit("cgroup", host.control_group, &ReadControlGroup);
    visit("disk_reserve", host.disk_reserve, &ReadDiskReserve);
  }));
  return host;
}

// Reads a mapping of at least one name to values of the reader.
template <typename T>
absl::StatusOr<std::map<std::string, T>> ReadNamed(
    const Json& json,
    const std::string& path,
    absl::StatusOr<T> (*reader)(const Json&, const std::string&)) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (!json.is_object()) return codec::MustBe(path, "a mapping of names", json);
  std::map<std::string, T> values;
  for (const auto& [name, value] : json.items()) {
    if (name.empty() || name.find_first_not_of(kAllowed) != std::string::npos) {
      return FieldError(
          path, fmt::format("a name must be of letters, digits, '-', '_' and '.', got '{}'", name));
    }
    VERNIER_ASSIGN_OR_RETURN(values[name], reader(value, fmt::format("{}.{}", path, name)));
  }
  if (values.empty()) return FieldError(path, "must not be empty");
  return values;
}

absl::StatusOr<std::string> ReadAbsolutePath(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::string text, codec::ReadText(json, path));
  if (text.starts_with('/')) return text;
  return FieldError(path, fmt::format("must be an absolute path, got '{}'", text));
}

// Options of sbatch that Vernier sets itself, or that would make another kind of job.
constexpr std::string_view kReservedOptions[] = {"--array",
                                                 "-a",
                                                 "--chdir",
                                                 "-D",
                                                 "--comment",
                                                 "--cpus-per-task",
                                                 "-c",
                                                 "--error",
                                                 "-e",
                                                 "--export",
                                                 "--gpus-per-task",
                                                 "--job-name",
                                                 "-J",
                                                 "--no-requeue",
                                                 "--ntasks",
                                                 "-n",
                                                 "--open-mode",
                                                 "--output",
                                                 "-o",
                                                 "--parsable",
                                                 "--requeue",
                                                 "--test-only",
                                                 "--time",
                                                 "-t",
                                                 "--wait",
                                                 "-W",
                                                 "--wrap",
                                                 ":"};

absl::Status CheckSbatchArguments(const std::vector<std::string>& arguments,
                                  const std::string& path) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string field = fmt::format("{}[{}]", path, i);
    const std::string name = argument.substr(0, argument.find('='));
    if (argument.empty() || argument.find('\0') != std::string::npos) {
      return FieldError(field, "must not be empty nor hold a zero byte");
    }
    if (std::ranges::count(kReservedOptions, name) > 0) {
      return FieldError(field,
                        fmt::format("must not be '{}', which Vernier sets for each job", name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, std::string>> ReadGpuNames(const Json& json,
                                                                const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto names, codec::ReadTextMap(json, path));
  for (const auto& [type, name] : names) {
    if (name.empty() || name.find_first_of(":,= ") != std::string::npos) {
      return FieldError(
          fmt::format("{}.{}", path, type),
          fmt::format("must be a type of GPU as gres.conf has it, such as a100, got '{}'", name));
    }
  }
  return names;
}

absl::StatusOr<launch::slurm::RestOptions> ReadRest(const Json& json, const std::string& path) {
  launch::slurm::RestOptions rest;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(json, path, [&](auto& visit) {
    visit("url", rest.url, &codec::ReadText);
    visit("version", rest.version, &codec::ReadText);
    visit("user", rest.user, &codec::ReadText);
    visit("token_file", rest.token_file, &ReadAbsolutePath);
  }));
  VERNIER_RETURN_IF_ERROR(launch::slurm::CheckRestOptions(rest, path));
  return rest;
}

absl::StatusOr<launch::slurm::ClusterOptions> ReadSlurm(const Json& json, const std::string& path) {
  launch::slurm::ClusterOptions slurm;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(json, path, [&](auto& visit) {
    visit("shared", slurm.shared, &ReadAbsolutePath);
    visit("partition", slurm.site.partition, &codec::ReadText);
    visit("account", slurm.site.account, &codec::ReadText);
    visit("qos", slurm.site.qos, &codec::ReadText);
    visit("constraint", slurm.site.constraint, &codec::ReadText);
    visit("reservation", slurm.site.reservation, &codec::ReadText);
    visit("arguments", slurm.site.arguments, &codec::ReadTexts);
    visit("gpus", slurm.gpu_types, &ReadGpuNames);
    visit("container_arguments", slurm.container_arguments, &codec::ReadTexts);
    visit("commands", slurm.commands, &ReadAbsolutePath);
    visit("rest", slurm.rest, &ReadRest);
  }));
  if (slurm.shared.empty()) {
    return FieldError(path + ".shared", "is needed: a folder that every node sees");
  }
  VERNIER_RETURN_IF_ERROR(CheckSbatchArguments(slurm.site.arguments, path + ".arguments"));
  if (slurm.rest.has_value() && !slurm.site.arguments.empty()) {
    return FieldError(path + ".arguments", "are sbatch's; slurmrestd (`rest`) takes none");
  }
  return slurm;
}

absl::StatusOr<ClusterConfiguration> ReadCluster(const Json& json, const std::string& path) {
  ClusterConfiguration cluster;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(
      json, path, [&](auto& visit) { visit("slurm", cluster.slurm, &ReadSlurm); }));
  if (!cluster.slurm.has_value()) {
    return FieldError(path,
                      "needs the kind of cluster that it is: write `slurm: {shared: FOLDER}`");
  }
  return cluster;
}

absl::StatusOr<std::map<std::string, ClusterConfiguration>> ReadClusters(const Json& json,
                                                                         const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(auto clusters,
                           ReadNamed<ClusterConfiguration>(json, path, &ReadCluster));
  if (!clusters.contains(launch::kLocalCluster)) return clusters;
  return FieldError(path + ".local", "is the name of this host; give the cluster another one");
}

absl::StatusOr<ZoneConfiguration> ReadZone(const Json& json, const std::string& path) {
  ZoneConfiguration zone;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(
      json, path, [&](auto& visit) { visit("backend", zone.backend, &codec::ReadText); }));
  return zone;
}

absl::StatusOr<RegionConfiguration> ReadRegion(const Json& json, const std::string& path) {
  RegionConfiguration region;
  VERNIER_ASSIGN_OR_RETURN(const Mapping mapping, Mapping::Open(json, path, {"zones"}));
  VERNIER_ASSIGN_OR_RETURN(const Json* const zones, mapping.Require("zones"));
  VERNIER_ASSIGN_OR_RETURN(
      region.zones, ReadNamed<ZoneConfiguration>(*zones, mapping.PathOf("zones"), &ReadZone));
  return region;
}

absl::StatusOr<std::map<std::string, RegionConfiguration>> ReadRegions(const Json& json,
                                                                       const std::string& path) {
  return ReadNamed<RegionConfiguration>(json, path, &ReadRegion);
}

absl::StatusOr<jobs::MachineCatalogue> ReadMachines(const Json& json, const std::string& path) {
  return jobs::Extend(jobs::StandardCatalogue(), json, path);
}

absl::StatusOr<launch::PythonRuntime> ReadRuntime(const Json& json, const std::string& path) {
  launch::PythonRuntime runtime;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(json, path, [&](auto& visit) {
    visit("python", runtime.python, &codec::ReadText);
    visit("wheels", runtime.wheels, &codec::ReadText);
  }));
  if (runtime.python.empty()) return FieldError(path + ".python", "must not be empty");
  return runtime;
}

absl::StatusOr<std::map<std::string, launch::PythonRuntime>> ReadRuntimes(const Json& json,
                                                                          const std::string& path) {
  return ReadNamed<launch::PythonRuntime>(json, path, &ReadRuntime);
}

absl::StatusOr<std::string> ReadEngine(const Json& json, const std::string& path) {
  Names<std::string> names = {{kAnyEngine, kAnyEngine}, {kNoEngine, kNoEngine}};
  for (const launch::EngineKind kind : launch::kEngineKinds) {
    names.emplace_back(launch::EngineName(kind), launch::EngineName(kind));
  }
  return ReadChoice(json, path, names);
}

absl::StatusOr<ContainersConfiguration> ReadContainers(const Json& json, const std::string& path) {
  ContainersConfiguration containers;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(json, path, [&](auto& visit) {
    visit("engine", containers.engine, &ReadEngine);
    visit("arguments", containers.arguments, &codec::ReadTexts);
  }));
  for (const std::string& argument : containers.arguments.value_or(std::vector<std::string>())) {
    if (!argument.empty() && argument.find('\0') == std::string::npos) continue;
    return FieldError(path + ".arguments", "a word must not be empty nor hold a zero byte");
  }
  return containers;
}

// Checks the name of a variable, which may end with an asterisk as a wildcard.
absl::Status CheckVariable(const std::string& name, const std::string& path) {
  // find('*') is npos, larger than any index, without an asterisk.
  const bool is_sound = !name.empty() && name.find('*') >= name.size() - 1 &&
                        name.find('=') == std::string::npos && name.find('\0') == std::string::npos;
  if (is_sound) return absl::OkStatus();
  return FieldError(path,
                    fmt::format("must be the name of a variable, with * at its end for all that "
                                "begin so, got '{}'",
                                name));
}

absl::StatusOr<std::vector<std::string>> ReadVariables(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> names, ReadTextOrTexts(json, path));
  for (const std::string& name : names) VERNIER_RETURN_IF_ERROR(CheckVariable(name, path));
  return names;
}

launch::ContainerHostOptions ContainerOptions(const ContainersConfiguration& containers) {
  launch::ContainerHostOptions options{
      .is_enabled = containers.engine != kNoEngine,
      .kind = std::nullopt,
      .arguments = containers.arguments.value_or(std::vector<std::string>()),
      .images_directory = {}};
  for (const launch::EngineKind kind : launch::kEngineKinds) {
    if (containers.engine == launch::EngineName(kind)) options.kind = kind;
  }
  return options;
}

absl::StatusOr<std::vector<std::string>> ReadAddresses(const Json& json, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> addresses, ReadTextOrTexts(json, path));
  // allow_remote is checked in ApplyAccess, when all is read.
  for (const std::string& address : addresses) {
    VERNIER_RETURN_IF_ERROR(CheckListenAddress(address, /*allow_remote=*/true));
  }
  return addresses;
}

// Makes the path absolute in this process's working directory: programs are started in others.
std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

std::map<std::string, launch::PythonRuntime> WithAbsolutePaths(
    std::map<std::string, launch::PythonRuntime> runtimes) {
  for (auto& [name, runtime] : runtimes) {
    // A name without a slash is looked up on PATH.
    if (runtime.python.find('/') != std::string::npos) {
      runtime.python = AbsolutePath(runtime.python);
    }
    if (!runtime.wheels.empty()) runtime.wheels = AbsolutePath(runtime.wheels);
  }
  return runtimes;
}

// Whether the interpreter exists, as a path or on PATH.
bool IsInterpreter(const std::string& python) {
  if (python.find('/') == std::string::npos) return launch::FindProgram(python).has_value();
  std::error_code error;
  return std::filesystem::is_regular_file(python, error) && launch::IsProgram(python);
}

absl::Status CheckCluster(const std::string& path,
                          const std::string& cluster,
                          const ServerOptions& options) {
  if (cluster == launch::kLocalCluster || options.clusters.contains(cluster)) {
    return absl::OkStatus();
  }
  std::vector<std::string> names = {launch::kLocalCluster};
  for (const auto& [name, known] : options.clusters) names.push_back(name);
  return FieldError(
      path, fmt::format("unknown cluster '{}'; known: {}", cluster, fmt::join(names, ", ")));
}

// The cluster that a region stands for. Jobs name a region, never a zone, so its zones must agree.
absl::StatusOr<std::string> ClusterOf(const std::string& name,
                                      const RegionConfiguration& region,
                                      const ServerOptions& options) {
  std::string cluster;
  for (const auto& [zone, content] : region.zones) {
    const std::string path = fmt::format("regions.{}.zones.{}.backend", name, zone);
    VERNIER_RETURN_IF_ERROR(CheckCluster(path, content.backend, options));
    if (!cluster.empty() && cluster != content.backend) {
      return FieldError(path,
                        fmt::format("must be '{}' like that of the region's other zones, got '{}'",
                                    cluster,
                                    content.backend));
    }
    cluster = content.backend;
  }
  return cluster;
}

template <typename T>
void TakeIfUnsaid(T& value, const T& other) {
  if (value == T()) value = other;
}

}  // namespace

absl::StatusOr<Configuration> ParseConfiguration(std::string_view text) {
  VERNIER_ASSIGN_OR_RETURN(const Json document, codec::ReadDocument(text, kDocument));
  if (!document.is_object()) {
    return codec::MustBe(kDocument, "a mapping of keys to values", document);
  }
  Configuration result;
  VERNIER_RETURN_IF_ERROR(codec::ReadMapping(document, "", [&](auto& visit) {
    visit("store", result.store, &codec::ReadText);
    visit("listen", result.listen, &ReadAddresses);
    visit("allow_remote", result.allow_remote, &codec::ReadBool);
    visit("open", result.open, &codec::ReadBool);
    visit("token_file", result.token_file, &codec::ReadText);
    visit("runs", result.runs, &codec::ReadText);
    visit("inherit_env", result.inherit_env, &ReadVariables);
    visit("supervisor", result.supervisor, &codec::ReadText);
    visit("log_level", result.log_level, &ReadLogLevel);
    visit("host", result.host, &ReadHost);
    visit("clusters", result.clusters, &ReadClusters);
    visit("cluster", result.cluster, &codec::ReadText);
    visit("regions", result.regions, &ReadRegions);
    visit("machines", result.machines, &ReadMachines);
    visit("runtimes", result.runtimes, &ReadRuntimes);
    visit("containers", result.containers, &ReadContainers);
    visit("clean_up", result.clean_up, &ReadCleanUp);
  }));
  return result;
}

absl::StatusOr<Configuration> LoadConfiguration(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, base::ReadInput(path, kMostConfiguration));
  absl::StatusOr<Configuration> configuration = ParseConfiguration(text);
  if (configuration.ok()) return configuration;
  return InvalidArgument("{}: {}", path, std::string(configuration.status().message()));
}

Configuration Overlay(const Configuration& above, const Configuration& below) {
  Configuration result = above;
  // Field by field; a list replaces a list as a whole.
  TakeIfUnsaid(result.store, below.store);
  TakeIfUnsaid(result.listen, below.listen);
  TakeIfUnsaid(result.allow_remote, below.allow_remote);
  TakeIfUnsaid(result.open, below.open);
  TakeIfUnsaid(result.token_file, below.token_file);
  TakeIfUnsaid(result.runs, below.runs);
  TakeIfUnsaid(result.inherit_env, below.inherit_env);
  TakeIfUnsaid(result.supervisor, below.supervisor);
  TakeIfUnsaid(result.log_level, below.log_level);
  TakeIfUnsaid(result.host.cpus, below.host.cpus);
  TakeIfUnsaid(result.host.memory_bytes, below.host.memory_bytes);
  TakeIfUnsaid(result.host.gpus, below.host.gpus);
  TakeIfUnsaid(result.host.fitting, below.host.fitting);
  TakeIfUnsaid(result.host.control_group, below.host.control_group);
  TakeIfUnsaid(result.host.disk_reserve, below.host.disk_reserve);
  TakeIfUnsaid(result.clusters, below.clusters);
  TakeIfUnsaid(result.cluster, below.cluster);
  TakeIfUnsaid(result.regions, below.regions);
  TakeIfUnsaid(result.machines, below.machines);
  TakeIfUnsaid(result.runtimes, below.runtimes);
  TakeIfUnsaid(result.containers.engine, below.containers.engine);
  TakeIfUnsaid(result.containers.arguments, below.containers.arguments);
  TakeIfUnsaid(result.clean_up, below.clean_up);
  return result;
}

void DeclareAccess(Configuration& said, CLI::App& app) {
  app.add_option_function<std::vector<std::string>>(
         "--inherit-env",
         [&said](const std::vector<std::string>& names) { said.inherit_env = names; },
         "Variable of the server's environment to pass to programs besides the usual ones: NAME or "
         "NAME*; repeat the option for more")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option("--token-file",
                 said.token_file,
                 "File of the token that calls over TCP must send, created if missing (default: "
                 "$VERNIER_TOKEN_FILE, else ~/.local/state/vernier/token)")
      ->option_text("FILE");
  app.add_flag_callback(
      "--open",
      [&said] { said.open = true; },
      "Accept calls over TCP without a token: anyone who can connect can run programs as this "
      "user");
  app.add_flag_callback(
      "--allow-remote",
      [&said] { said.allow_remote = true; },
      "Allow addresses that other hosts can reach; calls, the token included, are not encrypted");
}

absl::Status ApplyAccess(const Configuration& configuration, ServerOptions& options) {
  options.listen = configuration.listen;
  if (options.listen.empty()) options.listen = {"unix:" + DefaultSocket(options.store)};
  options.allow_remote = configuration.allow_remote.value_or(false);
  options.token_file = configuration.token_file;
  options.open = configuration.open.value_or(false);
  if (options.open && !options.token_file.empty()) {
    return FieldError("open", "and token_file exclude each other: with open no call needs a token");
  }
  options.inherit_env = launch::UsualVariables();
  for (const std::string& name : configuration.inherit_env.value_or(std::vector<std::string>())) {
    VERNIER_RETURN_IF_ERROR(CheckVariable(name, "inherit_env"));
    options.inherit_env.push_back(name);
  }
  for (const std::string& address : options.listen) {
    VERNIER_RETURN_IF_ERROR(CheckListenAddress(address, options.allow_remote));
  }
  return absl::OkStatus();
}

absl::Status ApplyHost(const Configuration& configuration, ServerOptions& options) {
  const HostConfiguration& host = configuration.host;
  options.cpus = host.cpus;
  options.memory_bytes = host.memory_bytes;
  options.gpus = host.gpus.value_or(std::vector<std::string>());
  // An empty list means "no devices", which is different from no list.
  options.detect_gpus = !host.gpus.has_value();
  options.disk_reserve = host.disk_reserve;
  options.fitting = host.fitting.value_or(launch::Fitting::kStrict);
  options.control_group = host.control_group;
  options.machines = configuration.machines;
  options.runtimes = WithAbsolutePaths(configuration.runtimes);
  options.containers = ContainerOptions(configuration.containers);
  options.clusters.clear();
  for (const auto& [name, cluster] : configuration.clusters) {
    options.clusters[name] = *cluster.slurm;
  }
  options.cluster =
      configuration.cluster.empty() ? std::string(launch::kLocalCluster) : configuration.cluster;
  VERNIER_RETURN_IF_ERROR(CheckCluster("cluster", options.cluster, options));
  options.regions.clear();
  for (const auto& [name, region] : configuration.regions) {
    VERNIER_ASSIGN_OR_RETURN(options.regions[name], ClusterOf(name, region, options));
  }
  return absl::OkStatus();
}

absl::StatusOr<ServerOptions> ServerOptionsOf(const Configuration& configuration) {
  ServerOptions options{
      .store = configuration.store.empty() ? DefaultStorePath() : configuration.store,
      .runs_directory = configuration.runs,
      .supervisor = configuration.supervisor};
  VERNIER_RETURN_IF_ERROR(ApplyHost(configuration, options));
  if (configuration.clean_up.has_value()) {
    options.clean_up = service::CleanUpRule{
        .unused_for = configuration.clean_up->unused_for.value_or(absl::InfiniteDuration()),
        .cache_bytes = configuration.clean_up->cache_bytes,
        .remove = true};
  }
  VERNIER_RETURN_IF_ERROR(ApplyAccess(configuration, options));
  return options;
}

absl::Status CheckRuntimes(const std::map<std::string, launch::PythonRuntime>& runtimes) {
  for (const auto& [name, runtime] : runtimes) {
    if (!IsInterpreter(runtime.python)) {
      return FieldError(fmt::format("runtimes.{}.python", name),
                        fmt::format("there is no program '{}'", runtime.python));
    }
    std::error_code error;
    if (!runtime.wheels.empty() && !std::filesystem::is_directory(runtime.wheels, error)) {
      return FieldError(fmt::format("runtimes.{}.wheels", name),
                        fmt::format("there is no folder '{}'", runtime.wheels));
    }
  }
  return absl::OkStatus();
}

}  // namespace vernier::app
