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

// What a server is told by its configuration file, and by its flags, which say the same things and are put over it.
// docs/formats/server_configuration.md describes the file.
namespace vernier::app {

// The names of choices, in the file and in flags.
template <typename T>
using Names = std::vector<std::pair<std::string, T>>;
inline const Names<launch::Fitting> kFittings = {{"strict", launch::Fitting::kStrict},
                                                 {"scaled", launch::Fitting::kScaled}};
inline const Names<base::LogLevel> kLogLevels = {{"debug", base::LogLevel::kDebug},
                                                 {"info", base::LogLevel::kInfo},
                                                 {"warning", base::LogLevel::kWarning},
                                                 {"error", base::LogLevel::kError},
                                                 {"off", base::LogLevel::kOff}};

// What this host offers to training jobs. Unset: what it has.
struct HostConfiguration {
  std::optional<double> cpus;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::vector<std::string>> gpus;  // "T4:0:16GiB"; an empty list: no devices.
  std::optional<launch::Fitting> fitting;
  std::optional<std::int64_t> disk_reserve;  // Bytes; at least launch::kLeastReserve.
  std::string control_group;                 // Below which replicas get theirs; "none".
  friend bool operator==(const HostConfiguration&, const HostConfiguration&) = default;
};

// What runs container images.
struct ContainersConfiguration {
  std::string engine;  // "auto", "podman", "docker", "apptainer", "none".
  std::optional<std::vector<std::string>> arguments;
  friend bool operator==(const ContainersConfiguration&, const ContainersConfiguration&) = default;
};

// What is removed every hour, once nobody needs it. At least one of them is set.
struct CleanUpConfiguration {
  std::optional<absl::Duration> unused_for;  // At least service::kLeastUnused. Unset: however long.
  std::optional<std::int64_t> cache_bytes;   // Unset: however many.
  friend bool operator==(const CleanUpConfiguration&, const CleanUpConfiguration&) = default;
};

struct ZoneConfiguration {
  std::string backend = "local";
  friend bool operator==(const ZoneConfiguration&, const ZoneConfiguration&) = default;
};

// A group of hosts that jobs may name.
struct RegionConfiguration {
  std::map<std::string, ZoneConfiguration> zones;
  friend bool operator==(const RegionConfiguration&, const RegionConfiguration&) = default;
};

// Empty and unset is what nobody said.
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
  std::map<std::string, RegionConfiguration> regions;  // Empty: every region is this host.
  std::optional<jobs::MachineCatalogue> machines;      // The standard ones with those of the file.
  std::map<std::string, launch::PythonRuntime> runtimes;
  ContainersConfiguration containers;
  std::optional<CleanUpConfiguration> clean_up;  // Unset: nothing is removed.
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

// InvalidArgument: a FieldError; unknown keys are errors that name the nearest known key; syntax errors name the line.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text);

// The file at the path.  NotFound, Unavailable: it cannot be read.  InvalidArgument: as ParseConfiguration, after the path.
absl::StatusOr<Configuration> LoadConfiguration(const std::string& path);

// `above` where it says something, else `below`.
Configuration Overlay(const Configuration& above, const Configuration& below);

// Declares the options that say who may call a server at its addresses, and what programs inherit from it.
void DeclareAccess(Configuration& said, CLI::App& app);
// Puts what they, or the file, say into the options; what nobody said becomes the default.
// InvalidArgument: an address to listen on that needs allow_remote, or what is no name of a variable.
absl::Status ApplyAccess(const Configuration& configuration, ServerOptions& options);

// What nobody said becomes the default.  InvalidArgument: an address to listen on that needs allow_remote.
absl::StatusOr<ServerOptions> ServerOptionsOf(const Configuration& configuration);

// Whether the interpreters and folders of the runtimes are there.  InvalidArgument: a FieldError of the first that is not.
absl::Status CheckRuntimes(const std::map<std::string, launch::PythonRuntime>& runtimes);

}  // namespace vernier::app
