#include "src/launch/supervisor/output_capture.h"

#include <algorithm>
#include <utility>

namespace vernier::launch {

void LineCutter::Feed(std::string_view bytes, std::string_view time, std::string& lines) {
  while (!bytes.empty()) {
    if (std::exchange(returned_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t room = kLongestLine - partial_.size();
    // One byte beyond the room: a line of exactly the greatest length may end there.
    const std::size_t end = bytes.substr(0, room + 1).find_first_of("\r\n");
    if (end != std::string_view::npos) {
      const bool is_newline = bytes[end] == '\n' || bytes.substr(end).starts_with("\r\n");
      partial_.append(bytes.substr(0, end));
      returned_ = bytes[end] == '\r' && end + 1 == bytes.size();
      bytes.remove_prefix(end + (is_newline && bytes[end] == '\r' ? 2 : 1));
      // A progress bar often starts with a carriage return: an empty line there would be noise.
      if (!is_newline && partial_.empty()) continue;
      if (!is_newline) partial_.push_back('\r');
      Emit(time, lines);
      continue;
    }
    const std::size_t taken = std::min(room, bytes.size());
    partial_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (partial_.size() == kLongestLine && !bytes.empty()) Emit(time, lines);
  }
}

void LineCutter::Finish(std::string_view time, std::string& lines) {
  if (!partial_.empty()) Emit(time, lines);
}

void LineCutter::Emit(std::string_view time, std::string& lines) {
  lines.append(time);
  lines.push_back(' ');
  lines.push_back(mark_);
  lines.push_back(' ');
  lines.append(partial_);
  lines.push_back('\n');
  partial_.clear();
}

}  // namespace vernier::launch
