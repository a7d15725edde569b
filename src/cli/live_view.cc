// One thread reads events, redraws the screen and notices Ctrl-C, so no read may block for long (Stream). The screen is
// a fold of the event log (StudyBoard) and not a list of trials: it needs no call besides the stream, and after a lost
// connection the stream resumes behind the last event. The screen is redrawn in place by moving the cursor up as many
// lines as were drawn; whatever else prints must therefore go through Say.

#include "src/cli/live_view.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/hint.h"
#include "src/cli/reconnection.h"
#include "src/cli/resources.h"
#include "src/cli/run_summary.h"
#include "src/cli/stream.h"
#include "src/cli/terminal/proto_json.h"
#include "src/core/status.h"
#include "src/wire/event_proto.h"
#include "src/wire/names.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

// The screen is redrawn at most about seven times a second, and at least once a second for running times. A choice: it
// looks alive and costs nothing.
constexpr absl::Duration kFastest = absl::Milliseconds(150);
constexpr absl::Duration kSlowest = absl::Seconds(1);

// Explains why nothing happens, once for each reason, after some seconds without events.
class Silence {
 public:
  // `is_quiet`: say nothing.
  Silence(Context& context, Connection& connection, std::string_view study, bool is_quiet)
      : context_(context),
        connection_(connection),
        study_(study),
        is_quiet_(is_quiet),
        since_(context.Now()) {}

  // Call it for each event.
  void Break() { since_ = context_.Now(); }

  // Asks the server for the reason, at most every kSilence. Unavailable: the store is gone, and no event will ever come.
  absl::Status Look(LiveView& view) {
    const absl::Time now = context_.Now();
    if (now - std::max(since_, looked_) < kSilence) return absl::OkStatus();
    looked_ = now;
    v1::GetStudyRequest request;
    request.set_name(wire::StudyResource(study_));
    const auto study = connection_.Call(&Connection::Stub::GetStudy, request);
    if (!study.ok()) return absl::OkStatus();  // The stream reports it.
    const std::string& trouble = study->trouble().error();
    if (study->trouble().reason() == ReasonName(Reason::kStoreGone)) {
      return WithHint(WithReason(Unavailable("{}", trouble), Reason::kStoreGone),
                      "trials that run go on; put the file back where it was, with its -wal file, "
                      "and repeat the command");
    }
    if (is_quiet_) return absl::OkStatus();
    const std::string why = trouble.empty() ? study->held() : "the study does not move: " + trouble;
    // The same reason with other numbers is not repeated.
    std::string words = why;
    std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
    if (!why.empty() && words != said_) view.Say("waiting: " + why);
    // Set even if there is no reason now, so that one which returns is said again.
    said_ = words;
    return absl::OkStatus();
  }

 private:
  // A choice.
  static constexpr absl::Duration kSilence = absl::Seconds(3);

  Context& context_;
  Connection& connection_;
  const std::string study_;
  const bool is_quiet_;
  absl::Time since_;
  absl::Time looked_ = absl::InfinitePast();
  std::string said_;
};

using EventStream = Stream<v1::StudyEvent>;

void OpenEvents(Connection& connection,
                std::string_view study,
                EventSeq after,
                bool follow,
                std::optional<EventStream>& stream) {
  v1::WatchStudyRequest request;
  request.set_name(wire::StudyResource(study));
  request.set_after_event(after.value());
  request.set_follow(follow);
  stream.emplace([&](grpc::ClientContext* call, grpc::CompletionQueue* queue) {
    return connection.stub().PrepareAsyncWatchStudy(call, request, queue);
  });
}

}  // namespace

nlohmann::ordered_json EventToJson(const v1::StudyEvent& event) {
  nlohmann::ordered_json json = ProtoToJson(event);
  // The payload is JSON itself, and becomes a part of this object.
  json.erase("payload_json");
  json["payload"] =
      nlohmann::ordered_json::parse(event.payload_json(), nullptr, /*allow_exceptions=*/false);
  return json;
}

