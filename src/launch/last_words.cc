// The search goes from the most specific form to the least: Python's fault handler, tracebacks, C++ terminate, fatal
// log lines, panics, then the last line near the end that mentions an error. A wrong cause misleads more than none;
// hence the tables of noise.
//
// The tables are literal parts of messages of the tools named there. tests/launch/last_words_test.cc has samples of
// outputs.

#include "src/launch/last_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/base/terminal_text.h"
#include "src/core/utf8.h"
#include "src/launch/line_text.h"
#include "src/launch/log_line.h"
#include "src/launch/output_cursor.h"
#include "src/launch/python_traceback.h"
#include "src/launch/replica_files.h"

namespace vernier::launch {
namespace {

using Lines = std::span<const std::string>;

// The severity that a line itself states, in a logger's head or a field of JSON.
enum class Level { kNone, kMild, kError };

struct PrintedText {
  std::vector<std::string> lines;
  std::vector<Level> levels;  // One for each line.
};

// Limits of the output that is considered, from its end: lines of standard error, lines of standard output, bytes of
// both.
// Choices: a deep traceback with its chained exceptions fits; standard output rarely has a cause.
constexpr std::int64_t kTailLines = 600;
constexpr std::int64_t kTailOutputLines = 100;
constexpr std::size_t kTailBytes = std::size_t{256} << 10;
// Bytes read to find these lines. A choice: bounds the time for a program that printed megabytes on standard output
// only.
constexpr std::size_t kMostSeen = std::size_t{2} << 20;
// Most lines between a cause and the end, noise excluded. A choice: whatever was printed longer before was survived.
constexpr std::size_t kNearEnd = 60;
// Most bytes of the two parts of a cause; together with the words between them they fit into kLongestWords.
constexpr std::size_t kLongestException = 260;
constexpr std::size_t kLongestOrigin = 110;

template <std::size_t N>
bool ContainsAny(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return Contains(text, part); });
}

template <std::size_t N>
bool StartsWithAny(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.starts_with(part); });
}

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The text as one printable line of at most `most` bytes.
std::string Shown(std::string_view text, std::size_t most) {
  std::string line = ToValidUtf8(Trim(text));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  if (line.size() <= most) return line;
  constexpr std::string_view kCut = "…";
  std::size_t size = most - kCut.size();
  while (size > 0 && (static_cast<unsigned char>(line[size]) & 0xC0) == 0x80) --size;
  line.resize(size);
  return line.append(kCut);
}

// "path/train.py" as "train.py".
std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Place(std::string_view file, std::int32_t line, std::string_view function) {
  const bool has_function = !function.empty() && function != "<module>";
  return fmt::format(" ({}:{}{}{})",
                     BaseName(file),
                     line,
                     has_function ? " in " : "",
                     has_function ? function : "");
}

// ---- Lines that say nothing about a failure
// ---------------------------------------------------------------------------

// "/usr/lib/…/x.py:12: UserWarning: …", "x.py:3: DeprecationWarning: …".
bool IsPythonWarning(std::string_view text) {
  const std::size_t warning = text.find("Warning: ");
  if (warning == std::string_view::npos) return false;
  const std::size_t before = text.find(": ");
  return before < warning && before > 0 && IsDigit(text[before - 1]);
}

// " 45%|████▌     | 45/100 [00:01<00:01, 30.1it/s]", "[=====>....] - ETA: 3s".
bool IsProgressBar(std::string_view text) {
  constexpr std::array<std::string_view, 6> kRates = {
      "it/s", "s/it", "B/s", "ETA:", "/step", "?it"};
  return (Contains(text, "%|") || Contains(text, "[=") || Contains(text, "━")) &&
         ContainsAny(text, kRates);
}

// A line of "-----" or "=====".
bool IsRule(std::string_view text) {
  return std::ranges::none_of(text,
                              [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; });
}

// Lines of a dumped stack.
bool IsStackLine(std::string_view text) {
  constexpr std::array<std::string_view, 12> kStarts = {"at ",
                                                        "@ ",
                                                        "frame #",
                                                        "#0 ",
                                                        "goroutine ",
                                                        "... ",
                                                        "File \"",
                                                        "Stacktrace:",
                                                        "stack backtrace:",
                                                        "Current thread 0x",
                                                        "Thread 0x",
                                                        "Extension modules:"};
  return StartsWithAny(text, kStarts);
}

