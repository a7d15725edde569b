// `vernier doctor`: each check returns a finding and, if something is wrong, advice. It always exits with 0: findings
// are advice. All checks together take a few seconds at most, so large stores are not read to the end, and a hanging
// GPU driver is reported rather than waited for.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "fmt/format.h"
#include "src/app/host_report.h"
#include "src/app/job_directory.h"
#include "src/app/paths.h"
#include "src/app/server.h"
#include "src/app/store_report.h"
#include "src/base/access_token.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/terminal/figures.h"
#include "src/core/damage.h"
#include "src/core/status.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

struct Check {
  std::string name;
  bool is_ok = true;
  std::string found;
  std::string advice;  // What to do, if anything.
};

fs::path FolderOfStore(const std::string& store) {
  std::error_code error;
  const fs::path absolute = fs::absolute(store, error);
  // It fails for a relative path in a working directory that is gone.
  return error ? fs::path(".") : absolute.parent_path();
}

Check CheckStoreFolder(const std::string& store) {
  Check check = {.name = "store", .found = store + ", writable"};
  // Made if it is missing, as any command that opens the store would make it.
  const absl::Status made = app::CreateStoreFolder(store);
  const fs::path folder = FolderOfStore(store);
  if (!made.ok()) {
    check.found = std::string(made.message());
  } else if (access(folder.c_str(), W_OK) != 0 ||
             (fs::exists(store) && access(store.c_str(), W_OK) != 0)) {
    check.found = store + " is not writable";
  } else {
    return check;
  }
  check.is_ok = false;
  check.advice = "choose another place with --store or $VERNIER_STORE";
  return check;
}

// Looks at the store's pages for two seconds at most.
Check CheckPages(Context& context, const std::string& store) {
  Check check = {.name = "pages"};
  std::error_code error;
  if (store == ":memory:" || !fs::exists(store, error)) {
    check.found = "there is no store yet";
    if (const auto owner = app::FindStoreOwner(store)) {
      check.is_ok = false;
      check.found = fmt::format(
          "the store was moved or removed under process {}, which stores nothing any more",
          owner->process_id);
      check.advice = "put it back, or stop that process and restore a backup";
    }
    return check;
  }
  // A choice: slow disks read most of it in 2 s.
  constexpr std::uintmax_t kMost = std::uintmax_t{512} << 20;
  if (const auto size = fs::file_size(store, error); !error && size > kMost) {
    check.found = fmt::format("not looked at: {}", FormatBytes(static_cast<std::int64_t>(size)));
    check.advice = "`vernier server check` looks at all of them";
    return check;
  }
  const absl::Time end = context.Now() + absl::Seconds(2);
  const absl::StatusOr<app::StoreReport> report =
      app::LookIntoStore(store, [&] { return context.Now() < end; });
  if (absl::IsCancelled(report.status())) {
    check.found = "not all looked at within 2 s";
    check.advice = "`vernier server check` looks at all of them";
  } else if (!report.ok() || !report->problems.empty()) {
    check.is_ok = false;
    const std::string message(report.status().message());
    check.found = report.ok() ? report->problems.front() : std::string(WithoutAdvice(message));
    check.advice =
        "`vernier server check` tells which studies are damaged; see "
        "docs/guides/operating.md";
  } else {
    check.found = fmt::format("sound, {}", FormatBytes(report->bytes));
  }
  return check;
}

Check CheckOwner(const std::string& store) {
  const auto owner = app::FindStoreOwner(store);
  if (!owner) return {.name = "owner", .found = "nobody has the store open"};
  return {.name = "owner",
          .found = fmt::format("process {} at {}",
                               owner->process_id,
                               owner->address.empty() ? "no address" : owner->address),
          .advice = "commands go to that process"};
}

Check CheckDisk(const char* name, const fs::path& folder, const char* advice) {
  // A choice: above what the server keeps in reserve (256 MiB), so that the warning comes before trials are held back.
  constexpr std::int64_t kLittle = std::int64_t{1} << 30;
  struct statvfs disk = {};
  if (statvfs(app::NearestExisting(folder).c_str(), &disk) != 0) {
    return {.name = name,
            .is_ok = false,
            .found = fmt::format("{} cannot be looked at", folder.string()),
            .advice = "check that folder"};
  }
  const auto free =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  return {.name = name,
          .is_ok = free >= kLittle,
          .found = fmt::format("{} free in {}", FormatBytes(free), folder.string()),
          .advice = free >= kLittle ? "" : advice};
}

