#include "src/cli/log_position.h"

#include <algorithm>

#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

// A line may be written down a moment after one of another replica that has a later time.
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
  request.clear_tail();
  // Of earlier attempts nothing comes again.
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
