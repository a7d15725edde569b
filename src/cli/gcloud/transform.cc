// The transforms of `gcloud topic projections`. Functions() lists them with the names and order of their parameters as
// documented there, since arguments may be given by position or by name. gcloud is written in Python, and its results
// show it: booleans print as True, floats by %g, and 0, "" and empty lists count as missing (IsVoid). A transform never
// fails on a value; it returns its `undefined` argument.

#include "src/cli/gcloud/transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "re2/re2.h"
#include "src/core/nearest.h"
#include "src/core/status.h"

namespace vernier::gcloud {

struct Function {
  std::string_view name;
  // In the order in which arguments without a name are assigned to them.
  std::vector<std::string_view> parameters;
  std::size_t required = 0;  // Of the parameters.
  bool takes_others = false;
  Json (*apply)(const Json& value, const Call& call, const TimeFrame& frame) = nullptr;
};

namespace {

int IntOf(const std::string& text, int fallback) {
  int number = 0;
  return absl::SimpleAtoi(text, &number) ? number : fallback;
}

bool IsTrue(const std::string& text) {
  // Everything but these words is true.
  const std::string word = absl::AsciiStrToLower(text);
  return !(word == "false" || word == "0" || word == "no");
}

// The value at the key that an argument names; null if it is no key.
Json ValueAtText(const Json& value, const std::string& text) {
  const absl::StatusOr<Key> key = ParseKey("", text);
  return key.ok() ? ValueAt(value, *key) : Json();
}

std::string Decoded(const Json& value) {
  const std::string text = TextOf(value);
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A "%" without two digits behind it stands for itself.
    const bool is_escape = text[i] == '%' && i + 2 < text.size() &&
                           absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                           absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 2]));
    decoded += is_escape ? absl::HexStringToBytes(text.substr(i + 1, 2)) : std::string(1, text[i]);
    if (is_escape) i += 2;
  }
  return decoded;
}

std::vector<std::string> PartsOf(const std::string& text, const std::string& separator) {
  return absl::StrSplit(text, separator);
}

Json BaseName(const Json& value, const Call& call, const TimeFrame& frame) {
  // Missing values have no name; the argument says what is printed for them.
  if (IsVoid(value)) return call.Text(0);
  if (value.is_array()) {
    Json names = Json::array();
    for (const Json& item : value) names.push_back(BaseName(item, call, frame));
    return names;
  }
  const std::string text = TextOf(value);
  for (const char separator : {'/', '\\'}) {
    // From the right: the last part is the name, whatever separators stand before it.
    if (const std::size_t at = text.rfind(separator); at != std::string::npos) {
      return text.substr(at + 1);
    }
  }
  return text;
}

