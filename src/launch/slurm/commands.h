#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "src/launch/slurm/slurm.h"

namespace vernier::launch::slurm {

struct CommandOptions {
  // Folder of sbatch, squeue, scontrol, scancel and sinfo; empty: they are looked up on PATH.
  std::string folder;
  // How long a command may take. A busy controller answers late; one that is down refuses at once.
  absl::Duration patience = absl::Seconds(60);
  friend bool operator==(const CommandOptions&, const CommandOptions&) = default;
};

// Slurm by its commands, which every cluster has. Each is run with an argument vector, never through a shell.
std::unique_ptr<Slurm> NewSlurmCommands(CommandOptions options);

// The arguments with which sbatch is given the job, its name first. Components are separated by ":".
std::vector<std::string> SubmitArguments(const BatchJob& job);

}  // namespace vernier::launch::slurm
