#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/app/server.h"
#include "src/base/log.h"
#include "src/jobs/machine_catalogue.h"
#include "src/launch/local/host_capacity.h"
#include "src/launch/python/environments.h"
#include "src/launch/slurm/cluster.h"

// The configuration of a server, from its file and its flags, which set the same fields and override the file.
// docs/formats/server_configuration.md describes the file.
namespace vernier::app {

// Names of choices, in the file and in flags.
template <typename T>
using Names = std::vector<std::pair<std::string, T>>;
inline const Names<launch::Fitting> kFittings = {{"strict", launch::Fitting::kStrict},
                                                 {"scaled", launch::Fitting::kScaled}};
inline const Names<base::LogLevel> kLogLevels = {{"debug", base::LogLevel::kDebug},
                                                 {"info", base::LogLevel::kInfo},
                                                 {"warning", base::LogLevel::kWarning},
                                                 {"error", base::LogLevel::kError},
                                                 {"off", base::LogLevel::kOff}};

// The resources of this host for training jobs. Unset: all of it.
struct HostConfiguration {
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::vector<std::string>> gpus;  // "T4:0:16GiB"; an empty list: no devices.
  std::optional<launch::Fitting> fitting;
  std::optional<std::int64_t> disk_reserve;  // Bytes; at least launch::kLeastReserve.
  std::string control_group;                 // Parent of the replicas' groups, or "none".
  friend bool operator==(const HostConfiguration&, const HostConfiguration&) = default;
};

// The engine of container images.
struct ContainersConfiguration {
  std::string engine;  // "auto", "podman", "docker", "apptainer", "none".
  std::optional<std::vector<std::string>> arguments;
  friend bool operator==(const ContainersConfiguration&, const ContainersConfiguration&) = default;
};

// The rule of hourly clean-ups. At least one field is set.
struct CleanUpConfiguration {
  std::optional<absl::Duration> unused_for;  // At least service::kLeastUnused. Unset: no limit.
  std::optional<std::int64_t> cache_bytes;   // Unset: no limit.
  friend bool operator==(const CleanUpConfiguration&, const CleanUpConfiguration&) = default;
};

struct ZoneConfiguration {
  std::string backend = "local";  // Name of a cluster.
  friend bool operator==(const ZoneConfiguration&, const ZoneConfiguration&) = default;
};

// A place that jobs may name. All of its zones have one backend.
struct RegionConfiguration {
  std::map<std::string, ZoneConfiguration> zones;
  friend bool operator==(const RegionConfiguration&, const RegionConfiguration&) = default;
};

// A cluster beside this host. Exactly one kind is set.
struct ClusterConfiguration {
  std::optional<launch::slurm::ClusterOptions> slurm;
  friend bool operator==(const ClusterConfiguration&, const ClusterConfiguration&) = default;
};

// Empty and unset fields were not given.
struct Configuration {
  std::string store;
  std::vector<std::string> listen;
  std::optional<bool> allow_remote;
  std::optional<bool> open;
  std::string token_file;
  std::string runs;
  std::optional<std::vector<std::string>> inherit_env;  // Besides launch::UsualVariables().
  std::string supervisor;
  std::optional<base::LogLevel> log_level;
  HostConfiguration host;
  std::map<std::string, ClusterConfiguration> clusters;  // By name; none is called "local".
  std::string cluster;  // Default of jobs; empty: "local", this host.
  std::map<std::string, RegionConfiguration> regions;  // Empty: every region is this host.
  // The standard catalogue with the file's entries.
  std::optional<jobs::MachineCatalogue> machines;
  std::map<std::string, launch::PythonRuntime> runtimes;
  ContainersConfiguration containers;
  std::optional<CleanUpConfiguration> clean_up;  // Unset: nothing is removed.
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// Parses a configuration.  InvalidArgument: a FieldError; for an unknown key with the nearest known one; for a syntax
// error with the line.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text);

// Reads the file.  NotFound, Unavailable: it cannot be read.  InvalidArgument: as ParseConfiguration, after the path.
absl::StatusOr<Configuration> LoadConfiguration(const std::string& path);

// The fields of `above`, and those of `below` where `above` has none.
Configuration Overlay(const Configuration& above, const Configuration& below);

// Declares the options for access to a server and for the variables that programs inherit from it.
void DeclareAccess(Configuration& said, CLI::App& app);
// Copies these settings into the options; missing ones get their defaults.
// InvalidArgument: an address that needs allow_remote, or an invalid name of a variable.
absl::Status ApplyAccess(const Configuration& configuration, ServerOptions& options);

// Converts the configuration; missing fields get their defaults.  InvalidArgument: an address that needs allow_remote;
// other errors as ApplyHost.
absl::StatusOr<ServerOptions> ServerOptionsOf(const Configuration& configuration);

// Takes over what a configuration says of where and how jobs run: host, clusters, regions, machines, runtimes, containers.
// InvalidArgument: a cluster that it does not have.
absl::Status ApplyHost(const Configuration& configuration, ServerOptions& options);

// Checks that the interpreters and folders of the runtimes exist.  InvalidArgument: a FieldError of the first missing
// one.
absl::Status CheckRuntimes(const std::map<std::string, launch::PythonRuntime>& runtimes);

}  // namespace vernier::app