Json Count(const Json& value, const Call&, const TimeFrame&) {
  Json counts = Json::object();
  if (!value.is_array()) return counts;
  for (const Json& item : value) {
    Json& count = counts[TextOf(item)];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  return counts;
}

std::optional<absl::Time> TimeOf(const Json& value, double unit, const TimeFrame& frame) {
  // A unit of 0 says that numbers are no times.
  if (const auto number = NumberOf(value); number && unit != 0) {
    return absl::UnixEpoch() + absl::Seconds(*number / unit);
  }
  return value.is_string() ? ParseMoment(value.get_ref<const std::string&>(), frame) : std::nullopt;
}

double UnitOf(const Call& call, std::size_t parameter) {
  double unit = 1;
  return absl::SimpleAtod(call.Text(parameter, "1"), &unit) ? unit : 1;
}

// date(format, unit, undefined, tz, tz_default). Without tz a time keeps its own zone, which is UTC for times of this
// API.
Json Date(const Json& value, const Call& call, const TimeFrame& frame) {
  TimeFrame read = frame;
  // `tz_default` is the zone of times that name none; `tz` is that of the output.
  if (call.named[4]) read.zone = FindZone(*call.named[4], frame).value_or(frame.zone);
  const std::optional<absl::Time> time = TimeOf(value, UnitOf(call, 1), read);
  if (!time) return call.Text(2);
  // A time that names UTC is printed in it; others are printed in the zone in which they were read.
  const bool names_utc = value.is_string() && value.get_ref<const std::string&>().ends_with('Z');
  absl::TimeZone zone = names_utc ? absl::UTCTimeZone() : read.zone;
  if (call.named[3]) zone = FindZone(*call.named[3], frame).value_or(zone);
  return FormatMoment(*time, call.Text(0, "%Y-%m-%dT%H:%M:%S"), zone);
}

Json Iso(const Json& value, const Call& call, const TimeFrame& frame) {
  const std::optional<absl::Time> time = TimeOf(value, 1, frame);
  if (!time) return call.Text(0, "T");
  return FormatMoment(*time, "%Y-%m-%dT%H:%M:%E3S%Ez", absl::UTCTimeZone());
}

// duration(start, end, parts, precision, calendar, unit, undefined).
Json Duration(const Json& value, const Call& call, const TimeFrame& frame) {
  const DurationStyle style = {.parts = IntOf(call.Text(2), 3),
                               .precision = std::clamp(IntOf(call.Text(3), 3), 0, 9),
                               .calendar = IsTrue(call.Text(4, "true"))};
  const auto between = [&](absl::Time start, absl::Time end) {
    return FormatIsoDuration(end - start, style);
  };
  if (call.named[0]) {
    const auto start = TimeOf(ValueAtText(value, *call.named[0]), 1, frame);
    const auto end = TimeOf(ValueAtText(value, call.Text(1)), 1, frame);
    // Without an end, the time until now, as for a job that still runs.
    return start ? Json(between(*start, end.value_or(frame.now))) : Json(call.Text(6));
  }
  if (const auto number = NumberOf(value)) {
    return FormatIsoDuration(absl::Seconds(*number / UnitOf(call, 5)), style);
  }
  if (!value.is_string()) return call.Text(6);
  // In this order: "P1D" is a duration, "2026-11-21" a time, and no text is both.
  if (const auto duration = ParseIsoDuration(value.get_ref<const std::string&>())) {
    return FormatIsoDuration(*duration, style);
  }
  const auto time = TimeOf(value, 1, frame);
  return time ? Json(between(*time, frame.now)) : Json(call.Text(6));
}

Json Decode(const Json& value, const Call& call, const TimeFrame&) {
  std::string decoded;
  const std::string text = TextOf(value);
  if (call.Text(0) != "base64") return text;
  // Both alphabets of base64 are in use.
  if (absl::Base64Unescape(text, &decoded) || absl::WebSafeBase64Unescape(text, &decoded)) {
    return decoded;
  }
  return call.Text(1);
}

Json Encode(const Json& value, const Call& call, const TimeFrame&) {
  const std::string text = TextOf(value);
  return call.Text(0) == "base64" ? absl::Base64Escape(text) : text;
}

Json Extract(const Json& value, const Call& call, const TimeFrame&) {
  Json values = Json::array();
  for (const std::string& key : call.others) {
    Json found = ValueAtText(value, key);
    if (!found.is_null()) values.push_back(std::move(found));
  }
  return values;
}

Json FirstOf(const Json& value, const Call& call, const TimeFrame&) {
  for (const std::string& key : call.others) {
    Json found = ValueAtText(value, key);
    if (!found.is_null()) return found;
  }
  return "";
}

// list(show, undefined, separator): one level; flatten(): all levels.
std::string Listed(const Json& value, const Call& call, bool deep) {
  const std::string separator = call.Text(2, ",");
  const auto text = [&](const Json& part) {
    return deep && part.is_structured() ? Listed(part, call, deep) : TextOf(part);
  };
  std::vector<std::string> items;
  if (value.is_object()) {
    for (const auto& [key, part] : MembersOf(value)) {
      const std::string show = call.Text(0);
      items.push_back(show == "keys"     ? key
                      : show == "values" ? text(part)
                                         : fmt::format("{}={}", key, text(part)));
    }
  } else if (value.is_array()) {
    for (const Json& part : value) items.push_back(text(part));
  } else if (!IsVoid(value)) {
    return TextOf(value);
  }
  return items.empty() ? call.Text(1) : absl::StrJoin(items, separator);
}

Json List(const Json& value, const Call& call, const TimeFrame&) {
  return Listed(value, call, /*deep=*/false);
}
Json Flattened(const Json& value, const Call& call, const TimeFrame&) {
  return Listed(value, call, /*deep=*/true);
}

// float(precision, spec, undefined).
Json Float(const Json& value, const Call& call, const TimeFrame&) {
  const std::optional<double> number = NumberOf(value);
  if (!number) return call.Text(2);
  const int precision = std::clamp(IntOf(call.Text(0), 6), 0, 17);
  const std::string spec = call.Text(1);
  if (spec == "e") return fmt::format("{:.{}e}", *number, precision);
  if (spec == "f") return fmt::format("{:.{}f}", *number, precision);
  return fmt::format("{:.{}g}", *number, precision);
}

// format("{0}/{1}", key, …). Without keys, the arguments are the value itself, or its elements.
Json Formatted(const Json& value, const Call& call, const TimeFrame&) {
  std::vector<std::string> parts;
  for (const std::string& key : call.others) parts.push_back(TextOf(ValueAtText(value, key)));
  if (call.others.empty() && value.is_array()) {
    for (const Json& item : value) parts.push_back(TextOf(item));
  } else if (call.others.empty()) {
    parts.push_back(TextOf(value));
  }
  std::string text = call.Text(0);
  std::string result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A "{" that is never closed stands for itself.
    const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      result += text[i];
      continue;
    }
    const std::string inner = text.substr(i + 1, end - i - 1);
    // "{}" takes the next argument, and "{1}" any by its number.
    const int index = inner.empty() ? static_cast<int>(next++) : IntOf(inner, -1);
    if (index >= 0 && index < static_cast<int>(parts.size())) {
      result += parts[static_cast<std::size_t>(index)];
    }
    i = end;
  }
  return result;
}

