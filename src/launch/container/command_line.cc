// Why each argument is there: docs/adr/0025-containers-as-clients-under-a-supervisor.md. The order matters in one
// respect: the server's own arguments come last before the image, so that they override Vernier's.

#include "src/launch/container/command_line.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/base/sha256.h"

namespace vernier::launch {
namespace {

// Command lines are readable by every user of the host (/proc/PID/cmdline), so this variable is passed by name only,
// and the engine takes its value from its own environment.
constexpr char kToken[] = "VERNIER_TOKEN";
constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES";
// Read by src/launch/supervisor/container.cc.
constexpr char kInspectFormat[] = "{{.State.OOMKilled}}|{{.State.StartedAt}}";

void Append(std::vector<std::string>& words, std::vector<std::string> more) {
  words.insert(
      words.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The first 12 hexadecimal digits: 48 bits, enough for the containers and images of one host.
std::string ShortHash(const std::string& text) {
  base::Sha256 hash;
  hash.Add(text);
  return hash.Hex().substr(0, 12);
}

// A field of a comma-separated value, the syntax of --mount, quoted if it contains commas or quotes (RFC 4180).
std::string CsvField(const std::string& key, const std::string& value) {
  std::string field = fmt::format("{}={}", key, value);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string Mount(const std::string& folder) {
  return fmt::format(
      "type=bind,{},{}", CsvField("source", folder), CsvField("destination", folder));
}

std::vector<std::string> MountsOf(const ReplicaProgram& program, const ContainerSite& site) {
  std::vector<std::string> folders = {site.folder};
  for (const std::string& folder : program.container->mounts) {
    if (std::ranges::count(folders, folder) == 0) folders.push_back(folder);
  }
  std::vector<std::string> words;
  for (const std::string& folder : folders) Append(words, {"--mount", Mount(folder)});
  return words;
}

bool IsNumber(const std::string& id) {
  return !id.empty() && std::ranges::all_of(id, [](unsigned char c) { return std::isdigit(c); });
}

// In a container, devices given by index are numbered from 0 again; UUIDs stay.
std::string Renumbered(const std::vector<std::string>& gpus) {
  std::vector<std::string> ids = gpus;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (IsNumber(ids[i])) ids[i] = std::to_string(i);
  }
  return fmt::format("{}", fmt::join(ids, ","));
}

std::map<std::string, std::string> VariablesOf(const ReplicaProgram& program,
                                               const ContainerSite& site) {
  std::map<std::string, std::string> variables = program.env;
  variables[kReplicaVariable] = site.folder;
  return variables;
}

// --- podman and docker ---

std::vector<std::string> GpuWords(EngineKind kind, const std::vector<std::string>& gpus) {
  std::vector<std::string> words;
  if (gpus.empty()) return words;
  // Docker parses the argument as comma-separated values, so the quotes keep the list in one field.
  if (kind == EngineKind::kDocker) {
    return {"--gpus", fmt::format("\"device={}\"", fmt::join(gpus, ","))};
  }
  for (const std::string& gpu : gpus) {
    Append(words, {"--device", fmt::format("nvidia.com/gpu={}", gpu)});
  }
  return words;
}

std::vector<std::string> LimitWords(const ContainerEngine& engine, const Share& share) {
  std::vector<std::string> words;
  const double cpus = static_cast<double>(share.cpu_millis) / 1000;
  // Engines refuse more CPUs than the host has. A share of all CPUs needs no limit.
  if (cpus > 0 && cpus < engine.cpus) Append(words, {"--cpus", fmt::format("{:.3f}", cpus)});
  if (share.memory_bytes > 0 && engine.limits_memory) {
    const std::string bytes = std::to_string(share.memory_bytes);
    // --memory-swap includes memory: no swap.
    Append(words, {"--memory", bytes, "--memory-swap", bytes});
  }
  return words;
}

// Host network, so that the addresses in TF_CONFIG are valid; host IPC, since NCCL and others use shared memory between
// replicas. No log driver: the supervisor stores the output. label=disable: SELinux would deny access to the mounted
// folders. --pull never: images are fetched before (container_launcher.cc), and a pull here would hide its errors in
// the output.
std::vector<std::string> RunWords(const ContainerEngine& engine,
                                  const ReplicaProgram& program,
                                  const ContainerSite& site) {
  const ReplicaContainer& container = *program.container;
  std::vector<std::string> words = {engine.program,
                                    "run",
                                    "--name",
                                    ContainerName(site.folder),
                                    "--label",
                                    fmt::format("vernier.replica={}", site.folder),
                                    "--pull",
                                    "never",
                                    "--network",
                                    "host",
                                    "--ipc",
                                    "host",
                                    "--log-driver",
                                    "none",
                                    "--security-opt",
                                    "label=disable",
                                    "--user",
                                    engine.user};
  if (engine.has_init) words.emplace_back("--init");
  Append(words, LimitWords(engine, site.share));
  Append(words, GpuWords(engine.kind, site.gpus));
  Append(words, MountsOf(program, site));
  if (!container.directory.empty()) Append(words, {"--workdir", container.directory});
  std::map<std::string, std::string> variables = VariablesOf(program, site);
  if (!site.gpus.empty()) variables[kVisibleDevices] = Renumbered(site.gpus);
  for (const auto& [name, value] : variables) {
    Append(words, {"--env", name == kToken ? name : fmt::format("{}={}", name, value)});
  }
  for (const auto& [name, secret] : program.secrets) Append(words, {"--env", name});
  Append(words, engine.arguments);
  std::size_t first = 0;
  if (container.replaces_entry_point && !program.argv.empty()) {
    Append(words, {"--entrypoint", program.argv[first++]});
  }
  words.push_back(container.image);
  words.insert(
      words.end(), program.argv.begin() + static_cast<std::ptrdiff_t>(first), program.argv.end());
  return words;
}

ContainerSteps StepsOf(const ContainerEngine& engine, const std::string& name) {
  ContainerSteps steps{
      .inspect = {engine.program, "container", "inspect", "--format", kInspectFormat, name},
      .remove = {engine.program, "rm", "--force", "--volumes"}};
  // Without it podman sends SIGTERM first, and waits ten seconds (podman-rm(1)).
  if (engine.kind == EngineKind::kPodman) Append(steps.remove, {"--time", "0"});
  steps.remove.push_back(name);
  return steps;
}

// --- apptainer ---

// Apptainer always runs as the server's user and on the host's network. Variables of its own with the prefix
// APPTAINERENV_ become the program's.
SupervisedProgram ApptainerProgram(const ContainerEngine& engine,
                                   const ReplicaProgram& program,
                                   const ContainerSite& site) {
  const ReplicaContainer& container = *program.container;
  SupervisedProgram result{.argv = {engine.program,
                                    container.replaces_entry_point ? "exec" : "run",
                                    "--cleanenv",
                                    "--no-home"},
                           .container = {.within_client = true}};
  if (!site.gpus.empty()) result.argv.emplace_back("--nv");
  Append(result.argv, MountsOf(program, site));
  if (!container.directory.empty()) Append(result.argv, {"--pwd", container.directory});
  Append(result.argv, engine.arguments);
  result.argv.push_back(ImageFile(engine, container.image));
  Append(result.argv, program.argv);
  for (const auto& [name, value] : VariablesOf(program, site)) {
    result.env.emplace_back(ClientVariable(engine, name), value);
  }
  return result;
}

bool IsPath(const std::string& image) { return image.starts_with('/'); }

}  // namespace

std::string ContainerName(const std::string& folder) {
  constexpr int kParts = 4;  // STUDY/trial-7/attempt-1/worker-0
  std::size_t at = folder.size();
  for (int part = 0; part < kParts && at != std::string::npos && at > 0; ++part) {
    at = folder.rfind('/', at - 1);
  }
  std::string name = at == std::string::npos ? folder : folder.substr(at + 1);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '-');
  return fmt::format("vernier-{}-{}", name, ShortHash(folder));
}

SupervisedProgram ContainerProgram(const ContainerEngine& engine,
                                   const ReplicaProgram& program,
                                   const ContainerSite& site,
                                   std::vector<std::string> control_groups) {
  if (engine.kind == EngineKind::kApptainer) {
    SupervisedProgram result = ApptainerProgram(engine, program, site);
    result.share = site.share;
    result.control_groups = std::move(control_groups);
    return result;
  }
  SupervisedProgram result = {.argv = RunWords(engine, program, site),
                              .container = StepsOf(engine, ContainerName(site.folder))};
  const auto token = program.env.find(kToken);
  if (token != program.env.end()) result.env.emplace_back(token->first, token->second);
  return result;
}

std::string ClientVariable(const ContainerEngine& engine, const std::string& name) {
  return engine.kind == EngineKind::kApptainer ? "APPTAINERENV_" + name : name;
}

std::string ImageFile(const ContainerEngine& engine, const std::string& image) {
  if (engine.kind != EngineKind::kApptainer) return "";
  if (IsPath(image)) return image;
  return fmt::format("{}/{}.sif", engine.images_directory, ShortHash(image));
}

std::string ImageSource(const ContainerEngine& engine, const std::string& image) {
  const bool is_bare =
      engine.kind == EngineKind::kApptainer && image.find("://") == std::string::npos;
  return is_bare && !IsPath(image) ? "docker://" + image : image;
}

}  // namespace vernier::launch
