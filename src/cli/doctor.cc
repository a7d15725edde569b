#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "src/app/host_report.h"
#include "src/app/paths.h"
#include "src/app/server.h"
#include "src/cli/arguments.h"
#include "src/cli/commands.h"
#include "src/cli/terminal/figures.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;

struct Check {
  std::string name;
  bool is_ok = true;
  std::string found;
  std::string advice;  // What to do, if anything.
};

fs::path FolderOf(const std::string& store) {
  std::error_code error;
  const fs::path absolute = fs::absolute(store, error);
  return error ? fs::path(".") : absolute.parent_path();
}

Check CheckStore(const std::string& store) {
  Check check = {.name = "store", .found = store + ", writable"};
  const absl::Status made = app::CreateStoreFolder(store);
  const fs::path folder = FolderOf(store);
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

Check CheckOwner(const std::string& store) {
  const auto owner = app::FindStoreOwner(store);
  if (!owner) return {.name = "owner", .found = "nobody has the store open"};
  return {.name = "owner",
          .found = fmt::format("process {} at {}",
                               owner->process_id,
                               owner->address.empty() ? "no address" : owner->address),
          .advice = "commands go to that process"};
}

Check CheckDisk(const std::string& store) {
  constexpr std::int64_t kLittle = std::int64_t{1} << 30;
  struct statvfs disk = {};
  if (statvfs(FolderOf(store).c_str(), &disk) != 0) {
    return {
        .name = "disk", .is_ok = false, .found = "unknown", .advice = "check the store's folder"};
  }
  const auto free =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  return {.name = "disk",
          .is_ok = free >= kLittle,
          .found = FormatBytes(free) + " free",
          .advice = free >= kLittle ? "" : "logs and records of trials may fill it; make room"};
}

// Every acknowledged change waits for one of these.
Check CheckSync(Context& context, const std::string& store) {
  constexpr int kRounds = 11;
  Check check = {.name = "sync"};
  std::string path = (FolderOf(store) / ".vernier-doctor-XXXXXX").string();
  const int fd = mkstemp(path.data());
  if (fd < 0) return {.name = "sync", .is_ok = false, .found = "no file can be written there"};
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
  check.is_ok = median < 50;
  check.found = fmt::format("{:.2f} ms for a durable write", median);
  if (!check.is_ok) check.advice = "put the store on a faster disk with --store";
  return check;
}

Check CheckPort() {
  constexpr std::uint16_t kPort = 7117;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool is_free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return {.name = "port",
          .is_ok = is_free,
          .found = fmt::format("127.0.0.1:{} is {}", kPort, is_free ? "free" : "taken"),
          .advice = is_free ? "" : "that may be a server of yours; else use --listen"};
}

// The output of a shell command, its first line; empty if it fails.
std::string FirstLineOf(const char* command) {
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return "";
  std::array<char, 256> buffer = {};
  std::string line;
  if (fgets(buffer.data(), buffer.size(), pipe) != nullptr) line = buffer.data();
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
  }
  if (pclose(pipe) != 0) return "";
  line.erase(line.find_last_not_of("\r\n") + 1);
  return line;
}

Check CheckPython() {
  const std::string found = FirstLineOf(
      "/usr/bin/python3 -c 'import importlib.util as u, sys; "
      "print(sys.version.split()[0], \"with\" if u.find_spec(\"torch\") else \"without\", "
      "\"torch\")' "
      "2>/dev/null");
  const bool is_ok = !found.empty() && found.find("without") == std::string::npos;
  return {.name = "python",
          .is_ok = is_ok,
          .found = found.empty() ? "/usr/bin/python3 is missing" : "/usr/bin/python3 " + found,
          .advice = is_ok ? "" : "only the examples need it: apt-get install python3-torch"};
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

// What holds replicas to the CPUs and the memory that they asked for.
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

struct NoArgs {};

absl::StatusOr<ExitCode> Examine(Context& context, const NoArgs&) {
  const std::string store = context.Store();
  const app::HostReport host = app::ExamineHost();
  const std::vector<Check> checks = {CheckStore(store),
                                     CheckOwner(store),
                                     CheckDisk(store),
                                     CheckSync(context, store),
                                     CheckPort(),
                                     CheckPython(),
                                     CheckGpus(host),
                                     CheckLimits(host),
                                     CheckContainers(host)};
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
  AddCommand<NoArgs>(root, "doctor", "Check what Vernier needs of this machine", &Examine, chosen);
}

}  // namespace vernier::cli