Json Join(const Json& value, const Call& call, const TimeFrame&) {
  // Only lists are joined; a single value is as good as joined.
  if (!value.is_array()) return IsVoid(value) ? Json(call.Text(1)) : value;
  std::vector<std::string> parts;
  for (const Json& item : value) parts.push_back(TextOf(item));
  const std::string joined = absl::StrJoin(parts, call.Text(0, "/"));
  return joined.empty() ? call.Text(1) : joined;
}

Json Length(const Json& value, const Call&, const TimeFrame&) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  return value.is_structured() ? value.size() : 0;
}

Json Lower(const Json& value, const Call&, const TimeFrame&) {
  return value.is_string() ? Json(absl::AsciiStrToLower(value.get<std::string>())) : value;
}
Json Upper(const Json& value, const Call&, const TimeFrame&) {
  return value.is_string() ? Json(absl::AsciiStrToUpper(value.get<std::string>())) : value;
}

Json NotNull(const Json& value, const Call&, const TimeFrame&) {
  Json items = Json::array();
  if (!value.is_array()) return items;
  for (const Json& item : value) {
    if (!item.is_null()) items.push_back(item);
  }
  return items;
}

// Compiles a regular expression of the user; CheckCall has tested that it compiles.
std::unique_ptr<re2::RE2> Regex(const std::string& text, bool any_case) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!any_case);
  options.set_dot_nl(any_case);
  return std::make_unique<re2::RE2>(text, options);
}

Json Match(const Json& value, const Call& call, const TimeFrame&) {
  if (IsVoid(value)) return call.Text(2);
  const std::string text = TextOf(value);
  re2::StringPiece rest(text);
  // Anchored at the start only, as Python's re.match.
  const bool matches = re2::RE2::Consume(&rest, *Regex(call.Text(0), /*any_case=*/false));
  return matches ? call.Text(1, text) : call.Text(2);
}