// Messages of launchers, shells and tools when, or after, the actual program has failed.
bool IsFromLauncher(std::string_view text) {
  constexpr std::array<std::string_view, 29> kStarts = {
      "[vernier] ",
      "srun: ",
      "slurmstepd: ",
      "mpirun ",
      "mpiexec ",
      "prterun ",
      "Primary job ",
      "per user-direction",
      "a non-zero exit code",
      "wandb: ",
      "make: ",
      "make[",
      "ERROR conda.cli.main_run",
      "note: run with `RUST_BACKTRACE",
      "Execution halted",
      "Calls: ",
      "exit status ",
      "Node.js v",
      "in expression starting at",
      "caused by: ...",
      "Pass --helpshort",
      "Set the environment variable HYDRA_FULL_ERROR",
      "Try '",
      "Aborted",
      "Killed",
      "Terminated",
      "Segmentation fault",
      "Command terminated by signal",
      "Command exited with non-zero status"};
  constexpr std::array<std::string_view, 4> kParts = {
      "*** Check failure stack trace", "(core dumped)", "*** SIGABRT received", "PC: @"};
  return StartsWithAny(text, kStarts) || ContainsAny(text, kParts);
}

// Errors that TensorFlow, PyTorch and Python report routinely at start or end without being in trouble.
bool IsHabitualError(std::string_view text) {
  constexpr std::array<std::string_view, 10> kParts = {
      "Unable to register cu",
      "failed call to cuInit",
      "Could not load dynamic library",
      "Could not find cuda drivers",
      "could not open file to read NUMA node",
      "All log messages before absl::InitializeLog",
      "destroy_process_group() was not called",
      "leaked semaphore objects",
      "leaked shared_memory objects",
      "Exception ignored in"};
  return ContainsAny(text, kParts);
}

bool IsNoise(std::string_view line) {
  const std::string_view text = Trim(line);
  return text.empty() || IsRule(text) || IsPythonWarning(text) || IsProgressBar(text) ||
         IsStackLine(text) || IsFromLauncher(text) || IsHabitualError(text);
}

Level LevelOf(std::string_view line) {
  LogLine parsed{.is_stderr = false, .text = std::string(line)};
  Interpret(parsed);
  if (parsed.severity >= Severity::kError) return Level::kError;
  parsed.is_stderr = true;
  Interpret(parsed);
  if (parsed.severity < Severity::kError) return Level::kMild;
  constexpr std::array<std::string_view, 9> kMild = {" INFO ",
                                                     " DEBUG ",
                                                     " WARNING ",
                                                     " WARN ",
                                                     "[INFO]",
                                                     "[DEBUG]",
                                                     "[WARNING]",
                                                     "INFO:",
                                                     "WARNING:"};
  const std::string_view head = line.substr(0, 64);
  const bool is_mild = ContainsAny(head, kMild) || head.starts_with("[W") || head.starts_with("[I");
  return is_mild ? Level::kMild : Level::kNone;
}

