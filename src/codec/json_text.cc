#include "src/codec/json_text.h"

#include <algorithm>
#include <set>
#include <vector>

#include "fmt/format.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::codec {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxDepth = 32;

// Watches the parser go by and remembers the first thing that is wrong with the document, beyond its syntax.
class Watcher {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (static_cast<std::size_t>(depth) > kMaxDepth) {
      Complain(fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) Complain(fmt::format("key '{}' is there twice", key));
    }
    return true;
  }
  const std::string& complaint() const { return complaint_; }

 private:
  void Complain(std::string message) {
    if (complaint_.empty()) complaint_ = std::move(message);
  }

  std::vector<std::set<std::string>> keys_;  // Of the objects that are open.
  std::string complaint_;
};

}  // namespace

absl::StatusOr<Json> ReadJson(std::string_view text, std::string_view what) {
  Watcher watcher;
  Json document;
  try {
    document = Json::parse(text, std::ref(watcher));
  } catch (const Json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    return FieldError(fmt::format("line {}", line), "is not JSON");
  } catch (const Json::exception& error) {
    return FieldError(what, error.what());
  }
  if (!watcher.complaint().empty()) return FieldError(what, watcher.complaint());
  return document;
}

absl::StatusOr<Json> ReadStoredJson(std::string_view text) {
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return DataLoss("'{}' is not JSON", text.substr(0, 60));
  return document;
}

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace vernier::codec