std::string EventToLine(const v1::StudyEvent& event) {
  const std::string& payload = event.payload_json();
  // Servers write payloads without line ends; one with a line end is encoded anew, since a line must stay one line.
  if (payload.empty() || payload.find('\n') != std::string::npos)
    return ToJsonLine(EventToJson(event));
  const nlohmann::ordered_json head = {{"seq", event.seq()},
                                       {"time", ProtoToJson(event.time())},
                                       {"actor", event.actor()},
                                       {"request_id", event.request_id()},
                                       {"kind", event.kind()},
                                       {"trial", event.trial()}};
  std::string line = ToJsonLine(head);
  // Without its last brace, the object takes the payload as it is, without parsing it.
  line.pop_back();
  return line + ",\"payload\":" + payload + "}";
}

bool LiveView::is_screen() const {
  return context_.console().is_terminal && context_.output().is_table() &&
         detail_ == Detail::kTrials;
}

absl::Status LiveView::Show(const v1::StudyEvent& event) { return Apply(event, !is_screen()); }

absl::Status LiveView::Print(const v1::StudyEvent& event) { return Apply(event, true); }

absl::Status LiveView::Apply(const v1::StudyEvent& message, bool print) {
  VERNIER_ASSIGN_OR_RETURN(const Event event, wire::DecodeEvent(message));
  // The board needs every event, the ones that are not printed included.
  board_.Apply(event);
  last_event_ = event.seq;
  is_dirty_ = true;
  if (!print || event.seq <= after_) return absl::OkStatus();
  if (!context_.output().is_table()) {
    context_.output().StreamItem("", EventToJson(message));
    return absl::OkStatus();
  }
  const std::string line = DescribeEvent(event, board_, context_.zone(), detail_);
  if (!line.empty()) context_.output().Say(line);
  return absl::OkStatus();
}

void LiveView::Refresh() {
  if (!is_screen()) return;
  const absl::Duration since = context_.Now() - drawn_at_;
  if (since >= kSlowest || (is_dirty_ && since >= kFastest)) Draw();
}

void LiveView::Draw() {
  const Console& console = context_.console();
  const std::vector<std::string> lines = board_.Lines({.width = console.width - 1,
                                                       .height = console.height - 1,
                                                       .color = console.color,
                                                       .unicode = console.unicode},
                                                      context_.Now());
  // The whole screen in one write: up to its first line, each line cleared and drawn, the rest below cleared.
  std::string screen;
  if (drawn_lines_ > 0) screen += fmt::format("\x1b[{}A", drawn_lines_);
  for (const std::string& line : lines) screen += "\r\x1b[K" + line + "\n";
  screen += "\x1b[J";
  context_.console().out << screen << std::flush;
  drawn_lines_ = static_cast<int>(lines.size());
  drawn_at_ = context_.Now();
  is_dirty_ = false;
}

void LiveView::Say(std::string_view line) {
  // What is drawn stays above the line, so it is brought up to date first.
  if (is_screen() && drawn_lines_ > 0) Draw();
  context_.console().err << line << std::endl;
  // The next redraw starts below the line.
  drawn_lines_ = 0;
}

void LiveView::Close() {
  if (is_screen()) Draw();
  drawn_lines_ = 0;
}