// PyTorch's data loaders, NCCL and multiprocessing pass data through /dev/shm, which containers often limit to 64 MiB
// (docker's default).
Check CheckSharedMemory() {
  constexpr std::int64_t kLittle = std::int64_t{512} << 20;
  struct statvfs memory = {};
  if (statvfs("/dev/shm", &memory) != 0) {
    return {.name = "shared memory",
            .is_ok = false,
            .found = "there is no /dev/shm",
            .advice = "data loaders with several workers need it"};
  }
  const auto block = static_cast<std::int64_t>(memory.f_frsize);
  const auto size = static_cast<std::int64_t>(memory.f_blocks) * block;
  const auto free = static_cast<std::int64_t>(memory.f_bavail) * block;
  const bool is_ok = free >= kLittle;
  return {.name = "shared memory",
          .is_ok = is_ok,
          .found = fmt::format("{} free of {}", FormatBytes(free), FormatBytes(size)),
          .advice =
              is_ok ? "" : "data loaders with several workers and NCCL may fail; enlarge /dev/shm"};
}

// Jobs inherit this limit. 1024 is the usual soft limit on Linux; less is unusual.
Check CheckOpenFiles() {
  constexpr rlim_t kFew = 1024;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {.name = "open files", .found = "unknown"};
  const auto text = [](rlim_t count) {
    return count == RLIM_INFINITY ? std::string("any number") : std::to_string(count);
  };
  const bool is_ok = limit.rlim_cur >= kFew;
  return {
      .name = "open files",
      .is_ok = is_ok,
      .found = fmt::format("{} a process, at most {}", text(limit.rlim_cur), text(limit.rlim_max)),
      .advice = is_ok ? "" : "raise it with ulimit -n 4096 before vernier or vernierd is started"};
}

Check CheckClock(Context& context) {
  const absl::Time now = context.Now();
  timex state = {};
  const int answer = adjtimex(&state);
  const bool is_known = answer >= 0 && answer != TIME_ERROR;
  // The program is younger than 2025: an earlier time is wrong.
  Check check = {.name = "clock",
                 .is_ok = now > absl::FromUnixSeconds(1'735'689'600),
                 .found = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now, absl::UTCTimeZone())};
  check.found += is_known ? ", synchronised" : ", not known to be synchronised";
  if (!check.is_ok) check.advice = "set it: times of trials, and their limits, go by it";
  return check;
}

// Every acknowledged change waits for a durable write. A few writes of a page are timed; the median ignores a single
// slow one.
Check CheckSync(Context& context, const std::string& store) {
  constexpr int kRounds = 11;
  Check check = {.name = "sync"};
  std::string path = (FolderOfStore(store) / ".vernier-doctor-XXXXXX").string();
  const int fd = mkstemp(path.data());
  if (fd < 0) return {.name = "sync", .is_ok = false, .found = "no file can be written there"};
  // Without a name, the file is gone whatever happens to this process.
  unlink(path.c_str());
  std::vector<absl::Duration> times;
  for (int i = 0; i < kRounds; ++i) {
    const absl::Time start = context.Now();
    const std::array<char, 4096> block = {};
    if (write(fd, block.data(), block.size()) < 0 || fdatasync(fd) != 0) break;
    times.push_back(context.Now() - start);
  }
  close(fd);
  if (times.empty()) return {.name = "sync", .is_ok = false, .found = "writing fails"};
  std::sort(times.begin(), times.end());
  const double median = absl::ToDoubleMilliseconds(times[times.size() / 2]);
  // A choice: a rotating disk syncs in 10 to 20 ms.
  check.is_ok = median < 50;
  check.found = fmt::format("{:.2f} ms for a durable write", median);
  if (!check.is_ok) check.advice = "put the store on a faster disk with --store";
  return check;
}

// Servers that listen on TCP require the token.
Check CheckToken() {
  const std::string path = base::TokenPath();
  const absl::StatusOr<std::string> token = base::ReadToken(path);
  if (token.ok()) return {.name = "token", .is_ok = true, .found = path};
  if (absl::IsNotFound(token.status())) {
    return {.name = "token", .is_ok = true, .found = "none, a server on TCP makes one"};
  }
  return {.name = "token",
          .is_ok = false,
          .found = std::string(token.status().message()),
          .advice = "calls to a server on TCP are refused without it"};
}

