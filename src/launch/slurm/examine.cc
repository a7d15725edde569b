#include "src/launch/slurm/examine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "src/base/private_folder.h"
#include "src/launch/programs.h"
#include "src/launch/replica_files.h"
#include "src/launch/slurm/outcome.h"
#include "src/launch/slurm/slurm_launcher.h"

namespace vernier::launch::slurm {
namespace {

namespace fs = std::filesystem;

// Time between looks at the job that looks at the shared folder. A choice.
constexpr absl::Duration kLook = absl::Milliseconds(200);
// How long a file of a job that has ended may take to be seen here. A choice: NFS shows most files within three seconds
// (nfs(5), acregmin), and a person waits.
constexpr absl::Duration kLag = absl::Seconds(5);
constexpr absl::Duration kVersionPatience = absl::Seconds(10);

// The job runs a second file of the folder, its working directory: that shows that programs may be run there.
constexpr char kScript[] = "#!/bin/sh\nexec ./run\n";
// Complete once it is seen: it is renamed on the node.
constexpr char kRun[] =
    "#!/bin/sh\n"
    "{ echo \"${SLURMD_NODENAME:-$(hostname)}\"; command -v python3; command -v apptainer; } > "
    "new\n"
    "mv new seen\n";

Finding ExamineClients(const ClusterOptions& cluster) {
  Finding finding{.name = "clients"};
  std::vector<std::string> missing;
  for (const char* client : {"sbatch", "squeue", "scontrol", "scancel", "sinfo"}) {
    const bool is_there = cluster.commands.empty()
                              ? FindProgram(client).has_value()
                              : access((cluster.commands + "/" + client).c_str(), X_OK) == 0;
    if (!is_there) missing.emplace_back(client);
  }
  if (!missing.empty()) {
    finding.is_ok = false;
    finding.found = fmt::format("{} not found {}",
                                fmt::join(missing, ", "),
                                cluster.commands.empty() ? "on PATH" : "in " + cluster.commands);
    finding.advice = "run this on a login node, or name their folder: `commands`";
    return finding;
  }
  const std::string sbatch = cluster.commands.empty() ? "sbatch" : cluster.commands + "/sbatch";
  const absl::StatusOr<std::string> version = OutputOf({sbatch, "--version"}, kVersionPatience);
  finding.is_ok = version.ok();
  finding.found = version.ok() ? std::string(absl::StripAsciiWhitespace(*version))
                               : std::string(version.status().message());
  if (!version.ok()) finding.advice = "sbatch must find its configuration: see SLURM_CONF";
  return finding;
}

Finding ExamineController(Slurm& slurm, const Clock& clock) {
  const absl::Time begun = clock.Now();
  const auto jobs = slurm.Jobs();
  if (!jobs.ok()) {
    return {.name = "controller",
            .is_ok = false,
            .found = std::string(jobs.status().message()),
            .advice = "trials wait until it answers; see `scontrol ping`"};
  }
  return {.name = "controller",
          .found = fmt::format("answers within {:.0f} ms, remembers {} jobs",
                               absl::ToDoubleMilliseconds(clock.Now() - begun),
                               jobs->size())};
}

// Names of GPUs that jobs could not have: no node calls them so.
Finding ExamineNodes(const ClusterOptions& cluster, Slurm& slurm) {
  const auto nodes = slurm.Nodes();
  if (!nodes.ok()) {
    return {.name = "nodes", .is_ok = false, .found = std::string(nodes.status().message())};
  }
  std::int64_t usable = 0;
  std::int64_t cpus = 0;
  std::map<std::string, std::int64_t> gpus;
  for (const NodeRecord& node : *nodes) {
    if (!cluster.site.partition.empty() &&
        std::ranges::count(node.partitions, cluster.site.partition) == 0) {
      continue;
    }
    if (!node.is_usable) continue;
    ++usable;
    cpus += node.cpus;
    for (const auto& [type, count] : node.gpus) gpus[type] += count.count;
  }
  Finding finding{.name = "nodes", .is_ok = usable > 0};
  finding.found = fmt::format("{} of {} usable, with {} CPUs", usable, nodes->size(), cpus);
  std::set<std::string> types;
  for (const auto& [type, count] : gpus) {
    finding.found += fmt::format(", {} {}", count, type.empty() ? "GPUs" : type);
    types.insert(type);
  }
  if (usable == 0) finding.advice = "no node takes jobs; see `sinfo -R` and `partition`";
  for (const auto& [name, type] : cluster.gpu_types) {
    if (types.contains(type) || usable == 0) continue;
    finding.is_ok = false;
    finding.advice = fmt::format("gpus.{}: no node has GPUs called '{}'", name, type);
  }
  return finding;
}

BatchJob JobOf(const ClusterOptions& cluster, const std::string& folder) {
  return {.name = "vernier-doctor",
          .comment = "vernier-doctor " + folder,
          .script = folder + "/job.sh",
          .output = folder + "/said",
          .directory = folder,
          .components = {Component{}},
          .time_limit = absl::Minutes(1),
          .site = cluster.site};
}

Finding ExamineJobs(const BatchJob& job, Slurm& slurm) {
  const absl::Status accepted = slurm.Test(job);
  if (accepted.ok()) return {.name = "jobs", .found = "accepted"};
  return {.name = "jobs",
          .is_ok = false,
          .found = std::string(accepted.message()),
          .advice = "see partition, account, qos, constraint, reservation and arguments"};
}

// What the job wrote: the node's name, and then the programs that it has.
std::optional<Finding> ReadSeen(const std::string& folder) {
  const std::optional<std::string> seen = ReadWholeFile(folder + "/seen");
  if (!seen.has_value()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(*seen, '\n', absl::SkipEmpty());
  if (lines.empty()) return std::nullopt;
  Finding finding{.name = "shared", .found = fmt::format("node {} sees it", lines[0])};
  const auto has = [&](std::string_view program) {
    return std::ranges::any_of(lines,
                               [&](const std::string& line) { return line.ends_with(program); });
  };
  if (!has("/python3")) finding.advice = "there is no python3 on the node's PATH";
  if (has("/apptainer")) finding.found += "; it has apptainer";
  return finding;
}

Finding AwaitSeen(const std::string& folder,
                  std::int64_t id,
                  Slurm& slurm,
                  const Clock& clock,
                  absl::Duration patience) {
  const absl::Time deadline = clock.Now() + patience;
  std::optional<absl::Time> over;
  std::string state = "it is not known to the controller";
  while (true) {
    if (std::optional<Finding> seen = ReadSeen(folder)) return *std::move(seen);
    const absl::Time now = clock.Now();
    if (over.has_value() && now - *over > kLag) {
      return {.name = "shared",
              .is_ok = false,
              .found = fmt::format("a node does not write to it: {}", state),
              .advice =
                  "`shared` must be a folder of the same path on all nodes, where this user "
                  "may write and run programs"};
    }
    if (!over.has_value() && now > deadline) {
      return {.name = "shared",
              .found = fmt::format("not looked at from a node: {}", state),
              .advice = "no node had time for a job of one CPU; try again later"};
    }
    if (const auto jobs = slurm.Jobs(); jobs.ok()) {
      const auto job = std::ranges::find(*jobs, id, &JobRecord::id);
      if (job != jobs->end()) {
        const std::string why = job->state == JobState::kPending ? ExplainWait(job->reason) : "";
        state = fmt::format(
            "its job is {}{}{}", JobStateName(job->state), why.empty() ? "" : ", ", why);
      }
      const bool is_over = job == jobs->end() || IsOver(job->state);
      if (is_over && !over.has_value()) over = now;
    }
    usleep(static_cast<useconds_t>(absl::ToInt64Microseconds(kLook)));
  }
}

Finding ExamineShared(const BatchJob& job,
                      Slurm& slurm,
                      const Clock& clock,
                      absl::Duration patience) {
  const absl::StatusOr<std::int64_t> id = slurm.Submit(job);
  if (!id.ok()) {
    return {
        .name = "shared",
        .is_ok = false,
        .found = fmt::format("not looked at from a node: {}", std::string(id.status().message()))};
  }
  Finding finding = AwaitSeen(job.directory, *id, slurm, clock, patience);
  slurm.Cancel(*id).IgnoreError();  // It has ended, or nobody waits for it any more.
  return finding;
}

// A folder for the job in the shared one.  Why not, if it cannot be made.
std::string WriteJob(const std::string& folder) {
  if (const std::error_code error = base::MakePrivateFolders(folder)) {
    return fmt::format("'{}' cannot be made: {}", folder, error.message());
  }
  for (const auto& [name, text] :
       std::map<std::string, std::string>{{"job.sh", kScript}, {"run", kRun}}) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (!ReplaceFile(path, text, /*durable=*/false) || chmod(path.c_str(), 0700) != 0) {
      return fmt::format("'{}' cannot be written: {}", path, std::strerror(errno));
    }
  }
  return "";
}

}  // namespace

std::vector<Finding> ExamineCluster(const ClusterOptions& cluster,
                                    const Clock& clock,
                                    absl::Duration patience) {
  std::vector<Finding> findings;
  if (!cluster.rest.has_value()) {
    findings.push_back(ExamineClients(cluster));
    if (!findings.back().is_ok) return findings;
  }
  const std::unique_ptr<Slurm> slurm = NewSlurmOf(cluster);
  findings.push_back(ExamineController(*slurm, clock));
  if (!findings.back().is_ok) return findings;
  findings.push_back(ExamineNodes(cluster, *slurm));
  const std::string folder = fmt::format("{}/.vernier/doctor-{}", cluster.shared, getpid());
  if (const std::string problem = WriteJob(folder); !problem.empty()) {
    findings.push_back({.name = "shared",
                        .is_ok = false,
                        .found = problem,
                        .advice = "`shared` must be a folder where this user may write"});
  } else {
    const BatchJob job = JobOf(cluster, folder);
    findings.push_back(ExamineJobs(job, *slurm));
    if (findings.back().is_ok) {
      findings.push_back(ExamineShared(job, *slurm, clock, patience));
    }
  }
  std::error_code error;
  fs::remove_all(folder, error);
  return findings;
}

}  // namespace vernier::launch::slurm