// sub(pattern, replacement, count, ignorecase).
Json Sub(const Json& value, const Call& call, const TimeFrame&) {
  std::string text = TextOf(value);
  const auto regex = Regex(call.Text(0), IsTrue(call.Text(3, "true")));
  int count = IntOf(call.Text(2), 0);
  if (count <= 0) {
    re2::RE2::GlobalReplace(&text, *regex, call.Text(1));
    return text;
  }
  // RE2 replaces either the first match or all; a count needs a loop.
  std::string done;
  re2::StringPiece match;
  while (count-- > 0 && regex->Match(text, 0, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    const std::size_t begin = static_cast<std::size_t>(match.data() - text.data());
    const std::size_t end = begin + match.size();
    // The replacement may name groups, so that the library has to do it, on the part up to this match.
    std::string head = text.substr(0, end);
    re2::RE2::Replace(&head, *regex, call.Text(1));
    done += head;
    text.erase(0, end);
    // An empty match would be found again at the same place.
    if (match.empty()) break;
  }
  return done + text;
}

Json Scope(const Json& value, const Call& call, const TimeFrame&) {
  const std::string text = Decoded(value);
  std::vector<std::string> scopes = call.others;
  if (scopes.empty()) scopes = {"regions", "zones"};
  for (const std::string& scope : scopes) {
    const std::string segment = "/" + scope + "/";
    // "projects/p" has no "/" before its first segment.
    if (const std::size_t at = text.rfind(segment); at != std::string::npos) {
      return text.substr(at + segment.size());
    }
  }
  // Not a path with one of these scopes: the last part of a link, otherwise the text itself.
  return text.starts_with("https://") ? PartsOf(text, "/").back() : text;
}

Json Segment(const Json& value, const Call& call, const TimeFrame&) {
  if (IsVoid(value)) return call.Text(1);
  const std::vector<std::string> parts = PartsOf(Decoded(value), "/");
  int index = IntOf(call.Text(0), -1);
  // From the end, as in Python.
  if (index < 0) index += static_cast<int>(parts.size());
  if (index < 0 || index >= static_cast<int>(parts.size())) return call.Text(1);
  const std::string& part = parts[static_cast<std::size_t>(index)];
  return part.empty() ? call.Text(1) : part;
}

// Size of a unit in bytes: 1024 for "K".
double UnitSize(const std::string& unit) {
  constexpr std::string_view kLetters = "KMGTP";
  double size = 1;
  // A number is a unit of its own.
  if (absl::SimpleAtod(unit, &size)) return size == 0 ? 1 : size;
  const std::size_t at =
      unit.empty() ? std::string_view::npos
                   : kLetters.find(absl::ascii_toupper(static_cast<unsigned char>(unit.front())));
  return at == std::string_view::npos ? 1 : std::pow(1024, static_cast<double>(at + 1));
}

// size(zero, precision, units_in, units_out, min).
Json Size(const Json& value, const Call& call, const TimeFrame&) {
  double size = NumberOf(value).value_or(0);
  if (size == 0) return call.Text(0, "0");
  const int precision = std::clamp(IntOf(call.Text(1), 1), 0, 9);
  const double least = UnitOf(call, 4);
  // "< " tells that the value shown is the least that is shown.
  const bool is_less = call.named[4] && size < least;
  if (is_less) size = least;
  const std::string prefix = is_less ? "< " : "";
  size *= UnitSize(call.Text(2));
  // A unit that is asked for is not printed.
  if (call.named[3]) return fmt::format("{:.{}f}", size / UnitSize(*call.named[3]), precision);
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && size >= 1024; ++unit) size /= 1024;
  // Whole numbers have no decimals, whatever the precision.
  if (size == std::floor(size)) return fmt::format("{}{:.0f} {}", prefix, size, kUnits[unit]);
  return fmt::format("{}{:.{}f} {}", prefix, size, precision, kUnits[unit]);
}

