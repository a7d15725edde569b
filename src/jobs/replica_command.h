#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// The command of a replica's program, as far as the study and the point determine it. The rules are in layout.h.
namespace vernier::jobs {

struct ReplicaCommand {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;       // From the job, the role and the parameters.
  std::map<std::string, SecretSource> secrets;  // From the job and the role.
  std::string directory;
  bool reads_parameters_file = false;  // `parameters_file` must be written.
};

// Builds the command of a replica of the role. `parameters_file` replaces {parameters.json}; relative directories are
// below `working_directory`.
// InvalidArgument: as CheckCommands.
// REQUIRES: spec.job has the role.
absl::StatusOr<ReplicaCommand> CommandOf(const StudySpec& spec,
                                         const Trial& trial,
                                         Role role,
                                         std::string_view working_directory,
                                         std::string_view parameters_file);

// Checks what CommandOf would refuse for every trial, and settings that would have no effect.
// InvalidArgument: a FieldError for a role without a command, a parameter that no replica would get as its `arg` says,
// or a variable that is set twice.
// REQUIRES: spec.job.
absl::Status CheckCommands(const StudySpec& spec);

// Whether the replica runs a command of the user's, and not a Python module or the image's entry point.
bool HasOwnCommand(const TrainingJob& job, const ReplicaSpec& replica);

// Joins the paths, unless `path` is absolute; `base` itself if `path` is empty.
std::string Below(std::string_view base, std::string_view path);

// The point as JSON, with types by its space: {"batch":32,"lr":0.1,"nesterov":true}.
std::string ParametersJson(const Point& point, const Space& space);

}  // namespace vernier::jobs
