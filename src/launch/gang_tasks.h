#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Gangs whose replicas are started by a cluster's scheduler, as the tasks of one job: how a launcher and the supervisor of
// each task understand each other, in the attempt's folder. Nothing but std and POSIX, as in replica_files.h.
//
//   tasks        the replicas in the order of the tasks' ranks; written by the launcher before the job is submitted
//   addresses/N  where task N's replica is reached: "HOST PORT"; written by its supervisor
//
// Hosts and ports are known on the nodes only. Until then the programs of replicas hold stand-ins, which each supervisor
// replaces once it knows all addresses: in arguments and variables, so in TF_CONFIG and MASTER_ADDR too.
namespace vernier::launch {

inline constexpr char kTasksFile[] = "tasks";
inline constexpr char kAddressesFolder[] = "addresses";

struct GangTask {
  std::string folder;     // The replica's; absolute.
  std::string name;       // "worker 1", for people.
  std::string host;       // Stand-in for its host.
  std::string port;       // Stand-in for its port.
  std::int64_t gpus = 0;  // Number of devices that the scheduler is to give it.
  friend bool operator==(const GangTask&, const GangTask&) = default;
};

std::string EncodeTasks(const std::vector<GangTask>& tasks);
// Nothing: the bytes are damaged.
std::optional<std::vector<GangTask>> DecodeTasks(std::string_view bytes);

struct TaskAddress {
  std::string host;
  std::string port;
  friend bool operator==(const TaskAddress&, const TaskAddress&) = default;
};

// The text with the stand-ins of all tasks replaced.  REQUIRES: as many addresses as tasks.
std::string WithAddresses(std::string text,
                          const std::vector<GangTask>& tasks,
                          const std::vector<TaskAddress>& addresses);

// The path of a task's address, and what stands there.
std::string AddressPath(std::string_view attempt_folder, std::size_t rank);
std::string EncodeAddress(const TaskAddress& address);
std::optional<TaskAddress> DecodeAddress(std::string_view text);

}  // namespace vernier::launch
