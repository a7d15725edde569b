#include "src/launch/supervisor/output_capture.h"

#include <algorithm>

namespace vernier::launch {

void LineCutter::Feed(std::string_view bytes, std::string_view time, std::string& lines) {
  while (!bytes.empty()) {
    const std::size_t room = kLongestLine - partial_.size();
    const std::size_t newline = bytes.substr(0, room + 1).find('\n');
    if (newline != std::string_view::npos) {
      partial_.append(bytes.substr(0, newline));
      bytes.remove_prefix(newline + 1);
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
