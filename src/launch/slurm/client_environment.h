#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::launch::slurm {

// The variables of this process that jobs get, and Slurm's clients, NAME=VALUE each. The controller keeps a job's, so nothing
// of the daemon's that may be secret is among them. SLURM_JOB_ID and the like, of a daemon that is itself a job, would tell
// of another job.
std::vector<std::string> ClientEnvironment();

// Whether the text has one of the phrases.
bool SaysAny(std::string_view text, std::span<const std::string_view> phrases);

// Whether Slurm's words mean that the controller was not reached, or did not answer, so that nothing is known of what it did.
bool SaysNoAnswer(std::string_view words);

// Whether they mean that a job is not there any more.
bool SaysNoJob(std::string_view words);

// Whether they refuse a job for what the configuration asks of every job, so that no job of the cluster would be accepted.
bool SaysSiteRefused(std::string_view words);

}  // namespace vernier::launch::slurm
