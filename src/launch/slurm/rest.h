#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "src/launch/slurm/slurm.h"

namespace vernier::launch::slurm {

// How slurmrestd is reached.
struct RestOptions {
  // "http://head:6820", "https://…" with a certificate that this host trusts, or "unix:/run/slurmrestd.sock".
  std::string url;
  // Of the API: "v0.0.38". Slurm drops old versions with its releases.
  std::string version = "v0.0.38";
  std::string user;  // Whose jobs they are. Empty: this process's user.
  // File with the user's JSON web token, read anew for each call, since tokens expire. Nobody else may read it. Empty: none
  // is shown, which a socket may allow; jobs are then of the user that runs slurmrestd.
  std::string token_file;
  absl::Duration patience = absl::Seconds(60);
  friend bool operator==(const RestOptions&, const RestOptions&) = default;
};

// The options can be used.  InvalidArgument: a FieldError below `path`.
absl::Status CheckRestOptions(const RestOptions& options, const std::string& path);

// Slurm by slurmrestd, for daemons outside of the cluster, whose nodes still share a folder with them. Redirects are not
// followed, and proxies not used, since the token is for that server alone. What differs from its commands:
// - Test answers OK: slurmrestd cannot try a job, so that one which never fits is refused when it is submitted.
// - A job with BatchJob::arguments is refused: InvalidArgument.
// - A token that is not valid looks like a controller that does not answer: Unavailable. So does a token file that is missing
//   or that others may read: trials wait until there is a good one.
std::unique_ptr<Slurm> NewSlurmRest(RestOptions options);

// The body of the request that submits the job; `script`: the content of its batch script. Versions up to v0.0.38 take
// sbatch's options; from v0.0.39 on the body is written as Slurm documents it, and was not run.
std::string SubmitBody(const BatchJob& job, const std::string& script, const std::string& version);

}  // namespace vernier::launch::slurm