bool SpeaksOfError(std::string_view line) {
  constexpr std::array<std::string_view, 20> kWords = {
      "error",   "fatal",  "critical",  "fail",          "exception", "cannot",        "can't",
      "no such", "denied", "not found", "out of memory", "panic",     "unrecognized",  "invalid",
      "assert",  "abort",  "corrupt",   "unknown",       "missing",   "not recognized"};
  std::string lower(line);
  std::ranges::transform(
      lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ContainsAny(lower, kWords);
}

// ---- What is known to be a cause
// --------------------------------------------------------------------------------------

struct Cause {
  std::string text;
  std::string evidence;  // All lines that belong to it, to classify it.
};

// Messages of sockets, NCCL, gloo, gRPC and TensorFlow's coordination service about a connection or peer that was lost.
bool IsLostPeer(std::string_view text) {
  constexpr std::array<std::string_view, 31> kParts = {"Connection reset by peer",
                                                       "Connection closed by peer",
                                                       "Connection closed by remote peer",
                                                       "connection closed by peer",
                                                       "closed by remote host",
                                                       "Socket closed",
                                                       "socket closed",
                                                       "Broken pipe",
                                                       "BrokenPipeError",
                                                       "ConnectionResetError",
                                                       "Connection refused",
                                                       "Connection timed out",
                                                       "Connection lost",
                                                       "remote process exited",
                                                       "ncclRemoteError",
                                                       "recvValue failed",
                                                       "sendBytes failed",
                                                       "DistNetworkError",
                                                       "DistStoreError",
                                                       "failed to connect to all addresses",
                                                       "recvmsg:",
                                                       "sendmsg:",
                                                       "UnavailableError",
                                                       "heartbeat timeout",
                                                       "missed heartbeats",
                                                       "hasn't sent heartbeats",
                                                       "Barrier failed because",
                                                       "task is in error",
                                                       "Collective ops is aborted",
                                                       "EOFError",
                                                       "Watchdog caught collective operation"};
  return ContainsAny(text, kParts);
}

// "tensorflow.python.framework.errors_impl.InvalidArgumentError" as "InvalidArgumentError".
std::string_view ShortType(std::string_view type) { return type.substr(type.rfind('.') + 1); }

// Whether the first line of a message only announces the others: "Graph execution error:", "2 validation errors for
// Config".
bool IsAnnouncement(std::string_view message) {
  return message.empty() || message.ends_with(':') || Contains(message, " validation error");
}

// The text of the other lines of a message, without descriptions of graphs and stacks.
std::string Announced(const Traceback& traceback) {
  constexpr std::array<std::string_view, 9> kDescriptions = {"[[",
                                                             "Node: ",
                                                             "Detected at node",
                                                             "<stack traces",
                                                             "Function call stack",
                                                             "Original stack trace",
                                                             "defined at (most",
                                                             "The above",
                                                             "For further information"};
  std::string text;
  for (const std::string& line : traceback.more) {
    const std::string_view part = Trim(line);
    const bool describes = IsNoise(part) || StartsWithAny(part, kDescriptions) ||
                           Contains(part, "defined at (most recent") || line.starts_with("    ");
    if (describes) continue;
    text += (text.empty() ? "" : " ") + std::string(part);
    if (text.size() > kLongestException) break;
  }
  return text;
}

std::string MessageOf(const Traceback& traceback) {
  std::string message = traceback.message;
  if (message.empty() && traceback.type == "AssertionError" && !traceback.frames.empty()) {
    return traceback.frames.back().source;  // "assert lr < 0.1".
  }
  if (!IsAnnouncement(message)) return message;
  // An exception without a message may be followed by unrelated output; one that announces more is not.
  if (message.empty() && !Contains(traceback.type, "Error")) return message;
  if (message.empty() && !Contains(traceback.type, ".")) return message;
  const std::string more = Announced(traceback);
  if (more.empty()) return message;
  return message.empty() || message == "Graph execution error:" ? more : message + " " + more;
}

// The innermost frame of the program's own code, or else of a library.
const TracebackFrame* FrameOf(const Traceback& traceback) {
  const auto& frames = traceback.frames;
  const auto own = std::find_if_not(frames.rbegin(), frames.rend(), IsLibrary);
  if (own != frames.rend()) return &*own;
  return frames.empty() ? nullptr : &frames.back();
}

std::string DescribeTraceback(const Traceback& traceback, std::size_t most) {
  const TracebackFrame* frame = FrameOf(traceback);
  const std::string place =
      frame == nullptr ? "" : Shown(Place(frame->file, frame->line, frame->function), 80);
  const std::string message = MessageOf(traceback);
  std::string text(ShortType(traceback.type));
  if (!message.empty()) text += ": " + message;
  text = Shown(text, most - place.size() - 1);
  return place.empty() ? text : text + " " + place;
}

// An exception that only reports the failure of a child process, which has printed its own.
bool IsOfLauncher(const Traceback& traceback) {
  constexpr std::array<std::string_view, 4> kTypes = {
      "ChildFailedError", "CalledProcessError", "ProcessExitedException", "ProcessRaisedException"};
  return std::ranges::find(kTypes, ShortType(traceback.type)) != kTypes.end();
}

std::string EvidenceOf(const Traceback& traceback) {
  std::string evidence = traceback.type + ": " + traceback.message;
  for (const std::string& line : traceback.more) evidence += "\n" + line;
  return evidence;
}

// Index of the traceback that ended the program. Nothing: none did.
std::optional<std::size_t> FindFatal(const std::vector<Traceback>& tracebacks) {
  std::optional<std::size_t> fatal;
  int rank = -1;
  for (std::size_t i = 0; i < tracebacks.size(); ++i) {
    const Traceback& traceback = tracebacks[i];
    const bool is_superseded =
        i + 1 < tracebacks.size() && tracebacks[i + 1].link != Traceback::Link::kNone;
    if (traceback.is_ignored || is_superseded) continue;
    // Of several with equal worth, the last.
    const int worth = IsOfLauncher(traceback) ? 0 : IsLostPeer(EvidenceOf(traceback)) ? 1 : 2;
    if (worth < rank) continue;
    fatal = i;
    rank = worth;
  }
  return fatal;
}

std::optional<Cause> FromTraceback(Lines lines) {
  const std::vector<Traceback> tracebacks = FindTracebacks(lines);
  const std::optional<std::size_t> fatal = FindFatal(tracebacks);
  if (!fatal.has_value()) return std::nullopt;
  const Traceback& last = tracebacks[*fatal];
  const auto behind = lines.subspan(last.end);
  const auto others =
      std::ranges::count_if(behind, [](const std::string& line) { return !IsNoise(line); });
  // An exception this far from the end was survived.
  if (static_cast<std::size_t>(others) > kNearEnd + last.more.size()) return std::nullopt;
  Cause cause{.text = DescribeTraceback(last, kLongestException), .evidence = EvidenceOf(last)};
  std::size_t root = *fatal;
  bool is_cause = false;
  while (root > 0 && tracebacks[root].link != Traceback::Link::kNone) {
    is_cause |= tracebacks[root].link == Traceback::Link::kCause;
    --root;
  }
  if (root == *fatal) return cause;
  const Traceback& origin = tracebacks[root];
  cause.evidence += "\n" + EvidenceOf(origin);
  const bool is_same = origin.type == last.type && origin.message == last.message;
  if (is_same) {  // Raised by a worker process, and again by its parent.
    cause.text = DescribeTraceback(origin, kLongestException);
    return cause;
  }
  cause.text += fmt::format(", {} {}",
                            is_cause ? "caused by" : "while handling",
                            DescribeTraceback(origin, kLongestOrigin));
  return cause;
}

// `Fatal Python error: Segmentation fault` (faulthandler), followed by frames, the innermost first.
std::optional<Cause> FromFaultHandler(Lines lines) {
  constexpr std::string_view kFatal = "Fatal Python error: ";
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::size_t at = lines[i].find(kFatal);
    if (at == std::string::npos) continue;
    std::string text = lines[i].substr(at);
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      // `  File "x.py", line 3 in main`.
      constexpr std::string_view kFile = "  File \"";
      constexpr std::string_view kLine = "\", line ";
      const std::string_view line = lines[j];
      const std::size_t end = line.find(kLine);
      if (!line.starts_with(kFile) || end == std::string_view::npos) continue;
      const std::string_view file = line.substr(kFile.size(), end - kFile.size());
      if (IsLibrary({.file = std::string(file), .function = "", .source = ""})) continue;
      const std::string_view rest = line.substr(end + kLine.size());
      const std::size_t in = rest.find(" in ");
      text += fmt::format(" ({}:{}{})",
                          BaseName(file),
                          rest.substr(0, in),
                          in == std::string_view::npos ? "" : rest.substr(in));
      break;
    }
    return Cause{.text = text, .evidence = text};
  }
  return std::nullopt;
}

