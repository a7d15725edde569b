#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"

// What a replica's program is started with, as far as the study and the point say: docs in layout.h.
namespace vernier::jobs {

struct ReplicaCommand {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;       // The job's, the role's and the parameters'.
  std::map<std::string, SecretSource> secrets;  // The job's and the role's.
  std::string directory;
  bool reads_parameters_file = false;  // Whether `parameters_file` is to be there.
};

// The command of a replica of the role. `parameters_file` is what {parameters.json} stands for; relative directories are
// below `working_directory`.
// InvalidArgument: as CheckCommands.
// REQUIRES: spec.job has the role.
absl::StatusOr<ReplicaCommand> CommandOf(const StudySpec& spec,
                                         const Trial& trial,
                                         Role role,
                                         std::string_view working_directory,
                                         std::string_view parameters_file);

// What CommandOf would refuse whatever the trial, and what it would do without effect.
// InvalidArgument: a FieldError for a role without a command, a parameter that no replica would be given as its `arg` says,
// or a variable that is set twice.
// REQUIRES: spec.job.
absl::Status CheckCommands(const StudySpec& spec);

// Whether the replica runs a command of the user's: neither a Python module nor the image's own entry point.
bool HasOwnCommand(const TrainingJob& job, const ReplicaSpec& replica);

// `path` below `base`, unless it is absolute; `base` itself if it is empty.
std::string Below(std::string_view base, std::string_view path);

// The point of that space as JSON: {"batch":32,"lr":0.1,"nesterov":true}.
std::string ParametersJson(const Point& point, const Space& space);

}  // namespace vernier::jobs
