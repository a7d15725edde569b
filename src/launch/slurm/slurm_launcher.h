#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/launch/container/engine.h"
#include "src/launch/environment.h"
#include "src/launch/slurm/slurm.h"
#include "vernier/core/clock.h"
#include "vernier/launcher.h"

namespace vernier::launch::slurm {

struct SlurmLauncherOptions {
  // Folder that every node sees under the same path. Attempts live in <shared>/<study>/trial-<n>/attempt-<k>.
  std::string shared;
  // The program that looks after one replica; copied to the shared folder. Empty: vernier-supervisor beside this program,
  // or on PATH.
  std::string supervisor;
  // What programs have besides what their job gives them.
  Environment environment = OwnEnvironment({"*"});
  // Runs container images on the nodes: its program is there under the same path, and its images are in the shared folder.
  // Null: images are refused.
  std::shared_ptr<ContainerHost> containers;
  // Where secrets are that a job names, on the nodes. Empty: it may name none.
  std::string secrets_directory;
  SiteOptions site;
  // What the cluster calls a type of GPU, by the name that jobs have for it. Others keep their name in small letters.
  std::map<std::string, std::string> gpu_types;
  // How long a record may take to be visible here after its job has ended. A choice: NFS caches for up to a minute that a
  // file does not exist (nfs(5), acdirmax).
  absl::Duration lag = absl::Seconds(60);
  // Least time between two looks at the controller. It becomes longer as a look costs more.
  absl::Duration poll_interval = absl::Seconds(1);
  // As ProcessLauncherOptions.
  absl::Duration failed_replica_patience = absl::Seconds(10);
  absl::Duration failed_primary_settling = absl::Seconds(1);
  absl::Duration failure_spread = absl::Seconds(60);
};

// Runs each gang as one Slurm job, a heterogeneous one if it has several roles; each replica is a task under the
// supervisor, which captures output and end as on this host. Slurm has the queue: Place always succeeds at once, without
// hosts and ports, and a gang that waits is STARTING.
//
// The attempt's folder is believed first, and Slurm's state explains what left no record there. A job is submitted once:
// its comment names the folder, by which it is found again after an answer was lost. A controller that does not answer
// means that nothing is known. A job that Slurm runs twice does nothing the second time.
//
// Has a thread of its own that talks to the controller. Thread-safe as Launcher says.
// InvalidArgument: an option.  NotFound: no supervisor program.  Unavailable: the shared folder cannot be written.
absl::StatusOr<std::unique_ptr<Launcher>> NewSlurmLauncher(SlurmLauncherOptions options,
                                                           std::unique_ptr<Slurm> slurm,
                                                           const Clock& clock);

}  // namespace vernier::launch::slurm
