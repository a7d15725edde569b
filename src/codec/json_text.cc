#include "src/codec/json_text.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/status.h"
#include "vernier/core/error.h"
#include "vernier/core/limits.h"

namespace vernier::codec {
namespace {

using Json = nlohmann::ordered_json;

// Builds the document as the parser goes by, and remembers the first thing that is wrong with it beyond its syntax. The
// library's own builder searches an object for each of its keys, which is quadratic in their number.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  enum class Source {
    kUser,
    kStore
  };  // What a store holds is not checked: it was written by ToText.

  explicit Builder(Source source) : is_checked_(source == Source::kUser) {}

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // No JSON text holds any.
  // Pointers in open_ stay valid: a container grows only once everything inside it is closed.
  bool start_object(std::size_t) override {
    open_.push_back(&Add(Json::object()));
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& key) override {
    CheckDepth();
    if (is_checked_ && !keys_.back().insert(key).second) {
      Complain(fmt::format("key '{}' is there twice", key));
    }
    key_ = std::move(key);
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    open_.push_back(&Add(Json::array()));
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  // The library would throw here; an error that has no place, such as a number out of range, leaves error_at_ unset.
  bool parse_error(std::size_t,
                   const std::string&,
                   const nlohmann::detail::exception& error) override {
    const auto* const syntax = dynamic_cast<const Json::parse_error*>(&error);
    if (syntax != nullptr) error_at_ = syntax->byte;
    error_ = error.what();
    return false;
  }

  Json Take() { return std::move(document_); }
  const std::string& complaint() const { return complaint_; }
  // Set once the text turned out to be no JSON: the byte where it ends to be.
  std::optional<std::size_t> error_at() const { return error_at_; }
  const std::string& error() const { return error_; }

 private:
  bool Put(Json value) {
    Add(std::move(value));
    return true;
  }
  Json& Add(Json value) {
    CheckDepth();
    if (open_.empty()) return document_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    auto& members = parent.get_ref<Json::object_t&>();
    return members.emplace_back(std::move(key_), std::move(value)).second;
  }
  void CheckDepth() {
    if (is_checked_ && open_.size() > limits::kFileDepth) {
      Complain(fmt::format("nested deeper than {} levels", limits::kFileDepth));
    }
  }
  void Complain(std::string message) {
    // The first one counts; later ones may follow from it.
    if (complaint_.empty()) complaint_ = std::move(message);
  }

  const bool is_checked_;
  Json document_;
  std::vector<Json*> open_;                  // Objects and arrays, from the outermost.
  std::vector<std::set<std::string>> keys_;  // Of the objects that are open.
  std::string key_;                          // Of the value that comes next.
  std::string complaint_;
  std::string error_;
  std::optional<std::size_t> error_at_;
};

}  // namespace

absl::StatusOr<Json> ReadJson(std::string_view text, std::string_view what) {
  Builder builder(Builder::Source::kUser);
  // Goes on after a complaint: whether it is JSON at all is told first.
  const bool is_json = Json::sax_parse(text, &builder);
  if (!is_json && builder.error_at().has_value()) {
    const std::size_t end = std::min(*builder.error_at(), text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    return FieldError(fmt::format("line {}", line), "is not JSON");
  }
  if (!is_json) return FieldError(what, builder.error());
  if (!builder.complaint().empty()) return FieldError(what, builder.complaint());
  return builder.Take();
}

absl::StatusOr<Json> ReadStoredJson(std::string_view text) {
  Builder builder(Builder::Source::kStore);
  if (!Json::sax_parse(text, &builder)) return DataLoss("'{}' is not JSON", text.substr(0, 60));
  return builder.Take();
}

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace vernier::codec