absl::StatusOr<StudyBoard> Follow(Context& context,
                                  Connection& connection,
                                  std::string_view study,
                                  const FollowOptions& options) {
  LiveView view(context, options.after, options.detail);
  Silence silence(context, connection, study, options.detail == Detail::kNothing);
  const absl::Time deadline = context.Now() + options.timeout;
  std::optional<EventStream> stream;
  v1::StudyEvent event;
  while (true) {
    if (!stream.has_value())
      OpenEvents(connection, study, view.last_event(), options.follow, stream);
    const absl::StatusOr<EventStream::Next> next = stream->Read(kFastest, event);
    // It was there before, so it was deleted; the hint about similar names would mislead.
    if (absl::IsNotFound(next.status()) && view.last_event() > EventSeq(0)) {
      return NotFound("study '{}' was deleted", study);
    }
    const absl::Status ended = connection.Explain(next.status());
    if (IsConnectionLost(ended, connection)) {
      stream.reset();
      view.Close();
      const absl::Status found =
          options.on_lost ? options.on_lost(connection) : Reconnect(context, connection, deadline);
      // After the deadline the timeout below is the answer, not the lost connection.
      if (!found.ok() && context.Now() < deadline) return found;
    } else if (!ended.ok()) {
      return connection.ExplainMissing(study, ended);
    } else if (*next == EventStream::Next::kEnd) {
      if (!options.on_end) break;
      stream.reset();
      view.Refresh();
      VERNIER_ASSIGN_OR_RETURN(const bool goes_on, options.on_end(connection));
      if (!goes_on) break;
    } else if (*next == EventStream::Next::kMessage) {
      silence.Break();
      VERNIER_RETURN_IF_ERROR(view.Show(event));
    }
    view.Refresh();
    if (options.follow) VERNIER_RETURN_IF_ERROR(silence.Look(view));
    if (options.on_tick && !options.on_tick(view)) break;
    if (context.Now() >= deadline) {
      view.Close();
      return DeadlineExceeded(
          "study '{}' has not ended within {}", study, absl::FormatDuration(options.timeout));
    }
  }
  view.Close();
  return view.board();
}

absl::Status ReadLog(Connection& connection,
                     std::string_view study,
                     const std::function<absl::Status(const v1::StudyEvent&)>& sink,
                     const std::vector<std::string>& kinds) {
  v1::WatchStudyRequest request;
  request.set_name(wire::StudyResource(study));
  for (const std::string& kind : kinds) request.add_kinds(kind);
  grpc::ClientContext call;
  const auto reader = connection.stub().WatchStudy(&call, request);
  v1::StudyEvent event;
  absl::Status status;
  while (status.ok() && reader->Read(&event)) status = sink(event);
  if (!status.ok()) {
    // Nobody reads the rest, and the server need not send it.
    call.TryCancel();
    return status;
  }
  return connection.ExplainMissing(study, connection.Explain(wire::DecodeStatus(reader->Finish())));
}

ExitCode ExitCodeOf(StudyState state) {
  return state == StudyState::kFailed || state == StudyState::kCancelled ? ExitCode::kFailed
                                                                         : ExitCode::kOk;
}

void AddDetailFlags(CLI::App& command, DetailFlags& flags) {
  auto* quiet = command.add_flag("-q,--quiet", flags.quiet, "Show no progress, only the result");
  command
      .add_flag("-v,--verbose",
                flags.verbose,
                "Print every event as a line: proposals, measurements, attempts, states")
      ->excludes(quiet);
}

Detail DetailOf(const DetailFlags& flags) {
  if (flags.quiet) return Detail::kNothing;
  return flags.verbose ? Detail::kEvents : Detail::kTrials;
}

absl::StatusOr<ExitCode> WatchStudy(Context& context,
                                    Connection& connection,
                                    std::string_view study,
                                    EventSeq after) {
  VERNIER_ASSIGN_OR_RETURN(const StudyBoard board,
                           Follow(context, connection, study, {.after = after, .on_tick = {}}));
  if (board.state() == StudyState::kFailed && context.output().is_table()) {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord record, GetStudy(connection, study));
    VERNIER_ASSIGN_OR_RETURN(std::string next, AfterFailure(context, connection, record));
    while (next.ends_with('\n')) next.pop_back();
    if (!next.empty()) context.output().Say(next);
  }
  return ExitCodeOf(board.state());
}

}  // namespace vernier::cli
