#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The output of a replica is one stream of lines (src/base/output_line.h), stored in segments: files named after the
// position in the stream at which they begin.
//
//   output.log                 the beginning
//   output.log.000033554432    from that byte on
//
// A segment holds whole lines, and does not change once there is a later one. If all of them would exceed the limit,
// the oldest but the first are removed, so that the beginning and the end remain. Positions in the stream stay valid; a
// reader whose segment was removed goes on with the next one. Only std and POSIX: see src/launch/replica_files.h.
namespace vernier::launch {

// Most segments; each holds this fraction of the limit. A choice: rotation drops an eighth of the output at a time.
inline constexpr int kMostSegments = 8;

// The file of the segment that begins at `begin`; `log_file` is the first one.
std::string SegmentPath(const std::string& log_file, std::int64_t begin);

// Begins of the existing segments, in order.
std::vector<std::int64_t> ListSegments(const std::string& log_file);

}  // namespace vernier::launch
