#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// What a program prints, cut into lines and kept in a file.
namespace vernier::launch {

// Lines longer than this are cut, and the rest is a line of its own.
inline constexpr std::size_t kLongestLine = 65536;

// One stream of a program: takes bytes as they come, gives back lines in the form of src/base/output_line.h. A carriage
// return ends a line, too, and stays its last character: a progress bar is seen as it moves. With a newline behind it, it
// is the end of a line as any other.
class LineCutter {
 public:
  explicit LineCutter(char mark) : mark_(mark) {}  // 'O' or 'E'.

  // Appends to `lines` each line that the bytes complete, stamped with `time`.
  void Feed(std::string_view bytes, std::string_view time, std::string& lines);
  // The stream has ended: the last line, if it has no newline.
  void Finish(std::string_view time, std::string& lines);

 private:
  void Emit(std::string_view time, std::string& lines);

  const char mark_;
  std::string partial_;
  // The line before was ended by a carriage return, and nothing came since.
  bool returned_ = false;
};

}  // namespace vernier::launch