// "terminate called after throwing an instance of 'std::runtime_error'" and "  what():  bad lr".
std::optional<Cause> FromTerminate(Lines lines) {
  constexpr std::string_view kThrown = "terminate called after throwing an instance of '";
  constexpr std::string_view kWhat = "what():";
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string& line = lines[i];
    if (Contains(line, "terminate called without an active exception") ||
        Contains(line, "terminate called recursively")) {
      return Cause{.text = std::string(Trim(line)), .evidence = line};
    }
    const std::size_t at = line.find(kThrown);
    if (at == std::string::npos) continue;
    const std::string_view type = std::string_view(line).substr(at + kThrown.size());
    Cause cause{.text = std::string(type.substr(0, type.find('\''))), .evidence = line};
    for (std::size_t j = i + 1; j < lines.size() && j < i + 4; ++j) {
      const std::size_t what = lines[j].find(kWhat);
      if (what == std::string::npos) continue;
      cause.evidence += "\n" + lines[j];
      cause.text +=
          ": " + std::string(Trim(std::string_view(lines[j]).substr(what + kWhat.size())));
      break;
    }
    return cause;
  }
  return std::nullopt;
}

// Turns "F0102 03:04:05.678901 12345 trainer.cc:67] Check failed: lr > 0" into "Check failed: lr > 0 (trainer.cc:67)",
// and the same for TensorFlow's head. Nothing: the line has no such head.
std::optional<std::string> WithoutHead(std::string_view line) {
  const bool is_glog = line.size() > 5 && std::all_of(line.begin() + 1, line.begin() + 5, IsDigit);
  const bool is_tensorflow =
      line.size() > 5 && std::all_of(line.begin(), line.begin() + 4, IsDigit);
  const std::size_t end = line.find("] ");
  if ((!is_glog && !is_tensorflow) || end == std::string_view::npos) return std::nullopt;
  const std::size_t place = line.rfind(' ', end) + 1;
  return fmt::format(
      "{} ({})", Trim(line.substr(end + 2)), BaseName(line.substr(place, end - place)));
}