// slice(1:), slice(:2), slice(-1:), slice(1).
Json SliceOf(const Json& value, const Call& call, const TimeFrame&) {
  const std::vector<std::string> bounds = PartsOf(call.Text(0, ":"), ":");
  if (!value.is_array()) return call.Text(1);
  const int size = static_cast<int>(value.size());
  const auto bound = [&](std::size_t i, int fallback) {
    const std::string text(absl::StripAsciiWhitespace(i < bounds.size() ? bounds[i] : ""));
    int index = text.empty() ? fallback : IntOf(text, fallback);
    if (index < 0) index += size;
    return std::clamp(index, 0, size);
  };
  const int begin = bound(0, 0);
  // One bound selects one element; with a colon, an empty bound is the end of the list.
  const int end = bounds.size() == 1 ? std::min(begin + 1, size) : bound(1, size);
  Json part = Json::array();
  for (int i = begin; i < end; ++i) part.push_back(value[static_cast<std::size_t>(i)]);
  return part.empty() ? Json(call.Text(1)) : part;
}

Json Sorted(const Json& value, const Call& call, const TimeFrame&) {
  if (!value.is_array()) return value.is_null() ? Json::array() : value;
  std::vector<Json> items(value.begin(), value.end());
  std::ranges::stable_sort(items, [&](const Json& a, const Json& b) {
    const auto key = [&](const Json& item) {
      return call.named[0] ? ValueAtText(item, *call.named[0]) : item;
    };
    // Values of different types have an order in this library, so that sorting never fails.
    return key(a) < key(b);
  });
  return items;
}

Json Split(const Json& value, const Call& call, const TimeFrame&) {
  if (IsVoid(value)) return call.Text(1);
  return PartsOf(TextOf(value), call.Text(0, "/"));
}

Json TrailOff(const Json& value, const Call& call, const TimeFrame&) {
  const int most = IntOf(call.Text(0), 0);
  const std::string text = TextOf(value);
  // There is no room for a character before "...".
  if (most <= 3) return call.Text(1);
  if (static_cast<int>(text.size()) < most) return text;
  std::size_t end = static_cast<std::size_t>(most - 3);
  // Not inside of a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) >> 6) == 2) --end;
  return text.substr(0, end) + "...";
}

Json Uri(const Json& value, const Call& call, const TimeFrame&) {
  const Json link = value.is_object() ? ValueAtText(value, "selfLink") : value;
  return link.is_string() && !IsVoid(link) ? link : Json(call.Text(0, "."));
}

Json YesNo(const Json& value, const Call& call, const TimeFrame&) {
  if (IsVoid(value)) return call.Text(1, "No");
  return call.named[0] ? Json(*call.named[0]) : value;
}

Json Same(const Json& value, const Call&, const TimeFrame&) { return value; }