// A job whose command is python3 gets the one on the PATH of the process that starts it.
Check CheckPython() {
  const app::PythonReport python = app::ExaminePython();
  Check check = {.name = "python", .is_ok = !python.path.empty() && !python.is_broken};
  check.found = python.path.empty() ? "python3 is not on PATH" : python.path + ": " + python.found;
  if (python.path.empty()) {
    check.advice = "jobs whose command is python3 cannot start; install it or correct PATH";
  } else if (!check.is_ok) {
    check.advice = "jobs that need it will fail; fix it or put another python3 first on PATH";
  }
  return check;
}

Check CheckSupervisor(const app::HostReport& host) {
  return {.name = "supervisor",
          .is_ok = host.has_supervisor,
          .found = host.supervisor,
          .advice = host.has_supervisor ? "" : "no training job can run without it"};
}

Check CheckGpus(const app::HostReport& host) {
  Check check = {.name = "gpus", .is_ok = !host.driver_hangs, .found = host.gpus};
  if (host.driver_hangs) {
    check.advice = "the driver is in trouble; jobs that need no GPU run all the same";
  } else if (!host.has_gpus) {
    check.advice = "declare devices with --gpu TYPE:ID";
  }
  return check;
}

// Control groups hold replicas to the CPUs and memory that they asked for.
Check CheckLimits(const app::HostReport& host) {
  return {.name = "limits",
          .found = host.limits,
          .advice = host.is_limited
                        ? ""
                        : "a replica may take more than it asked for; see Shares of the host in "
                          "docs/guides/training_jobs.md"};
}

Check CheckContainers(const app::HostReport& host) {
  return {.name = "containers",
          .found = host.containers,
          .advice = host.runs_containers ? "" : "only jobs that name an image need an engine"};
}

struct DoctorArgs {
  std::string config;
};

// The clusters of a configuration: a job of one CPU is submitted to each.
absl::Status AddClusters(const std::string& config, std::vector<Check>& checks) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<app::ClusterReport> clusters,
                           app::ExamineClusters(config));
  for (const app::ClusterReport& cluster : clusters) {
    checks.push_back({.name = fmt::format("{} {}", cluster.name, cluster.check),
                      .is_ok = cluster.is_ok,
                      .found = cluster.found,
                      .advice = cluster.advice});
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Examine(Context& context, const DoctorArgs& args) {
  const std::string store = context.Store();
  const app::HostReport host = app::ExamineHost();
  std::vector<Check> checks = {
      CheckStoreFolder(store),
      CheckPages(context, store),
      CheckOwner(store),
      CheckDisk("disk", FolderOfStore(store), "the store may fill it; make room"),
      CheckDisk("runs",
                app::RunsDirectory(store, ""),
                "logs and records of trials may fill it; make room, "
                "or choose another folder with --runs"),
      CheckSync(context, store),
      CheckToken(),
      CheckClock(context),
      CheckSupervisor(host),
      CheckPython(),
      {.name = "capacity", .found = host.capacity},
      CheckGpus(host),
      CheckLimits(host),
      CheckSharedMemory(),
      CheckOpenFiles(),
      CheckContainers(host)};
  if (!args.config.empty()) VERNIER_RETURN_IF_ERROR(AddClusters(args.config, checks));
  Table table({{.name = "RESULT"},
               {.name = "CHECK"},
               {.name = "FOUND", .flexible = true, .wraps = true},
               {.name = "ADVICE", .flexible = true, .wraps = true}});
  auto items = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    const char* result = check.is_ok ? "OK" : "WARN";
    table.AddRow({{result, check.is_ok ? Style::kGreen : Style::kYellow},
                  {check.name},
                  {check.found},
                  {check.advice}});
    items.push_back({{"check", check.name},
                     {"result", result},
                     {"found", check.found},
                     {"advice", check.advice}});
  }
  context.output().List(table, items);
  return ExitCode::kOk;
}

}  // namespace

void AddDoctor(CLI::App& root, Action& chosen) {
  auto [command, args] = AddCommand<DoctorArgs>(
      root, "doctor", "Check that this machine has what Vernier needs", &Examine, chosen);
  command
      ->add_option("--config",
                   args->config,
                   "Server configuration; its clusters are checked too, each with a job of one CPU")
      ->option_text("FILE")
      ->envname("VERNIER_CONFIG");
}

}  // namespace vernier::cli