std::optional<Cause> FromFatalLog(Lines lines) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    LogLine line{.is_stderr = true, .text = lines[i]};
    Interpret(line);
    if (line.severity != Severity::kCritical || line.message.has_value()) continue;
    if (auto text = WithoutHead(lines[i])) {
      return Cause{.text = *std::move(text), .evidence = lines[i]};
    }
  }
  return std::nullopt;
}

// Rust: "thread 'main' panicked at src/main.rs:2:5:" and the message. Go: "panic: …".
std::optional<Cause> FromPanic(Lines lines) {
  constexpr std::string_view kRust = "' panicked at ";
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string& line = lines[i];
    const std::size_t at = line.find(kRust);
    if (at != std::string::npos && line.starts_with("thread '")) {
      const std::string_view place = std::string_view(line).substr(at + kRust.size());
      if (!place.ends_with(':') || i + 1 == lines.size()) {
        return Cause{.text = line.substr(at + 2), .evidence = line};
      }
      return Cause{
          .text = fmt::format(
              "panic: {} ({})", Trim(lines[i + 1]), BaseName(place.substr(0, place.size() - 1))),
          .evidence = lines[i + 1]};
    }
    if (line.starts_with("panic: ")) return Cause{.text = line, .evidence = line};
  }
  return std::nullopt;
}

// The text without tracebacks that Python only reported.
PrintedText WithoutIgnored(const PrintedText& text) {
  PrintedText rest;
  std::size_t at = 0;
  const auto copy = [&](std::size_t end) {
    for (; at < end; ++at) {
      rest.lines.push_back(text.lines[at]);
      rest.levels.push_back(text.levels[at]);
    }
  };
  for (const Traceback& traceback : FindTracebacks(text.lines)) {
    if (!traceback.is_ignored) continue;
    copy(traceback.begin);
    at = traceback.end;
  }
  copy(text.lines.size());
  return rest;
}

// The last line that mentions an error, joined with the line before if that ends with ':' and this one is indented.
std::optional<Cause> FromText(const PrintedText& text) {
  std::vector<std::size_t> near;  // The last lines without noise, last first.
  for (std::size_t i = text.lines.size(); i-- > 0 && near.size() < kNearEnd;) {
    if (text.levels[i] != Level::kMild && !IsNoise(text.lines[i])) near.push_back(i);
  }
  const auto speaks = [&](std::size_t i) {
    return text.levels[i] == Level::kError || SpeaksOfError(text.lines[i]);
  };
  for (std::size_t i = 0; i < near.size(); ++i) {
    const std::string& line = text.lines[near[i]];
    const std::string* before = i + 1 < near.size() ? &text.lines[near[i + 1]] : nullptr;
    const bool is_detail = before != nullptr && line.starts_with(' ') && before->ends_with(':');
    if (!speaks(near[i]) && !(is_detail && speaks(near[i + 1]))) continue;
    const std::string found = is_detail ? fmt::format("{} {}", Trim(*before), Trim(line)) : line;
    return Cause{.text = WithoutHead(found).value_or(found), .evidence = found};
  }
  return std::nullopt;
}

