#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vernier/core/study.h"
#include "vernier/core/trial.h"
#include "vernier/launcher.h"

// From a training job and a point to programs ready to start. Pure: no files, no processes, no clock.
namespace vernier::jobs {

// The replicas of the study's job, primary first, then workers, parameter servers and evaluators, each by index. Since
// when the gang waits is left to the caller.
// REQUIRES: spec.job.
GangRequest MakeGangRequest(const AttemptId& id, const StudySpec& spec);

// What each replica of the attempt is given: command line, environment, files.
//
// Command line: the command (the role's own, or the job's), the job's arguments, the role's, `--job-dir DIR/TRIAL` if
// the job has a directory, then each active parameter that no placeholder of the replica names, as `arguments` of the job
// say; `--name=value` unless they do.
// Placeholders: `{name}` in command, arguments and environment is the parameter's value, or its flag; an argument that comes
// out empty or names an inactive parameter is left out, as is such a variable; `{parameters.json}` is the path of a file that
// holds the point, and its replica is given parameters in no other way unless `arguments` say so; `{trial}` is the trial's
// number; `{job_dir}` its directory, which is then not passed as --job-dir; `{{name}}` is the text {name}; every other name
// in braces, every other brace, and `${name}`, stands for itself. What came as a training input, and a study without
// parameters, has no placeholders. In an image a command takes the place of the entry point; without one, the entry point is given the rest.
// Environment: the job's, the role's over it, and over both what docs/guides/training_jobs.md lists (TF_CONFIG, RANK,
// CLOUD_ML_TRIAL_ID, …). Relative directories are those below `working_directory`.
//
// InvalidArgument: a FieldError for a job without a command.
// REQUIRES: spec.job; the placement is one of MakeGangRequest's, in its order.
absl::StatusOr<GangProgram> MakeGangProgram(const AttemptId& id,
                                            const StudySpec& spec,
                                            const Trial& trial,
                                            const PlacedGang& placed,
                                            std::string_view working_directory);

// What MakeGangProgram would refuse whatever the trial, before there is one. OK if the study has no job.
absl::Status ValidateJob(const StudySpec& spec);

// What is passed as --job-dir: a folder for each trial; what is not tuned has only one. Empty: the job has none.
// REQUIRES: spec.job.
std::string JobDirectory(const StudySpec& spec, TrialNumber trial);

// The folder of one replica below its attempt's: "DIRECTORY/worker-1".
std::string ReplicaDirectory(std::string_view attempt_directory,
                             std::string_view role,
                             std::int32_t index);

}  // namespace vernier::jobs
