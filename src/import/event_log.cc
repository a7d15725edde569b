// The log is folded as a store folds it, so that a trial is imported as it was at the end of the log.

#include "src/import/event_log.h"

#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/codec/event_json.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/import/input.h"
#include "src/study/study_state.h"

namespace vernier::imports {
namespace {

using End = SourceTrial::End;
using study::StudyFold;

absl::StatusOr<Event> EventOf(std::string_view line, std::size_t number) {
  const std::string place = fmt::format("line {}", number);
  VERNIER_ASSIGN_OR_RETURN(const Json json, ParseJson(line, place));
  const Json& seq = Member(json, "seq");
  const std::string kind = TextMember(json, "kind");
  absl::Time time;
  std::string error;
  if (!seq.is_number_integer() || kind.empty() ||
      !absl::ParseTime(absl::RFC3339_full, TextMember(json, "time"), &time, &error)) {
    return InvalidArgument("{}: is no event with seq, time and kind", place);
  }
  absl::StatusOr<EventPayload> payload = codec::PayloadFromJson(kind, Member(json, "payload"));
  if (!payload.ok()) {
    return InvalidArgument("{}: {}", place, std::string(payload.status().message()));
  }
  return Event{.seq = EventSeq(seq.get<std::int64_t>()),
               .time = time,
               .actor = TextMember(json, "actor"),
               .request_id = TextMember(json, "request_id"),
               .payload = *std::move(payload)};
}

End EndOf(const Trial& trial) {
  switch (trial.state) {
    case TrialState::kCompleted:
      return trial.stop.has_value() ? End::kStopped : End::kCompleted;
    case TrialState::kFailed:
      return End::kFailed;
    case TrialState::kInfeasible:
      return End::kInfeasible;
    case TrialState::kCancelled:
      return End::kCancelled;
    default:
      return End::kWaiting;
  }
}

std::string TextOf(const std::optional<absl::Time>& time) {
  return time.has_value() ? absl::FormatTime(absl::RFC3339_full, *time, absl::UTCTimeZone()) : "";
}

SourceTrial SourceOf(const Trial& trial, std::vector<Measurement> curve) {
  const std::string number = std::to_string(trial.number.value());
  SourceTrial source{.label = "trial " + number,
                     .point = trial.point,
                     .end = EndOf(trial),
                     .curve = std::move(curve),
                     .message = trial.message,
                     .metadata = trial.metadata};
  source.last = {
      .step = trial.final_step, .elapsed = trial.final_elapsed, .metrics = trial.final_metrics};
  if (trial.stop.has_value()) source.message = trial.stop->explanation;
  if (trial.failure != FailureClass::kNone) source.failure = trial.failure;
  NoteOrigin(source, number, TextOf(trial.started), TextOf(trial.ended));
  return source;
}

// The log of a study, event by event.
class Log {
 public:
  absl::Status Add(const Event& event) {
    if (!fold_.has_value()) {
      VERNIER_ASSIGN_OR_RETURN(fold_, StudyFold::Start(StudyId(1), event));
      return absl::OkStatus();
    }
    VERNIER_RETURN_IF_ERROR(fold_->Apply(event));
    if (const auto* const report = std::get_if<MeasurementReported>(&event.payload)) {
      curves_[report->trial].push_back(report->measurement);
    }
    return absl::OkStatus();
  }

  // Null before the first event.
  const StudyFold* fold() const { return fold_.has_value() ? &*fold_ : nullptr; }
  std::vector<Measurement> TakeCurve(TrialNumber trial) { return std::move(curves_[trial]); }

 private:
  std::optional<StudyFold> fold_;
  std::map<TrialNumber, std::vector<Measurement>> curves_;
};

}  // namespace

bool IsEventLog(std::string_view head) { return head.starts_with("{\"seq\":"); }

absl::StatusOr<SourceStudy> ReadEventLog(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Log log;
  VERNIER_RETURN_IF_ERROR(
      ForEachLine(text, [&](std::string_view line, std::size_t number) -> absl::Status {
        VERNIER_ASSIGN_OR_RETURN(const Event event, EventOf(line, number));
        absl::Status added = log.Add(event);
        if (added.ok()) return added;
        return InvalidArgument("line {}: {}", number, std::string(added.message()));
      }));
  const StudyFold* const fold = log.fold();
  if (fold == nullptr) return InvalidArgument("is empty");
  StudySpec spec = fold->header().spec;
  if (spec.foreign.has_value()) {
    return InvalidArgument(
        "is the log of a study that clients of Vizier made, which is not imported");
  }
  SourceStudy source;
  source.name = spec.name;
  if (!spec.warm_start.empty()) {
    source.Note("warm_start: left out; the trials of earlier studies are not in this log");
    spec.warm_start.clear();
  }
  source.definition = codec::StudySpecToJson(spec);
  for (const study::TrialEntry* const row : fold->AllRows()) {
    if (row->trial.deleted) continue;
    source.trials.push_back(SourceOf(row->trial, log.TakeCurve(row->trial.number)));
  }
  return source;
}

}  // namespace vernier::imports
