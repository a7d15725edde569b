#include "src/launch/supervisor/task.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/launch/gang_tasks.h"
#include "src/launch/host_ports.h"
#include "src/launch/replica_files.h"
#include "src/launch/supervisor/supervise.h"
#include "src/launch/supervisor/system_time.h"

// A task runs on a node where nothing of the daemon does, and sees the attempt's folder through a network file system.
// NFS caches attributes, and that a file does not exist, for up to a minute (nfs(5): acregmax, acdirmax). Writing into a
// folder makes the writing host see it as it is, so whoever waits for addresses writes its own again.
namespace vernier::launch {
namespace {

constexpr int kFolderUnusable = 3;
// How long the others may take to come up. A choice: srun starts all tasks within seconds, but prologs of a node, and
// caches of its file system, may take a minute.
constexpr std::int64_t kPatienceMs = 300'000;
constexpr int kAddressPollMs = 50;
// How often a task that waits writes its address again.
constexpr std::int64_t kRewriteMs = 2'000;
constexpr char kDevices[] = "CUDA_VISIBLE_DEVICES";
constexpr std::size_t kMostHostName = 256;

// Keeps a port of this host until the program takes it.
class Port {
 public:
  Port() {
    const std::int32_t first = FirstReplicaPort();
    const std::int32_t offset = OffsetOfOwnPorts();
    for (std::int32_t i = 0; i < kReplicaPorts && fd_ < 0; ++i) {
      number_ = first + (offset + i) % kReplicaPorts;
      fd_ = BindPort(number_);
    }
  }
  ~Port() {
    if (fd_ >= 0) close(fd_);
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  bool found() const { return fd_ >= 0; }
  int number() const { return number_; }

 private:
  int fd_ = -1;
  std::int32_t number_ = 0;
};

// This host's address on the network that leads to the node where the job was launched, which all tasks of it reach. Not
// its name: compute nodes often resolve no names but their own.
std::optional<std::string> OwnAddress() {
  const char* const launcher = std::getenv("SLURM_LAUNCH_NODE_IPADDR");
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(9);  // Discard: nothing is sent, connecting only chooses a route.
  if (launcher == nullptr || inet_pton(AF_INET, launcher, &peer.sin_addr) != 1) return std::nullopt;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  sockaddr_in own{};
  socklen_t size = sizeof own;
  const bool routed = connect(fd, reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0 &&
                      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  close(fd);
  char text[INET_ADDRSTRLEN] = {};
  if (!routed || inet_ntop(AF_INET, &own.sin_addr, text, sizeof text) == nullptr) {
    return std::nullopt;
  }
  return std::string(text);
}

std::string HostName() {
  char name[kMostHostName] = {};
  return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string("localhost");
}

std::optional<std::size_t> Rank() {
  const char* const text = std::getenv("SLURM_PROCID");
  if (text == nullptr) return std::nullopt;
  std::size_t rank = 0;
  const char* const end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, rank);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(rank) : std::nullopt;
}

// The number of devices that the scheduler lets this task see.
std::int64_t CountDevices() {
  const char* const devices = std::getenv(kDevices);
  if (devices == nullptr || *devices == '\0') return 0;
  const std::string_view list = devices;
  return 1 + std::ranges::count(list, ',');
}

// The addresses of all tasks, by rank.  Empty: one did not come up in time, `missing`, or a stop came.
std::vector<TaskAddress> Agree(const std::string& attempt,
                               const std::vector<GangTask>& tasks,
                               std::size_t rank,
                               const TaskAddress& own,
                               std::string& missing) {
  std::vector<TaskAddress> addresses(tasks.size());
  const std::int64_t deadline = MonotonicMs() + kPatienceMs;
  std::int64_t rewrite = 0;
  while (!IsStopPending()) {
    if (MonotonicMs() >= rewrite) {
      ReplaceFile(AddressPath(attempt, rank), EncodeAddress(own), /*durable=*/false);
      rewrite = MonotonicMs() + kRewriteMs;
    }
    std::optional<std::size_t> waits_for;
    for (std::size_t i = 0; i < tasks.size() && !waits_for.has_value(); ++i) {
      if (!addresses[i].host.empty()) continue;
      const std::optional<TaskAddress> address =
          DecodeAddress(ReadWholeFile(AddressPath(attempt, i)).value_or(""));
      if (address.has_value()) {
        addresses[i] = *address;
      } else {
        waits_for = i;
      }
    }
    if (!waits_for.has_value()) return addresses;
    if (MonotonicMs() >= deadline) {
      missing = tasks[*waits_for].name;
      break;
    }
    poll(nullptr, 0, kAddressPollMs);
  }
  return {};
}

// Puts the addresses into the program, and takes away devices that it did not ask for.
std::string Prepare(const std::vector<GangTask>& tasks,
                    const std::vector<TaskAddress>& addresses,
                    const GangTask& own) {
  std::optional<SupervisedProgram> program =
      DecodeProgram(ReadWholeFile(kProgramFile).value_or(""));
  if (!program.has_value()) return "the file '" + std::string(kProgramFile) + "' cannot be read";
  for (std::string& argument : program->argv) argument = WithAddresses(argument, tasks, addresses);
  for (auto& [name, value] : program->env) value = WithAddresses(value, tasks, addresses);
  if (own.gpus == 0) program->env.emplace_back(kDevices, "");
  // Apptainer hands on what has its prefix, and nothing else of what Slurm says.
  if (program->container.within_client) {
    const char* const devices = own.gpus > 0 ? std::getenv(kDevices) : "";
    program->env.emplace_back(std::string("APPTAINERENV_") + kDevices,
                              devices == nullptr ? "" : devices);
  }
  if (ReplaceFile(kProgramFile, EncodeProgram(*program), /*durable=*/false)) return "";
  return std::string("its program cannot be written: ") + std::strerror(errno);
}

int ReportUnusable(const std::string& what) {
  std::fprintf(stderr, "vernier-supervisor: %s: %s\n", what.c_str(), std::strerror(errno));
  return kFolderUnusable;
}

}  // namespace

int RunTask(const char* attempt_folder) {
  const std::string attempt = attempt_folder;
  const std::optional<std::size_t> rank = Rank();
  const std::optional<std::vector<GangTask>> tasks =
      DecodeTasks(ReadWholeFile(attempt + "/" + kTasksFile).value_or(""));
  if (!rank.has_value() || !tasks.has_value() || *rank >= tasks->size()) {
    std::fprintf(stderr, "vernier-supervisor: no task of '%s' has this rank\n", attempt_folder);
    return kFolderUnusable;
  }
  const GangTask& own = (*tasks)[*rank];
  if (chdir(own.folder.c_str()) != 0) return ReportUnusable(own.folder);
  // A job that the controller runs twice, or a launcher that fenced the replica off, has made the marker.
  if (!CreateMarker(kStartedFile)) return errno == EEXIST ? 0 : ReportUnusable(kStartedFile);
  SyncFolder(".");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (own.gpus > 0 && CountDevices() != own.gpus) {
    RecordFailure("needs " + std::to_string(own.gpus) + " GPUs, and Slurm gave it " +
                      std::to_string(CountDevices()) + " (CUDA_VISIBLE_DEVICES)",
                  /*host_failed=*/true);
    return 0;
  }
  {
    const Port port;
    if (!port.found()) {
      RecordFailure("no port of its node is free", /*host_failed=*/true);
      return 0;
    }
    std::string missing;
    const TaskAddress address{.host = OwnAddress().value_or(HostName()),
                              .port = std::to_string(port.number())};
    const std::vector<TaskAddress> addresses =
        tasks->size() == 1 ? std::vector{address} : Agree(attempt, *tasks, *rank, address, missing);
    if (addresses.empty()) {
      if (missing.empty()) {
        RecordStopped();
      } else {
        RecordFailure(missing + " did not come up on its node", /*host_failed=*/true);
      }
      return 0;
    }
    if (const std::string problem = Prepare(*tasks, addresses, own); !problem.empty()) {
      RecordFailure(problem, /*host_failed=*/true);
      return 0;
    }
  }  // Lets the program have the port.
  Supervise();
  return 0;
}

}  // namespace vernier::launch
