#pragma once

#include <string>
#include <string_view>

#include "src/jobs/replica_exit.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {

// The container of a replica whose program is an engine's client. The engine runs the container apart from the client,
// so that it outlives a client that is killed, and only the engine knows whether its program ever ran
// (docs/adr/0025-containers-as-clients-under-a-supervisor.md).
class Container {
 public:
  // With empty steps, for replicas without a container, every call does nothing.
  explicit Container(ContainerSteps steps) : steps_(std::move(steps)) {}

  // Kills the container's processes and removes it. Returns the error; empty if it is removed or never existed.
  std::string Remove() const;

  // Corrects the record of the client's end by its status and by the engine's answer: the end of the container's
  // program, an image or program that could not be run, or a failure of the engine, quoted from `said`, the end of the
  // client's stderr.
  void Explain(std::string_view said, jobs::ReplicaExit& exit) const;

 private:
  const ContainerSteps steps_;
};

}  // namespace vernier::launch
