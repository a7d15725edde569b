#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Cuts a program's output into lines.
namespace vernier::launch {

// Longer lines are split. A choice: it bounds the memory for a program that prints no newline. It is part of the file
// format (docs/formats/attempt_directory.md).
inline constexpr std::size_t kLongestLine = 65536;

// Turns the bytes of one stream of a program into lines in the form of src/base/output_line.h. A carriage return also
// ends a line, and remains its last character, so that a progress bar is seen while it moves. A carriage return
// followed by a newline is an ordinary end of line.
class LineCutter {
 public:
  explicit LineCutter(char mark) : mark_(mark) {}  // 'O' or 'E'.

  // Appends to `lines` each line that the bytes complete, stamped with `time`.
  void Feed(std::string_view bytes, std::string_view time, std::string& lines);
  // Appends the last line if it has no newline. Call it at the end of the stream.
  void Finish(std::string_view time, std::string& lines);

 private:
  void Emit(std::string_view time, std::string& lines);

  const char mark_;
  std::string partial_;
  // The previous line ended with a carriage return as the last byte received: a newline that follows belongs to it.
  bool returned_ = false;
};

}  // namespace vernier::launch
