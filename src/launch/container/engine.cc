// An engine is asked once (`podman info`, `docker info`) and its answer remembered for the life of the process. A
// failure is not remembered: an engine may be installed or started later, and jobs with images only wait until then.

#include "src/launch/container/engine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/core/status.h"
#include "src/launch/programs.h"

namespace vernier::launch {
namespace {

// Time limit for an engine's answer. A choice: `podman info` can take seconds after a boot; a daemon that is down may
// hang.
constexpr absl::Duration kPatience = absl::Seconds(10);
// Marks the answer among the warnings that engines print.
constexpr std::string_view kMark = "vernier|";

// Folders besides PATH in which podman looks for catatonit, its init program: `helper_binaries_dir` in
// containers.conf(5).
constexpr std::array<const char*, 4> kPodmanHelpers = {
    "/usr/libexec/podman", "/usr/local/libexec/podman", "/usr/lib/podman", "/usr/local/lib/podman"};

// Runs `info` with a Go template, and returns the fields of its answer.
absl::StatusOr<std::vector<std::string>> Ask(const std::string& program, std::string_view format) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::string output,
      OutputOf({program, "info", "--format", fmt::format("{}{}", kMark, format)},
               kPatience,
               Errors::kAreOutput));
  const std::vector<std::string> lines = absl::StrSplit(output, '\n');
  for (const std::string& line : lines) {
    if (!line.starts_with(kMark)) continue;
    std::vector<std::string> fields = absl::StrSplit(line.substr(kMark.size()), '|');
    return fields;
  }
  return Unavailable("'{}' did not tell what it can do", program);
}

bool HasCatatonit() {
  return FindProgram("catatonit").has_value() ||
         std::ranges::any_of(kPodmanHelpers, [](const char* folder) {
           return IsProgram(fmt::format("{}/catatonit", folder));
         });
}

// Under a rootless engine the server's user is mapped to root in the container; other ids there belong to nobody
// outside.
absl::Status ExaminePodman(ContainerEngine& engine) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<std::string> fields,
      Ask(engine.program, "{{.Version.Version}}|{{.Host.CPUs}}|{{.Host.CgroupControllers}}"));
  if (fields.size() != 3) return Unavailable("'{}' did not tell what it can do", engine.program);
  engine.version = fields[0];
  const std::vector<std::string> controllers =
      absl::StrSplit(fields[2], absl::ByAnyChar("[] "), absl::SkipEmpty());
  if (std::ranges::count(controllers, "cpu") == 0 || !absl::SimpleAtod(fields[1], &engine.cpus)) {
    engine.cpus = 0;
  }
  engine.limits_memory = std::ranges::count(controllers, "memory") > 0;
  engine.has_init = HasCatatonit();
  engine.user = "0:0";
  return absl::OkStatus();
}

absl::Status ExamineDocker(ContainerEngine& engine) {
  VERNIER_ASSIGN_OR_RETURN(
      const std::vector<std::string> fields,
      Ask(engine.program,
          "{{.ServerVersion}}|{{.NCPU}}|{{.CPUCfsQuota}}|{{.MemoryLimit}}|{{.SecurityOptions}}"));
  if (fields.size() != 5) return Unavailable("'{}' did not tell what it can do", engine.program);
  engine.version = fields[0];
  if (fields[2] != "true" || !absl::SimpleAtod(fields[1], &engine.cpus)) engine.cpus = 0;
  engine.limits_memory = fields[3] == "true";
  engine.has_init = true;
  const bool is_rootless = fields[4].find("name=rootless") != std::string::npos;
  engine.user = is_rootless ? "0:0" : fmt::format("{}:{}", geteuid(), getegid());
  return absl::OkStatus();
}

// Parses "apptainer version 1.1.9". Its programs are descendants of the supervisor, so the replica's control group
// limits them.
absl::Status ExamineApptainer(ContainerEngine& engine) {
  VERNIER_ASSIGN_OR_RETURN(const std::string said,
                           OutputOf({engine.program, "--version"}, kPatience));
  const std::vector<std::string> words =
      absl::StrSplit(said, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  engine.version = words.empty() ? "" : words.back();
  return absl::OkStatus();
}

absl::Status Examine(ContainerEngine& engine) {
  switch (engine.kind) {
    case EngineKind::kPodman:
      return ExaminePodman(engine);
    case EngineKind::kDocker:
      return ExamineDocker(engine);
    case EngineKind::kApptainer:
      return ExamineApptainer(engine);
  }
  return absl::OkStatus();
}

// Finds the engine's program, without querying it.
absl::StatusOr<ContainerEngine> Find(const ContainerHostOptions& options) {
  if (!options.is_enabled) {
    return NotFound(
        "this server runs no container images; its configuration says containers.engine: none");
  }
  for (const EngineKind kind : kEngineKinds) {
    if (options.kind.has_value() && kind != *options.kind) continue;
    std::optional<std::string> program = FindProgram(EngineName(kind));
    if (!program.has_value()) continue;
    return ContainerEngine{.kind = kind,
                           .program = *std::move(program),
                           .arguments = options.arguments,
                           .images_directory = options.images_directory};
  }
  if (options.kind.has_value()) {
    return NotFound("container images need {}, which is not on the server's PATH",
                    EngineName(*options.kind));
  }
  return NotFound(
      "container images need podman, docker or apptainer on the server's PATH, and none is there; "
      "install one, for instance by apt-get install podman");
}

}  // namespace

std::string EngineName(EngineKind kind) {
  switch (kind) {
    case EngineKind::kPodman:
      return "podman";
    case EngineKind::kDocker:
      return "docker";
    case EngineKind::kApptainer:
      return "apptainer";
  }
  return "";
}

std::string ImagesDirectory(const std::string& runs_directory) {
  return runs_directory + "/.images";
}

std::string DescribeEngine(const ContainerEngine& engine) {
  std::string limits = "no limits";
  if (engine.limits_memory) limits = engine.cpus > 0 ? "memory and CPUs" : "memory";
  if (!engine.limits_memory && engine.cpus > 0) limits = "CPUs";
  if (engine.kind == EngineKind::kApptainer) limits = "what other replicas are held to";
  return fmt::format("{} {} ({}), which holds containers to {}",
                     EngineName(engine.kind),
                     engine.version,
                     engine.program,
                     limits);
}

absl::StatusOr<ContainerEngine> ContainerHost::Engine() {
  {
    absl::MutexLock lock(&mu_);
    if (engine_.has_value()) return *engine_;
  }
  // Queried without the lock, since it may hang. Two callers may query at the same time; both get the same answer.
  VERNIER_ASSIGN_OR_RETURN(ContainerEngine engine, Find(options_));
  const absl::Status examined = Examine(engine);
  if (!examined.ok()) {
    return Unavailable("container images cannot be run: {}", std::string(examined.message()));
  }
  absl::MutexLock lock(&mu_);
  engine_ = engine;
  return engine;
}

}  // namespace vernier::launch
