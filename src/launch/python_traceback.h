#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Parses tracebacks as Python prints them.
namespace vernier::launch {

struct TracebackFrame {
  std::string file;
  std::int32_t line = 0;
  std::string function;  // "<module>"; empty for a syntax error.
  std::string source;    // The line of code; empty if not shown.
};

struct Traceback {
  // The relation to the exception of the previous traceback.
  enum class Link {
    kNone,
    kCause,    // "The above exception was the direct cause of the following exception".
    kContext,  // "During handling of the above exception, another exception occurred".
  };
  std::vector<TracebackFrame> frames;  // Innermost last.
  std::string type;               // "tensorflow.python.framework.errors_impl.UnavailableError".
  std::string message;            // First line of the text after "TYPE: "; may be empty.
  std::vector<std::string> more;  // Its other lines, and other output after it.
  Link link = Link::kNone;
  // Python only reported it and went on: an exception in a destructor, an exit handler, or during logging.
  bool is_ignored = false;
  std::size_t begin = 0;  // Lines of the text, [begin, end).
  std::size_t end = 0;
};

// Finds all tracebacks, in order. Supports exception groups, worker processes, prefixes such as "[rank0]: ", and syntax
// errors, which have no heading. Skips those that are cut off before the exception.
std::vector<Traceback> FindTracebacks(std::span<const std::string> lines);

// Whether the frame is Python's own or a library's.
bool IsLibrary(const TracebackFrame& frame);

}  // namespace vernier::launch
