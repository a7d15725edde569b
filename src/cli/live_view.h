#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "src/cli/connection.h"
#include "src/cli/context.h"
#include "src/cli/terminal/study_board.h"
#include "vernier/core/event.h"
#include "vernier/v1/study_service.pb.h"

namespace vernier::cli {

// The event in the form of -o json: the payload is an object, not text.
nlohmann::ordered_json EventToJson(const v1::StudyEvent& event);
// The same on one line, without a line end. The payload is copied unparsed.
std::string EventToLine(const v1::StudyEvent& event);

// Shows the progress of a study: on a terminal a screen that is redrawn in place, elsewhere one line for each trial
// that ends (or as `detail` says), and for programs every event.
class LiveView {
 public:
  // Prints lines only for events after `after`; earlier ones fill the screen.
  LiveView(Context& context, EventSeq after, Detail detail)
      : context_(context), after_(after), detail_(detail) {}

  // DataLoss: the event cannot be decoded.
  absl::Status Show(const v1::StudyEvent& event);
  // As Show, but prints lines even on a terminal.
  absl::Status Print(const v1::StudyEvent& event);
  // Redraws if something changed or enough time has passed. Cheap: call it often.
  void Refresh();
  // Prints a line below the screen; it stays.
  void Say(std::string_view line);
  // Draws a last time. Later output appears below.
  void Close();

  const StudyBoard& board() const { return board_; }
  // The last event that was shown.
  EventSeq last_event() const { return last_event_; }

 private:
  bool is_screen() const;
  void Draw();
  absl::Status Apply(const v1::StudyEvent& message, bool print);

  Context& context_;
  EventSeq after_;
  Detail detail_;
  StudyBoard board_;
  EventSeq last_event_;
  bool is_dirty_ = false;
  int drawn_lines_ = 0;
  absl::Time drawn_at_ = absl::InfinitePast();
};

struct FollowOptions {
  EventSeq after;  // Print only later events.
  Detail detail = Detail::kTrials;
  bool follow = true;  // Until the study ends; otherwise up to the current end of the log.
  absl::Duration timeout = absl::InfiniteDuration();
  // Called between events, at least a few times a second; returning false ends Follow.
  std::function<bool(LiveView&)> on_tick = {};
  // Called when the connection is lost: restores it, or returns why it cannot. Unset: Reconnect (reconnection.h), which
  // waits for another server.
  std::function<absl::Status(Connection&)> on_lost = {};
  // Without `follow`, called at the end of the log. True: more may have come by now, and the log is read on, by the
  // connection as it is then.
  std::function<absl::StatusOr<bool>(Connection&)> on_end = {};
};

// Follows the study's log and shows it.
// NotFound: no such study, or it was deleted.  DeadlineExceeded: the timeout passed.  Unavailable: no server answers
// any more, or its store is gone.  OK: the study has ended, or on_tick returned false.
absl::StatusOr<StudyBoard> Follow(Context& context,
                                  Connection& connection,
                                  std::string_view study,
                                  const FollowOptions& options);

// Calls `sink` with every event of the log so far, oldest first, until it returns an error. `kinds`: only events of
// these kinds; empty: all.
absl::Status ReadLog(Connection& connection,
                     std::string_view study,
                     const std::function<absl::Status(const v1::StudyEvent&)>& sink,
                     const std::vector<std::string>& kinds = {});

// Follows the study to its end, for `study create --watch`; the exit code says whether it failed.
absl::StatusOr<ExitCode> WatchStudy(Context& context,
                                    Connection& connection,
                                    std::string_view study,
                                    EventSeq after);

// -q and -v of commands that follow a study.
struct DetailFlags {
  bool quiet = false;
  bool verbose = false;
};
void AddDetailFlags(CLI::App& command, DetailFlags& flags);
Detail DetailOf(const DetailFlags& flags);

// The exit code for a study in that state.
ExitCode ExitCodeOf(StudyState state);

}  // namespace vernier::cli
