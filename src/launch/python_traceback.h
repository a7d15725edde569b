#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Tracebacks as Python prints them.
namespace vernier::launch {

struct TracebackFrame {
  std::string file;
  std::int32_t line = 0;
  std::string function;  // "<module>"; empty: not told, as for a syntax error.
  std::string source;    // The line of code; empty: not shown.
};

struct Traceback {
  // How the exception came from the traceback before this one.
  enum class Link {
    kNone,
    kCause,    // "The above exception was the direct cause of the following exception".
    kContext,  // "During handling of the above exception, another exception occurred".
  };
  std::vector<TracebackFrame> frames;  // The innermost last.
  std::string type;               // "tensorflow.python.framework.errors_impl.UnavailableError".
  std::string message;            // Behind "TYPE: ", its first line; may be empty.
  std::vector<std::string> more;  // Its other lines, and whatever was printed behind them.
  Link link = Link::kNone;
  // Python only reported it: an exception in a destructor, in an exit handler, or while something was logged.
  bool is_ignored = false;
  std::size_t begin = 0;  // Lines of the text, [begin, end).
  std::size_t end = 0;
};

// All of them, in order. Understands tracebacks of exception groups and of worker processes, those behind a prefix such as
// "[rank0]: ", and syntax errors, which have no heading. Leaves out those that are cut off before the exception.
std::vector<Traceback> FindTracebacks(std::span<const std::string> lines);

// Whether the frame is Python's own or a library's.
bool IsLibrary(const TracebackFrame& frame);

}  // namespace vernier::launch