const std::vector<Function>& Functions() {
  // Never destroyed, so that a call may hold a pointer into it.
  static const std::vector<Function>& functions = *new std::vector<Function>{
      // Transforms that change nothing here are known all the same, so that scripts which use them run.
      {"always", {}, 0, false, &Same},
      {"basename", {"undefined"}, 0, false, &BaseName},
      {"color", {"red", "yellow", "green", "blue"}, 0, false, &Same},
      {"count", {}, 0, false, &Count},
      {"date", {"format", "unit", "undefined", "tz", "tz_default"}, 0, false, &Date},
      {"decode", {"encoding", "undefined"}, 1, false, &Decode},
      {"duration",
       {"start", "end", "parts", "precision", "calendar", "unit", "undefined"},
       0,
       false,
       &Duration},
      {"encode", {"encoding", "undefined"}, 1, false, &Encode},
      {"extract", {}, 0, true, &Extract},
      {"firstof", {}, 0, true, &FirstOf},
      {"flatten", {"show", "undefined", "separator"}, 0, false, &Flattened},
      {"float", {"precision", "spec", "undefined"}, 0, false, &Float},
      {"format", {"format"}, 1, true, &Formatted},
      {"iso", {"undefined"}, 0, false, &Iso},
      {"join", {"sep", "undefined"}, 0, false, &Join},
      {"len", {}, 0, false, &Length},
      {"list", {"show", "undefined", "separator"}, 0, false, &List},
      {"lower", {}, 0, false, &Lower},
      {"map", {"depth"}, 0, false, &Same},
      {"notnull", {}, 0, false, &NotNull},
      {"regex", {"expression", "does_match", "nomatch"}, 1, false, &Match},
      {"scope", {}, 0, true, &Scope},
      {"segment", {"index", "undefined"}, 0, false, &Segment},
      {"size", {"zero", "precision", "units_in", "units_out", "min"}, 0, false, &Size},
      {"slice", {"op", "undefined"}, 0, false, &SliceOf},
      {"sort", {"attr"}, 0, false, &Sorted},
      {"split", {"sep", "undefined"}, 0, false, &Split},
      {"sub", {"pattern", "replacement", "count", "ignorecase"}, 2, false, &Sub},
      {"trailoff", {"character_limit", "undefined"}, 1, false, &TrailOff},
      {"upper", {}, 0, false, &Upper},
      {"uri", {"undefined"}, 0, false, &Uri},
      {"yesno", {"yes", "no"}, 0, false, &YesNo},
  };
  return functions;
}

absl::StatusOr<const Function*> FindFunction(const Lexer& lexer, const std::string& name) {
  std::vector<std::string> known;
  for (const Function& function : Functions()) {
    if (function.name == name) return &function;
    known.emplace_back(function.name);
  }
  return InvalidArgument("{}: there is no function '{}'{}",
                         lexer.flag(),
                         name,
                         NearestHint(name, known, known.size()));
}

// Assigns one argument to a parameter: by name if "NAME=" is one, otherwise to the next by position.
absl::Status Bind(const Lexer& lexer, const Lexer::Token& token, std::size_t& next, Call& call) {
  const Function& function = *call.function;
  const std::size_t equals = token.text.find('=');
  const auto parameter =
      std::ranges::find(function.parameters, std::string_view(token.text).substr(0, equals));
  // A "NAME=" that no parameter has may be part of a value.
  if (equals != std::string::npos && parameter != function.parameters.end()) {
    call.named[static_cast<std::size_t>(parameter - function.parameters.begin())] =
        token.text.substr(equals + 1);
  } else if (next < function.parameters.size()) {
    call.named[next++] = token.text;
  } else if (function.takes_others) {
    call.others.push_back(token.text);
  } else {
    return lexer.Error(fmt::format("{}() takes {}, got '{}'",
                                   function.name,
                                   function.parameters.empty()
                                       ? "no arguments"
                                       : fmt::format("{}", fmt::join(function.parameters, ", ")),
                                   token.text));
  }
  return absl::OkStatus();
}

absl::Status CheckCall(const Lexer& lexer, const Call& call) {
  const Function& function = *call.function;
  for (std::size_t i = 0; i < function.required; ++i) {
    if (call.named[i]) continue;
    return lexer.Error(fmt::format("{}() needs {}", function.name, function.parameters[i]));
  }
  // At parsing time: a bad expression is an error before any resource is printed.
  if (function.apply == &Match || function.apply == &Sub) {
    const auto regex = Regex(call.Text(0), /*any_case=*/false);
    if (regex->ok()) return absl::OkStatus();
    return lexer.Error(
        fmt::format("'{}' is no regular expression: {}", call.Text(0), regex->error()));
  }
  // Python's format() has more, such as "{0:>10}"; nothing is better than something wrong.
  if (function.apply == &Formatted && call.Text(0).find(':') != std::string::npos &&
      RE2::PartialMatch(call.Text(0), "\\{\\d*:")) {
    return lexer.Error(fmt::format("format() knows {{0}}, {{1}}, …, got '{}'", call.Text(0)));
  }
  return absl::OkStatus();
}

