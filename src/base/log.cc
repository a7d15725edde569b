#include "src/base/log.h"

#include <memory>
#include <string>

#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace vernier::base {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

// Never destroyed: threads may still log while the program exits.
spdlog::logger& Logger() {
  static spdlog::logger& logger = *[] {
    auto* const made =
        new spdlog::logger("vernier", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return logger;
}

// Values with separators are quoted and escaped, so that each line can be parsed and text of users cannot forge lines.
bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \t\n\"=") != std::string_view::npos;
}

}  // namespace

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!Logger().should_log(ToSpdlog(level))) return;
  std::string line(message);
  for (const LogField& field : fields) {
    line += NeedsQuotes(field.value) ? fmt::format(" {}={:?}", field.name, field.value)
                                     : fmt::format(" {}={}", field.name, field.value);
  }
  Logger().log(ToSpdlog(level), "{}", line);
}

void SetLogLevel(LogLevel level) { Logger().set_level(ToSpdlog(level)); }

}  // namespace vernier::base
