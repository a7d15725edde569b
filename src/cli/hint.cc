// Hints travel as a payload of the status, so that errors pass through functions that know nothing of hints. Errors of
// a server have none of their own, but a reason, which selects a default here.

#include "src/cli/hint.h"

#include "absl/strings/cord.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

constexpr char kHintUrl[] = "vernier/hint";

std::string HintForReason(Reason reason) {
  switch (reason) {
    case Reason::kStudyExists:
      return "choose another name with --name, give it this definition with --update, or look at "
             "it "
             "with `vernier study show`";
    case Reason::kStudyNotFound:
      return "`vernier study list` shows the studies of this store";
    case Reason::kTrialNotFound:
      return "`vernier trial list STUDY` shows the trials of a study";
    case Reason::kStoreBusy:
      return "a program that computes, or is suspended, may keep the store for a while: repeat the "
             "command, stop that process, "
             "or name another store with --store";
    case Reason::kStoreGone:
      return "put the file back where it was, with its -wal file, or restart the server with the "
             "store that it is to use";
    case Reason::kBudgetSpent:
      return "`vernier study amend STUDY --trials N` raises the budget";
    case Reason::kStudyNotActive:
      return "`vernier study show STUDY` says in which state it is, and why";
    default:
      return "";
  }
}

}  // namespace

absl::Status WithHint(absl::Status status, std::string_view hint) {
  if (!status.ok() && !status.GetPayload(kHintUrl)) {
    status.SetPayload(kHintUrl, absl::Cord(std::string(hint)));
  }
  return status;
}

std::string HintOf(const absl::Status& status) {
  if (const auto hint = status.GetPayload(kHintUrl)) return std::string(*hint);
  return HintForReason(GetReason(status));
}

}  // namespace vernier::cli
