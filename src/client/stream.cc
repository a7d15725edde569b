#include "src/client/stream.h"

#include <memory>
#include <optional>
#include <utility>

#include "src/client/decode.h"
#include "src/core/status.h"
#include "src/wire/event_proto.h"
#include "src/wire/names.h"
#include "src/wire/status_proto.h"

namespace vernier::client {
namespace {

// How the reading of one stream ended.
struct StreamEnd {
  absl::Status status;
  bool by_reader = false;  // The sink wanted no more, or a message could not be read.
};

// Reads one stream to its end. `open` starts it, `take` gets each message: nullopt to go on, or how it ends.
template <typename Message, typename Open, typename Take>
StreamEnd ReadStream(const Retry& retry, const std::stop_token& stop, Open open, Take take) {
  grpc::ClientContext context;
  // Streams last as long as their study; only the caller ends them.
  retry.Prepare(absl::InfiniteFuture(), &context);
  // May fire before the call begins, which then begins cancelled.
  const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
  const auto reader = open(&context);
  Message message;
  while (reader->Read(&message)) {
    if (std::optional<absl::Status> end = take(message)) {
      context.TryCancel();
      // The status is that of our own cancelling. It must be taken before the reader goes.
      reader->Finish();
      return {.status = *std::move(end), .by_reader = true};
    }
  }
  const grpc::Status status = reader->Finish();
  // Asked first: cancelling makes the stream end with an error that nobody made.
  if (stop.stop_requested()) return {.status = Cancelled("told to stop"), .by_reader = true};
  return {.status = wire::DecodeStatus(status)};
}

}  // namespace

absl::Status StreamEvents(v1::StudyService::StubInterface& stub,
                          const Retry& retry,
                          std::string_view study,
                          EventSeq after,
                          bool follow,
                          const std::function<bool(const Event&)>& sink,
                          const std::stop_token& stop) {
  v1::WatchStudyRequest request;
  request.set_name(wire::StudyResource(study));
  request.set_after_event(after.value());
  request.set_follow(follow);
  int attempt = 0;
  absl::Time deadline;
  const auto open = [&](grpc::ClientContext* context) { return stub.WatchStudy(context, request); };
  const auto take = [&](const v1::StudyEvent& proto) -> std::optional<absl::Status> {
    const auto event = wire::DecodeEvent(proto);
    if (!event.ok()) return event.status();
    // Where to go on after a lost connection: no event comes twice, and none is missed.
    request.set_after_event(proto.seq());
    // A connection that brings events is a good one, so the next loss is the first again.
    attempt = 0;
    retry.NoteAnswer();
    return sink(*event) ? std::nullopt : std::optional(absl::OkStatus());
  };
  while (true) {
    const StreamEnd end = ReadStream<v1::StudyEvent>(retry, stop, open, take);
    // A stream that ended well is over as well: everything that was asked for has come.
    if (end.by_reader || !IsLost(end.status)) return end.status;
    if (attempt == 0) deadline = retry.Deadline();
    if (!retry.Wait(++attempt, deadline, stop)) return end.status;
  }
}

absl::Status StreamLogs(v1::StudyService::StubInterface& stub,
                        const Retry& retry,
                        const std::string& trial,
                        const TrialLogQuery& query,
                        const std::function<bool(const TrialLogLine&)>& sink,
                        const std::stop_token& stop) {
  const v1::StreamTrialLogsRequest request = EncodeLogQuery(trial, query);
  const auto open = [&](grpc::ClientContext* context) {
    return stub.StreamTrialLogs(context, request);
  };
  const auto take = [&](const v1::LogLine& line) -> std::optional<absl::Status> {
    return sink(DecodeLogLine(line)) ? std::nullopt : std::optional(absl::OkStatus());
  };
  return ReadStream<v1::LogLine>(retry, stop, open, take).status;
}

}  // namespace vernier::client
