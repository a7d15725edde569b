#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a replica printed is one stream of lines (src/base/output_line.h), kept in segments: files that are named after the
// place in the stream where they begin.
//
//   output.log                 the beginning
//   output.log.000033554432    from that byte on
//
// A segment holds whole lines, and never changes once a later one is there. Where all of them would hold more than is to be
// kept, the oldest but the first are removed: the beginning stays, and the end. So a place in the stream is a number, which
// a segment more or less does not change; who wants one that was removed goes on with the next that is there.
// Nothing but std and POSIX: see src/launch/replica_files.h.
namespace vernier::launch {

// How many segments there are at most; each holds that part of what is kept.
inline constexpr int kMostSegments = 8;

// The file of the segment that begins at `begin`; `log_file` is that of the first.
std::string SegmentPath(const std::string& log_file, std::int64_t begin);

// Where the segments begin that are there, in order.
std::vector<std::int64_t> ListSegments(const std::string& log_file);

}  // namespace vernier::launch
