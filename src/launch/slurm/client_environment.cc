#include "src/launch/slurm/client_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace vernier::launch::slurm {
namespace {

// What Slurm's programs print when the controller was not reached, or did not answer, so that nothing is known of what it
// did (src/common/slurm_errno.c of Slurm: errors of the communication layer, and EAGAIN of a controller that is busy).
constexpr std::array<std::string_view, 12> kNoAnswer = {"Unable to contact slurm controller",
                                                        "connect failure",
                                                        "Connection refused",
                                                        "Socket timed out",
                                                        "Zero Bytes were transmitted or received",
                                                        "Message receive failure",
                                                        "Message send failure",
                                                        "Communication connection failure",
                                                        "Transport endpoint is not connected",
                                                        "Slurm backup controller in standby mode",
                                                        "temporarily unable to accept job",
                                                        "Protocol authentication error"};

// What they print of a job that is not there any more.
constexpr std::array<std::string_view, 3> kNoJob = {
    "Invalid job id specified", "Job/step already completing or completed", "already finished"};

// What they print of a partition, account, QOS or reservation that the configuration names wrongly.
constexpr std::array<std::string_view, 5> kSiteRefused = {"nvalid partition",
                                                          "nvalid account",
                                                          "nvalid qos",
                                                          "nvalid reservation",
                                                          "eservation is invalid"};

}  // namespace

std::vector<std::string> ClientEnvironment() {
  constexpr std::array<std::string_view, 11> kNames = {"HOME",
                                                       "LANG",
                                                       "LC_ALL",
                                                       "LD_LIBRARY_PATH",
                                                       "LOGNAME",
                                                       "PATH",
                                                       "SHELL",
                                                       "SLURM_CLUSTERS",
                                                       "SLURM_CONF",
                                                       "TZ",
                                                       "USER"};
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    // SBATCH_ACCOUNT and the like are a user's defaults.
    if (name.starts_with("SBATCH_") || std::ranges::count(kNames, name) > 0) {
      variables.emplace_back(text);
    }
  }
  return variables;
}

bool SaysAny(std::string_view text, std::span<const std::string_view> phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

bool SaysNoAnswer(std::string_view words) { return SaysAny(words, kNoAnswer); }

bool SaysNoJob(std::string_view words) { return SaysAny(words, kNoJob); }

bool SaysSiteRefused(std::string_view words) { return SaysAny(words, kSiteRefused); }

}  // namespace vernier::launch::slurm
