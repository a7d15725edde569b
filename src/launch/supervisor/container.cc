// Tells the failures of an engine from those of the program that it runs. An engine's client exits with the status of
// the program, but also with 125, 126 and 127 of its own. Only `inspect` decides: a program may exit with 125 too, and
// then the container has a start time. The container is therefore removed by the supervisor, after it was inspected,
// and not by the engine (`--rm`): docs/adr/0025-containers-as-clients-under-a-supervisor.md.

#include "src/launch/supervisor/container.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/launch/supervisor/bounded_run.h"

namespace vernier::launch {
namespace {

// A choice: an engine that works answers at once (podman takes 0.16 s to look at an image: ADR 25).
constexpr std::int64_t kInspectMs = 5'000;
// Must stay below the 15 s beyond the grace period after which a launcher kills a supervisor (kOverdue in
// src/launch/local/process_launcher.cc).
constexpr std::int64_t kRemoveMs = 8'000;
// Statuses of the clients of podman and docker ("Exit Status" in podman-run(1) and in docker's CLI reference): the
// engine failed, the program cannot be run, the program does not exist.
constexpr int kEngineFailed = 125;
constexpr int kNotRunnable = 126;
constexpr int kNoProgram = 127;
// Apptainer's status for all of these. Its errors begin with "FATAL:".
constexpr int kApptainerFailed = 255;

// Lines of an engine's message that are quoted. A choice: the error and a little of its context.
constexpr std::size_t kMostLines = 3;

// Joins the last lines, without those that only point to a manual ("See 'docker run --help'.").
std::string LastLines(std::string_view said) {
  std::vector<std::string_view> lines;
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    said.remove_prefix(line.size() == said.size() ? said.size() : line.size() + 1);
    const bool is_hint = line.starts_with("See '") || line.starts_with("Run '");
    if (!line.empty() && !is_hint) lines.push_back(line);
  }
  if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
  std::string text;
  for (const std::string_view line : lines) text += (text.empty() ? "" : " | ") + std::string(line);
  return text;
}

// Whether the engine's init process reports that it cannot run the program: tini under docker, catatonit under podman.
// The container has begun by then, so that the engine's own record looks like that of a program that failed.
bool IsInitsComplaint(std::string_view said) {
  return said.find("[FATAL tini (") != said.npos || (said.find("ERROR (catatonit:") != said.npos &&
                                                     said.find("failed to exec pid1") != said.npos);
}

}  // namespace

std::string Container::Remove() const {
  if (steps_.remove.empty()) return "";
  const BoundedRun run = RunBounded(steps_.remove, kRemoveMs, ErrorOutput::kMerged);
  switch (run.end) {
    case BoundedRun::End::kNotRun:
      return "cannot run '" + steps_.remove[0] + "': " + std::strerror(run.error);
    case BoundedRun::End::kOverdue:
      return "'" + steps_.remove[0] + "' did not answer";
    case BoundedRun::End::kExited:
      break;
  }
  // Success is "no container left". The engines spell the error "No such container" or "no such container".
  const bool is_gone = run.status == 0 || run.output.find("o such container") != std::string::npos;
  return is_gone ? "" : LastLines(run.output);
}

void Container::Explain(std::string_view said, jobs::ReplicaExit& exit) const {
  const int status = exit.exit_code.value_or(0);
  if (status == 0) return;
  if (steps_.inspect.empty()) {
    const bool failed = status == kApptainerFailed && said.find("FATAL:") != said.npos;
    if (steps_.within_client && failed) exit.error = LastLines(said);
    return;
  }
  const BoundedRun run = RunBounded(steps_.inspect, kInspectMs, ErrorOutput::kDropped);
  const bool is_known = run.end == BoundedRun::End::kExited && run.status == 0;
  // The format is kInspectFormat in src/launch/container/command_line.cc. A container that never started has the zero
  // time of Go, in the year 1.
  const bool began = is_known && run.output.find("|0001-") == std::string::npos;
  if (began) {
    exit.out_of_memory = run.output.starts_with("true|");
    if (IsInitsComplaint(said)) exit.error = LastLines(said);
    return;
  }
  if (status != kEngineFailed && status != kNotRunnable && status != kNoProgram) return;
  exit.error = LastLines(said);
  if (exit.error.empty()) exit.error = "the engine failed with status " + std::to_string(status);
  // A missing device is the host's fault even with status 126: CDI is how engines name devices (Container Device
  // Interface).
  exit.host_failed = status == kEngineFailed || said.find("CDI device") != said.npos;
}

}  // namespace vernier::launch