std::optional<Cause> FindCause(const PrintedText& text, bool is_output) {
  for (const auto& find :
       {FromFaultHandler, FromTraceback, FromTerminate, FromFatalLog, FromPanic}) {
    if (std::optional<Cause> cause = find(text.lines)) return cause;
  }
  std::optional<Cause> cause = FromText(WithoutIgnored(text));
  // On standard output, words like "error" also occur in progress reports, so only the last line counts.
  if (!cause.has_value() || !is_output) return cause;
  return text.lines.back() == cause->evidence ? cause : std::nullopt;
}

std::string LastLine(Lines lines) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (!IsNoise(lines[i])) return lines[i];
  }
  return "";
}

// ---- From bytes to lines
// ----------------------------------------------------------------------------------------------

// Adds the lines of a message. A line of JSON gives the text and exception that its logger was given; any other line is
// split as a terminal would show it, including text that was overwritten by carriage returns.
void AddLines(std::string_view raw, PrintedText& text) {
  LogLine parsed{.is_stderr = true, .text = std::string(raw)};
  Interpret(parsed);
  std::string unpacked(raw);
  std::optional<Level> level;
  if (parsed.message.has_value()) {
    unpacked = *parsed.message;
    level = parsed.severity < Severity::kError ? Level::kMild : Level::kError;
    const auto fields = nlohmann::json::parse(parsed.fields, nullptr, /*allow_exceptions=*/false);
    for (const char* key : {"exc_info", "exception", "stack_trace"}) {
      if (!fields.is_object()) break;
      const auto field = fields.find(key);
      if (field != fields.end() && field->is_string()) {
        unpacked += "\n" + field->get<std::string>();
      }
    }
  }
  for (std::size_t begin = 0; begin <= unpacked.size();) {
    const std::size_t end = std::min(unpacked.find('\n', begin), unpacked.size());
    for (base::TerminalLine& line :
         base::SplitTerminalLine(std::string_view(unpacked).substr(begin, end - begin))) {
      text.levels.push_back(level.value_or(LevelOf(line.text)));
      text.lines.push_back(std::move(line.text));
    }
    begin = end + 1;
  }
}

}  // namespace

LastWords FindLastWords(std::span<const base::OutputLine> printed) {
  PrintedText errors;
  PrintedText output;
  for (const base::OutputLine& line : printed) {
    AddLines(line.text, line.is_error ? errors : output);
  }
  std::optional<Cause> cause = FindCause(errors, /*is_output=*/false);
  if (!cause.has_value()) cause = FindCause(output, /*is_output=*/true);
  if (cause.has_value()) {
    return {.cause = Shown(cause->text, kLongestWords),
            .last_line = "",
            .lost_peer = IsLostPeer(cause->evidence)};
  }
  std::string last = LastLine(errors.lines);
  if (last.empty()) last = LastLine(output.lines);
  return {.cause = "", .last_line = Shown(last, kLongestWords)};
}

LastWords ReadLastWords(const std::string& folder, absl::Time since, absl::Time until) {
  struct Line {
    bool is_error;
    std::string text;
  };
  std::deque<Line> lines;
  std::size_t seen = 0;  // Bytes read.
  std::size_t kept = 0;
  std::int64_t output = 0;
  // At exit Python writes buffered standard output after the traceback, so lines of standard output do not count
  // towards the tail.
  const auto collect = [&](const base::OutputLine& line) {
    seen += line.text.size();
    const bool is_wanted = (line.is_error || ++output <= kTailOutputLines) && kept <= kTailBytes;
    if (is_wanted) {
      kept += line.text.size();
      lines.push_front({line.is_error, std::string(line.text)});
    }
    return line.is_error || seen > kMostSeen;
  };
  OutputCursor cursor(folder + "/" + kOutputFile);
  const auto marks =
      cursor.SeekTail({.count = kTailLines, .since = since, .until = until, .is_wanted = collect});
  std::vector<base::OutputLine> printed;
  printed.reserve(lines.size());
  for (const Line& line : lines) {
    printed.push_back({.time = {}, .is_error = line.is_error, .text = line.text});
  }
  return marks.ok() ? FindLastWords(printed) : LastWords();
}

}  // namespace vernier::launch
