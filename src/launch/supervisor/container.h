#pragma once

#include <string>
#include <string_view>

#include "src/jobs/replica_exit.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {

// The container of a replica whose program is an engine's client. The engine keeps the container apart from the client: it
// outlives one that is killed, and only the engine knows whether anything ran in it.
class Container {
 public:
  // Without steps, for replicas that have no container, every call does nothing.
  explicit Container(ContainerSteps steps) : steps_(std::move(steps)) {}

  // Kills what runs in it, and removes it. Returns what went wrong; empty: it is gone, or never was.
  std::string Remove() const;

  // Completes how the client ended, from its status and from what the engine tells: the end of what ran in the container,
  // an image or a program that could not be run, or a failure of the engine, in its own words, `said`.
  void Explain(std::string_view said, jobs::ReplicaExit& exit) const;

 private:
  const ContainerSteps steps_;
};

}  // namespace vernier::launch
