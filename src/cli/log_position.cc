#include "src/cli/log_position.h"

#include <algorithm>

#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

// Lines of different replicas may be stored up to this much out of order. A choice: supervisors write lines as they
// come.
constexpr absl::Duration kSettling = absl::Seconds(1);

}  // namespace

bool LogPosition::Pass(const v1::LogLine& line) {
  const absl::Time time = wire::DecodeTime(line.time());
  Place& place = places_[{line.attempt(), line.role(), line.index()}];
  if (place.is_behind) {
    const bool was_read = time < place.time || (time == place.time && place.skipped < place.lines);
    if (was_read) {
      if (time == place.time) ++place.skipped;
      return false;
    }
    place.is_behind = false;
  }
  if (time != place.time) place = {.time = time};
  ++place.lines;
  return true;
}

void LogPosition::Resume(v1::StreamTrialLogsRequest& request) {
  if (places_.empty()) return;
  // The tail was printed; a second one would skip lines.
  request.clear_tail();
  // A stream shows one attempt at a time, and never returns to an earlier one.
  const std::int64_t attempt = std::get<0>(places_.rbegin()->first);
  absl::Time since = absl::InfiniteFuture();
  for (auto& [replica, place] : places_) {
    place.is_behind = true;
    place.skipped = 0;
    if (std::get<0>(replica) == attempt) since = std::min(since, place.time - kSettling);
  }
  if (request.has_since_time()) since = std::max(since, wire::DecodeTime(request.since_time()));
  wire::EncodeTime(since, request.mutable_since_time());
}

}  // namespace vernier::cli