// Reads a call from its "(" on; the name has been read.
absl::StatusOr<Call> ReadCall(Lexer& lexer, const std::string& name) {
  Call call;
  VERNIER_ASSIGN_OR_RETURN(call.function, FindFunction(lexer, name));
  call.named.resize(call.function->parameters.size());
  lexer.Take('(');
  VERNIER_ASSIGN_OR_RETURN(const std::vector<Lexer::Token> tokens, lexer.ReadList(","));
  std::size_t next = 0;
  for (const Lexer::Token& token : tokens) {
    VERNIER_RETURN_IF_ERROR(Bind(lexer, token, next, call));
  }
  VERNIER_RETURN_IF_ERROR(CheckCall(lexer, call));
  return call;
}

Json ApplyDeep(const Call& call, const Json& value, int depth, const TimeFrame& frame) {
  if (depth == 0 || !value.is_array()) return call.function->apply(value, call, frame);
  Json items = Json::array();
  for (const Json& item : value) items.push_back(ApplyDeep(call, item, depth - 1, frame));
  return items;
}

// Number of "*" before a name: each is short for map().
int TakeStars(Lexer& lexer) {
  int stars = 0;
  while (lexer.Take('*')) ++stars;
  return stars;
}

// The name of a function, up to its "(".
absl::StatusOr<std::string> ReadName(Lexer& lexer) {
  VERNIER_ASSIGN_OR_RETURN(Lexer::Token token, lexer.ReadToken(kReserved));
  if (token.is_empty() || lexer.Peek() != '(') return lexer.Expected("a function after '.'");
  return std::move(token.text);
}

}  // namespace

absl::StatusOr<Expression> ReadExpression(Lexer& lexer) {
  Expression expression;
  VERNIER_ASSIGN_OR_RETURN(expression.key, ReadKey(lexer));
  int depth = TakeStars(lexer);
  std::string name;
  if (depth > 0) {
    VERNIER_ASSIGN_OR_RETURN(name, ReadName(lexer));
  } else if (lexer.Peek() != '(') {
    return expression;
  } else if (expression.key.empty() ||
             !std::holds_alternative<std::string>(expression.key.back())) {
    return lexer.Expected("the name of a function");
  } else {
    name = std::get<std::string>(expression.key.back());
    expression.key.pop_back();
  }
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(Call call, ReadCall(lexer, name));
    // Set for this call, and cleared for those that follow.
    call.map_depth = std::exchange(depth, 0);
    // map() applies to the next call only.
    if (name == "map") {
      depth = IntOf(call.Text(0), 1);
    } else {
      expression.calls.push_back(std::move(call));
    }
    if (!lexer.Take('.')) return expression;
    depth += TakeStars(lexer);
    VERNIER_ASSIGN_OR_RETURN(name, ReadName(lexer));
  }
}

// From left to right: each call gets what the one before it returned.
Json Apply(const std::vector<Call>& calls, Json value, const TimeFrame& frame) {
  for (const Call& call : calls) value = ApplyDeep(call, value, call.map_depth, frame);
  return value;
}

Json Evaluate(const Expression& expression, const Json& resource, const TimeFrame& frame) {
  return Apply(expression.calls, ValueAt(resource, expression.key), frame);
}

std::optional<double> NumberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  double number = 0;
  // "nan" would compare with nothing, "inf" with everything.
  const bool is_number =
      value.is_string() && absl::SimpleAtod(value.get_ref<const std::string&>(), &number);
  return is_number && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::string TextOf(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (!value.is_number_float()) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const double number = value.get<double>();
  std::string text = fmt::format("{:.6g}", number);
  const double size = std::abs(number);
  // "%g" would write 1000000 as 1e+06, which gcloud does not.
  if (text.find("e+") != std::string::npos && size < 1e9) return fmt::format("{:.1f}", number);
  // A float that is whole is printed with its point, as Python does.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

bool IsVoid(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();
}

}  // namespace vernier::gcloud
