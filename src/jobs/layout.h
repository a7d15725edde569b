#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// Turns a training job and a point into programs ready to start. Pure: no files, no processes, no clock.
namespace vernier::jobs {

// The replicas of the study's job: the primary first, then workers, parameter servers and evaluators, each by index.
// The caller sets since when the gang waits.
// REQUIRES: spec.job.
GangRequest MakeGangRequest(const AttemptId& id, const StudySpec& spec);

// Where the host of a replica is not known yet (an empty host), a name and a port that stand for it in the program: the
// `i`-th of its gang. They are replaced on the node (src/launch/gang_tasks.h). The name cannot exist (RFC 2606), and the
// port is above all real ones. A known placement is returned as it is.
ReplicaPlacement StandIn(ReplicaPlacement placement, std::size_t i);

// Builds command line, environment and files of each replica of the attempt.
//
// Command line: the command (the role's own, or the job's), the job's arguments, the role's, `--job-dir DIR/TRIAL` if
// the job has a directory, then each active parameter that no placeholder of the replica names, in the form that the
// job's `arguments` give, by default `--name=value`.
// Placeholders: `{name}` in command, arguments and environment is replaced by the parameter's value, or its flag. An
// argument that becomes empty or names an inactive parameter is left out, as is such a variable. `{parameters.json}` is
// the path of a file that holds the point; its replica gets parameters in no other way unless `arguments` say so.
// `{trial}` is the trial's number, `{job_dir}` its directory, which is then not passed as --job-dir. `{{name}}` is the
// text {name}. Every other name in braces, every other brace, and `${name}` are unchanged. A training input, and a
// study without parameters, have no placeholders. In an image, a command replaces the entry point; without a command,
// the entry point gets the arguments.
// Environment: the job's, overridden by the role's, overridden by what docs/guides/training_jobs.md lists (TF_CONFIG,
// RANK, CLOUD_ML_TRIAL_ID, …). Relative directories are below `working_directory`.
//
// InvalidArgument: a FieldError for a job without a command.
// REQUIRES: spec.job; the placement belongs to MakeGangRequest's result, in its order.
absl::StatusOr<GangProgram> MakeGangProgram(const AttemptId& id,
                                            const StudySpec& spec,
                                            const Trial& trial,
                                            const PlacedGang& placed,
                                            std::string_view working_directory);

// Checks what MakeGangProgram would refuse for every trial. OK if the study has no job.
absl::Status ValidateJob(const StudySpec& spec);

// The local path in a text, if there is one: file:///data has one, gs://bucket has none.
std::optional<std::string> LocalPath(std::string_view text);

// The value of --job-dir: a folder for each trial, or one folder if nothing is tuned. Empty: the job has none.
// REQUIRES: spec.job.
std::string JobDirectory(const StudySpec& spec, TrialNumber trial);

// The folder of a replica in its attempt's folder: "DIRECTORY/worker-1".
std::string ReplicaDirectory(std::string_view attempt_directory,
                             std::string_view role,
                             std::int32_t index);

}  // namespace vernier::jobs
