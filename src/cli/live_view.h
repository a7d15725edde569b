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

// The event as -o json shows it: the payload is an object, not text.
nlohmann::ordered_json EventToJson(const v1::StudyEvent& event);
// The same as a line of text, without its end; the payload is not read for it.
std::string EventToLine(const v1::StudyEvent& event);

// Shows a study as it goes: on a terminal a screen that is drawn in place, elsewhere a line for each trial that ended, or
// as much as `detail` says; where programs read, every event.
class LiveView {
 public:
  // Lines are printed for events after `after` only; what came before is needed for the screen.
  LiveView(Context& context, EventSeq after, Detail detail)
      : context_(context), after_(after), detail_(detail) {}

  // DataLoss: an event that cannot be read.
  absl::Status Show(const v1::StudyEvent& event);
  // As Show, but as lines even on a terminal.
  absl::Status Print(const v1::StudyEvent& event);
  // Draws again if something changed or time went by. Call it often: it looks at the clock itself.
  void Refresh();
  // A line below the screen, which stays.
  void Say(std::string_view line);
  // The last picture. What is printed next stands below it.
  void Finish();

  const StudyBoard& board() const { return board_; }
  // The last that was shown.
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
  EventSeq after;  // Print what came after it.
  Detail detail = Detail::kTrials;
  bool follow = true;  // Until the study has ended; else until the log's end.
  absl::Duration timeout = absl::InfiniteDuration();
  // Called between events, at least a few times a second; false ends the following.
  std::function<bool(LiveView&)> on_tick = {};
  // Called when the connection was lost: makes it good again, or says that it stays lost. Unset: waits for the next server
  // (reconnection.h).
  std::function<absl::Status(Connection&)> on_lost = {};
};

// Follows the study's log and shows it.
// NotFound.  DeadlineExceeded: the timeout passed.  Unavailable: no server answers any more.  OK: the study has ended, or
// on_tick said so.
absl::StatusOr<StudyBoard> Follow(Context& context,
                                  Connection& connection,
                                  std::string_view study,
                                  const FollowOptions& options);

// Every event of the study's log so far, oldest first, until one gives an error. `kinds`: only those; empty: all.
absl::Status ReadLog(Connection& connection,
                     std::string_view study,
                     const std::function<absl::Status(const v1::StudyEvent&)>& sink,
                     const std::vector<std::string>& kinds = {});

// `study watch`: follows to the end; the exit code says whether the study failed.
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

// What a script learns from a study in that state.
ExitCode ExitCodeOf(StudyState state);

}  // namespace vernier::cli
